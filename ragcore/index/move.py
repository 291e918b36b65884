"""Move of a library between its SQLite file and PostgreSQL.

While a folder has both the file and the library's name in PostgreSQL, nothing but a move opens it. The file is whole
then, as is what PostgreSQL has, if anything: the same move, or one the other way, ends one that broke off, wherever.
"""

from __future__ import annotations

import os
from contextlib import closing
from importlib import resources
from itertools import count, islice
from pathlib import Path

from ragcore import files
from ragcore.errors import InputError, StoreBusy
from ragcore.index.database import FILE, NAME, URL, Connection, Database, SqliteDatabase, library_name
from ragcore.index.objects import storage_of

BATCH = 500
SQLITE = "sqlite"


def move(home: Path, to: str) -> bool:
    """Move the library in the folder ``home`` to `SQLITE` or the address of a PostgreSQL; returns False if it was there
    already. An SQLite file that it leaves stays, under another name; rows in PostgreSQL are deleted. A move that fails
    before all is copied changes nothing. Raises `StoreError`, `InputError`."""
    file, name, new = home / FILE, home / NAME, home / f"{FILE}.new"
    url = os.environ.get(URL, "") if to == SQLITE else to
    busy = f"Another process is moving the library in {home}."
    with files.reported(home), files.locked(home / "locks" / "move.lock", busy):
        _delete(new)  # of a move that was killed
        if not (name if to == SQLITE else file).exists():
            return False
        if not url:
            raise InputError(f"The library in {home} is in PostgreSQL.", hint=f"Set {URL} to its address.")
        from ragcore.index.postgres import PostgresDatabase, reach

        reach(url)  # before anything is written
        if file.exists():
            _close(SqliteDatabase(file))
        there = PostgresDatabase(url, library_name(home))
        if to == SQLITE and storage_of(there):
            hint = "Copy them back first: groundwork admin files download."
            raise InputError(f"The files of the library in {home} are in object storage.", hint=hint)
        try:
            filled = _filled(there)
            if to == SQLITE and (filled or not file.exists()):
                with closing(SqliteDatabase(new)) as target, there.write() as rows:  # nothing is written meanwhile
                    copy(rows, target)
                with closing(SqliteDatabase(new)) as target:
                    _close(target)
                _set_aside(file)
                new.rename(file)
            elif to != SQLITE and not filled:
                with closing(SqliteDatabase(file)) as source, source.write() as rows:
                    copy(rows, there)
        except BaseException:
            _delete(new)
            if file.exists() and not _filled(there):  # else it isn't known whether all was written
                name.unlink()
            raise
        if to == SQLITE:
            with there.write() as connection:
                for table, _ in reversed(tables()):
                    connection.execute(f"DELETE FROM {table}")
            name.replace(home / f"{NAME}.moved")
        else:
            _set_aside(file)
        return True


def _filled(database: Database) -> bool:
    return any(database.value(f"SELECT 1 FROM {table} LIMIT 1") for table, _ in tables())


def _close(database: SqliteDatabase) -> None:
    """Close the file, all of which is then in it. Raises `StoreBusy` if another process has it open."""
    database.close()
    database.checkpoint()
    if database.path.with_name(f"{database.path.name}-wal").exists():
        raise StoreBusy(f"Another process has {database.path} open.", hint="Stop the app, then run the same again.")


def _delete(file: Path) -> None:
    for part in file.parent.glob(f"{file.name}*"):
        part.unlink()


def _set_aside(file: Path) -> None:
    """Rename the file, if it is there, to the first of the names for moved ones that is free."""
    if file.exists():
        _close(SqliteDatabase(file))
        names = (f"{file.name}.moved{f'.{number}' if number > 1 else ''}" for number in count(1))
        file.rename(next(path for path in map(file.with_name, names) if not path.exists()))


def copy(rows: Connection, target: Database) -> None:
    """Copy all rows of a library into one that is empty, in one transaction."""
    with target.write() as copied:
        if copied.value("SELECT count(*) FROM documents"):
            raise InputError("The library is there already.", hint="Use another home folder.")
        for table, number in sorted(tables(), key=lambda one: one[0] == "counters"):  # triggers count what is copied
            found = iter(rows.execute(f"SELECT * FROM {table}{f' ORDER BY {number}' if number else ''}"))
            while batch := list(islice(found, BATCH)):
                # A number is only the order of its rows; the others are made by the database.
                kept = {*batch[0].keys()} - {number, "called", "library_id"}
                key = "name" if table == "counters" else ""
                copied.insert(table, *({name: row[name] for name in kept} for row in batch), key=key)


def tables() -> list[tuple[str, str]]:
    """Tables in the order in which they refer to each other, each with its column that numbers rows, "" if none
    does."""
    script = resources.files("ragcore.index").joinpath("schema.sql").read_text("utf-8")
    found = []
    for table in script.split("CREATE TABLE IF NOT EXISTS ")[1:]:
        before, numbers, _ = table.partition(" INTEGER PRIMARY KEY")
        found.append((table.split()[0], before.split()[-1] if numbers else ""))
    return found
