"""File utilities: atomic writes with owner-only permissions, checksums, locks between processes, and
disk faults as `StoreError`."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ragcore.errors import DiskFull, StoreBusy, StoreError

OWN = (
    "groundwork.sqlite*",
    "accounts.sqlite*",
    "library.id",
    "libraries",
    "config.toml*",
    "synonyms.toml",
    "web.secret*",
    "files",
    "cache",
    "locks",
)


@contextmanager
def whole(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """Temporary file beside ``path`` that atomically replaces it at the end of the block.

    Raises `OSError`. After any exception ``path`` is unchanged and the temporary file is gone.
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
    """`whole` as a stream, synced to disk before it replaces ``path``."""
    with whole(path, mode) as part, part.open("wb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def scratch_folder(seconds: float) -> Iterator[str]:
    """Temporary folder, deleted after the block with what processes that end still write there within ``seconds``."""
    folder = tempfile.mkdtemp()
    try:
        yield folder
    finally:
        end = time.monotonic() + seconds
        while os.path.isdir(folder) and time.monotonic() < end:
            shutil.rmtree(folder, ignore_errors=True)
            time.sleep(0.01)


def sealed(data: bytes) -> bytes:
    """``data`` preceded by a line with its checksum."""
    return b"%08x\n" % zlib.crc32(data) + data


def unsealed(data: bytes) -> bytes:
    """Inverse of `sealed`. Raises `ValueError` if data and checksum disagree."""
    checksum, _, rest = data.partition(b"\n")
    if checksum != b"%08x" % zlib.crc32(rest):
        raise ValueError("the file is damaged")
    return rest


@contextmanager
def reported(folder: Path) -> Iterator[None]:
    """Translate an `OSError` into a `StoreError` that names ``folder`` and the reason; `DiskFull` if there is no
    space."""
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
def locked(path: Path, busy: str, hint: str | None = None, seconds: float = 0) -> Iterator[None]:
    """Exclusive lock on the file ``path`` for one thread of one process. Raises `StoreBusy` with the message ``busy``
    and ``hint`` if it is taken for longer than ``seconds``, and `StoreError`."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=seconds, thread_local=False, mode=0o600)
    with reported(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreBusy(busy, hint=hint) from error
    try:
        yield
    finally:
        lock.release()


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; 0 if it does not exist: files may be deleted at any time."""
    try:
        if path.is_dir():
            return sum(size(item) for item in path.iterdir())
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def private(home: Path) -> None:
    """Create the folder ``home`` for its owner only; restrict an existing one, and Groundwork's files in it, to the
    owner. A folder of another user, or with the sticky bit, is left unchanged. Raises `OSError`."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = home.stat()
    if os.name == "nt" or found.st_uid != os.geteuid() or found.st_mode & stat.S_ISVTX or not found.st_mode & 0o077:
        return
    tops = [path for name in OWN for path in home.glob(name)]
    # The home comes last: while it is open to others, the work is incomplete.
    for path in (*(path for top in tops for path in (*top.rglob("*"), top)), home):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700)
