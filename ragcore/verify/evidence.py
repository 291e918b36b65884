"""Evidence of a claim: the words of its citations, which it must agree with, and their context."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Literal

from ragcore.text import lexicon as lex
from ragcore.text.numbers import Number, numbers, scale_note
from ragcore.text.periods import MONTHS, blanked, date_spans, fiscal_of, years
from ragcore.text.sentences import sentence_spans
from ragcore.text.units import currencies, unit_of_label
from ragcore.text.words import BRACKETED, STOP_WORDS, content_stems, tokens
from ragcore.types import EVERYTHING, Cell, Citation, ClaimStatus, Document, Element, FiscalYear, Scope, Table
from ragcore.types.table_labels import LabelledTable, RowLabel, elements_within

Meaning = Literal["gain", "loss", "deduction", ""]

_LINE, _LINES = 120, 30  # characters of a line that names a period, and elements that it heads
_BEFORE = 400  # characters before a table that may give its scale
_OF_PERIODS = STOP_WORDS | lex.SPANS | lex.BESIDE_FIGURES | frozenset(MONTHS)
_PLAIN_BRACKETS = re.compile(r"\([^()\d]*\)")


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check: a verdict, and its reason in words ("" without one). ``wrong`` are the figures of the claim
    it concerns, as written. ``worded``: only the wording is against the claim, which a judge may overrule. ``contrast``
    is a word of the claim and the one that the evidence has against it, ("", "") if it is about none."""

    status: ClaimStatus
    reason: str
    wrong: tuple[str, ...] = ()
    worded: bool = False
    contrast: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Sense:
    """Meaning of a row's or column's amounts, printed ``plain`` and ``bracketed``; ``words`` are those of its name's
    brackets that tell it."""

    plain: Meaning
    bracketed: Meaning
    words: frozenset[str]


def sense_of(name: str) -> Sense:
    """Sense of the amounts called ``name``: by its last telling noun before words that narrow it, and by the bracketed
    one; "" if the name does not tell."""
    inside = tokens(" ".join(_PLAIN_BRACKETS.findall(name)))
    nouns = takewhile(lambda word: word not in lex.NARROWED_BY, tokens(_PLAIN_BRACKETS.sub(" ", name)))
    found = [meaning for word in nouns if (meaning := _meaning(word))]
    both = "gain" in found and "loss" in found  # "profit or loss": brackets decide which
    plain: Meaning = "gain" if both else found[-1] if found else ""
    telling = list(filter(_meaning, inside))
    other: Meaning = _meaning(telling[0]) if telling else ""
    if plain and other and plain != other:
        return Sense(plain, other, frozenset(telling))
    return Sense(plain, "loss" if plain == "gain" else plain, frozenset())


def _meaning(word: str) -> Meaning:
    return "gain" if word in lex.GAIN else "loss" if word in lex.LOSS else "deduction" if word in lex.DEDUCTED else ""


@dataclass(frozen=True)
class Grid:
    """Context shared by one table's figures: the names of its rows and columns, and the notes around them. ``scale``
    and ``currency`` are those it states for all of them; ``fiscal`` is its document's `fiscal_year`, if columns need
    it."""

    rows: tuple[RowLabel, ...]
    columns: tuple[str, ...]
    notes: str
    scale: float | None
    currency: str
    fiscal: FiscalYear | None = None


@dataclass(frozen=True)
class CitedCell:
    """Cited cell: its own text and its headers, which are empty for a cell that is itself a header."""

    text: str
    label: str
    named: RowLabel
    column: str
    grid: Grid

    @property
    def row(self) -> str:
        """Group and header of its row."""
        return self.named.name

    @property
    def in_units(self) -> bool:
        """Whether its table's scale does not apply: earnings per share, and other "per" figures that the table exempts
        ("in thousands, except revenue per membership")."""
        label, words = self.label.lower(), tokens(self.row)
        if any(phrase in label for phrase in lex.IN_UNITS):
            return True
        return "except" in self.grid.notes.lower() and "per" in words[:-1] and "cent" not in words

    @property
    def sense(self) -> Sense:
        """Meaning of its sign, by the name of its row, or of its column if only that tells."""
        named = (sense_of(name) for name in (self.named.head, self.row, self.column))
        return next((found for found in named if found.plain or found.bracketed), Sense("", "", frozenset()))

    @property
    def meaning(self) -> str:
        """Word "loss" for a bracketed amount in a row of gains, whose name does not say so; else "" (none)."""
        negative = any(number.value < 0 for number in numbers(self.text))
        return "loss" if negative and (self.sense.plain, self.sense.bracketed) == ("gain", "loss") else ""

    @property
    def scale(self) -> float | None:
        return 1.0 if self.in_units else scale_note(self.label) or self.grid.scale

    @property
    def currency(self) -> str:
        named = currencies(self.label)
        return next(iter(named)) if len(named) == 1 else self.grid.currency


