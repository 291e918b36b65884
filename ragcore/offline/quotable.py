"""Quotable parts of the sources: sentences, lead-ins with their lists, table rows and cells that can be an answer
alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.offline.intents import fit
from ragcore.offline.periods import Asked, asked_of
from ragcore.offline.rows import Row, row_of
from ragcore.text.sentences import DOT_LEADERS
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems, tokens, word_set
from ragcore.types import Source
from ragcore.types.question import Question

_VERBS = word_set("""
    is are was were be been has have had do does did may might must shall should will would can could cannot means
    includes include requires require provides provide says states became becomes remains rose fell grew declined
    increased decreased consists applies
""")
# For other languages, words that are not English.
_OTHER_VERBS = word_set("""
    ist sind waren hat hatte haben hatten wird werden wurde wurden kann können darf dürfen muss müssen soll sollen gilt
    bleibt liegt beträgt betrug stieg sank erfolgt umfasst
    est sont était étaient ont avait fut peut peuvent doit doivent
    está están eran fue fueron tiene tienen puede pueden debe deben hay
    è sono hanno può possono deve devono
    é são foi foram tem têm pode podem deve devem
    zijn heeft hebben wordt werden werd kunnen moet
    är har blir blev finns ska er blev skal jest są był była było mają ma może
""")
# References and list numbers, which are not figures: § 312.32(c), (1), Item 7, Note 12, page 3.
REFERENCE = re.compile(
    r"§+\s?[\d.]+(?:\(\w+\))*|\b\d+\s+CFR\b|\b\d+(?:\.\d+)*(?:\(\w+\))+|^\(?[\divx]{1,4}[.)]\s|\(\d{1,2}\)|\b(?:item|note|part|section|page|form|figure|table|"
    r"paragraph|exhibit|chapter|article|clause|field|cfr)s?\.?\s+[\d.]+[\w-]*(?:\([\w]+\))*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:§+\s?|\d+\.)\d+[\w.()-]*\s+[A-Z]|(?:part|section|article|chapter)\s+[\dIVX]+\b", re.IGNORECASE
)
# "9. Confidential Information and Non-Competition.": a number, and capitals on all words of more than three letters.
_TITLED = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]\s+(?:(?:[A-Z][\w’'-]*|[a-z]{1,3}|&)(?:[\s,;.]+|$))+$")
_LONGEST_LIST = 700
_BULLET = re.compile(r"^(?:[•▪●◦·■□►➢✓*–—-]|o)\s+")
_ITEM = re.compile(r"^(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]|\([A-Z]\))(?:\s|$)", re.IGNORECASE)
_MOST = 0.6  # share of the question's words


@dataclass(frozen=True, slots=True)
class Quotable:
    """Units ``first``..``last`` of ``source``. ``text`` is the quoted text, ``passage`` the text judged, ``words`` its
    content stems, ``own`` those of the text alone, ``place`` those of its document, section and table. For a row,
    ``about`` names its table, ``name`` holds the stems of its own header and ``row`` is the row; ``whole``: whether it
    is in a statement of the whole, None if only the table's title can tell."""

    source: Source
    first: int
    last: int
    text: str
    about: str
    passage: str
    words: frozenset[str]
    place: frozenset[str]
    own: frozenset[str] = frozenset()
    name: frozenset[str] = frozenset()
    row: Row | None = None
    whole: bool | None = None
    rows: tuple[Row, ...] = ()

    @property
    def marker(self) -> str:
        return marker(self.source, self.first, self.last)

    @property
    def is_cell(self) -> bool:
        """Whether it is a row narrowed to the one cell whose column the question names."""
        return self.row is not None and len(self.row.named) == 1 and self.row.first == self.row.last

    @property
    def shown(self) -> str:
        """Printed form: ``text``, or only the requested cells of a long row."""
        return self.row.shown if self.row is not None and self.row.shown else self.text

    @property
    def start(self) -> int:
        return self.source.units[self.first - 1].start


