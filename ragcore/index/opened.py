"""Documents that were opened and are kept in memory, up to so many bytes.

Each is kept with what says which build it is of (`Store.document` compares that with the library at every use), so one
that another process built anew is never given out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from ragcore.types import Document

_ENTRY = 26  # bytes of a word map for each of its entries
_DECODED = 3  # bytes for each character of the JSON of elements: itself, and all that is made of it


def weight(document: Document, packed: int) -> int:
    """About how many bytes ``document`` takes at most; its elements are ``packed`` characters of JSON."""
    return len(document.text) * 2 + _ENTRY * len(document.words) + _DECODED * packed


class Opened:
    """The documents used last, of at most ``most`` bytes together; the last one always. Safe for many threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, tuple[Hashable, Document, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def held_bytes(self) -> int:
        """What the documents take together, by `weight`."""
        return self._bytes

    def get(self, doc_id: str, build: Hashable) -> Document | None:
        """The document as it was built by ``build``; None where it is not held."""
        with self._lock:
            held = self._held.get(doc_id)
            if held is None or held[0] != build:
                return None
            self._held.move_to_end(doc_id)
            return held[1]

    def put(self, document: Document, build: Hashable, size: int) -> None:
        with self._lock:
            self._drop(document.doc_id)
            self._held[document.doc_id] = (build, document, size)
            self._bytes += size
            while self._bytes > self._most and len(self._held) > 1:
                self._drop(next(iter(self._held)))

    def drop(self, doc_id: str) -> None:
        with self._lock:
            self._drop(doc_id)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self._bytes = 0

    def _drop(self, doc_id: str) -> None:
        held = self._held.pop(doc_id, None)
        if held is not None:
            self._bytes -= held[2]
