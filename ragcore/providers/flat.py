"""Exact nearest neighbours as `VectorStore`: every vector is compared, over files that are mapped into memory.

A query reads all vectors once, rounded to half precision, by numkong's SIMD kernels; what could be among the best by
that is scored again from the single-precision vectors. Rounding moves a unit vector by at most 2⁻¹¹, so nothing is
missed: the result is that of a search in full precision, under every filter.

The store is a folder of immutable files and ``manifest.json``, which names them and the rows of each that no longer
count. Adding adds a file, removing changes the manifest, and `ragcore.tiers` says when files are merged. The manifest
is replaced in one step, after what it names is on the disk, so a process killed at any moment leaves the store as it
was before or after a change. Readers need no lock; one process writes at a time.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from ragcore import files as disk
from ragcore import mapped, tiers
from ragcore.errors import StoreBusy, VectorStoreError
from ragcore.mapped import Blocks
from ragcore.rows import Rows, columns, joined, keys
from ragcore.types import EVERYTHING, Entry, Scope

if TYPE_CHECKING:
    from ragcore.protocols import Vector

FORMAT = 1
MANIFEST = "manifest.json"
LOCK_SECONDS = 30.0
ROUNDING = 1e-3  # most that rounding two unit vectors to half precision (11 bits) moves their product: 2⁻¹⁰ and a bit
FEW = 0.05  # share of a file's vectors up to which they are scored in full precision at once
BLOCK = 16_384  # vectors copied at a time in a merge, and above which a file is compared by several threads

Mask = NDArray[np.bool_]


class _File:
    """Vectors written once, mapped: ``rows`` says whose they are, ``alive`` which of them count (None: all)."""

    def __init__(self, folder: Path, name: str, dead: str) -> None:
        self.name, self.dead = name, dead
        self._paths = [folder / part for part in (name, dead) if part]
        self._versions = [disk.version(path) for path in self._paths]
        arrays, meta = mapped.read(folder / name)
        self.rows = Rows(arrays, meta)
        self.full: Vector = arrays["full"]
        self.half: NDArray[np.float16] = arrays["half"]
        self.alive: Mask | None = None
        if dead:
            bits = mapped.read(folder / dead)[0]["dead"]
            self.alive = ~np.unpackbits(bits, count=len(self.rows)).astype(bool)
        self._count = len(self.rows) if self.alive is None else int(self.alive.sum())

    def __len__(self) -> int:
        return self._count

    def intact(self) -> bool:
        """Whether it is the file that was mapped: reading on in one that was cut short would end the process."""
        return [disk.version(path) for path in self._paths] == self._versions

    def within(self, scope: Scope) -> Mask | None:
        """Which vectors count and are in ``scope``; None for all."""
        inside = self.rows.within(scope)
        if self.alive is None or inside is None:
            return self.alive if inside is None else inside
        return inside & self.alive


class FlatStore:
    """`VectorStore` in ``folder``, which is made when it is first used. Safe for threads and for processes.

    A writer waits ``lock_seconds`` for another one and then raises `StoreBusy`. `VectorStoreError`: what is in the
    folder is damaged, or a vector is not of the length of those in it. `StoreError`: the folder cannot be read or
    written, or there is no room.
    """

    def __init__(self, folder: Path, *, lock_seconds: float = LOCK_SECONDS) -> None:
        self._folder = folder
        self._seconds = lock_seconds
        self._threads = threading.RLock()
        # Beside the folder, so that removing the folder does not remove the lock that guards the removal.
        self._processes = FileLock(folder.with_suffix(".lock"), thread_local=False, mode=0o600)
        self._seen: tuple[disk.Version | None, list[_File]] = (None, [])

    def upsert(self, entries: Sequence[Entry], vectors: Vector) -> None:
        if not entries:
            return
        vectors = np.asarray(vectors, dtype=np.float32)
        with self._writing() as files:
            if files and files[0].full.shape[1] != vectors.shape[1]:
                raise self._other_length(files[0], vectors.shape[1])
            # Of an id that is given twice the last vector counts.
            last = {entry.chunk_id: place for place, entry in enumerate(entries)}
            places = sorted(last.values())
            entries, vectors = [entries[place] for place in places], vectors[places]
            ids = [entry.chunk_id for entry in entries]
            id_keys = keys(ids)
            for place, file in enumerate(files):
                found = file.rows.find_keys(ids, id_keys)
                files[place] = self._without(file, found[found >= 0])
            arrays, meta = columns(entries)
            arrays |= {"full": vectors, "half": vectors.astype(np.float16)}
            files.append(self._new(arrays, meta))
            self._commit(files)

    def delete_documents(self, doc_ids: Sequence[str]) -> None:
        with self._writing() as files:
            for place, file in enumerate(files):
                files[place] = self._without(file, np.flatnonzero(file.rows.of_documents(doc_ids)))
            self._commit(files)

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        before = self._seen[0]
        files = self._files()
        if before is not None and self._seen[0] is None:
            raise VectorStoreError(f"The vector cache in {self._folder} is missing.")
        vector = np.asarray(vector, dtype=np.float32)
        if files and files[0].full.shape[1] != len(vector):
            raise self._other_length(files[0], len(vector))
        near = [_near(file, vector, k, scope) for file in files]
        scores = np.concatenate([np.zeros(0), *(of_file for _, of_file in near)])
        floor = _kth(scores, k) - 2.0 * ROUNDING
        found: list[tuple[str, float]] = []
        for file, (rows, of_file) in zip(files, near):
            rows = rows[of_file >= floor]
            # All of them are not to be copied first.
            exact = (file.full if len(rows) == len(file.full) else file.full[rows]) @ vector
            found += zip(file.rows.chunk_ids(rows), exact.tolist())
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]

    def count(self) -> int:
        return sum(len(file) for file in self._files())

    def ids(self) -> set[str]:
        return {
            file.rows.chunk_id(row)
            for file in self._files()
            for row in (range(len(file.rows)) if file.alive is None else np.flatnonzero(file.alive).tolist())
        }

    def reset(self) -> None:
        with self._held():
            self._seen = (None, [])
            try:
                (self._folder / MANIFEST).unlink(missing_ok=True)
                self._sweep(set())
            except OSError as error:
                raise VectorStoreError(
                    f"The vector cache in {self._folder} can't be removed: {error.strerror}.",
                    hint="Check the folder's permissions, or delete it; Groundwork rebuilds it.",
                ) from error

    def _other_length(self, file: _File, length: int) -> VectorStoreError:
        return VectorStoreError(
            f"The vectors in {self._folder} have {file.full.shape[1]} dimensions, not {length}.",
            hint="Run `groundwork index --rebuild`.",
        )

    # Reading and writing the folder

    def _files(self) -> list[_File]:
        """The files as the manifest names them now; none where there is no manifest."""
        with disk.reported(self._folder):
            while True:
                version = disk.version(self._folder / MANIFEST)
                seen, files = self._seen
                if version is not None and version == seen and all(file.intact() for file in files):
                    return files
                if version is None:
                    self._seen = (None, [])
                    return []
                try:
                    files = self._read(files)
                except FileNotFoundError as error:
                    # An update may have replaced the manifest, and removed files, since it was read.
                    if disk.version(self._folder / MANIFEST) == version:
                        raise VectorStoreError(f"A file of the vector cache is missing: {error.filename}.") from error
                    continue
                except (ValueError, KeyError, TypeError) as error:
                    raise VectorStoreError(f"The vector cache in {self._folder} is damaged.") from error
                self._seen = (version, files)
                return files

    def _read(self, known: Sequence[_File]) -> list[_File]:
        """The files that the manifest names, of which those in ``known`` that are as they were are not read again."""
        intact = {(file.name, file.dead): file for file in known if file.intact()}
        named = _parse((self._folder / MANIFEST).read_bytes())
        return [intact.get((name, dead)) or _File(self._folder, name, dead) for name, dead in named]

    @contextmanager
    def _writing(self) -> Iterator[list[_File]]:
        """The files, for this thread and process alone to change."""
        with self._held(), disk.reported(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            yield list(self._files())

    @contextmanager
    def _held(self) -> Iterator[None]:
        busy = StoreBusy("Another Groundwork process is writing to this library's vector cache.")
        if not self._threads.acquire(timeout=self._seconds):
            raise busy
        try:
            with disk.reported(self._folder.parent):
                self._folder.parent.mkdir(parents=True, exist_ok=True)
                try:
                    self._processes.acquire(timeout=self._seconds, poll_interval=0.005)
                except Timeout as error:
                    raise busy from error
            try:
                yield
            finally:
                self._processes.release()
        finally:
            self._threads.release()

    def _new(self, arrays: Mapping[str, NDArray[Any] | Blocks], meta: dict[str, Any]) -> _File:
        name = f"{uuid.uuid4().hex}.vectors"
        mapped.write(self._folder / name, arrays, meta)
        return _File(self._folder, name, "")

    def _without(self, file: _File, rows: NDArray[np.int64]) -> _File:
        """The file with these rows marked as dead, under the mark's own name."""
        dead = np.zeros(len(file.rows), dtype=bool) if file.alive is None else ~file.alive
        if not len(rows) or dead[rows].all():
            return file
        dead[rows] = True
        name = f"{uuid.uuid4().hex}.dead"
        mapped.write(self._folder / name, {"dead": np.packbits(dead)}, {})
        return _File(self._folder, file.name, name)

    def _commit(self, files: list[_File]) -> None:
        """Merge what is to be merged and make the folder hold ``files``; other files in it are removed."""
        while groups := tiers.plan([(len(file.rows), len(file)) for file in files]):
            merged = [self._merged([files[place] for place in group]) for group in groups]
            gone = {place for group in groups for place in group}
            files = [file for place, file in enumerate(files) if place not in gone] + merged
        files = [file for file in files if len(file)]
        path = self._folder / MANIFEST
        with disk.replacing(path) as stream:
            values = {"format": FORMAT, "files": [[file.name, file.dead] for file in files]}
            stream.write(disk.sealed(json.dumps(values).encode()))
        self._seen = (disk.version(path), files)
        self._sweep({MANIFEST, *(name for file in files for name in (file.name, file.dead))})

    def _merged(self, parts: Sequence[_File]) -> _File:
        keeps = [np.ones(len(part.rows), dtype=bool) if part.alive is None else part.alive for part in parts]
        arrays, meta = joined([(part.rows, keep) for part, keep in zip(parts, keeps)])

        def blocks(of: str) -> Blocks:
            pieces = (
                getattr(part, of)[at : at + BLOCK][keep[at : at + BLOCK]]
                for part, keep in zip(parts, keeps)
                for at in range(0, len(keep), BLOCK)
            )
            first: NDArray[Any] = getattr(parts[0], of)
            return Blocks(first.dtype, (len(arrays["owners"]), first.shape[1]), pieces)

        return self._new({**arrays, "full": blocks("full"), "half": blocks("half")}, meta)

    def _sweep(self, named: set[str]) -> None:
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            # The stamp of what built the cache lies here too; it goes with the cache.
            if path.name not in named and (path.suffix in (".vectors", ".dead", ".part") or not named):
                try:
                    path.unlink()
                except PermissionError:
                    continue  # Windows: another process still reads it. The next update tries again.


