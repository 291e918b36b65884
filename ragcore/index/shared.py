"""What the machines of a team have together: accounts, and small files of its home folder, in PostgreSQL.

The database is that of the home folder that was moved there first, or whose people first signed in there. An empty
folder on another machine joins it: it finds its libraries by their names, with their people and settings. A file that
a folder has itself stands there in place of the shared one, until it is moved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcore import files
from ragcore.config.settings import LIBRARIES, edited
from ragcore.errors import InputError
from ragcore.index.database import (
    ACCOUNTS,
    FILE,
    NAME,
    PEOPLE,
    URL,
    Connection,
    Database,
    SqliteDatabase,
    library_name,
)

if TYPE_CHECKING:
    from ragcore.index.postgres import PostgresAccounts

CONFIG = "config.toml"
FILES = (CONFIG, "web.secret")  # of a home folder that are shared
_IDLE = f"""
    SELECT NOT EXISTS (SELECT 1 FROM users) AND NOT EXISTS (SELECT 1 FROM tokens)
    AND NOT EXISTS (SELECT 1 FROM libraries WHERE NOT first) AND NOT EXISTS (SELECT 1 FROM kept WHERE name = '{CONFIG}')
"""


def top_of(home: Path) -> Path:
    """Home folder of the team of which ``home`` may be one of the libraries, else ``home`` itself."""
    return home.parent.parent if home.parent.name == LIBRARIES else home


def place_of(home: Path) -> str:
    """What the folder of a library is called in the database: "" for the home folder itself."""
    return "" if top_of(home) == home else home.name


def shared(home: Path) -> PostgresAccounts | None:
    """Database that the folder ``home`` shares with other machines; None if it shares none. Raises `StoreError`."""
    url, top = os.environ.get(URL, ""), top_of(home)
    if not url or (top / FILE).exists():
        return None
    from ragcore.index.postgres import PostgresAccounts

    database = PostgresAccounts(url)
    claimed = kept(database, "", NAME)
    own = (top / NAME).read_bytes() if (top / NAME).exists() else claimed
    return database if claimed and own == claimed else None


def known_name(home: Path) -> str:
    """Name of the library in the folder ``home`` in the shared database; "" if that knows none."""
    database, place = shared(home), place_of(home)
    if database is None:
        return ""
    name = kept(database, place, NAME) or b""
    return name.decode() or database.value("SELECT library_id FROM libraries WHERE library_id = ?", place) or ""


def homes(top: Path) -> list[Path]:
    """Folders of the libraries below the home folder ``top``, those that other machines made too, and ``top``."""
    database = shared(top)
    if database is not None:
        for library_id in database.column("SELECT library_id FROM libraries WHERE NOT first"):
            library_name(top / LIBRARIES / library_id, known_name)
        library_name(top, known_name)
    return [*sorted((top / LIBRARIES).glob("*")), top]


def claim(connection: Connection, top: Path) -> None:
    """Make the database that of the home folder ``top``. Raises `InputError` if it is another's, unless nobody has an
    account there, nor saved anything."""
    own = library_name(top).encode()
    if connection.value(_IDLE):
        connection.execute("DELETE FROM kept WHERE home = ''")
    keep_file(connection, "", NAME, own, clash="NOTHING")
    if connection.value("SELECT data FROM kept WHERE home = '' AND name = ?", NAME) != own:
        raise anothers()


def idle(database: Database) -> bool:
    """Whether the shared database has nothing but the name of a home folder, as one has that was only looked at."""
    return bool(database.value(_IDLE))


def anothers() -> InputError:
    said = "The database in PostgreSQL has the accounts of another home folder."
    return InputError(said, hint="Use another database, or an empty home folder, which joins them.")


def keep_file(connection: Connection, place: str, name: str, data: bytes, clash: str = "") -> None:
    connection.insert("kept", {"home": place, "name": name, "data": data}, key="home, name", clash=clash)


def open_accounts(home: Path) -> Database:
    """Database of the accounts of the folder ``home``: where they are; new ones are where its first library is. Raises
    `StoreError`, `InputError`."""
    url, file = os.environ.get(URL, ""), home / ACCOUNTS
    if file.exists() or (home / FILE).exists() or not (url or (home / NAME).exists()):
        return SqliteDatabase(file, *PEOPLE)
    if not url:
        raise InputError(f"The accounts of {home} are in PostgreSQL.", hint=f"Set {URL}, or use another --home.")
    from ragcore.index.postgres import PostgresAccounts

    database = PostgresAccounts(url)
    library_name(home, known_name)
    with database.write() as connection:
        claim(connection, home)
    return database


def has_accounts(home: Path) -> bool:
    """Whether there are accounts of the folder ``home``."""
    return (home / ACCOUNTS).is_file() or shared(home) is not None


def read(path: Path) -> bytes | None:
    """A shared file of a home folder (`FILES`), by its path in there; None if there is none."""
    with files.reported(path.parent):
        if path.is_file():
            return path.read_bytes()
    database = shared(path.parent)
    return None if database is None else kept(database, place_of(path.parent), path.name)


def change(path: Path, changed: Callable[[bytes | None], bytes]) -> bytes:
    """Replace a shared file by what ``changed`` makes of it, and return that. In the database nobody else changes it
    meanwhile."""
    database = None if path.is_file() else shared(path.parent)
    if database is None:
        with files.reported(path.parent):
            data = changed(path.read_bytes() if path.is_file() else None)
            with files.replacing(path) as stream:
                stream.write(data)
    else:
        place = place_of(path.parent)
        with database.write() as connection:
            before = connection.value("SELECT data FROM kept WHERE home = ? AND name = ?", place, path.name)
            data = changed(before)
            keep_file(connection, place, path.name, data)
    return data


def keep(path: Path, changes: Mapping[str, Any]) -> None:
    """Set the dotted keys ``changes`` in a shared ``config.toml``; None removes a key, so that its default applies.
    Raises `StoreError`, and `ConfigError` if the file cannot be changed consistently."""
    change(path, lambda before: edited(before or b"", changes, str(path)))


def saved(home: Path) -> dict[str, bytes]:
    """Saved settings of the library in the folder ``home`` by their paths: a team's own beneath those of a library."""
    of_team = place_of(home) and has_accounts(top_of(home))
    found = {each / CONFIG: read(each / CONFIG) for each in ((top_of(home), home) if of_team else (home,))}
    return {str(path): text for path, text in found.items() if text is not None}


def kept(database: Database, place: str, name: str) -> bytes | None:
    found: bytes | None = database.value("SELECT data FROM kept WHERE home = ? AND name = ?", place, name)
    return found
