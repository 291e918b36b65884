"""What a reader of each format finds in a file: its words, and the notes that are referred to."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import docx
import pymupdf
from docx.oxml.ns import qn
from lxml import etree
from markdown_it import MarkdownIt

W = {"w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main"}


def squeezed(text: str) -> str:
    """Without blanks: where a line or cell ends is the format's business."""
    return "".join(text.split())


@dataclass(frozen=True, slots=True)
class File:
    """``words`` of all of it; ``references`` the numbers in the text in order, ``notes`` the words of each."""

    words: str
    references: list[int]
    notes: dict[int, str]


def markdown(data: bytes) -> File:
    text = data.decode()
    defined = dict(re.findall(r"^\[\^(\d+)\]: (.*)$", text, re.MULTILINE))
    bare = re.sub(r"^\[\^\d+\]:", "", text, flags=re.MULTILINE)
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    words = "\n".join(_inline(token) for token in parser.parse(bare) if token.type in ("inline", "fence", "code_block"))
    references = [int(n) for n in re.findall(r"(?<!\\)\[\^(\d+)\]", bare)]
    return File(
        re.sub(r"\[\^\d+\]", "", words), references, {int(n): _text(parser, note) for n, note in defined.items()}
    )


def _text(parser: MarkdownIt, text: str) -> str:
    return "".join(_inline(token) for token in parser.parseInline(text))


def _inline(token: Any) -> str:
    if token.children is None:
        return str(token.content)
    breaks = {"softbreak": "\n", "hardbreak": "\n"}
    return "".join(breaks.get(child.type, child.content) for child in token.children)


def parts(data: bytes) -> tuple[Any, Any]:
    """A Word file as python-docx opens it, and the root of its footnotes."""
    document = docx.Document(io.BytesIO(data))
    [notes] = [rel.target_part for rel in document.part.rels.values() if rel.reltype.endswith("/footnotes")]
    return document, etree.fromstring(notes.blob)


def word(data: bytes) -> File:
    document, footnotes = parts(data)
    body = document.element.body
    # Word numbers footnotes by the order of their references, whatever their ids are.
    texts = {note.get(qn("w:id")): words_of(note) for note in footnotes.xpath("w:footnote[not(@w:type)]", namespaces=W)}
    ids = [found.get(qn("w:id")) for found in body.iter(qn("w:footnoteReference"))]
    notes = {number: texts[each] for number, each in enumerate(ids, start=1)}
    words = "\n".join("".join(p.xpath(".//w:t/text()")) for p in body.iter(qn("w:p")))
    return File("\n".join([_without_fields(body) or words, *notes.values()]), list(_references(body)), notes)


def words_of(element: Any) -> str:
    """The words of an element, without the blanks between its tags."""
    return "".join(t.text or "" for t in element.iter(qn("w:t")))


def _references(body: Any) -> Iterator[int]:
    numbers = count(1)
    for found in body.iter(qn("w:footnoteReference"), qn("w:instrText")):
        if found.tag == qn("w:footnoteReference"):
            yield next(numbers)
        else:
            match = re.fullmatch(r" NOTEREF Note(\d+) \\f \\h ", found.text)
            assert match
            yield int(match[1])


def _without_fields(body: Any) -> str:
    """The words of all paragraphs; what a cross-reference shows is no word."""
    lines = []
    for paragraph in body.iter(qn("w:p")):
        line = [
            t.text or ""
            for t in paragraph.iter(qn("w:t"))
            if not t.getparent().xpath("w:rPr/w:rStyle[@w:val='FootnoteReference']")
        ]
        lines.append("".join(line))
    return "\n".join(lines)


def pdf(data: bytes) -> File:
    with pymupdf.open("pdf", data) as document:
        pages = [page.get_text("dict", sort=False) for page in document]
        spans = [
            span
            for page in pages
            for block in page["blocks"]
            for line in block.get("lines", ())
            for span in line["spans"]
        ]
        flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES
        words = "".join(page.get_text(flags=flags) for page in document).replace("\u200b", "")
    # A reference is a small raised number: MuPDF sets those of 7 points only.
    references = [
        int(span["text"]) for span in spans if abs(span["size"] - 7) < 0.1 and span["text"].strip().isdecimal()
    ]
    return File(words, references, {})


READERS: dict[str, Callable[[bytes], File]] = {"md": markdown, "docx": word, "pdf": pdf}
