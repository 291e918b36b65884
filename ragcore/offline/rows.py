"""Quotable table rows: a row's name, and the cells of the columns that a question names.

A source is known only by its units: consecutive cells on a line of text form a row, and a cell's label is ``row ·
column``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile

from ragcore.text import lexicon as lex
from ragcore.text.numbers import Number, figure, scale_note, scale_words
from ragcore.text.periods import column_years, columns_of_span, dates_in, days_in, is_part, without_dates, years
from ragcore.text.sentences import DOT_LEADERS, PAGE_COLUMN, labelled
from ragcore.text.sentences import says_something as is_sentence
from ragcore.text.units import currencies
from ragcore.text.words import content_stems, cover, tokens
from ragcore.types import FiscalYear, Source

_LONGEST_SCALE = 160
_ENDED = re.compile(r"\bended\b", re.IGNORECASE)
# A percent sign that is not of a number: "% Change", not "3.25% Senior Notes".
_PERCENT = re.compile(r"(?<!\d)(?<!\d\s)%")
_EXCEPTION = re.compile(r"\b(?:except\w*|exclud\w*|unless|other than)\b", re.IGNORECASE)
_BETWEEN_EXCEPTIONS = re.compile(r"[,;]|\b(?:and|or)\b", re.IGNORECASE)
SHARES = frozenset({"share", "shares"})
RATES = frozenset({"percent", "percentage", "ratio"})  # words of rows and columns beside a table's scale
LONG_ROW = 160  # characters of a row that are shown
_LONGEST_FIGURE = 60
_ITEM = re.compile(r"\(\w{1,4}\)\s")
_CUT = re.compile(r"[^\W\d]\s\d{1,2}\.$")
_DECIMAL = re.compile(r"\d\.\d")
_LONGEST_CAPTION = 12  # words of a line in brackets, and of the one above it that it names
_SECTION = re.compile(r"§+\s?[\w.-]*\d[\w.-]*")
_FIGURE = re.compile(r"(?<![\w§.])[$€£]?\d")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question says of columns: its ``words`` (stems), ``years`` and ``days`` (year, month, day), the ``spans``
    of time that it is about, in months, and their ``quarters``; ``changes``: it asks how a quantity changed."""

    words: frozenset[str]
    years: frozenset[int]
    days: frozenset[tuple[int, int, int]]
    spans: frozenset[int] = frozenset()
    quarters: frozenset[int] = frozenset()
    changes: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Row value: unit number, column header and text."""

    number: int
    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """Table row. ``first``..``last`` are the units to cite, ``text`` their words.
    ``head`` is the row's own header, ``name`` adds its group, ``table`` is the table's name, and ``corner`` is the cell
    over the headers, which may be its name too. ``named`` are the indexes in ``cells`` of the columns that the question
    names, empty if none."""

    first: int
    last: int
    text: str
    head: str
    name: str
    table: str
    cells: tuple[Cell, ...]
    named: tuple[int, ...]
    corner: str = ""

    @property
    def is_form_line(self) -> bool:
        """Whether it is a label with its value."""
        return len(self.cells) == 1 and not self.cells[0].column

    @property
    def meant(self) -> tuple[Cell, ...]:
        """Cells of the columns that the question names, else all."""
        return tuple(self.cells[place] for place in self.named) or self.cells

    @property
    def latest(self) -> tuple[Cell, ...]:
        """Meant cells of the latest year, all where no column is of one; changes, which are of two, and shares beside
        amounts are none."""
        dated = [(min(named), cell) for cell in self.meant if len(named := years(cell.column)) == 1]
        plain = [pair for pair in dated if "%" not in pair[1].text] or dated
        last = max((year for year, _ in plain), default=0)
        return tuple(cell for year, cell in plain if year == last) or self.meant

    @property
    def amounts(self) -> list[Number]:
        """Figures of the meant cells, without percentages."""
        return [one for cell in self.meant if (one := figure(cell.text)) is not None and not one.percent]

    @property
    def shared_scale(self) -> str:
        """Header with the scale of all columns ("2015 (in thousands)"): the one that has a scale where all are of
        periods; "" for none, since a column of a quantity has its own."""
        columns = [cell.column for cell in self.cells]
        scaled = {words: column for column in columns if (words := scale_words(column))}
        alike = len(scaled) == 1 and all(years(column) or is_part(column) for column in columns)
        return scaled.popitem()[1] if alike else ""

    def scale(self, source: Source) -> float | None:
        """Scale of its figures by its headers, or by the words before its table; None if nothing gives it."""
        headers = " ".join((self.name, self.table, *(cell.column for cell in self.meant), self.shared_scale))
        return scale_note(headers) or scale_note(scale_of(source, self)[1])

    def of(self, cell: Cell) -> str:
        """One cell with its headers, as quoted."""
        return _pair(", ".join(part for part in (self.name, cell.column) if part), cell.text)


def row_of(source: Source, asked: Asked, first: int, last: int) -> Row | None:
    """Row as ``row header — column: value; …``. If the question names columns only those are shown; if it names one,
    and part of the row's name, only that cell is cited.

    None for rows without a labelled value (header rows, group headings), rows of dashes and rows of a table of
    contents.
    """
    units = [(number, source.units[number - 1]) for number in range(first, last + 1)]
    labelled = [(number, _without_leaders(unit.label)) for number, unit in units if unit.label]
    leads = DOT_LEADERS.search(" ".join(source.words(number, number) for number, _ in units)) is not None
    # Leader dots also occur before the figures of a table, but those have headers.
    if not labelled or (leads and not all(" · " in label for _, label in labelled)):
        return None
    head = _without_leaders(next((source.words(number, number) for number, unit in units if not unit.label), ""))
    whole = labelled[0][1].partition(" · ")[0]
    # The label includes the row's group ("Footwear / North America"), its first cell does not.
    # The label also omits a footnote mark.
    own = whole.rpartition(" / ")[2]
    name = whole if head and (whole.endswith(head) or (own and head.startswith(f"{own} ("))) else head
    columns = [label.removeprefix(name).removeprefix(" · ").strip() for _, label in labelled]
    if all(PAGE_COLUMN.fullmatch(column) for column in columns):
        return None
    if _SECTION.fullmatch(name) and not any(_FIGURE.search(source.words(number, number)) for number, _ in labelled):
        return None  # table of contents without page numbers
    head, name = head.rstrip(" :"), name.rstrip(" :")
    cells = tuple(Cell(number, column, source.words(number, number)) for (number, _), column in zip(labelled, columns))
    dated = bool(years(name) & asked.years)  # the row is the year, and its columns are not
    plain = dated or not any(map(column_years, (name, *columns)))
    named = tuple(named_columns(columns, replace(asked, years=frozenset()) if plain else asked, source.fiscal))
    if named and asked.changes and (rates := [n for n, column in enumerate(columns) if is_change(column)]):
        named = tuple(sorted({*named, *columns_of_span(columns, rates, asked.spans, asked.quarters)}))
    if not any(says_something(cells[i]) for i in named or range(len(cells))):
        return None
    row = Row(first, labelled[-1][0], "", head, name, table_name(source, first), cells, named)
    if len(named) == 1 and (dated or cover(content_stems(name), asked.words) > 0):
        cell = cells[named[0]]
        return replace(row, first=cell.number, last=cell.number, text=row.of(cell))
    pairs = "; ".join(_pair(cell.column, cell.text) for cell in row.meant)
    return replace(row, text=f"{name} — {pairs}" if name else pairs)


def form_line(number: int, text: str) -> Row | None:
    """Row of a label with its value, ``text`` of unit ``number``; None for other text, such as a value that is cut
    behind the number of its first item ("Endpoints: Phase II 1.")."""
    label, value = labelled(text)
    return _with_label(number, number, label, value) if label and not _CUT.search(value) else None


def _with_label(first: int, last: int, label: str, value: str) -> Row:
    return Row(first, last, _pair(label, value), label, label, "", (Cell(first, "", value),), ())


def captioned(source: Source, lines: Sequence[tuple[int, int]]) -> dict[int, Row]:
    """Rows of short ``lines`` by their first units, each called by what stands in brackets below it, as on the cover of
    a filing: "Delaware", "(State of incorporation)". Of several over several in brackets each has its own."""
    items = list[tuple[int, int, str]]()
    for first, last in lines:
        unit = source.units[first - 1]
        text = source.words(first, last) if unit.kind != "cell" and not unit.heading else ""
        if text and items and items[-1][2].startswith("(") and ")" not in items[-1][2]:
            first, _, begun = items.pop()
            text = f"{begun} {text}"
        items.append((first, last, text))
    runs = [(kind, list(run)) for kind, run in groupby(items, lambda item: _is_caption(item[2]))]
    rows = dict[int, Row]()
    for (_, above), (in_brackets, below) in pairwise(runs):
        named = list(zip(above[-len(below) :], below)) if in_brackets else []
        for (first, _, value), (_, last, caption) in named if all(_is_named(one[2]) for one, _ in named) else ():
            rows[first] = _with_label(first, last, " ".join(re.sub(r"[()]", " ", caption).split()), value)
    return rows


def _is_caption(text: str) -> bool:
    """Whether a line is all in brackets and may name what is above it: a few words, no day, item of a list or scale."""
    short = len(text) > 2 and len(text.split()) <= _LONGEST_CAPTION and text[0] + text[-1] == "()"
    return short and text[1].isupper() and not (_ITEM.match(text) or days_in(text) or scale_words(text))


def _is_named(text: str) -> bool:
    """Whether a line may have its caption below it: a few words that say nothing alone."""
    short = len(text.split()) <= _LONGEST_CAPTION and any(map(str.isalnum, text))
    return short and not text.endswith((":", "—")) and not is_sentence(text)


def scale_of(source: Source, row: Row) -> tuple[int, str]:
    """Unit of the source that gives the scale of ``row`` (``in millions``), the nearest one before it, and its words;
    (0, "") if the row's table or column gives it already, or nothing does. A table above the row's heading has
    its own."""
    if scale_words(" ".join((row.table, row.name, *(cell.column for cell in row.cells)))):
        return 0, ""
    headed = False
    for number in range(row.first - 1, 0, -1):
        if headed and source.units[number - 1].kind == "cell":
            break
        headed |= source.units[number - 1].heading
        words = source.words(number, number)
        if len(words) <= _LONGEST_SCALE and scale_words(words):
            return number, words
    return 0, ""


def is_share(text: str) -> bool:
    """Whether a row's header or a question is of a share or ratio: "% of revenues" is no revenue."""
    return "%" in text or not ((RATES | lex.SHARE) - SHARES).isdisjoint(tokens(text))  # those of a company are none


