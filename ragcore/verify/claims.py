"""Claim extraction: a Markdown answer split into statements that can be true or false, each with its citations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise

from ragcore.text import lexicon as lex
from ragcore.text.markdown import is_cell_table
from ragcore.text.numbers import numbers
from ragcore.text.periods import blanked, period_spans
from ragcore.text.sentences import sentence_spans
from ragcore.text.units import currency, unit
from ragcore.text.words import STOP_WORDS, tokens
from ragcore.types import Mark
from ragcore.types.report import INSUFFICIENT

# Markdown by its lines: fenced code, tables (with a line of dashes below their header), headings, list items, prose.
# Groups repeat inside atomic ones: Python before 3.11.5 matches possessive repeats of a group wrongly (gh-106052).
_FENCE = r"[^\S\n]*+(?:```|~~~)"
_HEADING = r"[^\S\n]*+(?:#{1,6}\s|\*\*[^*\n]++\*\*:?[^\S\n]*+$)"
_ITEM = r"[^\S\n]*+(?:[-*+]|\d{1,3}[.)])(?:[^\S\n]++|$)"
_DASHES = r"[^\S\n]*+:?-++:?[^\S\n]*+"
_ROW = r"[^|\n]*+\|[^\n]*+"
_TABLE = rf"{_ROW}\n(?={_ROW})[^\S\n]*+\|?{_DASHES}(?>(?:\|{_DASHES})*)\|?[^\S\n]*+$"
_MORE = rf"(?>(?:\n(?![^\S\n]*+$|{_FENCE}|{_HEADING}|{_ITEM}|{_TABLE})[^\n]*+)*)"
_BLOCK = re.compile(
    rf"^(?:{_FENCE}[^\n]*+(?>(?:\n(?!{_FENCE})[^\n]*+)*)(?:\n[^\n]*+)?|(?P<table>{_TABLE}(?>(?:\n{_ROW})*)\n?)"
    rf"|(?:{_HEADING})[^\n]*+|{_ITEM}(?P<item>[^\n]*+{_MORE}\n?)"
    rf"|[^\S\n]*+(?>(?:>[^\S\n]*+)*)(?P<prose>\S[^\n]*+{_MORE}\n?))",
    re.MULTILINE,
)
_SENTENCE_END = re.compile(r"([.!?]?[\"”’')]*)\s+(?=[\"“‘(]?[A-Z0-9])")
# "Table 4. Genes in each group: “…”": a list item that is a lead-in and a quote.
_LEAD_AND_QUOTE = re.compile(r"(.+:[*_ ]*“[^“”]*)”[.*_\s]*", re.DOTALL)
_MARKUP = re.compile(r"(\*\*|__|\*|`|~~)(?=\S)|(?<=\S)(\*\*|__|\*|`|~~)|\\(?=[!-/:-@\[-`{-~])")
_REACH = 8  # words from a source to what it does not say


@dataclass(frozen=True, slots=True)
class Statement:
    """``text`` without marks, at ``[start, end)`` of the answer; ``citations`` in order of appearance. ``context``
    holds its labels in a table (row label, column header)."""

    text: str
    start: int
    end: int
    citations: tuple[int, ...]
    context: str = ""


class _Plain:
    """Answer without its marks (and the blank before each), and the mapping back to its positions."""

    def __init__(self, text: str, marks: Sequence[Mark]) -> None:
        self.marks: list[tuple[int, Mark]] = []
        pieces: list[str] = []
        self._plain_starts, self._text_starts = [0], [0]
        position, length = 0, 0
        for mark in sorted(marks, key=lambda m: m.start):
            piece = text[position : mark.start].removesuffix(" ")
            pieces.append(piece)
            length += len(piece)
            self.marks.append((length, mark))
            position = mark.end
            self._plain_starts.append(length)
            self._text_starts.append(position)
        pieces.append(text[position:])
        self.text = "".join(pieces)

    def start_in_text(self, position: int) -> int:
        index = bisect_right(self._plain_starts, position) - 1
        return self._text_starts[index] + position - self._plain_starts[index]


def split_statements(text: str, marks: Sequence[Mark]) -> list[Statement]:
    """Statements of ``text``, in order: sentences of paragraphs and list items, rows or cells of tables.

    A mark belongs to the sentence that it is in or follows. Headings, lead-ins that end in a colon, questions, a bare
    yes or no and remarks on missing sources are statements only if they carry a citation.
    """
    plain = _Plain(text, marks)
    statements = []
    for start, end, context in _pieces(plain):
        own = [mark for position, mark in plain.marks if start < position <= end]
        first = start + len(plain.text[start:end]) - len(plain.text[start:end].lstrip())
        words = plain.text[start:end].strip()
        if not _is_statement(words, bool(own)):
            continue
        finish = plain.start_in_text(first + len(words) - 1) + 1
        statements.append(
            Statement(
                text=_MARKUP.sub("", INSUFFICIENT.sub("", words)).strip(),
                start=plain.start_in_text(first),
                end=max([finish, *(mark.end for mark in own)]),
                citations=tuple(dict.fromkeys(mark.n for mark in own)),
                context=context,
            )
        )
    return statements


def _is_statement(words: str, cited: bool) -> bool:
    if not cited and INSUFFICIENT.search(words):
        return False  # it names what a report lacks
    if not any(character.isalnum() for character in words) or (not cited and tokens(words) in (["yes"], ["no"])):
        return False
    return cited or not (words.rstrip("*_ ").endswith((":", "?")) or _about_sources(tokens(words)))


def _about_sources(words: Sequence[str]) -> bool:
    """Whether ``words`` say that the sources lack something, which can't be cited."""
    places = [at for at, word in enumerate(words) if word in lex.SOURCES]
    return any(
        {*words[max(0, at - 1) : at], *words[at + 1 : at + 1 + _REACH]} & lex.DENIALS
        or [*words[max(0, at - 3) : at]] == ["none", "of", "the"]
        for at in places
    )


