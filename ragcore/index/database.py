"""Databases: one SQLite file for each library, or PostgreSQL for all of them (`ragcore.index.postgres`), with the same
tables (``schema.sql``) and the same statements, which both understand.

A statement's values stand for its question marks, in order or numbered (``?1``); a list given for that of `IN` is the
set of values to look for. Columns declared ``JSON`` and ``BOOLEAN`` are Python values, written and read (a list as a
tuple). Reads see one state; each write is one short transaction, one at a time in a library. A thread that waits for it
longer than `BUSY_SECONDS` raises `StoreBusy`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ragcore import files
from ragcore.errors import DiskFull, InputError, StoreBusy, StoreError
from ragcore.text.words import lexemes

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

BUSY_SECONDS = 30.0
SCHEMA = 120  # raise it with any change to the tables; postgres.sql says what a step can't do there
PEOPLE = ("ragcore.accounts", 4)  # package and schema of the tables of accounts
IDLE = 8  # connections kept open for the next transaction
IN = "IN (SELECT value FROM json_each(?))"
URL = "GROUNDWORK_DATABASE"  # environment variable with the address of PostgreSQL
FILE = "groundwork.sqlite"  # in the home folder of a library
NAME = "library.id"  # of one that is in PostgreSQL: its name there
ACCOUNTS = "accounts.sqlite"  # in the home folder of a team

T = TypeVar("T", bound="DataclassInstance")


class Row(Protocol):
    """Row of a result: columns by name and by index."""

    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def keys(self) -> Iterable[str]: ...


class Cursor(Protocol):
    """Result of a statement."""

    @property
    def rowcount(self) -> int: ...
    def __iter__(self) -> Iterator[Row]: ...
    def fetchone(self) -> Row | None: ...
    def fetchall(self) -> list[Any]: ...


def made(kind: type[T], row: Row, **others: object) -> T:
    """Dataclass ``kind`` of the columns that are named like its fields, and of ``others``."""
    names = kind.__dataclass_fields__.keys() & row.keys()
    return kind(**{name: row[name] for name in names} | others)


class Connection(ABC):
    """Connection in a transaction."""

    @abstractmethod
    def execute(self, query: str, values: Sequence[object] = (), /) -> Cursor: ...

    @abstractmethod
    def executemany(self, query: str, rows: Iterable[Sequence[object]], /) -> int:
        """Execute ``query`` with each of ``rows``; returns how many rows it changed."""

    def value(self, query: str, *values: object) -> Any:
        """First column of the first row; None if there is none."""
        row = self.row(query, *values)
        return None if row is None else row[0]

    def row(self, query: str, *values: object) -> Row | None:
        """First row; None if there is none."""
        return self.execute(query, values).fetchone()

    def rows(self, query: str, *values: object) -> list[Row]:
        return self.execute(query, values).fetchall()

    def column(self, query: str, *values: object) -> list[Any]:
        """First column of every row."""
        return [row[0] for row in self.execute(query, values)]

    def insert(self, table: str, *rows: Mapping[str, object], key: str = "", clash: str = "") -> int:
        """Insert rows with the same columns; returns how many were inserted or changed. Where there is a row with the
        same ``key`` (columns) already, the other columns of that are updated, or as ``clash`` says (``NOTHING``,
        ``UPDATE SET …``); without either that is an error."""
        if not rows:
            return 0
        named = [f'"{column}"' for column in rows[0]]
        query = f"INSERT INTO {table} ({', '.join(named)}) VALUES ({', '.join('?' * len(named))})"
        if key and not clash:
            clash = "UPDATE SET " + ", ".join(f"{column} = excluded.{column}" for column in named)
        if clash:
            query += f" ON CONFLICT{f' ({key})' if key else ''} DO {clash}"
        return self.executemany(query, ([row[column] for column in rows[0]] for row in rows))

    def update(self, table: str, where: str, *values: object, **columns: object) -> int:
        """Set columns of the rows that match ``where``; returns their number."""
        set_ = ", ".join(f'"{column}" = ?' for column in columns)
        return self.execute(f"UPDATE {table} SET {set_} WHERE {where}", (*columns.values(), *values)).rowcount


class Database(ABC):
    """Tables of one library, safe for many threads and processes. Raises `StoreError`. ``shared``: processes on several
    machines may use it."""

    shared = False

    @abstractmethod
    def read(self) -> AbstractContextManager[Connection]:
        """Connection in a read transaction: one consistent state however long it is open."""

    @abstractmethod
    def write(self) -> AbstractContextManager[Connection]:
        """Connection in a write transaction: committed at the end, rolled back on an error."""

    @abstractmethod
    def locked(
        self, name: str, busy: str, *, fence: bool = False, seconds: float = 0.0
    ) -> AbstractContextManager[Callable[[], bool]]:
        """Lock ``name`` of the library, for one thread of all processes that use it. The value tells whether it still
        holds. Raises `StoreBusy` with the message ``busy`` if it is taken for longer than ``seconds``, or was lost in
        the end; with ``fence`` in each later `write` of this thread, too, which must be the one that lets it go."""

    @abstractmethod
    def taken(self, names: Collection[str]) -> set[str]:
        """Those of some locks that processes on any machine hold; none of a library that isn't ``shared``."""

    @abstractmethod
    def checkpoint(self) -> None:
        """Make what was deleted be gone from the disk, as far as the database can now."""

    @abstractmethod
    def size(self) -> int:
        """Bytes on the disk."""

    @abstractmethod
    def close(self) -> None: ...

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


