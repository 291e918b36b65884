"""Hits → segments, single hits and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from ragcore.config.settings import RseSettings, load
from ragcore.retrieve.segments import best_hits, neighbours, passages, relevant_segments, single_hits, table_segments
from ragcore.types import EVERYTHING, Chunk, Hit, Segment

SETTINGS: RseSettings = load(environ={})[0].rse.model_copy(
    update={
        "max_length": 5,
        "overall_max_length": 10,
        "minimum_value": 0.9,
        "irrelevant_chunk_penalty": 0.2,
        "decay_rate": 30.0,
    }
)


def chunk(doc_id: str, index: int, section: str = "") -> Chunk:
    return Chunk(f"{doc_id}:{index}", doc_id, index, "text", index * 10, index * 10 + 10, "x" * 10, (section,))


def ranked(*chunks: Chunk) -> list[Hit]:
    return [Hit(rank, c, 1.0 - rank / 100) for rank, c in enumerate(chunks, start=1)]


def found(hits: Sequence[Hit], score: float = 1.0, settings: RseSettings = SETTINGS) -> list[Segment]:
    """The segments of one query that gives every hit the same score."""
    return relevant_segments([[replace(hit, score=score) for hit in hits]], settings)


def ordered(
    rankings: Sequence[Sequence[Hit]], tiles: Sequence[Chunk], settings: RseSettings, reach: int
) -> list[Segment]:
    """Passages in the order of each chunk's best rank."""
    order = best_hits(rankings)
    return passages(rankings, library(tiles), settings, reach=reach, order=order, scope=EVERYTHING)


def test_near_hits_become_one_segment_with_what_lies_between() -> None:
    hits = ranked(chunk("a", 4), chunk("a", 6), chunk("b", 1))
    (segment,) = found(hits)
    assert (segment.doc_id, segment.first_chunk, segment.last_chunk, segment.via) == ("a", 4, 6, "rse")
    assert (segment.start, segment.end) == (40, 70)
    assert segment.value == pytest.approx(0.8 - 0.2 + 2.718281828 ** (-1 / 30) - 0.2)


def test_a_segment_never_crosses_into_another_document() -> None:
    hits = ranked(chunk("a", 3), chunk("b", 0), chunk("a", 2), chunk("b", 1))
    segments = found(hits)
    assert {(s.doc_id, s.first_chunk, s.last_chunk) for s in segments} == {("a", 2, 3), ("b", 0, 1)}


def test_values_are_placed_by_the_chunk_s_index_in_its_document() -> None:
    hits = ranked(chunk("z", 40), chunk("a", 7), chunk("z", 41), chunk("a", 8))
    segments = found(hits)
    assert {(s.doc_id, s.first_chunk, s.last_chunk) for s in segments} == {("z", 40, 41), ("a", 7, 8)}


def test_irrelevant_hits_give_no_segment_and_stay_single() -> None:
    hits = ranked(chunk("a", 4), chunk("a", 5))
    assert found(hits, 0.0) == []
    alone = single_hits(hits, [])
    assert [(s.first_chunk, s.via, s.value) for s in alone] == [(4, "hit", 0.99), (5, "hit", 0.98)]


def test_no_hits_give_no_segments() -> None:
    assert relevant_segments([[]], SETTINGS) == relevant_segments([], SETTINGS) == []
    assert single_hits([], []) == []


def library(chunks: Sequence[Chunk]) -> Callable[[Sequence[str]], list[Chunk]]:
    by_id = {c.chunk_id: c for c in chunks}
    return lambda ids: [by_id[i] for i in ids if i in by_id]


def test_neighbours_are_of_the_same_section_and_taken_once() -> None:
    chunks = [chunk("a", i, section) for i, section in enumerate(["one", "two", "two", "two", "two", "three"])]
    hits = ranked(chunks[1], chunks[3])
    alone = single_hits(hits, [])
    beside = neighbours(hits, alone, library(chunks), reach=1)
    assert [(s.first_chunk, s.last_chunk, s.via) for s in beside] == [(2, 2, "neighbour"), (4, 4, "neighbour")]
    assert [(s.start, s.end) for s in beside] == [(20, 30), (40, 50)]