def is_rate(headers: str) -> bool:
    """Whether a cell under ``headers`` is beside its table's scale: a share, a ratio or an amount per share."""
    headed = frozenset(tokens(headers))
    return (
        bool(_PERCENT.search(headers))
        or not RATES.isdisjoint(headed)
        or ("per" in headed and not SHARES.isdisjoint(headed))
    )


def unit_of(source: Source, row: Row, cell: Cell) -> str:
    """Scale of ``cell``, in the words of its table's title, of a header that stands for all or of the text before it;
    "" if the cell or its headers give it, it is in words, a share or an amount per share, or the scale excepts it."""
    headers, digits = f"{row.name} {cell.column}", any(map(str.isdigit, cell.text))
    in_words = not digits and any(map(str.isalpha, cell.text))
    if is_rate(headers) or "%" in cell.text or in_words or scale_words(headers):
        return ""
    words = scale_told(source, row)
    said = "" if is_excepted(words, headers) or is_count(source, row, cell, words) else scale_words(words)
    before, _, scale = said.rpartition(" in ")
    return f"in {scale}" if len(before.split()) > 1 else said


def scale_told(source: Source, row: Row) -> str:
    """Words with the scale of the table of ``row``, and what is excepted from it: its title, a header that stands for
    all columns or the text before it; "" for none."""
    every = (row.table, row.shared_scale, scale_of(source, row)[1])
    return next((words for words in every if scale_words(words)), "")


