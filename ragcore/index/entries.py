"""Chunks in columns: the document, kind and pages of each, and which of them a scope takes in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ragcore.types import ChunkKind, Entry, Scope

KINDS: tuple[str, ...] = get_args(ChunkKind)
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Entries:
    """``n`` chunks by row. ``owners`` int32 ``(n,)`` is the number of each chunk's document in ``doc_ids``; ``kinds``
    are places in `KINDS`, ``pages`` int32 ``(n, 2)`` first and last ones. ``rows`` is the row of each chunk id."""

    ids: list[str]
    doc_ids: list[str]
    owners: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    pages: NDArray[np.int32]
    rows: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", {chunk_id: row for row, chunk_id in enumerate(self.ids)})

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Entries:
        numbers: dict[str, int] = {}
        owners = [numbers.setdefault(entry.doc_id, len(numbers)) for entry in entries]
        kinds = [KINDS.index(entry.kind) for entry in entries]
        pages = [(entry.first_page, entry.last_page) for entry in entries]
        return cls.from_json([[entry.chunk_id for entry in entries], list(numbers), owners, kinds, pages])

    @classmethod
    def from_json(cls, columns: Sequence[Any]) -> Entries:
        """The inverse of `to_json`."""
        ids, doc_ids, owners, kinds, pages = columns
        in_pairs = np.array(pages, dtype=np.int32).reshape(-1, 2)
        return cls(ids, doc_ids, np.array(owners, dtype=np.int32), np.array(kinds, dtype=np.uint8), in_pairs)

    def to_json(self) -> list[Any]:
        return [self.ids, self.doc_ids, self.owners.tolist(), self.kinds.tolist(), self.pages.ravel().tolist()]

    @classmethod
    def joined(cls, parts: Sequence[tuple[Entries, Mask]]) -> Entries:
        """The chunks that each mask keeps, part after part."""
        numbers: dict[str, int] = {}
        ids: list[str] = []
        owners: list[NDArray[np.int32]] = []
        for part, keep in parts:
            number = [numbers.setdefault(doc_id, len(numbers)) for doc_id in part.doc_ids]
            owners.append(np.array(number, dtype=np.int32)[part.owners[keep]])
            ids += [part.ids[row] for row in np.flatnonzero(keep).tolist()]
        kinds = np.concatenate([part.kinds[keep] for part, keep in parts])
        pages = np.concatenate([part.pages[keep] for part, keep in parts])
        return cls(ids, list(numbers), np.concatenate(owners), kinds, pages)

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
            masks.append(np.isin(self.kinds, [KINDS.index(kind) for kind in scope.kinds]))
        if scope.pages:
            touched = [(self.pages[:, 0] <= last) & (self.pages[:, 1] >= first) for first, last in scope.pages]
            masks.append(np.logical_or.reduce(touched))
        return np.logical_and.reduce(masks) if masks else None
