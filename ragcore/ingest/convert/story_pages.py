"""Markdown, HTML and text set on pages by MuPDF's Story, with our own style sheet. Runs in the child process only."""

from __future__ import annotations

import io
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pymupdf

from ragcore.errors import DamagedFile, FileTooLarge, NoText, TooManyPages
from ragcore.ingest.convert.kinds import decoded
from ragcore.ingest.convert.markup import CleanMarkup, clean_html, markdown_html, text_html
from ragcore.ingest.convert.workbook import encoding_notes
from ragcore.protocols import Converted
from ragcore.types.library import FileKind

MOST_TEXT = 5_000_000  # characters
MOST_LOST = 0.001  # of the letters: those of fonts that MuPDF does not have
MARGIN = 56.0  # points
_SAVE = "Open it in a browser or in Word, save it as PDF, and add that."
_PAPERS = ("a4", "a4-l", "a3-l", "a2-l", "a1-l", "a0-l")  # the first on which all words find room: tables may be wide
_EMOJI = re.compile("[\U0001f000-\U0001faff\ufe0f]")  # which MuPDF's Story writes as other letters
_CSS = """
body { font-family: sans-serif; font-size: 10px; line-height: 1.35; }
h1 { font-size: 20px; margin: 0 0 10px 0; } h2 { font-size: 16px; margin: 14px 0 6px 0; }
h3 { font-size: 13px; margin: 12px 0 5px 0; } h4, h5, h6 { font-size: 11px; margin: 10px 0 4px 0; }
p, ul, ol, dl, blockquote, pre, table { margin: 0 0 8px 0; } li { margin: 0 0 3px 0; }
blockquote { margin-left: 20px; } pre, code { font-family: monospace; font-size: 9px; }
table { border-collapse: collapse; } caption { font-weight: bold; text-align: left; }
td, th { border: 0.7px solid #999; padding: 3px 5px; vertical-align: top; }
th { background-color: #eee; text-align: left; }
"""


def draw_story(data: bytes, name: str, kind: FileKind, most_pages: int) -> Converted:
    """Pages of a text file. Its headings become the outline. Raises `DamagedFile`, `NoText`, `FileTooLarge`,
    `TooManyPages`."""
    found = decoded(data)
    if found is None:
        raise DamagedFile(f"{name} is no text file.")
    text, code = found
    if len(text) > MOST_TEXT:
        limit = f"{name} has {len(text):,} characters; the limit is {MOST_TEXT:,}."
        raise FileTooLarge(limit, hint="Split it into smaller files.")
    try:
        made = {"md": markdown_html, "html": clean_html, "txt": text_html}[kind](text)
    except ValueError as error:
        raise DamagedFile(f"{name}: {error}.") from error
    return draw_markup(made, name, most_pages, encoding_notes(code))


def draw_markup(made: CleanMarkup, name: str, most_pages: int, notes: Sequence[str] = ()) -> Converted:
    """Pages of clean HTML, with these ``notes`` and its own. Raises `DamagedFile`, `NoText`, `TooManyPages`."""
    if not made.html.strip():
        raise NoText(f"{name} has no text.", hint="Add a file with text.")
    html, emoji = _EMOJI.subn("", made.html)
    notes = [*notes, *made.notes, *([f"{emoji} emoji left out."] if emoji else [])]
    wanted = letters(_EMOJI.sub("", made.text))
    for paper in _PAPERS:
        document, outline = _set(html, pymupdf.paper_rect(paper), name, most_pages)
        lost = (wanted - letters("".join(page.get_text() for page in document))).total()
        if not lost:
            break
    if lost > MOST_LOST * wanted.total():
        raise DamagedFile(f"{name} can't be set on pages: {lost:,} of its letters would be lost.", hint=_SAVE)
    notes += [f"{lost} letters could not be set on the pages."] if lost else []
    if outline:
        document.set_toc(outline)
    title = made.title or next((text for level, text, _ in outline if level == 1), "")
    return Converted(document, tuple(notes), title, cover=not title)


def _set(html: str, paper: Any, name: str, most_pages: int) -> tuple[Any, list[list[Any]]]:
    """Pages of this size, and the headings on them."""
    outline: list[list[Any]] = []
    inner = pymupdf.Rect(MARGIN, MARGIN, paper.x1 - MARGIN, paper.y1 - MARGIN)

    def area(number: int, _filled: Any) -> tuple[Any, Any, None]:
        if number >= most_pages:
            raise TooManyPages(f"{name} has more than {most_pages} pages; that is the limit.")
        return paper, inner, None

    def heading(position: Any) -> None:
        if position.heading and position.open_close & 1 and position.text:
            level = min(position.heading, outline[-1][0] + 1 if outline else 1)
            outline.append([level, " ".join(position.text.split()), position.page_num])

    out = io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    pymupdf.Story(f"<body>{html}</body>", user_css=_CSS).write(writer, area, heading)
    writer.close()
    return pymupdf.open("pdf", out.getvalue()), outline


def letters(text: str) -> Counter[str]:
    """Letters and digits of a text, counted, by which what is lost on pages is told."""
    return Counter(filter(str.isalnum, unicodedata.normalize("NFKC", text)))
