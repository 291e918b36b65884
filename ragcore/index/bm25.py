"""BM25 over every chunk: rank-bm25's ``BM25Okapi`` model as a sparse matrix of term counts.

Scores equal those of ``rank_bm25.BM25Okapi`` (Trotman, Puurula, Burgess: Improvements to BM25 and Language Models
Examined, ADCS 2014), with its floor under negative idf values: ``epsilon`` times the mean idf over all terms.

SQLite keeps the counts of each document (`Postings`) and forgets them with it. In memory they are the columns of a few
matrices, one for each group of documents: a change makes one matrix of what is new and of the groups that are less than
twice its size, so a chunk is put in order about log(size of the library) times in all. Document frequencies and lengths
are exact whatever came and went, and none of it depends on k1 and b.
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
VERSION = 3  # raise it when `terms` gives other terms, or postings are kept in another form: they are counted again

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
    """The terms of ``text`` in its order, repeated as often as they occur; lower case, NFKC; the same
    of the index and of a query.

    A term keeps the dots, hyphens, slashes and the like inside it, so that identifiers survive: ``BMS-986158``,
    ``10-K``, ``3.5``, ``R&D``. Beside the whole, a compound gives its parts (``long-term`` → ``long-term``, ``long``,
    ``term``), a name in mixed case its words (``DiffExecutor`` → ``diffexecutor``, ``diff``, ``executor``), a number
    with thousands separators its digits (``1,234.5`` → ``1234.5``), a fiscal period its year (``FY2018`` → ``2018``),
    an abbreviation its letters (``U.S.`` → ``us``), and every word its Porter stem where that differs, so that an exact
    form counts more than a related one. English function words are left out.

    Chinese, Japanese and Korean give overlapping pairs of characters (Lucene's CJK analysis): they write no blanks
    between words, or (Korean) put particles onto them.
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
    """The terms of a token with CJK in it: pairs of those characters (a lone one as it is), and the rest as usual."""
    at = 0
    for match in _CJK.finditer(token):
        yield from (form for rest in _TERM.findall(token[at : match.start()]) for form in _forms(rest))
        run = match.group()
        yield from ([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
        at = match.end()
    yield from (form for rest in _TERM.findall(token[at:]) for form in _forms(rest))


@lru_cache(maxsize=50_000)
def _mixed(token: str) -> tuple[str, ...]:
    """The terms of a token that has a word beginning inside a word, and those of its words."""
    words = [word.lower() for part in _JOINTS.split(token) if _HUMP.search(part) for word in _HUMP.split(part)]
    parts = [form for word in words if len(word) > 1 for form in _forms(word)]
    return tuple(dict.fromkeys([*_forms(token.lower()), *parts]))


@lru_cache(maxsize=200_000)
def _forms(token: str) -> tuple[str, ...]:
    """Every term that one token gives, itself first."""
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
    """How often each term occurs in each chunk of one document.

    ``terms`` uint64 are 64 bits of the BLAKE2b hash of each distinct term, ascending: among ten million terms two share
    theirs with a probability of about three in a million. Of the chunks one after another ``columns`` are the places of
    their terms in ``terms``, ``counts`` how often they occur there, and ``sizes`` how many distinct ones each has.
    """

    entries: Entries
    terms: NDArray[np.uint64]
    sizes: NDArray[Any]
    columns: NDArray[Any]
    counts: NDArray[Any]

    @classmethod
    def of(cls, chunks: Iterable[tuple[Entry, str]]) -> Postings:
        """Of chunks with what is indexed of them."""
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
        """With a checksum; the numbers in the smallest type that holds them."""
        arrays = [self.terms, *(_small(values) for values in (self.sizes, self.columns, self.counts))]
        head = json.dumps([self.entries.to_json(), [(values.dtype.str, len(values)) for values in arrays]]).encode()
        return sealed(b"%d\n" % len(head) + head + b"".join(values.tobytes() for values in arrays))

    @classmethod
    def from_bytes(cls, data: bytes) -> Postings:
        """The inverse of `to_bytes`. Raises `ValueError` for data that is damaged."""
        size, _, rest = unsealed(data).partition(b"\n")
        entries, kinds = json.loads(rest[: int(size)])
        arrays, at = [], int(size)
        for dtype, count in kinds:
            arrays.append(np.frombuffer(rest, dtype, count, at))
            at += arrays[-1].nbytes
        return cls(Entries.from_json(entries), *arrays)


@dataclass(frozen=True, slots=True)
class _Group:
    """Documents in one matrix: ``counts`` has a row for each chunk and a column for each of ``terms`` (hashes,
    ascending). ``documents`` are those that count, with their fingerprints; ``alive`` says which chunks are theirs,
    ``frequencies`` how many of these hold each term."""

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
        """Chunks that count."""
        return int(self.alive.sum())

    def only(self, wanted: Mapping[str, str]) -> _Group:
        """The group with those documents alone that have the fingerprints ``wanted``."""
        documents = {doc_id: mark for doc_id, mark in self.documents.items() if wanted.get(doc_id) == mark}
        if len(documents) == len(self.documents):
            return self
        alive = self.entries.of_documents(documents)
        held = np.concatenate([[0], alive[self.counts.indices].cumsum(dtype=np.int64)])
        return replace(self, documents=documents, alive=alive, frequencies=np.diff(held[self.counts.indptr]))

    def columns(self, hashes: NDArray[np.uint64]) -> Ints:
        """The column of each term, int64 ``(len(hashes),)``; -1 where it has none."""
        return _places(self.terms, hashes)

    def column(self, column: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The chunks that hold a term, ascending, and how often each does; those that do not count are among them."""
        start, end = self.counts.indptr[column : column + 2].tolist()
        return self.counts.indices[start:end], self.counts.data[start:end]


Load = Callable[[Mapping[str, str]], Mapping[str, Postings]]


class Bm25Index:
    """`SparseIndex` over some documents. Immutable: `updated` gives a new one. Safe for threads."""

    def __init__(
        self, *, k1: float, b: float, documents: Mapping[str, str] | None = None, groups: Sequence[_Group] = ()
    ) -> None:
        stem("warm")  # loads the stemmer ahead of the first text: importing it takes a second
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
        """Chunks."""
        return self._chunks

    def updated(self, wanted: Mapping[str, str], load: Load) -> Bm25Index:
        """The index over exactly the documents ``wanted`` (id → fingerprint, in the library's order); ``load`` gives
        the postings of those that are asked of it."""
        if wanted is self.documents or list(wanted.items()) == list(self.documents.items()):
            return self
        groups = [group.only(wanted) for group in self._groups]
        # What is left of a group of which most is gone is put in order anew, with what is new.
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
        """The score of each of ``ids``, float64 ``(len(ids),)``; 0.0 where no term matches or the id is unknown."""
        out = np.zeros(len(ids))
        for group, scores in zip(self._groups, self._scores(text)):
            rows = np.array([group.entries.rows.get(chunk_id, -1) for chunk_id in ids], dtype=np.int64)
            # A chunk of a document that was built anew is in two groups, and scores nothing in the first.
            out[rows >= 0] += scores[rows[rows >= 0]]
        return out

    def mentions(self, text: str) -> dict[str, int]:
        """How many chunks of each document hold every term of ``text``; documents with none are left out."""
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
        """The score of every chunk, float64 ``(n,)`` for each group; 0.0 for those that do not count. A term said twice
        counts twice. Those of the last text are kept: one question asks for them several times."""
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
    """64 bits that stand for each text, the same in every process."""
    digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8")


def _distinct(parts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Every number that is in one of ``parts``, which ascend each, ascending."""
    values = np.sort(np.concatenate([np.zeros(0, np.uint64), *parts]), kind="stable")  # fast on runs that ascend
    first: Mask = np.concatenate([values[:1] == values[:1], values[1:] != values[:-1]])
    distinct: NDArray[np.uint64] = values[first]
    return distinct


def _small(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _places(known: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> Ints:
    """The place of each of ``wanted`` in ``known``, which ascends; -1 where it is not there."""
    if not len(known):
        return np.full(len(wanted), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[places] == wanted, places, -1)


def _best(scores: NDArray[np.float64], k: int) -> Mask | slice:
    """Which scores are among the best ``k``, all that are equal to the last of them included."""
    if len(scores) <= k:
        return slice(None)
    mask: Mask = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
    return mask
