"""Paragraph joining: paragraphs that break at the end of a column or page are joined with their continuation.

Wording decides if it can (a hyphen, a lower-case letter, an unfinished sentence). If a sentence happens to end with its
column, typesetting decides: the last line is full and the next block is not indented although this document indents its
paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from ragcore.ingest.blocks import Block
from ragcore.ingest.canonical import Line, Ref
from ragcore.ingest.layout import SUPERSCRIPT, PageLayout, Rect, around
from ragcore.ingest.lists import marker

SAME_SIZE = 0.04  # largest difference between the font sizes of the two parts, as a share
MAX_PAGES = 8  # between the two parts: full-page tables and figures may come between
INDENT = 0.6  # of the font size: a first line indented by more counts as indented
INDENTING = 0.35  # share of indented paragraphs from which a document counts as indenting
MIN_WORDS = 8  # shorter pieces are no broken paragraphs unless their wording says so
_LABEL = re.compile(r"(source|note|sources|notes|figure|table|fig)\b", re.IGNORECASE)
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "．", "؟", "۔", "।")
_CLOSING = "”’\"')]»）」』"
# Words that no sentence ends with: the text continues in the next column or page even with a capital.
_GOES_ON = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with"}
)
_FLOATS = ("figure", "table", "caption", "footnote")


def join_over_breaks(pages: Sequence[Sequence[Block]]) -> None:
    """Append each continuation's words to the block that it continues, and mark the continuation ``joined``. Floats and
    footnotes in between stay in place; a heading or a formula closes the open paragraph."""
    indents = _indents(pages)
    open_blocks: list[Block] = []
    floated = False
    for blocks in pages:
        for block in blocks:
            if block.noise is not None:
                continue
            if block.kind in _FLOATS or not block.words:
                floated = True
                continue
            if block.kind not in ("paragraph", "list_item"):
                # A heading smaller than the text is in a box beside it.
                boxed = block.kind == "heading"
                open_blocks = [b for b in open_blocks if boxed and block.size < (1 - SAME_SIZE) * b.words[-1].size]
                continue
            before = next((b for b in reversed(open_blocks) if _same_type(b, block)), None)
            if before is not None and _continues(before, block, indents, floated):
                before.lines = [*before.lines, *block.lines]
                before.words = (*before.words, *block.words)
                block.joined = True
            else:
                open_blocks = [*[b for b in open_blocks if not _same_type(b, block)][-3:], block]
            floated = False


def join_headings(blocks: Sequence[Block]) -> None:
    """Join a heading that breaks off in mid-sentence with its rest, which the layout model put into a separate box."""
    before: Block | None = None
    for block in blocks:
        if block.noise is not None or not block.words:
            continue
        if (
            before is not None
            and block.kind == before.kind == "heading"
            and block.text[0].islower()
            and marker(block.words[0].text) is None
            and not _ended(before)
            and _same_type(before, block)
            and before.bold == block.bold
        ):
            before.lines = [*before.lines, *block.lines]
            before.words = (*before.words, *block.words)
            block.joined = True
        else:
            before = block


def _same_type(first: Block, second: Block) -> bool:
    a, b = first.words[-1].size, second.words[0].size
    return abs(a - b) <= SAME_SIZE * max(a, b)


def _continues(first: Block, second: Block, indents: bool, floated: bool) -> bool:
    if first.verbatim or second.verbatim or marker(second.words[0].text) is not None:
        return False
    if second.kind == "list_item" and (second.page is not first.page or not second.words[0].text[0].islower()):
        return False
    wording = _wording(first, second)
    if not _elsewhere(first, second):
        # Within a column only a float can come between, and only the wording can show it.
        return wording == "goes on" and floated and second.page is first.words[-1].page
    if wording != "open":
        return wording == "goes on"
    if first.kind == "list_item" or second.kind == "list_item":
        return False
    if len(first.words) < MIN_WORDS or not _is_full(first) or _indented(second) or _LABEL.match(second.text):
        return False
    return not _ended(first) or indents


def _wording(first: Block, second: Block) -> str:
    """Verdict of the wording alone on whether ``second`` continues ``first``: "goes on", or "open"."""
    ending, beginning = first.words[-1].text, second.words[0].text
    if ending.endswith(("-", "\u2010")) and beginning[0].islower():
        return "goes on"
    if _ended(first):
        return "open"
    if beginning[0].islower() or ending.endswith((",", "–", "—")) or ending.lower() in _GOES_ON:
        return "goes on"
    return "open"


def _ended(block: Block) -> bool:
    """Whether a sentence ends with the block, ignoring reference marks after its full stop."""
    words = list(block.words[-6:])
    size = max(word.size for word in words)
    while len(words) > 1 and (words[-1].flags & SUPERSCRIPT or words[-1].size < 0.8 * size):
        words.pop()
    text = words[-1].text.rstrip(_CLOSING) or words[-1].text
    return text.endswith(_ENDS) and not re.fullmatch(r"[A-Z]\.", text)


def _elsewhere(first: Block, second: Block) -> bool:
    """Whether ``second`` is on a later page, or in a column beside and above the end of ``first``."""
    end = first.words[-1]
    if end.page is not second.page:
        return 1 <= second.page.number - end.page.number <= MAX_PAGES
    x0, _y0, x1, _y1 = _last_part(first)
    beside = second.box[0] >= x1 - end.size or second.box[2] <= x0 + end.size
    return beside and second.box[1] < end.box[1]


def _last_lines(block: Block) -> list[Line]:
    """Lines of the block's last column."""
    lines = [block.lines[-1]]
    for line in reversed(block.lines[:-1]):
        if line[0].page is not lines[-1][0].page or line[0].box[1] > lines[-1][0].box[1]:
            break
        lines.append(line)
    return lines[::-1]


def _last_part(block: Block) -> Rect:
    return around(word.box for line in _last_lines(block) for word in line)


def _column_right(page: PageLayout, left: float, right: float) -> float:
    """Right edge of the text column of ``page`` that contains ``left``–``right``."""
    middle = (left + right) / 2
    edges = [r.box[2] for r in page.regions if r.kind in ("text", "list-item") and r.box[0] <= middle <= r.box[2]]
    return max([right, *edges]) if edges else right


def _is_full(block: Block) -> bool:
    lines = _last_lines(block)
    x0, _y0, x1, _y1 = _last_part(block)
    edge = x1 if len(lines) > 1 else _column_right(lines[-1][0].page, x0, x1)
    return len(block.lines) > 1 and _right(lines[-1]) >= edge - 1.5 * lines[-1][-1].size


def _right(line: Line) -> float:
    return max(word.box[2] for word in line)


def _indented(block: Block) -> bool:
    if len(block.lines) < 2:
        return False
    first, second = _left(block.lines[0]), _left(block.lines[1])
    return first - second > INDENT * block.words[0].size


def _left(line: Sequence[Ref]) -> float:
    return min(word.box[0] for word in line)


def _indents(pages: Sequence[Sequence[Block]]) -> bool:
    """Whether this document indents paragraphs. Those after a heading do not count: they are often not indented."""
    body = [b for blocks in pages for b in blocks if b.noise is None and b.words]
    shown = [b for a, b in pairwise(body) if b.kind == "paragraph" and a.kind == "paragraph" and len(b.lines) > 2]
    if len(shown) < 4:
        return False
    size = median(b.size for b in shown)
    shown = [b for b in shown if abs(b.size - size) <= SAME_SIZE * size]
    return sum(_indented(b) for b in shown) > INDENTING * len(shown)
