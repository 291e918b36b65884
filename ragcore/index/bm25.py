"""BM25 over every chunk: rank-bm25's ``BM25Okapi`` model as a sparse matrix of term counts.

Scores equal those of ``rank_bm25.BM25Okapi`` (Trotman, Puurula, Burgess: Improvements to BM25 and Language Models
Examined, ADCS 2014), with its floor under negative idf values: ``epsilon`` times the mean idf over all terms.

SQLite stores each document's counts (`Postings`) and deletes them with it. In memory they are one matrix: a change of
the library takes rows from it and adds others. Document frequencies and lengths stay exact, and none of the stored data
depends on k1 and b.
"""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ragcore.index.chunks import Entries
from ragcore.index.packing import pack_arrays, unpack_arrays
from ragcore.text.words import FUNCTION_WORDS, stem
from ragcore.types import EVERYTHING, Entry, Scope

EPSILON = 0.25
VERSION = 7  # raise it when `terms` or the stored form of postings changes: postings are then counted again

Ints = NDArray[np.int64]

_SECTION = re.compile(r"§+\s*(?=\w)")
_TERM = re.compile(r"§?[^\W_]+(?:(?:[-./&_:@'’]|,(?=\d{3}(?!\d)))[^\W_]+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PERIOD = re.compile(r"[a-z]{1,2}((?:19|20)\d\d)")
_ABBREVIATION = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_JOINTS = re.compile(r"[-/&_:@]|(?<=[^\W\d_])\.|\.(?=[^\W\d_])")
_CJK = re.compile(
    r"[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")  # DiffExecutor, HTTPServer; not PDFs
_HYPHENS = str.maketrans({"‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "­": None})


def terms(text: str) -> list[str]:
    """Terms of ``text`` in order, repeated as often as they occur; lower case, NFKC; the same for the index and for a
    query.

    A term keeps the dots, hyphens, slashes and similar characters inside it, so that identifiers survive:
    ``BMS-986158``, ``10-K``, ``3.5``, ``R&D``. In addition to the whole, a compound gives its parts (``long-term`` →
    ``long-term``, ``long``, ``term``), a name in mixed case its words (``DiffExecutor`` → ``diffexecutor``, ``diff``,
    ``executor``), a number with thousands separators its digits (``1,234.5`` → ``1234.5``), a fiscal period its year
    (``FY2018`` → ``2018``), an abbreviation its letters (``U.S.`` → ``us``), and every word its Porter stem if
    different, so that an exact form counts more than a related one. English function words are left out.

    Chinese, Japanese and Korean give overlapping pairs of characters (Lucene's CJK analysis): they write no blanks
    between words, or (Korean) attach particles to them.
    """
    normal = unicodedata.normalize("NFKC", text).translate(_HYPHENS)
    out: list[str] = []
    for match in _TERM.finditer(_SECTION.sub("§", normal)):
        token = match.group()
        if _CJK.search(token) is not None:
            out.extend(_pairs(token.lower()))
        elif _HUMP.search(token) is None:
            out.extend(_forms(token.lower()))
        else:
            out.extend(_mixed(token))
    return out


def _pairs(token: str) -> Iterator[str]:
    """Terms of a token with CJK characters: their pairs (a single one unchanged), and the rest as usual."""
    at = 0
    for match in _CJK.finditer(token):
        yield from (form for rest in _TERM.findall(token[at : match.start()]) for form in _forms(rest))
        run = match.group()
        yield from ([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
        at = match.end()
    yield from (form for rest in _TERM.findall(token[at:]) for form in _forms(rest))


@lru_cache(maxsize=50_000)
def _mixed(token: str) -> tuple[str, ...]:
    """Terms of a token with a word that begins inside another word, and those of its words."""
    words = [word.lower() for part in _JOINTS.split(token) if _HUMP.search(part) for word in _HUMP.split(part)]
    parts = [form for word in words if len(word) > 1 for form in _forms(word)]
    return tuple(dict.fromkeys([*_forms(token.lower()), *parts]))


@lru_cache(maxsize=200_000)
def _forms(token: str) -> tuple[str, ...]:
    """All terms of one token, itself first."""
    token = token.replace("’", "'").removesuffix("'s")
    forms: list[str] = []
    if token.startswith("§"):
        forms.append(token)
        token = token[1:]
    if token not in FUNCTION_WORDS:
        forms.append(token)
    if _THOUSANDS.fullmatch(token):
        forms.append(token.replace(",", ""))
    elif _ABBREVIATION.fullmatch(token):
        forms.append(token.replace(".", ""))
    elif period := _PERIOD.fullmatch(token):
        forms.append(period.group(1))
    else:
        parts = [part for part in _JOINTS.split(token) if len(part) > 1 and part not in FUNCTION_WORDS]
        if parts != [token]:
            forms.extend(parts)
    forms.extend([root for form in forms if form.isalpha() and (root := stem(form)) not in forms])
    return tuple(dict.fromkeys(forms))


@dataclass(frozen=True, slots=True)
class Postings:
    """Count of each term in each chunk of one document.

    ``terms`` uint64: 64 bits of the BLAKE2b hash of each distinct term, ascending; among ten million terms two collide
    with a probability of about three in a million. Chunk after chunk, ``columns`` are the indices of its terms in
    ``terms``, ``counts`` their numbers of occurrences, and ``sizes`` its number of distinct terms.
    """

    entries: Entries
    terms: NDArray[np.uint64]
    sizes: NDArray[Any]
    columns: NDArray[Any]
    counts: NDArray[Any]

    @classmethod
    def of(cls, chunks: Iterable[tuple[Entry, str]]) -> Postings:
        """Postings of chunks, given with their indexed text."""
        vocabulary: dict[str, int] = {}
        entries: list[Entry] = []
        sizes, columns, counts = (array("I") for _ in range(3))
        for entry, text in chunks:
            held = Counter(terms(text))
            entries.append(entry)
            sizes.append(len(held))
            columns.extend(vocabulary.setdefault(term, len(vocabulary)) for term in held)
            counts.extend(held.values())
        hashes = _hashes(vocabulary)
        order = np.argsort(hashes)
        places = np.empty(len(order), dtype=np.uint32)
        places[order] = np.arange(len(order), dtype=np.uint32)
        sizes_, columns_, counts_ = (np.array(values, dtype=np.uint32) for values in (sizes, columns, counts))
        return cls(Entries.of(entries), hashes[order], sizes_, places[columns_], counts_)

    def to_bytes(self) -> bytes:
        """Serialised postings with a checksum; numbers use the smallest type that holds them."""
        counted = (self.sizes, self.columns, self.counts)
        small = (values.astype(np.min_scalar_type(int(values.max(initial=0)))) for values in counted)
        return pack_arrays(self.entries.to_json(), [self.terms, *small])

    @classmethod
    def from_bytes(cls, data: bytes) -> Postings:
        """Inverse of `to_bytes`. Raises `ValueError` for damaged data."""
        entries, arrays = unpack_arrays(data)
        return cls(Entries.from_json(entries), *arrays)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Count of each term in each chunk: ``matrix`` (CSC) has a row for each of ``entries`` and a column for each of
    ``terms`` (hashes, ascending); every column holds a count."""

    entries: Entries
    terms: NDArray[np.uint64]
    matrix: Any  # scipy.sparse.csc_array

    @classmethod
    def of(cls, parts: Sequence[Postings]) -> _Counts:
        found = np.unique(np.concatenate([np.zeros(0, np.uint64), *(part.terms for part in parts)]))
        empty = np.zeros(0, np.int32)
        columns = (found.searchsorted(part.terms).astype(np.int32)[part.columns] for part in parts)
        rows = np.concatenate([[0], *(part.sizes for part in parts)]).cumsum(dtype=np.int32)
        counts = np.concatenate([empty[:0].astype(np.uint8), *(part.counts for part in parts)])
        by_chunk = (counts, np.concatenate([empty, *columns]), rows)
        matrix = sparse.csr_array(by_chunk, shape=(len(rows) - 1, len(found))).tocsc()
        return cls(Entries.joined([part.entries for part in parts]), found, matrix)

    def only(self, doc_ids: Iterable[str]) -> _Counts:
        """Counts of these documents."""
        keep = self.entries.of_documents(doc_ids)
        if keep.all():
            return self
        matrix = self.matrix[np.flatnonzero(keep)]
        held = np.flatnonzero(np.diff(matrix.indptr))
        return _Counts(self.entries.where(keep), self.terms[held], matrix[:, held])

    def plus(self, more: _Counts) -> _Counts:
        """Counts of both; no document is in both."""
        found = np.union1d(self.terms, more.terms)
        here, there = self._starts(found), more._starts(found)
        rows = np.empty(here[-1] + there[-1], np.int32)
        counts = np.empty(len(rows), np.result_type(self.matrix.data, more.matrix.data))
        # In each column the rows of the first part, then those of the second.
        for part, starts, moved, row in ((self, here, there[:-1], 0), (more, there, here[1:], len(self.entries))):
            places = np.arange(starts[-1]) + np.repeat(moved, np.diff(starts))
            rows[places] = part.matrix.indices + row
            counts[places] = part.matrix.data
        entries = Entries.joined([self.entries, more.entries])
        return _Counts(entries, found, sparse.csc_array((counts, rows, here + there), shape=(len(entries), len(found))))

    def _starts(self, terms: NDArray[np.uint64]) -> Ints:
        """Start of the column of each of ``terms``, which include all of its own."""
        starts = np.zeros(len(terms) + 1, dtype=np.int64)
        starts[terms.searchsorted(self.terms) + 1] = np.diff(self.matrix.indptr)
        return starts.cumsum()

    def columns(self, hashes: NDArray[np.uint64]) -> Ints:
        """Column of each term, int64 ``(len(hashes),)``; -1 for an unknown term."""
        places = self.terms.searchsorted(hashes)
        known = np.append(self.terms, np.uint64(0))[places] == hashes
        return np.where(known & (places < len(self.terms)), places, -1)

    def column(self, column: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Chunks that hold a term, ascending, and its count in each."""
        start, end = self.matrix.indptr[column : column + 2].tolist()
        return self.matrix.indices[start:end], self.matrix.data[start:end]


Load = Callable[[Mapping[str, str]], Mapping[str, Postings]]


class Bm25Index:
    """`SparseIndex` over some documents. Immutable: `updated` returns a new one. Thread-safe."""

    def __init__(
        self, *, k1: float, b: float, documents: Mapping[str, str] | None = None, counts: _Counts | None = None
    ) -> None:
        self._k1, self._b = k1, b
        self.documents = documents or {}  # id → fingerprint, in the library's order
        self._counts = counts or _Counts.of([])
        self._entries = self._counts.entries
        self._rows = {chunk_id: row for row, chunk_id in enumerate(self._entries.ids)}
        lengths = self._counts.matrix.sum(axis=1, dtype=np.int64)
        self._norms = k1 * (1.0 - b + b * lengths / (lengths.mean() if lengths.any() else 1.0))
        order = {doc_id: place for place, doc_id in enumerate(self.documents)}
        self._order = np.array([order[doc_id] for doc_id in self._entries.doc_ids], dtype=np.int64)
        frequencies = np.diff(self._counts.matrix.indptr)
        idf = np.log(len(self) - frequencies + 0.5) - np.log(frequencies + 0.5)
        self._idf = np.where(idf < 0.0, EPSILON * idf.mean(), idf) if len(idf) else idf
        self._last: tuple[str, NDArray[np.float64]] | None = None

    def __len__(self) -> int:
        """Number of chunks."""
        return len(self._entries)

    def updated(self, wanted: Mapping[str, str], load: Load) -> Bm25Index:
        """Index over exactly the documents ``wanted`` (id → fingerprint, in the library's order); ``load`` returns the
        postings of the requested ones."""
        if wanted is self.documents or list(wanted.items()) == list(self.documents.items()):
            return self
        counts = self._counts.only(doc_id for doc_id, mark in self.documents.items() if wanted.get(doc_id) == mark)
        kept = set(counts.entries.doc_ids)
        new = {doc_id: mark for doc_id, mark in wanted.items() if doc_id not in kept}
        if new:
            more = _Counts.of(list(load(new).values()))
            counts = counts.plus(more) if kept else more
        return Bm25Index(k1=self._k1, b=self._b, documents=wanted, counts=counts)

    def query(self, text: str, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """As of `SparseIndex`, ties in the order of the library."""
        scores, inside = self._scores(text), self._entries.within(scope)
        rows = np.flatnonzero(scores if inside is None else np.where(inside, scores, 0.0))
        if len(rows) > k:  # the best, and all ties with the last one
            rows = rows[scores[rows] >= np.partition(scores[rows], len(rows) - k)[len(rows) - k]]
        places = self._order[self._entries.owners[rows]]
        best = rows[np.lexsort((rows, places, -scores[rows]))[:k]]
        return [(self._entries.ids[row], score) for row, score in zip(best.tolist(), scores[best].tolist())]

    def scores(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """As of `SparseIndex`; 0.0 of an unknown id."""
        rows = np.array([self._rows.get(chunk_id, -1) for chunk_id in ids], dtype=np.int64)
        return np.append(self._scores(text), 0.0)[rows]

    def most(self, text: str) -> float:
        """Limit of the scores for ``text`` as its terms recur in a passage; a term that no chunk holds has the highest
        idf."""
        said = Counter(terms(text))
        unknown = math.log(len(self) + 0.5) - math.log(0.5)
        columns = self._counts.columns(_hashes(said)).tolist()
        idf = (unknown if column < 0 else max(0.0, float(self._idf[column])) for column in columns)
        return (self._k1 + 1.0) * sum(weight * times for weight, times in zip(idf, said.values()))

    def mentions(self, text: str) -> dict[str, int]:
        columns = self._counts.columns(_hashes(sorted(set(terms(text))))).tolist()
        if not columns or min(columns) < 0:
            return {}
        held = np.zeros(len(self), dtype=np.int64)
        for column in columns:
            held[self._counts.column(column)[0]] += 1
        found = np.bincount(self._entries.owners[held == len(columns)], minlength=len(self._entries.doc_ids))
        return {doc_id: count for doc_id, count in zip(self._entries.doc_ids, found.tolist()) if count}

    def _scores(self, text: str) -> NDArray[np.float64]:
        """Score of every chunk, float64 ``(n,)``. A repeated term counts repeatedly. The last text's scores are cached,
        since one question needs them several times."""
        last = self._last
        if last is not None and last[0] == text:
            return last[1]
        said = Counter(terms(text))
        scores = np.zeros(len(self))
        for column, times in zip(self._counts.columns(_hashes(said)).tolist(), said.values()):
            if column >= 0:
                rows, counts = self._counts.column(column)
                held = counts.astype(np.float64)
                scores[rows] += times * self._idf[column] * (self._k1 + 1.0) * held / (held + self._norms[rows])
        self._last = (text, scores)
        return scores


def _hashes(texts: Iterable[str]) -> NDArray[np.uint64]:
    """64-bit hash of each text, the same in every process."""
    digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8")
