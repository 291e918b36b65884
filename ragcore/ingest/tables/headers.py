"""Headers of columns and rows.

Column headers: which rows they are, how far each spans, and how levels become one path. The table finder marks header
rows well but gives a header centred over several columns to one of them; here its span comes from its printed position.

Group rows: ``Assets / Current assets: / Cash``. A group row has a label and no values, or it has the sum of the rows
indented below it. The indent of its label gives its depth; in a table without indents, a group extends to its total or
to the next group.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, takewhile

from ragcore.ingest.canonical import Ref
from ragcore.ingest.layout import BOLD
from ragcore.ingest.tables.draft import Draft, DraftCell, is_number, is_period, is_year, range_ends
from ragcore.text.lexicon import TOTAL
from ragcore.text.units import UNIT_NOTE
from ragcore.text.words import tokens

_AMOUNT = re.compile(r"[$€£(]|\d[.,]\d|^[-–—]$")
_ITEM = re.compile(r"^(\d{1,3}(?:\.\d+|[.)]))\s+[^\W\d]")
_NONE = re.compile(r"^(?:\*+|#|n/?[am]\.?)$", re.IGNORECASE)  # text of an empty value
TIGHT = 0.6  # of the text's height: a smaller gap between two header rows is a line break within one header
APART = 0.8  # of the font size: a wider gap parts two names on one line
CENTRED = 0.2  # of a column's pitch: largest offset of a header from the middle of the columns it names
LABELS = 0.6  # share of a column's cells that are labels in a form
LOOSE = 1.5  # of the text's height: header rows with a wider gap are never lines of one header


def settle_headers(draft: Draft) -> None:
    """Find the header rows of ``draft``, widen spanning headers, join headers broken over two lines, mark the cells."""
    mark_headers(draft)
    for cell in [c for c in draft.cells if c.header and c.col_span > 1 and len(c.lines) == 1]:
        _divide(draft, cell)
    for row in range(draft.header_rows - 1):
        _spread(draft, row)
    row = 0
    while row < draft.header_rows - 1:
        if not _join_broken(draft, row):
            row += 1
    for cell in draft.cells:
        cell.header = cell.row < draft.header_rows


def mark_headers(draft: Draft) -> None:
    """Find the header rows of ``draft`` without changing the grid, and mark the cells."""
    draft.header_rows = _count_header_rows(draft)
    for cell in draft.cells:
        cell.header = cell.row < draft.header_rows


def _count_header_rows(draft: Draft) -> int:
    """The leading rows that name the columns: those marked by the table finder, and rows below them that only go on
    naming columns."""
    marked = 0
    while marked < draft.rows - 1:
        top = draft.row(marked)
        if not top or not all(c.header for c in top):
            break
        marked += 1
    marked = next((row for row in range(1, marked) if _has_ranges(draft, row)), marked)
    while marked > 1 and _has_values(draft, marked - 1):
        marked -= 1
    if marked == 1 and (_is_body(draft) or _has_ranges(draft, 0)):
        return 0
    values = next((row for row in range(draft.rows) if _has_values(draft, row)), 0)
    while marked and marked < values and _names_columns(draft, marked):
        marked += 1
    return next((row + 1 for row in range(marked, values) if _names_periods(draft, row)), marked)


def _is_body(draft: Draft) -> bool:
    """Whether the first row belongs to the body: it has amounts (``$ 1,204``, ``(5.1)``), one of its cells repeats in a
    cell below it, or the first column has the labels of a form ("Formula:") or numbered items."""
    cells = draft.row(0)
    if _is_form(draft) or _is_numbered(draft):
        return True
    values = [c.value for c in cells if c.col > 0]
    amounts = sum(bool(_NONE.match(v) or (is_number(v) and not is_year(v) and _AMOUNT.search(v))) for v in values)
    if values and amounts >= len(values) / 2:
        return True
    texts = [c for c in cells if c.col > 0 and c.col_span == 1 and not is_period(c.value)]
    return any(c.value in {other.value for other in draft.column(c.col, 1)} for c in texts)


def _is_numbered(draft: Draft) -> bool:
    """Whether the rows are items with rising numbers, from the first on; headers may be numbered, too."""
    items = [_ITEM.match(cell.value) for cell in draft.column(0)]
    numbers = [tuple(map(int, item.group(1).rstrip(".)").split("."))) for item in items if item]
    beside = any(_ITEM.match(cell.value) for cell in draft.row(0) if cell.col > 0)
    opens = any(cell.col == 0 for cell in draft.row(0))
    return opens and not beside and len(numbers) == len(items) > 1 and numbers == sorted(set(numbers))


def _is_form(draft: Draft) -> bool:
    """Whether the columns are labels, each beside its values, with a colon between them, from the first row on."""
    if draft.columns % 2 or not all(_are_labels(draft, col) != bool(col % 2) for col in range(draft.columns)):
        return False
    opens = draft.row(0)[:2]
    return opens[0].col == 0 and (opens[0].value.endswith(":") or opens[-1].value.startswith(":"))


def _are_labels(draft: Draft, col: int) -> bool:
    """Whether most cells of a column are labels of the values beside them, each another one."""
    values = {cell.row for cell in draft.column(col + 1) if cell.value.startswith(":")}
    cells = list(draft.column(col))
    labels = [cell.value for cell in cells if cell.value.endswith(":") or cell.row in values]
    return len(labels) > 1 and len(labels) >= LABELS * len(cells) and len(set(labels)) == len(labels)


def pair_columns(draft: Draft) -> None:
    """Put a form's columns of labels, each with its values beside it, below each other: a row has one label."""
    pairs, rows = draft.columns // 2, draft.rows
    if pairs < 2 or draft.header_rows or not _is_form(draft):
        return
    if any(cell.col % 2 == 0 and cell.col_span > 1 for cell in draft.cells):
        return
    for cell in draft.cells:
        cell.row, cell.col, cell.col_span = cell.row + cell.col // 2 * rows, cell.col % 2, 1
    draft.rows, draft.columns = rows * pairs, 2
    draft.compact()
    draft.sort()


