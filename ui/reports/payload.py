"""JSON payload of reports: the list, a whole report, and the section being written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ragcore.errors import UnknownDocument
from ragcore.index.reports import ReportInfo, StoredSection, Version
from ragcore.report.editing import HAND
from ragcore.report.evidence import named
from ragcore.report.template import Place
from ragcore.report.workspace import ReportWorkspace
from ragcore.types import OFFLINE
from ragcore.types.json import Json, picked
from ragcore.types.library import DocumentInfo
from ragcore.types.report import NO_FOCUS, Conflict, FilledSection, Gap, Span
from ragcore.types.spending import MAX_USD, Expense
from ui.chat import markup, payload
from ui.gate.access import access
from ui.reports.jobs import Live

EXCERPT = 160  # characters of a pinned passage that are shown


def listed(infos: Sequence[ReportInfo], names: Mapping[str, str]) -> list[Json]:
    return [
        {
            "id": info.report_id,
            "title": info.name,
            **picked(info, "origin sections filled not_stated accepted waiting updated own shared"),
            "from": _from(info, names),
        }
        for info in infos
    ]


def _from(info: ReportInfo, names: Mapping[str, str]) -> str:
    """Sources of a report, which tell two reports of one template apart."""
    if info.doc_ids is None:
        return "all documents"
    known = [names[doc_id] for doc_id in info.doc_ids if doc_id in names]
    return known[0] if len(known) == 1 else f"{len(known)} documents"


def report(workspace: ReportWorkspace, report_id: str, live: Live | None, infos: Sequence[DocumentInfo]) -> Json:
    """Whole report; ``revision`` changes with every edit."""
    draft = workspace.get(report_id)
    info = draft.info
    names = payload.names(infos)
    return {
        "id": report_id,
        "revision": revision(info),
        **picked(info, "title name guidance origin own shared"),
        "shares": access().accounts is not None,
        "fresh": info.focus is None and not info.waiting and all(one.shown is None for one, _ in draft.pairs),
        "docs": None if info.doc_ids is None else list(info.doc_ids),
        "documents": _documents(infos, names),
        "trouble": payload.error(info.trouble) if info.trouble else None,
        "writer": payload.model_name(workspace.models.writer_name),
        "offline": workspace.models.capabilities.extractive,
        "spent": _spent(workspace, report_id),
        "expense": expense(workspace.expense(report_id)),
        "live": being_written(live),
        "sections": [_section(workspace, stored, place, live, infos, names) for stored, place in draft.pairs],
    }


def revision(info: ReportInfo) -> str:
    return f"{info.updated}-{info.waiting}"


def expense(found: Expense) -> Json:
    """Estimated cost of filling, in words."""
    if not found.parts:
        words = "Nothing to fill"
    elif found.model == OFFLINE:
        words = "Free, offline"
    elif found.usd is None:
        words = f"At most {found.usage.input_tokens + found.usage.output_tokens:,} tokens, price unknown"
    else:
        words = f"At most {payload.dollars(found.usd)}"
    return {"sections": found.parts, "words": words, "usd": found.usd}


def asking(left: Expense | None) -> Json | None:
    """What a model can still be asked about, what that may cost, and its name; None for nothing."""
    return None if left is None or not left.parts else expense(left) | {"model": payload.model_name(left.model)}


def agreed(body: Json, most: Expense) -> float:
    """US dollars that a person agreed to: what the page told (``usd``), and no more than it is now."""
    now, told = MAX_USD if most.usd is None else most.usd, body.get("usd")
    return min(now, told) if isinstance(told, int | float) else now


def about(workspace: ReportWorkspace, report_id: str, infos: Sequence[DocumentInfo]) -> Json:
    """Possible and chosen subjects of a report: each document with its company and period, and the sections that ask
    for a year."""
    from ragcore.report.fill import asks_of_a_year  # loads what no first page waits for

    draft = workspace.get(report_id)
    info = draft.info
    focus = info.focus or NO_FOCUS
    names = payload.names(infos)
    return {
        **picked(focus, "subject year"),
        "docs": None if info.doc_ids is None else list(info.doc_ids),
        "documents": [
            {
                "id": one.doc_id,
                "title": names[one.doc_id],
                "subject": one.company,
                "period": one.coverage.words,
                "part": one.coverage.part,
                "years": list(one.coverage.years),
            }
            for one in workspace.materials()
        ],
        "yearly": [
            place.section.heading
            for place in draft.template.places()
            if asks_of_a_year(workspace.models.fields, place.section)
        ],
    }


def _spent(workspace: ReportWorkspace, report_id: str) -> str:
    """Cost of a section's versions so far; "" if nothing was paid."""
    usd = workspace.store.cost(report_id)
    return "" if usd == 0 else payload.dollars(usd)


def being_written(live: Live | None) -> Json | None:
    if live is None:
        return None
    by_number = {citation.n: citation for citation in live.citations}
    return {
        "section": live.section_id,
        **picked(live, "stage round sources stopping revision"),
        "turn": f"live{live.section_id}",
        "blocks": markup.blocks(live.text, live.marks, by_number, turn_id=f"live{live.section_id}"),
        "citations": [payload.citation(item) for item in live.citations],
    }


