"""Grid store: grids with their columns, the cells that are filled, and what a person decided.

A cell is stored as soon as it is there: a killed filling goes on after it. Cells go with their document.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragcore.errors import UnknownGrid
from ragcore.index.database import IN, Connection, Database, Row, made
from ragcore.index.packing import adapter, pack, unpack
from ragcore.index.versions import followed, newest_versions
from ragcore.types import Scope
from ragcore.types.grid import UNDECIDED, Cell, CellDecision, Column, GridCell, doc_of

AGAIN = "again"  # build of a cell that is to be filled anew: it holds for none
_UNDECIDED = "WHERE grid_id = ?1 AND ?2 IN ('', column_id) AND ?3 IN ('', row_id) AND decision IS NULL"


@dataclass(frozen=True, slots=True)
class StoredGrid:
    """Grid without its cells."""

    grid_id: str
    name: str
    scope: Scope
    columns: tuple[Column, ...]
    created: float
    version: int
    error: Mapping[str, Any] | None

    def column(self, column_id: str) -> Column:
        """Raises `UnknownGrid`."""
        found = next((one for one in self.columns if one.column_id == column_id), None)
        if found is None:
            raise UnknownGrid("This column is no longer in the grid.", hint="Reload the page.")
        return found


@dataclass(frozen=True, slots=True)
class Filled:
    """Cell that is filled or decided on: the ``build`` of its document then, and the ``seconds`` it took."""

    build: str
    decided: bool
    seconds: float

    def holds(self, build: str) -> bool:
        """Whether it is final for this ``build`` of its document."""
        return self.decided or self.build == build


class GridStore:
    """Tables ``grids`` and ``grid_cells``."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, grid_id: str, name: str, scope: Scope, columns: Sequence[Column]) -> None:
        row = {
            "grid_id": grid_id,
            "name": name,
            "created": time.time(),
            "columns": _plain(tuple[Column, ...], tuple(columns)),
        }
        with self.database.write() as connection:
            connection.insert("grids", row | {"scope": _plain(Scope, scope)})

    def all(self) -> list[StoredGrid]:
        """Grids, newest first."""
        with self.database.read() as connection:
            rows, versions = (
                connection.rows("SELECT * FROM grids ORDER BY created DESC, grid_id"),
                newest_versions(connection),
            )
        return [_grid(row, versions) for row in rows]

    def get(self, grid_id: str) -> StoredGrid:
        """Raises `UnknownGrid`."""
        with self.database.read() as connection:
            return _stored(connection, grid_id)

    def rename(self, grid_id: str, name: str) -> None:
        with self.database.write() as connection:
            connection.update("grids", "grid_id = ?", grid_id, name=name)

    def set_scope(self, grid_id: str, scope: Scope) -> None:
        """Change the rows; cells of those left out stay, for when they come back."""
        with self.database.write() as connection:
            connection.update("grids", "grid_id = ?", grid_id, scope=_plain(Scope, scope))
            _raise(connection, grid_id)

    def change_columns(self, grid_id: str, change: Callable[[StoredGrid], Sequence[Column]]) -> None:
        """Change the columns to what ``change`` makes of them. Cells of those that are gone go, and of those that ask
        something else what nobody decided on. Raises `UnknownGrid`, and what ``change`` raises."""
        with self.database.write() as connection:
            before = _stored(connection, grid_id)
            columns = change(before)
            known = {one.column_id: one for one in before.columns}
            connection.update("grids", "grid_id = ?", grid_id, columns=_plain(tuple[Column, ...], tuple(columns)))
            kept = [one.column_id for one in columns]
            connection.execute(f"DELETE FROM grid_cells WHERE grid_id = ? AND NOT column_id {IN}", (grid_id, kept))
            for column in columns:
                if known.get(column.column_id, column) != column:
                    connection.execute(f"DELETE FROM grid_cells {_UNDECIDED}", (grid_id, column.column_id, ""))
            _raise(connection, grid_id)

    def again(self, grid_id: str, column_id: str = "", row_id: str = "") -> None:
        """Let the cells that nobody decided on, of a column, a row, or all, be filled anew: until then each says what
        it said. Those of earlier versions stay as they are."""
        with self.database.write() as connection:
            connection.execute(
                f"UPDATE grid_cells SET build = ?4 {_UNDECIDED} AND doc_id NOT IN (SELECT doc_id FROM earlier)",
                (grid_id, column_id, row_id, AGAIN),
            )
            connection.update("grids", "grid_id = ?", grid_id, error=None)
            _raise(connection, grid_id)

    def filled(self, grid_id: str) -> dict[tuple[str, str], Filled]:
        """Cells that are filled or decided on, by row and column."""
        query = "SELECT row_id, column_id, build, decision IS NOT NULL AS decided, seconds FROM grid_cells"
        held = "found IS NOT NULL OR decision IS NOT NULL"
        rows = self.database.rows(f"{query} WHERE grid_id = ? AND ({held})", grid_id)
        return {(r["row_id"], r["column_id"]): Filled(r["build"], bool(r["decided"]), r["seconds"]) for r in rows}

    def cells(self, grid_id: str, since: int = 0) -> tuple[list[GridCell], int]:
        """Cells that changed after the counter ``since``, and the counter now."""
        query = "SELECT * FROM grid_cells WHERE grid_id = ? AND changed > ?"
        with self.database.read() as connection:
            now: int = connection.value("SELECT changes FROM grids WHERE grid_id = ?", grid_id) or 0
            return list(map(_cell, connection.rows(query, grid_id, since))), now

    def cell(self, grid_id: str, row_id: str, column_id: str) -> GridCell:
        query = "SELECT * FROM grid_cells WHERE grid_id = ? AND row_id = ? AND column_id = ?"
        rows = self.database.rows(query, grid_id, row_id, column_id)
        return _cell(rows[0]) if rows else GridCell(row_id, column_id)

    def is_filled(self, grid_id: str, row_id: str, column_id: str, build: str) -> bool:
        """Whether a cell is filled from this ``build`` of its document, or decided on."""
        query = "SELECT count(*) FROM grid_cells WHERE grid_id = ? AND row_id = ? AND column_id = ?"
        held = "(decision IS NOT NULL OR (found IS NOT NULL AND build = ?))"
        return bool(self.database.value(f"{query} AND {held}", grid_id, row_id, column_id, build))

    def put(self, grid_id: str, row_id: str, column: Column, cell: Cell, build: str, seconds: float) -> bool:
        """Store a filled cell, unless its column asks for something else by now, its document is gone, or a person has
        decided on it. Returns whether it was stored."""
        with self.database.write() as connection:
            row = connection.row("SELECT * FROM grids WHERE grid_id = ?", grid_id)
            known = connection.value("SELECT count(*) FROM documents WHERE doc_id = ?", doc_of(row_id))
            if row is None or not known or column not in _grid(row, {}).columns:
                return False
            found = {"found": pack(cell, Cell), "build": build, "seconds": seconds}
            return _write(connection, grid_id, row_id, column.column_id, found, "decision IS NULL")

    def decide(self, grid_id: str, row_id: str, column_id: str, decision: CellDecision) -> None:
        packed = None if decision == UNDECIDED else pack(decision, CellDecision)
        with self.database.write() as connection:
            _stored(connection, grid_id).column(column_id)
            _write(connection, grid_id, row_id, column_id, {"decision": packed}, "true")

    def put_error(self, grid_id: str, error: Mapping[str, Any] | None) -> None:
        """Store why a filling ended early; None: it did not."""
        with self.database.write() as connection:
            connection.update("grids", "grid_id = ?", grid_id, error=error)

    def remove(self, grid_id: str) -> None:
        """Delete it; none of its words stay on the disk."""
        with self.database.write() as connection:
            connection.execute("DELETE FROM grids WHERE grid_id = ?", (grid_id,))
        self.database.checkpoint()


