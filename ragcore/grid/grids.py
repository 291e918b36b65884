"""Grids of one library: documents by typed questions, filled cell by cell and stored, decided on, and written to a
file."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragcore.cancel import Stop
from ragcore.check.sentences import Checkable
from ragcore.check.verdict import Checker
from ragcore.errors import Cancelled, ConfigError, GroundworkError, InputError, UnknownDocument
from ragcore.export import kind as checked_kind
from ragcore.grid.cells import BY_RULES, CellFiller, GridLibrary
from ragcore.grid.columns import ColumnSpec, distinct, given_columns, of_question, of_template
from ragcore.grid.quantities import measured
from ragcore.index.grids import GridStore, StoredGrid
from ragcore.progress import IsCancelled
from ragcore.report.workspace import Expense, expense
from ragcore.text.periods import days_in
from ragcore.types import Scope
from ragcore.types.grid import (
    UNDECIDED,
    CellDecision,
    CellDecisionKind,
    CellValue,
    Column,
    ColumnType,
    Grid,
    GridCell,
    GridInfo,
    Row,
)
from ragcore.types.library import DocumentInfo
from ragcore.types.scope import checked

if TYPE_CHECKING:
    from ragcore.grid.files import GridFile
    from ragcore.report.template import Template

MAX_USD = 5.0
LONGEST_NAME = 200
LONGEST_VALUE = 2_000
Show = Callable[[int, int], object]


class Grids:
    """Grids of one library. Thread-safe; a cell that two processes fill is stored once."""

    def __init__(self, library: GridLibrary) -> None:
        self._library = library
        self._store = GridStore(library.store.database)

    # Grids and their columns

    def add(self, name: str, columns: Sequence[ColumnSpec], scope: Scope) -> GridInfo:
        """Make a grid over ``scope``, empty. Raises `BadColumns`, `InputError` for its name."""
        distinct(columns)
        grid_id = secrets.token_hex(6)
        made = [one.column(secrets.token_hex(4)) for one in columns]
        self._store.add(grid_id, _named(name), checked(scope), made)
        return self.info(grid_id)

    def of_question(self, question: str) -> ColumnSpec:
        """Column that asks every document a question of a chat, given in its stand-alone form."""
        return of_question(self._library.models.analyser.read(question))

    def of_template(self, template: Template) -> list[ColumnSpec]:
        """Columns for the sections of a report template. Raises `BadColumns` if none can be a column."""
        return of_template(template, self._library.models.fields)

    def all(self) -> list[GridInfo]:
        """Grids, newest first."""
        infos = self._library.documents()
        return [self._info(one, infos) for one in self._store.all()]

    def info(self, grid_id: str) -> GridInfo:
        """Raises `UnknownGrid`."""
        return self._info(self._store.get(grid_id), self._library.documents())

    def get(self, grid_id: str) -> Grid:
        """Grid with all its cells. Raises `UnknownGrid`."""
        stored, infos = self._store.get(grid_id), self._library.documents()
        cells, _ = self._store.cells(grid_id)
        return Grid(
            self._info(stored, infos),
            tuple(map(_row, _inside(stored, infos))),
            stored.columns,
            {(cell.doc_id, cell.column_id): cell for cell in cells},
        )

    def changes(self, grid_id: str, since: int) -> tuple[list[GridCell], int]:
        """Cells that changed after the counter ``since``, and the counter now; cells that were emptied are not among
        them, but raise `GridInfo.version`."""
        return self._store.cells(grid_id, since)

    def cell(self, grid_id: str, doc_id: str, column_id: str) -> GridCell:
        """Raises `UnknownGrid`."""
        self._store.get(grid_id).column(column_id)
        return self._store.cell(grid_id, doc_id, column_id)

    def rename(self, grid_id: str, name: str) -> None:
        """Raises `UnknownGrid`, `InputError`."""
        self._store.get(grid_id)
        self._store.rename(grid_id, _named(name))

    def scope(self, grid_id: str, scope: Scope) -> None:
        """Change the documents; `run` fills the cells of those that are new. Raises `UnknownGrid`."""
        self._store.get(grid_id)
        self._store.set_scope(grid_id, checked(scope))

    def add_column(self, grid_id: str, name: str, question: str, type: ColumnType, unit: str = "") -> str:
        """Add a column at the end and return its id. Raises `UnknownGrid`, `BadColumns`."""
        (made,) = given_columns([{"name": name, "question": question, "type": type, "unit": unit}])
        column = made.column(secrets.token_hex(4))
        self._set(grid_id, [*self._store.get(grid_id).columns, column])
        return column.column_id

    def change_column(self, grid_id: str, column_id: str, **changes: str) -> None:
        """Change what a column asks; its cells are emptied then, except those that a person decided on. Raises
        `UnknownGrid`, `BadColumns`."""
        stored = self._store.get(grid_id)
        before = stored.column(column_id)
        keys = ("name", "question", "type", "unit")
        (made,) = given_columns([{key: getattr(before, key) for key in keys} | changes])
        after = made.column(column_id)
        columns = [after if one.column_id == column_id else one for one in stored.columns]
        self._set(grid_id, columns, [column_id] if after != before else [])

    def remove_column(self, grid_id: str, column_id: str) -> None:
        """Remove a column with its cells. Raises `UnknownGrid`."""
        stored = self._store.get(grid_id)
        stored.column(column_id)
        self._set(grid_id, [one for one in stored.columns if one.column_id != column_id])

    def move_column(self, grid_id: str, column_id: str, by: int) -> None:
        """Move a column past the previous (``by`` -1) or next one (1); no effect at the first or last place. Raises
        `UnknownGrid`."""
        columns = list(self._store.get(grid_id).columns)
        place = next((n for n, one in enumerate(columns) if one.column_id == column_id), None)
        if place is not None and 0 <= place + by < len(columns):
            columns.insert(place + by, columns.pop(place))
            self._set(grid_id, columns)

    def _set(self, grid_id: str, columns: Sequence[Column], forget: Sequence[str] = ()) -> None:
        distinct(columns)
        self._store.set_columns(grid_id, columns, forget)

    def remove(self, grid_id: str) -> None:
        """Delete a grid. Raises `UnknownGrid`."""
        self._store.get(grid_id)
        self._store.remove(grid_id)

    # Filling

    def run(
        self,
        grid_id: str,
        show: Show = lambda _done, _total: None,
        cancelled: IsCancelled = lambda: False,
        max_usd: float = MAX_USD,
    ) -> GridInfo:
        """Fill the empty cells of the documents that are ready, row by row. Free text that a model writes costs at most
        ``max_usd``. Raises `UnknownGrid`, `Cancelled`, `InputError` if it would cost more, and what retrieval raises,
        which is stored too."""
        self._store.put_error(grid_id, None)
        try:
            self._fill(grid_id, show, cancelled, max_usd)
        except Cancelled:
            raise
        except GroundworkError as error:
            self._store.put_error(grid_id, error.as_dict())
            raise
        return self.info(grid_id)

    def _fill(self, grid_id: str, show: Show, cancelled: IsCancelled, max_usd: float) -> None:
        filler, left_usd, tried = CellFiller(self._library), max_usd, set[tuple[str, Column]]()
        while True:
            stored, infos = self._store.get(grid_id), self._library.documents()
            left = [(info, column) for info, column in self._left(stored, infos) if (info.doc_id, column) not in tried]
            if not left:
                return
            self._affordable([column for _, column in left], left_usd)
            total = len(_inside(stored, infos)) * len(stored.columns)
            for number, (info, column) in enumerate(left):
                show(total - len(left) + number, total)
                if cancelled():
                    raise Cancelled("Filling was stopped.")
                if self._store.get(grid_id).version != stored.version:
                    break  # other documents or columns by now
                tried.add((info.doc_id, column))
                began = time.perf_counter()
                build = self._library.store.build(info.doc_id)
                cell = filler.cell(column, info, Stop())
                left_usd -= cell.cost_usd or 0.0
                # One that failed is filled again by the next run.
                build = "" if cell.status == "failed" else build
                self._store.put(grid_id, info.doc_id, column, cell, build, time.perf_counter() - began)

    def _left(self, stored: StoredGrid, infos: Sequence[DocumentInfo]) -> Iterator[tuple[DocumentInfo, Column]]:
        """Empty cells of ready documents, and those that nobody decided on of a document that was read again."""
        filled = self._store.filled(stored.grid_id)
        for info in _inside(stored, infos):
            if info.status != "ready" or not info.indexed:
                continue
            build = self._library.store.build(info.doc_id)
            for column in stored.columns:
                known = filled.get((info.doc_id, column.column_id))
                if known is None or (known.build != build and not known.decided):
                    yield info, column

    def estimate(self, grid_id: str) -> Expense:
        """Highest cost of filling the free text that is still empty. Raises `UnknownGrid`."""
        stored = self._store.get(grid_id)
        return self._expense([column for _, column in self._left(stored, self._library.documents())])

    def _expense(self, columns: Sequence[Column]) -> Expense:
        asked = [one.asked for one in columns if one.type == "text"]
        return expense(asked, "", 0, self._library.models.writer_name, self._library.settings)

    def _affordable(self, columns: Sequence[Column], usd: float) -> None:
        most = self._expense(columns)
        if most.sections and most.usd is None:
            hint = "Add its price to [llm.prices] in config.toml, or remove the columns of free text."
            raise ConfigError(f"llm.prices has no price for {most.model}, so the cost can't be limited.", hint=hint)
        if most.usd is not None and most.usd > usd:
            said = f"{most.sections:,} cells of free text by {most.model} may cost ${most.usd:.2f}"
            raise InputError(
                f"{said}, more than the limit of ${usd:.2f}; nothing more was sent.",
                hint=f"Allow ${most.usd:.2f} (in a terminal: --max-usd), or remove the columns of free text.",
            )

    def again(self, grid_id: str, column_id: str = "", doc_id: str = "") -> None:
        """Empty the cells that nobody decided on, of a column, of a document, or all, so that `run` fills them anew.
        Raises `UnknownGrid`."""
        self._store.get(grid_id)
        self._store.forget(grid_id, column_id, doc_id)

    # Decisions

    def decide(self, grid_id: str, doc_id: str, column_id: str, decision: CellDecisionKind, text: str = "") -> GridCell:
        """Store what a person makes of a cell. A corrected ``text`` is checked against the document. Raises
        `UnknownGrid`, `UnknownDocument`, `InputError`, and what retrieval raises."""
        stored = self._store.get(grid_id)
        column = stored.column(column_id)
        info = next((one for one in _inside(stored, self._library.documents()) if one.doc_id == doc_id), None)
        if info is None:
            raise UnknownDocument("This document is no longer in the grid.", hint="Reload the page.")
        made = UNDECIDED if not decision else CellDecision(decision)
        if decision == "accepted" and self._store.cell(grid_id, doc_id, column_id).found is None:
            raise InputError("This cell is still empty.", hint="Wait until it is filled, or write its value.")
        if decision == "corrected":
            made = self._corrected(column, info, " ".join(text.split()))
        self._store.decide(grid_id, doc_id, column_id, made)
        return self._store.cell(grid_id, doc_id, column_id)

    def _corrected(self, column: Column, info: DocumentInfo, text: str) -> CellDecision:
        """A person's value, with the document's words that it agrees with, or the nearest."""
        if not text or len(text) > LONGEST_VALUE:
            most = f"Write at most {LONGEST_VALUE:,} characters."
            raise InputError("The value is too long." if text else "The value is empty.", hint=most)
        number, unit = measured(text, f"in {column.unit}", column.unit) if column.type == "value" else (None, "")
        day = days_in(text)[:1] if column.type == "date" else []
        period = "-".join(f"{part:02}" for part in day[0]) if day else ""
        verdict = None
        if info.status == "ready":
            said = column.asked if column.type == "yes_no" else text
            labels = "" if column.type in ("yes_no", "quote", "text", "list") else column.name
            checker = Checker(self._library.with_settings(BY_RULES), Scope((info.doc_id,)))
            verdict = checker.verdict(Checkable(said.rstrip("?"), 0, len(said), labels))
        supported = None if verdict is None else verdict.status == "confirmed"
        if column.type == "yes_no" and verdict is not None and text.casefold() in ("no", "no."):
            supported = verdict.status == "contradicted"
        places = () if verdict is None else verdict.citations
        return CellDecision("corrected", CellValue(text, number, unit, period, places), supported)

    # Files

    def export(self, grid_id: str, kind: GridFile) -> bytes:
        """The grid as a file. Raises `UnknownGrid`, `InputError` for an unknown kind."""
        from ragcore.grid.files import KINDS, write

        return write(self.get(grid_id), checked_kind(kind, KINDS))

    def _info(self, stored: StoredGrid, infos: Sequence[DocumentInfo]) -> GridInfo:
        inside = {one.doc_id for one in _inside(stored, infos)}
        columns = {one.column_id for one in stored.columns}
        filled = self._store.filled(stored.grid_id).items()
        known = [one for (doc_id, column_id), one in filled if doc_id in inside and column_id in columns]
        return GridInfo(
            stored.grid_id,
            stored.name,
            stored.scope,
            stored.created,
            len(columns),
            len(inside) * len(columns),
            len(known),
            sum(one.seconds for one in known),
            stored.error,
            stored.version,
        )


def _inside(stored: StoredGrid, infos: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """Documents of a grid that are in the library, in its order."""
    return [info for info in infos if stored.scope.holds(info.doc_id)]


def _row(info: DocumentInfo) -> Row:
    ready = info.status == "ready" and info.indexed
    return Row(info.doc_id, info.title, info.name, info.pages, ready, info.tags)


def _named(name: str) -> str:
    """Name of a grid, on one line. Raises `InputError`."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        hint = f"Use 1 to {LONGEST_NAME} characters."
        raise InputError("The name is too long." if name else "The grid has no name.", hint=hint)
    return name
