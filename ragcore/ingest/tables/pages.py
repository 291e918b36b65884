"""Table continuation: joins tables that continue over a page end (or into the next column).

Conservative: the second part must be next in the body, except for lines that say "continued" or repeat the title; it
must have as many columns; and either its header repeats the first one's word for word, or it has none and its columns
are at the first part's positions. The header printed again becomes furniture (``repeated_header``), a repeated title
too (``repeated_title``): their words stay in the document, but not in its body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from ragcore.ingest.blocks import Block
from ragcore.ingest.canonical import Line, plain
from ragcore.ingest.tables.draft import Draft, DraftCell
from ragcore.ingest.tables.titles import is_continued, without_continued

SHIFT = 2.0  # font sizes by which a column's edge may differ
MAX_MARK_WORDS = 25  # in a block that says "continued"
MAX_BETWEEN = 3  # blocks between the parts
MAX_WORDS = 40  # in each of those blocks
_NOTE = re.compile(r"^(?:notes?|sources?)\b|^[*†‡§]|^\(?(?:\d{1,2}|[a-z])\)?\s", re.IGNORECASE)


@dataclass
class Joined:
    """Result of joining. ``parts``: a table's block → the blocks that continue it. ``headers``: the furniture block of
    a header printed again → the table's block and the header's cells."""

    parts: dict[Block, list[Block]] = field(default_factory=dict)
    headers: dict[Block, tuple[Block, list[DraftCell]]] = field(default_factory=dict)


def join_tables(per_page: Sequence[list[Block]], drafts: dict[Block, Draft], titles: dict[Block, list[Line]]) -> Joined:
    """Join the tables of ``drafts`` that continue an earlier one: their blocks become ``joined``, their drafts merge
    into the first one's, and ``per_page`` gets a furniture block for each header printed again. A title that only the
    last part has (a name below it) becomes the first one's in ``titles``."""
    joined = Joined()
    first: Block | None = None  # block of the table that may continue
    between: list[Block] = []
    for blocks in per_page:
        for block in list(blocks):
            if block.noise is not None or not (block.words or block.kind == "figure"):
                continue
            if block not in drafts or block.kind != "table":
                between.append(block)
                continue
            if first is not None and _goes_on(first, block, between, drafts, titles, joined):
                _join(first, block, between, blocks, drafts, joined)
                if not titles.get(first):
                    titles[first] = titles.get(block, [])
            else:
                first = block
            between = []
    return joined


def _goes_on(
    first: Block,
    second: Block,
    between: Sequence[Block],
    drafts: Mapping[Block, Draft],
    titles: Mapping[Block, Sequence[Line]],
    joined: Joined,
) -> bool:
    end = joined.parts.get(first, [first])[-1]
    upper, lower = drafts[first], drafts[second]
    same_page = end.page is second.page
    if upper.columns != lower.columns or (not same_page and second.page.number - end.page.number != 1):
        return False
    repeats = _same_header(upper, lower)
    marked = any(is_continued(block.text) and len(block.words) <= MAX_MARK_WORDS for block in between)
    title, own = plain(titles.get(first, ())), plain(titles.get(second, ()))
    if own and not _same_title(title, own) and not (marked and not title):
        return False
    if same_page:
        return repeats and second.box[0] >= end.box[2] - 2 and marked
    if len(between) > MAX_BETWEEN or not all(_may_stand_between(block, end, title) for block in between):
        return False
    if repeats:
        return True
    return not (lower.header_rows and not marked) and _same_columns(upper, lower, end)


def _same_title(title: str, own: str) -> bool:
    """Whether the second part's title repeats the first one's, in full or, if marked "continued", its beginning."""
    first, second = without_continued(title), without_continued(own)
    return first == second or (is_continued(own) and first.startswith(second))


