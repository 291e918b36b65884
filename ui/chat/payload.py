"""JSON payloads for the components: turns, documents and the library.

Boxes are sent unchanged as ``[page, x0, y0, x1, y1]`` in displayed-page points; only the pane converts them to pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragcore.errors import KeyMissing, KeyRefused
from ragcore.index.conversations import Conversation, StoredTurn
from ragcore.index.jobs import Job as Work
from ragcore.text.numbers import plural
from ragcore.text.short_titles import told_apart
from ragcore.types import AS_TYPED, OFFLINE, Answer, Box, Citation, Document, Source, Trace
from ragcore.types.json import Json, picked
from ragcore.types.library import DocumentInfo
from ragcore.verify.verify import QUOTED, quoted
from ui.chat import markup
from ui.chat.runs import LiveAnswer
from ui.chat.scope_words import only
from ui.library.jobs import Job

PARTS = ("first_token", "generate", "verify")  # timings that lie within ``answer``

INTERRUPTED = {
    "code": "interrupted",
    "message": "This answer was interrupted.",
    "hint": "Groundwork stopped while writing it. Ask again.",
    "retryable": True,
}


REMOVED = {
    "message": "A document in scope is no longer in the library.",
    "hint": "Reload the page, then ask again without it.",
}


def conversation(
    stored: Conversation,
    live: Mapping[str, LiveAnswer],
    unsearched: Mapping[str, list[Json]] | None = None,
    partly: Mapping[str, list[Json]] | None = None,
    elsewhere: bool = False,
) -> Json:
    """Conversation with the requested turns and the number of earlier ones; ``live`` holds its running answers,
    ``unsearched`` the documents they could not search and ``partly`` those they searched in part, all by turn.
    ``elsewhere``: another machine writes the answer to its newest question without one."""
    missing, parts = unsearched or {}, partly or {}
    waiting = [item.turn_id for item in stored.turns if item.answer is None and item.turn_id not in live]
    written = waiting[-1] if elsewhere and waiting else ""
    return {
        "id": stored.info.conversation_id,
        "title": stored.info.title,
        "earlier": stored.earlier,
        "turns": [
            turn(item, live.get(item.turn_id), missing.get(item.turn_id, ()), parts.get(item.turn_id, ()))
            | ({"state": "live", "only": "", "error": None} if item.turn_id == written else {})
            for item in stored.turns
        ],
    }


def unsearched(doc_ids: Sequence[str], infos: Sequence[DocumentInfo], jobs: Mapping[str, Job]) -> list[Json]:
    """Documents that a question could not search and that are still in the library, grouped by their present state: how
    many, their names, and whether they are queued or being read (``reading``), stopped, unreadable (``failed``), or
    searchable by now (``ready``)."""
    left = [info for info in infos if info.doc_id in doc_ids]
    groups = []
    for state in ("reading", "stopped", "failed", "ready"):
        names = [info.title or info.name for info in left if _reached(info, jobs) == state]
        if names:
            groups.append({"state": state, "count": len(names), "names": names})
    return groups


def _reached(info: DocumentInfo, jobs: Mapping[str, Job]) -> str:
    if info.doc_id in jobs:
        return "reading"
    if info.status == "failed":
        return "failed"
    return "ready" if info.indexed else "stopped"


def error(given: Mapping[str, Any]) -> Json:
    """`GroundworkError.as_dict` in words for the app, since some hints name commands."""
    if given.get("code") == "unknown_document":
        return dict(given) | REMOVED
    if given.get("hint") in (KeyMissing.hint_default, KeyRefused.hint_default):
        return dict(given) | {"hint": "Enter a key in Settings, then try again."}
    return dict(given)


def partly(given: Answer | None, infos: Sequence[DocumentInfo], jobs: Mapping[str, Job]) -> list[Json]:
    """Documents of which an answer saw only a part and that are still in the library: their title, the ``pages`` of
    ``of`` that it saw, and their present ``state`` as of `unsearched`."""
    known = {info.doc_id: info for info in infos}
    return [
        {"title": one.title, "pages": one.pages, "of": one.of, "state": _reached(known[one.doc_id], jobs)}
        for one in (given.partly if given is not None else ())
        if one.doc_id in known
    ]


def turn(
    stored: StoredTurn,
    live: LiveAnswer | None = None,
    unsearched: Sequence[Json] = (),
    partly: Sequence[Json] = (),
) -> Json:
    """Question with its answer. ``state`` is ``live`` while it has events to send, else the answer's status."""
    head = {
        "id": stored.turn_id,
        **picked(stored, "question created"),
        "versions": list(stored.versions),
        "unsearched": list(unsearched),
        "partly": list(partly),
    }
    if stored.answer is not None:
        return head | answer(stored.turn_id, stored.answer)
    if live is not None and live.view.answer is not None and live.view.unsaved:
        note = f"This answer isn’t saved yet. Groundwork keeps trying. {live.view.unsaved}"
        given = answer(stored.turn_id, live.view.answer)
        return head | given | {"notes": [note, *given["notes"]]}
    if live is not None and not live.view.defect:
        return head | {"state": "live", "only": only(live.scope)}
    return head | {"state": "failed", "blocks": [], "error": _defect(live.view.defect) if live else INTERRUPTED}