def is_count(source: Source, row: Row, cell: Cell, words: str) -> bool:
    """Whether ``cell`` is no amount in the money of its table's scale, ``words``: a whole number, where most figures of
    the table have decimals."""
    if not currencies(words) or currencies(cell.text) or _DECIMAL.search(cell.text):
        return False
    around = (range(row.first, 0, -1), range(row.first + 1, len(source.units) + 1))
    of_table = (takewhile(lambda number: source.units[number - 1].kind == "cell", side) for side in around)
    texts = [source.words(number, number) for side in of_table for number in side]
    figures = [text for text in texts if any(map(str.isdigit, text)) and "%" not in text and not years(text)]
    return sum(bool(_DECIMAL.search(text)) for text in figures) * 2 > len(figures)


def is_excepted(words: str, headers: str) -> bool:
    """Whether a cell under ``headers`` is of what is excepted from the scale that ``words`` give ("in thousands, except
    average amounts"); amounts per share only where they are headed so."""
    said = scale_words(words)
    exception = _EXCEPTION.search(words) if said else None
    if exception is None:
        return False
    excepted = words[exception.end() :].partition(")")[0].replace(said, ",")
    own, per = set(content_stems(headers)), "per" in tokens(headers)
    phrases = (one for one in _BETWEEN_EXCEPTIONS.split(excepted) if per or "per" not in tokens(one))
    return any(not own.isdisjoint(content_stems(one)) for one in phrases)