def _may_stand_between(block: Block, end: Block, title: str) -> bool:
    """Whether the block may come between the parts: a note below the first one; or, above the second one, its title
    again or a line that says "continued"."""
    if len(block.words) > MAX_WORDS or block.kind == "figure":
        return False
    if block.page is end.page:
        return block.kind == "footnote" or bool(_NOTE.match(block.text)) or is_continued(block.text)
    name = without_continued(block.text)
    return is_continued(block.text) or (bool(name) and name in without_continued(title))


def _same_header(upper: Draft, lower: Draft) -> bool:
    return _header_text(upper) == _header_text(lower) != ""


def _header(draft: Draft) -> list[DraftCell]:
    return [cell for row in range(draft.header_rows) for cell in draft.row(row)]


def _header_text(draft: Draft) -> str:
    """Text of the header for comparison."""
    text = "".join(cell.text for cell in _header(draft))
    return re.sub(r"\W+", "", text.casefold().replace("continued", ""))


def _same_columns(upper: Draft, lower: Draft, end: Block) -> bool:
    """Whether most columns of the two parts are aligned, by their left or right edges or their middles."""
    near = 0
    counted = 0
    for col in range(upper.columns):
        above = [c for c in upper.column(col, upper.header_rows) if c.words[0].page is end.page]
        below = list(lower.column(col, 0))
        if not above or not below:
            continue
        counted += 1
        size = above[0].size
        a, b = _edges(above), _edges(below)
        near += any(abs(q - p) <= SHIFT * size for p, q in zip(a, b))
    return counted >= 2 and near >= counted - (counted > 3)


def _edges(cells: Sequence[DraftCell]) -> tuple[float, float, float]:
    lefts, rights = [c.extent()[0] for c in cells], [c.extent()[1] for c in cells]
    return median(lefts), median(rights), median((a + b) / 2 for a, b in zip(lefts, rights))


def _join(
    first: Block,
    second: Block,
    between: Sequence[Block],
    blocks: list[Block],
    drafts: dict[Block, Draft],
    joined: Joined,
) -> None:
    end = joined.parts.get(first, [first])[-1]
    upper, lower = drafts[first], drafts.pop(second)
    header: list[DraftCell] = []
    if _same_header(upper, lower):
        header = _at_places(upper, _header(lower))
        lower.cells = [c for c in lower.cells if c.row >= lower.header_rows]
        dropped = lower.header_rows
    else:
        dropped = 0
    shift = _shift(upper, lower, first, second)
    for cell in lower.cells:
        cell.row += upper.rows - dropped
        cell.header, cell.shift = False, shift
    upper.cells += lower.cells
    upper.rows += lower.rows - dropped
    for block in between:
        repeats = block.page is not end.page and block.box[1] < second.box[1]
        if repeats or (is_continued(block.text) and len(block.words) <= MAX_MARK_WORDS):
            block.noise = "repeated_title"
    joined.parts.setdefault(first, [first]).append(second)
    second.joined = True
    if header:
        lines = [line for cell in header for line in cell.lines]
        made = Block(second.page, "page_header", second.role, second.box, lines, noise="repeated_header")
        blocks.insert(blocks.index(second), made)
        joined.headers[made] = (first, header)


def _shift(upper: Draft, lower: Draft, first: Block, second: Block) -> float:
    """Offset of the second part to the right of the first; 0 if their last columns are aligned."""
    a = [c.extent()[1] for c in upper.column(upper.columns - 1, upper.header_rows) if not c.shift]
    b = [c.extent()[1] for c in lower.column(upper.columns - 1, 0)]
    apart = median(b) - median(a) if a and b else second.box[0] - first.box[0]
    return apart if abs(apart) > SHIFT * next(iter(upper.cells[0].words), first.words[0]).size else 0.0


def _at_places(upper: Draft, header: list[DraftCell]) -> list[DraftCell]:
    """Cells of a header printed again, moved to the places of the cells they repeat if the counts match."""
    printed = _header(upper)
    if len(printed) == len(header):
        for cell, other in zip(header, printed):
            cell.row, cell.row_span, cell.col, cell.col_span = other.row, other.row_span, other.col, other.col_span
    return header
