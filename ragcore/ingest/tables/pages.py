"""Tables on their pages: what names a table, and which tables continue over a page end (or into the next column).

A table's title is the caption or heading above it (or the ``Table N`` line below) with the unit of its values.

Joining is conservative: the second part must be next in the body, except for notes and lines that say "continued" or
repeat the title; it must have as many columns; and either its header repeats the first one's word for word, or it has
none, or it is said to continue. The header printed again becomes furniture (``repeated_header``), a repeated title too
(``repeated_title``): their words stay in the document, but not in its body.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragcore.ingest.blocks import Block, part_of
from ragcore.ingest.canonical import Line, first_words, plain
from ragcore.ingest.forms import split_fields
from ragcore.ingest.layout import Grid, GridCell, around, overlap
from ragcore.ingest.levels import key
from ragcore.ingest.roles import CONTENTS
from ragcore.ingest.tables.cells import draft_table
from ragcore.ingest.tables.draft import Draft, DraftCell
from ragcore.ingest.tables.headers import inner_header
from ragcore.text.captions import CONTINUED, is_continued, is_note, label_of
from ragcore.text.units import UNIT_NOTE
from ragcore.types import ElementKind

TITLE_GAP = 40.0  # points between a table and the block that names it
MAX_TITLE_WORDS = 30
SMALL = 0.95  # of the table's font size: notes are smaller
MIN_RULE = 12  # characters of a rule set in dots
MAX_UNIT_WORDS = 14  # a longer line with a unit in it is prose
MAX_MARK_WORDS = 25  # in a block that says "continued"
MAX_BETWEEN = 3  # blocks between the parts
MAX_WORDS = 40  # in each of those blocks
_NOTE_MARK = re.compile(r"[*†‡§]|\(?(?:\d{1,2}|[a-z])\)?\s", re.IGNORECASE)


def draft_tables(per_page: Sequence[list[Block]]) -> dict[Block, Draft]:
    """Trusted tables, by block; the others become paragraphs that keep their lines. Names that the table finder took
    for rows become captions, and rules made of dots or dashes furniture."""
    drafts: dict[Block, Draft] = {}
    for blocks in per_page:
        for block in [b for b in blocks if b.kind == "table"]:
            rules = [line for line in block.lines if _is_rule(line)]
            if rules:
                blocks.insert(blocks.index(block) + 1, _part(block, "paragraph", rules, "rule"))
            _draft(block, blocks, drafts)
    return drafts


def _draft(block: Block, blocks: list[Block], drafts: dict[Block, Draft], above: Block | None = None) -> None:
    """Draft of ``block``, or its drafts, if its columns are named anew further down; ``above`` it was the same grid."""
    draft = draft_table(block)
    if draft is None or block.grid is None:
        block.kind = "paragraph"
        at, parts = blocks.index(block), split_fields(block)
        for part in parts:
            part.verbatim = part is block or len(part.lines) > 1
        blocks[at : at + 1] = parts
        return
    header = None if block.grid.given else inner_header(draft)
    if header is not None:
        names = [line for row in header[:-1] if draft.row(row)[0].col == 0 for c in draft.row(row) for line in c.lines]
        parts = [_part(block, "caption", names)] if names else []
        lower = _lower(block, draft, header)
        at = blocks.index(block) + 1
        blocks[at:at] = [*parts, lower]
        _draft(block, blocks, drafts, above)
        _draft(lower, blocks, drafts, block)
        return
    draft.above = drafts.get(above) if above is not None else None
    drafts[block] = draft
    if not block.grid.given and (name := _take_name(draft)):
        blocks.insert(blocks.index(block), _part(block, "caption", name))


def _lower(block: Block, draft: Draft, header: range) -> Block:
    """Part of ``block`` from the first of the ``header`` rows on, with its part of the grid."""
    assert block.grid is not None
    kept = set(block.words)
    below = [cell for cell in draft.cells if cell.row >= header[0] and kept.issuperset(cell.words) and cell.lines]
    head = max(cell.bottom() for cell in below if cell.row == header[-1])
    lower = _part(block, "table", [line for cell in below for line in cell.lines])
    middles = [((cell.box[1] + cell.box[3]) / 2, cell) for cell in block.grid.cells]
    rest = [cell for middle, cell in middles if middle <= lower.box[1]]
    moved = [replace(cell, header=middle < head) for middle, cell in middles if middle > lower.box[1]]
    block.grid, lower.grid = _grid(block.grid, rest), _grid(block.grid, moved)
    return lower


def _grid(grid: Grid, cells: Sequence[GridCell]) -> Grid:
    """Grid of some ``cells`` of ``grid``."""
    first = min((cell.row for cell in cells), default=0)
    moved = tuple(replace(cell, row=cell.row - first) for cell in cells)
    return replace(grid, rows=max((cell.row + cell.row_span for cell in moved), default=0), cells=moved)


def _is_rule(line: Line) -> bool:
    """Whether a printed line is a rule set in dots or dashes."""
    text = "".join(word.text for word in line)
    return len(text) >= MIN_RULE and not text.strip(".…·_-–—=")


def _take_name(draft: Draft) -> list[Line]:
    """Remove a row that is only the table's name (``Table 2. Study outcomes``), or says that it is continued, from the
    head of ``draft``'s header or body; returns its lines."""
    taken: list[Line] = []
    for row in (draft.header_rows, 0):
        cells = draft.row(row)
        if draft.rows < 3 or len(cells) != 1 or cells[0].row_span > 1:
            continue
        if is_continued(cells[0].text) or (row == 0 and _is_name(cells[0].text)):
            taken += cells[0].lines
            cells[0].lines = []
            draft.compact()
    return taken


