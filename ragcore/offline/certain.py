"""Certain values: cells and clauses whose words say all that is asked for, and nothing else.

A cell's headings and a sentence's clause are compared alike: all that they say must be asked for, and all that is asked
for must be said by them or above them. A wrong value is worse than none, since the reader copies it: if equally good
places of one document differ, there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.offline.fields import Wish, canonical, head_stems, stems_of
from ragcore.offline.figures import Figure, called, figures, is_identifier
from ragcore.offline.lists import data, listed, stems
from ragcore.offline.quotes import Quotable, marker, with_paragraph
from ragcore.offline.rows import RATES, SHARES, Cell, Row, is_count, is_excepted, scale_of, scale_told
from ragcore.offline.statements import is_statement, period_of
from ragcore.protocols import FieldValue
from ragcore.text.markdown import escape, escape_lines
from ragcore.text.numbers import Number, lengths, numbers, same_figure, span_of
from ragcore.text.periods import (
    called_year,
    date_spans,
    is_part,
    moments_in,
    month_spans,
    months_of_part,
    names_date,
    without_parts,
    years,
)
from ragcore.text.units import currencies
from ragcore.text.words import STOP_WORDS, content_stems, name_stems, stem, tokens, without_brackets
from ragcore.types.question import Question
from ragcore.types.report import KnownFacts, Period, Statement

_UNDATED: Period = (0, 0, 0)
FINAL_PUNCTUATION = " .:;,…–—-"
_TOTAL = frozenset({"total", "totals"})
_UNSCALED = RATES | SHARES | {"per"}  # rows beside a table's scale
FIGURE_WORDS = 4  # words of a figure with its additions
_LONGEST_CELL = 120  # characters of a cell with a name or a few words
LONGEST = 1200  # characters of a sentence, with its list


@dataclass(frozen=True, slots=True)
class Given:
    """Value in a document: its ``figure``, the words ``said`` with it, their ``marker``, the ``period`` stated there,
    and ``rank``, higher for a statement of the whole; ``text`` is all of it as Markdown. What isn't
    ``certain`` is only likely."""

    quote: Quotable
    figure: str
    said: str
    marker: str
    text: str
    period: Period = _UNDATED
    rank: int = 0
    cell: Cell | None = None
    certain: bool = True

    @property
    def value(self) -> FieldValue:
        return FieldValue(self.figure, self.said, self.marker, self.period, self._scale, self.certain)

    @property
    def _scale(self) -> str:
        """Words that may give the scale of its cell; "" without one, or where the cell is beside the scale."""
        row, source = self.quote.row, self.quote.source
        if row is None or self.cell is None:
            return ""
        headers = f"{row.name} {self.cell.column}"
        told = scale_told(source, row)
        unscaled = not _UNSCALED.isdisjoint(tokens(without_brackets(headers)))
        if unscaled or is_excepted(told, headers) or is_count(source, row, self.cell, told):
            return ""
        columns = (cell.column for cell in (self.cell, *row.cells))
        return " ".join((row.name, *columns, row.table, scale_of(source, row)[1]))

    @property
    def narrowed(self) -> Quotable:
        """Quoted row with only the value's cell."""
        assert self.cell is not None
        return self.quote.narrowed(self.cell, self.said)


def of_words(quote: Quotable, figure: str = "") -> Given:
    """The words of a quote, or ``figure`` in them, as the value."""
    return Given(quote, figure, quote.text, quote.marker, f"“{escape_lines(quote.text)}” {quote.marker}")


def is_interim(asked: Wish, doc_id: str, known: KnownFacts) -> bool:
    """Whether a value of a year is asked of a document that covers part of one."""
    return asked.annual and doc_id in known.interim


def is_derived(question: Question) -> bool:
    """Whether what is asked for is computed from several figures."""
    return question.changes or not listed("values", "derived").isdisjoint(tokens(question.main))