def marker(source: Source, first: int, last: int) -> str:
    """Citation marker for units ``first`` to ``last`` of ``source``."""
    unit = f"{source.number}.{first}"
    return f"<<SOURCE {unit}>>" if first == last else f"<<SOURCE {unit}-{source.number}.{last}>>"


def quotables(question: Question, wanted: Wanted, sources: Sequence[Source]) -> Iterator[Quotable]:
    """All quotable parts, source by source in text order. A row is narrowed to the columns that ``question``, whose
    words are ``wanted``, names; in doubt it stays whole."""
    asked = asked_of(question.main, wanted)
    for source in sources:
        heading = source.section[-1] if source.section else ""
        # An AI's description is not the document's words.
        lines = [line for line in source.lines() if not source.units[line[0] - 1].generated]
        for place, (first, last) in enumerate(lines):
            if source.units[first - 1].kind == "cell":
                row = row_of(source, asked, first, last)
                if row is not None:
                    yield _quotable(source, row.first, row.last, row.text, heading, row)
                continue
            for number in range(first, last + 1):
                text = source.words(number, number)
                joined = _with_list(source, number, last, lines[place + 1 :], asked)
                titles = _is_heading(text, alone=first == last) or _TITLED.match(text) is not None
                if joined is not None:
                    end, opening, rows = joined
                    yield replace(_quotable(source, number, end, opening, heading), rows=rows)
                # "Sponsor: Larkfield Ltd" is short, and printed bold.
                elif _is_sentence(text) or (fit(question.answer, text) == 1.0 and not titles):
                    yield _quotable(source, number, number, text, heading)
                elif _says_it(text, wanted) and not (titles and number == last):
                    # "Serious adverse event. An event is serious if …": a heading that runs on into its text.
                    end = number if number == last or _has_verb(text) else number + 1
                    joined = _with_list(source, end, last, lines[place + 1 :], asked) if end > number else None
                    end, opening, rows = joined or (end, source.words(number, end), ())
                    opening = f"{text} {opening}" if joined is not None else opening
                    yield replace(_quotable(source, number, end, opening, heading), rows=rows)
                elif first == last and any(character.isalpha() for character in text):
                    heading = text


def _with_list(
    source: Source, number: int, last: int, following: Sequence[tuple[int, int]], asked: Asked
) -> tuple[int, str, tuple[Row, ...]] | None:
    """`_lead_in` of unit ``number``, whose line ends with ``last`` and is followed by ``following``."""
    if not source.words(number, number).endswith((":", "—")):
        return None
    rest = [(other, other) for other in range(number + 1, last + 1)]
    return _lead_in(source, number, [*rest, *following], asked)


def _printed(source: Source, first: int, last: int) -> str:
    """Units ``first`` to ``last`` with the bullet before them, which belongs to no unit."""
    start = source.units[first - 2].end if first > 1 else source.start
    end = source.units[last - 1].end
    return source.between(start, end)


def _lead_in(
    source: Source, number: int, following: Sequence[tuple[int, int]], asked: Asked
) -> tuple[int, str, tuple[Row, ...]] | None:
    """Sentence that ends in a colon or dash with the list items or table rows after it: the last unit, the text, and
    the rows.

    At most 700 characters, cut at an item's end. None if nothing that follows belongs to it.
    """
    parts = [source.words(number, number)]
    end = number
    levels: list[str] = []
    rows: list[Row] = []
    for first, last in following:
        is_cell = source.units[first - 1].kind == "cell"
        words = _printed(source, first, last)
        if not _continues("row" if is_cell else _level(words, levels), levels):
            break
        if is_cell:
            row = row_of(source, asked, first, last)
            words = row.shown if row is not None else ""
            rows += [row] if row is not None else []
        if sum(map(len, parts)) + len(words) > _LONGEST_LIST:
            break
        end = last
        if words:
            parts.append(words if not is_cell or len(parts) == 1 else f"| {words}")
    return (end, " ".join(parts), tuple(row for row in rows if row.last <= end)) if len(parts) > 1 else None


