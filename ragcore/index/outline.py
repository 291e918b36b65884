"""Library outline: chunks as columns, without their texts, for a plot over all of them; and their vectors in two
dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import IndexEmpty

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

    @cached_property
    def holders(self) -> NDArray[np.int64]:
        """Row of the chunk whose vector stands for each row, int64 ``(n,)``: of its composite, else its own."""
        held = np.arange(len(self))
        for row in np.flatnonzero(self.position != self.tiles[0]).tolist():
            start = self.extents[int(self.doc[row])].start
            held[start + self.tiles[0, row] : start + self.tiles[1, row] + 1] = row
        return held

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


@dataclass(frozen=True)
class Projection:
    """Map of an outline: ``xy`` float32 ``(n, 2)``, row by row, a row of a table where its composite is (NaN: not
    embedded yet), made by ``axes`` ``(d, 2)`` about ``mean`` ``(d,)``; ``share`` is each axis's share of the
    variance."""

    xy: NDArray[np.float32]
    mean: NDArray[np.float32]
    axes: NDArray[np.float32]
    share: tuple[float, float]

    def place(self, vector: NDArray[np.float32]) -> tuple[float, float]:
        """Place of any other vector ``(d,)``."""
        x, y = (vector - self.mean) @ self.axes
        return float(x), float(y)


def project(store: Store, embedder: str, whole: Outline) -> Projection:
    """First two principal components of all vectors (Pearson 1901), from their covariance, which is d × d
    for any number of rows. Signs are fixed, so that the same library gives the same map. Raises
    `IndexEmpty` if none has one."""
    entries, matrix = store.vectors(embedder, [extent.doc_id for extent in whole.extents])
    if not len(entries):
        raise IndexEmpty("No document in scope is indexed.", hint="Choose another, or wait until it has been read.")
    mean = matrix.mean(axis=0, dtype=np.float64)
    values, vectors = np.linalg.eigh(matrix.T @ matrix / len(matrix) - np.outer(mean, mean))
    axes = vectors[:, :-3:-1]
    axes = (axes * np.where(axes[np.abs(axes).argmax(axis=0), (0, 1)] < 0.0, -1.0, 1.0)).astype(np.float32)
    rows = whole.rows(entries.ids)
    known = rows >= 0
    xy = np.full((len(whole), 2), np.nan, dtype=np.float32)
    xy[rows[known]] = (matrix @ axes - mean.astype(np.float32) @ axes)[known]
    xy = xy[whole.holders]
    total = max(float(values.clip(0.0).sum()), 1e-12)
    return Projection(xy, mean.astype(np.float32), axes, (float(values[-1]) / total, float(values[-2]) / total))