def certain_values(asked: Wish, found: Sequence[Quotable], known: KnownFacts) -> list[Given]:
    """Best certain values of one document: cells before sentences, the latest period, the highest rank."""
    if not found or is_interim(asked, found[0].source.doc_id, known):
        return []
    latest = latest_of(found, known)
    given = [one for quote in found if quote.row is not None and (one := of_row(asked, quote, quote.row, known))]
    if not asked.years:
        given = [one for one in given if not one.period[0] or latest in (0, one.period[0]) or asked.sort == "date"]
    given = given or list(_of_sentences(asked, found, latest))
    last = max((one.period[: 3 if asked.sort == "date" and asked.annual else 1] for one in given), default=())
    given = [one for one in given if one.period[: len(last)] == last]
    return [one for one in given if one.rank == max(other.rank for other in given)]


def agreed(asked: Wish, given: Sequence[Given]) -> Given | None:
    """First of ``given`` if all give the same value; of dates, the days before the years that are theirs."""
    days = {one.period[0] for one in given if one.period[2]}
    given = [one for one in given if one.figure != str(one.period[0]) or one.period[0] not in days]
    first = given[0] if given else None
    return first if first is not None and all(gives_same(asked, one, first) for one in given) else None


def gives_same(asked: Wish, one: Given, other: Given) -> bool:
    """Whether two values are the same: day, figure, or words, of which one may go on ("KPMG", "KPMG LLP")."""
    if asked.sort == "date":
        return one.period == other.period
    if asked.sort != "words":
        return same_figure(one.figure, other.figure)
    short, long = sorted((tokens(each.figure or each.said) for each in (one, other)), key=len)
    return long[: len(short)] == short


def latest_of(found: Sequence[Quotable], known: KnownFacts) -> int:
    """Latest year of the statements of one document, else the one that most tables compare with the one before; 0 if
    none does."""
    tables = {(q.row.table, tuple(c.column for c in q.row.cells)) for q in found if q.row is not None}
    last: Counter[int] = Counter()
    for table, columns in tables:
        own = {period[0] for column in columns if (period := period_of(column)) is not None}
        lures = {stem(word) for word in tokens(f"{table} {' '.join(columns)}")} & stems("names", "others")
        if len(own) > 1 and max(own) - min(own) < 3 and not lures:
            last[max(own)] += 1
    return known.year_of(found[0].source.doc_id) or max(last, key=lambda year: (last[year], year), default=0)


def _matches(asked: Wish, called: frozenset[str], around: frozenset[str], *, whole: bool = False) -> bool:
    """Whether words that name a value, ``called``, with those above it, ``around``, are what is asked for."""
    called, around = canonical(called), canonical(around)
    names = ((canonical(name.own), canonical(name.all)) for name in asked.names if whole or not name.stated)
    return any(own <= called <= everything <= called | around for own, everything in names)


# Rows


def of_row(asked: Wish, quote: Quotable, row: Row, known: KnownFacts, *, named: bool = True) -> Given | None:
    """The one cell of ``row`` that matches, if ``named`` by its headings, in the requested years or latest period."""
    if is_in_words(asked, row):
        return None
    statement = _statement(quote, row, known)
    fits = [cell for cell in row.cells if is_of_sort(asked, row, cell)]
    if named:
        fits = [cell for cell in fits if _fits(asked, quote, row, cell, statement)]
    else:
        above = frozenset(content_stems(f"{row.name} {row.table} {' '.join(quote.source.section[-1:])}"))
        fits = [cell for cell in fits if _is_plain(asked, cell) and not _is_of_other(asked, row, cell, above, row.head)]
    # Each amount has its share of sales beside it, under the same header.
    fits = [cell for cell in fits if cell.text.rstrip(" )").endswith("%") == asked.share] or fits
    fits = _of_part(asked, row, fits)
    dated = [(period, cell) for cell in fits if (period := period_of(cell.column)) is not None]
    if not dated:
        plain = len(row.cells) == 1 or (len(fits) == 1 and stems_of(fits[0].column) & asked.words)
        dated = [(_UNDATED, fits[0])] if fits and plain and not asked.years else []
    if asked.years:
        dated = [one for one in dated if called_year(one[0], quote.source.fiscal) in asked.years]
    dated = [one for one in dated if one[0] == max(period for period, _ in dated)]
    if len(dated) != 1:
        return None
    ((period, cell),) = dated
    exact = bool(_TOTAL & set(tokens(row.head))) == bool(_TOTAL & set(tokens(asked.piece)))
    figure = cell.text
    if asked.sort == "date" and len(spans := date_spans(figure) or month_spans(figure)) == 1:
        figure, period = figure[slice(*spans[0])], moments_in(figure)[0]
    about = row.table or (statement.name if statement is not None else "")
    return replace(of_cell(quote, row, cell, figure, about), period=period, rank=0 if statement is None else 1 + exact)


