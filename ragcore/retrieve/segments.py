"""Passages from ranked hits: segments, single hits, neighbours, and passages cited by the previous answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragcore.retrieve.rse import best_segments, chunk_values
from ragcore.types import Chunk, Hit, Retrieval, Scope, Segment

if TYPE_CHECKING:
    from ragcore.config.settings import RseSettings
    from ragcore.protocols import Reranker

EXTENSION = 5  # of `overall_max_length`, in chunks, for every query after the first
MOST_CITED = 8  # passages of the previous answer


def passages(
    rankings: Sequence[Sequence[Hit]],
    chunks: Callable[[Sequence[str]], Sequence[Chunk]],
    settings: RseSettings,
    *,
    reach: int,
    order: Sequence[Hit],
    scope: Scope,
) -> list[Segment]:
    """Tables, segments and single hits in the order of their best hits, then neighbours, all cut to the sections in
    ``scope``. ``rankings`` has the hits of each query, best first; ``Hit.rank`` is the rank given by the query.

    A chunk found by several queries occurs once, with its best hit (`best_hits`). A passage has the position of its
    best hit in ``order``, the same chunks merged; at equal positions a table precedes a segment and a segment a single
    hit.
    """
    hits = best_hits(rankings)
    segments = table_segments(hits) + relevant_segments(rankings, settings)
    segments += single_hits(hits, segments)
    place = {(hit.chunk.doc_id, hit.chunk.reach[0]): number for number, hit in reversed(list(enumerate(order)))}
    segments.sort(
        key=lambda s: min(
            place[s.doc_id, index] for index in range(s.first_chunk, s.last_chunk + 1) if (s.doc_id, index) in place
        )
    )
    segments += neighbours(hits, segments, chunks, reach=reach)
    # A chunk may hold the end of one section and the beginning of the next; one that spans several becomes several.
    return [replace(one, start=start, end=end) for one in segments for start, end in scope.parts(one)]


def best_hits(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Each chunk of ``rankings`` once, by its lowest rank for any query; at equal ranks the earlier query's comes
    first. Its hit is the one with that rank and the highest score that it has for any query."""
    found: dict[str, Hit] = {}
    for hit in sorted((hit for ranking in rankings for hit in ranking), key=lambda hit: hit.rank):
        best = found.setdefault(hit.chunk.chunk_id, hit)
        if hit.score > best.score:
            found[hit.chunk.chunk_id] = replace(best, score=hit.score)
    return list(found.values())


def relevant_segments(rankings: Sequence[Sequence[Hit]], settings: RseSettings) -> list[Segment]:
    """Segments found by relevant segment extraction around the hits of each query, in the order chosen: queries take
    turns, and ``overall_max_length`` grows by `EXTENSION` for every query after the first.

    A query's values come from its own ranks and scores (0–1). Documents are in the order of `best_hits`. A document
    extends to its last hit, since chunks after it are worth nothing. Segments consist of tiles: composites among the
    hits are separate (`table_segments`), and no segment reaches into one.
    """
    documents = _documents(rankings)
    if not documents:
        return []
    lengths = [max(tiles) + 1 for tiles in documents.values()]
    ends = np.cumsum(lengths).tolist()
    places = {doc_id: slice(end - length, end) for doc_id, end, length in zip(documents, ends, lengths)}
    values = [_values(ranking, places, ends[-1], settings) for ranking in rankings]
    for chunk in (hit.chunk for ranking in rankings for hit in ranking):
        if chunk.tiles is not None and chunk.doc_id in places:
            for of_query in values:
                of_query[places[chunk.doc_id]][chunk.tiles[0] : chunk.tiles[1] + 1] = -np.inf

    chosen = best_segments(
        values,
        lengths,
        max_length=settings.max_length,
        overall_max_length=settings.overall_max_length + EXTENSION * (len(rankings) - 1),
        minimum_value=settings.minimum_value,
    )
    segments: list[Segment] = []
    doc_ids = list(documents)
    for start, end, value in chosen:
        doc_id = doc_ids[int(np.searchsorted(ends, start, side="right"))]
        first, last = start - places[doc_id].start, end - 1 - places[doc_id].start
        # Both ends have a value of at least 0, hence they are hits.
        tiles = documents[doc_id]
        segments.append(Segment(doc_id, tiles[first].start, tiles[last].end, first, last, value, via="rse"))
    return segments


def _documents(rankings: Sequence[Sequence[Hit]]) -> dict[str, dict[int, Chunk]]:
    """Found tiles by document and index."""
    documents: dict[str, dict[int, Chunk]] = {}
    for chunk in (hit.chunk for hit in best_hits(rankings)):
        if chunk.tiles is None:
            documents.setdefault(chunk.doc_id, {})[chunk.index] = chunk
    return documents


