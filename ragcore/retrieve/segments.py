"""From ranked hits to the passages that become sources: segments, single hits, and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragcore.retrieve.rse import best_segments, chunk_values
from ragcore.types import Chunk, Hit, Segment

if TYPE_CHECKING:
    from ragcore.config import RseSettings


def passages(
    rankings: Sequence[Sequence[Hit]],
    chunks: Callable[[Sequence[str]], Sequence[Chunk]],
    settings: RseSettings,
    *,
    reach: int,
) -> list[Segment]:
    """Tables, segments and single hits in the order of their best hit, then neighbours. ``rankings`` has the hits of
    each query, best first."""
    hits = [hit for ranking in rankings for hit in ranking]
    relevance = {hit.chunk.chunk_id: hit.score for hit in hits}
    segments = table_segments(hits) + relevant_segments(hits, relevance, settings)
    segments += single_hits(hits, segments)
    place = {(hit.chunk.doc_id, hit.chunk.reach[0]): hit.rank for hit in reversed(hits)}
    segments.sort(
        key=lambda s: min(
            place[s.doc_id, index] for index in range(s.first_chunk, s.last_chunk + 1) if (s.doc_id, index) in place
        )
    )
    return segments + neighbours(hits, segments, chunks, reach=reach)


def relevant_segments(hits: Sequence[Hit], relevance: Mapping[str, float], settings: RseSettings) -> list[Segment]:
    """The segments that relevant segment extraction finds around ``hits`` (best first), best first.

    ``relevance`` gives each hit's chunk a score in 0–1. Documents come in the order in which they first appear; a
    document is as long as its last hit requires, for what lies behind it is worth nothing. Segments are made of tiles:
    composites among the hits stand by themselves (`table_segments`), and no segment reaches into one.
    """
    places: dict[str, dict[int, tuple[int, Hit]]] = {}
    for rank, hit in enumerate(hits):
        if hit.chunk.tiles is None:
            places.setdefault(hit.chunk.doc_id, {}).setdefault(hit.chunk.index, (rank, hit))
    if not places:
        return []
    lengths = [max(found) + 1 for found in places.values()]
    firsts = np.concatenate([[0], np.cumsum(lengths)]).astype(int).tolist()
    values = np.full(firsts[-1], -settings.irrelevant_chunk_penalty)
    for first, found in zip(firsts, places.values()):
        for index, (rank, hit) in found.items():
            values[first + index] = chunk_values(
                rank,
                relevance[hit.chunk.chunk_id],
                decay_rate=settings.decay_rate,
                irrelevant_chunk_penalty=settings.irrelevant_chunk_penalty,
            )
    parts = {doc_id: values[first : first + length] for doc_id, first, length in zip(places, firsts, lengths)}
    for chunk in (hit.chunk for hit in hits if hit.chunk.tiles is not None and hit.chunk.doc_id in parts):
        parts[chunk.doc_id][chunk.reach[0] : chunk.reach[1] + 1] = -np.inf

    chosen = best_segments(
        [values],
        lengths,
        max_length=settings.max_length,
        overall_max_length=settings.overall_max_length,
        minimum_value=settings.minimum_value,
    )
    segments: list[Segment] = []
    doc_ids = list(places)
    for start, end, value in chosen:
        number = int(np.searchsorted(firsts, start, side="right")) - 1
        doc_id, first = doc_ids[number], start - firsts[number]
        last = first + end - start - 1
        found = places[doc_id]
        segments.append(
            Segment(
                doc_id,
                found[first][1].chunk.start,
                found[last][1].chunk.end,
                first,
                last,
                value,
                via="rse",
            )
        )
    return segments


def table_segments(hits: Sequence[Hit]) -> list[Segment]:
    """Each composite among ``hits`` as a segment over its tiles; its value is its score."""
    return [_one(hit.chunk, hit.score, "table") for hit in hits if hit.chunk.tiles is not None]


def single_hits(hits: Sequence[Hit], segments: Sequence[Segment]) -> list[Segment]:
    """Each hit that lies in no segment, as a segment of its own; its value is its score."""
    alone = []
    for hit in hits:
        chunk = hit.chunk
        if not any(covers(segment, chunk) for segment in segments):
            alone.append(_one(chunk, hit.score, "hit"))
    return alone


def neighbours(
    hits: Sequence[Hit],
    segments: Sequence[Segment],
    chunks: Callable[[Sequence[str]], Sequence[Chunk]],
    *,
    reach: int,
) -> list[Segment]:
    """The tiles up to ``reach`` before and after each single hit or table, of its section, as segments of their own.

    ``segments`` are all that were chosen so far, single hits included: nothing is taken twice. ``chunks`` gives chunks
    by id, which is ``doc_id:index``. The order is that of the hits; a neighbour's value is the score of its hit.
    """
    taken = {(s.doc_id, index) for s in segments for index in range(s.first_chunk, s.last_chunk + 1)}
    alone = {(s.doc_id, s.first_chunk) for s in segments if s.via in ("hit", "table")}
    around = [hit for hit in hits if (hit.chunk.doc_id, hit.chunk.reach[0]) in alone]
    places = [place for hit in around for place in _beside(hit.chunk, reach) if place not in taken]
    wanted = [f"{doc_id}:{index}" for doc_id, index in dict.fromkeys(places)]
    # Composites are numbered on after the last tile, so they may be among what is asked for.
    found = {(c.doc_id, c.index): c for c in (chunks(wanted) if wanted else ()) if c.tiles is None}
    out: list[Segment] = []
    for hit in around:
        for place in _beside(hit.chunk, reach):
            chunk = found.get(place)
            if chunk is not None and chunk.section == hit.chunk.section and place not in taken:
                taken.add(place)
                out.append(_one(chunk, hit.score, "neighbour"))
    return out


def _beside(chunk: Chunk, reach: int) -> list[tuple[str, int]]:
    """Document and index of the tiles up to ``reach`` before and after ``chunk``."""
    first, last = chunk.reach
    return [(chunk.doc_id, i) for i in (*range(max(0, first - reach), first), *range(last + 1, last + reach + 1))]


def covers(segment: Segment, chunk: Chunk) -> bool:
    """Whether all tiles of ``chunk`` lie in ``segment``."""
    first, last = chunk.reach
    return segment.doc_id == chunk.doc_id and segment.first_chunk <= first and last <= segment.last_chunk


def _one(chunk: Chunk, value: float, via: str) -> Segment:
    return Segment(chunk.doc_id, chunk.start, chunk.end, *chunk.reach, value, via)