def _near(file: _File, vector: Vector, k: int, scope: Scope) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows in ``scope`` that may be among the best ``k`` of the file, with scores of half precision at least."""
    import numkong

    inside = file.within(scope)
    if inside is not None:
        rows = np.flatnonzero(inside)
        if len(rows) <= FEW * len(file.rows):
            return rows, (file.full[rows] @ vector).astype(np.float64)
    threads = 0 if len(file.rows) > BLOCK else 1  # 0: one per core
    distances = numkong.cdist(file.half, vector.astype(np.float16)[None, :], "dot", threads=threads)
    scores = np.asarray(distances)[:, 0]
    if inside is None:
        rows = np.flatnonzero(scores >= _kth(scores, k) - 2.0 * ROUNDING)
        return rows, scores[rows]
    scores = scores[rows]
    best = scores >= _kth(scores, k) - 2.0 * ROUNDING
    return rows[best], scores[best]


def _kth(scores: NDArray[np.float64], k: int) -> float:
    """The ``k``-th best score; of fewer than ``k`` scores less than any."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else -np.inf


def _parse(data: bytes) -> list[tuple[str, str]]:
    values = json.loads(disk.unsealed(data))
    if values["format"] != FORMAT:
        raise ValueError("it was written by another version")
    return [(str(name), str(dead)) for name, dead in values["files"]]
