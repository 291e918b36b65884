"""Markdown, HTML and text set on pages by MuPDF's Story, with our own style sheet. Runs in the child process only."""

from __future__ import annotations

import io
from typing import Any

import pymupdf

from ragcore.errors import DamagedFile, FileTooLarge, NoText, TooManyPages
from ragcore.ingest.convert.kinds import decoded
from ragcore.ingest.convert.markup import clean_html, markdown_html, text_html
from ragcore.ingest.convert.workbook import encoding_notes
from ragcore.protocols import Converted
from ragcore.types.library import FileKind

MOST_TEXT = 5_000_000  # characters
_PAPER = pymupdf.paper_rect("a4")
_AREA = pymupdf.Rect(56, 56, _PAPER.x1 - 56, _PAPER.y1 - 56)
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
    made = {"md": markdown_html, "html": clean_html, "txt": text_html}[kind](text)
    if not made.html.strip():
        raise NoText(f"{name} has no text.", hint="Add a file with text.")
    outline: list[list[Any]] = []
    out = io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    pages = 0

    def area(number: int, _filled: Any) -> tuple[Any, Any, None]:
        nonlocal pages
        pages = number + 1
        if pages > most_pages:
            raise TooManyPages(f"{name} has more than {most_pages} pages; that is the limit.")
        return _PAPER, _AREA, None

    def heading(position: Any) -> None:
        if position.heading and position.open_close & 1 and position.text:
            level = min(position.heading, outline[-1][0] + 1 if outline else 1)
            outline.append([level, " ".join(position.text.split()), position.page_num])

    story = pymupdf.Story(f"<body>{made.html}</body>", user_css=_CSS)
    story.write(writer, area, heading)
    writer.close()
    document = pymupdf.open("pdf", out.getvalue())
    if outline:
        document.set_toc(outline)
    title = made.title or next((text for level, text, _ in outline if level == 1), "")
    return Converted(document, (*encoding_notes(code), *made.notes), title, cover=not title)
