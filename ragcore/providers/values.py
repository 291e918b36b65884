"""The value that a simple question asks for: one cell, where its row and its column are both certain.

"What was 3M's capex in FY2018?" names a row ("Purchases of property, plant and equipment", by another name of the
term), a column (2018) and a document (3M's). Where one of them is in doubt there is no value, only quotes: a reader
who is handed one number takes it for the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.asks import places
from ragcore.providers.durations import length_in
from ragcore.providers.periods import PART_OF_YEAR, QUARTER, Asked, asked_of
from ragcore.providers.quotable import Quotable, marker
from ragcore.providers.quote_ranking import Ranking, agreement, name_of, row_name
from ragcore.providers.rows import Cell, Row, scale_of
from ragcore.terms import Term, Wanted
from ragcore.words import content_stems, tokens, word_set

# So far a row's name must agree with what is asked for, by the question's own words or by another name of its term.
CERTAIN = 0.85
MOST = 3
_ASKS = re.compile(
    r"^\W*(?:(?:and|so|please|(?:can|could)\s+you)\s+)*"
    r"(?:(?:tell\s+me|give\s+me|state|find|report|show\s+me)\s+)?"
    r"(?:what(?:['’]s|\s+(?:is|was|are|were|did))\b|what\s+(?:amount|number|figure|value)\b|how\s+(?:much|many|high|large|big)\b|the\b)",
    re.IGNORECASE,
)
# Worked out from several cells, or told in words.
_DERIVED = re.compile(
    r"\b(?:chang\w*|increas\w*|decreas\w*|declin\w*|gr[eo]w\w*|drop\w*|ris(?:e|en)|rose|fell|difference|average|mean|"
    r"compar\w*|between|versus|vs|from\s+\S+\s+to|highest|lowest|largest|smallest|biggest|most|least|top|ratio\s+of|"
    r"combined|sum|add\w*\s+up|per\s+cent\s+of|percent(?:age)?\s+of|driv\w*|drove|reasons?|why|cause\w*|list|each|all)\b",
    re.IGNORECASE,
)
# What a question says beside the name of the quantity.
_BESIDE = frozenset(
    content_stems("""
    amount value figure number total report reported reporting company year years fiscal financial quarter quarterly
    annual period ended ending end month months half million millions thousand thousands billion billions usd us
    dollar dollars euro euros unit units january february march april may june july august september october november
    december first second third fourth much many recorded record according make made level
    """)
)
_BRACKETS = re.compile(r"\([^()]*\)")
_NUMBER = re.compile(r"\d")
_DIGITS = re.compile(r"[^\d.]")
_STATEMENT = re.compile(
    r"\b(?:statements?\s+of|(?:income|cash\s+flows?)\s+statements?|balance\s+sheets?)\b", re.IGNORECASE
)
# Words that make another quantity of one, though most are no content words: "other long-term debt" is what is left
# beside long-term debt. A row may say ``total`` where the question does not.
_QUALIFIERS = word_set("other before after excluding including except not non less gross loss losses")
_YEARS = re.compile(r"(?:19|20)\d\d")
_TOTAL = re.compile(r"\btotal\b", re.IGNORECASE)
_HELD = re.compile(r"\bat\s+(?:the\s+)?(?:year[- ]?)?end\b|\bas\s+(?:of|at)\b|\bbalances?\b", re.IGNORECASE)
_FLOWS = re.compile(r"\bcash\s+flows?\b|\bchanges?\s+in\b", re.IGNORECASE)
# What groups of a statement are called, which says nothing of a row that the row does not.
_GROUPS = frozenset(
    content_stems("""
    assets liabilities current noncurrent long term equity stockholders shareholders revenue revenues income expenses
    expense costs cost operating operations investing financing activities cash flows net sales earnings total data
    """)
)
_OWNER = re.compile(r"(?<![\w&.-])([A-Z0-9][\w&.-]*(?:\s[A-Z][\w&.-]*)*)['’]s?(?!\w)")
_COMPARES = word_set("change % percent variance increase decrease growth")


@dataclass(frozen=True, slots=True)
class Value:
    """A cell of the row that ``quote`` is of; ``figure`` as it is printed, ``text`` with its headers; ``title`` of its
    document, where several are searched; ``scale``, with its marker, is what the table says of it elsewhere."""

    quote: Quotable
    cell: Cell
    figure: str
    text: str
    title: str
    scale: str
    scale_marker: str

    @property
    def marker(self) -> str:
        return marker(self.quote.source, self.cell.number, self.cell.number)


def values(question: str, terms: Sequence[Term], found: Sequence[Quotable], ranking: Ranking) -> list[Value]:
    """The value asked for, then what other tables give in its place where that differs (three at most); none where
    ``question`` is not for one cell, or no row and column are certain."""
    if not _ASKS.search(question) or _DERIVED.search(question):
        return []
    if _foreign(question, found):
        return []
    asked = asked_of(question, Wanted(question, terms))
    if len(asked.years) + len(asked.days) > 1:
        return []
    certain: list[tuple[float, Quotable, Row, Cell]] = []
    for quote in found:
        row = quote.row
        cell = _cell(row, asked) if row is not None else None
        if row is None or cell is None:
            continue
        fit = _fit(question, terms, quote, row, cell, ranking.names)
        if fit >= CERTAIN:
            certain.append((fit, quote, row, cell))
    if not certain:
        return []
    # Of rows that agree alike, one in a statement stands before one in a summary.
    standing = ranking.standing([quote for _, quote, _, _ in certain])
    worth = [
        fit * float(place) * (1.0 if _STATEMENT.search(f"{' '.join(quote.source.section[-1:])} {row.table}") else 0.9)
        for (fit, quote, row, _), place in zip(certain, standing)
    ]
    order = sorted(range(len(certain)), key=lambda i: -round(worth[i], 6))
    several = len({quote.source.doc_id for quote in found}) > 1
    least = certain[order[0]][0]
    chosen: list[Value] = []
    for fit, quote, row, cell in (certain[i] for i in order):
        new = fit >= least and not any(same_figure(cell.text, other.cell.text) for other in chosen)
        if new and len(chosen) < MOST:
            chosen.append(_value(quote, row, cell, several))
    return chosen


def _value(quote: Quotable, row: Row, cell: Cell, several: bool) -> Value:
    number, scale = scale_of(quote.source, row)
    return Value(
        quote,
        cell,
        figure=cell.text,
        text=row.of(cell),
        title=quote.source.title if several else "",
        scale=scale,
        scale_marker=marker(quote.source, number, number) if scale else "",
    )


def _fit(question: str, terms: Sequence[Term], quote: Quotable, row: Row, cell: Cell, names: frozenset[str]) -> float:
    """How far the row's name is what ``question`` asks for, by its own words or by another name of a term, 0–1; 0.0
    where it says more than the question, or the question says something that neither it nor the cell's column nor the
    place has.

    What the row's table is called counts only where the question asks for it *of* the row: "operating income of Field
    Sensors" is the row of that name in the table of operating income.
    """
    if not _same_kind(question, row, cell):
        return 0.0
    name = row_name(quote)
    asked = frozenset(word for word in content_stems(question) if not _NUMBER.search(word)) - names - _BESIDE
    around = frozenset(content_stems(f"{quote.source.title} {cell.column} {row.name}"))
    around |= frozenset(content_stems(" ".join(places(question)))) & quote.place
    if _is_of(row, question):
        around |= quote.place
    best = agreement(name, asked & name) if name <= asked and asked <= name | around else 0.0
    for term in terms:
        rest = asked - frozenset(content_stems(term.said))
        for other in term.same if rest <= name | around else ():
            called = content_stems(other)
            # "Property, plant and equipment" is not "purchases of property, plant and equipment".
            if called and called[0] in name and name <= name_of(other) | rest:
                best = max(best, agreement(name, name_of(other) | (rest & name)))
    return best


def _same_kind(question: str, row: Row, cell: Cell) -> bool:
    """Whether ``row`` can be the quantity that ``question`` asks for and not one that is only called like it: another
    kind of it, a part of it, its change, or that of another year."""
    asked, said = set(tokens(question)), set(tokens(_BRACKETS.sub(" ", row.head)))
    if (asked & _QUALIFIERS) != (said & _QUALIFIERS) or (_TOTAL.search(question) and "total" not in said):
        return False
    if _HELD.search(question) and _FLOWS.search(f"{row.table} {row.name}"):
        return False
    group = row.name.removesuffix(row.head)
    others = set(content_stems(group)) - _GROUPS - set(content_stems(question))
    if any(not word.isdigit() for word in others):
        return False
    years = set(_YEARS.findall(group))
    return not years or bool(years & set(_YEARS.findall(f"{question} {cell.column}")))


def _foreign(question: str, found: Sequence[Quotable]) -> bool:
    """Whether ``question`` asks for something of an owner ("IBM's") whom no document and no passage names."""
    owners = [tokens(match) for match in _OWNER.findall(question)]
    given = set(tokens(" ".join(dict.fromkeys(f"{quote.source.title} {quote.source.text}" for quote in found))))
    return any(owner and not set(owner) & given for owner in owners)


def _is_of(row: Row, question: str) -> bool:
    """Whether ``question`` says ``of`` (for, in, at, by) the row by its whole name."""
    name = _BRACKETS.sub(" ", row.head).strip(" .:,")
    words = r"\s+".join(map(re.escape, name.split()))
    return (
        bool(words)
        and re.search(rf"\b(?:of|for|in|at|by)\s+(?:the\s+)?{words}(?!\w)", question, re.IGNORECASE) is not None
    )


def _cell(row: Row, asked: Asked) -> Cell | None:
    """The one cell of the period asked for; None where there are several, or none says its period."""
    numeric = [i for i, cell in enumerate(row.cells) if _NUMBER.search(cell.text)]
    if not (asked.years or asked.days):
        return row.cells[numeric[0]] if len(numeric) == 1 and len(row.cells) == 1 else None
    kept = [i for i in row.named if i in numeric]
    if len(kept) > 1:
        kept = [i for i in kept if not _COMPARES & set(row.cells[i].column.lower().split())]
    if len(kept) != 1:
        return None
    cell = row.cells[kept[0]]
    where = f"{row.table} {cell.column}"
    part = PART_OF_YEAR.search(where) or QUARTER.search(where)
    return cell if bool(part) == bool(asked.quarters) else None


def same_figure(one: str, other: str) -> bool:
    """Whether two figures are one number, be it rounded or in another scale, or one length of time."""
    lengths = length_in(one), length_in(other)
    if all(lengths):
        return lengths[0] == lengths[1]
    a, b = (_DIGITS.sub("", text).replace(".", "").strip("0") for text in (one, other))
    if not a or not b:
        return a == b
    short, long = sorted((a, b), key=len)
    if len(short) < 2:
        return short == long
    rounded = str(round(int(long) / 10 ** (len(long) - len(short))))
    return short in (long[: len(short)], rounded)