def open_database(home: Path) -> Database:
    """Database of the library in the folder ``home``: the one in which it is; a new one is in PostgreSQL if the
    environment has `URL`. Raises `StoreError`, and `InputError` if it can't be told or reached."""
    url, file, name = os.environ.get(URL, ""), home / FILE, home / NAME
    if name.exists() and file.exists():
        raise InputError(
            f"A move of the library in {home} broke off, and nothing is lost.",
            hint="Run the same `groundwork admin move` again, or one the other way.",
        )
    if name.exists() and not url:
        raise InputError(f"The library in {home} is in PostgreSQL.", hint=f"Set {URL}, or use another --home.")
    if file.exists() or not url:
        return SqliteDatabase(file)
    from ragcore.index.postgres import PostgresDatabase, reach
    from ragcore.index.shared import known_name

    reach(url)  # before anything is written
    return PostgresDatabase(url, library_name(home, known_name))


def has_library(home: Path) -> bool:
    """Whether there is a library in the folder ``home``."""
    return any((home / name).exists() for name in (FILE, NAME))


def library_name(home: Path, known: Callable[[Path], str] = lambda _: "") -> str:
    """Name in PostgreSQL of the library in the folder ``home``: if it has none yet, the ``known`` one, else 32 random
    hex digits."""
    with files.reported(home):
        files.private(home)
        path = home / NAME
        if not path.exists():
            busy = f"Another process has been making a library in {home} for over {BUSY_SECONDS:.0f} s."
            with files.locked(home / "locks" / "name.lock", busy, seconds=BUSY_SECONDS):
                if not path.exists():
                    name = known(home) or os.urandom(16).hex()
                    with files.replacing(path) as stream:  # whole, without hard links, which not all disks have
                        stream.write(name.encode())
        return path.read_text("ascii")


def scripts(package: str, version: int, schema: int, where: str, own: str) -> list[str]:
    """Scripts that bring tables of ``version`` (0: none) to ``schema``: the steps ``to_N.sql``, ``schema.sql``, which
    creates what is lacking, and the database's ``own`` one, if there is one in ``package``. Raises `StoreError`, which
    says ``where`` the tables are."""
    if version > schema:
        raise StoreError(
            f"{where} was written by a newer Groundwork (schema {version}; this version knows {schema}).",
            hint="Update Groundwork, or use another --home.",
        )
    if version == schema:
        return []
    steps = [resources.files(package).joinpath(f"to_{step}.sql") for step in range(version + 1, schema + 1)]
    if version and not all(step.is_file() for step in steps):
        raise StoreError(
            f"{where} was written by a Groundwork from before the first release (schema {version}).",
            hint="Use another --home and add the PDFs in the folder `files` beside it again.",
        )
    found = (*(steps if version else ()), *(resources.files(package).joinpath(name) for name in ("schema.sql", own)))
    return [script.read_text("utf-8") for script in found if script.is_file()]


