"""One file of the BM25 index: the postings of the chunks of some documents, written once and mapped when read.

Of each term the chunks that hold it and how often, in compressed columns; and of each document its distinct terms with
the number of its chunks that hold them, so that forgetting the document leaves the document frequencies exact without
touching the file. A term is known by 64 bits of its BLAKE2b hash: among ten million terms two share theirs with a
probability of about three in a million.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore import files, mapped
from ragcore.index.tokens import terms
from ragcore.rows import Rows, columns, joined, keys
from ragcore.types import Entry

Ints = NDArray[np.int64]


class Postings:
    """The postings in ``path``, of which only ``alive`` documents count. Raises what `mapped.read` does.

    ``rows`` are its chunks; ``terms`` uint64 the keys of its terms, ascending.
    """

    def __init__(self, path: Path, alive: Collection[str]) -> None:
        self.path = path
        self._version = files.version(path)
        arrays, meta = mapped.read(path)
        self._arrays = arrays
        self.rows = Rows(arrays, meta)
        self.terms: NDArray[np.uint64] = arrays["terms"]
        self.lengths: NDArray[np.int32] = arrays["lengths"]
        self.alive_documents = np.fromiter(
            (doc_id in alive for doc_id in self.rows.doc_ids), bool, len(self.rows.doc_ids)
        )
        self.alive: NDArray[np.bool_] | None = None  # None: all chunks
        self.frequencies: NDArray[Any] = arrays["frequencies"]
        if not self.alive_documents.all():
            self.alive = self.alive_documents[self.rows.owners]
            dead = self._of_documents(~self.alive_documents)
            gone = np.bincount(arrays["doc_terms"][dead], arrays["doc_counts"][dead], minlength=len(self.terms))
            self.frequencies = (self.frequencies - gone.astype(np.int64)).astype(np.int32)

    def __len__(self) -> int:
        """Chunks that count."""
        return len(self.rows) if self.alive is None else int(self.alive.sum())

    def intact(self) -> bool:
        """Whether the file is the one that was mapped: reading on in one that was cut short would end the process."""
        return files.version(self.path) == self._version

    @property
    def tokens(self) -> int:
        """Terms of all chunks that count."""
        return int(self.lengths.sum() if self.alive is None else self.lengths[self.alive].sum())

    def columns(self, term_keys: NDArray[np.uint64]) -> Ints:
        """The column of each term, int64 ``(len(term_keys),)``; -1 where it has none."""
        places = np.searchsorted(self.terms, term_keys)
        inside = np.minimum(places, len(self.terms) - 1)
        known = self.terms[inside] == term_keys if len(self.terms) else np.zeros(len(term_keys), dtype=bool)
        return np.where(known, inside, -1)

    def postings(self, column: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The chunks that hold a term, dead ones included, ascending, and how often each does."""
        start, end = self._arrays["starts"][column : column + 2].tolist()
        return self._arrays["posting_rows"][start:end], self._arrays["posting_counts"][start:end]

    def terms_of(self, doc_ids: Iterable[str]) -> NDArray[np.uint64]:
        """The keys of the distinct terms of ``doc_ids``; a term may come more than once."""
        wanted = np.zeros(len(self.rows.doc_ids), dtype=bool)
        wanted[[self.rows.numbers[doc_id] for doc_id in doc_ids]] = True
        return self.terms[self._arrays["doc_terms"][self._of_documents(wanted)]]

    def _of_documents(self, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which entries of the documents' lists of terms belong to the documents ``wanted``."""
        mask: NDArray[np.bool_] = np.repeat(wanted, np.diff(self._arrays["doc_starts"]))
        return mask


def write(path: Path, entries: Sequence[Entry], texts: Iterable[str]) -> None:
    """Write the postings of these chunks, those of one document side by side."""
    vocabulary: dict[str, int] = {}
    numbers, counts, sizes, lengths = array("i"), array("i"), array("i"), array("i")
    for text in texts:
        of_chunk = Counter(terms(text))
        for term, count in of_chunk.items():
            numbers.append(vocabulary.setdefault(term, len(vocabulary)))
            counts.append(count)
        sizes.append(len(of_chunk))
        lengths.append(of_chunk.total())
    arrays, meta = columns(entries)
    term_keys = keys(vocabulary)
    by_key = np.argsort(term_keys, kind="stable")
    column_of = np.empty(len(vocabulary), dtype=np.int32)
    column_of[by_key] = np.arange(len(vocabulary), dtype=np.int32)
    term_of = column_of[np.frombuffer(numbers, dtype=np.int32)] if len(numbers) else np.zeros(0, np.int32)
    row_of = (
        np.repeat(np.arange(len(entries), dtype=np.int32), np.frombuffer(sizes, dtype=np.int32)) if sizes else term_of
    )
    order = np.argsort(term_of, kind="stable")
    frequencies = np.bincount(term_of, minlength=len(vocabulary))
    # Of each document its terms, from pairs (document, term) as single numbers.
    pairs = arrays["owners"][row_of].astype(np.int64) * max(len(vocabulary), 1) + term_of
    distinct, doc_counts = np.unique(pairs, return_counts=True)
    owners, doc_terms = np.divmod(distinct, max(len(vocabulary), 1))
    arrays |= {
        "lengths": np.array(lengths, dtype=np.int32),
        "terms": term_keys[by_key],
        "frequencies": frequencies.astype(np.int32),
        "starts": _starts(frequencies),
        "posting_rows": row_of[order],
        "posting_counts": _small(np.array(counts, dtype=np.int32)[order]),
        "doc_starts": _starts(np.bincount(owners, minlength=len(meta["docs"]))),
        "doc_terms": doc_terms.astype(np.int32),
        "doc_counts": _small(doc_counts),
    }
    mapped.write(path, arrays, meta)


def merge(path: Path, parts: Sequence[Postings]) -> None:
    """Write the postings of what is alive in ``parts`` as one file; terms that nothing alive holds are left out."""
    keeps = [np.ones(len(part.rows), dtype=bool) if part.alive is None else part.alive for part in parts]
    arrays, meta = joined([(part.rows, keep) for part, keep in zip(parts, keeps)])
    used = [part.frequencies > 0 for part in parts]
    term_keys = np.unique(np.concatenate([part.terms[mask] for part, mask in zip(parts, used)]))
    # Terms that are not used have no column in the new file, and no posting that is kept.
    column_of = [np.searchsorted(term_keys, part.terms).astype(np.int32) for part in parts]
    frequencies = np.zeros(len(term_keys), dtype=np.int64)
    for part, mask, mapping in zip(parts, used, column_of):
        frequencies[mapping[mask]] += part.frequencies[mask]
    starts = _starts(frequencies)

    rows = np.empty(int(starts[-1]), dtype=np.int32)
    most = max((int(part._arrays["posting_counts"].max(initial=0)) for part in parts), default=0)
    counts = np.empty(len(rows), dtype=np.min_scalar_type(most))
    filled = starts.copy()  # where the next posting of each term goes
    base = 0
    for part, keep, mask, mapping in zip(parts, keeps, used, column_of):
        of, number = part._arrays["posting_rows"], np.cumsum(keep, dtype=np.int32) - 1 + base
        kept = keep[of] if part.alive is not None else slice(None)
        here = np.where(mask, part.frequencies, 0).astype(np.int64)
        offsets = filled[np.where(mask, mapping, 0)] - _starts(here)[:-1]
        places = np.arange(int(here.sum())) + np.repeat(offsets, here)
        rows[places] = number[of[kept]]
        counts[places] = part._arrays["posting_counts"][kept]
        filled[mapping[mask]] += here[mask]
        base += int(keep.sum())

    of_documents = [part._of_documents(part.alive_documents) for part in parts]
    sizes = [np.diff(part._arrays["doc_starts"])[part.alive_documents] for part in parts]
    arrays |= {
        "lengths": np.concatenate([part.lengths[keep] for part, keep in zip(parts, keeps)]),
        "terms": term_keys,
        "frequencies": frequencies.astype(np.int32),
        "starts": starts,
        "posting_rows": rows,
        "posting_counts": counts,
        "doc_starts": _starts(np.concatenate(sizes)),
        "doc_terms": np.concatenate(
            [mapping[part._arrays["doc_terms"][of]] for part, mapping, of in zip(parts, column_of, of_documents)]
        ),
        "doc_counts": np.concatenate([part._arrays["doc_counts"][of] for part, of in zip(parts, of_documents)]),
    }
    mapped.write(path, arrays, meta)


def _starts(sizes: NDArray[Any]) -> Ints:
    starts: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    return starts


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """The values in the smallest unsigned type that holds them all."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
