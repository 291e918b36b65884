"""Chunks in columns: the document, kind and pages of each, and which of them a scope takes in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ragcore.types import ChunkKind, Entry, Scope

KINDS: tuple[str, ...] = get_args(ChunkKind)
Mask = NDArray[np.bool_]


class Entries:
    """``n`` chunks by row. ``owners`` int32 ``(n,)`` is the number of each chunk's document in ``doc_ids``, ``rows``
    the row of each chunk id."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        numbers: dict[str, int] = {}
        self.owners = np.array([numbers.setdefault(entry.doc_id, len(numbers)) for entry in entries], dtype=np.int32)
        self.doc_ids = list(numbers)
        self.ids = [entry.chunk_id for entry in entries]
        self.rows = {chunk_id: row for row, chunk_id in enumerate(self.ids)}
        self._kinds = np.array([KINDS.index(entry.kind) for entry in entries], dtype=np.uint8)
        self._first_pages = np.array([entry.first_page for entry in entries], dtype=np.int32)
        self._last_pages = np.array([entry.last_page for entry in entries], dtype=np.int32)

    def __len__(self) -> int:
        return len(self.ids)

    def entry(self, row: int) -> Entry:
        return Entry(
            self.ids[row],
            self.doc_ids[self.owners[row]],
            KINDS[self._kinds[row]],  # type: ignore[arg-type]
            int(self._first_pages[row]),
            int(self._last_pages[row]),
        )

    def of_documents(self, doc_ids: Iterable[str]) -> Mask:
        """Whether each chunk belongs to one of ``doc_ids``, bool ``(n,)``."""
        wanted = set(doc_ids)
        mask: Mask = np.array([doc_id in wanted for doc_id in self.doc_ids], dtype=bool)[self.owners]
        return mask

    def within(self, scope: Scope) -> Mask | None:
        """Whether each chunk is in ``scope``, bool ``(n,)``; None where all are."""
        masks: list[Mask] = []
        if scope.doc_ids is not None:
            masks.append(self.of_documents(scope.doc_ids))
        if scope.kinds:
            masks.append(np.isin(self._kinds, [KINDS.index(kind) for kind in scope.kinds]))
        if scope.pages:
            touched = [(self._first_pages <= last) & (self._last_pages >= first) for first, last in scope.pages]
            masks.append(np.logical_or.reduce(touched))
        return np.logical_and.reduce(masks) if masks else None