def _names_columns(draft: Draft, row: int) -> bool:
    """Whether ``row`` continues the header above: it has words over the values only, beside a unit."""
    cells = draft.row(row)
    if cells and cells[0].col == 0 and UNIT_NOTE.search(cells[0].text):
        cells = cells[1:]
    return bool(cells) and cells[0].col > 0 and not any(is_number(c.text) and not is_year(c.text) for c in cells)


def inner_header(draft: Draft) -> range | None:
    """Rows of the body that name the columns anew: periods over values, beside nothing or a unit ("In millions | 2022 |
    2021"), with the rows above them that hold only names. None without any."""
    valued = [row for row in range(draft.header_rows, draft.rows) if _has_values(draft, row)]
    for row in range(draft.header_rows + 1, draft.rows - 1):
        if (
            not _names_periods(draft, row)
            or not any(above < row for above in valued)
            or next((below for below in range(row + 1, draft.rows) if len(draft.row(below)) > 1), None) not in valued
            or any(cell.row < row < cell.end_row for cell in draft.cells)
        ):
            continue
        first = max(above for above in valued if above < row) + 1
        return range(first, row + 1)
    return None


def _names_periods(draft: Draft, row: int) -> bool:
    """Whether ``row`` has several different periods over the values, beside nothing or a unit."""
    cells = draft.row(row)
    over = [cell.value for cell in cells if cell.col > 0]
    beside = any(cell.col == 0 and not UNIT_NOTE.search(cell.text) for cell in cells)
    return 1 < len(over) == len(set(over)) and all(map(is_period, over)) and not beside


def _has_values(draft: Draft, row: int) -> bool:
    """Whether at least half of the row's cells after the first are numbers; years name columns and do not count."""
    values = [c.value for c in draft.row(row) if c.col > 0]
    return bool(values) and sum(is_number(v) and not is_year(v) for v in values) >= len(values) / 2


def _has_ranges(draft: Draft, row: int) -> bool:
    """Whether ``row`` has a label and ranges as values (``4% to 6%``), with ranges below them. Where nothing above
    names each of its columns, ranges apart from each other (``18–24``, ``25–34``) name them."""
    values = [c for c in draft.row(row) if c.col > 0]
    ends = {cell: found for cell in values if (found := range_ends(cell.value))}
    numeric = len(ends) + sum(is_number(c.value) and not is_year(c.value) for c in values)
    below = [range_ends(other.value) is not None for cell in ends for other in draft.column(cell.col, row + 1)]
    if len(values) == len(draft.row(row)) or 2 * numeric <= len(values) or not any(below):
        return False
    if {c.col for c in draft.cells if c.row < row and c.col_span == 1 and c.lines}.issuperset(c.col for c in values):
        return True
    apart = any(one[2] == other[2] and one[1] <= other[0] for one, other in pairwise(sorted(ends.values())))
    return not apart and 2 * sum(below) >= len(below)


