"""What every `Reranker` does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ragcore.protocols import RememberedReranker, Reranker
from ragcore.providers.registry import reranker
from tests.matrix import standing_for
from tests.providers.models import tiny_cross_encoder, tiny_cross_encoder_with_its_own_sigmoid

QUERY = "How much did the company spend on property in 2018?"
PASSAGES = [
    "In 2018 the company spent $1,577 million on property, plant and equipment.",
    "The cat sat on the mat.",
    "Property spending is described in the notes. " * 150,
    "",
]


@pytest.fixture(
    scope="module",
    params=standing_for(["bundled", "remembered"], ["bundled", "remembered", "sentence-transformers", "own sigmoid"]),
)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reranker:
    name = "bundled:ms-marco-MiniLM-L-12-v2"
    if request.param not in ("bundled", "remembered"):
        folder: Path = tmp_path_factory.mktemp("cross-encoder")
        save = (
            tiny_cross_encoder if request.param == "sentence-transformers" else tiny_cross_encoder_with_its_own_sigmoid
        )
        name = f"sentence-transformers:{save(folder)}"
    made = reranker(name, threads=2)
    assert made is not None
    return RememberedReranker(made) if request.param == "remembered" else made


class TestReranker:
    def test_it_is_a_reranker(self, model: Reranker) -> None:
        assert isinstance(model, Reranker)

    def test_scores_are_probabilities_one_for_each_passage(self, model: Reranker) -> None:
        scores = model.score(QUERY, PASSAGES)
        assert scores.shape == (len(PASSAGES),)
        assert scores.dtype == np.float64
        assert np.all((scores >= 0.0) & (scores <= 1.0))

    def test_a_passage_s_score_does_not_depend_on_the_others(self, model: Reranker) -> None:
        together = model.score(QUERY, PASSAGES)
        for row, passage in enumerate(PASSAGES):
            assert model.score(QUERY, [passage])[0] == together[row]

    def test_no_passages_give_no_scores(self, model: Reranker) -> None:
        assert model.score(QUERY, []).shape == (0,)

    def test_threads_do_not_disturb_one_another(self, model: Reranker) -> None:
        expected = model.score(QUERY, PASSAGES)
        with ThreadPoolExecutor(3) as pool:
            for scores in pool.map(lambda _: model.score(QUERY, PASSAGES), range(6)):
                np.testing.assert_array_equal(scores, expected)


def test_the_bundled_model_puts_the_answer_first() -> None:
    model = reranker("bundled:ms-marco-MiniLM-L-12-v2")
    assert model is not None
    scores = model.score(QUERY, PASSAGES)
    assert int(np.argmax(scores)) == 0
    assert scores[0] > 0.5 > scores[1]
