"""Rows and composites in one ranking are folded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieve.fuse import fold, spread
from ragcore.types import Chunk

TABLES = {"t1": (2, 4), "t2": (5, 9), "t3": (12, 13)}


def chunk(name: str, doc_id: str) -> Chunk:
    tiles = TABLES.get(name)
    index = 90 if tiles else int(name)
    return Chunk(f"{doc_id}:{name}", doc_id, index, "table", index, index + 1, "x", tiles=tiles)


CHUNKS = {c.chunk_id: c for doc in "ab" for c in (chunk(n, doc) for n in (*TABLES, *map(str, range(15))))}


def test_rows_go_into_their_table_which_takes_the_best_place() -> None:
    folded = fold({"a:3": 0.9, "a:1": 0.8, "a:t1": 0.5, "a:2": 0.4, "b:3": 0.3}, CHUNKS)
    assert folded.scores == {"a:t1": 0.9, "a:1": 0.8, "b:3": 0.3}
    assert folded.best == {"a:t1": "a:3"}


def test_a_table_that_is_its_own_best_finding() -> None:
    assert fold({"a:t1": 0.9, "a:3": 0.5}, CHUNKS).best == {"a:t1": "a:t1"}


def test_rows_without_their_table_stay_rows() -> None:
    scores = {"a:2": 0.9, "a:3": 0.8}
    assert (fold(scores, CHUNKS).scores, fold(scores, CHUNKS).best) == (scores, {})


def test_a_row_stands_where_its_composite_does_unless_it_has_a_score() -> None:
    known = {name: CHUNKS[name] for name in ("a:t1", "a:2", "a:3", "a:5", "b:2", "b:1")}
    assert spread({"a:t1": 0.7, "a:3": 0.9, "b:1": 0.2}, known) == {"a:t1": 0.7, "a:2": 0.7, "a:3": 0.9, "b:1": 0.2}


@given(st.dictionaries(st.sampled_from(sorted(CHUNKS)), st.floats(0, 1), max_size=20))
def test_nothing_is_found_twice_and_no_place_is_lost(scores: dict[str, float]) -> None:
    folded = fold(scores, CHUNKS)
    tiles = [
        (CHUNKS[i].doc_id, tile) for i in folded.scores for tile in range(CHUNKS[i].reach[0], CHUNKS[i].reach[1] + 1)
    ]
    assert len(tiles) == len(set(tiles))
    for chunk_id, score in scores.items():
        one = CHUNKS[chunk_id]
        covering = [
            kept
            for kept in map(CHUNKS.__getitem__, folded.scores)
            if kept.doc_id == one.doc_id and kept.reach[0] <= one.reach[0] and one.reach[1] <= kept.reach[1]
        ]
        assert len(covering) == 1
        assert folded.scores[covering[0].chunk_id] >= score
    assert set(folded.best) == {i for i in folded.scores if CHUNKS[i].tiles}
    assert all(scores[best] == folded.scores[kept] for kept, best in folded.best.items())