def named_columns(columns: Sequence[str], asked: Asked, fiscal: FiscalYear | None) -> list[int]:
    """Columns of the days or years (`column_years`) that the question names, of these the ones of its span of time and
    quarter, without a span those not shorter than others, and, of several or without a year, those whose rarest words
    it has; empty if none."""
    days = asked.days | {(0, month, day) for _, month, day in asked.days}  # the year may stand over the column
    kept = [n for n, column in enumerate(columns) if any((y, m, d) in days for m, d, y in dates_in(column))]
    kept = kept or [
        n for n, column in enumerate(columns) if not asked.years or column_years(column, fiscal) & asked.years
    ]
    some, kept = len(kept), columns_of_span(columns, kept, asked.spans, asked.quarters)
    own = [frozenset(content_stems(without_dates(columns[n]))) - set(map(str, column_years(columns[n]))) for n in kept]
    counts = Counter(word for words in own for word in words)
    keys = [{word for word in words if counts[word] == min(map(counts.__getitem__, words))} for words in own]
    shared = {word for word, count in counts.items() if count > 1 and count == len(kept)}
    named = [n for n, key in zip(kept, keys) if key - shared <= asked.words and (key - shared or asked.years)]
    return named or (kept if asked.years or len(kept) < some else [])


def is_change(column: str) -> bool:
    """Whether a column is of changes."""
    return not lex.CHANGE.isdisjoint(tokens(column))


def says_something(cell: Cell) -> bool:
    """Whether a cell is more than a dash."""
    return any(character.isalnum() for character in cell.text)


def in_figures(cell: Cell) -> bool:
    """Whether a cell is short enough for a table: a figure or a few words, not a sentence."""
    return len(cell.text) <= _LONGEST_FIGURE


def parts_of_column(column: str) -> tuple[str, str]:
    """Column header split into name and period: ``Unaudited · 13 Weeks Ended · January 28, 2023``."""
    parts = [part.strip() for part in column.split(" · ")]
    periods = [part for part in parts if years(part) or is_part(part) or _ENDED.search(part)]
    return ", ".join(part for part in parts if part not in periods), ", ".join(periods)


def brief(text: str, longest: int = LONG_ROW) -> str:
    """``text`` cut between words to about ``longest`` characters."""
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"


def _without_leaders(text: str) -> str:
    return " ".join(DOT_LEADERS.sub(" ", text).split())


def _pair(name: str, value: str) -> str:
    return f"{name}: {value}" if name else value


def table_name(source: Source, first: int) -> str:
    """Start of the row's line: its table's title, with the section if the title is only a unit."""
    line = source.text[source.line_start(first) - source.start : source.units[first - 1].start - source.start]
    title = " ".join(line.rpartition(" — ")[0].split()) if " — " in line else ""
    if (not title or title.startswith("(")) and source.section:
        title = f"{source.section[-1]} {title}".strip()
    return title
