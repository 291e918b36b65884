"""What of the sources can stand as an answer by itself: a sentence, a lead-in with its list, a table row or one cell.

A source is known here by its units alone: cells that follow one another on a line of the text are a row, and a cell's
label is ``row · column``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.asks import spelled_out
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
# The day a period ended, as a column header has it: "January 28, 2023", "YEAR ENDED MAY 31, · 2023", "28 Jan 2023".
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"\b(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DATE = re.compile(
    rf"{_MONTH}\s*(\d{{1,2}})\b[\s,·]*((?:19|20)\d\d)\b|\b(\d{{1,2}})\s+{_MONTH},?[\s·]*((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_FISCAL = re.compile(r"\b(?:fiscal|financial\s+year|FY(?=[\s\d'’-]|$))", re.IGNORECASE)
_FISCAL_YEAR = re.compile(
    r"\b(?:(?:fiscal|financial)(?:\s+year)?\s+((?:19|20)\d\d)|FY[\s'’-]*((?:19|20)\d\d|\d\d))(?!\d)", re.IGNORECASE
)
_PART_OF_YEAR = re.compile(
    r"\bquarter|\bhalf\b|\b(?:three|six|nine|[369])[\s-]months?\b|\b(?:13|26|39)[\s-]weeks?\b", re.IGNORECASE
)
_QUARTER = re.compile(r"\b(?:(first|second|third|fourth)(?:\s+fiscal)?\s+quarter|Q([1-4])|([1-4])Q)", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth")
# "the 52 weeks ended January 28, 2023 (“fiscal 2022”)", "fiscal 2022 ended on January 28, 2023"
_SAYS_END = re.compile(
    r"(?P<before>[^.;\n]{0,30})(?:"
    r"\bfiscal(?:\s+year)?\s+(?P<a>20\d\d),?(?:\s+which)?\s+end(?:ed|s|ing)\s+(?:on\s+)?(?P<x>[^\n]{0,20})"
    r"|\bend(?:ed|s|ing)\s+(?:on\s+)?(?P<y>\w{3,9}\.?\s+\d{1,2},\s+20\d\d),?\s+\([“\"'‘]?(?P<within>[^()\d]{0,30})"
    r"fiscal(?:\s+year)?\s+(?P<b>20\d\d))",
    re.IGNORECASE,
)
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question names columns by: its ``words`` (stems), the ``days`` it says (year, month, day), its other
    ``years``, whether those are ``fiscal``, and its ``quarters``. ``early`` and ``late``: whether a fiscal year that
    ends in January to May may be called after the year before and after the year in which it ends."""

    words: frozenset[str]
    days: frozenset[tuple[int, int, int]]
    years: frozenset[int]
    fiscal: bool
    quarters: frozenset[int]
    early: bool = True
    late: bool = True

    def may_end(self, year: int, month: int) -> bool:
        """Whether a period asked for may have ended in this month.

        A fiscal year N ends from January N to May N + 1, its quarters up to nine months before. A year that is not
        said to be fiscal is also the calendar's.
        """
        at = 12 * year + month - 1
        backs = [3 * (4 - quarter) for quarter in self.quarters] or [0]
        for asked in self.years:
            if not self.fiscal and year == asked:
                return True
            opens = 12 * asked + (0 if self.late else 5)
            closes = 12 * asked + (16 if self.early else 11)
            for back in backs:
                start = opens - back if self.fiscal else max(opens, 12 * asked)
                if start <= at <= closes - back:
                    return True
        return False


def _asked(question: str) -> _Asked:
    days = _days(question)
    rest = _DATE.sub(" ", question)
    years = {int(word) for word in tokens(rest) if _YEAR.fullmatch(word)}
    years |= _fiscal_years(rest)
    quarters = set()
    for word, *digits in _QUARTER.findall(rest):
        quarters.add(1 + _ORDINALS.index(word.lower()) if word else int("".join(digits)))
    if not quarters and _PART_OF_YEAR.search(rest):
        quarters = {1, 2, 3, 4}
    return _Asked(
        words=frozenset(content_stems(spelled_out(question))),
        days=frozenset(days),
        years=frozenset(years),
        fiscal=_FISCAL.search(rest) is not None,
        quarters=frozenset(quarters),
    )