@dataclass(frozen=True)
class Figure:
    """Number in the evidence. ``scale`` is its table's; ``cell`` is None in prose, where ``sentence`` is the index of
    its sentence in the evidence (-1: in a label). ``currency`` is the number's own, or its table's for bare figures;
    ``part`` are the words around it in its sentence."""

    number: Number
    scale: float | None
    cell: CitedCell | None = None
    sentence: int = -1
    currency: str = ""
    part: str = ""

    @property
    def valued(self) -> bool:
        """Whether it is a value, not part of a label."""
        return self.cell is not None or self.sentence >= 0


@dataclass(frozen=True)
class Evidence:
    """Evidence of one claim's citations. ``words`` may support anything; ``around`` (titles, sections, the rest of the
    row) only names and periods, of which ``headings`` are those within the document, the nearest first, a line each;
    ``near`` is the surrounding passage. ``quotes`` holds each citation's quote; ``sentences`` the cited prose;
    ``cells`` every cited table cell."""

    words: str
    around: str
    near: str
    quotes: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    cells: tuple[CitedCell, ...] = ()
    headings: str = ""

    @cached_property
    def own_headings(self) -> list[str]:
        """Lines of the headings without what they compare with, the nearest first."""
        return lex.without_comparisons(self.headings).splitlines()

    @cached_property
    def stems(self) -> set[str]:
        return set(content_stems(f"{self.words} {self.around}"))

    def within(self, figure: Figure) -> str:
        """Cell or sentence of a ``figure`` that is a value."""
        return figure.cell.text if figure.cell else self.sentences[figure.sentence]

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Every number of the cited sentences and cells, and those in cell labels."""
        out = []
        for place, sentence in enumerate(self.sentences):
            found, own = numbers(sentence), dict[int, str]()
            for kind in {one.kind for one in found}:
                kin = [one for one in found if one.kind == kind]
                own |= {one.start: part for one, part in zip(kin, parts(sentence, kin))}
            out += [Figure(one, None, None, place, one.currency, own[one.start]) for one in found]
        for cell in self.cells:
            unit = unit_of_label(cell.column) or unit_of_label(cell.row) or unit_of_label(cell.grid.notes)
            for number in numbers(cell.text):
                plain = not (number.percent or number.unit or number.currency)
                figure = replace(number, unit=unit) if plain and unit else number
                currency = number.currency or (cell.currency if plain else "")
                out.append(Figure(figure, cell.scale, cell, currency=currency))
            out.extend(Figure(number, None) for number in numbers(cell.label))
        return tuple(out)


def parts(text: str, marked: Sequence[Number]) -> list[str]:
    """Part of ``text`` around each of the ``marked`` numbers (in order): "$5 in 2022 | and $4 in 2021"."""
    starts: list[int] = []
    bare = BRACKETED.sub(lambda aside: "·" * len(aside.group()), text)  # no part begins in an aside or within a day
    bare = blanked(bare, date_spans(text), "·")
    for place, number in enumerate(marked):
        compared = lex.COMPARED_WITH.search(text, 0, number.start)
        if compared is not None:
            starts.append(compared.start())
        elif not place:
            starts.append(0)
        else:
            end = marked[place - 1].start + len(marked[place - 1].raw)
            aside = text.rfind("(", 0, end) > text.rfind(")", 0, end) and ")" not in text[end : number.start]
            within = text if aside else bare  # both figures stand in one pair of brackets
            breaks = (match for pattern in lex.PARTS if (match := pattern.search(within, end, number.start)))
            first = next(breaks, None)
            starts.append(first.start() if first else number.start)
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)])]


def changes(part: str, figure: str) -> bool:
    """Whether ``figure`` in its ``part`` of a sentence is by how much something changed ("rose by $5 million", "a $5
    million increase"), not what it came to."""
    before, _, after = part.partition(figure)
    ahead = [word for word in tokens(before)[-2:] if word not in ("by", "of")]
    return not (lex.UP | lex.DOWN).isdisjoint((*ahead[-1:], *(tokens(after)[:1] if after[:1].isspace() else ())))


def gather(citations: Iterable[Citation], document: Callable[[str], Document], scope: Scope = EVERYTHING) -> Evidence:
    """Combined evidence of ``citations``; what is near them is cut to the sections of ``scope``."""
    words: list[str] = []
    titles: list[str] = []
    headings: list[str] = []
    near: list[str] = []
    quotes: list[str] = []
    sentences: list[str] = []
    cells: list[CitedCell] = []
    for citation in citations:
        doc = document(citation.doc_id)
        words.extend((citation.label, citation.quotation))
        quotes.append(citation.quotation)
        titles.extend((citation.title, doc.name))
        for start, end in scope.spans(citation.doc_id) or [(0, doc.body_end)]:
            near.append(doc.text[max(start, citation.start - 1500) : min(end, citation.end + 500)])
        found = list(elements_within(doc, citation.start, citation.end))
        for element in found:
            own: list[CitedCell] = []
            headings.append(_period_line(doc, element))
            if element.table is not None:
                own, beside, notes = _read_table(doc, element, element.table, citation)
                cells.extend(own)
                words.extend(f"{cell.label} {cell.meaning}".strip() for cell in own)
                headings.extend((notes, beside))
            if not own:
                sentences.extend(_sentences(doc, element, citation))
        headings.extend(reversed(citation.section))
        if not found:
            sentences.append(citation.quotation)
    return Evidence(
        words="\n".join(filter(None, words)),
        around="\n".join((*titles, *headings)),
        near="\n".join(near),
        headings="\n".join(headings),
        quotes=tuple(quotes),
        sentences=tuple(dict.fromkeys(sentences)),
        cells=tuple(cells),
    )


def _period_line(document: Document, element: Element) -> str:
    """Nearest line before ``element``, in its section, that only names a period ("Year ended May 31, 2023"); "" without
    one. It heads what follows without being a heading."""
    body = document.body
    place = bisect_left(body, element.start, key=lambda one: one.start)
    for one in reversed(body[max(0, place - _LINES) : place]):
        if one.section != element.section:
            break
        text = document.text[one.start : one.end].strip()
        if one.table is not None or len(text) > _LINE or not years(text):
            continue
        if sum(word.isalpha() and word not in _OF_PERIODS for word in tokens(text)) <= 1:
            return text
    return ""


def _sentences(document: Document, element: Element, citation: Citation) -> list[str]:
    """Cited sentences without raised footnote marks, which would merge with a word or figure."""
    text = document.shown(max(element.start, citation.start), min(element.end, citation.end))
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text, 0)]


