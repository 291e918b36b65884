"""Which group rows each body row stands under: ``Assets / Current assets: / Cash``.

A group row has a label and no values, or it has the sum of the rows that are set in below it. How far its label is set
in says how deep it is; where a table sets nothing in, a group reaches to its total or to the next group.
"""

from __future__ import annotations

import re

from ragcore.ingest.layout import BOLD
from ragcore.ingest.tables.draft import Draft, DraftCell, is_number, is_period, is_year

MAX_WORDS = 14  # a longer one-cell row is a note, not the name of the rows below it
STEP = 0.3  # of the font size: labels set in by less stand at one depth
MAX_DEPTHS = 6  # labels at more depths than this are not set in but centred or set to the right
_TOTAL = re.compile(r"^(?:sub|grand )?totals?\b", re.IGNORECASE)
_BARE_TOTAL = re.compile(r"^(?:sub|grand )?totals?\W*$", re.IGNORECASE)
ROUNDING = 0.5  # of the last digit: by how much each addend may be rounded
_FIRST_NUMBER = re.compile(r"([(-]?)\s?(\d[\d,]*(?:\.\d+)?)")
_OVER_ALL = -1  # the depth of a name that is set over the middle of the table


def groups(draft: Draft) -> dict[int, tuple[DraftCell, ...]]:
    """For each body row of ``draft`` the group rows that it stands under, outermost first."""
    depths = _depths(draft)
    out: dict[int, tuple[DraftCell, ...]] = {}
    stack: list[tuple[int, DraftCell]] = []
    values_since = False
    for row in range(draft.header_rows, draft.rows):
        cells = [c for c in draft.cells if c.row <= row < c.end_row and c.lines and not c.header]
        if not any(c.row == row for c in cells):
            out[row] = tuple(cell for _depth, cell in stack)
            continue
        head = min(cells, key=lambda c: c.col)
        depth = depths.get(row, 0)
        if len(cells) == 1 and head.row_span == 1:
            if not _names_rows(draft, head):
                stack = []
                out[row] = ()
                continue
            depth = _OVER_ALL if head.col > 0 or head.col_span > 1 else depth
            stack = [entry for entry in stack if _stays(entry, depth, head, values_since)]
            out[row] = tuple(cell for _depth, cell in stack)
            stack.append((depth, head))
            values_since = False
            continue
        values_since = True
        if head.col == 0:
            while stack and stack[-1][0] > depth:
                stack.pop()
            if not _BARE_TOTAL.match(head.value):
                while stack and stack[-1][0] == depth and _sets_in(draft, stack[-1][1], depths):
                    stack.pop()
        out[row] = tuple(cell for _depth, cell in stack)
        total = head.col == 0 and _TOTAL.match(head.value)
        if total and stack and stack[-1][0] >= depth:
            stack.pop()
        elif head.col == 0 and head.row_span == 1 and not total and _heads(draft, head, depths):
            stack.append((depth, head))  # a row with values of its own over rows that are set in
    return out


def _names_rows(draft: Draft, cell: DraftCell) -> bool:
    if len(cell.text.split()) > MAX_WORDS or (is_number(cell.value) and not is_year(cell.value)):
        return False
    if cell.col == 0:
        return True
    x0, x1 = cell.extent()
    edges = [c.extent() for c in draft.cells if c.lines and c.words[0].page is cell.words[0].page]
    left, right = min(e[0] for e in edges), max(e[1] for e in edges)
    return abs((x0 + x1) / 2 - (left + right) / 2) < 0.05 * (right - left)


def _stays(entry: tuple[int, DraftCell], depth: int, new: DraftCell, values_since: bool) -> bool:
    """Whether a group stays open when the group row ``new`` comes: it is set out further, or at the same depth it is
    the heavier of the two, or nothing but names stood between them."""
    its_depth, cell = entry
    if its_depth != depth:
        return its_depth < depth
    if is_period(cell.value) and is_period(new.value):
        return False
    if _weight(cell) != _weight(new):
        return _weight(cell) > _weight(new)
    return not values_since and depth >= 0 and cell.value.endswith(":") == new.value.endswith(":")


def _weight(cell: DraftCell) -> tuple[bool, bool]:
    letters = [c for c in cell.text if c.isalpha()]
    return len(letters) > 3 and all(c.isupper() for c in letters), all(w.flags & BOLD for w in cell.words)


def _sets_in(draft: Draft, group: DraftCell, depths: dict[int, int]) -> bool:
    """Whether the first labelled row below ``group`` is set in."""
    below = next((r for r in range(group.row + 1, draft.rows) if r in depths), None)
    return below is not None and depths[below] > depths.get(group.row, 0)


def _heads(draft: Draft, cell: DraftCell, depths: dict[int, int]) -> bool:
    """Whether a row with values names the rows below it: they are set in, and it ends with a colon or in one of its
    columns its value is the sum of theirs. (Below an opening balance the changes are set in as well.)"""
    if not _sets_in(draft, cell, depths):
        return False
    if cell.value.endswith(":"):
        return True
    parts: list[int] = []
    for row in range(cell.row + 1, draft.rows):
        if depths.get(row, 0) <= depths.get(cell.row, 0):
            break
        parts.append(row)
    inner = min((depths[row] for row in parts if row in depths), default=0)
    for whole in draft.row(cell.row)[1:]:
        rows = [row for row in parts if depths.get(row) == inner]
        below = [c for row in rows for c in draft.row(row) if c.col == whole.col]
        amounts = [_amount(c.value) for c in below]
        total = _amount(whole.value)
        if total and len(amounts) > 1 and None not in amounts:
            error = abs(total - sum(amount for amount in amounts if amount is not None))
            if error < ROUNDING * len(amounts) * 10.0 ** -_decimals(whole.value):
                return True
    return False


def _amount(text: str) -> float | None:
    """The first number of a value, negative in brackets; 0 for a dash; None where there is none."""
    match = _FIRST_NUMBER.search(text)
    if match is None:
        return 0.0 if text.strip() in ("-", "–", "—") else None
    number = float(match.group(2).replace(",", ""))
    return -number if match.group(1) else number


def _decimals(text: str) -> int:
    match = _FIRST_NUMBER.search(text)
    return len(match.group(2).partition(".")[2]) if match else 0


def _depths(draft: Draft) -> dict[int, int]:
    """How far the label of each body row is set in, as a rank from 0."""
    lefts = {c.row: c.extent()[0] - c.shift for c in draft.column(0, draft.header_rows)}
    if not lefts:
        return {}
    step = STEP * max(next(draft.column(0, draft.header_rows)).size, 1.0)
    levels: list[float] = []
    for left in sorted(lefts.values()):
        if not levels or left - levels[-1] > step:
            levels.append(left)
    if len(levels) > MAX_DEPTHS or any(is_number(c.text) for c in draft.column(0, draft.header_rows)):
        return dict.fromkeys(lefts, 0)
    return {row: sum(left >= level for level in levels[1:]) for row, left in lefts.items()}
