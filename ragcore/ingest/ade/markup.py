"""The Markdown of an ADE chunk → pieces: headings, paragraphs, list items, tables and descriptions, as plain text.

ADE writes transcribed text as Markdown, tables as HTML, and what it describes in its own words between ``<::`` and
``::>``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragcore.ingest.words import clean_char

_ANCHOR = re.compile(r"<a\s+id=[^>]*>\s*(</a>)?|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_TABLE_TAG = re.compile(r"<(/?)table\b[^>]*>", re.IGNORECASE)
_DESCRIBED = re.compile(r"<::(.*?)(?:::>|\Z)", re.DOTALL)
_TYPE_SUFFIX = re.compile(r"\n\s*:\s*\w+\s*$")
_BREAKS = re.compile(r"<(?:br|/p|/div|/li|/h[1-6])\b[^>]*>", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:a|abbr|b|big|center|code|del|div|em|font|h[1-6]|i|img|ins|label|li|mark|ol|p|pre|s|small|span|strike|strong|"
    r"sub|sup|tt|u|ul)\b[^>]*>",
    re.IGNORECASE,
)
_FAILED = "CAPTION ERROR"  # what ADE writes where describing a picture failed


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a chunk. ``kind`` is a region's (``section-header``, ``text``, ``list-item``, ``table``,
    ``picture``); ``lines`` are its text; a heading has a ``level`` from 1; a table has its HTML and no lines; a
    picture's lines are a description."""

    kind: str
    lines: tuple[str, ...] = ()
    level: int = 0
    html: str = ""


def pieces(markdown: str) -> list[Piece]:
    """The parts of a chunk in order, empty ones left out."""
    # ADE now and then writes the line break as the two characters that stand for it in JSON.
    text = _ANCHOR.sub("", markdown).replace("\\n\\n", "\n\n")
    found: list[Piece] = []
    for part, is_table in _tables(text):
        if is_table:
            found.append(Piece("table", html=part))
            continue
        end = 0
        for match in _DESCRIBED.finditer(part):
            found += _blocks(part[end : match.start()])
            found += _described(match.group(1))
            end = match.end()
        found += _blocks(part[end:])
    return [] if [piece.lines for piece in found] == [(_FAILED,)] else found


def description(markdown: str) -> tuple[str, ...]:
    """All the text of a chunk that is a picture, line by line, whether marked as a description or not."""
    return tuple(line for piece in pieces(markdown) for line in piece.lines)


def _tables(text: str) -> Iterator[tuple[str, bool]]:
    """``text`` cut at its outermost tables; a table that is never closed goes to the end."""
    depth, start = 0, 0
    for match in _TABLE_TAG.finditer(text):
        if not match.group(1):
            if depth == 0:
                yield text[start : match.start()], False
                start = match.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield text[start : match.end()], True
                start = match.end()
    yield text[start:], depth > 0


def _described(text: str) -> list[Piece]:
    lines = clean_lines(_plain(_TYPE_SUFFIX.sub("", text)))
    return [Piece("picture", lines)] if lines else []


def _blocks(text: str) -> list[Piece]:
    """Markdown blocks as pieces. Only what ADE writes on purpose is read as markup: what else looks like it (a
    quotation mark of mail, a link, an underline) stands on the page."""
    found: list[Piece] = []
    marker = ""
    items = 0
    level = 0
    for token in _parser().parse(_plain(text)):
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "heading_close":
            level = 0
        elif token.type == "list_item_open":
            items += 1
            marker = f"{token.info}{token.markup}" if token.info else "•"
        elif token.type == "list_item_close":
            items -= 1
        elif token.type in ("inline", "fence"):
            lines = clean_lines(_inline(token) if token.type == "inline" else token.content)
            if not lines:
                continue
            if level:
                found.append(Piece("section-header", lines, level))
            elif items and marker:
                found.append(Piece("list-item", (f"{marker} {lines[0]}", *lines[1:])))
                marker = ""
            else:
                found.append(Piece("text", lines))
    return found


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    return parser.disable(["code", "blockquote", "reference", "lheading", "link", "image", "autolink", "html_block"])


def _inline(token: Token) -> str:
    parts: list[str] = []
    for child in token.children or ():
        parts.append("\n" if child.type in ("softbreak", "hardbreak") else child.content)
    return "".join(parts)


def _plain(text: str) -> str:
    return _TAGS.sub("", _BREAKS.sub("\n", text))


def clean_lines(text: str) -> tuple[str, ...]:
    """The lines of ``text`` with single blanks, characters as `words.clean_char` gives them, empty lines left out."""
    lines: list[str] = []
    for line in text.split("\n"):
        shown = unicodedata.normalize("NFC", "".join(map(clean_char, line))).replace("\u00ad", "")
        if words := " ".join(shown.split()):
            lines.append(words)
    return tuple(lines)
