"""Move of a library between its SQLite file and PostgreSQL."""

from __future__ import annotations

from importlib import resources
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from ragcore.errors import InputError
from ragcore.index.database import FILE, NAME, Database, SqliteDatabase, library_name, new_name

BATCH = 500
SQLITE = "sqlite"


def move(home: Path, database: Database, to: str) -> None:
    """Move the library in the folder ``home``, which is in ``database``, to `SQLITE` or the address of a PostgreSQL. An
    SQLite file that it leaves stays, under another name; rows in PostgreSQL are deleted. Raises `StoreError`."""
    file = home / FILE
    if isinstance(database, SqliteDatabase) == (to == SQLITE):
        raise InputError(f"The library in {home} is {'an SQLite file' if to == SQLITE else 'in PostgreSQL'} already.")
    if to == SQLITE:
        with TemporaryDirectory(dir=home) as folder:
            target = SqliteDatabase(Path(folder) / FILE)
            copy(database, target)
            target.checkpoint()
            target.close()
            target.path.rename(file)
        (home / NAME).unlink()
        with database.write() as connection:
            for table, _ in reversed(tables()):
                connection.execute(f"DELETE FROM {table}")
        return
    from ragcore.index.postgres import PostgresDatabase

    name = new_name()
    copy(database, PostgresDatabase(to, name))
    library_name(home, name)
    database.checkpoint()
    database.close()
    file.rename(home / f"{FILE}.moved")


def copy(source: Database, target: Database) -> None:
    """Copy all rows of a library into one that is empty, in one transaction."""
    with source.write() as rows, target.write() as copied:  # so that nothing is written meanwhile
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
