"""Backup of a home folder, which is a home folder again, and the check that a library is whole."""

from __future__ import annotations

import hashlib
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from ragcore import files
from ragcore.errors import DiskFull, InputError, StoreError, UnknownDocument
from ragcore.index.chunks import fingerprint
from ragcore.index.database import ACCOUNTS, FILE, SqliteDatabase, has_library
from ragcore.index.move import copy, write_people
from ragcore.index.objects import mark
from ragcore.index.shared import place_of, read, shared
from ragcore.index.store import REMADE, Store
from ragcore.text.numbers import plural
from ragcore.types.library import DocumentInfo

SETTINGS = ("config.toml", "synonyms.toml", "web.secret")  # files of a home folder that are copied as they are
BACKUP = "backup.of"  # in a backup: the name of the library that it is of
DAY = 86_400.0


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
    sizes = store.files.sizes()
    for info in store.documents(earlier=True):
        with suppress(UnknownDocument):  # removed meanwhile
            yield from [*_file_faults(store, info, sizes), *_text_faults(store, info)]
    left = leftovers(store)
    if left:
        said = f"{plural(len(left), 'file')} of {sum(left.values()):,} bytes in all, of no document."
        yield Fault("", said, "They only take room. Delete them with --tidy.")


def _file_faults(store: Store, info: DocumentInfo, sizes: Mapping[str, int]) -> Iterator[Fault]:
    again = "Add the same file again: its text, answers and reports stay."
    names = [f"{info.sha256}.ade.json", f"{info.sha256}.{info.kind}"]
    given = [name for name in names if name in sizes]
    digest = hashlib.sha256()
    try:
        for name in given:
            for piece in store.files.read(name):
                digest.update(piece)
    except FileNotFoundError:
        given = []
    if not given:
        yield Fault(info.name, "Its file is missing.", again)
    elif digest.hexdigest() != info.sha256:
        yield Fault(info.name, "Its file is damaged.", f"Delete {' and '.join(given)}. {again}")
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
    """Delete the files of no document, and what was half written a day ago; returns the number of the former. One that
    is being added stays: it is stored once more when it is listed."""
    with store.database.write():  # nothing is listed meanwhile
        left = leftovers(store)
        store.files.delete(left)
    for part in store.files.folder.glob("*/*.part"):
        with suppress(FileNotFoundError):
            if part.stat().st_mtime < time.time() - DAY:
                part.unlink()
    return len(left)


def back_up(home: Path, to: Path) -> None:
    """Copy the library, settings and accounts in the folder ``home`` to the folder ``to``, which is new, empty or has
    an earlier backup of the same library, while others use them. A library in PostgreSQL is an SQLite file there, and
    files from object storage are in its folder. Raises `StoreError`, `InputError`."""
    if to.resolve().is_relative_to(home.resolve()):
        raise InputError(f"The backup {to} would be inside of what it is a backup of.", hint="Choose another folder.")
    store = Store(home) if has_library(home) else None
    own = store.name() if store is not None else ""
    with files.reported(to):
        _require_backup(to, own)
        files.private(to)
        busy = f"Another backup to {to} is being made."
        with files.locked(to / "locks" / "backup.lock", busy):
            for part in to.glob("*.part*"):
                part.unlink()  # of a backup that was killed
            with files.replacing(to / BACKUP) as stream:
                stream.write(own.encode())
            for name in SETTINGS:
                if (data := read(home / name)) is not None:
                    _copy([data], to / name)
                else:
                    (to / name).unlink(missing_ok=True)
            if (home / ACCOUNTS).is_file():
                _copy_sqlite(home / ACCOUNTS, to / ACCOUNTS)
            elif not place_of(home) and (database := shared(home)) is not None:
                with database.read() as rows:
                    write_people(rows, to / ACCOUNTS)
                _forget_log(to / ACCOUNTS)
            if store is not None:
                with closing(store.database):
                    _copy_library(store, to)


def _require_backup(to: Path, own: str) -> None:
    """Raise `InputError` if the folder has anything but a backup of the library called ``own``."""
    there = [path.name for path in to.iterdir()] if to.exists() else []
    if not set(there) <= {"locks", "libraries"} and not (BACKUP in there and (to / BACKUP).read_text("utf-8") == own):
        hint = "Choose a new or empty folder, or that of an earlier backup of the same library."
        raise InputError(f"The folder {to} has something else.", hint=hint)


def _copy_library(store: Store, to: Path) -> None:
    _copy_files(store, to)
    if isinstance(store.database, SqliteDatabase):
        _copy_sqlite(store.database.path, to / FILE)
    else:
        with files.whole(to / FILE) as part:
            part.unlink()
            with closing(SqliteDatabase(part)) as target:
                with store.database.read() as rows:
                    copy(rows, target)
                mark(target, "")
                target.close()
                target.checkpoint()
            _forget_log(to / FILE)
    _copy_files(store, to)  # those that were added before its tables were copied
    copied = Store(to)
    with closing(copied.database):
        tidy(copied)  # what was removed since


def _copy_files(store: Store, to: Path) -> None:
    for name, size in store.files.sizes().items():
        target = to / "files" / name[:2] / name
        if not target.is_file() or (name.endswith(REMADE) and files.size(target) != size):
            with suppress(FileNotFoundError):  # removed meanwhile
                _copy(store.files.read(name), target)


def _copy(pieces: Iterator[bytes] | list[bytes], target: Path) -> None:
    with files.replacing(target) as stream:
        stream.writelines(pieces)


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy an SQLite file that others may be writing to."""
    with files.whole(target) as part:
        try:
            with closing(sqlite3.connect(source)) as given, closing(sqlite3.connect(part)) as taken:
                given.backup(taken)
        except sqlite3.Error as error:
            if "full" in str(error):
                raise DiskFull(f"The disk of {target} is full.") from error
            raise StoreError(f"{source} can't be copied to {target}: {error}.") from error
        _forget_log(target)


def _forget_log(file: Path) -> None:
    """Delete what SQLite keeps beside a file that is about to be replaced: it is of the one before."""
    for log in file.parent.glob(f"{file.name}-*"):
        log.unlink()
