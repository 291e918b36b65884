"""Versions of a library's documents: what became of the words that answers, reports, grids and checks rest on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from ragcore.errors import UnknownDocument
from ragcore.export.characters import shortened
from ragcore.types import Citation
from ragcore.types.library import DocumentInfo
from ragcore.verify.changes import Added, Changed, Comparison, Gone, Staleness, Unchanged

if TYPE_CHECKING:
    from ragcore.index.store import Store

T = TypeVar("T")
KEPT = 8  # comparisons in memory, each with its two documents
QUOTED = 300  # characters of the newest version's words
Span = tuple[str, int, int]  # document, start, end


def span_of(citation: Citation) -> Span:
    return citation.doc_id, citation.start, citation.end


class Versions:
    """Versions of one library's documents. Thread-safe; a comparison is kept until one of its documents is rebuilt."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept = lru_cache(KEPT)(lambda old, new, *_builds: Comparison(store.document(old), store.document(new)))

    def of(self, doc_id: str) -> list[DocumentInfo]:
        """Versions of a document that are read, the newest first; it alone if there are no others."""
        newest = self._store.newest()
        now = newest.get(doc_id, doc_id)
        infos = [one for one in self._store.documents(earlier=True) if newest.get(one.doc_id, one.doc_id) == now]
        read = [one for one in infos if one.status == "ready" or one.doc_id == doc_id]
        return sorted(read, key=lambda one: (one.doc_id != now, -one.created))

    def staleness(self, spans: Iterable[Span]) -> dict[Span, Staleness]:
        """What became of the words at ``spans`` in the newest versions of their documents; nothing is told of those
        that are in the newest."""
        newest = self._store.newest()
        found: dict[Span, Staleness] = {}
        for span in spans if newest else ():
            doc_id, start, end = span
            if doc_id in newest and span not in found:
                with suppress(UnknownDocument):  # removed meanwhile
                    found[span] = self._comparison(doc_id, newest[doc_id]).staleness(start, end)
        return found

    def stale(self, citations: Iterable[Citation]) -> set[Span]:
        """Spans of those ``citations`` whose words no longer stand."""
        found = self.staleness(span_of(one) for one in citations)
        return {span for span, became in found.items() if not isinstance(became, Unchanged)}

    def told(self, value: T) -> T:
        """``value``, a tree of dataclasses, with citations that say in `Citation.since` what became of their words."""
        cited: list[Citation] = []

        def listed(one: Citation) -> Citation:
            cited.append(one)
            return one

        if self._store.newest():
            _mapped(value, listed)
        since = {span: words for span, one in self.staleness(map(span_of, cited)).items() if (words := _since(one))}
        return _mapped(value, lambda one: replace(one, since=since.get(span_of(one), ""))) if since else value

    def differences(self, old: str, new: str) -> list[Changed | Gone | Added]:
        """All that differs between two versions. Raises `UnknownDocument`."""
        return self._comparison(old, new).differences()

    def _comparison(self, old: str, new: str) -> Comparison:
        builds = self._store.build(old), self._store.build(new)
        with self._lock:
            return self._kept(old, new, *builds)


def _since(became: Staleness) -> str:
    match became:
        case Unchanged():
            return ""
        case Changed(place=place):
            now = shortened(" ".join(place.quotation.split()), QUOTED)
            return f"Words changed since: the newest version says “{now}” ({place.where})."
        case Gone():
            return "Words changed since: they aren't in the newest version."


def _mapped(value: Any, change: Callable[[Citation], Citation]) -> Any:
    """``value`` with its citations changed; itself if none is."""
    if isinstance(value, Citation):
        return change(value)
    if isinstance(value, Mapping):
        made = {key: _mapped(one, change) for key, one in value.items()}
        return made if any(made[key] is not one for key, one in value.items()) else value
    if isinstance(value, tuple | list):
        each = [_mapped(one, change) for one in value]
        return type(value)(each) if any(new is not old for new, old in zip(each, value)) else value
    if not is_dataclass(value) or isinstance(value, type):
        return value
    own = {field.name: getattr(value, field.name) for field in fields(value)}
    other = _mapped(own, change)
    return value if other is own else replace(value, **other)
