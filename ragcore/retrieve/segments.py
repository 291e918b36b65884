"""From ranked hits to the passages that become sources: segments, single hits, and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragcore.retrieve.rse import best_segments, chunk_values
from ragcore.types import Chunk, Hit, Segment

if TYPE_CHECKING:
    from ragcore.config import RseSettings


def relevant_segments(hits: Sequence[Hit], relevance: Mapping[str, float], settings: RseSettings) -> list[Segment]:
    """The segments that relevant segment extraction finds around ``hits`` (best first), best first.

    ``relevance`` gives each hit's chunk a score in 0–1. Documents come in the order in which they first appear; a
    document is as long as its last hit requires, for what lies behind it is worth nothing.
    """
    places: dict[str, dict[int, tuple[int, Hit]]] = {}
    for rank, hit in enumerate(hits):
        places.setdefault(hit.chunk.doc_id, {}).setdefault(hit.chunk.index, (rank, hit))
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
    """The chunks up to ``reach`` before and after each single hit, of its section, as segments of their own.

    ``segments`` are all that were chosen so far, single hits included: nothing is taken twice. ``chunks`` gives chunks
    by id, which is ``doc_id:index``. The order is that of the hits; a neighbour's value is the score of its hit.
    """
    taken = {(s.doc_id, index) for s in segments for index in range(s.first_chunk, s.last_chunk + 1)}
    alone = {(s.doc_id, s.first_chunk) for s in segments if s.via == "hit"}
    around = [hit.chunk for hit in hits if (hit.chunk.doc_id, hit.chunk.index) in alone]
    places = [
        (chunk.doc_id, index)
        for chunk in around
        for index in range(max(0, chunk.index - reach), chunk.index + reach + 1)
        if (chunk.doc_id, index) not in taken
    ]
    wanted = [f"{doc_id}:{index}" for doc_id, index in dict.fromkeys(places)]
    found = {(chunk.doc_id, chunk.index): chunk for chunk in (chunks(wanted) if wanted else ())}
    out: list[Segment] = []
    for hit in hits:
        doc_id, index = hit.chunk.doc_id, hit.chunk.index
        if (doc_id, index) not in alone:
            continue
        for near in range(index - reach, index + reach + 1):
            chunk = found.get((doc_id, near))
            if chunk is not None and chunk.section == hit.chunk.section and (doc_id, near) not in taken:
                taken.add((doc_id, near))
                out.append(_one(chunk, hit.score, "neighbour"))
    return out


def covers(segment: Segment, chunk: Chunk) -> bool:
    return segment.doc_id == chunk.doc_id and segment.first_chunk <= chunk.index <= segment.last_chunk


def _one(chunk: Chunk, value: float, via: str) -> Segment:
    return Segment(chunk.doc_id, chunk.start, chunk.end, chunk.index, chunk.index, value, via)
