"""Versions of a library's documents: what became of the words that answers, reports, grids and checks rest on."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragcore.errors import UnknownDocument
from ragcore.types import Citation
from ragcore.types.library import DocumentInfo
from ragcore.verify.changes import Comparison, Staleness, Unchanged

if TYPE_CHECKING:
    from ragcore.index.store import Store

KEPT = 16  # comparisons in memory


class Versions:
    """Versions of one library's documents. Thread-safe; a comparison is kept until one of its documents is rebuilt."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[tuple[str, ...], Comparison] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, doc_id: str) -> list[DocumentInfo]:
        """Versions of a document that are read, the newest first; it alone if there are no others."""
        newest = self._store.newest()
        now = newest.get(doc_id, doc_id)
        infos = [one for one in self._store.documents(earlier=True) if newest.get(one.doc_id, one.doc_id) == now]
        read = [one for one in infos if one.status == "ready" or one.doc_id == doc_id]
        return sorted(read, key=lambda one: (one.doc_id != now, -one.created))

    def staleness(self, citation: Citation) -> Staleness | None:
        """What became of cited words in the newest version of their document; None while it is the newest."""
        return self.changes([citation]).get((citation.doc_id, citation.start, citation.end))

    def changes(self, citations: Iterable[Citation]) -> dict[tuple[str, int, int], Staleness]:
        """`staleness` of those citations whose documents have a newer version, by document, start and end."""
        newest = self._store.newest()
        found: dict[tuple[str, int, int], Staleness] = {}
        for one in citations if newest else ():
            key = one.doc_id, one.start, one.end
            if one.doc_id in newest and key not in found:
                try:
                    found[key] = self._comparison(one.doc_id, newest[one.doc_id]).staleness(one)
                except UnknownDocument:
                    continue  # removed meanwhile
        return found

    def stale(self, citations: Iterable[Citation]) -> bool:
        """Whether words of one of ``citations`` no longer stand."""
        return any(not isinstance(one, Unchanged) for one in self.changes(citations).values())

    def _comparison(self, old: str, new: str) -> Comparison:
        key = old, new, self._store.build(old), self._store.build(new)
        with self._lock:
            if key not in self._known:
                self._known[key] = Comparison(self._store.document(old), self._store.document(new))
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]