def _divide(draft: Draft, cell: DraftCell) -> None:
    """Divide a header over several columns that is a name for each: wide gaps part its words, and each part stands over
    another of the columns."""
    parts: list[list[Ref]] = []
    for word in cell.words:
        if not parts or word.box[0] - parts[-1][-1].box[2] > APART * cell.size:
            parts.append([])
        parts[-1].append(word)
    below = [[c.extent() for c in draft.column(col, draft.header_rows)] for col in cell.columns]
    if len(parts) != len(below) or not all(below):
        return
    for place, part in enumerate(parts):
        left, right = part[0].box[0], part[-1].box[2]
        over = [any(a < right and left < b for a, b in extents) for extents in below]
        if over != [column == place for column in range(len(parts))]:
            return
    draft.cells.remove(cell)
    draft.cells += [replace(cell, col=col, col_span=1, lines=[tuple(part)]) for part, col in zip(parts, cell.columns)]
    draft.sort()


def _spread(draft: Draft, row: int) -> None:
    """Extend each header of ``row`` over the columns that it names: those that it is centred over; the only one over
    all periods below; each of several if the names below repeat from group to group (2022, 2023, 2022, 2023)."""
    named = [c for c in draft.row(row) if c.col > 0]
    for cell in named:
        _centre(draft, cell)
    below = [c for c in draft.row(row + 1) if c.col > 0]
    if not named or len(below) % len(named) or len(below) != draft.columns - 1:
        return
    if len(named) == 1 and (is_period(named[0].text) or not all(is_period(c.text) for c in below)):
        return
    period, texts = len(below) // len(named), [c.text for c in below]
    starts = range(1, draft.columns, period)
    inside = all(start <= cell.col < start + period for cell, start in zip(named, starts))
    if period > 1 and texts == texts[:period] * len(named) and inside:
        for cell, start in zip(named, starts):
            _widen(draft, cell, start, start + period - 1)


def _centre(draft: Draft, cell: DraftCell) -> None:
    """Extend the header ``cell`` over adjacent empty slots if it is centred over them clearly better than over its own
    columns."""
    taken = {col for c in draft.cells if c is not cell and c.covers(cell.row, c.col) and c.lines for col in c.columns}
    edges: dict[int, tuple[float, float]] = {}
    for col in range(1, draft.columns):
        extents = [c.extent() for c in draft.column(col, cell.row + 1)]
        if extents and col not in taken:
            edges[col] = min(left for left, _ in extents), max(right for _, right in extents)
    own = first, last = cell.columns[0], cell.columns[-1]
    firsts = list(takewhile(edges.__contains__, range(first, 0, -1)))
    lasts = list(takewhile(edges.__contains__, range(last, draft.columns)))
    middle = sum(cell.extent()) / 2
    misses = {(a, b): abs(middle - (edges[a][0] + edges[b][1]) / 2) for a in firsts for b in lasts}
    if own not in misses or len(misses) < 2:
        return
    missed = misses.pop(own)
    best = min(misses, key=lambda reach: (misses[reach], reach))
    room = CENTRED * (edges[best[1]][1] - edges[best[0]][0]) / (best[1] - best[0] + 1)
    if misses[best] <= room and missed > 2 * misses[best] + room:
        _widen(draft, cell, *best)


def _widen(draft: Draft, cell: DraftCell, first: int, last: int) -> None:
    cell.col, cell.col_span = first, last - first + 1
    draft.sort()


def _join_broken(draft: Draft, row: int) -> bool:
    """Join the cells of header row ``row`` with their continuations close below; neither may span several columns. If
    all of row ``row + 1`` is joined this way, the row is removed and the result is true."""
    spanning = any(c.col_span > 1 for r in (row, row + 1) for c in draft.row(r) if c.col > 0)
    most = TIGHT if spanning else LOOSE
    joined = False
    for cell in [c for c in draft.row(row) if c.col_span == c.row_span == 1]:
        lower = next((c for c in draft.row(row + 1) if c.col == cell.col), None)
        if lower is None or lower.col_span > 1 or lower.row_span > 1:
            continue
        if lower.top() - cell.bottom() < most * lower.height():
            cell.lines = [*cell.lines, *lower.lines]
            cell.row_span, joined = 2, True
            draft.cells = [c for c in draft.cells if c is not lower]
    upper = {col for c in draft.cells if c.row == row and c.lines for col in c.columns}
    rest = [c for c in draft.cells if c.row == row + 1 and c.lines]
    if any(c.col_span > 1 or c.row_span > 1 or c.col in upper for c in rest):
        return False
    if len(rest) >= len(upper) and not joined:
        return False
    for cell in rest:
        cell.row = row
    draft.compact()
    draft.sort()
    return True


