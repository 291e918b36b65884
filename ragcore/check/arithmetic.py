"""Arithmetic of a draft: its own tables recomputed, changes in its sentences, and figures that it gives twice.

A figure is at fault only under one reading. A row is a total by its label, but only sums that fit elsewhere in the
table, or that it nearly is, are held against it; a table that no reading fits is left alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, permutations
from math import copysign

from ragcore.check.sentences import Checkable, Labels, checkable, table_labels
from ragcore.text import lexicon as lex
from ragcore.text.numbers import Number, figure, is_one, numbers
from ragcore.text.periods import period_spans, years
from ragcore.text.words import content_stems, tokens
from ragcore.types.check import Block, Draft, Inconsistency

_NEAR, _NEARER = 0.25, 0.1  # how far off, as a share, a figure may be: if its reading fits elsewhere, and if not
_BESIDE = 3  # words between a figure and what it is said to be
_MOST_SAID = 6  # stems of a statement that says what one figure is
_MOST_TOTALS = 50  # of a table that is read by its totals
_EXACT = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class _Figure:
    """Figure at ``[start, end)`` of the draft."""

    number: Number
    start: int
    end: int

    @classmethod
    def of(cls, number: Number, start: int, text: str) -> _Figure:
        """A number of ``text``, which begins at ``start``."""
        start += text.index(number.raw, number.start)
        return cls(number, start, start + len(number.raw))

    @property
    def value(self) -> float:
        return self.number.amount

    @property
    def half(self) -> float:
        """Half a unit in the last place that is shown."""
        return float(0.5 * 10.0**-self.number.decimals * self.number.scale)

    @property
    def raw(self) -> str:
        return self.number.raw


Line = Mapping[int, _Figure]  # figures of a row or column, by place


@dataclass(frozen=True, slots=True)
class _Sum:
    """A total read as the sum of the figures at the places of ``reading`` that have one; ``beside`` are the others
    above it."""

    total: _Figure
    parts: Line
    reading: tuple[int, ...]
    beside: tuple[_Figure, ...]

    @property
    def addends(self) -> tuple[_Figure, ...]:
        return tuple(self.parts.values())

    @property
    def computed(self) -> float:
        return sum(one.value for one in self.addends)

    @property
    def off(self) -> float:
        return self.computed - self.total.value

    @property
    def slack(self) -> float:
        return (self.total.half + sum(one.half for one in self.addends)) * _EXACT

    @property
    def fits(self) -> bool:
        return abs(self.off) <= self.slack

    @property
    def proven(self) -> set[int]:
        """Places without whose figure it would not fit."""
        return {place for place, one in self.parts.items() if abs(one.value) > self.slack}

    def change(self, of: _Figure) -> float:
        """What is to be added to a figure of it for the sum to be right."""
        return self.off if of is self.total else -self.off

    def read_otherwise(self, *, known: bool) -> bool:
        """Whether one figure more, of the other sign or, unless the parts are ``known``, less makes it fit."""
        others = [sign * one.value for one in self.beside for sign in (1, -1)]
        others += [times * one.value for one in self.addends for times in ((2,) if known else (1, 2))]
        return any(abs(self.off - value) <= self.slack for value in others)

    def is_near(self, share: float) -> bool:
        return abs(self.off) <= share * max(abs(self.computed), abs(self.total.value))


@dataclass(frozen=True, slots=True)
class _Grid:
    """Figures of a table: ``lines`` are its columns (rows, if turned), each by row (column); ``labels`` those of the
    rows. ``unread`` are cells (line and place) with more than one figure."""

    labels: Mapping[int, str]
    lines: Mapping[int, Line]
    unread: set[tuple[int, int]]


@lru_cache(maxsize=4)
def inconsistencies(draft: Draft) -> tuple[Inconsistency, ...]:
    """Faults of ``draft`` in itself, in order."""
    found: dict[tuple[int, int], Inconsistency] = {}
    tables: dict[int, list[Block]] = {}
    for block in draft.blocks:
        if block.kind == "cell":
            tables.setdefault(block.table, []).append(block)
    labels = table_labels(draft)
    for table, cells in tables.items():
        for one in _of_table(draft, cells, labels[table]):
            found.setdefault((one.start, one.end), one)
    sentences = [one for one in checkable(draft) if not one.is_cell]
    for sentence in sentences:
        for one in _change_told(sentence):
            found.setdefault((one.start, one.end), one)
    told = [one for table, cells in tables.items() for one in _told_by_cells(draft, cells, labels[table])]
    for one in _twice(sentences, told):
        found.setdefault((one.start, one.end), one)
    return tuple(sorted(found.values(), key=lambda one: (one.start, one.end)))


def with_edits(draft: Draft, edits: Sequence[tuple[int, int, str]]) -> tuple[Inconsistency, ...]:
    """Faults of ``draft`` as it reads with ``edits``, the text instead of ``[start, end)``, in order and in its own
    places. One in an edit is of all its words, and writes them all."""
    ends, moved, text, shift, at = [0], [0], "", 0, 0
    for start, end, words in edits:
        text += draft.text[at:start] + words
        at, shift = end, shift + len(words) - (end - start)
        ends.append(end)
        moved.append(shift)

    def new(place: int) -> int:
        return place + moved[bisect_right(ends, place) - 1]

    starts = [new(start) for start, _, _ in edits]

    def old(start: int, end: int, write: str = "") -> tuple[int, int, str]:
        """Span in ``draft``, that of its edit if it is in one, and what to ``write`` there."""
        n = bisect_right(starts, start)
        if n and (at := start - starts[n - 1]) < len(words := edits[n - 1][2]):
            return *edits[n - 1][:2], write and words[:at] + write + words[at + end - start :]
        return start - moved[n], end - moved[n], write

    blocks = tuple(replace(block, start=new(block.start), end=new(block.end)) for block in draft.blocks)
    found = list[Inconsistency]()
    for one in inconsistencies(replace(draft, text=text + draft.text[at:], blocks=blocks)):
        start, end, write = old(one.start, one.end, one.write)
        others = tuple(old(*other)[:2] for other in one.others)
        found.append(replace(one, start=start, end=end, write=write, others=others))
    return tuple(found)


# Tables


def _of_table(draft: Draft, cells: Sequence[Block], labels: Labels) -> Iterator[Inconsistency]:
    columns: dict[int, dict[int, _Figure]] = {}
    rows: dict[int, dict[int, _Figure]] = {}
    heads = {column: " ".join(texts) for column, texts in labels.columns.items()}
    unread = set[tuple[int, int]]()
    for cell in (cell for cell in cells if cell.col and not cell.header):
        text = draft.text[cell.start : cell.end]
        if (number := figure(text)) is not None:
            one = _Figure.of(number, cell.start, text)
            columns.setdefault(cell.col, {})[cell.row] = one
            rows.setdefault(cell.row, {})[cell.col] = one
        elif any(map(str.isdigit, text)):  # two figures without a word belong to two cells of their row
            merged = len(numbers(text)) > 1 and not any(map(str.isalpha, text))
            unread |= {(each.col, cell.row) for each in cells} if merged else {(cell.col, cell.row)}
    derived = {column for column, head in heads.items() if "%" in head or not lex.CHANGE.isdisjoint(tokens(head))}
    shares = {column for column, head in heads.items() if "%" in head or not lex.SHARE.isdisjoint(tokens(head))}
    added = {n: line for n, line in columns.items() if n not in derived or all(f.number.percent for f in line.values())}
    down, right_down = _sums(_Grid(labels.rows, added, unread))
    across, right_across = _sums(_Grid(heads, rows, {(row, column) for column, row in unread}))
    # A total that is right one way is not at fault the other way.
    yield from _faults([one for one in (*down, *across) if one.total not in right_down | right_across])
    plain = {column: line for column, line in columns.items() if column not in derived | shares}
    for column in sorted(derived & set(columns)):
        yield from _changes(columns[column], plain)
    totals = {row for row, label in labels.rows.items() if _is_total(label)}
    for column in sorted(shares & set(columns)):
        yield from _shares(columns[column], plain, totals)


def _is_total(label: str) -> bool:
    words = tokens(label)
    return bool(words) and (words[0] in lex.TOTAL or words[-1] in lex.TOTAL)


def _sums(grid: _Grid) -> tuple[list[_Sum], set[_Figure]]:
    """Totals of the grid's columns that their parts do not add up to, and those that they do. Where the same parts add
    up in other columns, each of them has to count there."""
    places = sorted({place for line in grid.lines.values() for place in line} | set(grid.labels))
    totals = {place for place in places if _is_total(grid.labels.get(place, ""))}
    filled = {place for line in grid.lines.values() for place in line}
    faults, held = list[_Sum](), set[_Figure]()
    for total in sorted(totals) if len(totals) <= _MOST_TOTALS else ():
        tried = list[list[_Sum]]()
        readings = _readings(grid, places, filled, totals, total)
        for key, line in grid.lines.items():
            whole = [each for each in readings if not any((key, place) in grid.unread for place in each)]
            tried.append([one for each in whole if (one := _sum(line, total, each))])
        right = [one for line in tried for one in line if one.fits]
        wrong = [line for line in tried if line and not any(one.fits for one in line)]
        held |= {one.total for one in right}
        proven: dict[tuple[int, ...], set[int]] = {}
        for one in right:
            proven.setdefault(one.reading, set()).update(one.proven)
        known = bool(right)
        for left in wrong if len(wrong) <= max(len(right), 1) else ():
            chosen = [one for one in left if not known or one.reading in proven]
            sure = not known or all(one.parts.keys() <= proven[one.reading] for one in chosen)
            if sure and len({round(one.computed, 9) for one in chosen}) == 1:
                near = chosen[0].is_near(_NEAR if known else _NEARER)
                if near and not chosen[0].read_otherwise(known=known):
                    faults.append(chosen[0])
    return faults, held


def _readings(
    grid: _Grid, places: Sequence[int], filled: set[int], totals: set[int], total: int
) -> list[tuple[int, ...]]:
    """Rows that a total may be the sum of: those since the last total, or since the last row without figures; all
    above it, with or without the totals among them; those below it, if it comes first. ``filled`` have figures."""
    above = [place for place in places if place < total]
    last = max((place for place in above if place in totals), default=-1)
    group = max((place for place in above if place not in filled and place in grid.labels), default=-1)
    parts = [place for place in above if place in filled]
    found = [
        [place for place in parts if place > last],
        [place for place in parts if place > group],
        [place for place in parts if place not in totals],
        [place for place in parts if place in totals or place > last],
        [place for place in parts if place in totals],
    ]
    if not parts:
        found.append([place for place in places if place > total and place in filled])
    return [each for each in dict.fromkeys(map(tuple, found)) if len(each) > 1]


def _sum(line: Line, total: int, reading: tuple[int, ...]) -> _Sum | None:
    """The sum of figures of one kind that a total is read as; None if it can't be one."""
    if total not in line:
        return None
    parts = {place: line[place] for place in reading if place in line}
    figures = (line[total], *parts.values())
    kinds = {one.number.kind for one in figures} - {""}
    if len(parts) < 2 or len({one.number.percent for one in figures}) > 1 or len(kinds) > 1:
        return None
    # Rates do not add up; shares add up to the whole.
    if line[total].number.percent and line[total].value != 100:
        return None
    beside = tuple(one for place, one in line.items() if place < total and place not in parts)
    return _Sum(line[total], parts, reading, beside)


