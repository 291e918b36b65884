"""What the table finder took for rows of a table but is none: its name above, notes and "continued" below."""

from __future__ import annotations

import re

from ragcore.ingest.canonical import Line
from ragcore.ingest.layout import SUPERSCRIPT
from ragcore.ingest.tables.draft import Draft, DraftCell, is_number

MIN_RULE = 12  # characters of a rule set in dots
MIN_WORDS = 4  # a shorter line after a mark is a row's label
_NAMED = re.compile(r"^(?:sources?|notes?|n\.?b\.?|quelle|fuente|fonte)\s*[:.]", re.IGNORECASE)
_CONTINUES = re.compile(r"^\W*(?:table\b.{0,20}\bcontinue[sd]\b|(?:continued|cont['’]?d)\b.{0,30}$)", re.IGNORECASE)
_NAME = re.compile(r"^(?:table|exhibit|tab\.)\s+[A-Z]?[-.]?(?:\d+|[IVXLC]+)\b", re.IGNORECASE)
_MARKED = re.compile(r"^(?:[*∗†‡§¶]+|\(?(?:\d{1,2}|[a-z])\))(?:\s|\w|$)")


def is_rule(line: Line) -> bool:
    """Whether a printed line is a rule set in dots or dashes."""
    text = "".join(word.text for word in line)
    return len(text) >= MIN_RULE and not text.strip(".…·_-–—=")


def take_notes(draft: Draft) -> list[Line]:
    """Take the notes at the end of ``draft`` out of it: their lines in order, [] where there are none."""
    first = draft.rows
    for row in range(draft.rows - 1, max(draft.header_rows, 1), -1):
        cells = draft.row(row)
        if not cells or not _is_text(draft, row, cells):
            break
        if _is_note(cells):
            first = row
    taken = [c for c in draft.cells if c.row >= first and c.lines]
    if not taken or first <= draft.header_rows or any(c.row < first < c.end_row for c in draft.cells):
        return []
    draft.cells = [c for c in draft.cells if c.row < first]
    draft.rows = first
    return [line for cell in sorted(taken, key=lambda c: (c.row, c.col)) for line in cell.lines]


def take_name(draft: Draft) -> list[Line]:
    """Take a row that is the table's name alone (``Table 2. Study outcomes``), or says that it is continued, from the
    head of ``draft``'s header or body: its lines."""
    taken: list[Line] = []
    for row, name in ((draft.header_rows, _CONTINUES), (0, _NAME), (0, _CONTINUES)):
        cells = draft.row(row)
        if draft.rows < 3 or len(cells) != 1 or cells[0].row_span > 1 or not name.match(cells[0].text):
            continue
        draft.remove_row(row)
        taken += cells[0].lines
    return taken


def take_next_name(draft: Draft) -> list[Line]:
    """Take the name of what follows (``Exhibit 6``) out of the last row of ``draft``, where it is alone: its lines."""
    cells = draft.row(draft.rows - 1)
    if draft.rows - draft.header_rows < 3 or len(cells) != 1 or cells[0].row_span > 1 or not _NAME.match(cells[0].text):
        return []
    draft.remove_row(draft.rows - 1)
    return cells[0].lines


def _is_text(draft: Draft, row: int, cells: list[DraftCell]) -> bool:
    """Whether the row may be part of a note: words in its first cell, or run on into the next ones."""
    return (len(cells) == 1 or _NAMED.match(cells[0].text) is not None) and not any(is_number(c.text) for c in cells)


def _is_note(cells: list[DraftCell]) -> bool:
    head = cells[0]
    if _NAMED.match(head.text) or _CONTINUES.match(head.text):
        return True
    raised = bool(head.words[0].flags & SUPERSCRIPT)
    return (raised or bool(_MARKED.match(head.text))) and len(head.words) > MIN_WORDS
