"""Flat vector store: exact nearest neighbours as `VectorStore`, by one product with every vector in memory-mapped
files.

The store is a folder of immutable segments and ``manifest.json``, which names them with their checksums and the
outdated rows of each. Adding merges the new vectors and the segments less than twice their size into one segment, so a
vector is copied about log(size of the library) times in all; removing changes the manifest. The manifest is replaced in
one step, once its segments are on the disk, so a process killed at any moment leaves the store as it was before or
after a change. Readers need no lock; one process writes at a time.
"""

from __future__ import annotations

import json
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragcore import files as disk
from ragcore.errors import ConfigError, VectorStoreError
from ragcore.index.chunks import Entries, Mask
from ragcore.types import EVERYTHING, Entry, Scope

if TYPE_CHECKING:
    from ragcore.protocols import Vector, VectorStore

MANIFEST = "manifest.json"
LOCK_SECONDS = 30.0
FEW = 0.05  # share of a segment up to which only the vectors of a scope are compared


def vector_store(kind: str, folder: Path) -> VectorStore:
    """Vector store of this kind in ``folder``, which is created on first use."""
    if kind == "flat":
        return FlatStore(folder)
    if kind == "chroma":
        from ragcore.index.chroma import ChromaStore

        return ChromaStore(folder)
    raise ConfigError(
        f"There is no vector store {kind!r}; there are chroma and flat.",
        hint='Set index.vector_store = "chroma" or "flat".',
    )


def folder_lock(folder: Path, seconds: float) -> AbstractContextManager[None]:
    """Lock on the folder of a vector store, for one thread of one process at a time. Raises `StoreBusy`."""
    # Beside the folder, so that removing the folder does not remove the lock that guards the removal.
    busy = "Another Groundwork process is writing to this library's vector cache."
    return disk.locked(folder.with_suffix(".lock"), busy, seconds, poll=0.005)


@dataclass(frozen=True, slots=True)
class _Segment:
    """Immutable vectors: float32 ``(n, d)``, mapped from a file with checksum ``crc``. ``alive`` marks current ones."""

    path: Path
    crc: int
    version: disk.Version | None
    entries: Entries
    vectors: Vector
    alive: Mask

    @classmethod
    def read(cls, path: Path, crc: int, dead: Sequence[int]) -> _Segment:
        """Segment read from ``path``. Raises `FileNotFoundError`, and `ValueError` for a damaged file."""
        version = disk.version(path)
        data = np.memmap(path, np.uint8, "r")
        if zlib.crc32(data.data) != crc:
            raise ValueError("the segment is damaged")
        vectors = np.lib.format.open_memmap(path, mode="r")
        after = vectors.offset + vectors.nbytes
        entries = Entries.from_json(json.loads(bytes(data[after:])))
        return cls(path, crc, version, entries, vectors, np.ones(len(entries), dtype=bool)).without(dead)

    @classmethod
    def write(cls, folder: Path, entries: Entries, vectors: Vector) -> _Segment:
        """Segment written as a .npy file followed by the JSON of its chunks. Raises `OSError`, leaving nothing
        behind."""
        path = folder / f"{uuid.uuid4().hex}.vectors"
        with disk.replacing(path) as stream:
            np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(vectors))
            stream.write(vectors.data)
            stream.write(json.dumps(entries.to_json()).encode())
            stream.flush()
            crc = zlib.crc32(np.memmap(stream.name, np.uint8, "r").data)
        return cls.read(path, crc, ())

    def __len__(self) -> int:
        return int(self.alive.sum())

    def intact(self) -> bool:
        """Whether the file is still the mapped one: reading from a truncated one would end the process."""
        return disk.version(self.path) == self.version

    def without(self, rows: Sequence[int] | NDArray[np.int64]) -> _Segment:
        if not len(rows):
            return self
        alive = self.alive.copy()
        alive[rows] = False
        return replace(self, alive=alive)

    def near(self, vector: Vector, k: int, scope: Scope) -> list[tuple[str, float]]:
        """Best ``k`` in ``scope``, including all ties with the last one."""
        inside = self.entries.within(scope)
        rows = np.flatnonzero(self.alive if inside is None else inside & self.alive)
        few = len(rows) <= FEW * len(self.vectors)
        compared = self.vectors[rows] if few else self.vectors
        scores = np.einsum("ij,j->i", compared, vector)  # BLAS takes three times the processor's time for one query
        scores = scores if few else scores[rows]
        if len(rows) > k:
            best = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
            rows, scores = rows[best], scores[best]
        return [(self.entries.ids[row], score) for row, score in zip(rows.tolist(), scores.tolist())]


