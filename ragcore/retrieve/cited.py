"""Passages that the answer before cites, among the hits of a question that goes on from it.

A follow-up such as "Why is that?" has few words to search for, and what it is about was found one question ago.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragcore.protocols import Reranker
from ragcore.types import Chunk, Hit, Retrieval, Segment

VIA = "cited"
MOST = 8  # passages


def with_cited(found: Retrieval, cited: Sequence[Chunk], reranker: Reranker | None) -> Retrieval:
    """``found`` with those of ``cited``, the first `MOST`, that none of its segments hold. Each stands where its
    relevance to the question puts it among the hits; without a reranker behind them."""
    lacking = [chunk for chunk in cited if not any(_holds(segment, chunk) for segment in found.segments)][:MOST]
    if not lacking:
        return found
    scores = [0.0] * len(lacking) if reranker is None else reranker.score(found.query, [c.passage for c in lacking])
    hits, segments = list(found.hits), list(found.segments)
    for relevance, chunk in sorted(zip(map(float, scores), lacking, strict=True), key=lambda each: -each[0]):
        hits = [hit for hit in hits if hit.chunk.chunk_id != chunk.chunk_id]
        place = next((n for n, hit in enumerate(hits) if hit.scores.get("rerank", hit.score) < relevance), len(hits))
        beside = hits[min(place, len(hits) - 1)].score if hits else relevance
        # Behind every passage that a better hit lies in, and before the neighbours.
        held = [n for n, one in enumerate(segments, 1) if any(_holds(one, hit.chunk) for hit in hits[:place])]
        passage = Segment(chunk.doc_id, chunk.start, chunk.end, chunk.index, chunk.index, beside, "hit")
        segments.insert(max(held, default=0), passage)
        hits.insert(place, Hit(0, chunk, beside, {"rerank": relevance} if reranker else {}, {}, VIA, ()))
    ranked = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))
    return replace(found, hits=ranked, segments=tuple(segments))


def _holds(segment: Segment, chunk: Chunk) -> bool:
    return segment.doc_id == chunk.doc_id and segment.start <= chunk.start and chunk.end <= segment.end