def _faults(sums: Sequence[_Sum]) -> Iterator[Inconsistency]:
    """A fault for each sum; two sums that one figure puts right are one, at that figure."""
    left = list(sums)
    for one, other in combinations(sums, 2):
        if one not in left or other not in left:
            continue
        shared = {one.total, *one.addends} & {other.total, *other.addends}
        cells = [each for each in shared if abs(one.change(each) - other.change(each)) <= one.slack + other.slack]
        if cells:
            left = [each for each in left if each not in (one, other)]
        if len(cells) == 1:
            cell, value = cells[0], cells[0].value + one.change(cells[0])
            others = [each for each in (*one.addends, one.total, *other.addends, other.total) if each != cell]
            reason = f"With {cell.number.written(value)}, its row and its column add up; with {cell.raw}, neither does."
            yield _found("total", cell, reason, list(dict.fromkeys(others)), cell.number.written(value))
    for one in left:
        written = one.total.number.written(one.computed)
        yield _found(
            "total", one.total, f"Its parts add up to {written}, not to {one.total.raw}.", one.addends, written
        )


def _changes(derived: Line, columns: Mapping[int, Line]) -> Iterator[Inconsistency]:
    """Faults of a column with the change from one column to another, absolute or in per cent."""
    readings = list[tuple[int, list[_Row]]]()
    for first, second in permutations(columns, 2):
        places = sorted(derived.keys() & columns[first].keys() & columns[second].keys())
        trios = [(derived[place], columns[first][place], columns[second][place]) for place in places]
        for relative in (False, True):
            rows = [
                _Row(one, old, new, *_change(old, new, relative=relative))
                for one, old, new in trios
                if relative == (one.number.percent and not old.number.percent) and (old.value or not relative)
            ]
            fits, off = _weighed(rows)
            if fits > 1 or (fits and len(columns) == 2):
                readings.append((fits, off))
    best = max((fits for fits, _ in readings), default=0)
    chosen = [off for fits, off in readings if fits == best]
    if not chosen or any(len(off) >= best for off in chosen):
        return
    for row in chosen[0]:
        # The other way round, the change is the same but for its sign.
        if all(
            any(a.one is row.one and abs(abs(a.value) - abs(row.value)) <= a.one.half for a in off) for off in chosen
        ):
            written = row.one.number.written(copysign(row.value, row.one.value))
            reason = f"Between {row.a.raw} and {row.b.raw} the change is {written}, not {row.one.raw}."
            yield _found("difference", row.one, reason, (row.a, row.b), written)


