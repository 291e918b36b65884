"""Move of a library between its SQLite file and PostgreSQL, and of what machines share.

While a folder has both the file and the library's name in PostgreSQL, nothing but a move opens it. The file is whole
then, as is what PostgreSQL has, if anything: the same move, or one the other way, ends one that broke off, wherever.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, closing
from importlib import resources
from itertools import count, islice
from pathlib import Path

from ragcore import files
from ragcore.config.settings import LIBRARIES
from ragcore.errors import InputError, StoreBusy
from ragcore.index.database import ACCOUNTS, FILE, NAME, PEOPLE, URL, Connection, Database, SqliteDatabase, library_name
from ragcore.index.objects import storage_of
from ragcore.index.shared import FILES, anothers, claim, idle, keep_file, kept, place_of, shared

BATCH = 500
SQLITE = "sqlite"


def move(home: Path, to: str) -> bool:
    """Move the library in the folder ``home`` to `SQLITE` or the address of a PostgreSQL; returns False if it was there
    already. An SQLite file that it leaves stays, under another name; rows in PostgreSQL are deleted. A move that fails
    before all is copied changes nothing. Raises `StoreError`, `InputError`."""
    file, name, new = home / FILE, home / NAME, home / f"{FILE}.new"
    url = os.environ.get(URL, "") if to == SQLITE else to
    with files.reported(home), _moving(home):
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
        if to == SQLITE:
            _require_files(home, there)
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


def require_leave(home: Path) -> None:
    """Raise `InputError` if the library in the folder ``home`` is in PostgreSQL and can't move to a file there."""
    if os.environ.get(URL) and (home / NAME).exists():
        from ragcore.index.postgres import PostgresDatabase

        _require_files(home, PostgresDatabase(os.environ[URL], library_name(home)))


def _require_files(home: Path, database: Database) -> None:
    if storage_of(database):
        hint = "Copy them back first: groundwork admin files download."
        raise InputError(f"The files of the library in {home} are in object storage.", hint=hint)
    names = database.column("SELECT sha256 FROM documents")
    if names and not any(one for name in names for one in (home / "files" / name[:2]).glob(f"{name}.*")):
        said = f"{home} has no file of its library: it joined one that another home folder has."
        raise InputError(said, hint="Run this with the home folder that has the files (--home).")


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
        if file.name in (FILE, ACCOUNTS):
            _close(SqliteDatabase(file, *(PEOPLE if file.name == ACCOUNTS else ())))
        names = (f"{file.name}.moved{f'.{number}' if number > 1 else ''}" for number in count(1))
        file.rename(next(path for path in map(file.with_name, names) if not path.exists()))


def copy(rows: Connection, target: Database) -> None:
    """Copy all rows of a library into one that is empty, in one transaction."""
    with target.write() as copied:
        if copied.value("SELECT count(*) FROM documents"):
            raise InputError("The library is there already.", hint="Use another home folder.")
        for table, number in sorted(tables(), key=lambda one: one[0] == "counters"):  # triggers count what is copied
            # A number is only the order of its rows; the others are made by the database.
            _copy_rows(rows, copied, table, number, {"called", "library_id"}, "name" if table == "counters" else "")


def _copy_rows(rows: Connection, copied: Connection, table: str, number: str, without: set[str], key: str = "") -> None:
    found = iter(rows.execute(f"SELECT * FROM {table}{f' ORDER BY {number}' if number else ''}"))
    while batch := list(islice(found, BATCH)):
        kept = {*batch[0].keys()} - {number} - without
        copied.insert(table, *({name: row[name] for name in kept} for row in batch), key=key)


def tables(package: str = "ragcore.index") -> list[tuple[str, str]]:
    """Tables in the order in which they refer to each other, each with its column that numbers rows, "" if none
    does."""
    script = resources.files(package).joinpath("schema.sql").read_text("utf-8")
    found = []
    for table in script.split("CREATE TABLE IF NOT EXISTS ")[1:]:
        before, numbers, _ = table.partition(" INTEGER PRIMARY KEY")
        found.append((table.split()[0], before.split()[-1] if numbers else ""))
    return found


# What machines share

_PEOPLE = [(table, "rowid" if table in ("users", "audit") else "") for table, _ in tables(PEOPLE[0])]