def of_cell(quote: Quotable, row: Row, cell: Cell, figure: str, about: str) -> Given:
    """``figure``, the words of a cell, under the name of its table, ``about``, with the words that give its scale."""
    number, scale = scale_of(quote.source, row)
    note = f" ({escape(scale)} {marker(quote.source, number, number)})" if scale else ""
    cited = marker(quote.source, cell.number, cell.number)
    where = f"{escape(name)}: " if (name := about.rstrip(FINAL_PUNCTUATION)) else ""
    text = f"**{escape(figure)}** — {where}“{escape(row.of(cell))}” {cited}{note}"
    return Given(quote, figure, row.of(cell), cited, text, period_of(cell.column) or _UNDATED, 0, cell)


def _of_part(asked: Wish, row: Row, fits: list[Cell]) -> list[Cell]:
    """Cells of the part of a year that is asked for, where the row has several: "three months ended" of a quarter."""
    wanted = months_of_part(asked.piece)
    parts = {cell: months_of_part(f"{row.table} {cell.column}") for cell in fits}
    return [cell for cell in fits if parts[cell] & wanted] if wanted and any(parts.values()) else fits


def _statement(quote: Quotable, row: Row, known: KnownFacts) -> Statement | None:
    """Statement of the whole that ``quote`` is in: one of those known, or by the table's title."""
    own = [one for one in known.statements if one.doc_id == quote.source.doc_id]
    title = f"{' '.join(quote.source.section[-1:])} {row.table}"
    if not own and is_statement(title):
        return Statement(quote.source.doc_id, quote.start, quote.start + 1, row.table)
    return next((one for one in own if one.start <= quote.start < one.end), None)


def is_of_sort(asked: Wish, row: Row, cell: Cell) -> bool:
    """Whether a cell holds the requested kind of value; a name or words count only in the sole cell of its row."""
    if asked.sort in ("amount", "count") or (len(row.cells) > 1 and asked.sort == "words"):
        if cell.column:
            return any(character.isdigit() for character in cell.text)
        return any(_is_quantity(asked, cell.text, number) for number in numbers(cell.text)[:1])
    if asked.sort in ("date", "duration"):
        return len(row.cells) == 1 and bool(names_date(cell.text) if asked.sort == "date" else lengths(cell.text))
    return len(row.cells) == 1 and len(cell.text) <= _LONGEST_CELL and any(map(str.isalnum, cell.text))


def _is_quantity(asked: Wish, text: str, number: Number) -> bool:
    """Whether the first number in a form's line may be an amount, or a count, which is no money: no year, identifier,
    time of day or number of something named before it ("see Section 4")."""
    start, end = span_of(text, number)
    before = set(tokens(text[:start])) - STOP_WORDS - listed("sentences", "neutral")
    named = bool(before) and not currencies(text[:start])
    time = text[end : end + 1] == ":"
    other = years(number.raw) or is_identifier(number) or (asked.sort == "count" and number.currency)
    return not (named or time or other)