def _part(table: Block, kind: ElementKind, lines: list[Line], noise: str | None = None) -> Block:
    """Separate block made of some lines of ``table``."""
    taken = {word for line in lines for word in line}
    table.lines = [kept for line in table.lines if (kept := tuple(word for word in line if word not in taken))]
    table.words = tuple(word for word in table.words if word not in taken)
    table.box = around(word.box for word in table.words) if table.words else table.box
    made = part_of(table, lines, kind)
    made.noise = noise
    return made


def join_tables(per_page: Sequence[list[Block]], drafts: dict[Block, Draft]) -> None:
    """Find the titles of ``drafts`` and join those that continue an earlier one: their blocks become ``joined``, their
    drafts merge into the first one's, and ``per_page`` gets a block of furniture for each header printed again."""
    for blocks in per_page:
        for block in blocks:
            if block in drafts and block.noise is None:
                draft = drafts[block]
                draft.title = table_title(block, blocks) or (draft.above.title if draft.above is not None else [])
    upper: Draft | None = None  # the table that may continue
    between: list[Block] = []
    for blocks in per_page:
        for block in list(blocks):
            if block.noise is not None or not (block.words or block.kind == "figure"):
                continue
            if block not in drafts:
                between.append(block)
                continue
            if upper is not None and _goes_on(upper, drafts[block], between):
                header = _join(upper, drafts.pop(block), between)
                if header:
                    made = Block(block.page, "page_header", block.role, block.box, header, noise="repeated_header")
                    blocks.insert(blocks.index(block), made)
            else:
                upper = drafts[block]
            between = []


def table_title(table: Block, blocks: Sequence[Block]) -> list[Line]:
    """Lines that name ``table``: its caption, else the heading or ``Table N`` line directly above, else the lead-in
    sentence that ends with a colon; with a unit line (``(in millions)``) between the two; [] if there are none.
    ``blocks`` are those of its page."""
    near = [b for b in blocks if b.noise is None and b is not table and b.words and overlap(b.box, table.box)[0] > 0]
    above = sorted((b for b in reversed(near) if b.box[3] <= table.box[1] + 4), key=lambda b: -b.box[3])
    units: list[Line] = []
    edge = table.box[1]
    for block in above[:4]:
        named = key(block.text) in (*CONTENTS, "index")
        if edge - block.box[3] > TITLE_GAP or block.kind in ("table", "figure") or named:
            break
        words = len(block.words)
        if block.kind == "caption" or (_is_name(block.text) and words <= 2 * MAX_TITLE_WORDS):
            return _shorten(block.lines) + units
        sentence = block.text.endswith((":", ".")) and not block.text.startswith("(")
        if words <= MAX_UNIT_WORDS and UNIT_NOTE.search(block.text) and not sentence:
            units = [*block.lines, *units]
        elif block.kind == "heading" and words <= MAX_TITLE_WORDS:
            return list(block.lines) + units
        else:
            return _lead_in(block) + units
        edge = block.box[1]
    below = sorted((b for b in near if b.box[1] >= table.box[3] - 4), key=lambda b: b.box[1])
    edge = table.box[3]
    for place, block in enumerate(below[:3]):
        gap = block.box[1] - edge
        if gap > TITLE_GAP or block.kind in ("table", "figure"):
            break
        if _is_name(block.text):
            if any(after.box[1] - block.box[3] < gap for after in below[place + 1 : place + 2]):
                break  # it names what follows
            return _shorten(block.lines) + units
        if block.kind != "footnote" and block.size > SMALL * table.size:
            break
        edge = block.box[3]  # notes may come between a table and its name
    return units


def _is_name(text: str) -> bool:
    """Whether ``text`` begins with ``Table 3`` or the like (or is just ``Table``)."""
    kind, number, behind = label_of(text)
    return kind in ("table", "exhibit", "schedule") and text[0].isalpha() and bool(number or not behind.strip())


