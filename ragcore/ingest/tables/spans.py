"""Labels that stand for several rows: set in the middle of them, or beside the first of them.

``1991`` in the middle of *Men*, *Women* and *Total* names all three. Such a label gets all its rows, so that each of
them carries it.
"""

from __future__ import annotations

from ragcore.ingest.tables.draft import Draft, DraftCell, is_number

MIDDLE = 0.45  # of a row's pitch: how exactly a label must stand in the middle of its rows
RAISED = 0.25  # of the text's height: how far a header label stands above the row that it was put into


def span_labels(draft: Draft) -> None:
    """Let labels reach over the rows that they stand for: in the corner of the header, and in the first column."""
    _span_corner(draft)
    _span_rows(draft)
    draft.sort()


def _span_corner(draft: Draft) -> None:
    """The header of the first column, where it is set in the middle of all header rows."""
    if draft.header_rows < 2:
        return
    own = [c for c in draft.cells if c.col == 0 and c.row < draft.header_rows and c.lines]
    if len(own) != 1 or own[0].col_span > 1 or own[0].row == 0:
        return
    cell = own[0]
    beside = [c for c in draft.row(cell.row) if c is not cell]
    if beside and min(c.top() for c in beside) - cell.top() > RAISED * cell.height():
        _reach(draft, cell, 0, cell.end_row)


def _span_rows(draft: Draft) -> None:
    labels = sorted(draft.column(0, draft.header_rows), key=lambda c: c.row)
    rows = draft.rows - draft.header_rows
    if len(labels) < 2 or len(labels) > rows / 2 or draft.columns < 3:
        return
    if any(c.row_span > 1 for c in labels) or not _second_labels(draft):
        return
    starts = _centred_starts(draft, labels) or _first_starts(draft, labels)
    if starts is None:
        return
    for label, first, end in zip(labels, starts, [*starts[1:], draft.rows]):
        _reach(draft, label, first, end)


def _second_labels(draft: Draft) -> bool:
    """Whether the second column has a label, not a value, in every body row."""
    second = list(draft.column(1, draft.header_rows))
    named = sum(not is_number(c.text) for c in second)
    return len(second) == draft.rows - draft.header_rows and named > 0.8 * len(second)


def _centred_starts(draft: Draft, labels: list[DraftCell]) -> list[int] | None:
    """The first row of each label when each stands in the middle of its rows and these follow one another."""
    if labels[0].row == draft.header_rows:
        return None  # beside the first of its rows
    tops = {row: min(c.top() for c in draft.row(row)) for row in range(draft.header_rows, draft.rows)}
    feet = {row: max(c.bottom() for c in draft.row(row)) for row in range(draft.header_rows, draft.rows)}
    pitch = (feet[draft.rows - 1] - tops[draft.header_rows]) / len(tops)
    starts: list[int] = []
    row = draft.header_rows
    for label in labels:
        middle = (label.top() + label.bottom()) / 2
        if label.words[0].page is not draft.row(row)[0].words[0].page:
            return None
        best = min(range(row, draft.rows), key=lambda last: abs((tops[row] + feet[last]) / 2 - middle))
        if not row <= label.row <= best or abs((tops[row] + feet[best]) / 2 - middle) > MIDDLE * pitch:
            return None
        starts.append(row)
        row = best + 1
        if row >= draft.rows and label is not labels[-1]:
            return None
    return starts if row == draft.rows and any(label.row > start for label, start in zip(labels, starts)) else None


def _first_starts(draft: Draft, labels: list[DraftCell]) -> list[int] | None:
    """The rows of labels that each stand beside the first of theirs."""
    return [label.row for label in labels] if labels[0].row == draft.header_rows else None


def _reach(draft: Draft, cell: DraftCell, first: int, end: int) -> None:
    """Let ``cell`` reach from row ``first`` to ``end``, over empty slots."""
    slots = [c for c in draft.cells if c is not cell and c.col == cell.col and first <= c.row and c.end_row <= end]
    if any(c.lines or c.col_span > 1 for c in slots):
        return
    draft.cells = [c for c in draft.cells if c not in slots]
    cell.row, cell.row_span = first, end - first