def answer(turn_id: str, given: Answer) -> Json:
    by_number = {citation.n: citation for citation in given.citations}
    tally = dict.fromkeys(("supported", "weak", "unsupported", "uncited"), 0)
    claims = given.claims
    if given.extractive and not all(claim.reason.startswith(QUOTED) for claim in claims):
        claims = quoted(given.text, given.marks, given.citations)  # kept from when quotes were checked
    for claim in claims:
        tally[claim.status] += 1
    return {
        "state": given.status,
        "only": only(given.trace.scope) if given.trace else "",
        "found": _found(given.trace) if given.trace else "",
        **picked(given, "refused extractive"),
        "blocks": markup.blocks(given.text, given.marks, by_number, claims, turn_id, uncited=not given.extractive),
        **picked(given, "text standalone"),
        "citations": [citation(item) for item in given.citations],
        "claims": [{"status": claim.status, "reason": claim.reason} for claim in claims],
        "tally": tally,
        "dropped": list(given.dropped),
        "added": sorted({mark.n for mark in given.marks if mark.added}),
        "given": sorted({mark.n for mark in given.marks if not mark.added}),
        "rewritten": model_name(given.rewritten_by) if given.rewritten_by not in ("", "rules", AS_TYPED) else "",
        "as_typed": given.rewritten_by == AS_TYPED,
        "notes": list(given.notes),
        "nearest": [_source(source) for source in given.sources[:1]] if given.refused else [],
        "model": model_name(given.model),
        "usage": {"input": given.usage.input_tokens, "output": given.usage.output_tokens},
        "cost": None if given.cost_usd is None else dollars(given.cost_usd),
        "seconds": sum(v for k, v in given.timings_ms.items() if k not in PARTS) / 1000,
        "error": error(given.error) if given.error else None,
    }


def _found(trace: Trace) -> str:
    """Summary such as ``20 passages in 1.2 s``."""
    return f"{plural(trace.found, 'passage')} in {sum(trace.timings_ms.values()) / 1000:.1f} s"


def citation(item: Citation) -> Json:
    return {
        **picked(item, "n title page place generated section start end"),
        "doc": item.doc_id,
        "label": item.page_label,
        "quote": item.quotation,
        "cell": item.label,
        "boxes": [box(place) for place in item.boxes],
        "heads": [box(place) for place in item.head_boxes],
        "ocr": _percent(item.ocr),
    }


def place(read: Document, start: int, end: int) -> Json:
    """Words of a document as components take a citation, without a number and without its ``start`` and ``end``."""
    page = read.page_at(start, end)
    return {
        "doc": read.doc_id,
        "title": read.title,
        "page": page,
        "label": read.pages[page - 1].label,
        "quote": read.shown(start, end),
        "cell": "",
        "section": [],
        "boxes": [box(one) for one in read.boxes(start, end)],
        "heads": [],
        "generated": False,
        "ocr": None,
    }


def box(place: Box) -> list[float]:
    return [place.page, round(place.x0, 3), round(place.y0, 3), round(place.x1, 3), round(place.y1, 3)]


def names(infos: Sequence[DocumentInfo]) -> dict[str, str]:
    """Display name of each document."""
    return told_apart((info.doc_id, info.title or info.name, info.name) for info in infos)


def work(
    target: str, rest: str, failed: Mapping[str, Any] | None, jobs: Sequence[Work], trouble: Mapping[str, Any] | None
) -> Json:
    """How far the ``jobs`` are with a check or grid: its ``state`` (`Work.state`, or what it is at ``rest``), what is
    ``left`` in seconds, None until measurable, how far a model that is ``asked`` is, of how much, and its ``error``."""
    at = next((at for at, one in enumerate(jobs) if one.target == target), None)
    if at is not None:
        job = jobs[at]
        asked = [job.done, job.total] if job.by else None
        return {"state": job.state(at == 0), "left": job.seconds_left, "asked": asked, "error": None}
    failed = trouble if trouble is not None and trouble["target"] == target else failed
    return {"state": rest, "left": None, "asked": None, "error": error(failed) if failed else None}


def offered(infos: Sequence[DocumentInfo]) -> list[Json]:
    """Selectable documents, as components take them, with the number of pages that they have so far, and of all."""
    known = names(infos)
    return [
        {"id": info.doc_id, "title": known[info.doc_id], "pages": info.built_pages, "of": info.pages} for info in infos
    ]


def document(read: Document) -> Json:
    """Page data for the pane: sizes in points, printed labels, OCR confidence in percent, problems, and unreadable
    pages."""
    return {
        "id": read.doc_id,
        "title": read.title,
        "pages": [
            [round(page.width, 3), round(page.height, 3), page.label, _percent(page.ocr), page.degraded, page.unread]
            for page in read.pages
        ],
    }


def _percent(share: float | None) -> int | None:
    """Percentage rounded down, so that 100 is shown only for certainty."""
    return None if share is None else int(100 * share)


def model_name(model: str) -> str:
    """Display name of a model: ``claude-sonnet-4-6`` → ``Claude Sonnet 4.6``; other names unchanged."""
    if model == OFFLINE:
        return "Offline answerer"
    parts = model.split("-")
    if parts[0] != "claude" or len(parts) < 3:
        return model
    version = ".".join(part for part in parts[2:] if len(part) <= 2)
    return f"Claude {parts[1].capitalize()} {version}".strip()


def dollars(usd: float | None) -> str:
    """Amount such as ``$0.025``: three decimals below a dollar, two above; words if no price is known."""
    if usd is None:
        return "price unknown"
    if 0 < usd < 0.001:
        return "under $0.001"
    return f"${usd:.3f}" if usd < 1 else f"${usd:,.2f}"


def _source(source: Source) -> Json:
    return {
        "doc": source.doc_id,
        "title": source.title,
        "page": source.pages[0] if source.pages else 1,
        "label": source.page_labels[0] if source.page_labels else "1",
        "section": list(source.section),
    }


def _defect(what: str) -> Json:
    return {
        "code": "defect",
        "message": f"An unexpected error occurred: {what}.",
        "hint": "Ask again. If it fails again, report this message.",
        "retryable": True,
    }
