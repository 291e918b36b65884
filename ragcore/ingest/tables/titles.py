"""Table titles and notes: the caption or heading above a table (or the ``Table N`` line below) with the unit of its
values; and names, notes and "continued" lines that the table finder took for rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.ingest.blocks import Block
from ragcore.ingest.canonical import Line, plain
from ragcore.ingest.tables.draft import UNIT, Draft, DraftCell, is_number

TITLE_GAP = 40.0  # points between a table and the block that names it
MAX_TITLE_WORDS = 30
SMALL = 0.95  # of the table's font size: notes are smaller
MAX_UNIT_WORDS = 14  # a longer line with a unit in it is prose
_NAMES = r"table|exhibit|schedule|tableau|tabelle|tabla|tabella|tab\."
_NUMBER = r"[A-Z]?[-.]?(?:\d+|[IVXLC]+)(?:[.\-–]\d+)*[a-z]?[.:)]?"
_TABLE_NAME = re.compile(rf"^(?:{_NAMES})(?:\s+{_NUMBER}(?![\w])|\s*$)", re.IGNORECASE)
_CONTENTS = re.compile(r"^(?:table of )?contents\W*$|^index\W*$", re.IGNORECASE)
_GOES_ON = r"\b(?:cont(?:inue[ds]|['’]?d|\.)|concluded|suite|fortsetzung)\b"
_CONTINUED = re.compile(rf"[\s(\[,–—-]*{_GOES_ON}[\s)\].:]*", re.IGNORECASE)
# The mark is in brackets, after a comma, a dash or the table's number, or leads a few words; "sales continued to fall"
# is no mark.
_MARK = re.compile(
    rf"^\W*{_GOES_ON}[^.]{{0,30}}$|[(\[,–—-]\s*{_GOES_ON}[\s)\].:]*$|\([^()]*{_GOES_ON}[^()]*\)\W*$"
    rf"|^(?:{_NAMES})\s+\S+\s+{_GOES_ON}",
    re.IGNORECASE,
)
_CAPITAL_MARK = re.compile(r"\b(?:Continued|CONTINUED|Concluded|CONCLUDED)\W*$")


def table_title(table: Block, blocks: Sequence[Block]) -> list[Line]:
    """Lines that name ``table``: its caption, else the heading or ``Table N`` line directly above, else the lead-in
    sentence that ends with a colon; with a unit line (``(in millions)``) between the two; [] if there are none.
    ``blocks`` are those of its page."""
    near = [b for b in blocks if b.noise is None and b is not table and b.words and _over(b, table)]
    above = sorted((b for b in reversed(near) if b.box[3] <= table.box[1] + 4), key=lambda b: -b.box[3])
    units: list[Line] = []
    edge = table.box[1]
    for block in above[:4]:
        if edge - block.box[3] > TITLE_GAP or block.kind in ("table", "figure"):
            break
        if _CONTENTS.match(block.text):
            break
        words = len(block.words)
        if is_name(block.lines) and words <= 2 * MAX_TITLE_WORDS:
            return _shorten(block.lines) + units
        if block.kind == "caption":
            return _shorten(block.lines) + units
        sentence = block.text.endswith((":", ".")) and not block.text.startswith("(")
        if words <= MAX_UNIT_WORDS and UNIT.search(block.text) and not sentence:
            units = [*block.lines, *units]
        elif block.kind == "heading" and words <= MAX_TITLE_WORDS:
            return list(block.lines) + units
        else:
            return _lead_in(block) + units
        edge = block.box[1]
    below = sorted((b for b in near if b.box[1] >= table.box[3] - 4), key=lambda b: b.box[1])
    edge = table.box[3]
    for block, after in zip(below[:3], [*below[1:], None]):
        if block.box[1] - edge > TITLE_GAP or block.kind in ("table", "figure"):
            break
        if is_name(block.lines):
            if after is not None and _names_next(block, after, edge):
                break
            return _shorten(block.lines) + units
        if block.kind != "footnote" and block.size > SMALL * table.size:
            break
        edge = block.box[3]  # notes may come between a table and its name
    return units


def _names_next(name: Block, after: Block, above: float) -> bool:
    """Whether ``name`` belongs to the heading or table ``after`` it rather than to the table that ends at ``above``."""
    return after.kind in ("heading", "caption", "table") and after.box[1] - name.box[3] < name.box[1] - above


def is_name(lines: Sequence[Line]) -> bool:
    """Whether ``lines`` begin with ``Table 3`` or the like (or are just ``Table``)."""
    return bool(_TABLE_NAME.match(plain(lines)))


def is_continued(text: str) -> bool:
    """Whether ``text`` carries the mark of a continuation."""
    return bool(_MARK.search(text) or _CAPITAL_MARK.search(text))


def without_continued(text: str) -> str:
    """``text`` for comparison: without "(continued)", letters and digits only, folded."""
    return re.sub(r"\W+", "", _CONTINUED.sub(" ", text).casefold())


def _over(block: Block, table: Block) -> bool:
    return min(block.box[2], table.box[2]) > max(block.box[0], table.box[0])


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
    return [tuple(unit)] if closed and UNIT.search(plain([unit])) else []


def _shorten(lines: Sequence[Line]) -> list[Line]:
    """The first sentence of a caption, at most MAX_TITLE_WORDS words, and always more than its number."""
    words = [word.text for line in lines for word in line]
    ends = (
        place + 1
        for place, word in enumerate(words)
        if place > 3 and word.endswith((".", "?", "!")) and not word[:-1].isdigit() and len(word) > 2
    )
    limit = min(MAX_TITLE_WORDS, next(ends, MAX_TITLE_WORDS))
    kept: list[Line] = []
    for line in lines:
        if limit > 0:
            kept.append(line[:limit])
        limit -= len(line)
    return kept


MIN_RULE = 12  # characters of a rule set in dots
MIN_WORDS = 4  # a shorter line after a mark is a row's label
_NAMED = re.compile(r"^(?:sources?|notes?|n\.?b\.?|quelle|fuente|fonte)\s*[:.]", re.IGNORECASE)
_MARKED = re.compile(r"^(?:[*∗†‡§¶]+|\(?(?:\d{1,2}|[a-z])\))(?:\s|\w|$)")


def is_rule(line: Line) -> bool:
    """Whether a printed line is a rule set in dots or dashes."""
    text = "".join(word.text for word in line)
    return len(text) >= MIN_RULE and not text.strip(".…·_-–—=")


def take_notes(draft: Draft) -> list[Line]:
    """Remove the notes at the end of ``draft``; returns their lines in order, [] if there are none."""
    first = draft.rows
    for row in range(draft.rows - 1, max(draft.header_rows, 1), -1):
        cells = draft.row(row)
        if len(cells) != 1 or is_number(cells[0].text):
            break
        if _is_note(cells[0]):
            first = row
    taken = [c for c in draft.cells if c.row >= first and c.lines]
    if not taken or first <= draft.header_rows or any(c.row < first < c.end_row for c in draft.cells):
        return []
    draft.cells = [c for c in draft.cells if c.row < first]
    draft.rows = first
    return [line for cell in sorted(taken, key=lambda c: (c.row, c.col)) for line in cell.lines]


def take_name(draft: Draft) -> list[Line]:
    """Remove a row that is only the table's name (``Table 2. Study outcomes``), or says that it is continued, from the
    head of ``draft``'s header or body; returns its lines."""
    taken: list[Line] = []
    for row in (draft.header_rows, 0):
        cells = draft.row(row)
        if draft.rows < 3 or len(cells) != 1 or cells[0].row_span > 1:
            continue
        if is_continued(cells[0].text) or (row == 0 and is_name(cells[0].lines)):
            draft.remove_row(row)
            taken += cells[0].lines
    return taken


def _is_note(head: DraftCell) -> bool:
    if _NAMED.match(head.text) or is_continued(head.text):
        return True
    return bool(_MARKED.match(head.text)) and len(head.words) > MIN_WORDS