@dataclass(frozen=True, slots=True)
class _Row:
    """Figure read as following from two others: its ``value`` by them, which their rounding moves by ``slack``."""

    one: _Figure
    a: _Figure
    b: _Figure
    value: float
    slack: float


def _weighed(rows: Sequence[_Row]) -> tuple[int, list[_Row]]:
    """Number of rows that speak for their reading, since they fit and would not by rounding alone, and those that do
    not fit."""
    slacks = [(row.slack + row.one.half) * _EXACT for row in rows]
    off = [row for row, slack in zip(rows, slacks) if abs(abs(row.value) - abs(row.one.value)) > slack]
    return sum(row not in off and abs(row.one.value) > slack for row, slack in zip(rows, slacks)), off


def _change(old: _Figure, new: _Figure, *, relative: bool) -> tuple[float, float]:
    """Change between two figures, and how much the rounding of the two may move it."""
    if not relative:
        return new.value - old.value, old.half + new.half
    value = (new.value - old.value) / abs(old.value) * 100
    low = max(abs(old.value) - old.half, old.half)
    return value, (new.half + abs(new.value / old.value) * old.half) / low * 100


def _shares(shares: Line, columns: Mapping[int, Line], totals: set[int]) -> Iterator[Inconsistency]:
    """Faults of a column with each row's share of a column's total."""
    readings = list[list[_Row]]()
    for line in columns.values():
        for whole in (line[total] for total in totals & line.keys() if line[total].value):
            rows = []
            for place in sorted((shares.keys() & line.keys()) - totals):
                one, part = shares[place], line[place]
                slack = (part.half + whole.half * abs(part.value / whole.value)) / abs(whole.value) * 100
                if one.number.percent and not part.number.percent:  # one may be a unit off, for all to be 100
                    rows.append(_Row(one, part, whole, part.value / whole.value * 100, slack + 2 * one.half))
            fits, off = _weighed(rows)
            if fits > max(1, len(off)):
                readings.append(off)
    for row in readings[0] if len(readings) == 1 else ():
        written = row.one.number.written(row.value)
        reason = f"{row.a.raw} of {row.b.raw} is {written}, not {row.one.raw}."
        yield _found("share", row.one, reason, (row.a, row.b), written)


