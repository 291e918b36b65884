"""The vector index against brute force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from ragcore.errors import IndexMismatch
from ragcore.index.chunks import Entries
from ragcore.index.vectors import VectorIndex
from ragcore.protocols import Nearest, Vector
from ragcore.types import Entry, Scope
from tests.providers.models import unit_vectors

VECTORS = unit_vectors(60, 16)
IDS = [f"d{row // 20}:{row % 20}" for row in range(60)]
# Document d0 to d2, one chunk in five a table, every chunk touches its page and the next.
ENTRIES = [
    Entry(IDS[row], f"d{row // 20}", "table" if row % 5 == 0 else "text", row % 20 + 1, row % 20 + 2)
    for row in range(60)
]


def loaded(doc_ids: Sequence[str]) -> tuple[Entries, Vector]:
    rows = [row for doc_id in doc_ids for row, entry in enumerate(ENTRIES) if entry.doc_id == doc_id]
    return Entries.of([ENTRIES[row] for row in rows]), VECTORS[rows]


def inside(scope: Scope, entry: Entry) -> bool:
    return (
        (scope.doc_ids is None or entry.doc_id in scope.doc_ids)
        and (not scope.kinds or entry.kind in scope.kinds)
        and (not scope.pages or any(entry.first_page <= b and entry.last_page >= a for a, b in scope.pages))
    )


@pytest.fixture(scope="module")
def index() -> VectorIndex:
    return VectorIndex().updated({"d0": "", "d1": "", "d2": ""}, loaded)


def test_it_starts_empty() -> None:
    assert isinstance(VectorIndex(), Nearest)
    assert VectorIndex().query(VECTORS[0], 5) == []


def test_the_nearest_by_cosine_come_first(index: VectorIndex) -> None:
    query = VECTORS[3] + 0.3 * VECTORS[41]
    query /= np.linalg.norm(query)
    exact = VECTORS @ query
    found = index.query(query, 10)
    assert [chunk_id for chunk_id, _ in found] == [IDS[row] for row in np.argsort(-exact)[:10]]
    np.testing.assert_allclose([score for _, score in found], np.sort(exact)[::-1][:10], atol=1e-5)
    assert len(index.query(query, 1000)) == 60


@pytest.mark.parametrize(
    "scope",
    [
        Scope(("d2",)),
        Scope(("d0", "d2")),
        Scope(("unknown",)),
        Scope(()),
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
def test_only_what_is_in_the_scope_answers_and_all_of_it(index: VectorIndex, scope: Scope) -> None:
    exact = {entry.chunk_id: float(row) for entry, row in zip(ENTRIES, VECTORS @ VECTORS[3]) if inside(scope, entry)}
    ranked = sorted(exact, key=lambda chunk_id: -exact[chunk_id])
    assert [chunk_id for chunk_id, _ in index.query(VECTORS[3], 60, scope)] == ranked
    assert [chunk_id for chunk_id, _ in index.query(VECTORS[3], 4, scope)] == ranked[:4]


def test_equal_vectors_come_in_the_order_of_their_ids() -> None:
    entries = Entries.of([Entry(f"d:{n}", "d") for n in (3, 1, 2, 0)])
    index = VectorIndex({"d": ""}, entries, np.repeat(VECTORS[:1], 4, axis=0))
    assert [chunk_id for chunk_id, _ in index.query(VECTORS[0], 3)] == ["d:0", "d:1", "d:2"]


def test_an_update_loads_only_what_is_new_and_forgets_what_is_gone(index: VectorIndex) -> None:
    asked: list[str] = []

    def load(doc_ids: Sequence[str]) -> tuple[Entries, Vector]:
        asked.extend(doc_ids)
        return loaded(doc_ids)

    first = VectorIndex().updated({"d0": "a", "d1": "a"}, load)
    assert asked == ["d0", "d1"]
    steps: list[tuple[Mapping[str, str], list[str]]] = [
        ({"d0": "a", "d1": "a"}, []),
        ({"d0": "a", "d1": "b"}, ["d1"]),
        ({"d1": "b"}, []),
        ({"d1": "b", "d2": "a", "d0": "c"}, ["d2", "d0"]),
        ({}, []),
    ]
    now = first
    for wanted, expected in steps:
        asked.clear()
        now = now.updated(wanted, load)
        assert asked == expected
        held = {entry.chunk_id for entry in ENTRIES if entry.doc_id in wanted}
        assert {chunk_id for chunk_id, _ in now.query(VECTORS[3], 60)} == held
    assert len(first) == 40, "an index in use stays as it is"


def test_a_vector_of_another_length_is_refused(index: VectorIndex) -> None:
    with pytest.raises(IndexMismatch):
        index.query(unit_vectors(1, 8)[0], 1)
