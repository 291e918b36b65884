"""Explanation of an answer's search: a `Trace` in Explore's words and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragcore.text.numbers import plural
from ragcore.types import Answer, Document, NamePath, Source, SubQuery, Trace
from ragcore.types.json import Json
from ragcore.types.scope import within
from ui.explore.paths import path

SHOWN_ROUTES = 4
ORIGINS = {
    "question": "as asked",
    "rules": "part of the question, by rule",
    "model": "part of the question, by the model",
    "gap": "to fill a gap",
}
STEPS = {
    "plan": "Working out what to search for",
    "route": "Finding the documents you named",
    "embed": "Reading the question",
    "vector": "Searching by meaning",
    "bm25": "Searching by words",
    "graph": "Following names",
    "structure": "Searching a tree or graph",
    "fuse": "Combining both",
    "rerank": "Reading the best passages",
    "group": "Grouping by theme",
    "gaps": "Looking for what’s missing",
    "rse": "Joining neighbouring passages",
    "generate": "Writing the answer",
    "verify": "Checking its claims",
}


def explanation(answer: Answer, document: Callable[[str], Document]) -> Json | None:
    """Queries, scope, passages read, paths over names, and timings; None for an answer without a trace. ``document``
    gives a document by its id."""
    trace = answer.trace
    if trace is None:
        return None
    return {
        "queries": [_query(item, trace) for item in trace.queries],
        "within": within(trace.scope, trace.searched, trace.titles),
        "routes": [
            {"title": trace.titles[item.doc_id], "reason": item.reason, "prior": f"{item.prior:.2f}"}
            for item in trace.routes[:SHOWN_ROUTES]
        ],
        "more_routes": max(0, len(trace.routes) - SHOWN_ROUTES),
        "read": _read(trace),
        "given": plural(len(answer.sources), "source"),
        "paths": _paths(answer, trace, document),
        "notes": list(trace.notes),
        "steps": _steps(trace.timings_ms, answer.timings_ms),
    }


def _query(item: SubQuery, trace: Trace) -> Json:
    inside = f"in {trace.titles.get(item.doc_id, item.doc_id)}" if item.doc_id else ""
    also = f"also, with less weight: {', '.join(item.also)}" if item.also else ""
    followed = f"following the name{'s' * (len(item.names) > 1)} {', '.join(item.names)}" if item.names else ""
    reason = "; ".join(part for part in (item.reason, inside, also, followed) if part)
    return {"text": item.text, "how": ORIGINS[item.origin], "reason": reason}


def _read(trace: Trace) -> str:
    if not trace.candidates:
        return ""
    read = f"{trace.candidates:,} passages weighed"
    if len(trace.queries) > 1:
        read += f" in {len(trace.queries)} searches"
    if trace.reranked:
        read += f", the best {trace.reranked} read together with the question"
    return read


def _paths(answer: Answer, trace: Trace, document: Callable[[str], Document]) -> list[Json]:
    """Sources that a walk over names has reached, each with the path to the best passage in it."""
    found = []
    for source in answer.sources:
        best = next((one for one in trace.paths if _ends_in(source, one)), None)
        if best is not None:
            where = f"{source.title}, p. {source.page_labels[0]}" if source.page_labels else source.title
            found.append({"source": source.number, "where": where, "path": path(best, trace.titles, document)})
    return found


def _ends_in(source: Source, found: NamePath) -> bool:
    """Whether a path's last sentence is in a source; of one under a heading outside its passage, the passage."""
    start, end = next(
        ((last.start, last.end) for last in found.steps[-1:] if found.start <= last.start < last.end <= found.end),
        (found.start, found.end),
    )
    return found.doc_id == source.doc_id and start < source.end and source.start < end


def _steps(searching: Mapping[str, float], answering: Mapping[str, float]) -> list[Json]:
    """Label, time, and share of the longest step, for each step."""
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
