"""BM25 over every chunk: rank-bm25's ``BM25Okapi`` model as a sparse matrix of term counts.

Scores equal those of ``rank_bm25.BM25Okapi`` (Trotman, Puurula, Burgess: Improvements to BM25 and Language Models
Examined, ADCS 2014), with its floor under negative idf values: ``epsilon`` times the mean idf over all terms.

SQLite stores each document's counts (`Postings`) and deletes them with it. In memory they are the columns of a few
matrices, one per group of documents: a change merges the new documents and the groups less than twice their size into
one matrix, so a chunk is merged about log(size of the library) times in all. Document frequencies and lengths stay
exact through additions and removals, and none of the stored data depends on k1 and b.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ragcore.files import sealed, unsealed
from ragcore.index.chunks import Entries, Mask
from ragcore.text.words import FUNCTION_WORDS, stem
from ragcore.types import EVERYTHING, Entry, Scope

EPSILON = 0.25
VERSION = 3  # raise it when `terms` or the stored form of postings changes: postings are then counted again

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
        arrays = [self.terms, *(_small(values) for values in (self.sizes, self.columns, self.counts))]
        head = json.dumps([self.entries.to_json(), [(values.dtype.str, len(values)) for values in arrays]]).encode()
        return sealed(b"%d\n" % len(head) + head + b"".join(values.tobytes() for values in arrays))

    @classmethod
    def from_bytes(cls, data: bytes) -> Postings:
        """Inverse of `to_bytes`. Raises `ValueError` for damaged data."""
        size, _, rest = unsealed(data).partition(b"\n")
        entries, kinds = json.loads(rest[: int(size)])
        arrays, at = [], int(size)
        for dtype, count in kinds:
            arrays.append(np.frombuffer(rest, dtype, count, at))
            at += arrays[-1].nbytes
        return cls(Entries.from_json(entries), *arrays)


@dataclass(frozen=True, slots=True)
class _Group:
    """Group of documents in one matrix: ``counts`` has a row for each chunk and a column for each of ``terms`` (hashes,
    ascending). ``documents`` are the current ones, with their fingerprints; ``alive`` marks their chunks,
    ``frequencies`` is how many of these chunks hold each term."""

    entries: Entries
    terms: NDArray[np.uint64]
    counts: Any  # scipy.sparse.csc_array
    lengths: Ints
    documents: Mapping[str, str]
    alive: Mask
    frequencies: Ints

    @classmethod
    def of(cls, postings: Mapping[str, Postings], fingerprints: Mapping[str, str]) -> _Group:
        parts = list(postings.values())
        found = _distinct([part.terms for part in parts])
        columns = np.concatenate([found.searchsorted(part.terms).astype(np.int32)[part.columns] for part in parts])
        rows = np.concatenate([[0], *(part.sizes for part in parts)]).cumsum(dtype=np.int32)
        counts = np.concatenate([part.counts for part in parts])
        lengths = np.diff(np.concatenate([[0], counts.cumsum(dtype=np.int64)])[rows])
        by_term = sparse.csr_array((counts, columns, rows), shape=(len(rows) - 1, len(found))).tocsc()
        entries = Entries.joined([(part.entries, np.ones(len(part.entries), dtype=bool)) for part in parts])
        alive = np.ones(len(entries), dtype=bool)
        return cls(entries, found, by_term, lengths, fingerprints, alive, np.diff(by_term.indptr).astype(np.int64))

    def __len__(self) -> int:
        """Number of current chunks."""
        return int(self.alive.sum())

    def only(self, wanted: Mapping[str, str]) -> _Group:
        """Group reduced to the documents with the fingerprints in ``wanted``."""
        documents = {doc_id: mark for doc_id, mark in self.documents.items() if wanted.get(doc_id) == mark}
        if len(documents) == len(self.documents):
            return self
        alive = self.entries.of_documents(documents)
        held = np.concatenate([[0], alive[self.counts.indices].cumsum(dtype=np.int64)])
        return replace(self, documents=documents, alive=alive, frequencies=np.diff(held[self.counts.indptr]))

    def columns(self, hashes: NDArray[np.uint64]) -> Ints:
        """Column of each term, int64 ``(len(hashes),)``; -1 for an unknown term."""
        return _places(self.terms, hashes)

    def column(self, column: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Chunks that hold a term, ascending, and its count in each; outdated chunks are included."""
        start, end = self.counts.indptr[column : column + 2].tolist()
        return self.counts.indices[start:end], self.counts.data[start:end]