class FlatStore:
    """`VectorStore` in ``folder``, which is created on first use. Safe for threads and for processes.

    A writer waits ``lock_seconds`` for another one and then raises `StoreBusy`. `VectorStoreError`: the folder's
    content is damaged, or a vector differs in length from those in it. `StoreError`: the folder cannot be read or
    written, or the disk is full.
    """

    def __init__(self, folder: Path, *, lock_seconds: float = LOCK_SECONDS) -> None:
        self._folder = folder
        self._seconds = lock_seconds
        self._seen: tuple[disk.Version | None, list[_Segment]] = (None, [])

    def upsert(self, entries: Sequence[Entry], vectors: Vector) -> None:
        if not entries:
            return
        vectors = np.ascontiguousarray(vectors, dtype="<f4")
        with self._writing() as segments:
            self._check_length(segments, vectors.shape[1])
            # The last vector of a repeated id counts.
            last = sorted({entry.chunk_id: place for place, entry in enumerate(entries)}.values())
            new, vectors = [entries[place] for place in last], vectors[last]
            for at, segment in enumerate(segments):
                rows = [segment.entries.rows.get(entry.chunk_id, -1) for entry in new]
                segments[at] = segment.without([row for row in rows if row >= 0])
            self._commit(segments, Entries.of(new), vectors)

    def delete_documents(self, doc_ids: Sequence[str]) -> None:
        with self._writing() as segments:
            self._commit([each.without(np.flatnonzero(each.entries.of_documents(doc_ids))) for each in segments])

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        before = self._seen[0]
        segments = self._segments()
        if before is not None and self._seen[0] is None:
            raise VectorStoreError(f"The vector cache in {self._folder} is missing.")
        vector = np.asarray(vector, dtype=np.float32)
        self._check_length(segments, len(vector))
        found = [hit for segment in segments for hit in segment.near(vector, k, scope)]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]

    def count(self) -> int:
        return sum(len(segment) for segment in self._segments())

    def ids(self) -> set[str]:
        return {each.entries.ids[row] for each in self._segments() for row in np.flatnonzero(each.alive).tolist()}

    def reset(self) -> None:
        with folder_lock(self._folder, self._seconds):
            self._seen = (None, [])
            try:
                (self._folder / MANIFEST).unlink(missing_ok=True)
                self._sweep(set())
            except OSError as error:
                raise VectorStoreError(
                    f"The vector cache in {self._folder} can't be removed: {error.strerror}.",
                    hint="Check the folder's permissions, or delete it; Groundwork rebuilds it.",
                ) from error

    def _check_length(self, segments: Sequence[_Segment], length: int) -> None:
        if segments and segments[0].vectors.shape[1] != length:
            raise VectorStoreError(
                f"The vectors in {self._folder} have {segments[0].vectors.shape[1]} dimensions, not {length}.",
                hint="Run `groundwork index --rebuild`.",
            )

    # Reading and writing the folder

    def _segments(self) -> list[_Segment]:
        """Segments named by the manifest now; none without a manifest."""
        with disk.reported(self._folder):
            while True:
                version = disk.version(self._folder / MANIFEST)
                seen, segments = self._seen
                if version is not None and version == seen and all(segment.intact() for segment in segments):
                    return segments
                if version is None:
                    self._seen = (None, [])
                    return []
                try:
                    segments = self._read(segments)
                except FileNotFoundError as error:
                    # An update may have replaced the manifest, and removed segments, since it was read.
                    if disk.version(self._folder / MANIFEST) == version:
                        raise VectorStoreError(f"A file of the vector cache is missing: {error.filename}.") from error
                    continue
                except (ValueError, KeyError, TypeError) as error:
                    raise VectorStoreError(f"The vector cache in {self._folder} is damaged.") from error
                self._seen = (version, segments)
                return segments

    def _read(self, known: Sequence[_Segment]) -> list[_Segment]:
        """Segments that the manifest names; unchanged ones in ``known`` are not read again."""
        intact = {(segment.path.name, segment.crc): segment for segment in known if segment.intact()}
        named = json.loads(disk.unsealed((self._folder / MANIFEST).read_bytes()))
        found = []
        for name, crc, dead in named["segments"]:
            segment = intact.get((name, crc)) or _Segment.read(self._folder / name, crc, ())
            found.append(replace(segment, alive=np.ones(len(segment.entries), dtype=bool)).without(dead))
        return found

    @contextmanager
    def _writing(self) -> Iterator[list[_Segment]]:
        """Context with the segments, for this thread and process alone to change."""
        with folder_lock(self._folder, self._seconds), disk.reported(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            yield list(self._segments())

    def _commit(self, segments: list[_Segment], entries: Entries | None = None, vectors: Vector | None = None) -> None:
        """Make the folder hold ``segments`` and one with the new vectors; its other files are removed."""
        # The rest of a segment that is mostly outdated is merged with the new vectors.
        few = [segment for segment in segments if 2 * len(segment) <= len(segment.entries)]
        kept = sorted((each for each in segments if 2 * len(each) > len(each.entries)), key=len, reverse=True)
        size = sum(len(segment) for segment in few) + (0 if entries is None else len(entries))
        while size and kept and 2 * size > len(kept[-1]):
            few.append(kept.pop())
            size += len(few[-1])
        if size:
            left = [segment.entries.where(segment.alive) for segment in few]
            copied = [segment.vectors[segment.alive] for segment in few]
            if entries is not None and vectors is not None:
                left.append(entries)
                copied.append(vectors)
            kept.append(_Segment.write(self._folder, Entries.joined(left), np.concatenate(copied)))
        path = self._folder / MANIFEST
        named = [[each.path.name, each.crc, np.flatnonzero(~each.alive).tolist()] for each in kept]
        with disk.replacing(path) as stream:
            stream.write(disk.sealed(json.dumps({"segments": named}).encode()))
        self._seen = (disk.version(path), kept)
        self._sweep({MANIFEST, *(segment.path.name for segment in kept)})

    def _sweep(self, named: set[str]) -> None:
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            # The stamp of the cache's builder is here too; it is removed with the cache.
            if path.name not in named and (path.suffix in (".vectors", ".part") or not named):
                try:
                    path.unlink()
                except PermissionError:
                    continue  # Windows: another process still reads it. The next update tries again.