def _pieces(plain: _Plain) -> Iterator[tuple[int, int, str]]:
    """``(start, end, context)`` of each candidate statement; each end extends to the next start, so that marks after a
    sentence fall inside it."""
    text = plain.text
    ends = [position for position, _ in plain.marks]
    for block in _BLOCK.finditer(text):
        kind = block.lastgroup
        if kind is None:
            continue  # code or a heading
        start, end = block.span(kind)
        if kind == "table":
            yield from _table_pieces(text, start, end, ends)
            continue
        spans = _whole_quotes(text, _split_at_marks(text, sentence_spans(text[start:end], start), ends))
        quote = _LEAD_AND_QUOTE.fullmatch(text, start, end) if kind == "item" else None
        if quote is not None and not any(start < at <= quote.end(1) for at in ends):
            spans = [(start, end)]  # full stops in a title end no statement
        for index, (first, last) in enumerate(spans):
            low = start if index == 0 else first
            high = spans[index + 1][0] if index + 1 < len(spans) else max(end, last)
            yield low, high, ""


def _split_at_marks(text: str, spans: list[tuple[int, int]], marks: Sequence[int]) -> list[tuple[int, int]]:
    """Sentences split again at a mark between a full stop and a capital: there a sentence certainly ends, even after an
    apparent abbreviation ("… to FDA [1]. An IND …")."""
    out: list[tuple[int, int]] = []
    for start, end in spans:
        for position in marks:
            ending = _SENTENCE_END.match(text, position) if start < position < end else None
            if ending is None or ending.end() >= end or not (ending.group(1) or text[position - 1] in ".!?"):
                continue
            out.append((start, ending.end(1)))
            start = ending.end()
        out.append((start, end))
    return out


def _whole_quotes(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sentences joined while a quotation “…” is open, so that a quote is one statement."""
    out: list[tuple[int, int]] = []
    depth = 0
    for start, end in spans:
        if depth > 0 and out:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
        piece = text[start:end]
        depth = max(0, depth + piece.count("“") - piece.count("”"))
    return out


def _table_pieces(text: str, start: int, end: int, marks: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """Body cells of a table. Row label, column header, a unit in the corner and, beside a cited cell, the row's uncited
    cells with a period or unit only, or all of a table of single cells, are their context."""
    rows = list(re.finditer(r"[^\n]+", text[start:end]))
    header = [text[start + a : start + b].strip() for a, b in _cells(rows[0])]
    single = is_cell_table(rows[0].group())
    for row in rows[2:]:
        cells = [(start + a, start + b) for a, b in _cells(row)]
        words = [text[low:high].strip() for low, high in cells]
        cited = [any(low < at <= high for at in marks) for low, high in cells]
        beside = [
            column > 0 and any(cited) and not cited[column] and (single or _is_unit(said) or _is_period(said))
            for column, said in enumerate(words)
        ]
        for column, (low, high) in enumerate(cells):
            if (column == 0 and len(cells) > 1) or not words[column] or beside[column]:
                continue
            heads = [words[0], *filter(_is_unit, header[:1]), *header[column : column + 1], *compress(words, beside)]
            yield low, high, " · ".join(filter(None, dict.fromkeys(heads)))


def _is_unit(text: str) -> bool:
    """Whether ``text`` is a scale, a currency or a unit, and nothing else."""
    said = [word for word in tokens(text) if word not in STOP_WORDS]
    return unit(text) is not None or (bool(said) and all(word in lex.SCALES or currency(word) for word in said))


def _is_period(text: str) -> bool:
    """Whether ``text`` is a period, and nothing else."""
    rest = blanked(text, [(start, end) for _, start, end in period_spans(text)])
    said = [word for word in tokens(rest) if word not in STOP_WORDS and word not in lex.SPANS]
    lengths = [number.raw for number in numbers(rest) if number.unit is not None and number.unit.measures == "time"]
    return rest != text and set(said) <= set(lengths)


def _cells(row: re.Match[str]) -> list[tuple[int, int]]:
    """Spans between unescaped bars of one table line; the outer bars enclose no cells."""
    line, offset = row.group(), row.start()
    bars = [m.start() for m in re.finditer(r"(?<!\\)\|", line)]
    edges = [-1, *bars, len(line)]
    spans = [(offset + a + 1, offset + b) for a, b in pairwise(edges)]
    if line.lstrip().startswith("|"):
        spans = spans[1:]
    if line.rstrip().endswith("|"):
        spans = spans[:-1]
    return spans
