"""JSON of what became of cited words in the newest version of their document.

Every citation of a payload is told by its document, start and end, wherever it stands; `told` adds ``changed`` to those
of earlier versions: what they said (``old``), what the newest version says (``now``), and whether the words still stand
(``same``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragcore.pipelines.versions import Span, Versions
from ragcore.types.json import Json
from ragcore.verify.changes import Added, Changed, Gone, Staleness, Unchanged
from ui.chat import payload

MOST = 500  # differences that are listed


def told(shown: Json, versions: Versions) -> Json:
    """``shown``, whose citations of earlier versions say what became of their words."""
    found: dict[Span, list[Json]] = {}
    for one in _citations(shown):
        found.setdefault((one["doc"], one["start"], one["end"]), []).append(one)
    for span, became in versions.staleness(found).items():
        for one in found[span]:
            one["changed"] = _became(became)
    return shown


def differences(versions: Versions, old: str, new: str) -> Json:
    """What differs between two versions, the first of many."""
    found = versions.differences(old, new)
    return {"total": len(found), "changes": [_difference(one) for one in found[:MOST]]}


def _citations(value: Any) -> Iterator[Json]:
    if isinstance(value, list):
        for one in value:
            yield from _citations(one)
    elif isinstance(value, dict):
        if {"doc", "start", "end", "quote"} <= value.keys():
            yield value
        for one in value.values():
            yield from _citations(one)


def _became(found: Staleness) -> Json:
    same = isinstance(found, Unchanged)
    return {"same": same, "old": "" if same else " ".join(found.old.quotation.split()), "now": _now(found)}


def _now(found: Staleness | Added) -> Json | None:
    return None if isinstance(found, Gone) else payload.citation(found.place)


def _difference(one: Changed | Gone | Added) -> Json:
    return {"old": None if isinstance(one, Added) else payload.citation(one.old), "now": _now(one)}