def _without_continued(text: str) -> str:
    """``text`` for comparison, without "(continued)"."""
    return key(CONTINUED.sub(" ", text))


def _lead_in(block: Block) -> list[Line]:
    """Last sentence of a paragraph that ends with a colon: it announces the table. Of a longer sentence, or a paragraph
    that ends otherwise, only the unit in brackets at its end."""
    words = [word for line in block.lines for word in line]
    if block.kind not in ("paragraph", "list_item") or not words:
        return []
    start = 0
    for place, word in enumerate(words[:-1]):
        if word.text.endswith((".", "?", "!")) and len(word.text) > 3 and words[place + 1].text[0].isupper():
            start = place + 1
    sentence = words[start:]
    if words[-1].text.endswith(":") and len(sentence) <= MAX_TITLE_WORDS:
        return [tuple(sentence)]
    opening = [place for place, word in enumerate(words) if word.text.startswith("(")]
    unit = words[opening[-1] :] if opening else []
    closed = bool(unit) and unit[-1].text.rstrip(":.").endswith(")") and len(unit) <= MAX_UNIT_WORDS
    return [tuple(unit)] if closed and UNIT_NOTE.search(plain([unit])) else []


def _shorten(lines: Sequence[Line]) -> list[Line]:
    """The first sentence of a caption, at most MAX_TITLE_WORDS words, and always more than its number."""
    words = [word.text for line in lines for word in line]
    ends = (
        place + 1
        for place, word in enumerate(words)
        if place > 3 and word.endswith((".", "?", "!")) and not word[:-1].isdigit() and len(word) > 2
    )
    return first_words(lines, min(MAX_TITLE_WORDS, next(ends, MAX_TITLE_WORDS)))


def _goes_on(upper: Draft, lower: Draft, between: Sequence[Block]) -> bool:
    """Whether ``lower`` continues ``upper``, with the blocks ``between`` them."""
    end, second = upper.blocks[-1], lower.blocks[0]
    if second.grid is not None and second.grid.headers is not None:
        return second.grid.continues
    same_page = end.page is second.page
    if upper.columns != lower.columns or not (same_page or second.page.number - end.page.number == 1):
        return False
    marked = any(_is_mark(block) for block in between)
    title, own = plain(upper.title), plain(lower.title)
    if own and not _same_title(title, own) and not (marked and not title):
        return False
    if same_page:
        return marked and second.box[0] >= end.box[2] - 2 and _same_header(upper, lower)
    if len(between) > MAX_BETWEEN or not all(_may_stand_between(block, end, title) for block in between):
        return False
    return _same_header(upper, lower) or marked or not lower.header_rows


def _is_mark(block: Block) -> bool:
    return is_continued(block.text) and len(block.words) <= MAX_MARK_WORDS


def _same_title(title: str, own: str) -> bool:
    """Whether the second part's title repeats the first one's, in full or, if marked "continued", its beginning."""
    first, second = _without_continued(title), _without_continued(own)
    return first == second or (is_continued(own) and first.startswith(second))


def _may_stand_between(block: Block, end: Block, title: str) -> bool:
    """Whether the block may come between the parts: a note below the first one; or, above the second one, its title
    again or a line that says "continued"."""
    if len(block.words) > MAX_WORDS or block.kind == "figure":
        return False
    if block.page is end.page:
        noted = is_note(block.text) or _NOTE_MARK.match(block.text) is not None
        return block.kind == "footnote" or noted or is_continued(block.text)
    name = _without_continued(block.text)
    return is_continued(block.text) or (bool(name) and name in _without_continued(title))


def _same_header(upper: Draft, lower: Draft) -> bool:
    return _header_text(upper) == _header_text(lower) != ""


def _header(draft: Draft) -> list[DraftCell]:
    return [cell for row in range(draft.header_rows) for cell in draft.row(row)]


def _header_text(draft: Draft) -> str:
    """Text of the header for comparison."""
    return _without_continued("".join(cell.text for cell in _header(draft)))


def _join(upper: Draft, lower: Draft, between: Sequence[Block]) -> list[Line]:
    """Append the rows of ``lower`` to ``upper``. Returns the lines of its header if it repeats the first one's."""
    end, second = upper.blocks[-1], lower.blocks[0]
    header = _header(lower) if _same_header(upper, lower) else []
    dropped = lower.header_rows if header else 0
    rest = [cell for cell in lower.cells if cell.row >= dropped]
    for cell in rest:
        cell.row += upper.rows - dropped
        cell.header = False
    upper.cells += rest
    upper.rows += lower.rows - dropped
    for block in between:
        repeats = block.page is not end.page and block.box[1] < second.box[1]
        if repeats or _is_mark(block):
            block.noise = "repeated_title"
    upper.blocks.append(second)
    upper.title = upper.title or lower.title
    second.joined = True
    return [line for cell in header for line in cell.lines]
