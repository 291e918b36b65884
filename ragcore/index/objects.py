"""Files of a library, by name: in a folder, or in object storage (S3, Google Cloud, Azure) by obstore, in
``groundwork[objects]``, where the folder keeps those that were used last.

A library is new, or its files are copied, before they are in object storage; from then on it says where
(`MARK`), and is opened with no other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ragcore import files
from ragcore.errors import InputError, StoreError
from ragcore.index.database import NAME, Database, open_database

if TYPE_CHECKING:
    from obstore.store import ObjectStore

URL = "GROUNDWORK_FILES"  # environment variable with the address of the object storage
MARK = "files"  # key of a row of ``meta`` with that address
KEPT = 20 << 30  # bytes of files from object storage that stay in the folder
REST = 3600.0  # seconds after its last use in which a file stays there: a process may be about to open it
FRESH = 60.0  # seconds for which it is remembered what another process may have stored
QUICK, SLOW = 10, 300  # seconds for a list or a deletion, which a transaction may wait for, and for a file
PIECE = 1 << 20  # bytes
_CHECK = f"Check {URL}, the storage's own variables for signing in, and the connection. Then try again."


class Files:
    """Files below ``folder``. Raises `StoreError`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Where the folder has it, or would have it."""
        return self.folder / name[:2] / name

    def find(self, name: str) -> Path | None:
        """The file, in the folder; None if there is none."""
        path = self.path(name)
        return path if path.is_file() else None

    def read(self, name: str) -> Iterator[bytes]:
        """Pieces of a file as it is stored. Raises `FileNotFoundError`."""
        with self.path(name).open("rb") as stream:
            while piece := stream.read(PIECE):
                yield piece

    def put(self, name: str, data: bytes) -> None:
        """Store a file, unless it is stored."""
        path = self.path(name)
        with files.reported(path.parent):
            if not path.is_file():
                with files.replacing(path) as stream:
                    stream.write(data)

    def keep(self, name: str) -> None:
        """Store a file that was written to its `path`."""

    def delete(self, names: Iterable[str]) -> None:
        """Delete those of ``names`` that there are."""
        with files.reported(self.folder):
            for name in names:
                self.path(name).unlink(missing_ok=True)

    def sizes(self) -> dict[str, int]:
        """Bytes of each file."""
        with files.reported(self.folder):
            found = [path for path in self.folder.glob("*/*") if path.name[:2] == path.parent.name]
            return {path.name: files.size(path) for path in found if path.suffix != ".part"}

    def reach(self) -> None:
        """Raise `StoreError` unless files can be stored and deleted."""


class StoredFiles(Files):
    """Files in object storage, below the library's name there. They are stored before anything tells of them; the
    folder only saves fetching them again."""

    def __init__(self, folder: Path, url: str, library: str) -> None:
        super().__init__(folder)
        self._storage, self._quick, self._library = _storage(url, SLOW), _storage(url, QUICK), library
        self._share = Path(url2pathname(urlsplit(url).path)) if url.startswith("file:") else None
        self._known: dict[str, tuple[float, dict[str, int]]] = {}  # by the first two letters of names

    def find(self, name: str) -> Path | None:
        path = self.path(name)
        if not path.is_file() and (name not in self._listed(name) or not self._fetch(name)):
            return None
        with files.reported(path.parent):
            os.utime(path)
        return path

    def read(self, name: str) -> Iterator[bytes]:
        import obstore

        with _reported():
            try:
                yield from map(bytes, obstore.get(self._storage, self._key(name)).stream())
            except obstore.exceptions.NotFoundError as error:
                raise FileNotFoundError(name) from error

    def put(self, name: str, data: bytes) -> None:
        self._known.pop(name[:2], None)
        if self._listed(name).get(name) != len(data):
            self._upload(name, data)
        super().put(name, data)

    def keep(self, name: str) -> None:
        """Store what its `path` has, in place of another that the storage may have."""
        path = self.path(name)
        with files.reported(path.parent):
            if path.stat().st_size != self._listed(name).get(name):
                self._upload(name, path)

    def delete(self, names: Iterable[str]) -> None:
        import obstore

        names = list(names)
        self._known.clear()
        with _reported():
            obstore.delete(self._quick, [self._key(name) for name in names if name in self._listed(name)])
        self._known.clear()
        super().delete(names)

    def sizes(self) -> dict[str, int]:
        return self._list("")

    def reach(self) -> None:
        self._list("00/")

    def upload(self) -> int:
        """Store the files of the folder that the storage lacks; returns their number."""
        missing = super().sizes().keys() - self.sizes().keys()
        for name in missing:
            self._upload(name, self.path(name))
        return len(missing)

    def download(self) -> int:
        """Fetch the files that the folder lacks, or has in another size; returns their number."""
        here = super().sizes()
        missing = [name for name, size in self.sizes().items() if here.get(name) != size]
        for name in missing:
            self._fetch(name, room=False)
        return len(missing)

    def _upload(self, name: str, data: bytes | Path) -> None:
        import obstore

        with _reported():
            obstore.put(self._storage, self._key(name), data)
        self._known.pop(name[:2], None)

    def _fetch(self, name: str, *, room: bool = True) -> bool:
        """Copy a file to the folder; False if it was deleted."""
        path = self.path(name)
        with files.reported(path.parent):
            try:
                with files.replacing(path) as stream:
                    stream.writelines(self.read(name))
            except FileNotFoundError:
                return False
            if room:
                self._make_room()
        return True

    def _make_room(self) -> None:
        """Delete what was used longest ago of the folder's files that the storage has, down to `KEPT`."""
        found = []
        for path in self.folder.glob("*/*"):
            with suppress(FileNotFoundError):  # another process makes room, too
                found.append(((stat := path.stat()).st_mtime, stat.st_size, path))
        over = sum(size for _, size, _ in found) - KEPT
        for used, size, path in sorted(found) if over > 0 else ():
            if over > 0 and used < time.time() - REST and self._listed(path.name).get(path.name) == size:
                path.unlink(missing_ok=True)
                over -= size

    def _listed(self, name: str) -> dict[str, int]:
        """Files in the storage beside the one of this name, with their bytes, as of `FRESH` seconds ago at most."""
        when, found = self._known.get(name[:2], (-FRESH, {}))
        if time.monotonic() - when > FRESH:
            found = self._list(f"{name[:2]}/")
            self._known[name[:2]] = (time.monotonic(), found)
        return found

    def _list(self, folder: str) -> dict[str, int]:
        import obstore

        if self._share is not None and not self._share.is_dir():  # to obstore it is empty
            raise StoreError(f"The object storage can't be read or written: no folder {self._share}.", hint=_CHECK)
        with _reported():
            listed = [one for batch in obstore.list(self._quick, f"{self._library}/{folder}") for one in batch]
        return {str(one["path"]).rpartition("/")[2]: int(one["size"]) for one in listed}

    def _key(self, name: str) -> str:
        return f"{self._library}/{name[:2]}/{name}"