def _section(
    workspace: ReportWorkspace,
    stored: StoredSection,
    place: Place,
    live: Live | None,
    infos: Sequence[DocumentInfo],
    names: Mapping[str, str],
) -> Json:
    asked, content, shown = place.section, stored.content, stored.shown
    works = live is not None and live.section_id == stored.section_id
    return {
        "id": stored.section_id,
        **picked(place, "number level"),
        **picked(asked, "heading guidance kind unit required filled"),
        "columns": list(asked.columns),
        "documents": None if asked.documents is None else [_named(name, infos, names) for name in asked.documents],
        "state": "working" if works else "waiting" if stored.waits is not None else _state(stored, place),
        **picked(stored, "accepted versions"),
        "shown": version(shown) if shown else None,
        "trouble": payload.error(stored.trouble) if stored.trouble else None,
        "pinned": [_span(workspace, span, names) for span in stored.pinned],
        "excluded": [_span(workspace, span, names) for span in stored.excluded],
        **(_content(content, shown.version_id) if content is not None and shown is not None else _nothing()),
    }


def _documents(infos: Sequence[DocumentInfo], names: Mapping[str, str]) -> list[Json]:
    """Documents of the library; ``called`` is the name a section refers to them by: the file name, or the id where
    names repeat."""
    files = Counter(one.name for one in infos)
    return [
        {
            "id": one.doc_id,
            "title": names[one.doc_id],
            "called": one.name if files[one.name] == 1 else one.doc_id,
        }
        for one in infos
    ]


def _named(name: str, infos: Sequence[DocumentInfo], names: Mapping[str, str]) -> Json:
    """Document named by a section, with the ids of all library documents of that name."""
    found = named(name, infos)
    return {"name": name, "ids": found, "title": names[found[0]] if found else name}


def _state(stored: StoredSection, place: Place) -> str:
    if not place.section.filled:
        return "heading"
    if stored.accepted:
        return "accepted"
    if stored.content is None:
        return "empty"
    if stored.content.status in ("failed", "stopped"):
        return stored.content.status
    return "gap" if stored.content.gaps or stored.content.status == "empty" else "draft"


def _nothing() -> Json:
    return {
        "turn": "",
        "blocks": [],
        "text": "",
        "citations": [],
        "claims": [],
        "tally": {},
        "dropped": [],
        "gaps": [],
        "conflicts": [],
        "notes": [],
        "extractive": False,
        "meta": "",
    }


def _content(content: FilledSection, version_id: str) -> Json:
    answer = content.answer
    gaps = [_gap(gap) for gap in content.gaps]
    conflicts = [_conflict(each) for each in content.conflicts]
    if answer is None:
        blocks = markup.blocks(content.text, (), {}, turn_id=version_id)
        return _nothing() | {
            "turn": version_id,
            "blocks": blocks,
            "text": content.text,
            "gaps": gaps,
            "conflicts": conflicts,
        }
    made = payload.answer(version_id, answer)
    spent = [made["model"]] if answer.model != HAND else []
    if not answer.extractive and answer.usage.input_tokens:
        spent += [f"{answer.usage.input_tokens:,} tokens in", f"{answer.usage.output_tokens:,} out", made["cost"] or ""]
    if content.rounds > 1 and answer.model != HAND:
        spent.append(f"written {content.rounds} times, after a search for what was missing")
    keys = ("blocks", "text", "citations", "claims", "tally", "dropped", "notes", "extractive")
    return {key: made[key] for key in keys} | {
        "turn": version_id,
        "gaps": gaps,
        "conflicts": conflicts,
        "meta": " · ".join(part for part in spent if part),
    }


def _gap(gap: Gap) -> Json:
    return {"what": gap.what, "why": gap.why, "nearest": [payload.citation(item) for item in gap.nearest]}


def _conflict(conflict: Conflict) -> Json:
    return {
        "what": conflict.what,
        "rivals": [
            {"figure": one.figure, "words": one.words, "citation": payload.citation(one.citation)}
            for one in conflict.rivals
        ],
    }


def _span(workspace: ReportWorkspace, span: Span, names: Mapping[str, str]) -> Json:
    """Pinned or excluded passage; without a place if its document was removed."""
    made: Json = {"doc": span.doc_id, "start": span.start, "end": span.end, "title": names.get(span.doc_id, "")}
    try:
        document = workspace.filler.document(span.doc_id)
    except UnknownDocument:
        return made | {"words": "No longer in the library", "citation": None}
    words = " ".join(document.text[span.start : span.end].split())
    shown = words if len(words) <= EXCERPT else f"{words[:EXCERPT].rstrip()}…"
    citation = payload.place(document, span.start, span.end) | {"n": 0, "quote": shown}
    return made | {"words": shown, "citation": citation}


def version(found: Version) -> Json:
    author = "by hand" if found.author == HAND else payload.model_name(found.author)
    return {
        "id": found.version_id,
        **picked(found, "number parent change created"),
        "author": author,
        "cost": "" if not found.usd else payload.dollars(found.usd),
    }
