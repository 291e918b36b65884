"""Why an answer has its sources: a `Trace` as the words and numbers of the panel that explains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragcore.scopes import within
from ragcore.types import Answer, Citation, Reuse, Route, Source, SubQuery, Trace, TracedHit
from ui import payload

Json = dict[str, Any]

SHOWN_ROUTES = 4
ORIGINS = {
    "question": "as asked",
    "rules": "part of the question, by rule",
    "model": "part of the question, by the model",
    "gap": "to fill a gap in what was found",
}
# Each step of the search that gives a score: its column, and what its numbers are.
COLUMNS = {
    "vector": ("Meaning", "how close its meaning is to the question’s: 1 is the same (cosine of the embeddings)"),
    "bm25": ("Words", "how many of the question’s words it has, rare ones counting more (BM25; no upper limit)"),
    "prior": ("Named", "how well the question names its document, 0 to 1"),
    "fused": ("Both", "meaning and words together, 0 to 1; less where the question names another document"),
    "rerank": ("Read", "how well it answers the question when both are read together by a second model, 0 to 1"),
    "question": ("Whole", "the same for the whole question, where parts of it were searched for, 0 to 1"),
}
STEPS = {
    "cache": "Comparing with questions asked before",
    "plan": "Working out what to search for",
    "route": "Finding documents that are named",
    "embed": "Reading the question",
    "vector": "Searching by meaning",
    "bm25": "Searching by words",
    "fuse": "Putting both together",
    "rerank": "Reading the best passages",
    "gaps": "Looking for what is missing",
    "rse": "Joining passages that belong together",
    "generate": "Writing the answer",
    "verify": "Checking its claims",
}
VIA = {
    "vector": "meaning",
    "bm25": "words",
    "table": "whole table",
    "named": "",  # a column has it
    "cache": "found for an earlier question",
}
SOURCE_VIA = {
    "rse": "passages that belong together",
    "table": "a whole table",
    "hit": "one passage",
    "neighbour": "beside a passage that was found",
}


def explanation(answer: Answer) -> Json | None:
    """Everything that the panel shows; None for an answer without a trace."""
    trace = answer.trace
    if trace is None:
        return None
    return {
        "queries": [_query(item) for item in trace.queries],
        "within": within(trace.scope, trace.searched),
        "routes": [_route(item, trace) for item in trace.routes[:SHOWN_ROUTES]],
        "more_routes": max(0, len(trace.routes) - SHOWN_ROUTES),
        "cache": _cache(trace.cache),
        "read": _read(trace),
        "given": _given(answer),
        "notes": list(trace.notes),
        "steps": _steps(trace.timings_ms, answer.timings_ms),
        "columns": [
            {"step": step, "name": name, "means": means}
            for step, (name, means) in COLUMNS.items()
            if any(step in hit.scores for hit in trace.hits)
        ],
        "hits": [_hit(hit, trace, answer.citations) for hit in trace.hits],
        "others": [_other(item) for item in _others(answer.sources, trace.hits)],
    }


def _query(item: SubQuery) -> Json:
    also = f"other words for it, at a lower weight: {', '.join(item.also)}" if item.also else ""
    reason = "; ".join(part for part in (item.reason, also) if part)
    return {"text": item.text, "how": ORIGINS[item.origin], "reason": reason}


def _route(item: Route, trace: Trace) -> Json:
    return {"title": trace.titles[item.doc_id], "reason": item.reason, "prior": f"{item.prior:.2f}"}


def _cache(reuse: Reuse) -> str:
    if reuse.status == "off":
        return ""
    if reuse.status == "miss" or reuse.similarity is None:
        return "No: searched afresh"
    alike = f"one that is {reuse.similarity:.2f} alike (1 is the same)"
    if reuse.status == "hit":
        return f"Yes, {alike}: what was found for it is used again"
    return f"In part, {alike}: half was searched afresh, the rest was found for it"


def _read(trace: Trace) -> str:
    if not trace.candidates:
        return ""
    read = f"{trace.candidates:,} passages weighed"
    if len(trace.queries) > 1:
        read += f" in {len(trace.queries)} searches"
    if trace.reranked:
        read += f", the best {trace.reranked} read side by side with the question"
    return read


def _given(answer: Answer) -> str:
    count = len(answer.sources)
    return "1 source" if count == 1 else f"{count} sources"


def _steps(searching: Mapping[str, float], answering: Mapping[str, float]) -> list[Json]:
    """Label, time and share of the longest of each step."""
    taken = dict(searching) | {step: answering[step] for step in ("generate", "verify") if step in answering}
    longest = max(taken.values(), default=0.0)
    order = [step for step in STEPS if step in taken] + [step for step in taken if step not in STEPS]
    return [
        {
            "name": STEPS.get(step, step),
            "ms": f"{taken[step]:,.0f} ms" if taken[step] >= 1 else f"{taken[step]:.1f} ms",
            "share": round(taken[step] / longest, 3) if longest else 0.0,
        }
        for step in order
    ]


def _hit(hit: TracedHit, trace: Trace, citations: Sequence[Citation]) -> Json:
    page = hit.pages[0] if hit.pages else 1
    return {
        "rank": hit.rank,
        "id": hit.chunk_id,
        "doc": hit.doc_id,
        "title": trace.titles[hit.doc_id],
        "page": page,
        "label": hit.page_labels[0] if hit.page_labels else str(page),
        "last_label": hit.page_labels[-1] if len(hit.page_labels) > 1 else "",
        "section": list(hit.section),
        "kind": hit.kind,
        "quote": hit.excerpt,
        "boxes": [payload.box(place) for place in hit.boxes],
        "score": f"{hit.score:.2f}",
        "share": round(min(1.0, max(0.0, hit.score)), 3),
        "cells": {step: _cell(hit, step) for step in COLUMNS if step in hit.scores},
        "via": _via(hit),
        "queries": list(hit.queries) if len(trace.queries) > 1 else [],
        "source": hit.source,
        "cited": [item.n for item in citations if _lies_in(item, hit)],
    }


def _cell(hit: TracedHit, step: str) -> Json:
    score = hit.scores[step]
    return {
        "score": f"{score:.1f}" if step == "bm25" else f"{score:.2f}",
        "rank": hit.ranks.get(step),
    }


def _via(hit: TracedHit) -> str:
    """``by meaning and words; whole table``."""
    parts = [part for part in hit.via.split("+") if part]
    found = " and ".join(VIA[part] for part in parts if part in ("vector", "bm25"))
    others = [VIA.get(part, part) for part in parts if part not in ("vector", "bm25") and VIA.get(part, part)]
    return "; ".join([f"by {found}", *others] if found else others)


def _lies_in(citation: Citation, hit: TracedHit) -> bool:
    return citation.doc_id == hit.doc_id and citation.start < hit.end and citation.end > hit.start


def _others(sources: Sequence[Source], hits: Sequence[TracedHit]) -> list[Source]:
    """Sources that no hit went into: what stands beside one."""
    filled = {hit.source for hit in hits}
    return [source for source in sources if source.number not in filled]


def _other(source: Source) -> Json:
    labels = source.page_labels
    return {
        "number": source.number,
        "title": source.title,
        "place": f"p. {labels[0]}" if len(labels) == 1 else f"pp. {labels[0]}–{labels[-1]}" if labels else "",
        "why": SOURCE_VIA.get(source.via, source.via),
    }