# SQLite


def from_json(text: str | bytes) -> Any:
    value = json.loads(text)
    return tuple(value) if isinstance(value, list) else value


to_json = partial(json.dumps, ensure_ascii=False)
for _kind in (dict, list, tuple):
    sqlite3.register_adapter(_kind, to_json)
sqlite3.register_converter("JSON", from_json)
sqlite3.register_converter("BOOLEAN", lambda digit: digit != b"0")


class _SqliteConnection(Connection):
    def __init__(self, path: Path) -> None:
        self._raw = sqlite3.connect(
            path,
            timeout=BUSY_SECONDS,
            detect_types=sqlite3.PARSE_DECLTYPES,
            isolation_level=None,
            check_same_thread=False,
        )
        self._raw.row_factory = sqlite3.Row
        self.close, self.rollback = self._raw.close, self._raw.rollback
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
            self._raw.execute(f"PRAGMA {pragma}")

    def execute(self, query: str, values: Sequence[object] = (), /) -> Cursor:
        return self._raw.execute(query, values)

    def executemany(self, query: str, rows: Iterable[Sequence[object]], /) -> int:
        return self._raw.executemany(query, rows).rowcount

    def script(self, script: str) -> None:
        """Execute the statements of a script, which may call ``lexemes(text)``."""
        self._raw.create_function("lexemes", 1, lambda text: to_json(lexemes(text)))
        statement = ""
        for line in script.splitlines(True):
            statement += line
            if sqlite3.complete_statement(statement):
                self._raw.execute(statement)
                statement = ""


class SqliteDatabase(Database):
    """SQLite file. WAL lets any number of processes read while one writes. What is deleted is overwritten."""

    def __init__(self, path: Path, package: str = "ragcore.index", schema: int = SCHEMA) -> None:
        """``schema`` is the version of the tables in ``schema.sql`` of ``package``."""
        self.path = path
        self._idle: list[_SqliteConnection] = []
        try:
            files.private(path.parent)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives its other files the same permissions
        except OSError as error:
            raise StoreError(f"The home folder {path.parent} can't be used: {error.strerror}.") from error
        with self._transaction("BEGIN IMMEDIATE") as connection:
            found = scripts(package, connection.value("PRAGMA user_version"), schema, str(path), "sqlite.sql")
            for script in found:
                connection.script(script)
            if found:
                connection.execute(f"PRAGMA user_version = {schema}")

    def read(self) -> AbstractContextManager[Connection]:
        return self._transaction("BEGIN")

    def write(self) -> AbstractContextManager[Connection]:
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def locked(
        self, name: str, busy: str, *, fence: bool = False, seconds: float = 0.0
    ) -> Iterator[Callable[[], bool]]:
        """Lock on a file, held until the process ends at the latest."""
        with files.locked(self.path.parent / "locks" / f"{name}.lock", busy, seconds=seconds):
            yield lambda: True

    def taken(self, names: Collection[str]) -> set[str]:
        return set()

    def checkpoint(self) -> None:
        """Empty the write-ahead log: what was deleted is then gone from the disk. Left to the next time while another
        connection needs it."""
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(self.path, timeout=0.0)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self) -> int:
        return sum(files.size(path) for path in self.path.parent.glob(f"{self.path.name}*"))

    def close(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[_SqliteConnection]:
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
    def _connection(self) -> Iterator[_SqliteConnection]:
        """Context with a connection for one thread at a time."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = _SqliteConnection(self.path)
        try:
            yield connection
        finally:
            if len(self._idle) < IDLE:
                self._idle.append(connection)
            else:
                connection.close()