Load = Callable[[Mapping[str, str]], Mapping[str, Postings]]


class Bm25Index:
    """`SparseIndex` over some documents. Immutable: `updated` returns a new one. Thread-safe."""

    def __init__(
        self, *, k1: float, b: float, documents: Mapping[str, str] | None = None, groups: Sequence[_Group] = ()
    ) -> None:
        stem("warm")  # loads the stemmer before the first text, since importing it takes a second
        self._k1, self._b = k1, b
        self.documents = documents or {}  # id → fingerprint, in the library's order
        self._groups = groups
        self._chunks = sum(len(group) for group in groups)
        tokens = sum(int(group.lengths[group.alive].sum()) for group in groups)
        mean = tokens / self._chunks if tokens else 1.0
        self._norms = [k1 * (1.0 - b + b * group.lengths / mean) for group in groups]
        order = {doc_id: place for place, doc_id in enumerate(self.documents)}
        self._order = [np.array([order.get(i, -1) for i in g.entries.doc_ids], dtype=np.int64) for g in groups]
        self._terms = _distinct([group.terms for group in groups])
        self._frequencies = np.zeros(len(self._terms), dtype=np.int64)
        for group in groups:
            self._frequencies[self._terms.searchsorted(group.terms)] += group.frequencies
        held = self._frequencies[self._frequencies > 0]
        self._floor = EPSILON * float(self._raw_idf(held).mean()) if len(held) else 0.0
        self._last: tuple[str, list[NDArray[np.float64]]] | None = None

    def __len__(self) -> int:
        """Number of chunks."""
        return self._chunks

    def updated(self, wanted: Mapping[str, str], load: Load) -> Bm25Index:
        """Index over exactly the documents ``wanted`` (id → fingerprint, in the library's order); ``load`` returns the
        postings of the requested ones."""
        if wanted is self.documents or list(wanted.items()) == list(self.documents.items()):
            return self
        groups = [group.only(wanted) for group in self._groups]
        # The rest of a group that is mostly outdated is merged with the new documents.
        groups = sorted((group for group in groups if 2 * len(group) > len(group.entries)), key=len, reverse=True)
        kept = {doc_id for group in groups for doc_id in group.documents}
        new = {doc_id: fingerprint for doc_id, fingerprint in wanted.items() if doc_id not in kept}
        if new:
            postings = dict(load(new))
            while groups and 2 * sum(len(part.entries) for part in postings.values()) > len(groups[-1]):
                new |= groups[-1].documents
                postings |= load(groups.pop().documents)
            groups.append(_Group.of(postings, new))
        return Bm25Index(k1=self._k1, b=self._b, documents=wanted, groups=groups)

    def query(self, text: str, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, score > 0)`` in ``scope``, best first, ties in the order of the library."""
        number, rows, places, scores = (np.zeros(0, np.int64) for _ in range(4))
        for at, (group, order, of_group) in enumerate(zip(self._groups, self._order, self._scores(text))):
            inside = group.entries.within(scope)
            found = np.flatnonzero(of_group if inside is None else np.where(inside, of_group, 0.0))
            found = found[_best(of_group[found], k)]
            number = np.concatenate([number, np.full(len(found), at)])
            rows = np.concatenate([rows, found])
            places = np.concatenate([places, order[group.entries.owners[found]]])
            scores = np.concatenate([scores, of_group[found]])
        best = np.lexsort((rows, places, -scores))[:k]
        ids = [self._groups[at].entries.ids[row] for at, row in zip(number[best].tolist(), rows[best].tolist())]
        return list(zip(ids, scores[best].tolist()))

    def scores(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """Score of each of ``ids``, float64 ``(len(ids),)``; 0.0 if no term matches or the id is unknown."""
        out = np.zeros(len(ids))
        for group, scores in zip(self._groups, self._scores(text)):
            rows = np.array([group.entries.rows.get(chunk_id, -1) for chunk_id in ids], dtype=np.int64)
            # A chunk of a rebuilt document is in two groups, and scores nothing in the first.
            out[rows >= 0] += scores[rows[rows >= 0]]
        return out

    def mentions(self, text: str) -> dict[str, int]:
        """Number of chunks of each document that hold every term of ``text``; documents with none are left out."""
        counts: dict[str, int] = {}
        hashes = _hashes(sorted(set(terms(text))))
        for group in self._groups:
            columns = group.columns(hashes)
            if not len(columns) or columns.min() < 0:
                continue
            held = np.zeros(len(group.entries), dtype=np.int64)
            for column in columns.tolist():
                held[group.column(column)[0]] += 1
            owners = group.entries.owners[(held == len(columns)) & group.alive]
            of_document = np.bincount(owners, minlength=len(group.entries.doc_ids))
            found = np.flatnonzero(of_document).tolist()
            counts.update((group.entries.doc_ids[number], int(of_document[number])) for number in found)
        return counts

    def _scores(self, text: str) -> list[NDArray[np.float64]]:
        """Score of every chunk, float64 ``(n,)`` for each group; 0.0 for outdated ones. A repeated term counts
        repeatedly. The last text's scores are cached, since one question needs them several times."""
        last = self._last
        if last is not None and last[0] == text:
            return last[1]
        said = Counter(terms(text))
        hashes = _hashes(said)
        weights = np.array(list(said.values())) * self._idf(hashes) * (self._k1 + 1.0)
        out = []
        for group, norm in zip(self._groups, self._norms):
            scores = np.zeros(len(group.entries))
            for column, weight in zip(group.columns(hashes).tolist(), weights.tolist()):
                if column >= 0:
                    rows, counts = group.column(column)
                    held = counts.astype(np.float64)
                    scores[rows] += weight * held / (held + norm[rows])
            scores[~group.alive] = 0.0
            out.append(scores)
        self._last = (text, out)
        return out

    def _idf(self, hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
        places = _places(self._terms, hashes)
        frequencies = np.zeros(len(hashes), dtype=np.int64)
        frequencies[places >= 0] = self._frequencies[places[places >= 0]]
        idf = self._raw_idf(frequencies)
        return np.where(idf < 0.0, self._floor, idf)

    def _raw_idf(self, frequencies: Ints) -> NDArray[np.float64]:
        idf: NDArray[np.float64] = np.log(self._chunks - frequencies + 0.5) - np.log(frequencies + 0.5)
        return idf


def _hashes(texts: Iterable[str]) -> NDArray[np.uint64]:
    """64-bit hash of each text, the same in every process."""
    digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8")


def _distinct(parts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Distinct numbers of ``parts``, ascending; each part is ascending."""
    values = np.sort(np.concatenate([np.zeros(0, np.uint64), *parts]), kind="stable")  # fast on ascending runs
    first: Mask = np.concatenate([values[:1] == values[:1], values[1:] != values[:-1]])
    distinct: NDArray[np.uint64] = values[first]
    return distinct


def _small(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _places(known: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> Ints:
    """Index in ``known``, which is ascending, of each of ``wanted``; -1 if missing."""
    if not len(known):
        return np.full(len(wanted), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[places] == wanted, places, -1)


def _best(scores: NDArray[np.float64], k: int) -> Mask | slice:
    """Mask of the best ``k`` scores, including all ties with the last one."""
    if len(scores) <= k:
        return slice(None)
    mask: Mask = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
    return mask
