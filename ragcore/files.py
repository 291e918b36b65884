"""Files that are written as a whole or not at all and are readable by their owner only, what tells one state of a file
from another, locks between processes, and faults of a disk as `StoreError`."""

from __future__ import annotations

import errno
import os
import stat
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ragcore.errors import DiskFull, StoreBusy, StoreError

Version = tuple[int, int, int]

OWN = ("groundwork.sqlite*", "config.toml", "synonyms.toml", "web.secret", "files", "cache", "locks")


def version(path: Path) -> Version | None:
    """Time of change in ns, number on the disk and length in bytes; None where there is no file. Raises `OSError`."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


@contextmanager
def whole(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """An empty file beside ``path`` to write to, which takes its place in one step at the end.

    Raises `OSError`; whatever is raised, ``path`` is as it was and nothing is left beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode))
        yield part
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """`whole`, as a stream that is on the disk before it takes the place of ``path``."""
    with whole(path, mode) as part, part.open("wb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def sealed(data: bytes) -> bytes:
    """``data`` behind a line with its checksum."""
    return b"%08x\n" % zlib.crc32(data) + data


def unsealed(data: bytes) -> bytes:
    """The inverse of `sealed`. Raises `ValueError` where the two do not agree."""
    checksum, _, rest = data.partition(b"\n")
    if checksum != b"%08x" % zlib.crc32(rest):
        raise ValueError("the file is damaged")
    return rest


@contextmanager
def reported(folder: Path) -> Iterator[None]:
    """Raises `StoreError`, which names ``folder`` and the reason, for an `OSError` on the files in it; `DiskFull` where
    there is no room."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"The disk of {folder} is full.") from error
        raise StoreError(
            f"The files in {folder} can't be read or written: {error.strerror or error}.",
            hint="Check the disk space and the folder's permissions.",
        ) from error


@contextmanager
def locked(path: Path, busy: str, seconds: float = 0.0, poll: float = 0.02) -> Iterator[None]:
    """The lock file ``path``, for one thread of one process at a time. Raises `StoreBusy`, which says ``busy``, when
    another holds it for ``seconds``, and `StoreError`."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=seconds, poll_interval=poll, thread_local=False, mode=0o600)
    with reported(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreBusy(busy) from error
    try:
        yield
    finally:
        lock.release()


def private(home: Path) -> None:
    """Make the folder ``home``, its owner's alone; one from before, and what of it is ours, is closed to others. A
    folder of another user, or one that all may write to, stays as it is. Raises `OSError`."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = home.stat()
    if os.name == "nt" or found.st_uid != os.geteuid() or found.st_mode & stat.S_ISVTX or not found.st_mode & 0o077:
        return
    tops = [path for name in OWN for path in home.glob(name)]
    # The home itself last: as long as it is open, this is not done.
    for path in (*(path for top in tops for path in (*top.rglob("*"), top)), home):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700)
