"""Files of a library, by name: in a folder, or in object storage (S3, Google Cloud, Azure) by obstore, in
``groundwork[objects]``, where the folder keeps those that were used last."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore import files
from ragcore.errors import InputError, StoreError
from ragcore.index.database import NAME, Database, open_database

if TYPE_CHECKING:
    from obstore.store import ObjectStore

URL = "GROUNDWORK_FILES"  # environment variable with the address of the object storage
KEPT = 20 << 30  # bytes of files from object storage that stay in the folder
REST = 3600.0  # seconds after its last use in which a file stays there: a process may be about to open it
FRESH = 60.0  # seconds for which it is remembered what another process may have stored
MARK = "files"  # key of a row of ``meta`` that says that they are there
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

    def put(self, name: str, data: bytes) -> None:
        """Store a file, unless there is one of this name."""
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
            return {path.name: files.size(path) for path in self.folder.glob("*/*") if path.suffix != ".part"}


class StoredFiles(Files):
    """Files in object storage, below the library's name there. They are stored before anything tells of them; the
    folder only saves fetching them again."""

    def __init__(self, folder: Path, url: str, library: str) -> None:
        super().__init__(folder)
        self._storage, self._library = _storage(url), library
        self._known: dict[str, tuple[float, dict[str, int]]] = {}  # by the first two letters of names

    def find(self, name: str) -> Path | None:
        path = self.path(name)
        if not path.is_file():
            if name not in self._listed(name):
                return None
            self._fetch(name, path)
        with files.reported(path.parent):
            os.utime(path)
        return path

    def put(self, name: str, data: bytes) -> None:
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
            obstore.delete(self._storage, [self._key(name) for name in names if name in self._listed(name)])
        self._known.clear()
        super().delete(names)

    def sizes(self) -> dict[str, int]:
        return self._list("")

    def upload(self) -> int:
        """Store the files of the folder that the storage lacks; returns their number."""
        there, missing = self.sizes(), 0
        for name, size in super().sizes().items():
            if there.get(name) != size:
                self._upload(name, self.path(name))
                missing += 1
        return missing

    def download(self) -> int:
        """Fetch all files that the folder lacks; returns their number."""
        missing = self.sizes().keys() - super().sizes().keys()
        for name in missing:
            self._fetch(name, self.path(name), room=False)
        return len(missing)

    def _upload(self, name: str, data: bytes | Path) -> None:
        import obstore

        with _reported():
            obstore.put(self._storage, self._key(name), data)
        self._known.pop(name[:2], None)

    def _fetch(self, name: str, path: Path, *, room: bool = True) -> None:
        import obstore

        with files.reported(path.parent):
            with _reported(), files.replacing(path) as stream:
                for part in obstore.get(self._storage, self._key(name)).stream():
                    stream.write(part)
            if room:
                self._make_room()

    def _make_room(self) -> None:
        """Delete what was used longest ago of the folder's files that the storage has, down to `KEPT`."""
        found = sorted((path.stat().st_mtime, files.size(path), path) for path in self.folder.glob("*/*"))
        over = sum(size for _, size, _ in found) - KEPT
        for used, size, path in found if over > 0 else ():
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

        with _reported():
            listed = [one for batch in obstore.list(self._storage, f"{self._library}/{folder}") for one in batch]
        return {str(one["path"]).rpartition("/")[2]: int(one["size"]) for one in listed}

    def _key(self, name: str) -> str:
        return f"{self._library}/{name[:2]}/{name}"


def open_files(home: Path, database: Database) -> Files:
    """Files of the library in the folder ``home``, whose tables are in ``database``: in object storage if these are in
    PostgreSQL and the environment has `URL`. Raises `InputError`, `StoreError`."""
    url, name = os.environ.get(URL, ""), home / NAME
    there = database.value("SELECT 1 FROM meta WHERE key = ?", MARK) is not None
    if there and not url:
        raise InputError(f"The files of the library in {home} are in object storage.", hint=f"Set {URL}.")
    if not url or not name.exists():
        return Files(home / "files")
    found = StoredFiles(home / "files", url, name.read_text("ascii"))
    if not there:
        found.sizes()  # it can be reached
        with database.write() as connection:
            connection.insert("meta", {"key": MARK, "value": {}}, clash="NOTHING")
    return found


def copy_files(home: Path, *, back: bool) -> int:
    """Copy the files that object storage lacks from the folder of the library in ``home``, or ``back`` those that the
    folder lacks, which then has the library's files; returns their number. Raises `InputError`, `StoreError`."""
    with closing(open_database(home)) as database:
        found = open_files(home, database)
        if not isinstance(found, StoredFiles):
            raise InputError(
                f"The library in {home} has no object storage.",
                hint=f"Set {URL}, and move the library to PostgreSQL first: groundwork admin move.",
            )
        if not back:
            return found.upload()
        count = found.download()
        with database.write() as connection:
            connection.execute("DELETE FROM meta WHERE key = ?", (MARK,))
        return count


@cache
def _storage(url: str) -> ObjectStore:
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
            client_options={"connect_timeout": "5s", "timeout": "60s", "allow_http": True},  # http of an own endpoint
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=20)},
        )
    except (BaseError, ValueError) as error:
        raise InputError(f"{URL} can't be used: {error}.", hint="Use s3://BUCKET, gs://BUCKET or az://…") from error


@contextmanager
def _reported() -> Iterator[None]:
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, FileNotFoundError, PermissionError) as error:
        said = str(error).strip().split("\n")[0].rstrip(".")
        raise StoreError(f"The object storage can't be read or written: {said}.", hint=_CHECK) from error
