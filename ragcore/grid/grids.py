"""Grids of one library: documents or their sections by typed questions, filled cell by cell and stored, decided on, and
written to a file."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragcore.check.sentences import Checkable
from ragcore.check.verdict import Checker
from ragcore.errors import BadColumns, Cancelled, GroundworkError, InputError, ModelError, UnknownDocument
from ragcore.export import kind as checked_kind
from ragcore.grid.cells import BY_RULES, CellFiller, GridLibrary, can_ask, claim_of, period_of
from ragcore.grid.columns import MAX_COLUMNS, ColumnSpec, distinct, given_columns, of_question, of_template, type_of
from ragcore.grid.quantities import measured
from ragcore.index.grids import GridStore, StoredGrid
from ragcore.model_calls import affordable, nobody_to_ask
from ragcore.progress import IsCancelled
from ragcore.report.workspace import expense
from ragcore.text.periods import date_spans, years
from ragcore.text.words import tokens
from ragcore.types import EVERYTHING, OFFLINE, Scope, Section
from ragcore.types.grid import (
    MAX_SECTIONS,
    STATED,
    UNDECIDED,
    Cell,
    CellDecision,
    CellDecisionKind,
    CellValue,
    Column,
    ColumnType,
    Grid,
    GridCell,
    GridInfo,
    Row,
    doc_of,
    row_of,
)
from ragcore.types.library import DocumentInfo
from ragcore.types.scope import checked
from ragcore.types.sections import SectionNode, section_tree, walk
from ragcore.types.spending import MAX_USD, Expense

if TYPE_CHECKING:
    from ragcore.grid.files import GridFile
    from ragcore.report.template import Template

LONGEST_NAME = 200
LONGEST_VALUE = 20_000
Show = Callable[[int, int], object]


class Grids:
    """Grids of one library. Thread-safe; a cell that two processes fill is stored once."""

    def __init__(self, library: GridLibrary) -> None:
        self._library = library
        self._store = GridStore(library.store.database)

    # Grids and their columns

    def add(self, name: str, columns: Sequence[ColumnSpec], scope: Scope) -> GridInfo:
        """Make a grid, empty, of the documents in ``scope``, or if it has sections, with each as a row. Raises
        `BadColumns`, `InputError` for its name or a section that isn't there."""
        distinct(columns)
        grid_id = secrets.token_hex(6)
        made = [one.column(secrets.token_hex(4)) for one in columns]
        self._store.add(grid_id, _named(name), self._rows_of(scope), made)
        return self.info(grid_id)

    def of_question(self, question: str) -> ColumnSpec:
        """Column that asks every document a question of a chat, given in its stand-alone form."""
        models = self._library.models
        return of_question(question, models.analyser, models.fields)

    def type_of(self, name: str, question: str) -> ColumnType:
        """Type that a column ``name`` with this ``question`` probably has; without one the name says what it asks."""
        models = self._library.models
        return type_of(name, question, models.analyser, models.fields)

    def of_template(self, template: Template) -> list[ColumnSpec]:
        """Columns for the sections of a report template. Raises `BadColumns` if none can be a column."""
        return of_template(template, self._library.models.fields)

    def all(self) -> list[GridInfo]:
        """Grids, newest first."""
        infos = self._library.documents()
        return [self._info(one, self._kept(one, infos)) for one in self._store.all()]

    def info(self, grid_id: str) -> GridInfo:
        """Raises `UnknownGrid`."""
        return self._info(*self._known(grid_id))

    def get(self, grid_id: str) -> Grid:
        """Grid with all its cells. Raises `UnknownGrid`."""
        stored, infos = self._known(grid_id)
        cells, _ = self._store.cells(grid_id)
        return Grid(
            self._info(stored, infos),
            tuple(self._begun([row for row, _ in _rows(stored, infos)])),
            stored.columns,
            {(cell.row_id, cell.column_id): cell for cell in cells},
        )

    def sections(self, doc_id: str) -> dict[str, SectionNode]:
        """Sections of a document in reading order, by the ids that their rows have. Raises `UnknownDocument`."""
        return {row_of(node.of(doc_id)): node for node in walk(section_tree(self._library.document(doc_id)))}

    def _begun(self, rows: Sequence[Row]) -> Iterator[Row]:
        """``rows``, those of sections with the page on which they begin now."""
        trees: dict[str, dict[str, SectionNode]] = {}
        for row in rows:
            if row.section and row.ready:
                node = self._node(row, trees)
                begins = node.first_page if node is not None else 0
                label = self._library.document(row.doc_id).pages[begins - 1].label if begins else ""
                row = replace(row, begins=begins, page_label=label)
            yield row

    def _node(self, row: Row, trees: dict[str, dict[str, SectionNode]]) -> SectionNode | None:
        """Section of a row as it is now, None if it is gone; ``trees`` keeps the sections of documents."""
        if row.doc_id not in trees:
            trees[row.doc_id] = self.sections(row.doc_id)
        return trees[row.doc_id].get(row.row_id)

    def _scope(self, row: Row, trees: dict[str, dict[str, SectionNode]]) -> Scope:
        """Where a row is now (`_node`). Raises `UnknownDocument`, and `InputError` for
        a section that is gone."""
        if not row.section:
            return Scope((row.doc_id,))
        node = self._node(row, trees)
        if node is None:
            said = f"{row.title} no longer has the section “{row.label}”."
            raise InputError(said, hint="It was read anew. Choose the grid’s sections again.")
        return Scope((row.doc_id,), sections=(node.of(row.doc_id),))

    def changes(self, grid_id: str, since: int) -> tuple[list[GridCell], int]:
        """Cells that changed after the counter ``since``, and the counter now; cells that were emptied are not among
        them, but raise `GridInfo.version`."""
        return self._store.cells(grid_id, since)

    def cell(self, grid_id: str, row_id: str, column_id: str) -> GridCell:
        """Raises `UnknownGrid`."""
        self._store.get(grid_id).column(column_id)
        return self._store.cell(grid_id, row_id, column_id)

    def rename(self, grid_id: str, name: str) -> None:
        """Raises `UnknownGrid`, `InputError`."""
        self._store.get(grid_id)
        self._store.rename(grid_id, _named(name))

    def scope(self, grid_id: str, scope: Scope) -> None:
        """Change the rows; `run` fills the cells of those that are new. Raises `UnknownGrid`, and `InputError` for a
        section that isn't there, unless it was a row before."""
        before = self._store.get(grid_id).scope
        self._store.set_scope(grid_id, self._rows_of(scope, before))

    def add_documents(self, grid_id: str, doc_ids: Sequence[str]) -> bool:
        """Add documents as rows; those of all the library are there by themselves, and sections are chosen one by one.
        Returns whether they are rows now. Raises `UnknownGrid`."""
        before = self._store.get(grid_id).scope
        if before.doc_ids is not None and not before.sections:
            self._store.set_scope(grid_id, Scope(tuple(dict.fromkeys((*before.doc_ids, *doc_ids)))))
        return not before.sections

    def placed(self, row_ids: Iterable[str], before: Scope = EVERYTHING) -> dict[str, Section]:
        """Sections of the documents of rows, by the ids of their rows: where they are now, or where they were
        ``before``. Raises `UnknownDocument`."""
        found = {row_of(one): one for one in before.sections}
        for doc_id in dict.fromkeys(map(doc_of, row_ids)):
            found |= {row: node.of(doc_id) for row, node in self.sections(doc_id).items()}
        return found

    def _rows_of(self, scope: Scope, before: Scope = EVERYTHING) -> Scope:
        """``scope`` as it is kept: each section once and where it now is, or where it was ``before``. Raises
        `InputError` for a document or section that is neither."""
        known = {info.doc_id for info in self._library.documents()}.union(before.doc_ids or ())
        if not known.issuperset(scope.doc_ids or ()):
            raise InputError("A document that was to be a row was removed.", hint="Choose the grid’s documents again.")
        asked = {row_of(one): one for one in checked(scope).sections}
        if len(asked) > MAX_SECTIONS:
            hint = "Choose fewer, or make several grids."
            raise InputError(f"A grid has at most {MAX_SECTIONS} sections; these are {len(asked):,}.", hint=hint)
        rows = self.placed(asked, before)
        lost = next((one for row, one in asked.items() if row not in rows), None)
        if lost is not None:
            raise InputError(f"There is no section “{lost.label}”.", hint="Choose the grid’s sections again.")
        sections = sorted((rows[row] for row in asked), key=lambda one: one.start)
        doc_ids = tuple(dict.fromkeys(one.doc_id for one in sections))
        return Scope(doc_ids, sections=tuple(sections)) if sections else scope

    def add_column(self, grid_id: str, name: str, question: str, type: ColumnType, unit: str = "") -> str:
        """Add a column at the end and return its id. Raises `UnknownGrid`, `BadColumns`."""
        (made,) = given_columns([{"name": name, "question": question, "type": type, "unit": unit}])
        column = made.column(secrets.token_hex(4))
        self._change(grid_id, lambda stored: [*stored.columns, column])
        return column.column_id

    def change_column(self, grid_id: str, column_id: str, **changes: str) -> None:
        """Change what a column asks; its cells are emptied then, except those that a person decided on. Raises
        `UnknownGrid`, `BadColumns`."""

        def change(stored: StoredGrid) -> list[Column]:
            before, keys = stored.column(column_id), ("name", "question", "type", "unit")
            (made,) = given_columns([{key: getattr(before, key) for key in keys} | changes])
            return [made.column(column_id) if one == before else one for one in stored.columns]

        self._change(grid_id, change)

    def remove_column(self, grid_id: str, column_id: str) -> None:
        """Remove a column with its cells. Raises `UnknownGrid`."""

        def change(stored: StoredGrid) -> list[Column]:
            gone = stored.column(column_id)
            return [one for one in stored.columns if one != gone]

        self._change(grid_id, change)

    def move_column(self, grid_id: str, column_id: str, by: int) -> None:
        """Move a column past the previous (``by`` -1) or next one (1); no effect at the first or last place. Raises
        `UnknownGrid`."""

        def change(stored: StoredGrid) -> list[Column]:
            columns = list(stored.columns)
            place = columns.index(stored.column(column_id))
            if 0 <= place + by < len(columns):
                columns.insert(place + by, columns.pop(place))
            return columns

        self._change(grid_id, change)

    def _change(self, grid_id: str, change: Callable[[StoredGrid], list[Column]]) -> None:
        def checked_change(stored: StoredGrid) -> list[Column]:
            columns = change(stored)
            if len(columns) > MAX_COLUMNS:
                raise BadColumns(f"A grid has at most {MAX_COLUMNS} columns.", hint="Make another grid.")
            distinct(columns)
            return columns

        self._store.change_columns(grid_id, checked_change)

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
        *,
        ask: bool = False,
    ) -> GridInfo:
        """Fill the empty cells of the documents that are ready, row by row; then, to ``ask``, let the writer say what
        rules left not stated, of which ``show`` counts the cells anew. What a model writes costs at most ``max_usd``;
        with 0 what costs something is left empty. Raises `UnknownGrid`, `Cancelled`, `InputError` if it would cost
        more, `ConfigError` if there is no model to ask, and what retrieval and the model raise, which is stored too."""
        if ask and self._library.models.writer_name == OFFLINE:
            raise nobody_to_ask("rules fill the cells")
        self._store.put_error(grid_id, None)
        try:
            left_usd = self._fill(grid_id, show, cancelled, max_usd)
            if ask:
                self._ask(grid_id, show, cancelled, left_usd)
        except Cancelled:
            raise
        except GroundworkError as error:
            self._store.put_error(grid_id, error.as_dict())
            raise
        return self.info(grid_id)

    def _ask(self, grid_id: str, show: Show, cancelled: IsCancelled, max_usd: float) -> None:
        left = self._unanswered(*self._known(grid_id))
        affordable(self._expense([column for *_, column in left], asked=True), max_usd, "cell")
        filler, builds = CellFiller(self._library, cancelled), self._library.store.builds()
        trees: dict[str, dict[str, SectionNode]] = {}
        for number, (row, info, column) in enumerate(left):
            show(number, len(left))
            if cancelled():
                raise Cancelled("Asking was stopped.")
            given = self._store.cell(grid_id, row.row_id, column.column_id)
            if not can_ask(column, given):
                continue  # decided on, or asked for by another process
            began, build = time.perf_counter(), builds.get(row.doc_id, "")
            try:
                cell = filler.by_writer(column, info, self._scope(row, trees))
            except (UnknownDocument, InputError):
                continue  # removed meanwhile, or its section is gone: rules say so
            if cell.error is not None:
                raise ModelError(cell.error["message"], hint=cell.error["hint"])
            if cell.status == "not_stated":
                cell = replace(cell, rivals=given.likely)  # what it may be is still that
            self._store.put(grid_id, row.row_id, column, cell, build, time.perf_counter() - began)

    def _fill(self, grid_id: str, show: Show, cancelled: IsCancelled, max_usd: float) -> float:
        """Fill what is empty. Returns what is left of ``max_usd``."""
        filler, left_usd, failed = CellFiller(self._library, cancelled), max_usd, set[tuple[str, Column]]()
        while True:
            stored, infos = self._known(grid_id)
            left = [one for one in self._left(stored, infos) if (one[0].row_id, one[2]) not in failed]
            if not max_usd:
                left = [one for one in left if self._expense([one[2]]).usd == 0.0]
            if not left:
                return left_usd
            affordable(self._expense([column for *_, column in left]), left_usd, "cell")
            total, builds = len(_rows(stored, infos)) * len(stored.columns), self._library.store.builds()
            trees: dict[str, dict[str, SectionNode]] = {}
            for number, (row, info, column) in enumerate(left):
                show(total - len(left) + number, total)
                if cancelled():
                    raise Cancelled("Filling was stopped.")
                if self._store.get(grid_id).version != stored.version:
                    break  # other documents or columns by now
                began, build = time.perf_counter(), builds.get(row.doc_id, "")
                if self._store.is_filled(grid_id, row.row_id, column.column_id, build):
                    continue  # by another process
                try:
                    cell = filler.cell(column, info, self._scope(row, trees))
                except UnknownDocument:
                    break  # removed meanwhile
                except InputError as error:  # its section is gone
                    cell = Cell("failed", error=error.as_dict())
                left_usd -= cell.cost_usd or 0.0
                if cell.status == "failed":  # it is filled again by the next run
                    failed.add((row.row_id, column))
                    build = ""
                self._store.put(grid_id, row.row_id, column, cell, build, time.perf_counter() - began)

    def _left(self, stored: StoredGrid, infos: Sequence[DocumentInfo]) -> Iterator[tuple[Row, DocumentInfo, Column]]:
        """Empty cells of ready documents, and those that nobody decided on of a document that was read again."""
        filled, builds = self._store.filled(stored.grid_id), self._library.store.builds()
        for row, info in _rows(stored, infos):
            for column in stored.columns if row.ready else ():
                known = filled.get((row.row_id, column.column_id))
                if known is None or not known.holds(builds.get(row.doc_id, "")):
                    yield row, info, column

    def _unanswered(self, stored: StoredGrid, infos: Sequence[DocumentInfo]) -> list[tuple[Row, DocumentInfo, Column]]:
        """Cells that the writer can be asked for."""
        known = {(one.row_id, one.column_id): one for one in self._store.cells(stored.grid_id)[0]}
        empty = {(row.row_id, column.column_id) for row, _, column in self._left(stored, infos)}
        return [
            (row, info, column)
            for row, info in _rows(stored, infos)
            for column in stored.columns
            if (key := (row.row_id, column.column_id)) in known and key not in empty and can_ask(column, known[key])
        ]

    def estimate(self, grid_id: str) -> Expense:
        """Highest cost of filling the free text that is still empty. Raises `UnknownGrid`."""
        return self._expense([column for *_, column in self._left(*self._known(grid_id))])

    def estimate_asking(self, grid_id: str) -> Expense:
        """Highest cost of asking the writer, for no cell if nothing but rules writes. Raises `UnknownGrid`."""
        known, offline = self._known(grid_id), self._library.models.writer_name == OFFLINE
        left = [] if offline else self._unanswered(*known)
        return self._expense([column for *_, column in left], asked=True)

    def _expense(self, columns: Sequence[Column], *, asked: bool = False) -> Expense:
        """Highest cost of the free text among ``columns``, one for each cell; of all if the writer is ``asked``."""
        queries = [one.asked for one in columns if asked or one.type == "text"]
        return expense(queries, "", 0, self._library.models.writer_name, self._library.settings)

    def again(self, grid_id: str, column_id: str = "", row_id: str = "") -> None:
        """Let `run` fill anew the cells that nobody decided on, of a column, a row, or all; until then each says what
        it said. Raises `UnknownGrid`."""
        self._store.get(grid_id)
        self._store.again(grid_id, column_id, row_id)

    # Decisions

    def decide(self, grid_id: str, row_id: str, column_id: str, decision: CellDecisionKind, text: str = "") -> GridCell:
        """Store what a person makes of a cell. A corrected ``text`` is checked against the document, or the section.
        Raises `UnknownGrid`, `UnknownDocument`, `InputError`, and what retrieval raises."""
        stored, infos = self._known(grid_id)
        column = stored.column(column_id)
        found = [one for one in _rows(stored, infos) if one[0].row_id == row_id]
        if not found:
            raise UnknownDocument("This row is no longer in the grid.", hint="Reload the page.")
        made = UNDECIDED if not decision else CellDecision(decision)
        if decision == "accepted" and self._store.cell(grid_id, row_id, column_id).found is None:
            raise InputError("This cell is still empty.", hint="Wait until it is filled, or write its value.")
        if decision == "corrected":
            known = self._store.cell(grid_id, row_id, column_id).found
            made = self._corrected(column, *found[0], _lines(text), known)
        self._store.decide(grid_id, row_id, column_id, made)
        return self._store.cell(grid_id, row_id, column_id)

    def _corrected(self, column: Column, row: Row, info: DocumentInfo, text: str, known: Cell | None) -> CellDecision:
        """A person's value, with the document's words that it agrees with, or the nearest."""
        if not text or len(text) > LONGEST_VALUE:
            most = f"Write at most {LONGEST_VALUE:,} characters."
            raise InputError("The value is too long." if text else "The value is empty.", hint=most)
        if column.type == "yes_no":
            text = text[:1].upper() + text[1:]
        bare = text.removesuffix(column.unit).rstrip()
        number, unit = measured(bare or text, "", column.unit) if column.type == "value" else (None, "")
        unit = unit or (column.unit if number is not None else "")
        given = (known.value, *known.rivals) if known is not None else ()
        chosen = next((one for one in given if one.text == text or (number, unit) == (one.number, one.unit)), None)
        if chosen is not None and chosen.text and (chosen.text == text or number is not None):
            # What is only likely stands where it was found; that it is what was asked for is the person's word.
            return CellDecision("corrected", chosen, supported=True if known and known.status in STATED else None)
        _demand(text, number, column)
        items = text.splitlines() if column.type == "list" else []
        number = float(len(items)) if items else number
        value = CellValue(text, number, unit, period_of(text) if column.type == "date" else "")
        if info.status != "ready" or info.successor:
            return CellDecision("corrected", value)
        checker = Checker(self._library.with_settings(BY_RULES), self._scope(row, {}))
        labels = column.name if column.type in ("value", "date", "name") else ""
        said = [claim_of(column)] if column.type == "yes_no" else items or [text]
        verdicts = [checker.verdict(Checkable(one, 0, len(one), labels)) for one in said]
        wanted = "contradicted" if column.type == "yes_no" and text.casefold().startswith("no") else "confirmed"
        places = [place for verdict in verdicts for place in verdict.citations]
        value = replace(value, citations=tuple(replace(place, n=n) for n, place in enumerate(places, start=1)))
        return CellDecision("corrected", value, all(verdict.status == wanted for verdict in verdicts))

    # Files

    def export(self, grid_id: str, kind: GridFile) -> bytes:
        """The grid as a file. Raises `UnknownGrid`, `InputError` for an unknown kind."""
        from ragcore.grid.files import KINDS, write

        return write(self._library.versions.told(self.get(grid_id)), checked_kind(kind, KINDS))

    def _known(self, grid_id: str) -> tuple[StoredGrid, list[DocumentInfo]]:
        """Grid, and the documents that can have rows in it. Raises `UnknownGrid`."""
        stored = self._store.get(grid_id)
        return stored, self._kept(stored, self._library.documents())

    def _kept(self, stored: StoredGrid, infos: Sequence[DocumentInfo]) -> list[DocumentInfo]:
        """``infos``, and before each the last earlier version of it that has cells: they stay, and say what changed."""
        newest = self._library.store.newest()
        if not newest:
            return list(infos)
        filled = {doc_of(row_id) for row_id, _ in self._store.filled(stored.grid_id)}
        earlier = (one for one in self._library.documents(earlier=True) if one.successor and one.doc_id in filled)
        before = {newest[one.doc_id]: one for one in sorted(earlier, key=lambda one: one.created)}
        return [each for info in infos for each in (before.get(info.doc_id), info) if each is not None]

    def _info(self, stored: StoredGrid, infos: Sequence[DocumentInfo]) -> GridInfo:
        rows = _rows(stored, infos)
        inside = {row.row_id: row.doc_id for row, _ in rows}
        earlier = {row.row_id for row, info in rows if info.successor}  # of whose cells none is filled any more
        columns = {one.column_id for one in stored.columns}
        filled = self._store.filled(stored.grid_id).items()
        builds = self._library.store.builds()
        known = [
            one
            for (row, column_id), one in filled
            if row in inside and column_id in columns and (row in earlier or one.holds(builds.get(inside[row], "")))
        ]
        held = sum(row in earlier and column_id in columns for (row, column_id), _ in filled)
        return GridInfo(
            stored.grid_id,
            stored.name,
            stored.scope,
            stored.created,
            len(columns),
            (len(inside) - len(earlier)) * len(columns) + held,
            len(known),
            sum(one.seconds for one in known),
            stored.error,
            stored.version,
            Counter(inside.values()),
        )