# Sentences


def _figures(sentence: Checkable) -> list[_Figure]:
    return [_Figure.of(number, sentence.start, sentence.text) for number in numbers(sentence.text)]


def _change_told(sentence: Checkable) -> Iterator[Inconsistency]:
    """Fault of "from $15.3 million to $18.9 million, up 24%": of two figures of one kind and one in per cent."""
    found = _figures(sentence)
    dated = [(sentence.start + start, sentence.start + end) for _, start, end in period_spans(sentence.text)]
    amounts = [one for one in found if not one.number.percent and not any(a <= one.start < b for a, b in dated)]
    rates = [one for one in found if one.number.percent]
    words = set(tokens(sentence.text))
    if len(amounts) != 2 or len(rates) != 1 or not lex.OTHERWISE.isdisjoint(words) or not lex.DENIALS.isdisjoint(words):
        return
    (one, two), rate = amounts, rates[0]

    def between(start: int, end: int) -> list[str]:
        return tokens(sentence.text[max(start, sentence.start) - sentence.start : end - sentence.start])

    led = [between(0, one.start)[-1:], between(one.end, two.start)[-1:]]
    old, new = (one, two) if led == [["from"], ["to"]] else (two, one)
    if led not in ([["from"], ["to"]], [["to"], ["from"]]) or one.number.kind != two.number.kind or not old.value > 0:
        return
    ahead, behind = between(0, rate.start)[-_BESIDE:], between(rate.end, sentence.end)[:_BESIDE]
    near = {*ahead, *behind}
    hedged = not lex.ABOUT.isdisjoint(ahead) or any(lex.find(ahead, [phrase]) for phrase in lex.BOUNDS)
    up, down = not lex.UP.isdisjoint(near), not lex.DOWN.isdisjoint(near)
    value, slack = _change(old, new, relative=True)
    if hedged or up == down or (value > 0) != up or abs(abs(value) - abs(rate.value)) <= (slack + rate.half) * _EXACT:
        return
    written = rate.number.written(copysign(value, rate.value))
    reason = f"From {old.raw} to {new.raw} is {written}, not {rate.raw}."
    yield _found("difference", rate, reason, (old, new), written)


