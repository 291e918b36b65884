"""What of the sources can stand as an answer by itself: a sentence, a lead-in with its list, a table row or one cell.

A source is known here by its units alone: cells that follow one another on a line of the text are a row, and a cell's
label is ``row · column``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.types import Source
from ragcore.words import content_stems, cover, tokens, word_set

_LONGEST = 700
_BULLET = re.compile(r"^(?:[•▪●◦·■□►➢✓*–—-]|o)\s+")
_NUMBERED = re.compile(r"^(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]|\([A-Z]\))\s", re.IGNORECASE)
_DOT_LEADERS = re.compile(r"(?:\.\s?){5,}|(?:…\s?){2,}|_{4,}")
_PAGE_COLUMN = re.compile(r"(?:form \S+ )?page(?:\s*(?:no\.?|number|#))?", re.IGNORECASE)
_VERBS = word_set("""
    is are was were be been has have had do does did may might must shall should will would can could cannot means
    includes include requires require provides provide says states became becomes remains rose fell grew declined
    increased decreased consists applies
""")
# References and list numbers, which are no figures: § 312.32(c), (1), Item 7, Note 12, page 3.
_REFERENCE = re.compile(
    r"§+\s?[\d.]+(?:\(\w+\))*|\b\d+\s+CFR\b|\b\d+(?:\.\d+)*(?:\(\w+\))+|^\(?[\divx]{1,4}[.)]\s|\(\d{1,2}\)|\b(?:item|note|part|section|page|form|figure|table|"
    r"paragraph|exhibit|chapter|cfr)s?\.?\s+[\d.]+[\w-]*(?:\([\w]+\))*",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER_WORDS = word_set(
    "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty sixty ninety"
)


@dataclass(frozen=True, slots=True)
class Quotable:
    """Units ``first``..``last`` of ``source``. ``text`` is what is quoted, ``passage`` what it is judged by and
    ``words`` its content stems. Of a row, ``about`` says what table it is from and ``name`` are the stems of its own
    header."""

    source: Source
    first: int
    last: int
    text: str
    about: str
    passage: str
    words: frozenset[str]
    name: frozenset[str] = frozenset()

    @property
    def marker(self) -> str:
        unit = f"{self.source.number}.{self.first}"
        return (
            f"<<SOURCE {unit}>>" if self.first == self.last else f"<<SOURCE {unit}-{self.source.number}.{self.last}>>"
        )

    @property
    def start(self) -> int:
        return self.source.units[self.first - 1].start

    def figures(self, besides: set[str]) -> bool:
        """Whether it holds a number that is not among ``besides`` (the question's own words)."""
        words = tokens(_REFERENCE.sub(" ", self.text))
        return any((any(c.isdigit() for c in word) or word in _NUMBER_WORDS) and word not in besides for word in words)


def quotables(wanted: Sequence[str], sources: Iterable[Source]) -> Iterator[Quotable]:
    """Everything that can be quoted, source by source in the order of the text. ``wanted`` are the question's stems:
    a row is narrowed to the columns that they name."""
    asked = set(wanted)
    for source in sources:
        heading = source.section[-1] if source.section else ""
        # An AI's words are no quote of the document.
        lines = [line for line in source.lines() if not source.units[line[0] - 1].generated]
        for place, (first, last) in enumerate(lines):
            if source.units[first - 1].kind == "cell":
                row = _row(source, asked, first, last)
                if row is not None:
                    found = _quotable(source, *row, _table_name(source, first), heading)
                    yield replace(found, name=frozenset(content_stems(_row_name(source, first, last))))
                continue
            for number in range(first, last + 1):
                text = source.words(number, number)
                joined = None
                if text.endswith((":", "—")):
                    rest = [(other, other) for other in range(number + 1, last + 1)]
                    joined = _lead_in(source, number, [*rest, *lines[place + 1 :]], asked)
                if joined is not None:
                    yield _quotable(source, number, *joined, "", heading)
                elif _is_sentence(text):
                    yield _quotable(source, number, number, text, "", heading)
                elif first == last and any(character.isalpha() for character in text):
                    heading = text


def _quotable(source: Source, first: int, last: int, text: str, about: str, heading: str) -> Quotable:
    where = " > ".join(part for part in (source.title, heading if heading not in about else "", about) if part)
    passage = f"{where}: {text}"
    return Quotable(source, first, last, text, about, passage, frozenset(content_stems(passage)))


def _printed(source: Source, first: int, last: int) -> str:
    """Units ``first`` to ``last`` with the bullet that stands before them, which is no part of a unit."""
    start = source.units[first - 2].end if first > 1 else source.start
    end = source.units[last - 1].end
    return " ".join(source.text[start - source.start : end - source.start].split())


def _lead_in(
    source: Source, number: int, following: Sequence[tuple[int, int]], asked: set[str]
) -> tuple[int, str] | None:
    """A sentence that ends in a colon or dash with the list items or table rows after it: the last unit and the text.

    At most 700 characters, cut at an item's end. None when nothing follows that belongs to it.
    """
    parts = [source.words(number, number)]
    end = number
    levels: list[str] = []
    for first, last in following:
        is_cell = source.units[first - 1].kind == "cell"
        words = _printed(source, first, last)
        if not _continues("row" if is_cell else _level(words, levels), levels):
            break
        if is_cell:
            row = _row(source, asked, first, last)
            words = row[2] if row is not None else ""
        if sum(map(len, parts)) + len(words) > _LONGEST:
            break
        end = last
        if words:
            parts.append(words if not is_cell or len(parts) == 1 else f"| {words}")
    return (end, " ".join(parts)) if len(parts) > 1 else None


def _level(item: str, levels: Sequence[str]) -> str:
    """The style of a list item's bullet or number, "" for no item, with ``new`` before it where it may open a list."""
    if _BULLET.match(item):
        return "new bullet"
    match = _NUMBERED.match(item)
    if match is None:
        return ""
    number = match.group().strip(" ().")
    if number.isdigit():
        style = "digit"
    elif number.lower() == "i" or ("roman" in levels and not set(number.lower()) - set("ivx")):
        style = "roman"
    else:
        style = "upper" if number.isupper() else "lower"
    return f"new {style}" if number.lower() in ("1", "a", "i") else style


def _continues(style: str, levels: list[str]) -> bool:
    """Whether an item of this style goes on with the list whose open ``levels`` are given; keeps them up to date."""
    name = style.removeprefix("new ")
    if name in levels:
        del levels[levels.index(name) + 1 :]
        return True
    opens = style.startswith("new ") and "row" not in levels
    if levels and not opens:
        return False
    if style:
        levels.append(name)
    return bool(style)


def _row(source: Source, asked: set[str], first: int, last: int) -> tuple[int, int, str] | None:
    """A row as ``row header — column: value; …``: its first and last unit and text. When the question names columns
    only those are shown, and when it names one, and something of the row, that cell alone is cited.

    Rows without a labelled value (header rows, group headings) and rows of a table of contents say nothing.
    """
    units = [(number, source.units[number - 1]) for number in range(first, last + 1)]
    labelled = [(number, unit) for number, unit in units if unit.label]
    if not labelled or _DOT_LEADERS.search(" ".join(source.words(number, number) for number, _ in units)):
        return None
    head = _row_name(source, first, last)
    whole = labelled[0][1].label.partition(" · ")[0]
    # The label knows the group that the row stands in ("Footwear / North America"), its first cell does not.
    name = whole if head and whole.endswith(head) else head
    columns = [unit.label.removeprefix(name).removeprefix(" · ").strip() for _, unit in labelled]
    if all(_PAGE_COLUMN.fullmatch(column) for column in columns):
        return None
    cells = list(zip(labelled, columns))
    named = [cell for cell, key in zip(cells, _keys(columns)) if key and key <= asked]
    if len(named) == 1 and cover(content_stems(name), asked) > 0:
        (number, _), column = named[0]
        return number, number, _pair(", ".join(part for part in (name, column) if part), source.words(number, number))
    pairs = "; ".join(_pair(column, source.words(number, number)) for (number, _), column in named or cells)
    return first, labelled[-1][0], f"{name} — {pairs}" if name else pairs


def _row_name(source: Source, first: int, last: int) -> str:
    """The words of a row's first cell without a label: its header."""
    numbers = range(first, last + 1)
    return next((source.words(number, number) for number in numbers if not source.units[number - 1].label), "")


def _keys(columns: Sequence[str]) -> list[set[str]]:
    """What a question would name each column by: its years, or else those of its words that fewest columns share."""
    stems = [set(content_stems(column)) for column in columns]
    keys = []
    for own in stems:
        counts = {word: sum(word in other for other in stems) for word in own}
        fewest = min(counts.values(), default=0)
        rare = {word for word, count in counts.items() if count == fewest < max(2, len(columns))}
        keys.append({word for word in rare if _YEAR.fullmatch(word)} or rare)
    return keys


def _pair(name: str, value: str) -> str:
    return f"{name}: {value}" if name else value


def _table_name(source: Source, first: int) -> str:
    """What the row's line begins with: its table's title, with the section where the title is only a unit."""
    at = source.units[first - 1].start - source.start
    line = source.text[source.text.rfind("\n", 0, at) + 1 : at]
    title = " ".join(line.rpartition(" — ")[0].split()) if " — " in line else ""
    if (not title or title.startswith("(")) and source.section:
        title = f"{source.section[-1]} {title}".strip()
    return title


def _is_sentence(text: str) -> bool:
    """Whether a sentence unit can stand alone: some words and a verb or a figure, no heading, no line of contents."""
    words = tokens(text)
    if len(words) < 4 or sum(character.isalpha() for character in text) < 12 or _DOT_LEADERS.search(text):
        return False
    if not text.rstrip("”\"')").endswith((".", "!", ";", "?", ",", ":")) and len(words) < 8:
        return False
    says = any(word in _VERBS for word in words) or any(c.isdigit() for c in _REFERENCE.sub("", text))
    return says or len(words) >= 12


def is_same(one: Quotable, other: Quotable) -> bool:
    """Whether two say the same: shared units, the same text, or nearly the same words."""
    if one.source.number == other.source.number and one.first <= other.last and other.first <= one.last:
        return True
    if one.text.lower() == other.text.lower():
        return True
    a, b = set(content_stems(one.text)), set(content_stems(other.text))
    return bool(a and b) and len(a & b) / len(a | b) >= 0.85
