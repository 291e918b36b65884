"""Quotations: a claim that is nothing but words of the document, and what it says of them first.

The offline writer gives ``Title of the table: “Row, column: value”``. Where the words between the quotation marks stand
in the evidence as they are, there is nothing left to check in them; a lead-in that is the title or heading of what is
quoted says nothing of its own.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ragcore.answer.checks.evidence import Evidence
from ragcore.answer.claims import Statement
from ragcore.words import tokens

_QUOTATION = re.compile(r"(?P<lead>.*?)“(?P<quote>.+)”[\s.*_]*\Z", re.DOTALL)
# A mark of a footnote behind a word: "Property and equipment, net (1)".
_FOOTNOTE = re.compile(r"(?<=[^\W\d])\s?\((?:\d{1,2}|[a-z])\)(?=[\s,;:]|\Z)")


def without_lead_in(statement: Statement, evidence: Evidence) -> Statement:
    """``statement`` without a lead-in that only repeats the title, headings or words around what it quotes."""
    match = _QUOTATION.fullmatch(statement.text.strip())
    if match is None or not match.group("lead").strip():
        return statement
    leads = [tokens(part) for part in re.split(r"\s[—–]\s", match.group("lead"))]
    given = [tokens(text) for text in (evidence.around, evidence.words, evidence.near)]
    if all(not lead or any(_holds(words, lead) for words in given) for lead in leads):
        return replace(statement, text=f"“{_FOOTNOTE.sub('', match.group('quote'))}”")
    return statement


def is_quoted(statement: Statement, evidence: Evidence) -> bool:
    """Whether all that ``statement`` says stands word for word in one cited sentence or row, or is one cited cell with
    its headers."""
    match = _QUOTATION.fullmatch(statement.text.strip())
    if match is None or match.group("lead").strip():
        return False
    said = tokens(_FOOTNOTE.sub("", match.group("quote")))
    signs = _signs(match.group("quote"))
    if any(_holds(tokens(text), said) and signs <= _signs(text) for text in (*evidence.sentences, *evidence.quotes)):
        return True
    cells = [(set(tokens(f"{cell.label} {cell.text}")), f"{cell.text} {cell.label}") for cell in evidence.cited_cells]
    return any(set(said) <= words and signs <= _signs(text) for words, text in cells)


def _signs(text: str) -> set[str]:
    """Currencies, per cents and figures in brackets: what words leave out."""
    return set(re.findall(r"[$€£¥%]|\(\s?[\d.,]{3,}\s?\)|(?<!\w)[-−]\d[\d.,]*", text))


def _holds(words: list[str], run: list[str]) -> bool:
    """Whether ``run`` stands in ``words`` as it is."""
    length = len(run)
    return any(words[i : i + length] == run for i in range(len(words) - length + 1) if words[i] == run[0])
