"""Traces: the part of a retrieval stored with an answer, so that it can be explained later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ragcore.types import Document, Hit, Retrieval, Source, Trace, TracedHit


def trace(
    retrieval: Retrieval,
    sources: Sequence[Source],
    document: Callable[[str], Document],
    titles: Mapping[str, str],
) -> Trace:
    """Trace of ``retrieval`` with the ``sources`` made of it; ``document`` gives a document by its id and ``titles``
    the title of each document in the library. Raises `UnknownDocument` if one has been removed."""
    named = [route.doc_id for route in retrieval.routes] + [hit.chunk.doc_id for hit in retrieval.hits]
    within = retrieval.scope.doc_ids
    return Trace(
        mode=retrieval.mode,
        scope=retrieval.scope,
        searched=len(titles) if within is None else len(within),
        queries=retrieval.queries,
        routes=retrieval.routes,
        hits=tuple(_traced(hit, sources, document(hit.chunk.doc_id)) for hit in retrieval.hits),
        titles={doc_id: titles.get(doc_id, doc_id) for doc_id in dict.fromkeys(named)},
        candidates=retrieval.candidates,
        reranked=retrieval.reranked,
        notes=retrieval.notes,
        timings_ms={step: round(ms, 2) for step, ms in retrieval.timings_ms.items()},
    )


def _traced(hit: Hit, sources: Sequence[Source], document: Document) -> TracedHit:
    chunk = hit.chunk
    pages = document.pages_of(chunk.start, chunk.end)
    return TracedHit(
        rank=hit.rank,
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        kind=chunk.kind,
        start=chunk.start,
        end=chunk.end,
        section=chunk.section,
        pages=pages,
        page_labels=tuple(document.pages[page - 1].label for page in pages),
        boxes=document.boxes(chunk.start, chunk.end),
        score=hit.score,
        scores=hit.scores,
        ranks=hit.ranks,
        via=hit.via,
        queries=hit.queries,
        source=_source_of(hit, sources),
    )


def _source_of(hit: Hit, sources: Sequence[Source]) -> int:
    """Number of the source with the largest part of the hit's passage; 0 if none has any of it."""
    chunk = hit.chunk
    shared = {
        source.number: min(source.end, chunk.end) - max(source.start, chunk.start)
        for source in sources
        if source.doc_id == chunk.doc_id
    }
    best = max(shared, key=lambda number: shared[number], default=0)
    return best if best and shared[best] > 0 else 0
