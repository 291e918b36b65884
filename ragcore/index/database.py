"""SQLite database: opening the file, and transactions on it. Its tables are in ``schema.sql``.

WAL lets any number of processes read while one writes; each write is one short ``BEGIN IMMEDIATE`` transaction, and a
process that finds the file busy waits `BUSY_SECONDS` before it raises `StoreBusy`. What is deleted is overwritten.

Columns declared ``JSON`` and ``BOOLEAN`` are Python values, written and read (a list as a tuple). A list given for the
question mark of `IN` is the set of values to look for.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragcore import files
from ragcore.errors import DiskFull, StoreBusy, StoreError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

BUSY_SECONDS = 30.0
SCHEMA = 118  # raise it with any change to the tables
IDLE = 8  # connections kept open for the next transaction
IN = "IN (SELECT value FROM json_each(?))"

Row = sqlite3.Row
T = TypeVar("T", bound="DataclassInstance")


def _from_json(text: bytes) -> Any:
    value = json.loads(text)
    return tuple(value) if isinstance(value, list) else value


for _kind in (dict, list, tuple):
    sqlite3.register_adapter(_kind, partial(json.dumps, ensure_ascii=False))
sqlite3.register_converter("JSON", _from_json)
sqlite3.register_converter("BOOLEAN", lambda digit: digit != b"0")


def made(kind: type[T], row: Row, **others: object) -> T:
    """Dataclass ``kind`` of the columns that are named like its fields, and of ``others``."""
    names = kind.__dataclass_fields__.keys() & row.keys()
    return kind(**{name: row[name] for name in names} | others)


class Connection(sqlite3.Connection):
    """Connection in a transaction. ``values`` fill a query's question marks; a row gives columns by name and index."""

    def value(self, query: str, *values: object) -> Any:
        """First column of the first row; None if there is none."""
        row = self.row(query, *values)
        return None if row is None else row[0]

    def row(self, query: str, *values: object) -> Row | None:
        """First row; None if there is none."""
        found: Row | None = self.execute(query, values).fetchone()
        return found

    def rows(self, query: str, *values: object) -> list[Row]:
        return self.execute(query, values).fetchall()

    def column(self, query: str, *values: object) -> list[Any]:
        """First column of every row."""
        return [row[0] for row in self.execute(query, values)]

    def insert(self, table: str, *rows: Mapping[str, object], clash: str = "", key: str = "") -> int:
        """Insert rows with the same columns; returns how many were inserted. For existing rows ``clash`` decides
        (``NOTHING``, ``REPLACE``, ``UPDATE SET …``; default: an error), or with ``key``, its columns, the other columns
        are updated."""
        if not rows:
            return 0
        named = [f'"{column}"' for column in rows[0]]
        replace = " OR REPLACE" if clash == "REPLACE" else ""
        query = f"INSERT{replace} INTO {table} ({', '.join(named)}) VALUES (:{', :'.join(rows[0])})"
        if key:
            clash = "UPDATE SET " + ", ".join(f"{column} = excluded.{column}" for column in named)
        if clash and not replace:
            query += f" ON CONFLICT{f' ({key})' if key else ''} DO {clash}"
        return self.executemany(query, rows).rowcount

    def update(self, table: str, where: str, *values: object, **columns: object) -> int:
        """Set columns of the rows that match ``where``; returns their number."""
        set_ = ", ".join(f'"{column}" = ?' for column in columns)
        return self.execute(f"UPDATE {table} SET {set_} WHERE {where}", (*columns.values(), *values)).rowcount


class Database:
    """SQLite file, safe for many threads and processes. Raises `StoreError` if it cannot be opened."""

    def __init__(self, path: Path, package: str = "ragcore.index", schema: int = SCHEMA) -> None:
        """``schema`` is the version of the tables in ``schema.sql`` of ``package``."""
        self.path = path
        self._idle: list[Connection] = []
        try:
            files.private(path.parent)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives its other files the same permissions
        except OSError as error:
            raise StoreError(f"The home folder {path.parent} can't be used: {error.strerror}.") from error
        with self.write() as connection:
            _create(connection, path, package, schema)

    def read(self) -> AbstractContextManager[Connection]:
        """Connection in a read transaction: one consistent state however long it is open."""
        return self._transaction("BEGIN")

    def write(self) -> AbstractContextManager[Connection]:
        """Connection in a write transaction: committed at the end, rolled back on an error."""
        return self._transaction("BEGIN IMMEDIATE")

    def value(self, query: str, *values: object) -> Any:
        """`Connection.value` of a query in its own transaction."""
        with self.read() as connection:
            return connection.value(query, *values)

    def rows(self, query: str, *values: object) -> list[Row]:
        """`Connection.rows` of a query in its own transaction."""
        with self.read() as connection:
            return connection.rows(query, *values)

    def column(self, query: str, *values: object) -> list[Any]:
        """`Connection.column` of a query in its own transaction."""
        with self.read() as connection:
            return connection.column(query, *values)

    def checkpoint(self) -> None:
        """Empty the write-ahead log: what was deleted is then gone from the disk. Left to the next time while another
        connection needs it."""
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(self.path, timeout=0.0)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        try:
            with self._connection() as connection:
                connection.execute(begin)
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    connection.rollback()
                    raise
        except sqlite3.OperationalError as error:
            reason = str(error)
            if "locked" in reason or "busy" in reason:
                raise StoreBusy(
                    f"Another process has been writing to {self.path} for over {BUSY_SECONDS:.0f} s."
                ) from error
            if "full" in reason:
                raise DiskFull(f"The disk of {self.path} is full.") from error
            raise StoreError(f"The database {self.path} can't be used: {reason}.") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"The database {self.path} can't be used: {error}.",
                hint="Move the file away to start afresh. Your PDFs stay in the folder `files` beside it.",
            ) from error

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """Context with a connection for one thread at a time."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = sqlite3.connect(
                self.path,
                timeout=BUSY_SECONDS,
                detect_types=sqlite3.PARSE_DECLTYPES,
                isolation_level=None,
                check_same_thread=False,
                factory=Connection,
            )
            connection.row_factory = Row
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
                connection.execute(f"PRAGMA {pragma}")
        try:
            yield connection
        finally:
            if len(self._idle) < IDLE:
                self._idle.append(connection)
            else:
                connection.close()


def _create(connection: Connection, path: Path, package: str, schema: int) -> None:
    """Create the tables of a new file. One of an older schema is taken on: the scripts ``to_N.sql`` that there are
    change what it has, then what it lacks is created. Raises `StoreError` for a file of another schema."""
    version = connection.value("PRAGMA user_version")
    if version > schema:
        raise StoreError(
            f"{path} was written by a newer Groundwork (schema {version}; this version knows {schema}).",
            hint="Update Groundwork, or use another --home.",
        )
    if version == schema:
        return
    steps = [resources.files(package).joinpath(f"to_{step}.sql") for step in range(version + 1, schema + 1)]
    if version and not all(step.is_file() for step in steps):
        raise StoreError(
            f"{path} was written by a Groundwork from before the first release (schema {version}).",
            hint="Use another --home and add the PDFs in the folder `files` beside it again.",
        )
    for script in (*(steps if version else ()), resources.files(package).joinpath("schema.sql")):
        statement = ""
        for line in script.read_text("utf-8").splitlines(True):
            statement += line
            if sqlite3.complete_statement(statement):
                connection.execute(statement)
                statement = ""
    connection.execute(f"PRAGMA user_version = {schema}")
