"""Hits → segments, single hits and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ragcore.config import RseSettings, load
from ragcore.retrieve.segments import neighbours, relevant_segments, single_hits, table_segments
from ragcore.types import Chunk, Hit

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


def relevance(hits: Sequence[Hit], score: float = 1.0) -> dict[str, float]:
    return {hit.chunk.chunk_id: score for hit in hits}


def test_near_hits_become_one_segment_with_what_lies_between() -> None:
    hits = ranked(chunk("a", 4), chunk("a", 6), chunk("b", 1))
    (segment,) = relevant_segments(hits, relevance(hits), SETTINGS)
    assert (segment.doc_id, segment.first_chunk, segment.last_chunk, segment.via) == ("a", 4, 6, "rse")
    assert (segment.start, segment.end) == (40, 70)
    assert segment.value == pytest.approx(0.8 - 0.2 + 2.718281828 ** (-1 / 30) - 0.2)


def test_a_segment_never_crosses_into_another_document() -> None:
    hits = ranked(chunk("a", 3), chunk("b", 0), chunk("a", 2), chunk("b", 1))
    segments = relevant_segments(hits, relevance(hits), SETTINGS)
    assert {(s.doc_id, s.first_chunk, s.last_chunk) for s in segments} == {("a", 2, 3), ("b", 0, 1)}


def test_values_are_placed_by_the_chunk_s_index_in_its_document() -> None:
    hits = ranked(chunk("z", 40), chunk("a", 7), chunk("z", 41), chunk("a", 8))
    segments = relevant_segments(hits, relevance(hits), SETTINGS)
    assert {(s.doc_id, s.first_chunk, s.last_chunk) for s in segments} == {("z", 40, 41), ("a", 7, 8)}


def test_irrelevant_hits_give_no_segment_and_stay_single() -> None:
    hits = ranked(chunk("a", 4), chunk("a", 5))
    assert relevant_segments(hits, relevance(hits, 0.0), SETTINGS) == []
    alone = single_hits(hits, [])
    assert [(s.first_chunk, s.via, s.value) for s in alone] == [(4, "hit", 0.99), (5, "hit", 0.98)]


def test_no_hits_give_no_segments() -> None:
    assert relevant_segments([], {}, SETTINGS) == []
    assert single_hits([], []) == []


def library(chunks: Sequence[Chunk]) -> Callable[[Sequence[str]], list[Chunk]]:
    by_id = {c.chunk_id: c for c in chunks}
    return lambda ids: [by_id[i] for i in ids if i in by_id]


def test_neighbours_are_of_the_same_section_and_taken_once() -> None:
    chunks = [chunk("a", i, section) for i, section in enumerate(["one", "two", "two", "two", "two", "three"])]
    hits = ranked(chunks[1], chunks[3])
    alone = single_hits(hits, [])
    found = neighbours(hits, alone, library(chunks), reach=1)
    assert [(s.first_chunk, s.last_chunk, s.via) for s in found] == [(2, 2, "neighbour"), (4, 4, "neighbour")]
    assert [(s.start, s.end) for s in found] == [(20, 30), (40, 50)]


def test_hits_inside_a_segment_have_no_neighbours() -> None:
    chunks = [chunk("a", i) for i in range(8)]
    hits = ranked(chunks[3], chunks[4])
    segments = relevant_segments(hits, relevance(hits), SETTINGS)
    assert [(s.first_chunk, s.last_chunk) for s in segments] == [(3, 4)]
    assert neighbours(hits, segments + single_hits(hits, segments), library(chunks), reach=1) == []


def test_the_first_and_last_chunk_have_one_neighbour_each() -> None:
    chunks = [chunk("a", i) for i in range(4)]
    hits = ranked(chunks[0], chunks[3])
    found = neighbours(hits, single_hits(hits, []), library(chunks), reach=1)
    assert [s.first_chunk for s in found] == [1, 2]


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
    assert [(s.first_chunk, s.last_chunk) for s in relevant_segments(before, relevance(before), SETTINGS)] == [(4, 6)]
    low = SETTINGS.model_copy(update={"minimum_value": 0.5})
    found = relevant_segments(after, relevance(after), low)
    assert sorted((s.first_chunk, s.last_chunk) for s in found) == [(4, 4), (6, 6)]
    assert relevant_segments(ranked(composite("a", 0, 3)), {}, SETTINGS) == []


def test_a_table_past_the_last_hit_does_no_harm() -> None:
    hits = ranked(chunk("a", 1), composite("a", 1000, 1005), composite("b", 0, 4))
    low = SETTINGS.model_copy(update={"minimum_value": 0.5})
    assert [(s.doc_id, s.first_chunk) for s in relevant_segments(hits, relevance(hits), low)] == [("a", 1)]


def test_neighbours_of_a_table_stand_before_and_after_it_and_are_tiles() -> None:
    tiles = [chunk("a", i) for i in range(8)]
    table, other = composite("a", 3, 6, index=9), composite("a", 0, 1, index=8)
    hits = ranked(table)
    found = neighbours(hits, table_segments(hits), library([*tiles, other, table]), reach=2)
    assert [s.first_chunk for s in found] == [1, 2, 7]
    assert {s.via for s in found} == {"neighbour"}
