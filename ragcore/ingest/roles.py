"""Role correction: repairs of the layout model's classes that need the whole document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ragcore.ingest.blocks import Block, body_size
from ragcore.ingest.canonical import plain
from ragcore.ingest.layout import SUPERSCRIPT
from ragcore.ingest.levels import key, marker
from ragcore.text.captions import label_of

SMALL = 0.93  # of the body's font size: footnotes are set smaller
TITLE_SIZE = 1.3  # times the body's font size: text set larger is a heading
MAX_TITLE_WORDS = 40
_MARK = re.compile(r"^(\d{1,3}|[*†‡§¶]+)$")
_LEADERS = re.compile(r"(\.\s?){5,}")
# Behind the label of "Figure 3.", "Table 2 |", "Fig. S1:", or of one that is alone; but not of "Figure 3 shows".
_SET_OFF = re.compile(r"\s*(?:[.:|–—]\s*(?=[^\s\d])|[.:|–—]\s+(?=\S)|$)")
_CJK_CAPTION = re.compile(r"^[\[<【]?\s*(?:图|圖|図|表|그림|표)\s*\d+")
MAX_CAPTION_WORDS = 200
_PAGE_AT_END = re.compile(r"(?:\.\s?){4}\s*(\d{1,4}|[ivxlc]{1,7}|[A-Z]{1,2}-\d{1,3})$", re.IGNORECASE)
_NUMBER_AT_END = re.compile(r"[^\W\d].*\s(\d{1,4})$")
CONTENTS = ("contents", "tableofcontents")  # as `key` gives them
_SECTION_NUMBER = re.compile(r"§?\s?\(?\d{1,3}(?:\.\d{1,3})*[.):]?")


def correct_roles(pages: Sequence[Sequence[Block]]) -> None:
    """Correct misclassified blocks, using the whole document:

    - footnotes classified as text or list items, by their place, size and mark;
    - tables of contents classified as tables, by their dot leaders or heading: paragraphs that keep their lines;
    - captions classified as text, by their label;
    - headings that are none: bulleted items, lone marks and numbers, parts of sentences, formulas;
    - titles taken for text, by their size.
    """
    body = [b for blocks in pages for b in blocks if b.kind in ("paragraph", "list_item") and b.noise is None]
    body = [b for b in body if not b.place]
    common = body_size(body)
    for block in body:
        low = block.box[1] > block.page.frame[1] / 2
        if low and block.words and block.size < SMALL * common and _is_marked(block):
            block.kind = "footnote"
    for blocks in pages:
        headed = False  # as contents, further up the page
        for block in blocks:
            if block.noise is not None or not block.words or block.place:
                continue
            if block.kind == "table" and is_contents([plain([line]) for line in block.lines], headed=headed):
                block.kind, block.verbatim = "paragraph", True
            elif block.kind in ("paragraph", "heading", "list_item", "footnote") and is_caption(block):
                block.kind = "caption"
            elif block.kind == "heading":
                _check_heading(block)
            elif block.kind == "paragraph" and _is_title(block, common):
                block.kind = "heading"
            headed = headed or key(block.text) in CONTENTS


def is_caption(block: Block) -> bool:
    """Whether the block opens with the label of a figure or table, set off from the following text."""
    text = block.text
    if len(block.words) > MAX_CAPTION_WORDS or _PAGE_AT_END.search(text):
        return False
    return bool(_CJK_CAPTION.match(text)) or any(map(_is_labelled, (text, plain(block.lines[:1]))))


def _is_labelled(text: str) -> bool:
    kind, number, behind = label_of(text)
    return kind in ("figure", "table", "listing") and bool(number and _SET_OFF.match(behind))


def _check_heading(block: Block) -> None:
    text, words = block.text, block.words
    mark = marker(words[0].text)
    if mark is not None and not mark.numbers and len(words) > 1:
        block.kind = "list_item"
    elif _is_mark(block) or text.endswith(";") or (text[0].islower() and text.endswith(",")):
        block.kind = "paragraph"  # a mark, or what goes on from the page before
    elif not any(c.isalpha() for c in text) and "=" not in text and not _SECTION_NUMBER.fullmatch(text):
        block.kind = "paragraph"  # a telephone number, a date, a line of figures
    elif sum(c.isalpha() for c in text) < 0.4 * len(text.replace(" ", "")) and "=" in text:
        block.kind = "formula"


def _is_mark(block: Block) -> bool:
    return (len(block.words) == 1 and marker(block.words[0].text) is not None) or sum(map(str.isalnum, block.text)) < 2


def _is_title(block: Block, common: float) -> bool:
    """Whether the block is text far larger than the body: a title that the model classified as text."""
    letters = sum(c.isalpha() for c in block.text)
    return (
        not block.verbatim
        and common > 0
        and block.size >= TITLE_SIZE * common
        and len(block.words) <= (MAX_TITLE_WORDS if block.page.number == 1 else MAX_TITLE_WORDS // 2)
        and letters > 3
        and letters > 0.6 * len(block.text.replace(" ", ""))
    )


def is_contents(lines: Sequence[str], *, headed: bool = False) -> bool:
    """Whether most lines have dot leaders to a page number or, ``headed`` as contents, a page number. Tables of numbers
    can have such dots as well, but page numbers are alone after them, plain, and do not decrease."""
    if headed:
        pages = [int(match.group(1)) for line in lines if (match := _NUMBER_AT_END.search(line))]
        return len(pages) > max(2, 0.5 * len(lines)) and all(a <= b for a, b in pairwise(pages))
    if sum(bool(_LEADERS.search(line)) for line in lines) <= 0.5 * len(lines):
        return False
    entries = [match.group(1) for line in lines if (match := _PAGE_AT_END.search(line))]
    values = sum(bool(_LEADERS.search(line)) for line in lines)
    if len(entries) < 0.8 * values:
        return False
    numbers = [int(entry) for entry in entries if entry.isdigit()]
    return sum(a <= b for a, b in pairwise(numbers)) >= 0.8 * (len(numbers) - 1)


def _is_marked(block: Block) -> bool:
    first = block.words[0]
    raised = bool(first.flags & SUPERSCRIPT) or (len(block.words) > 1 and first.size < 0.85 * block.words[1].size)
    glued = re.match(r"^\d{1,3}[A-Z]", first.text) is not None
    return (raised or glued) if first.text[0].isdigit() else bool(_MARK.match(first.text[0]))
