"""Facts of documents: names in their sentences and relations between them, found by rules or by a model.

They belong to their document and go with it. The graphs of the published methods are made of them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ragcore.index.chunks import Entries, leaves
from ragcore.index.graph import MOST_IN_SENTENCE
from ragcore.index.packing import pack_arrays, unpack_arrays
from ragcore.text.mentions import Mention
from ragcore.text.mentions import mentions as in_text
from ragcore.text.sentences import sentence_spans
from ragcore.types import Chunk, Entry

VERSION = 1  # raise it when what is found or the stored form changes

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of the leaves ``entries`` (composites, and tiles in none; no descriptions of figures).

    ``keys`` are names in their folded form, ``shown`` how they are printed first, and ``about`` what a model says of
    each ("" by rules). ``sentences`` int32 ``(s, 3)`` has leaf, start and end in the text of its document; a leaf's
    heading is a sentence with start and end 0. ``mentions`` int32 ``(m, 2)`` has sentence and name, ``relations`` int32
    ``(r, 3)`` sentence, source and target; ``words`` is what a model says of each relation ("" by rules).
    """

    entries: Entries
    keys: list[str]
    shown: list[str]
    about: list[str]
    sentences: Ints
    mentions: Ints
    relations: Ints
    words: list[str]

    @classmethod
    def of(cls, chunks: Sequence[tuple[Entry, Chunk]], find: Callable[[str], Sequence[Mention]] = in_text) -> Facts:
        """Facts of a document's chunks by rules: its names, or what else ``find`` finds, each two of a sentence
        related. One that may be the first word of a sentence counts where the document has it elsewhere too."""
        chosen = leaves(chunks)
        read: list[tuple[int, int, int, dict[str, tuple[str, bool]]]] = []
        for leaf, (_, chunk) in enumerate(chosen):
            heading = chunk.section[-1] if chunk.section else chunk.header
            for text, offset in ((heading, -1), (chunk.text, chunk.start)):
                spans = sentence_spans(text)
                found: dict[int, dict[str, tuple[str, bool]]] = {}
                for one in find(text):
                    printed = " ".join(text[one.start : one.end].split())
                    known = found.setdefault(one.sentence, {})
                    known[one.key] = (
                        known.get(one.key, (printed,))[0],
                        one.doubtful and known.get(one.key, ("", True))[1],
                    )
                for number, names in found.items():
                    start, end = (0, 0) if offset < 0 else (offset + spans[number][0], offset + spans[number][1])
                    read.append((leaf, start, end, names))
        sure = {key for *_, names in read for key, (_, doubtful) in names.items() if not doubtful}
        keys: dict[str, int] = {}
        shown: list[str] = []
        sentences: list[tuple[int, int, int]] = []
        held: list[tuple[int, int]] = []
        joined: list[tuple[int, int, int]] = []
        for leaf, start, end, names in read:
            numbers = []
            for key in (key for key in names if key in sure):
                if key not in keys:
                    keys[key] = len(keys)
                    shown.append(names[key][0])
                numbers.append(keys[key])
            if numbers:
                held += [(len(sentences), number) for number in numbers]
                if len(numbers) <= MOST_IN_SENTENCE:
                    joined += [(len(sentences), one, other) for one, other in combinations(numbers, 2)]
                sentences.append((leaf, start, end))
        blank = [""] * len(keys)
        entries = Entries.of([entry for entry, _ in chosen])
        return cls(
            entries, list(keys), shown, blank, _rows(sentences, 3), _rows(held, 2), _rows(joined, 3), [""] * len(joined)
        )

    @classmethod
    def joined(cls, parts: Sequence[Facts]) -> Facts:
        """Facts of several documents, names with one key as one: the same for the same ``parts`` in any order, but for
        the numbering."""
        keys = sorted({key for part in parts for key in part.keys})
        number = {key: place for place, key in enumerate(keys)}
        best: dict[int, tuple[str, str]] = {}  # what is said of a name, with its form there
        sentences, mentioned, related = [_rows([], 3)], [_rows([], 2)], [_rows([], 3)]
        leaf = sentence = 0
        for part in parts:
            own = np.array([number[key] for key in part.keys], np.int32)
            for place, one in zip(own.tolist(), zip(part.about, part.shown)):
                best[place] = min(best.get(place, one), one, key=lambda pair: (-len(pair[0]), pair))
            sentences.append(part.sentences + np.array([leaf, 0, 0], np.int32))
            mentioned.append(np.stack([part.mentions[:, 0] + sentence, own[part.mentions[:, 1]]], axis=1))
            ends = [own[part.relations[:, side]] for side in (1, 2)]
            related.append(np.stack([part.relations[:, 0] + sentence, *ends], axis=1))
            leaf += len(part.entries)
            sentence += len(part.sentences)
        return cls(
            Entries.joined([part.entries for part in parts]),
            keys,
            [best[place][1] for place in range(len(keys))],
            [best[place][0] for place in range(len(keys))],
            np.concatenate(sentences),
            np.concatenate(mentioned),
            np.concatenate(related),
            [words for part in parts for words in part.words],
        )

    def over(self, entries: Entries) -> Facts:
        """Facts of those leaves that ``entries`` has too, which become the leaves; names keep their numbers."""
        rows = {chunk_id: row for row, chunk_id in enumerate(entries.ids)}
        leaf = np.array([rows.get(chunk_id, -1) for chunk_id in self.entries.ids], np.int32)[self.sentences[:, 0]]
        number = np.where(leaf >= 0, np.cumsum(leaf >= 0, dtype=np.int32) - 1, -1).astype(np.int32)
        sentences, held, related = self.sentences.copy(), self.mentions.copy(), self.relations.copy()
        sentences[:, 0], held[:, 0], related[:, 0] = leaf, number[held[:, 0]], number[related[:, 0]]
        kept = related[:, 0] >= 0
        words = [self.words[row] for row in np.flatnonzero(kept).tolist()]
        sentences, held, related = sentences[leaf >= 0], held[held[:, 0] >= 0], related[kept]
        return replace(self, entries=entries, sentences=sentences, mentions=held, relations=related, words=words)

    @property
    def texts(self) -> list[str]:
        """Names as they are embedded: as printed, with what a model says of them."""
        return [f"{name}: {said}" if said else name for name, said in zip(self.shown, self.about)]

    def to_bytes(self) -> bytes:
        head = [self.entries.to_json(), self.keys, self.shown, self.about, self.words]
        return pack_arrays(head, [self.sentences.ravel(), self.mentions.ravel(), self.relations.ravel()])

    @classmethod
    def from_bytes(cls, data: bytes) -> Facts:
        """Inverse of `to_bytes`. Raises `ValueError` for damaged data."""
        (entries, keys, shown, about, words), (sentences, held, related) = unpack_arrays(data)
        return cls(
            Entries.from_json(entries),
            keys,
            shown,
            about,
            sentences.reshape(-1, 3),
            held.reshape(-1, 2),
            related.reshape(-1, 3),
            words,
        )


def _rows(values: Sequence[tuple[int, ...]], width: int) -> Ints:
    return np.array(values, np.int32).reshape(-1, width)