def _fits(asked: Wish, quote: Quotable, row: Row, cell: Cell, statement: Statement | None) -> bool:
    """Whether the headings of ``cell`` are those requested, and neither they nor its group and table are about
    something else."""
    whole, is_total = statement is not None, bool(_TOTAL & set(tokens(row.head)))
    title, group = frozenset(content_stems(row.table)), head_stems(row.name) - head_stems(row.head)
    named, by, parts = without_brackets(row.table.lower()).replace(" per ", " by ").partition(" by ")
    # Of "Releases to air and to water by plant" only the plant is said of every cell.
    over = frozenset(content_stems(parts)) if {",", "and", "or"} & {*tokens(named), *named} else title
    known = stems("names", "beside") | stems("names", "columns") | frozenset(content_stems(asked.unit))
    known |= over
    if whole:  # the header over all columns is the company, not a part of it
        known = known.union(title, frozenset.intersection(*(frozenset(content_stems(one.column)) for one in row.cells)))
    column = head_stems(without_parts(cell.column)) - (known - asked.words)
    above = group if whole else group | title | frozenset(content_stems(" ".join(quote.source.section[-1:])))
    head = _plain(row.head) if whole else row.head
    if _is_of_other(asked, row, cell, above, f"{head} {row.name if is_total and not whole else ''}"):
        return False
    around = over | group | frozenset(content_stems(" ".join((quote.source.title, *quote.source.section))))
    heads = {head_stems(row.head), head_stems(head), head_stems(row.head) - name_stems(row.head) | quote.header}
    if row.is_form_line:
        said = tokens(row.head)
        if said == tokens(asked.heading):
            return True
        if asked.sort != "words":
            heads |= {own - (known - asked.words) for own in heads}
        elif said and said[0] in STOP_WORDS:  # "For the plaintiff: Thorne & Pell" names somebody else
            return False
    if by:
        heads.add(stems_of(named.rpartition(" of ")[2] if is_total else named) | head_stems(row.head))
    return any(own and _matches(asked, own | column, around, whole=whole) for own in heads)


def is_in_words(asked: Wish, row: Row) -> bool:
    """Whether a form's line says what is asked for in words, with other figures: "58 sites in 11 countries"."""
    if not row.is_form_line or len(tokens(value := row.cells[0].text)) <= FIGURE_WORDS:
        return False
    several = len(date_spans(value)) > 1 if asked.sort == "date" else len(numbers(value)) > 1
    return several and asked.sort in ("amount", "count", "duration", "date")


def _is_plain(asked: Wish, cell: Cell) -> bool:
    """Whether a cell is one number, a percentage if that is asked for, and no money if that is not; any day or length
    of time."""
    if asked.sort in ("date", "duration"):
        return True
    found, money = numbers(cell.text), asked.sort != "count" and (not asked.unit or currencies(asked.unit))
    return len(found) == 1 and asked.share == ("%" in cell.text) and bool(money or not found[0].currency)


def _is_of_other(asked: Wish, row: Row, cell: Cell, above: frozenset[str], head: str) -> bool:
    """Whether a cell compares others, or its ``head`` and the words ``above`` it are about a part, or something else,
    that is not asked for."""
    compares = listed("names", "compares") & {*tokens(cell.column), "%" if "%" in cell.column else ""}
    return bool(
        (compares and not asked.share)
        or listed("names", "narrows") & set(tokens(head)) - set(tokens(f"{asked.heading} {asked.piece}"))
        or is_part(f"{row.table} {cell.column}") > is_part(asked.piece)
        or ((above | head_stems(cell.column)) & (stems("names", "others") | stems("names", "parts"))) - asked.words
    )


def _plain(head: str) -> str:
    """Row header in a statement without a tail that leaves the amount unchanged: "Long-term debt, less current
    portion"."""
    for tail in data()["rows"]["tails"]:
        place = head.lower().find(tail)
        head = head[:place] if place > 0 else head
    return head.rstrip(" ,(")


# Sentences


def _of_sentences(asked: Wish, found: Sequence[Quotable], latest: int) -> Iterator[Given]:
    """Figures whose clause says only what is asked for."""
    for quote in found:
        # A list item: its subject is in the lead-in.
        if quote.row is not None and not is_in_words(asked, quote.row):
            continue
        quote = quote.alone
        if len(quote.text) > LONGEST or quote.text[:1].islower():
            continue
        above = (quote.source.title, *quote.source.section, with_paragraph(quote))
        around = frozenset(content_stems(" ".join(above)))
        for figure in figures(asked, quote, latest):
            words = called(asked, quote, figure)
            # What is counted follows its number.
            counted = asked.sort != "count" or any(
                canonical(name.own) & canonical(content_stems(figure.after)) for name in asked.names
            )
            if words is not None and counted and _matches(asked, words, around, whole=True):
                yield of_figure(quote, figure)


def of_figure(quote: Quotable, figure: Figure) -> Given:
    given = of_words(quote, figure.text)
    return replace(given, text=f"**{escape(figure.text)}** — {given.text}", period=figure.period)
