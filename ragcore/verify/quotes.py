"""Quotation checks: claims that consist of the document's own words, and their lead-ins.

The offline writer gives ``Title of the table: “Row, column: value”``. If the words between the quotation marks are in
the evidence verbatim, nothing is left to check in them; a lead-in that is the title or heading of the quote adds no
claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from ragcore.text import lexicon as lex
from ragcore.text.words import tokens
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import CitedCell, Evidence, Finding

_QUOTATION = re.compile(r"(?P<lead>.*?)“(?P<quote>.+)”[\s.*_]*\Z", re.DOTALL)
_QUOTED = re.compile(r"“(?P<words>[^“”]+)”")
# Value, title, heading: "$ 512 — Annual report 2022; Revenue by region: “…”".
_LEADS = re.compile(r"\s[—–]\s|;\s")
# Boundary between cells of a quoted row, and its row's name before them.
_PIECES = re.compile(r";\s|\s[—|]\s")
# Footnote mark after a word: "Property and equipment, net (1)".
_FOOTNOTE = re.compile(r"(?<=[^\W\d])\s?\((?:\d{1,2}|[a-z])\)(?=[\s,;:]|\Z)")


def without_lead_in(statement: Statement, evidence: Evidence) -> Statement:
    """``statement`` without a lead-in that only repeats the title, headings or words around its quote."""
    match = _QUOTATION.fullmatch(statement.text.strip())
    if match is None or not match.group("lead").strip():
        return statement
    quote = _FOOTNOTE.sub("", match.group("quote"))
    if all(_is_lead(part, quote, evidence) for part in _LEADS.split(match.group("lead"))):
        return replace(statement, text=f"“{quote}”")
    return statement


def _is_lead(part: str, quote: str, evidence: Evidence) -> bool:
    """Whether ``part`` of a lead-in is text around the quote, or a value in it, optionally after the document's
    title."""
    if _stands(part, quote, evidence):
        return True
    title, colon, value = part.rpartition(": ")
    return bool(colon) and all(_stands(half, quote, evidence) for half in (title, value))


def _stands(part: str, quote: str, evidence: Evidence) -> bool:
    said, signs = tokens(part), _signs(part)
    given: tuple[str, ...] = (quote, evidence.around, evidence.words, evidence.near)
    if not any(character.isalpha() for word in said for character in word):
        given = given[:1]  # a bare figure must be one of the quoted ones
    elif signs and any(word[0].isdigit() for word in said):
        given = given[:2]  # a nearby amount is a different one, "Margin (%), 2023" a heading
    return not said or any(lex.places(said, tokens(text)) and signs <= _signs(text) for text in given)


def check_quotation(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Findings on quoted words that are in neither the cited words nor their headings."""
    given = set(tokens(f"{evidence.words}\n{evidence.around}"))
    for match in _QUOTED.finditer(statement.text):
        words = tokens(_FOOTNOTE.sub("", match.group("words")))
        missing = next((word for word in words if word.isalpha() and word not in given), "")
        if len(words) > 1 and missing:
            return [Finding("weak", f"It quotes “{missing}”, but the cited words don't say that.")]
    return []


def is_quoted(statement: Statement, evidence: Evidence) -> bool:
    """Whether all of ``statement`` is verbatim in one cited sentence or row, or is one cited cell with its headers."""
    match = _QUOTATION.fullmatch(statement.text.strip())
    if match is None or match.group("lead").strip():
        return False
    quote = _FOOTNOTE.sub("", match.group("quote"))
    said, signs = tokens(quote), _signs(quote)
    if not said:
        return False
    given = (*evidence.sentences, *evidence.quotes, " ".join(evidence.quotes))
    whole = any(lex.places(said, tokens(text)) and signs <= _signs(text) for text in given)
    return whole or _is_row(quote, evidence.cells)


def _is_row(quote: str, cells: Sequence[CitedCell]) -> bool:
    """Whether ``quote`` consists only of cited cells with their headers ("Revenues — 2023: 5,432; 2022: 5,030") and row
    names."""
    rows = [set(tokens(cell.row)) for cell in cells if cell.row]
    found = False
    for piece in _PIECES.split(quote):
        words = set(tokens(piece))
        if not words:
            continue  # "…" for omitted cells
        if any(_is_cell(piece, words, cell) for cell in cells if cell.row):
            found = True
        elif not any(words <= row for row in rows):
            return False
    return found


def _is_cell(piece: str, words: Set[str], cell: CitedCell) -> bool:
    """Whether ``piece``, whose words are given, is ``cell`` with its headers, or its beginning if it ends in "…"."""
    text, label = set(tokens(cell.text)), set(tokens(cell.label))
    whole = text <= words or (piece.rstrip().endswith("…") and bool(words - label))
    return whole and words <= text | label and _signs(piece) <= _signs(f"{cell.text} {cell.label}")


def _signs(text: str) -> set[str]:
    """Currencies, per cents and figures in brackets, which word tokens omit."""
    return set(re.findall(r"[$€£¥%]|\(\s?[\d.,]{3,}\s?\)|(?<!\w)[-−]\d[\d.,]*", text))
