"""JSON payload of Check: the list, a draft with its verdicts, and what changed since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragcore.index.jobs import Job
from ragcore.types.check import Check, CheckedSentence, CheckInfo, Decision, Inconsistency, SecondOpinion
from ragcore.types.json import Json, picked
from ui.chat import payload


def head(info: CheckInfo, jobs: Sequence[Job], trouble: Mapping[str, Any] | None) -> Json:
    """Check without its draft; at rest it is ``done`` or ``stopped``."""
    rest = "done" if info.finished else "stopped"
    return {
        "id": info.check_id,
        **picked(info, "name created total done counts"),
        "docs": None if info.scope.doc_ids is None else list(info.scope.doc_ids),
        **payload.work(info.check_id, rest, info.error, jobs, trouble),
    }


def draft(check: Check) -> Json:
    """Draft with the spans of its sentences. Offsets count characters (Unicode code points)."""
    blocks = [
        {
            **picked(block, "kind level table header place"),
            "span": [block.start, block.end],
            "cell": [block.row, block.col],
        }
        for block in check.draft.blocks
    ]
    return {
        "text": check.draft.text,
        "blocks": blocks,
        "spans": [list(span) for span in check.spans],
    }


def faults(check: Check) -> list[Json]:
    """The draft's own faults as it reads now, each with its sentence."""
    return [_fault(n, one) for n in range(len(check.spans)) for one in check.faults(n)]


def _fault(n: int, one: Inconsistency) -> Json:
    return {
        "n": n,
        **picked(one, "kind reason write"),
        "span": [one.start, one.end],
        "others": [list(span) for span in one.others],
    }


def verdicts(check: Check, since: int = 0) -> list[Json]:
    """Sentences from ``since`` on that are checked or decided on."""
    found = enumerate(zip(check.sentences, check.decisions, strict=True))
    return [
        sentence(n, one, decision)
        for n, (one, decision) in found
        if n >= since and (one is not None or decision != Decision())
    ]


def sentence(n: int, checked: CheckedSentence | None, decision: Decision) -> Json:
    """Sentence ``n`` with its verdict, none if it is not checked yet, and what a person decided."""
    shown: Json = {"n": n, "decision": asdict(decision), "status": None, "text": decision.revised}
    if checked is None:
        return shown
    return shown | {
        **picked(checked, "text status reason"),
        "citations": [payload.citation(one) for one in checked.citations],
        "corrections": [asdict(one) for one in checked.corrections],
        "missing": [list(span) for span in checked.missing],
        "opinion": _opinion(checked.second),
    }


def _opinion(given: SecondOpinion | None) -> Json | None:
    if given is None:
        return None
    return {"model": payload.model_name(given.model), **picked(given, "status reason before")}