_OWN_TEAMS = " WHERE created > 0"  # without that of everybody


def may_share(top: Path, url: str) -> bool:
    """Whether accounts and settings of the home folder ``top`` may be in the PostgreSQL at ``url``: not if another's
    are. Raises `StoreError`, and `InputError` if it has accounts then."""
    from ragcore.index.postgres import PostgresAccounts

    database = PostgresAccounts(url)
    taken = kept(database, "", NAME)
    if taken is None or idle(database) or ((top / NAME).exists() and (top / NAME).read_bytes() == taken):
        return True
    if (top / ACCOUNTS).exists():
        raise anothers()
    return False


def share(top: Path, url: str) -> None:
    """Move accounts and shared files of the home folder ``top`` to the PostgreSQL at ``url``, in which its libraries
    are. A file that it has replaces the one there. Raises `StoreError`, `InputError`."""
    from ragcore.index.postgres import PostgresAccounts

    own, file = [*(top / LIBRARIES).glob("*"), top], top / ACCOUNTS
    with _moving(top):
        if file.exists():
            _close(SqliteDatabase(file, *PEOPLE))
        with PostgresAccounts(url).write() as there:
            claim(there, top)
            for path in (home / name for home in own for name in (NAME, *FILES)):
                if path.is_file():
                    keep_file(there, place_of(path.parent), path.name, path.read_bytes())
            if file.exists():
                with closing(SqliteDatabase(file, *PEOPLE)) as source, source.read() as rows:
                    if not _people(there):
                        _copy_people(rows, there)
                    elif _people(there) != _people(rows):
                        raise _differ(file)
        for path in (file, *(home / name for home in own for name in FILES)):
            _set_aside(path)


def unshare(top: Path) -> None:
    """Move them back to the home folder ``top``, and delete them in PostgreSQL."""
    database, file = shared(top), top / ACCOUNTS
    if database is None:
        return
    with _moving(top), database.write() as rows:
        if not file.exists() and _people(rows):
            write_people(rows, file)
        elif file.exists():
            with closing(SqliteDatabase(file, *PEOPLE)) as source, source.read() as here:
                if _people(rows) and _people(rows) != _people(here):
                    raise _differ(file)
        for place, name, data in rows.rows("SELECT home, name, data FROM kept"):
            path = (top / LIBRARIES / place if place else top) / name
            if not path.is_file() or path.read_bytes() != data:
                _set_aside(path)
                with files.replacing(path) as stream:
                    stream.write(data)
        rows.execute("ALTER TABLE audit DISABLE TRIGGER audit_stays")  # the log is in the file now
        for table, _ in reversed(_PEOPLE):
            rows.execute(f"DELETE FROM {table}{_OWN_TEAMS if table == 'teams' else ''}")
        rows.execute("ALTER TABLE audit ENABLE TRIGGER audit_stays")
        rows.execute("DELETE FROM kept")


def write_people(rows: Connection, file: Path) -> None:
    """Write the accounts to the SQLite file ``file``, all at once."""
    with files.whole(file) as part:
        part.unlink()
        with closing(SqliteDatabase(part, *PEOPLE)) as target:
            with target.write() as copied:
                _copy_people(rows, copied)
            _close(target)


def _copy_people(rows: Connection, copied: Connection) -> None:
    for table, number in _PEOPLE:
        _copy_rows(rows, copied, table, number, {"rowid"}, "team_id" if table == "teams" else "")


def _people(rows: Connection) -> dict[str, list[str]]:
    """Rows of the accounts; none of those that each has from the start."""
    found = {}
    for table, _ in _PEOPLE:
        own = rows.rows(f"SELECT * FROM {table}{_OWN_TEAMS if table == 'teams' else ''}")
        names = sorted({*own[0].keys()} - {"rowid"}) if own else []
        found[table] = sorted(repr([row[name] for name in names]) for row in own)
    return {table: told for table, told in found.items() if told}


def _differ(file: Path) -> InputError:
    said = f"PostgreSQL has other accounts of this home folder than {file}."
    return InputError(said, hint="To use those in PostgreSQL, rename this file.")


def _moving(home: Path) -> AbstractContextManager[None]:
    return files.locked(home / "locks" / "move.lock", f"Another process is moving the library in {home}.")