def open_files(home: Path, database: Database) -> Files:
    """Files of the library in the folder ``home``, whose tables are in ``database``: where it says they are; of a new
    one in PostgreSQL in object storage, if the environment has `URL`. Raises `InputError`, `StoreError`."""
    url, name, there = os.environ.get(URL, ""), home / NAME, storage_of(database)
    if there and url != there:
        hint = f"Set {URL} to it; to have them elsewhere: groundwork admin files download."
        raise InputError(f"The files of the library in {home} are in {there}.", hint=hint)
    if not url or not name.exists():
        return Files(home / "files")
    found = StoredFiles(home / "files", url, name.read_text("ascii"))
    if not there:
        if database.value("SELECT 1 FROM documents LIMIT 1"):
            hint = f"Copy them first: groundwork admin files upload. Or unset {URL}."
            raise InputError(f"The files of the library in {home} are in its folder.", hint=hint)
        if found.sizes():
            hint = "Check GROUNDWORK_DATABASE: is it the database that this library was in?"
            raise InputError(f"{url} has files of the library in {home}, which has no documents.", hint=hint)
        mark(database, url)
    return found


def copy_files(home: Path, *, back: bool) -> int:
    """Copy the files of the library in ``home`` to object storage, or ``back`` to its folder, as far as they are
    lacking there; from then on the library has those. Returns their number. Raises `InputError`, `StoreError`."""
    url, name = os.environ.get(URL, ""), home / NAME
    with closing(open_database(home)) as database:
        if not url or not name.exists():
            raise InputError(
                f"The library in {home} has no object storage.",
                hint=f"Set {URL}, and move the library to PostgreSQL first: groundwork admin move.",
            )
        if back or storage_of(database):
            open_files(home, database)  # it is this one
        found = StoredFiles(home / "files", url, name.read_text("ascii"))
        count = found.download() if back else found.upload()
        mark(database, "" if back else url)
        return count


def storage_of(database: Database) -> str:
    """Address of the object storage that a library says its files are in; "" for none."""
    said = database.value("SELECT value FROM meta WHERE key = ?", MARK)
    return "" if said is None else str(said["url"])


def mark(database: Database, url: str) -> None:
    """Have a library say that its files are in the object storage at ``url``; "": in its folder."""
    with database.write() as connection:
        connection.execute("DELETE FROM meta WHERE key = ?", (MARK,))
        if url:
            connection.insert("meta", {"key": MARK, "value": {"url": url}})


@cache
def _storage(url: str, seconds: int) -> ObjectStore:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as error:
        raise InputError(
            f"{URL} is set, but obstore isn't installed.", hint="Install it: pip install 'groundwork[objects]'"
        ) from error
    try:
        return from_url(
            url,
            client_options={"connect_timeout": "5s", "timeout": f"{seconds}s", "allow_http": True},  # of one's own
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=QUICK)},
        )
    except (BaseError, ValueError) as error:
        raise InputError(f"{URL} can't be used: {_reason(error)}.", hint="Use s3://…, gs://… or az://…") from error


@contextmanager
def _reported() -> Iterator[None]:
    from obstore.exceptions import BaseError

    try:
        yield
    except BaseError as error:
        raise StoreError(f"The object storage can't be read or written: {_reason(error)}.", hint=_CHECK) from error


def _reason(error: Exception) -> str:
    return str(error).strip().split("\n")[0].partition(": <")[0].rstrip(". ")
