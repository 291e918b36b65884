"""Passages with the names in them: the graph from which the published methods choose.

A scope is cut out of it before anything is chosen, so that a question finds what it would find in a library of nothing
else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ragcore.index.chunks import Mask
from ragcore.index.graph import ones, walkable
from ragcore.index.packing import pack_arrays, unpack_arrays
from ragcore.index.paths import Sentences, Walk
from ragcore.protocols import Embedder, Texts, Vector
from ragcore.structure.facts import Facts
from ragcore.structure.passages import Floats, Passages
from ragcore.text.mentions import Mention, mentions
from ragcore.types import Chunk, NamePath, Scope

VERSION = 1  # raise it when the stored form of vectors changes
SCOPES = 4  # that are kept, those asked last
REMEMBERED = 5000  # sentences, and names of questions, of which the vectors are kept
SURE = 0.9  # cosine above which a name of the library is that of a question


@dataclass(frozen=True, slots=True)
class NameVectors:
    """Vectors of a document's names, float16 ``(n, d)``, in the order of its facts; ``mark`` tells of which texts."""

    vectors: NDArray[np.float16]
    mark: int

    @classmethod
    def of(cls, texts: Sequence[str], embedder: Embedder, known: Mapping[str, NDArray[np.float16]]) -> NameVectors:
        """Vectors of ``texts``; those already ``known`` are not made again."""
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made = dict(zip(new, embedder.embed_documents(new).astype(np.float16)))
        rows = [made[text] if text in made else known[text] for text in texts]
        return cls(np.array(rows, np.float16).reshape(len(rows), embedder.dimensions), marked(texts))

    def to_bytes(self) -> bytes:
        return pack_arrays([self.mark, self.vectors.shape[1]], [self.vectors.ravel()])

    @classmethod
    def from_bytes(cls, data: bytes) -> NameVectors:
        """Inverse of `to_bytes`. Raises `ValueError` for damaged data."""
        (mark, width), (flat,) = unpack_arrays(data)
        return cls(flat.reshape(-1, width), mark)


def marked(texts: Sequence[str]) -> int:
    """Mark of texts in their order."""
    return crc32("\n".join(texts).encode())