def _rows(stored: StoredGrid, infos: Sequence[DocumentInfo]) -> list[tuple[Row, DocumentInfo]]:
    """Rows of a grid whose documents are in the library, in its order, each with its document."""
    found, after = list[tuple[Row, DocumentInfo]](), ""
    for info in reversed(infos):
        now = after if info.successor else info.doc_id  # an earlier version stands before the newest one
        after = info.doc_id
        if stored.scope.holds(now):
            found += [(row, info) for row in _of(info, stored.scope, now)][::-1]
    return found[::-1]


def _of(info: DocumentInfo, scope: Scope, now: str) -> Iterator[Row]:
    """Rows of a document, of which ``now`` is the newest version."""
    ready = info.status == "ready" and info.indexed and not info.successor
    row = Row(info.doc_id, info.title, info.name, info.pages, ready, info.tags, earlier=bool(info.successor))
    own = [replace(one, doc_id=info.doc_id) for one in scope.sections if one.doc_id == now]
    yield from (replace(row, row_id=row_of(one), section=one.path) for one in own)
    if not scope.sections:
        yield row


def _demand(text: str, number: float | None, column: Column) -> None:
    """Raises `InputError` for a person's value that is not of its column's type."""
    if column.type == "value" and number is None:
        raise InputError("This column takes one number.", hint="Write it like 35,000 or $3.5 million.")
    if column.type == "yes_no" and tokens(text)[:1] not in (["yes"], ["no"]):
        raise InputError("This column takes Yes or No.", hint="Begin with one of them.")
    if column.type == "date" and not years(text) and not date_spans(text):
        raise InputError("This column takes a date.", hint="Write it like 30 June 2029, or just the year.")


def _lines(text: str) -> str:
    """``text`` without needless blanks and empty lines."""
    return "\n".join(line for each in text.splitlines() if (line := " ".join(each.split())))


def _named(name: str) -> str:
    """Name of a grid, on one line. Raises `InputError`."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        hint = f"Use 1 to {LONGEST_NAME} characters."
        raise InputError("The name is too long." if name else "The grid has no name.", hint=hint)
    return name