def _read_table(
    document: Document, element: Element, table: Table, citation: Citation
) -> tuple[list[CitedCell], str, str]:
    """Cited cells of a table, the words beside them in their rows, and its title, headers and corner."""
    labelled = LabelledTable(document, table)
    cited = labelled.cells(citation.start, citation.end)
    if not cited:
        return [], "", ""
    texts = {cell: labelled.text(cell) for cell in table.cells}
    body = [cell for cell in table.cells if not cell.header]
    firsts: dict[int, Cell] = {}  # the row names
    for cell in sorted(body, key=lambda cell: cell.col):
        if cell.end > cell.start:
            firsts.setdefault(cell.row, cell)
    heads = " ".join(texts[cell] for cell in table.cells if cell.header)
    corner = next((texts[cell] for cell in table.cells if cell.row == cell.col == 0), "")
    notes = "\n".join(filter(None, (table.title, heads, corner)))
    # The header over the row names is no column for a figure.
    valued = [cell for cell in body if cell not in firsts.values()]
    columns = {column for cell in valued for column in range(cell.col, cell.col + cell.col_span)}
    labels = [label for column, label in enumerate(labelled.column_labels()) if label and column in columns]
    grid = Grid(
        rows=tuple(dict.fromkeys(labelled.row_label(cell) for cell in firsts.values())),
        columns=tuple(dict.fromkeys(labels)),
        notes=notes,
        scale=scale_note(notes) or scale_note(_text_before(document, element)),
        currency=_currency(document, element, notes, " ".join(texts.values())),
        fiscal=fiscal_of(document, labels),
    )
    own = []
    for cell in cited:
        label = labelled.label(cell)
        over = " ".join(dict.fromkeys(texts[head] for head in labelled.heads(cell) if head.header))
        own.append(CitedCell(texts[cell], label, labelled.row_label(cell) if label else RowLabel("", ""), over, grid))
    rows = {cell.row for cell in cited if not cell.header}
    beside = " ".join(texts[cell] for cell in body if cell.row in rows and not texts[cell][:1].isdigit())
    return own, beside, notes


def _text_before(document: Document, element: Element) -> str:
    """Text close before a table, after the table before it, whose scale is not its own."""
    near = max(0, element.start - _BEFORE)
    over = (one.end for one in elements_within(document, near, element.start) if one.table is not None)
    return document.text[max((near, *over)) : element.start]


def _currency(document: Document, element: Element, notes: str, cells: str) -> str:
    """The one currency in a table's notes, else in its cells, else in the text around it; "" without one, or with
    several."""
    for text in (notes, cells, document.text[max(0, element.start - 1500) : element.end]):
        named = Counter(currencies(text))
        if named:
            return next(iter(named)) if len(named) == 1 else ""
    return ""
