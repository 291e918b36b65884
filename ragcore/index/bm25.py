"""BM25 over every chunk: rank-bm25's ``BM25Okapi`` model, evaluated over a sparse matrix.

Kept are term counts per chunk in compressed columns, so a query touches only the postings of its own terms. Scores
equal those of ``rank_bm25.BM25Okapi`` (Trotman, Puurula, Burgess: Improvements to BM25 and Language Models Examined,
ADCS 2014), with its floor under negative idf values: ``epsilon`` times the mean idf.

The file is a cache that SQLite can make again. Counts do not depend on k1 and b, and adding or removing a document
leaves the rows of the others as they are.
"""

from __future__ import annotations

import json
import os
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.index.tokens import prepare, terms
from ragcore.types import Chunk

EPSILON = 0.25
FORMAT = 1


@dataclass(frozen=True, slots=True)
class _Rows:
    """The chunks of one document: ids, and their term counts as a CSR piece over the index's vocabulary."""

    fingerprint: str
    chunk_ids: list[str]
    offsets: NDArray[np.int64]
    terms: NDArray[np.int32]
    counts: NDArray[np.int32]


class Bm25Index:
    """`SparseIndex` over the chunks of ``documents`` (document id → rows), which number their terms by ``vocabulary``.

    Immutable: `updated` gives a new one. Safe for threads.
    """

    def __init__(
        self, documents: Mapping[str, _Rows], vocabulary: Mapping[str, int], *, k1: float, b: float, revision: int = -1
    ) -> None:
        from scipy import sparse

        self.revision = revision
        self._documents = documents
        self._vocabulary = vocabulary
        self._k1, self._b = k1, b
        self._chunk_ids = [chunk_id for rows in documents.values() for chunk_id in rows.chunk_ids]
        self._row_of = {chunk_id: row for row, chunk_id in enumerate(self._chunk_ids)}
        sizes = [len(rows.chunk_ids) for rows in documents.values()]
        self._document_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._document_number = {doc_id: number for number, doc_id in enumerate(documents)}

        n = len(self._chunk_ids)
        per_row = np.concatenate([np.zeros(0, np.int64), *(np.diff(rows.offsets) for rows in documents.values())])
        matrix = sparse.csr_array(
            (
                np.concatenate([np.zeros(0, np.int32), *(rows.counts for rows in documents.values())]),
                np.concatenate([np.zeros(0, np.int32), *(rows.terms for rows in documents.values())]),
                np.concatenate([[0], np.cumsum(per_row)]),
            ),
            shape=(n, len(vocabulary)),
        )
        lengths = np.asarray(matrix.sum(axis=1), dtype=np.float64)
        columns = matrix.tocsc()
        self._starts, self._rows, self._counts = columns.indptr, columns.indices, columns.data
        total = float(lengths.sum())
        self._norm = k1 * (1.0 - b + b * lengths / (total / n)) if total else np.zeros(n)
        self._idf = _idf(np.diff(self._starts), n)

    def __len__(self) -> int:
        """Chunks."""
        return len(self._chunk_ids)

    @property
    def fingerprints(self) -> dict[str, str]:
        """What each document was made from, as given to `updated`."""
        return {doc_id: rows.fingerprint for doc_id, rows in self._documents.items()}

    def query(self, text: str, k: int, doc_ids: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, score > 0)``, best first, ties in the order of the library; of ``doc_ids`` only
        where given."""
        scores = self._scores(text)
        if doc_ids is not None:
            wanted = [self._document_number[doc_id] for doc_id in doc_ids if doc_id in self._document_number]
            scores[~np.isin(self._document_of, wanted)] = 0.0
        rows = np.flatnonzero(scores > 0.0)
        if len(rows) > k:
            least = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
            rows = rows[scores[rows] >= least]
        rows = rows[np.argsort(-scores[rows], kind="stable")][:k]
        return [(self._chunk_ids[row], float(scores[row])) for row in rows.tolist()]

    def scores(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """The score of each of ``ids``, float64 ``(len(ids),)``; 0.0 where no term matches or the id is unknown."""
        scores = self._scores(text)
        rows = [self._row_of.get(chunk_id, -1) for chunk_id in ids]
        return np.array([scores[row] if row >= 0 else 0.0 for row in rows], dtype=np.float64)

    def mentions(self, text: str) -> dict[str, int]:
        """How many chunks of each document hold every term of ``text``; documents with none are left out."""
        rows: NDArray[Any] | None = None
        for term in set(terms(text)):
            column = self._vocabulary.get(term)
            if column is None:
                return {}
            holding = self._rows[self._starts[column] : self._starts[column + 1]]
            rows = holding if rows is None else np.intersect1d(rows, holding, assume_unique=True)
        if rows is None:
            return {}
        counts = np.bincount(self._document_of[rows], minlength=len(self._documents))
        return {doc_id: int(count) for doc_id, count in zip(self._documents, counts) if count}

    def _scores(self, text: str) -> NDArray[np.float64]:
        """The score of every chunk, float64 ``(n,)``. A term said twice counts twice."""
        scores = np.zeros(len(self._chunk_ids))
        for term, repeats in Counter(terms(text)).items():
            column = self._vocabulary.get(term)
            if column is None:
                continue
            postings = slice(self._starts[column], self._starts[column + 1])
            rows = self._rows[postings]
            counts = self._counts[postings].astype(np.float64)
            weight = repeats * self._idf[column] * (self._k1 + 1.0)
            scores[rows] += weight * counts / (counts + self._norm[rows])
        return scores

    def updated(
        self, wanted: Mapping[str, str], chunks: Callable[[str], Sequence[Chunk]], *, revision: int
    ) -> Bm25Index:
        """The index over exactly the documents ``wanted`` (id → fingerprint, in the library's order).

        Documents whose fingerprint is the same keep their rows; ``chunks(doc_id)`` is asked for the others only.
        """
        vocabulary = dict(self._vocabulary)
        documents: dict[str, _Rows] = {}
        for doc_id, fingerprint in wanted.items():
            rows = self._documents.get(doc_id)
            if rows is None or rows.fingerprint != fingerprint:
                rows = _count(fingerprint, chunks(doc_id), vocabulary)
            documents[doc_id] = rows
        if set(self._documents) - set(documents) or any(
            documents[doc_id] is not rows for doc_id, rows in self._documents.items()
        ):
            documents, vocabulary = _without_unused(documents, vocabulary)
        return Bm25Index(documents, vocabulary, k1=self._k1, b=self._b, revision=revision)

    def save(self, path: Path) -> None:
        """Write the file in one step: a reader sees the old one or the new one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        meta = {
            "format": FORMAT,
            "revision": self.revision,
            "documents": [[doc_id, rows.fingerprint, rows.chunk_ids] for doc_id, rows in self._documents.items()],
            "vocabulary": list(self._vocabulary),
        }
        empty = np.zeros(0, np.int32)
        part = path.with_suffix(f".{os.getpid()}.part")
        with part.open("wb") as stream:
            np.savez(
                stream,
                meta=np.frombuffer(json.dumps(meta, ensure_ascii=False).encode(), dtype=np.uint8),
                sizes=np.concatenate([empty, *(np.diff(rows.offsets) for rows in self._documents.values())]),
                terms=np.concatenate([empty, *(rows.terms for rows in self._documents.values())]),
                counts=np.concatenate([empty, *(rows.counts for rows in self._documents.values())]),
            )
        part.replace(path)

    @classmethod
    def load(cls, path: Path, *, k1: float, b: float) -> Bm25Index | None:
        """The index in ``path``; None when there is no file, or one that cannot be read and has to be made again."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                meta: dict[str, Any] = json.loads(arrays["meta"].tobytes())
                if meta["format"] != FORMAT:
                    return None
                sizes, all_terms, all_counts = arrays["sizes"], arrays["terms"], arrays["counts"]
        except (FileNotFoundError, zipfile.BadZipFile, ValueError, KeyError, EOFError):
            return None
        prepare()
        bounds = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        documents: dict[str, _Rows] = {}
        row = 0
        for doc_id, fingerprint, chunk_ids in meta["documents"]:
            offsets = bounds[row : row + len(chunk_ids) + 1]
            part = slice(offsets[0], offsets[-1])
            documents[doc_id] = _Rows(fingerprint, chunk_ids, offsets - offsets[0], all_terms[part], all_counts[part])
            row += len(chunk_ids)
        vocabulary = {term: number for number, term in enumerate(meta["vocabulary"])}
        return cls(documents, vocabulary, k1=k1, b=b, revision=meta["revision"])


def _idf(frequencies: NDArray[Any], n: int) -> NDArray[np.float64]:
    """idf per term from the number of chunks that have it, with rank-bm25's floor."""
    if not len(frequencies):
        return np.zeros(0)
    idf: NDArray[np.float64] = np.log(n - frequencies + 0.5) - np.log(frequencies + 0.5)
    return np.where(idf < 0.0, EPSILON * idf.mean(), idf)


def _count(fingerprint: str, chunks: Sequence[Chunk], vocabulary: dict[str, int]) -> _Rows:
    """Count the terms of each chunk; terms that are new are added to ``vocabulary``."""
    numbers, counts, offsets = array("i"), array("i"), [0]
    for chunk in chunks:
        for term, count in Counter(terms(chunk.index_text)).items():
            numbers.append(vocabulary.setdefault(term, len(vocabulary)))
            counts.append(count)
        offsets.append(len(numbers))
    return _Rows(
        fingerprint,
        [chunk.chunk_id for chunk in chunks],
        np.array(offsets, np.int64),
        np.array(numbers, np.int32),
        np.array(counts, np.int32),
    )


def _without_unused(
    documents: Mapping[str, _Rows], vocabulary: Mapping[str, int]
) -> tuple[dict[str, _Rows], dict[str, int]]:
    """Drop terms that no chunk has any more: they would count in the mean idf."""
    used = np.zeros(len(vocabulary), dtype=bool)
    for rows in documents.values():
        used[rows.terms] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    kept = (term for term, column in vocabulary.items() if used[column])
    renumbered = {
        doc_id: _Rows(rows.fingerprint, rows.chunk_ids, rows.offsets, number[rows.terms].astype(np.int32), rows.counts)
        for doc_id, rows in documents.items()
    }
    return renumbered, {term: column for column, term in enumerate(kept)}