@dataclass(frozen=True, slots=True)
class _Told:
    """Figure with what it is said to be (stems of its words and its period), under ``headings``."""

    of: frozenset[str]
    figure: _Figure
    headings: tuple[str, ...]
    cell: bool = False


def _told_by_cells(draft: Draft, cells: Sequence[Block], labels: Labels) -> Iterator[_Told]:
    for cell in cells:
        text = draft.text[cell.start : cell.end]
        number = figure(text)
        if not cell.header and cell.col and number is not None:
            of = frozenset(content_stems(" ".join(labels.nearest(cell))))
            yield _Told(of, _Figure.of(number, cell.start, text), (), cell=True)


def _told(sentence: Checkable) -> _Told | None:
    """The figure of a sentence that has one, for a year, as it is."""
    found, words = _figures(sentence), tokens(sentence.text)
    if len(found) != 1 or not years(sentence.text) or not lex.DENIALS.isdisjoint(words):
        return None
    if not (found[0].number.percent or found[0].number.currency):
        return None
    one = found[0]
    before, after = sentence.text[: one.start - sentence.start], sentence.text[one.end - sentence.start :]
    ahead = tokens(before)[-_BESIDE:]
    hedged = not lex.ABOUT.isdisjoint(ahead) or any(lex.find(ahead, [phrase]) for phrase in lex.BOUNDS)
    if hedged or ahead[-1:] == ["by"] or not lex.POINTING.isdisjoint(words) or lex.COMPARED_WITH.search(before):
        return None
    of = frozenset(content_stems(f"{before} {after}"))
    return _Told(of, one, sentence.headings) if len(of) <= _MOST_SAID else None


def _twice(sentences: Sequence[Checkable], cells: Sequence[_Told]) -> Iterator[Inconsistency]:
    """Figures given differently of the same words and year: by two sentences, or by a sentence and the one cell that
    is so labelled. Under other headings the words have to say more."""
    before: dict[frozenset[str], list[_Told]] = {}
    for each in cells:
        before.setdefault(each.of, []).append(each)
    before = {of: each for of, each in before.items() if len(each) == 1}
    for told in filter(None, map(_told, sentences)):
        for other in before.get(told.of, []):
            said = len(told.of) - len(years(" ".join(told.of)))
            enough = said > 2 if other.headings != told.headings else said > 0
            if enough and _differ(told.figure, other.figure, bare=other.cell):
                reason = f"The draft says {told.figure.raw} here and {other.figure.raw} elsewhere, of the same."
                yield _found("twice", told.figure, reason, (other.figure,), "")
                break
        before.setdefault(told.of, []).append(told)


def _differ(one: _Figure, other: _Figure, *, bare: bool) -> bool:
    """Whether two figures of one kind are not the same, however they are rounded. A ``bare`` one of a cell, in whatever
    scale, differs only if it is near."""
    a, b = one.number, other.number
    if a.percent != b.percent or (a.kind != b.kind and not (bare and not b.kind)) or not (a.value and b.value):
        return False
    if is_one(a, b, scaled=not bare):
        return False
    amounts = (a.scale * 1000.0**step * b.value for step in range(-3, 4))
    return not bare or any(abs(amount / a.amount - 1) <= _NEAR for amount in amounts)


def _found(kind: str, at: _Figure, reason: str, others: Sequence[_Figure], write: str) -> Inconsistency:
    return Inconsistency(kind, at.start, at.end, reason, tuple((one.start, one.end) for one in others), write)  # type: ignore[arg-type]