def _level(item: str, levels: Sequence[str]) -> str:
    """Bullet or number style of a list item, "" for other text, prefixed by ``new`` if it may open a list."""
    if _BULLET.match(item):
        return "new bullet"
    match = _ITEM.match(item)
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
    """Whether an item of this style continues the list with the given open ``levels``; updates them."""
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


def _quotable(source: Source, first: int, last: int, text: str, heading: str, row: Row | None = None) -> Quotable:
    about = row.table if row is not None else ""
    where = " > ".join(part for part in (source.title, heading if heading not in about else "", about) if part)
    passage = f"{where}: {text}"
    place = frozenset(content_stems(" ".join((source.title, *source.section, heading, about))))
    # A row quoted for one cell is also named by that cell's column.
    alone = row is not None and len(row.named) == 1 and row.first == row.last
    named = f"{row.head} {row.cells[row.named[0]].column if alone else ''}" if row is not None else ""
    name = frozenset(content_stems(named))
    words, own = frozenset(content_stems(passage)), frozenset(content_stems(text))
    return Quotable(source, first, last, text, about, passage, words, place, own, name, row)


def _is_sentence(text: str) -> bool:
    """Whether a sentence unit can be quoted alone: it has some words and a verb or figure, and is no heading or
    contents line."""
    words = tokens(text)
    if len(words) < 4 or sum(character.isalpha() for character in text) < 12 or DOT_LEADERS.search(text):
        return False
    if not text.rstrip("”\"')").endswith((".", "!", ";", "?", ",", ":")) and len(words) < 8:
        return False
    if text.startswith("[") and text.rstrip(".").endswith("]"):
        return False  # where a text was amended or translated
    if text.startswith("/s/"):
        return False  # a signature
    says = _has_verb(text) or any(c.isdigit() for c in REFERENCE.sub("", text))
    return says or len(words) >= 12


def _has_verb(text: str) -> bool:
    return any(word in _VERBS or word in _OTHER_VERBS for word in tokens(text))


def _is_heading(text: str, *, alone: bool) -> bool:
    """Whether a line, of one unit if ``alone``, is a numbered heading: "§ 312.8 Charging for investigational
    drugs."."""
    return alone and _NUMBERED.match(text) is not None and not _has_verb(text)


def _says_it(text: str, wanted: Wanted) -> bool:
    """Whether a sentence of any length has most of the question's words: "Sodium hydride reacts with water."."""
    if len(tokens(text)) < 4 or not text.endswith(".") or DOT_LEADERS.search(text):
        return False
    held = wanted.held(set(content_stems(text)))
    return len(held) > 1 and len(held) >= _MOST * len(wanted.words)


def with_paragraph(quote: Quotable) -> str:
    """Sentence with the preceding text of its paragraph, which may name its subject."""
    first = next(first for first, last in quote.source.lines() if first <= quote.first <= last)
    return quote.source.words(first, quote.last) if quote.row is None else quote.passage


def joined_to(quote: Quotable) -> list[Quotable]:
    """Sentence joined to the next one, and to the previous one, in its paragraph."""
    first, last = next(line for line in quote.source.lines() if line[0] <= quote.first <= line[1])
    spans = [(quote.first, quote.last + 1), (quote.first - 1, quote.last)]
    return [
        replace(quote, first=a, last=b, text=text, own=frozenset(content_stems(text)))
        for a, b in spans
        if first <= a and b <= last and (text := quote.source.words(a, b))
    ]


def without_repeats(quotes: Iterable[Quotable], most: int) -> list[Quotable]:
    """First ``most`` of ``quotes``, without repeats."""
    chosen: list[Quotable] = []
    for quote in quotes:
        if len(chosen) < most and not any(is_same(quote, other) for other in chosen):
            chosen.append(quote)
    return chosen


def is_same(one: Quotable, other: Quotable) -> bool:
    """Whether two quotes repeat each other: shared units, equal text, or nearly the same words."""
    if one.source.number == other.source.number and one.first <= other.last and other.first <= one.last:
        return True
    if one.text.lower() == other.text.lower():
        return True
    a, b = set(content_stems(one.text)), set(content_stems(other.text))
    return bool(a and b) and len(a & b) / len(a | b) >= 0.85
