"""What every `VectorStore` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ragcore.errors import ConfigError
from ragcore.index.vectors import vector_store
from ragcore.protocols import VectorStore
from ragcore.types import Entry, Scope
from tests.providers.models import unit_vectors

VECTORS = unit_vectors(60, 16)
IDS = [f"d{row // 20}:{row % 20}" for row in range(60)]
# Document d0 to d2, one chunk in five a table, every chunk touches its page and the next.
ENTRIES = [
    Entry(IDS[row], f"d{row // 20}", "table" if row % 5 == 0 else "text", row % 20 + 1, row % 20 + 2)
    for row in range(60)
]


def entries(ids: Sequence[str], doc_id: str) -> list[Entry]:
    return [Entry(chunk_id, doc_id) for chunk_id in ids]


def inside(scope: Scope, entry: Entry) -> bool:
    return (
        (scope.doc_ids is None or entry.doc_id in scope.doc_ids)
        and (not scope.kinds or entry.kind in scope.kinds)
        and (not scope.pages or any(entry.first_page <= b and entry.last_page >= a for a, b in scope.pages))
    )


@pytest.fixture(params=["chroma", "flat"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], VectorStore]:
    return lambda: vector_store(request.param, tmp_path / "cache" / request.param)


@pytest.fixture
def filled(make: Callable[[], VectorStore]) -> VectorStore:
    store = make()
    store.upsert(ENTRIES, VECTORS)
    return store


class TestVectorStore:
    def test_it_is_a_vector_store_that_starts_empty(self, make: Callable[[], VectorStore]) -> None:
        store = make()
        assert isinstance(store, VectorStore)
        assert store.ids() == set()
        assert store.count() == 0
        assert store.query(VECTORS[0], 5) == []

    def test_the_nearest_by_cosine_come_first(self, filled: VectorStore) -> None:
        query = VECTORS[3] + 0.3 * VECTORS[41]
        query /= np.linalg.norm(query)
        exact = VECTORS @ query
        found = filled.query(query, 10)
        assert [chunk_id for chunk_id, _ in found] == [IDS[row] for row in np.argsort(-exact)[:10]]
        np.testing.assert_allclose([score for _, score in found], np.sort(exact)[::-1][:10], atol=1e-5)

    def test_only_the_given_documents_answer(self, filled: VectorStore) -> None:
        assert {chunk_id for chunk_id, _ in filled.query(VECTORS[3], 60, Scope(("d2",)))} == set(IDS[40:])
        assert {chunk_id for chunk_id, _ in filled.query(VECTORS[3], 60, Scope(("d0", "d2")))} == {*IDS[:20], *IDS[40:]}
        assert filled.query(VECTORS[3], 5, Scope(("unknown",))) == []
        assert filled.query(VECTORS[3], 5, Scope(())) == []

    @pytest.mark.parametrize(
        "scope",
        [
            Scope(kinds=("table",)),
            Scope(kinds=("table", "text")),
            Scope(kinds=("figure",)),
            Scope(pages=((7, 7),)),
            Scope(pages=((1, 3), (20, 99))),
            Scope(pages=((22, 99),)),
            Scope(("d1",), ((5, 6),)),
            Scope(("d0", "d2"), ((5, 16),), ("table",)),
        ],
    )
    def test_only_what_is_in_the_scope_answers_and_all_of_it(self, filled: VectorStore, scope: Scope) -> None:
        exact = {
            entry.chunk_id: float(row) for entry, row in zip(ENTRIES, VECTORS @ VECTORS[3]) if inside(scope, entry)
        }
        ranked = sorted(exact, key=lambda chunk_id: -exact[chunk_id])
        assert [chunk_id for chunk_id, _ in filled.query(VECTORS[3], 60, scope)] == ranked
        assert [chunk_id for chunk_id, _ in filled.query(VECTORS[3], 4, scope)] == ranked[:4]

    def test_an_upsert_replaces_what_a_scope_looks_at(self, filled: VectorStore) -> None:
        filled.upsert([Entry("d0:1", "d0", "figure", 90, 91)], VECTORS[1:2])
        assert [chunk_id for chunk_id, _ in filled.query(VECTORS[3], 9, Scope(kinds=("figure",)))] == ["d0:1"]
        assert [chunk_id for chunk_id, _ in filled.query(VECTORS[3], 9, Scope(pages=((91, 99),)))] == ["d0:1"]
        assert filled.count() == 60

    def test_what_is_in_it_after_many_changes_is_what_was_put_last(
        self, make: Callable[[], VectorStore], filled: VectorStore
    ) -> None:
        generator = np.random.default_rng(4)
        expected = dict(zip(IDS, VECTORS))
        for turn in range(30):
            doc_id = f"d{generator.integers(5)}"
            if turn % 3 == 2:
                filled.delete_documents([doc_id])
                expected = {i: vector for i, vector in expected.items() if i.split(":")[0] != doc_id}
            else:
                rows = generator.choice(60, 7, replace=False).tolist()
                filled.upsert([Entry(f"{doc_id}:{row}", doc_id) for row in rows], VECTORS[rows[::-1]])
                expected |= {f"{doc_id}:{row}": VECTORS[other] for row, other in zip(rows, rows[::-1])}
        query = unit_vectors(1, 16, seed=8)[0]
        for store in (filled, make()):
            assert store.count() == len(expected)
            found = dict(store.query(query, 1000))
            assert found.keys() == expected.keys() == store.ids()
            np.testing.assert_allclose([found[i] for i in expected], np.stack([*expected.values()]) @ query, atol=1e-5)

    def test_asking_for_more_than_there_is_gives_what_there_is(self, filled: VectorStore) -> None:
        assert len(filled.query(VECTORS[3], 1000)) == 60

    def test_an_upsert_replaces(self, filled: VectorStore) -> None:
        filled.upsert(entries(["d0:0"], "d0"), VECTORS[59:60])
        assert len(filled.ids()) == 60
        assert dict(filled.query(VECTORS[59], 2))["d0:0"] == pytest.approx(1.0, abs=1e-5)

    def test_a_deleted_document_is_gone_and_the_others_stay(self, filled: VectorStore) -> None:
        filled.delete_documents(["d1"])
        filled.delete_documents(["unknown"])
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
        filled.upsert(entries(["a"], "d"), unit_vectors(1, 8))
        assert filled.ids() == {"a"}

    def test_threads_may_write_and_query_at_once(self, filled: VectorStore, make: Callable[[], VectorStore]) -> None:
        other = make()

        def work(number: int) -> str:
            store = (filled, other)[number % 2]
            store.upsert(entries([f"t{number}"], "t"), VECTORS[number : number + 1])
            return store.query(VECTORS[number], 2)[0][0]

        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(work, range(16))) <= {*IDS, *(f"t{n}" for n in range(16))}
        assert filled.ids() == other.ids() == {*IDS, *(f"t{n}" for n in range(16))}


def test_an_unknown_kind_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'faiss'"):
        vector_store("faiss", tmp_path)
