"""Library outline: chunks as columns, without their texts, for a plot over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ragcore.index.store import Store

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Extent:
    """Place of a document: its chunks are the rows ``start`` to ``start + chunks``, its tiles the positions ``first``
    to ``first + tiles`` in the sequence of all documents' tiles."""

    doc_id: str
    title: str
    start: int
    chunks: int
    first: int
    tiles: int


@dataclass(frozen=True)
class Outline:
    """Chunks of some documents, one row each, by document and by index. Arrays ``(n,)``: ``doc`` is the index of its
    extent, ``position`` its index there, ``first_page`` counts from 1 (0: none), ``tiles`` ``(2, n)`` are the first and
    last tile that it spans, ``x`` is their midpoint among the tiles of all documents."""

    extents: tuple[Extent, ...]
    doc: Ints
    position: Ints
    first_page: Ints
    tiles: Ints
    x: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.doc)

    def rows(self, chunk_ids: Sequence[str]) -> NDArray[np.int64]:
        """Row of each id, int64 ``(len(chunk_ids),)``; -1 if it is not among the documents."""
        known = self._rows
        return np.array([known.get(chunk_id, -1) for chunk_id in chunk_ids], dtype=np.int64)

    @cached_property
    def _rows(self) -> dict[str, int]:
        pairs = ((extent, index) for extent in self.extents for index in range(extent.chunks))
        return {f"{extent.doc_id}:{index}": extent.start + index for extent, index in pairs}

    def chunk_id(self, row: int) -> str:
        return f"{self.extents[int(self.doc[row])].doc_id}:{int(self.position[row])}"

    def of(self, doc_ids: Sequence[str]) -> Outline:
        """Outline of those of its documents that are among ``doc_ids``, in its own order."""
        kept = [extent for extent in self.extents if extent.doc_id in doc_ids]
        whole = np.stack([self.position, self.first_page, *self.tiles])
        return _joined([(e.doc_id, e.title, whole[:, e.start : e.start + e.chunks]) for e in kept])


def outline(store: Store, doc_ids: Sequence[str]) -> Outline:
    """Outline of ``doc_ids``, in that order; documents without chunks are left out."""
    titles = store.titles()
    query = """
        SELECT position, first_page, coalesce(first_tile, position), coalesce(last_tile, position)
        FROM chunks WHERE doc_id = ? ORDER BY position
    """
    with store.database.read() as connection:
        # One flat run of numbers, since intermediate lists of rows and columns take several times as long.
        found = (np.fromiter(chain.from_iterable(connection.execute(query, (one,))), np.int32) for one in doc_ids)
        return _joined([(one, titles.get(one, one), flat.reshape(-1, 4).T) for one, flat in zip(doc_ids, found)])


def _joined(documents: Sequence[tuple[str, str, Ints]]) -> Outline:
    """Outline from each document's id, title and columns."""
    extents: list[Extent] = []
    kept = [np.zeros((4, 0), dtype=np.int32)]
    start = first = 0
    for doc_id, title, columns in documents:
        count = columns.shape[1]
        # A tile spans itself; composites are numbered after the last tile.
        tiles = int((columns[0] == columns[2]).sum())
        if count:
            extents.append(Extent(doc_id, title, start, count, first, tiles))
            kept.append(columns)
            start, first = start + count, first + tiles
    position, first_page, *spanned = np.concatenate(kept, axis=1)
    counts = [extent.chunks for extent in extents]
    doc = np.repeat(np.arange(len(extents), dtype=np.int32), counts)
    x = np.repeat([float(extent.first) for extent in extents], counts) + (spanned[0] + spanned[1]) / 2.0
    return Outline(tuple(extents), doc, position, first_page, np.stack(spanned), x)
