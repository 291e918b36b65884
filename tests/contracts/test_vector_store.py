"""What every `VectorStore` does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ragcore.errors import ConfigError
from ragcore.protocols import VectorStore
from ragcore.providers import vector_store
from tests.providers.models import unit_vectors

VECTORS = unit_vectors(60, 16)
IDS = [f"d{row // 20}:{row % 20}" for row in range(60)]
OWNERS = [f"d{row // 20}" for row in range(60)]


@pytest.fixture(params=["chroma"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], VectorStore]:
    return lambda: vector_store(request.param, tmp_path / "cache" / request.param)


@pytest.fixture
def filled(make: Callable[[], VectorStore]) -> VectorStore:
    store = make()
    store.upsert(IDS, OWNERS, VECTORS)
    return store


class TestVectorStore:
    def test_it_is_a_vector_store_that_starts_empty(self, make: Callable[[], VectorStore]) -> None:
        store = make()
        assert isinstance(store, VectorStore)
        assert store.ids() == set()
        assert store.query(VECTORS[0], 5) == []

    def test_the_nearest_by_cosine_come_first(self, filled: VectorStore) -> None:
        query = VECTORS[3] + 0.3 * VECTORS[41]
        query /= np.linalg.norm(query)
        exact = VECTORS @ query
        found = filled.query(query, 10)
        assert [chunk_id for chunk_id, _ in found] == [IDS[row] for row in np.argsort(-exact)[:10]]
        np.testing.assert_allclose([score for _, score in found], np.sort(exact)[::-1][:10], atol=1e-5)

    def test_only_the_given_documents_answer(self, filled: VectorStore) -> None:
        assert {chunk_id for chunk_id, _ in filled.query(VECTORS[3], 60, ["d2"])} == set(IDS[40:])
        assert {chunk_id for chunk_id, _ in filled.query(VECTORS[3], 60, ["d0", "d2"])} == {*IDS[:20], *IDS[40:]}
        assert filled.query(VECTORS[3], 5, ["unknown"]) == []
        assert filled.query(VECTORS[3], 5, []) == []

    def test_asking_for_more_than_there_is_gives_what_there_is(self, filled: VectorStore) -> None:
        assert len(filled.query(VECTORS[3], 1000)) == 60

    def test_an_upsert_replaces(self, filled: VectorStore) -> None:
        filled.upsert(["d0:0"], ["d0"], VECTORS[59:60])
        assert len(filled.ids()) == 60
        assert dict(filled.query(VECTORS[59], 2))["d0:0"] == pytest.approx(1.0, abs=1e-5)

    def test_a_deleted_document_is_gone_and_the_others_stay(self, filled: VectorStore) -> None:
        filled.delete_document("d1")
        filled.delete_document("unknown")
        assert filled.ids() == {*IDS[:20], *IDS[40:]}
        assert not {chunk_id for chunk_id, _ in filled.query(VECTORS[25], 60)} & set(IDS[20:40])

    def test_what_was_written_is_there_when_it_is_opened_again(
        self, filled: VectorStore, make: Callable[[], VectorStore]
    ) -> None:
        again = make()
        assert again.ids() == set(IDS)
        assert again.query(VECTORS[7], 1)[0][0] == IDS[7]

    def test_reset_forgets_everything_and_takes_other_dimensions(
        self, filled: VectorStore, make: Callable[[], VectorStore]
    ) -> None:
        filled.reset()
        assert filled.ids() == set()
        assert make().ids() == set()
        filled.upsert(["a"], ["d"], unit_vectors(1, 8))
        assert filled.ids() == {"a"}

    def test_threads_may_write_and_query_at_once(self, filled: VectorStore, make: Callable[[], VectorStore]) -> None:
        other = make()

        def work(number: int) -> str:
            store = (filled, other)[number % 2]
            store.upsert([f"t{number}"], ["t"], VECTORS[number : number + 1])
            return store.query(VECTORS[number], 2)[0][0]

        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(work, range(16))) <= {*IDS, *(f"t{n}" for n in range(16))}
        assert filled.ids() == other.ids() == {*IDS, *(f"t{n}" for n in range(16))}


def test_an_unknown_kind_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'faiss'"):
        vector_store("faiss", tmp_path)
