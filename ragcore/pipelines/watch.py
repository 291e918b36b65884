"""Watching of folders: a scan compares their files with what is stored of them, and adds what is new or has changed.

    scan    list files → compare stamps → read what differs → add → store what it is now, and which version of what

A file is read only if its stamp differs. One that was modified within the last moments, or changes while it is read, is
left to the next scan; so is nothing lost if the process is killed. Reading of documents is another task, on any
process's queue: `unread` gives what is left of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.errors import Cancelled, FileMissing, InputError, StoreBusy
from ragcore.index.database import ACCOUNTS, has_library
from ragcore.index.shelf import Shelf
from ragcore.index.watched import WatchStore
from ragcore.ingest.convert.kinds import SUFFIXES
from ragcore.pipelines.add_files import add, contents, is_meant
from ragcore.progress import printable
from ragcore.protocols import UNLIMITED, Allowance
from ragcore.types.watch import EVERY, SHORTEST, FileChange, ScanReport, Stamp, WatchedFile, WatchedFolder

if TYPE_CHECKING:
    from ragcore.config.settings import IngestSettings
    from ragcore.index.store import Store
    from ragcore.progress import IsCancelled

SETTLED_SECONDS = 2.0  # a file modified since may still be being written


class Watch:
    """Watched folders of one library. Safe for threads and processes: one of them scans at a time."""

    def __init__(self, store: Store, settings: IngestSettings, allowance: Allowance = UNLIMITED) -> None:
        self._store = store
        self._settings = settings
        self._allowance = allowance
        self._kept = WatchStore(store.database)
        self._shelf = Shelf(store.database)

    def folders(self) -> list[WatchedFolder]:
        """Folders in the order they were added."""
        return self._kept.folders()

    def folder(self, path: Path) -> WatchedFolder:
        """Raises `InputError` if it is not watched."""
        wanted = _resolved(path)
        found = next((one for one in self.folders() if one.path == wanted), None)
        if found is None:
            raise InputError(
                f"The folder {printable(wanted)} isn't watched.", hint="`groundwork watch --list` says which are."
            )
        return found

    def files(self, path: Path) -> list[WatchedFile]:
        """Files of a folder by path, with those that are gone. Raises `InputError` if it is not watched."""
        return list(self._kept.files(self.folder(path).path).values())

    def add(
        self, path: Path, *, recursive: bool = True, patterns: Sequence[str] = (), every: float = EVERY
    ) -> WatchedFolder:
        """Watch a folder from now on, or change how it is watched. Raises `InputError`."""
        wanted = _resolved(path)
        if not wanted.is_dir():
            raise InputError(f"There is no folder {printable(wanted)}.", hint="Give the path of a folder.")
        _require_foreign(wanted)
        if printable(wanted) != str(wanted):
            raise InputError(f"The name of {printable(wanted)} isn't valid UTF-8.", hint="Rename the folder.")
        if every < SHORTEST:
            raise InputError(f"A folder is looked through at most every {SHORTEST:.0f} s.", hint="Give more seconds.")
        self._kept.add(WatchedFolder(wanted, recursive, tuple(patterns), every))
        return self.folder(wanted)

    def remove(self, path: Path) -> None:
        """Watch a folder no longer; its documents stay. Raises `InputError` if it is not watched."""
        self._kept.remove(self.folder(path).path)

    def unread(self, path: Path | None = None, *, but: Container[str] = ()) -> list[str]:
        """Documents of a folder (None: of all), ``but`` some, that are not read yet, and that no process reads right
        now."""
        folder = None if path is None else self.folder(path).path
        found = []
        for doc_id, state in self._kept.states(folder).items():
            if state.unread and doc_id not in but:
                with suppress(StoreBusy), self._store.document_lock(doc_id):
                    found.append(doc_id)
        return found

    def scan(self, path: Path, cancelled: IsCancelled = lambda: False) -> ScanReport:
        """Look through a folder. What can't be looked at stays as it is known. Raises `StoreBusy` if another process
        looks through the folders right now, `InputError` if it is not watched, `StoreError`, and `Cancelled`."""
        busy = "Another process looks through the watched folders right now."
        with self._store.database.locked("watch", busy):
            return _Scan(self, self.folder(path), cancelled).run()


class _Scan:
    """One scan of one folder, under the lock."""

    def __init__(self, of: Watch, folder: WatchedFolder, cancelled: IsCancelled) -> None:
        self._store, self._settings = of._store, of._settings
        self._kept, self._shelf, self._allowance = of._kept, of._shelf, of._allowance
        self._folder = folder
        self._cancelled = cancelled
        self._hidden: list[str] = []  # folders that could not be looked into
        self._hashed = 0

    def run(self) -> ScanReport:
        began, folder = time.monotonic(), self._folder
        known = self._kept.files(folder.path)
        found, told = {}, None
        try:
            _require_foreign(folder.path)
            found = dict(self._list(folder.path, ""))
        except InputError as error:
            told = error.as_dict()
        except OSError as error:
            told = FileMissing(
                f"The folder {folder.path} can't be looked through: {error.strerror or error}.",
                hint="Check that it is there and may be read. Its documents stay as they are.",
            ).as_dict()
        if told is not None:
            self._kept.scanned(folder.path, time.monotonic() - began, told)
            return ScanReport(folder.path, error=told)
        lost = {
            name: one
            for name, one in known.items()
            if name not in found and not any(f"{name}/".startswith(f"{hidden}/") for hidden in self._hidden)
        }
        changes = []
        for name, (path, stamp) in found.items():
            before = known.get(name)
            if before is None or before.stamp != stamp or before.gone:
                if self._cancelled():
                    raise Cancelled("The scan was stopped.")
                changes.append(self._look(name, path, stamp, before, lost))
        left = [name for name, one in lost.items() if not one.gone]
        if left:
            self._kept.set_gone(folder.path, left)
            changes += [FileChange(name, "gone", lost[name].doc_id) for name in left]
        seconds = round(time.monotonic() - began, 3)
        self._kept.scanned(folder.path, seconds, None)
        told_changes = tuple(one for one in changes if one is not None)
        return ScanReport(folder.path, len(found), self._hashed, told_changes, seconds)

    def _list(self, folder: Path, above: str) -> Iterator[tuple[str, tuple[Path, Stamp]]]:
        """Files to watch below ``folder``, by path below the watched one. Links are not followed, nor is any library's
        folder looked into. Raises `OSError` for the watched folder itself; one in it that can't be looked into is kept
        in ``_hidden``."""
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                path, name = Path(entry.path), above + _stored(entry.name)
                if not is_meant(Path(entry.name)) or entry.is_symlink():
                    continue
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if self._folder.recursive and not _is_home(path):
                            yield from list(self._list(path, f"{name}/"))
                    elif self._wants(entry.name) and entry.is_file(follow_symlinks=False):
                        found = entry.stat(follow_symlinks=False)
                        yield name, (path, _stamp(found))
                except FileNotFoundError:
                    continue  # it went meanwhile
                except OSError:
                    self._hidden.append(name)

    def _wants(self, name: str) -> bool:
        patterns = self._folder.patterns
        chosen = not patterns or any(fnmatch(name.lower(), pattern.lower()) for pattern in patterns)
        return chosen and Path(name).suffix.lower() in SUFFIXES

    def _look(
        self, name: str, path: Path, stamp: Stamp, before: WatchedFile | None, lost: dict[str, WatchedFile]
    ) -> FileChange | None:
        """Read a file that differs from what is known of it, add its content, and store what it is now. Returns what
        there is to say of it."""
        if before is not None and before.stamp == stamp:  # it was gone
            self._kept.put(self._folder.path, before, before)
            return FileChange(name, "back", before.doc_id, error=before.error)
        if abs(time.time() - stamp.modified / 1e9) < SETTLED_SECONDS:
            return FileChange(name, "waiting", before.doc_id if before else "")
        old = before.doc_id if before is not None else ""
        try:
            data = contents(path, path.name, self._settings)
            self._hashed += 1
            if _stamp(path.stat(follow_symlinks=False)) != stamp:
                return FileChange(name, "waiting", old)
            added = add(self._store, self._settings, data, path.name, allowance=self._allowance)
        except (FileNotFoundError, InputError) as error:
            if isinstance(error, OSError) or not os.path.lexists(path):
                return None  # it went meanwhile, which the next scan says
            told = error.as_dict()
            self._kept.put(self._folder.path, WatchedFile(name, stamp, old, told), before)
            return FileChange(name, "failed", old, error=told)
        now = WatchedFile(name, stamp, added.doc_id)
        moved = [one for one, file in lost.items() if file.doc_id == added.doc_id and not file.gone]
        self._kept.put(self._folder.path, now, before)
        if moved and before is None:
            self._kept.move(self._folder.path, name, moved)
            for one in moved:
                del lost[one]
            return FileChange(name, "moved", added.doc_id)
        if added.doc_id == old:
            same = before is not None and before.error is None and not before.gone
            return None if same else FileChange(name, "back", old)
        if not old and added.status == "new":
            place = printable(Path(self._folder.path.name) / Path(name).parent)
            self._shelf.put([added.doc_id, *added.attached], place)
        if old:
            return FileChange(name, "changed", added.doc_id, old, attached=added.attached)
        return FileChange(name, "new" if added.status == "new" else "known", added.doc_id, attached=added.attached)


def _require_foreign(folder: Path) -> None:
    if any(map(_is_home, (folder, *folder.parents))):
        raise InputError("This folder is a library's own.", hint="Watch the folder that has your files.")


def _is_home(folder: Path) -> bool:
    """Whether a folder is a library's own, or a team's: its files are for who may use that library."""
    return has_library(folder) or (folder / ACCOUNTS).exists()


def _resolved(path: Path) -> Path:
    return path.expanduser().resolve()


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _stored(name: str) -> str:
    """A file's name as it can be stored; bytes that are no UTF-8 are escaped, so that two names stay two."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