class Remembered:
    """`Embedder` of short texts that keeps the vectors of the last ones. Thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    def vectors(self, texts: Sequence[str]) -> Vector:
        """float32 ``(len(texts), d)``."""
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made = dict(zip(new, self._embedder.embed_documents(new)))
        found = [made[text] if text in made else known[text] for text in texts]
        self._known = {**known, **made} if len(known) < REMEMBERED else made
        return np.array(found, np.float32).reshape(len(found), self._embedder.dimensions)


@dataclass(frozen=True, slots=True)
class Said:
    """Name of a question: its words there, and the ``cosine`` of the name of the library that stands for it."""

    words: str
    cosine: float


@dataclass(frozen=True, eq=False)
class NamedPassages:
    """``passages`` and the ``facts`` whose leaves they are, row by row, with ``vectors`` of the names, float32
    ``(names, d)``. ``embedder`` is for what only a question tells, ``chunks`` gives texts, and ``find`` finds the names
    of one. Thread-safe."""

    passages: Passages
    facts: Facts
    vectors: Vector
    embedder: Remembered
    chunks: Callable[[Sequence[str]], Sequence[Chunk]]
    find: Callable[[str], list[Mention]] = mentions

    @cached_property
    def within(self) -> Callable[[Scope], NamedPassages]:
        """The same of a scope, always as one object; names keep their numbers."""
        return lru_cache(maxsize=SCOPES)(self._within)

    def _within(self, scope: Scope) -> NamedPassages:
        inside = self.passages.entries.within(scope)
        if inside is None:
            return self
        passages = Passages(self.passages.entries.where(inside), self.passages.vectors[inside])
        return replace(self, passages=passages, facts=self.facts.over(passages.entries))

    @cached_property
    def holding(self) -> Any:
        """CSR ``(passages, names)``, 1 where a passage has a name in its text or heading."""
        sentence, name = self.facts.mentions.T
        return ones(self.facts.sentences[sentence, 0], name, (len(self.passages.entries), len(self.facts.keys)))

    @cached_property
    def beside(self) -> Any:
        """CSR ``(names, names)``, symmetric: how many sentences, or relations by a model, join two names."""
        one, other = self.facts.relations[self.facts.relations[:, 1] != self.facts.relations[:, 2], 1:].T
        size = len(self.facts.keys)
        pairs = (np.concatenate([one, other]), np.concatenate([other, one]))
        return sparse.csr_array((np.ones(2 * len(one)), pairs), shape=(size, size))

    @cached_property
    def frequency(self) -> Floats:
        """Number of passages with each name, float64 ``(names,)``."""
        return np.asarray(self.holding.sum(axis=0), np.float64)

    @cached_property
    def degree(self) -> Floats:
        """Number of names beside each name, float64 ``(names,)``."""
        return np.asarray(np.diff(self.beside.indptr), np.float64)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Numbers of the names in the passages, by key."""
        return {self.facts.keys[row]: row for row in np.flatnonzero(self.frequency).tolist()}

    def named(self, text: str) -> dict[int, Said]:
        """Names of a question among those of the passages: by its key, else the one nearest to it."""
        keys, present = self.numbers, self.frequency > 0.0
        mentioned = self.find(text)
        known = [one for one in mentioned if one.key in keys]
        found: dict[int, Said] = {}
        for one in known:
            found.setdefault(keys[one.key], Said(text[one.start : one.end], 1.0))
        for one in mentioned:
            inside = any(one.start <= other.start and other.end <= one.end for other in known)
            if keys and len(self.vectors) and not (one.doubtful or inside):
                words = text[one.start : one.end]
                cosines = np.where(present, self.vectors @ self.embedder.vectors([words])[0], -1.0)
                row = int(cosines.argmax())
                found.setdefault(row, Said(words, float(cosines[row])))
        return found

    def nearest(self, vector: Vector, scores: Floats, among: int) -> list[tuple[int, float]]:
        """Sentences that relate names, with their cosine to ``vector``, best first: of the ``among`` passages with the
        best ``scores``, so that few sentences are ever embedded."""
        related = np.unique(self.facts.relations[:, 0])
        near = self.passages.order(scores)[:among]
        related = related[np.isin(self.facts.sentences[related, 0], near)]
        cosines = self.embedder.vectors(self._texts(related.tolist())) @ vector
        return sorted(zip(related.tolist(), cosines.tolist()), key=lambda one: (-one[1], one[0]))

    def _texts(self, sentences: Sequence[int]) -> list[str]:
        """Texts of sentences, "" where the passage is gone."""
        places = [self.facts.sentences[row].tolist() for row in sentences]
        ids = list(dict.fromkeys(self.passages.entries.ids[leaf] for leaf, _, _ in places))
        held = {chunk.chunk_id: chunk for chunk in self.chunks(ids)}
        texts = []
        for leaf, start, end in places:
            chunk = held.get(self.passages.entries.ids[leaf])
            if chunk is None:
                texts.append("")
            elif end:
                texts.append(chunk.text[start - chunk.start : end - chunk.start])
            else:
                texts.append(chunk.section[-1] if chunk.section else chunk.header)
        return texts

    def walk(self, names: Any) -> tuple[Any, Mask]:
        """Matrix of a walk over ``names``, CSR ``(names, names)``, and the passages with each; see `walkable`."""
        return walkable(sparse.block_array([[names, self.holding.T], [self.holding, None]], format="csr"))

    @cached_property
    def steps(self) -> Any:
        """Matrix of `walk` over the names beside one another."""
        return self.walk(self.beside)[0]

    def paths_from(self, names: Sequence[int], text: str, ids: Sequence[str], texts: Texts) -> list[NamePath]:
        """`paths` from ``names``, best first, and those of a question's ``text``, over the names beside one another."""
        said = self.named(text)
        found = np.zeros(len(self.facts.keys) + len(self.passages.entries))
        found[list(names)] = 1.0 - np.arange(len(names)) / max(len(names), 1)
        found[list(said)] = 1.0
        return self.paths(self.steps, found, said, ids, texts)

    def joining(self, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Passages with a sentence that joins two names, of each of ``pairs``."""
        size = len(self.facts.keys)
        sentence, one, other = self.facts.relations.T.astype(np.int64)
        codes = np.minimum(one, other) * size + np.maximum(one, other)
        places: dict[int, list[int]] = {}
        for place, pair in enumerate(pairs):
            places.setdefault(min(pair) * size + max(pair), []).append(place)
        joined = np.isin(codes, list(places))
        found: list[dict[int, None]] = [{} for _ in pairs]
        for code, row in zip(codes[joined].tolist(), self.facts.sentences[sentence[joined], 0].tolist()):
            for place in places[code]:
                found[place].setdefault(row)
        return [list(rows) for rows in found]

    def paths(
        self,
        matrix: Any,
        found: Floats,
        said: Mapping[int, Said],
        ids: Sequence[str],
        texts: Texts,
        near: tuple[int, Sequence[int]] = (-1, ()),
    ) -> list[NamePath]:
        """Paths to passages along the largest flows of a walk that has ``found`` names, then passages: from those names
        that the question has itself (``said``), or ``near``, a passage and names there."""
        names, entries = len(self.facts.keys), self.passages.entries
        own = {row: one.words for row, one in said.items() if one.cosine > SURE}
        leaf, beginning = near
        nearest = names + leaf if leaf >= 0 else -1
        labels = [*self.facts.keys, *entries.ids]
        walk = Walk(matrix, names, labels, self._together, found, own, frozenset(beginning), nearest)
        sentences = Sentences(texts, self.find)
        sentences.fetch(ids)
        rows = {chunk_id: row for row, chunk_id in enumerate(entries.ids)}
        ways = (walk.path(names + rows[chunk_id], sentences) for chunk_id in ids if chunk_id in rows)
        return [path for path in ways if path is not None]

    def _together(self, one: int, other: int) -> list[int]:
        """Nodes of the passages in which two names stand in one sentence."""
        sentence, name = self.facts.mentions.T
        both = np.intersect1d(sentence[name == one], sentence[name == other])
        return list(map(int, len(self.facts.keys) + np.unique(self.facts.sentences[both, 0])))