def test_hits_inside_a_segment_have_no_neighbours() -> None:
    chunks = [chunk("a", i) for i in range(8)]
    hits = ranked(chunks[3], chunks[4])
    segments = found(hits)
    assert [(s.first_chunk, s.last_chunk) for s in segments] == [(3, 4)]
    assert neighbours(hits, segments + single_hits(hits, segments), library(chunks), reach=1) == []


def test_the_first_and_last_chunk_have_one_neighbour_each() -> None:
    chunks = [chunk("a", i) for i in range(4)]
    hits = ranked(chunks[0], chunks[3])
    beside = neighbours(hits, single_hits(hits, []), library(chunks), reach=1)
    assert [s.first_chunk for s in beside] == [1, 2]


def test_a_reach_of_0_takes_none() -> None:
    chunks = [chunk("a", i) for i in range(4)]
    hits = ranked(chunks[1])
    assert neighbours(hits, single_hits(hits, []), library(chunks), reach=0) == []


def composite(doc_id: str, first: int, last: int, index: int = 90, section: str = "") -> Chunk:
    start, end = first * 10, last * 10 + 10
    text = "x" * (end - start)
    return Chunk(f"{doc_id}:{index}", doc_id, index, "table", start, end, text, (section,), tiles=(first, last))


def test_a_composite_is_a_segment_over_its_tiles() -> None:
    hits = ranked(chunk("a", 1), composite("a", 3, 6))
    (table,) = table_segments(hits)
    assert (table.first_chunk, table.last_chunk, table.start, table.end) == (3, 6, 30, 70)
    assert (table.value, table.via) == (0.98, "table")
    assert [s.first_chunk for s in single_hits(hits, [table])] == [1]


def test_no_segment_reaches_into_a_table_that_was_chosen() -> None:
    before, after = ranked(chunk("a", 4), chunk("a", 6)), ranked(chunk("a", 4), chunk("a", 6), composite("a", 5, 5))
    assert [(s.first_chunk, s.last_chunk) for s in found(before)] == [(4, 6)]
    low = SETTINGS.model_copy(update={"minimum_value": 0.5})
    assert sorted((s.first_chunk, s.last_chunk) for s in found(after, settings=low)) == [(4, 4), (6, 6)]
    assert found(ranked(composite("a", 0, 3))) == []


def test_a_table_past_the_last_hit_does_no_harm() -> None:
    hits = ranked(chunk("a", 1), composite("a", 1000, 1005), composite("b", 0, 4))
    low = SETTINGS.model_copy(update={"minimum_value": 0.5})
    assert [(s.doc_id, s.first_chunk) for s in found(hits, settings=low)] == [("a", 1)]


def test_neighbours_of_a_table_stand_before_and_after_it_and_are_tiles() -> None:
    tiles = [chunk("a", i) for i in range(8)]
    table, other = composite("a", 3, 6, index=9), composite("a", 0, 1, index=8)
    hits = ranked(table)
    beside = neighbours(hits, table_segments(hits), library([*tiles, other, table]), reach=2)
    assert [s.first_chunk for s in beside] == [1, 2, 7]
    assert {s.via for s in beside} == {"neighbour"}


def numbered(*pairs: tuple[int, Chunk], score: float = 1.0) -> list[Hit]:
    return [Hit(rank, c, score) for rank, c in pairs]


def spans(segments: Sequence[Segment]) -> list[tuple[str, int, int, str]]:
    return [(s.doc_id, s.first_chunk, s.last_chunk, s.via) for s in segments]


