"""The value that a simple question asks for: a cell, or the two of two periods, where row and columns are certain.

"What was 3M's capex in FY2018?" names a row ("Purchases of property, plant and equipment", by another name of the
term), a column (2018) and a document (3M's). Where one of them is in doubt there is no value, only quotes: a reader
who is handed one number takes it for the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ragcore.offline.asks import places
from ragcore.offline.cell_tables import CellRow
from ragcore.offline.periods import PART_OF_YEAR, QUARTER, Asked, asked_of
from ragcore.offline.quotable import Quotable, marker
from ragcore.offline.quote_ranking import Ranking, agreement, name_of, row_name
from ragcore.offline.rows import Cell, Row
from ragcore.text.numbers import length_in
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, tokens, word_set

# So far a row's name must agree with what is asked for, by the question's own words or by another name of its term.
CERTAIN = 0.85
MOST = 3
_ASKS = re.compile(
    r"^\W*(?:(?:and|so|please|(?:can|could)\s+you)\s+)*"
    r"(?:(?:tell\s+me|give\s+me|state|find|report|show\s+me)\s+)?"
    r"(?:what(?:['’]s|\s+(?:is|was|are|were|did))\b|what\s+(?:amount|number|figure|value)\b|how\s+(?:much|many|high|large|big)\b|the\b)",
    re.IGNORECASE,
)
# Told by the cells of two periods.
_CHANGE = re.compile(
    r"\b(?:chang\w*|increas\w*|decreas\w*|declin\w*|gr[eo]w\w*|drop\w*|ris(?:e|en)|rose|fell|difference|"
    r"compar\w*|between|versus|vs|from\s+\S+\s+to)\b",
    re.IGNORECASE,
)
# Worked out from several cells, or told in words.
_DERIVED = re.compile(
    r"\b(?:average|mean|highest|lowest|largest|smallest|biggest|most|least|top|ratio\s+of|"
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
WORKED_OUT = "Difference, worked out from the two cells"
_PLAIN_FIGURE = re.compile(
    r"[$€£¥]?\s*(?P<open>\()?\s*[$€£¥]?\s*(?P<minus>[-−–])?\s*(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?)\s*%?\s*\)?\s*%?"
)


@dataclass(frozen=True, slots=True)
class Value:
    """A cell of the row that ``quote`` is of, and the ``title`` of its document, where several are searched."""

    quote: Quotable
    cell: Cell
    title: str = ""

    @property
    def figure(self) -> str:
        """The value as it is printed."""
        return self.cell.text

    @property
    def marker(self) -> str:
        return marker(self.quote.source, self.cell.number, self.cell.number)


def asks_change(question: str) -> bool:
    """Whether the question is for a change of a quantity, and not for the quantity."""
    return _CHANGE.search(question) is not None


def values(question: str, terms: Sequence[Term], found: Sequence[Quotable], ranking: Ranking) -> list[Value]:
    """The value asked for, or those of the two periods asked for, then what other tables give in place of one where
    that differs (three in all); none where ``question`` is not for such cells, or no row and column are certain."""
    asked = asked_of(question, Wanted(question, terms))
    periods = len(asked.years) + len(asked.days)
    if not _ASKS.search(question) and not (periods == 2 and _CHANGE.search(question)):
        return []
    if _DERIVED.search(question) or (periods != 2 and _CHANGE.search(question)) or periods > 2:
        return []
    if _foreign(question, found):
        return []
    plain = _CHANGE.sub(" ", question) if periods > 1 else question
    certain: list[tuple[float, Quotable, Row, tuple[Cell, ...]]] = []
    for quote in found:
        row = quote.row
        cells = _cells(row, asked, periods) if row is not None else ()
        if row is None or not cells:
            continue
        fit = _fit(plain, terms, quote, row, cells[0], ranking.names)
        if fit >= CERTAIN:
            certain.append((fit, quote, row, cells))
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
    for fit, quote, _, cells in (certain[i] for i in order):
        own = [Value(quote, cell, quote.source.title if several else "") for cell in cells]
        if len(own) > 1:
            return own
        new = fit >= least and not any(same_figure(own[0].figure, other.figure) for other in chosen)
        if new and len(chosen) < MOST:
            chosen += own
    return chosen


def difference(found: Sequence[Value]) -> list[CellRow]:
    """The later of the two periods of one row less the earlier one, as a row of a table; nothing where that is not
    plainly worked out."""
    years = [max((int(year) for year in _YEARS.findall(value.cell.column)), default=0) for value in found]
    amounts = [_amount(value.figure) for value in found]
    if len(found) != 2 or not all(years) or years[0] == years[1] or None in amounts:
        return []
    later, earlier = amounts if years[0] > years[1] else reversed(amounts)
    assert later is not None
    assert earlier is not None
    change = later - earlier
    percent = "%" in found[0].figure or "%" in found[1].figure
    share = f"{100 * change / earlier:+.1f}%" if earlier > 0 and later > 0 and not percent else ""
    unit = "percentage points" if percent else share
    if percent and not all("%" in value.figure for value in found):
        return []
    return [CellRow(WORKED_OUT, "", "", f"{change:,}".replace("-", "−"), unit.replace("-", "−"))]


def _amount(figure: str) -> Decimal | None:
    """The number that a cell gives, below zero where it stands in brackets; None of what is more than a number."""
    match = _PLAIN_FIGURE.fullmatch(figure.strip())
    if match is None:
        return None
    number = Decimal(match["digits"].replace(",", ""))
    return -number if match["minus"] or match["open"] else number


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


def _cells(row: Row, asked: Asked, periods: int) -> tuple[Cell, ...]:
    """The one cell of the period asked for, or the two of the two ``periods``; none where there are others, or none
    says its period."""
    numeric = [i for i, cell in enumerate(row.cells) if _NUMBER.search(cell.text)]
    if not periods:
        return (row.cells[numeric[0]],) if len(numeric) == 1 and len(row.cells) == 1 else ()
    kept = [i for i in row.named if i in numeric]
    if len(kept) > periods:
        kept = [i for i in kept if not _COMPARES & set(row.cells[i].column.lower().split())]
    if len(kept) != periods:
        return ()
    cells = tuple(row.cells[i] for i in kept)
    parts = [PART_OF_YEAR.search(f"{row.table} {c.column}") or QUARTER.search(f"{row.table} {c.column}") for c in cells]
    return cells if all(bool(part) == bool(asked.quarters) for part in parts) else ()


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
