"""BM25 over every chunk: rank-bm25's ``BM25Okapi`` model over postings on disk.

Scores equal those of ``rank_bm25.BM25Okapi`` (Trotman, Puurula, Burgess: Improvements to BM25 and Language Models
Examined, ADCS 2014), with its floor under negative idf values: ``epsilon`` times the mean idf over all terms.

The index is a folder: immutable files of postings (`ragcore.index.postings`) and a manifest, which names them, the
documents in each that count, and how many terms occur in how many chunks (for the mean idf). Adding documents adds a
file, removing one changes the manifest only, and `ragcore.tiers` says when files are merged. All of it is a cache that
SQLite can make again, and none of it depends on k1 and b.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcore.index import bm25_files
from ragcore.index.bm25_files import Manifest, Update, held
from ragcore.index.postings import Postings
from ragcore.index.tokens import prepare, terms
from ragcore.rows import keys
from ragcore.types import EVERYTHING, Entry, Scope

EPSILON = 0.25
BATCH = 16_384  # chunks counted in memory before they are written; a killed build loses at most these

Load = Callable[[str], Iterable[tuple[Entry, str]]]


class Bm25Index:
    """`SparseIndex` over the chunks of some documents. Immutable: `updated` gives a new one. Safe for threads; several
    processes may read one folder while one of them updates it."""

    def __init__(self, folder: Path, manifest: Manifest, parts: Sequence[Postings], *, k1: float, b: float) -> None:
        self.folder = folder
        self._manifest = manifest
        self._parts = parts
        self._k1, self._b = k1, b
        self._chunks = sum(len(part) for part in parts)
        tokens = sum(part.tokens for part in parts)
        mean = tokens / self._chunks if tokens else 1.0
        self._norms = [k1 * (1.0 - b + b * part.lengths.astype(np.float64) / mean) for part in parts]
        places = {doc_id: place for place, doc_id in enumerate(manifest.documents)}
        self._places = [np.array([places.get(i, -1) for i in part.rows.doc_ids], dtype=np.int64) for part in parts]
        self._floor = _floor(manifest.histogram, self._chunks)
        self._last: tuple[str, list[NDArray[np.float64]]] | None = None

    @classmethod
    def empty(cls, folder: Path, *, k1: float, b: float) -> Bm25Index:
        """The index of an empty library; nothing is written."""
        prepare()
        return cls(folder, Manifest(), [], k1=k1, b=b)

    @classmethod
    def load(cls, folder: Path, *, k1: float, b: float) -> Bm25Index | None:
        """The index in ``folder``; None where there is none, or one that cannot be read and has to be made again."""
        prepare()
        found = bm25_files.read(folder)
        return None if found is None else cls(folder, *found, k1=k1, b=b)

    def __len__(self) -> int:
        """Chunks."""
        return self._chunks

    def intact(self) -> bool:
        """Whether its files are still those that were opened. Raises `OSError`."""
        return all(part.intact() for part in self._parts)

    @property
    def revision(self) -> int:
        """Of the library, as given to `updated`."""
        return self._manifest.revision

    @property
    def fingerprints(self) -> dict[str, str]:
        """What each document was made from, as given to `updated`, in the library's order."""
        return {doc_id: fingerprint for doc_id, (fingerprint, _) in self._manifest.documents.items()}

    def query(self, text: str, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, score > 0)`` in ``scope``, best first, ties in the order of the library."""
        files, rows, scores = [], [], []
        for number, (part, all_scores) in enumerate(zip(self._parts, self._scores(text))):
            inside = part.rows.within(scope)
            found = np.flatnonzero(all_scores if inside is None else np.where(inside, all_scores, 0.0))
            found = found[_best(all_scores[found], k)]
            files.append(np.full(len(found), number))
            rows.append(found)
            scores.append(all_scores[found])
        if not files:
            return []
        file, row, score = np.concatenate(files), np.concatenate(rows), np.concatenate(scores)
        best = _best(score, k)
        file, row, score = file[best], row[best], score[best]
        place = np.zeros(len(row), dtype=np.int64)
        for number, part in enumerate(self._parts):
            here = file == number
            place[here] = self._places[number][part.rows.owners[row[here]]]
        order = np.lexsort((row, place, -score))[:k]
        file, row, score = file[order], row[order], score[order]
        ids = np.empty(len(order), dtype=object)
        for number, part in enumerate(self._parts):
            here = file == number
            ids[here] = part.rows.chunk_ids(row[here])
        return list(zip(ids.tolist(), score.tolist()))

    def scores(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """The score of each of ``ids``, float64 ``(len(ids),)``; 0.0 where no term matches or the id is unknown."""
        out = np.zeros(len(ids))
        id_keys = keys(ids)
        for part, scores in zip(self._parts, self._scores(text)):
            rows = part.rows.find_keys(ids, id_keys)
            # A chunk that was removed and added again is in two files, and scores nothing in the first.
            out[rows >= 0] += scores[rows[rows >= 0]]
        return out

    def mentions(self, text: str) -> dict[str, int]:
        """How many chunks of each document hold every term of ``text``; documents with none are left out."""
        counts: dict[str, int] = {}
        term_keys = keys(sorted(set(terms(text))))
        for part in self._parts:
            columns = part.columns(term_keys)
            if not len(columns) or columns.min() < 0:
                continue
            lists = sorted((part.postings(column)[0] for column in columns.tolist()), key=len)
            rows = lists[0]
            for other in lists[1:]:
                places = np.minimum(np.searchsorted(other, rows), len(other) - 1)
                rows = rows[other[places] == rows]
            owners = part.rows.owners[rows]
            held = np.bincount(owners[part.alive_documents[owners]], minlength=len(part.rows.doc_ids))
            counts.update((part.rows.doc_ids[number], int(held[number])) for number in np.flatnonzero(held).tolist())
        return counts

    def _scores(self, text: str) -> list[NDArray[np.float64]]:
        """The score of every chunk, float64 ``(n,)`` for each file; 0.0 for those that do not count. A term said twice
        counts twice. Those of the last text are kept: one question asks for them several times."""
        last = self._last
        if last is not None and last[0] == text:
            return last[1]
        said = Counter(terms(text))
        term_keys = keys(said)
        columns = [part.columns(term_keys) for part in self._parts]
        weights = np.array(list(said.values())) * self._idf(self._frequencies(term_keys)) * (self._k1 + 1.0)
        out = []
        for part, norm, of_part in zip(self._parts, self._norms, columns):
            scores = np.zeros(len(part.rows))
            for column, weight in zip(of_part.tolist(), weights.tolist()):
                if column >= 0:
                    rows, counts = part.postings(column)
                    held = counts.astype(np.float64)
                    scores[rows] += weight * held / (held + norm[rows])
            if part.alive is not None:
                scores[~part.alive] = 0.0
            out.append(scores)
        self._last = (text, out)
        return out

    def _frequencies(self, term_keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """How many chunks hold each term."""
        return sum((held(part, term_keys) for part in self._parts), start=np.zeros(len(term_keys), dtype=np.int64))

    def _idf(self, frequencies: NDArray[np.int64]) -> NDArray[np.float64]:
        idf = _raw_idf(frequencies, self._chunks)
        return np.where(idf < 0.0, self._floor, idf)

    def updated(self, wanted: Mapping[str, str], load: Load, *, revision: int) -> Bm25Index:
        """The index over exactly the documents ``wanted`` (id → fingerprint, in the library's order), written to the
        folder.

        Documents whose fingerprint is the same are left alone; ``load(doc_id)``, each chunk with its index text, is
        asked for the others only. The caller sees to it that one process updates the folder at a time.
        """
        known = self._manifest.documents
        state = Update(self.folder, self._manifest, list(self._parts))
        state.forget([doc_id for doc_id, (fingerprint, _) in known.items() if wanted.get(doc_id) != fingerprint])
        batch: list[str] = []
        entries: list[Entry] = []
        texts: list[str] = []
        for doc_id, fingerprint in wanted.items():
            if known.get(doc_id, ("", ""))[0] == fingerprint and doc_id in known:
                continue
            if len(entries) >= BATCH:
                state.add({i: wanted[i] for i in batch}, entries, texts)
                state.commit(-1, state.documents)
                batch, entries, texts = [], [], []
            batch.append(doc_id)
            for entry, text in load(doc_id):
                entries.append(entry)
                texts.append(text)
        state.add({i: wanted[i] for i in batch}, entries, texts)
        manifest = state.commit(revision, {doc_id: state.documents[doc_id] for doc_id in wanted})
        return Bm25Index(self.folder, manifest, state.parts, k1=self._k1, b=self._b)


def _raw_idf(frequencies: NDArray[np.int64], chunks: int) -> NDArray[np.float64]:
    idf: NDArray[np.float64] = np.log(chunks - frequencies + 0.5) - np.log(frequencies + 0.5)
    return idf


def _floor(histogram: Mapping[int, int], chunks: int) -> float:
    """rank-bm25's idf for terms in more than half of the chunks: `EPSILON` times the mean over all terms."""
    if not histogram:
        return 0.0
    numbers = np.array(sorted(histogram), dtype=np.int64)
    counts = np.array([histogram[number] for number in numbers.tolist()], dtype=np.float64)
    return EPSILON * float((counts * _raw_idf(numbers, chunks)).sum() / counts.sum())


def _best(scores: NDArray[np.float64], k: int) -> NDArray[np.bool_] | slice:
    """Which scores are among the best ``k``, all that are equal to the last of them included."""
    if len(scores) <= k:
        return slice(None)
    mask: NDArray[np.bool_] = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
    return mask
