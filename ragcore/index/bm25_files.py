"""The folder of the BM25 index: ``manifest.json`` and the files of postings that it names, and how both change.

The manifest is replaced in one step, after what it names is on the disk: a process killed at any moment leaves the
index as it was before or after a change.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcore import tiers
from ragcore.files import replacing, sealed, unsealed
from ragcore.index import postings
from ragcore.index.postings import Postings
from ragcore.index.tokens import VERSION
from ragcore.types import Entry

FORMAT = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the index consists of: for each document its fingerprint and the file that holds it, in the library's order;
    for each number of chunks how many terms occur in so many."""

    revision: int = -1
    documents: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    histogram: Mapping[int, int] = field(default_factory=dict)


def read(folder: Path) -> tuple[Manifest, list[Postings]] | None:
    """The index in ``folder``; None where there is none, or one that cannot be read and has to be made again."""
    while True:
        try:
            data = (folder / MANIFEST).read_bytes()
        except FileNotFoundError:
            return None
        try:
            manifest = _parse(data)
            return manifest, _parts(folder, manifest)
        except (ValueError, KeyError, TypeError):
            return None
        except FileNotFoundError:
            # An update may have replaced the manifest, and removed files, since it was read.
            try:
                if (folder / MANIFEST).read_bytes() == data:
                    return None
            except FileNotFoundError:
                return None


class Update:
    """An index while it is being changed: nothing counts before `commit`."""

    def __init__(self, folder: Path, manifest: Manifest, parts: list[Postings]) -> None:
        self._folder = folder
        self._histogram = Counter(manifest.histogram)
        self.documents = dict(manifest.documents)
        self.parts = parts

    def forget(self, doc_ids: Sequence[str]) -> None:
        gone = set(doc_ids)
        for place, part in enumerate(self.parts):
            here = [
                doc_id
                for doc_id in part.rows.doc_ids
                if doc_id in gone and self.documents.get(doc_id, ("", ""))[1] == part.path.name
            ]
            if here:
                changed = np.unique(part.terms_of(here))
                before = self._frequencies(changed)
                for doc_id in here:
                    del self.documents[doc_id]
                self.parts[place] = Postings(part.path, self._alive(part.path))
                self._count(before, self._frequencies(changed))
        for doc_id in gone & set(self.documents):  # documents without chunks are in no file
            del self.documents[doc_id]

    def add(self, fingerprints: Mapping[str, str], entries: Sequence[Entry], texts: Sequence[str]) -> None:
        path = self._new_path() if entries else None
        self.documents |= {doc_id: (mark, path.name if path else "") for doc_id, mark in fingerprints.items()}
        if path is not None:
            postings.write(path, entries, texts)
            part = Postings(path, self._alive(path))
            before = self._frequencies(part.terms)
            self.parts.append(part)
            self._count(before, before + part.frequencies)
        self._merge()

    def commit(self, revision: int, documents: Mapping[str, tuple[str, str]]) -> Manifest:
        """Make the folder hold this state; files that it does not name are removed."""
        manifest = Manifest(revision, dict(documents), dict(sorted(self._histogram.items())))
        values = {
            "format": FORMAT,
            "terms": VERSION,
            "revision": revision,
            "documents": [[doc_id, *of] for doc_id, of in manifest.documents.items()],
            "histogram": [[number, count] for number, count in manifest.histogram.items()],
        }
        with replacing(self._folder / MANIFEST) as stream:
            stream.write(sealed(json.dumps(values, ensure_ascii=False).encode()))
        self.parts = [part for part in self.parts if len(part)]
        named = {MANIFEST, *(part.path.name for part in self.parts)}
        for path in self._folder.iterdir():
            if path.name not in named:
                _remove(path)
        return manifest

    def _merge(self) -> None:
        while groups := tiers.plan([(len(part.rows), len(part)) for part in self.parts]):
            merged: list[Postings] = []
            for group in groups:
                path = self._new_path()
                postings.merge(path, [self.parts[place] for place in group])
                for place in group:
                    old = self.parts[place].path.name
                    moved = {i: (mark, path.name) for i, (mark, name) in self.documents.items() if name == old}
                    self.documents |= moved
                merged.append(Postings(path, self._alive(path)))
            gone = {place for group in groups for place in group}
            self.parts = [part for place, part in enumerate(self.parts) if place not in gone] + merged

    def _frequencies(self, term_keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        return sum((held(part, term_keys) for part in self.parts), start=np.zeros(len(term_keys), dtype=np.int64))

    def _count(self, before: NDArray[np.int64], after: NDArray[np.int64]) -> None:
        """Keep the histogram right where terms that occurred in ``before`` chunks now occur in ``after``."""
        for frequencies, sign in ((before, -1), (after, 1)):
            numbers, counts = np.unique(frequencies[frequencies > 0], return_counts=True)
            for number, count in zip(numbers.tolist(), counts.tolist()):
                self._histogram[number] += sign * count
                if not self._histogram[number]:
                    del self._histogram[number]

    def _alive(self, path: Path) -> set[str]:
        return {doc_id for doc_id, (_, name) in self.documents.items() if name == path.name}

    def _new_path(self) -> Path:
        return self._folder / f"{uuid.uuid4().hex}.postings"


def held(part: Postings, term_keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """In how many chunks of ``part`` each term occurs."""
    columns = part.columns(term_keys)
    held = np.zeros(len(term_keys), dtype=np.int64)
    held[columns >= 0] = part.frequencies[columns[columns >= 0]]
    return held


def _parse(data: bytes) -> Manifest:
    """Raises `ValueError`, `KeyError` or `TypeError` for what is no manifest of this format."""
    values = json.loads(unsealed(data))
    if (values["format"], values["terms"]) != (FORMAT, VERSION):
        raise ValueError("an index of another version")
    documents = {doc_id: (fingerprint, name) for doc_id, fingerprint, name in values["documents"]}
    return Manifest(int(values["revision"]), documents, {int(n): int(count) for n, count in values["histogram"]})


def _parts(folder: Path, manifest: Manifest) -> list[Postings]:
    """Raises what `Postings` does."""
    alive: dict[str, set[str]] = {}
    for doc_id, (_, name) in manifest.documents.items():
        if name:
            alive.setdefault(name, set()).add(doc_id)
    return [Postings(folder / name, of_file) for name, of_file in alive.items()]


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except PermissionError:
        # Windows: another process still reads it. The next update tries again.
        return
