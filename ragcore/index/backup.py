"""Backup of a home folder, which is a home folder again, and the check that a library is whole."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ragcore import files
from ragcore.errors import InputError, StoreError
from ragcore.index.chunks import fingerprint
from ragcore.index.database import FILE, SqliteDatabase, has_library
from ragcore.index.move import copy
from ragcore.index.objects import MARK
from ragcore.index.store import Store
from ragcore.text.numbers import plural
from ragcore.types.library import DocumentInfo

ACCOUNTS = "accounts.sqlite"
SETTINGS = ("config.toml", "synonyms.toml", "web.secret")  # files of a home folder that are copied as they are


@dataclass(frozen=True)
class Fault:
    """What is not as it was stored: of the document ``name`` ("": of the library), and what to do about it."""

    name: str
    message: str
    hint: str


def faults(store: Store) -> Iterator[Fault]:
    """What is not whole in a library, whose every file and passage is read. Raises `StoreError` for a database that
    can't be read."""
    database = store.database
    if isinstance(database, SqliteDatabase):
        for said in database.column("PRAGMA integrity_check"):
            if said != "ok":
                yield Fault("", f"The database {database.path} is damaged: {said}.", "Use a backup of it.")
    for info in store.documents(earlier=True):
        yield from _file_faults(store, info)
        yield from _text_faults(store, info)
    left = leftovers(store)
    if left:
        said = f"{plural(len(left), 'file')} of {sum(left.values()):,} bytes in all, of no document."
        yield Fault("", said, "They only take room. Delete them with --tidy.")


def _file_faults(store: Store, info: DocumentInfo) -> Iterator[Fault]:
    again = "Add the same file again: its text, answers and reports stay."
    given = [path for path in (store.ade_file(info.doc_id), store.original(info.doc_id)) if path and path.is_file()]
    if not given:
        yield Fault(info.name, "Its file is missing.", again)
        return
    digest = hashlib.sha256()
    for path in given:
        digest.update(path.read_bytes())
    if digest.hexdigest() != info.sha256:
        paths = " and ".join(map(str, given))
        yield Fault(info.name, "Its file is damaged.", f"Delete {paths}. {again}")
    elif info.status == "ready" and not store.file(info.doc_id).is_file():
        yield Fault(info.name, "The pages that were made of it are missing.", "Read it again in the Library.")


def _text_faults(store: Store, info: DocumentInfo) -> Iterator[Fault]:
    kept = store.database.value("SELECT fingerprint FROM documents WHERE doc_id = ?", info.doc_id)
    if kept is None:
        return  # not read yet
    said = ""
    try:
        document = store.document(info.doc_id)
        for element in document.elements:
            document.boxes(element.start, element.end)
    except (ValueError, KeyError, zlib.error, StoreError) as error:
        said = f"Its text can't be read: {error}."
    else:
        rows = store.indexed_chunks(info.doc_id)
        chunks = [chunk for _, chunk in rows]
        pages = [(entry.first_page, entry.last_page) for entry, _ in rows]
        if fingerprint(chunks, pages) != kept or any(document.text[c.start : c.end] != c.text for c in chunks):
            said = "Its passages are not those of its text."
    if said:
        yield Fault(info.name, said, "Read it again in the Library.")


def leftovers(store: Store) -> dict[str, int]:
    """Files of no document, with their bytes: of an addition that broke off."""
    sizes = store.files.sizes()
    known = set(store.database.column("SELECT sha256 FROM documents"))
    return {name: size for name, size in sizes.items() if name.split(".")[0] not in known}


def tidy(store: Store) -> int:
    """Delete the files of no document; returns their number. One that is being added stays: it is stored once more
    after it is listed."""
    with store.database.write():  # nothing is listed meanwhile
        left = leftovers(store)
        store.files.delete(left)
    return len(left)


def back_up(home: Path, to: Path) -> int:
    """Copy the library, settings and accounts in the folder ``home`` to the folder ``to``, or only what is new since an
    earlier backup there, while others use them; returns the bytes of the backup's files. A library in PostgreSQL is an
    SQLite file there, and files from object storage are in its folder. Raises `StoreError`, `InputError`."""
    if to.resolve().is_relative_to(home.resolve()):
        raise InputError(f"The backup {to} would be inside of what it is a backup of.", hint="Choose another folder.")
    own = _name(home) if has_library(home) else ""  # it is drawn before it is copied
    if has_library(to) and _name(to) != own:
        hint = "Choose an empty folder, or that of an earlier backup of the same library."
        raise InputError(f"The folder {to} has another library.", hint=hint)
    with files.reported(to):
        files.private(to)
        for name in SETTINGS:
            if (home / name).is_file():
                _copy(home / name, to / name)
        if (home / ACCOUNTS).is_file():
            _copy_sqlite(home / ACCOUNTS, to / ACCOUNTS)
    if not own:
        return 0
    store = Store(home)
    with closing(store.database), files.reported(to):
        _copy_files(store, to)
        if isinstance(store.database, SqliteDatabase):
            _copy_sqlite(store.database.path, to / FILE)
        else:
            with files.whole(to / FILE) as part:
                part.unlink()
                with closing(SqliteDatabase(part)) as target:
                    copy(store.database, target)
                    with target.write() as connection:
                        connection.execute("DELETE FROM meta WHERE key = ?", (MARK,))
                    target.close()
                    target.checkpoint()
        _copy_files(store, to)  # those that were added before its tables were copied
    copied = Store(to)
    with closing(copied.database):
        tidy(copied)  # what was removed since
        return sum(copied.files.sizes().values())


def _name(home: Path) -> str:
    store = Store(home)
    with closing(store.database):
        return store.name()


def _copy_files(store: Store, to: Path) -> None:
    there = to / "files"
    for name, size in store.files.sizes().items():
        target = there / name[:2] / name
        if files.size(target) != size:
            found = store.files.find(name)
            if found is not None:  # else it was removed meanwhile
                _copy(found, target)


def _copy(source: Path, target: Path) -> None:
    with files.replacing(target) as stream, source.open("rb") as given:
        shutil.copyfileobj(given, stream)


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy an SQLite file that others may be writing to."""
    with files.whole(target) as part:
        try:
            with closing(sqlite3.connect(source)) as given, closing(sqlite3.connect(part)) as taken:
                given.backup(taken)
        except sqlite3.Error as error:
            raise StoreError(f"{source} can't be copied: {error}.") from error
    for log in target.parent.glob(f"{target.name}-*"):
        log.unlink()  # of an earlier backup that was opened