def test_each_query_has_its_own_ranks_and_scores() -> None:
    one = numbered((1, chunk("a", 3)), (2, chunk("a", 4)))
    other = numbered((1, chunk("a", 3)), (2, chunk("a", 8)), (3, chunk("a", 9)), score=0.9)
    segments = relevant_segments([one, other], SETTINGS)
    assert spans(segments) == [("a", 3, 4, "rse"), ("a", 8, 9, "rse")]
    assert segments[0].value == found(one)[0].value
    assert segments[1].value == found(other[1:], 0.9)[0].value < segments[0].value


def test_queries_take_turns_and_each_further_one_brings_room() -> None:
    low = SETTINGS.model_copy(update={"minimum_value": 0.1, "overall_max_length": 2, "max_length": 1})
    rankings = [ranked(*(chunk(doc_id, 2 * i) for i in range(4))) for doc_id in "ab"]
    assert [s.doc_id for s in relevant_segments(rankings, low)] == ["a", "b", "a", "b", "a", "b", "a"]
    assert len(relevant_segments(rankings[:1], low)) == 2


def test_a_chunk_that_several_queries_found_is_one_with_its_best_rank_and_its_best_score() -> None:
    one = numbered((1, chunk("a", 0)), (2, chunk("b", 0)), score=0.4)
    other = numbered((1, chunk("b", 0)), (2, chunk("a", 0)), (3, chunk("c", 0)), score=0.3)
    hits = best_hits([one, other])
    assert [(hit.chunk.doc_id, hit.rank, hit.score) for hit in hits] == [("a", 1, 0.4), ("b", 1, 0.4), ("c", 3, 0.3)]
    assert best_hits([one]) == one


def test_passages_of_several_queries_come_in_the_order_of_their_best_rank_in_any() -> None:
    tiles = [chunk(doc_id, i) for doc_id in "abc" for i in range(9)]
    at = {c.chunk_id: c for c in tiles}
    table = composite("c", 2, 4, index=9)
    one = numbered((1, at["a:2"]), (2, at["a:3"]), (5, at["b:7"]), score=0.9)
    other = numbered((1, at["b:1"]), (2, table), (3, at["a:3"]), (4, at["c:3"]), score=0.2)
    settings = SETTINGS.model_copy(update={"minimum_value": 0.4})
    assert spans(ordered([one, other], tiles, settings, reach=0)) == [
        ("a", 2, 3, "rse"),
        ("b", 1, 1, "hit"),
        ("c", 2, 4, "table"),
        ("b", 7, 7, "rse"),
    ]
    # The row of the other query's table is in that table, and neighbours follow the same order.
    strict = SETTINGS.model_copy(update={"minimum_value": 9.0})
    assert spans(ordered([one, other], tiles, strict, reach=1)) == [
        ("a", 2, 2, "hit"),
        ("b", 1, 1, "hit"),
        ("a", 3, 3, "hit"),
        ("c", 2, 4, "table"),
        ("b", 7, 7, "hit"),
        ("a", 1, 1, "neighbour"),
        ("b", 0, 0, "neighbour"),
        ("b", 2, 2, "neighbour"),
        ("a", 4, 4, "neighbour"),
        ("c", 1, 1, "neighbour"),
        ("c", 5, 5, "neighbour"),
        ("b", 6, 6, "neighbour"),
        ("b", 8, 8, "neighbour"),
    ]


def test_of_passages_with_the_same_best_rank_the_earlier_query_s_comes_first() -> None:
    rankings = [ranked(chunk(doc_id, 0)) for doc_id in ("z", "m", "a")]
    for order in ([0, 1, 2], [2, 0, 1]):
        given = [rankings[i] for i in order]
        for settings in (SETTINGS.model_copy(update={"minimum_value": least}) for least in (0.1, 9.0)):
            segments = ordered(given, [], settings, reach=1)
            assert [s.doc_id for s in segments] == [ranking[0].chunk.doc_id for ranking in given]