def _plain(kind: Any, value: object) -> Any:
    return adapter(kind).dump_python(value, mode="json")


def _stored(connection: Connection, grid_id: str) -> StoredGrid:
    row = connection.row("SELECT * FROM grids WHERE grid_id = ?", grid_id)
    if row is None:
        raise UnknownGrid(f"There is no grid {grid_id!r}.")
    return _grid(row, newest_versions(connection))


def _grid(row: Row, newest: Mapping[str, str]) -> StoredGrid:
    scope = followed(adapter(Scope).validate_python(row["scope"]), newest)
    return made(StoredGrid, row, scope=scope, columns=adapter(tuple[Column, ...]).validate_python(row["columns"]))


def _cell(row: Row) -> GridCell:
    found = None if row["found"] is None else unpack(row["found"], Cell)
    decision = UNDECIDED if row["decision"] is None else unpack(row["decision"], CellDecision)
    again = row["build"] == AGAIN and decision == UNDECIDED
    return GridCell(row["row_id"], row["column_id"], found, decision, again)


def _write(
    connection: Connection, grid_id: str, row_id: str, column_id: str, values: Mapping[str, object], where: str
) -> bool:
    """Write ``values`` into a cell, made if it is not there, if it is as ``where`` says; it has changed then."""
    connection.execute("UPDATE grids SET changes = changes + 1 WHERE grid_id = ?", (grid_id,))
    now = connection.value("SELECT changes FROM grids WHERE grid_id = ?", grid_id)
    key = {"grid_id": grid_id, "row_id": row_id, "column_id": column_id}
    place = "grid_id = ? AND row_id = ? AND column_id = ?"
    if not connection.value(f"SELECT count(*) FROM grid_cells WHERE {place}", *key.values()):
        connection.insert("grid_cells", {**key, **values, "doc_id": doc_of(row_id), "changed": now})
        return True
    return connection.update("grid_cells", f"{place} AND {where}", *key.values(), **values, changed=now) > 0


def _raise(connection: Connection, grid_id: str) -> None:
    connection.execute("UPDATE grids SET version = version + 1 WHERE grid_id = ?", (grid_id,))
