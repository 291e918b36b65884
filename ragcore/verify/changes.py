"""Changes between two versions of a document: whether the words that a citation rests on still stand.

Both versions are cut into the units that can be cited, sentences and cells. A unit stands unchanged if the new version
has one of the same words; a cell's row and column headers and its table's title are part of its words, since the same
figure under another year is another statement, and so is the heading above a sentence too short to be told by itself.
Words that do not stand are set against the passage nearest to them among those that are new.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ragcore.answer.cite import cite_span, heads_of
from ragcore.answer.sources import build_units
from ragcore.text.words import tokens
from ragcore.types import Citation, Document, Unit

SHORT = 5  # words of a sentence that many others may consist of
ALIKE = 0.5  # least share of words that a passage has in common with the one that it was
BETWEEN = 0.25  # the same, if it stands between what stood before and after
FRAGMENT = 4  # words of a quotation that are told by themselves, whatever became of the rest of their sentence
NEAREST = 400  # passages that are compared, the nearest first


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The words still stand, at ``place`` of the new version."""

    place: Citation


@dataclass(frozen=True, slots=True)
class Changed:
    """The words at ``old`` of the old version no longer stand; ``place`` of the new one has the nearest."""

    old: Citation
    place: Citation


@dataclass(frozen=True, slots=True)
class Gone:
    """The words at ``old`` no longer stand, and nothing new is like them."""

    old: Citation


@dataclass(frozen=True, slots=True)
class Added:
    """The words at ``place`` are new, and nothing old is like them."""

    place: Citation


Staleness = Unchanged | Changed | Gone
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Units of a document in text order, with what each is told by."""

    units: tuple[Unit, ...]
    keys: tuple[Key, ...]

    @classmethod
    def of(cls, document: Document) -> _Cut:
        units: list[Unit] = []
        keys: list[Key] = []
        for element in document.body:
            table = " ".join(element.table.title.split()) if element.table is not None else ""
            for unit in build_units(document, element.start, element.end):
                words = " ".join(document.text[unit.start : unit.end].split())
                short = unit.kind == "sentence" and len(words.split()) < SHORT and not unit.heading
                above = element.section[-1] if short and element.section else ""
                units.append(unit)
                keys.append((unit.kind, table, unit.label, above, words))
        return cls(tuple(units), tuple(keys))

    def within(self, start: int, end: int) -> range:
        """Units with a character of ``[start, end)``."""
        first = bisect_right(self.units, start, key=lambda unit: unit.end)
        return range(first, max(first, bisect_left(self.units, end, key=lambda unit: unit.start)))


class Comparison:
    """A document with a later version of it."""

    def __init__(self, old: Document, new: Document) -> None:
        self.old = old
        self.new = new
        self._before, self._after = _Cut.of(old), _Cut.of(new)

    def staleness(self, start: int, end: int) -> Staleness:
        """What became of the words ``[start, end)`` of the old version."""
        inside = self._before.within(start, end)
        stood = [place for n in inside if (place := self._stands[n]) is not None]
        if stood and len(stood) == len(inside):
            return Unchanged(self._cited(stood))
        if (found := self._fragment(start, end, inside)) is not None:
            return Unchanged(_place(self.new, *found))
        old = _place(self.old, start, end)
        nearest = [place for n in inside if (place := self._nearest(n)) is not None]
        return Changed(old, self._cited(nearest)) if nearest else Gone(old)

    def differences(self) -> list[Changed | Gone | Added]:
        """All that differs, in the order of the new version, what is gone where it would stand."""
        found, taken = list[tuple[float, Changed | Gone | Added]](), set[int]()
        for n, unit in enumerate(self._before.units):
            if self._stands[n] is None:
                place = self._nearest(n)
                if place is None:
                    found.append((self._gap(n)[0] + 0.5, Gone(_place(self.old, unit.start, unit.end))))
                else:
                    taken.add(place)
                    changed = Changed(_place(self.old, unit.start, unit.end), self._cited([place]))
                    found.append((place, changed))
        found += [(n, Added(self._cited([n]))) for n in self._fresh if n not in taken]
        return [one for _, one in sorted(found, key=lambda placed: placed[0])]

    @cached_property
    def _stands(self) -> list[int | None]:
        """Of each old unit the new one with its words: of several, the one that is as far along."""
        places: dict[Key, list[int]] = defaultdict(list)
        for n, key in enumerate(self._after.keys):
            places[key].append(n)
        moved, found = 0, list[int | None]()
        for n, key in enumerate(self._before.keys):
            there = places.get(key)
            place = min(there, key=lambda one: abs(one - n - moved)) if there else None
            if place is not None:
                moved = place - n
            found.append(place)
        return found

    @cached_property
    def _fresh(self) -> list[int]:
        """New units whose words the old version does not have."""
        known = set(self._before.keys)
        return [n for n, key in enumerate(self._after.keys) if key not in known]

    @cached_property
    def _words(self) -> dict[int, Counter[str]]:
        """Words of each fresh unit, with those that it is labelled by."""
        return {n: _bag(self._after.keys[n]) for n in self._fresh}

    def _nearest(self, n: int) -> int | None:
        """New unit that old unit ``n`` became: the one itself if it stands, else of the fresh ones the most alike."""
        stands = self._stands[n]
        if stands is not None:
            return stands
        key, low, high = self._before.keys[n], *self._gap(n)
        kind, bag = key[0], _bag(key)
        middle = bisect_left(self._fresh, low)
        near = self._fresh[max(0, middle - NEAREST // 2) : middle + NEAREST // 2]
        best: tuple[float, int] | None = None
        for one in near:
            other = self._after.keys[one]
            if other[0] != kind:
                continue
            if kind == "cell" and key[2]:
                alike = 1.0 if other[2] == key[2] else 0.0  # another row or column is another statement
            else:
                alike = _shared(bag, self._words[one])
            between = low < one < high
            if alike >= (BETWEEN if between else ALIKE) and (best is None or (alike + between, -one) > best):
                best = alike + between, -one
        return None if best is None else -best[1]

    def _gap(self, n: int) -> tuple[int, int]:
        """New units between which old unit ``n`` would stand."""
        before = next((place for place in self._stands[n::-1] if place is not None), -1)
        after = next((place for place in self._stands[n:] if place is not None), len(self._after.units))
        return before, after if after > before else len(self._after.units)

    def _fragment(self, start: int, end: int, inside: range) -> tuple[int, int] | None:
        """Span of a quotation's words in the new passage that its sentence became, if they are all there."""
        quote = self.old.text[start:end]
        if len(quote.split()) < FRAGMENT or any(self._before.units[n].kind == "cell" for n in inside):
            return None
        for n in inside:
            place = self._nearest(n)
            if place is not None:
                unit = self._after.units[place]
                at = self.new.text.find(quote, unit.start, unit.end)
                if at >= 0:
                    return at, at + len(quote)
        return None

    def _cited(self, places: Sequence[int]) -> Citation:
        """Passage that begins with the first of ``places``, as far as they follow each other."""
        first = last = places[0]
        for place in places[1:]:
            if not last <= place <= last + 2:
                break
            last = place
        return _place(self.new, self._after.units[first].start, self._after.units[last].end)


def _place(document: Document, start: int, end: int) -> Citation:
    heads, label = heads_of(document, start, end)
    return replace(cite_span(document, start, end, 1), head_boxes=heads, label=label)


def _bag(key: Key) -> Counter[str]:
    return Counter(tokens(" ".join(key[2:])))


def _shared(one: Counter[str], other: Counter[str]) -> float:
    """Share of words that two passages have in common, 0–1."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0