def _fiscal_years(text: str) -> set[int]:
    found = {"".join(digits) for digits in _FISCAL_YEAR.findall(text)}
    return {int(digits) if len(digits) == 4 else 2000 + int(digits) for digits in found}


def _days(text: str) -> list[tuple[int, int, int]]:
    """The dates in ``text`` as (year, month, day)."""
    found = []
    for month, day, year, day_first, month_second, its_year in _DATE.findall(text):
        number = 1 + _MONTHS.index((month or month_second)[:3].lower())
        found.append((int(year or its_year), number, int(day or day_first)))
    return found


def _as_named(asked: _Asked, sources: Iterable[Source]) -> _Asked:
    """``asked`` where one document's ``sources`` say after which year its fiscal years that end in January to May are
    called. Only plain words count ("fiscal 2022 ended January 28, 2023"), and not what is said of a quarter but the
    fourth."""
    said: set[bool] = set()
    for source in sources:
        for match in _SAYS_END.finditer(source.text):
            about = f"{match['before']} {match['within'] or ''}".lower()
            days = _days(match["x"] or match["y"] or "")
            if not days or not 1 <= days[0][1] <= 5 or ("quarter" in about and "fourth" not in about):
                continue
            difference = days[0][0] - int(match["a"] or match["b"])
            if difference in (0, 1):
                said.add(difference == 1)
    return replace(asked, early=True in said, late=False in said) if said else asked


def quotables(question: str, sources: Iterable[Source]) -> Iterator[Quotable]:
    """Everything that can be quoted, source by source in the order of the text. A row is narrowed to the columns that
    ``question`` names; in doubt it stays whole."""
    sources = list(sources)
    by_document = {
        doc_id: _as_named(_asked(question), (source for source in sources if source.doc_id == doc_id))
        for doc_id in {source.doc_id for source in sources}
    }
    for source in sources:
        asked = by_document[source.doc_id]
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
    source: Source, number: int, following: Sequence[tuple[int, int]], asked: _Asked
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


def _row(source: Source, asked: _Asked, first: int, last: int) -> tuple[int, int, str] | None:
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
    named = [cells[index] for index in _named_columns(columns, asked)]
    if len(named) == 1 and cover(content_stems(name), asked.words) > 0:
        (number, _), column = named[0]
        return number, number, _pair(", ".join(part for part in (name, column) if part), source.words(number, number))
    pairs = "; ".join(_pair(column, source.words(number, number)) for (number, _), column in named or cells)
    return first, labelled[-1][0], f"{name} — {pairs}" if name else pairs


def _row_name(source: Source, first: int, last: int) -> str:
    """The words of a row's first cell without a label: its header."""
    numbers = range(first, last + 1)
    return next((source.words(number, number) for number in numbers if not source.units[number - 1].label), "")


def _named_columns(columns: Sequence[str], asked: _Asked) -> list[int]:
    """Which columns the question names, none when it names none. Where a column says the day its period ended, what
    counts is whether that is a period asked for, not whether the year is the same number."""
    by_words = [index for index, key in enumerate(_keys(columns)) if key and key <= asked.words]
    ends = {index: days[-1] for index, column in enumerate(columns) if (days := _days(column))}
    if not ends or not (asked.years or asked.days):
        return by_words
    on_day = asked.days & set(ends.values())
    # A day that no column has may still fall into the year that one has.
    others = replace(asked, years=asked.years | {year for year, _, _ in asked.days - on_day})
    kept = []
    for index, end in ends.items():
        called = _fiscal_years(_DATE.sub(" ", columns[index]))
        if end in on_day or called & others.years or (not (called and asked.fiscal) and others.may_end(*end[:2])):
            kept.append(index)
    told_apart = [
        index
        for index, key in zip(kept, _keys([columns[index] for index in kept]))
        if key and key <= asked.words and not any(_YEAR.fullmatch(word) for word in key)
    ]
    return sorted({*(told_apart or kept), *(index for index in by_words if index not in ends)})


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