def header_levels(draft: Draft) -> tuple[list[DraftCell], list[list[DraftCell]]]:
    """Header cells that name the whole table (its title inside the grid, its unit in the corner), and per column the
    cells above it, outermost first."""
    headers = [c for c in draft.cells if c.header and c.lines]
    whole = [
        c
        for c in headers
        if (c.col_span >= draft.columns and draft.columns > 1)
        or (c.col == 0 and c.col_span == 1 and UNIT_NOTE.search(c.text))
    ]
    levels: list[list[DraftCell]] = []
    for col in range(draft.columns):
        above: list[DraftCell] = []
        for cell in headers:
            if cell in whole or not cell.col <= col < cell.col + cell.col_span:
                continue
            if not above or above[-1].text != cell.text:
                above.append(cell)
        levels.append(above)
    return whole, levels


MAX_WORDS = 14  # words; a longer one-cell row is a note, not the name of the rows below it
STEP = 0.3  # of the font size: labels with a smaller difference of indent have one depth
_OVER_ALL = -1  # the depth of a name centred over the table


def groups(draft: Draft) -> dict[int, tuple[DraftCell, ...]]:
    """Group rows above each body row of ``draft``, outermost first."""
    depths = _depths(draft)
    out: dict[int, tuple[DraftCell, ...]] = {}
    stack: list[tuple[int, DraftCell]] = []
    values_since = False
    body = draft.body()
    for row in range(draft.header_rows, draft.rows):
        cells = body.get(row, [])
        if not any(c.row == row for c in cells):
            out[row] = tuple(cell for _depth, cell in stack)
            continue
        head = min(cells, key=lambda c: c.col)
        depth = depths.get(row, 0)
        alone = len(cells) == 1 and head.row_span == 1
        if alone and not _names_rows(draft, head):
            stack = []
            alone = False
        elif alone:
            depth = _OVER_ALL if head.col > 0 or head.col_span > 1 else depth
            stack = [entry for entry in stack if _stays(entry, depth, head, values_since)]
        elif head.col == 0:
            while stack and stack[-1][0] > depth:
                stack.pop()
            while stack and stack[-1][0] == depth and _sets_in(draft, stack[-1][1], depths):
                stack.pop()
        out[row] = tuple(cell for _depth, cell in stack)
        values_since = not alone
        opening = [word for word in tokens(head.value) if word not in ("grand", "sub")][:1]
        if alone:
            stack.append((depth, head))
        elif head.col == 0 and TOTAL.intersection(opening) and stack and stack[-1][0] >= depth:
            stack.pop()
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
    """Whether an open group stays open at the group row ``new``: it is less indented, or at the same depth it is the
    heavier of the two and no year as that is, or only names came between them."""
    its_depth, cell = entry
    if its_depth != depth or (is_year(cell.value) and is_year(new.value)):
        return its_depth < depth
    if _weight(cell) != _weight(new):
        return _weight(cell) > _weight(new)
    return not values_since and depth >= 0 and cell.value.endswith(":") == new.value.endswith(":")


def _weight(cell: DraftCell) -> tuple[bool, bool]:
    letters = [c for c in cell.text if c.isalpha()]
    return len(letters) > 3 and all(c.isupper() for c in letters), all(w.flags & BOLD for w in cell.words)


def _sets_in(draft: Draft, group: DraftCell, depths: dict[int, int]) -> bool:
    """Whether the first labelled row below ``group`` is indented."""
    below = next((r for r in range(group.row + 1, draft.rows) if r in depths), None)
    return below is not None and depths[below] > depths.get(group.row, 0)


def _depths(draft: Draft) -> dict[int, int]:
    """Indent of each body row's label, as a rank from 0."""
    lefts = {c.row: c.extent()[0] for c in draft.column(0, draft.header_rows)}
    if not lefts:
        return {}
    step = STEP * max(next(draft.column(0, draft.header_rows)).size, 1.0)
    levels: list[float] = []
    for left in sorted(lefts.values()):
        if not levels or left - levels[-1] > step:
            levels.append(left)
    if any(is_number(c.text) for c in draft.column(0, draft.header_rows)):
        return dict.fromkeys(lefts, 0)
    return {row: sum(left >= level for level in levels[1:]) for row, left in lefts.items()}