def _values(
    ranking: Sequence[Hit], places: Mapping[str, slice], count: int, settings: RseSettings
) -> NDArray[np.float64]:
    """Value of each of ``count`` tiles for one query; ``places`` are the positions of the documents."""
    values = np.full(count, -settings.irrelevant_chunk_penalty)
    tiles = [hit for hit in ranking if hit.chunk.tiles is None and hit.chunk.doc_id in places]
    values[[places[hit.chunk.doc_id].start + hit.chunk.index for hit in tiles]] = chunk_values(
        [hit.rank - 1 for hit in tiles],
        [hit.score for hit in tiles],
        decay_rate=settings.decay_rate,
        irrelevant_chunk_penalty=settings.irrelevant_chunk_penalty,
    )
    return values


def table_segments(hits: Sequence[Hit]) -> list[Segment]:
    """Each composite among ``hits`` as a segment over its tiles; its value is its score."""
    return [_one(hit.chunk, hit.score, "table") for hit in hits if hit.chunk.tiles is not None]


def single_hits(hits: Sequence[Hit], segments: Sequence[Segment]) -> list[Segment]:
    """Each hit outside all segments, as a segment of its own; its value is its score."""
    alone = [hit for hit in hits if not any(covers(segment, hit.chunk) for segment in segments)]
    return [_one(hit.chunk, hit.score, "hit") for hit in alone]


def neighbours(
    hits: Sequence[Hit],
    segments: Sequence[Segment],
    chunks: Callable[[Sequence[str]], Sequence[Chunk]],
    *,
    reach: int,
) -> list[Segment]:
    """Tiles up to ``reach`` before and after each single hit or table, in its section, as segments of their own.

    ``segments`` are all chosen so far, including single hits: nothing is taken twice. ``chunks`` gives chunks by id
    (``doc_id:index``). They are in the order of the hits; a neighbour's value is the score of its hit.
    """
    taken = {(s.doc_id, index) for s in segments for index in range(s.first_chunk, s.last_chunk + 1)}
    alone = {(s.doc_id, s.first_chunk) for s in segments if s.via in ("hit", "table")}
    around = [hit for hit in hits if (hit.chunk.doc_id, hit.chunk.reach[0]) in alone]
    places = [place for hit in around for place in _beside(hit.chunk, reach) if place not in taken]
    wanted = [f"{doc_id}:{index}" for doc_id, index in dict.fromkeys(places)]
    # Composites are numbered after the last tile, so the requested ids may include some.
    found = {(c.doc_id, c.index): c for c in (chunks(wanted) if wanted else ()) if c.tiles is None}
    out: list[Segment] = []
    for hit in around:
        for place in _beside(hit.chunk, reach):
            chunk = found.get(place)
            if chunk is not None and chunk.section == hit.chunk.section and place not in taken:
                taken.add(place)
                out.append(_one(chunk, hit.score, "neighbour"))
    return out


def with_cited(found: Retrieval, cited: Sequence[Chunk], reranker: Reranker | None) -> Retrieval:
    """``found`` plus the first `MOST_CITED` of ``cited`` outside its segments, positioned among the hits by relevance
    to the question, or after them without a reranker.

    A follow-up such as "Why is that?" has few words to search for; the passages that it refers to were found one
    question ago.
    """
    lacking = [chunk for chunk in cited if not any(_spans(segment, chunk) for segment in found.segments)][:MOST_CITED]
    if not lacking:
        return found
    scores = [0.0] * len(lacking) if reranker is None else reranker.score(found.query, [c.passage for c in lacking])
    hits, segments = list(found.hits), list(found.segments)
    for relevance, chunk in sorted(zip(map(float, scores), lacking, strict=True), key=lambda each: -each[0]):
        hits = [hit for hit in hits if hit.chunk.chunk_id != chunk.chunk_id]
        place = next((n for n, hit in enumerate(hits) if hit.scores.get("rerank", hit.score) < relevance), len(hits))
        beside = hits[min(place, len(hits) - 1)].score if hits else relevance
        # After every passage with a better hit, and before the neighbours.
        held = [n for n, one in enumerate(segments, 1) if any(_spans(one, hit.chunk) for hit in hits[:place])]
        passage = Segment(chunk.doc_id, chunk.start, chunk.end, chunk.index, chunk.index, beside, "hit")
        segments.insert(max(held, default=0), passage)
        hits.insert(place, Hit(0, chunk, beside, {"rerank": relevance} if reranker else {}, {}, "cited", ()))
    ranked = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))
    return replace(found, hits=ranked, segments=tuple(segments))


def _spans(segment: Segment, chunk: Chunk) -> bool:
    return segment.doc_id == chunk.doc_id and segment.start <= chunk.start and chunk.end <= segment.end


def _beside(chunk: Chunk, reach: int) -> list[tuple[str, int]]:
    """Document and index of the tiles up to ``reach`` before and after ``chunk``."""
    first, last = chunk.reach
    return [(chunk.doc_id, i) for i in (*range(max(0, first - reach), first), *range(last + 1, last + reach + 1))]


def covers(segment: Segment, chunk: Chunk) -> bool:
    """Whether all tiles of ``chunk`` are in ``segment``."""
    first, last = chunk.reach
    return segment.doc_id == chunk.doc_id and segment.first_chunk <= first and last <= segment.last_chunk


def _one(chunk: Chunk, value: float, via: str) -> Segment:
    return Segment(chunk.doc_id, chunk.start, chunk.end, *chunk.reach, value, via)
