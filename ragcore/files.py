"""Files that are written as a whole or not at all, what tells one state of a file from another, and faults of a disk
as `StoreError`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ragcore.errors import StoreError

Version = tuple[int, int, int]


def version(path: Path) -> Version | None:
    """Time of change in ns, number on the disk and length in bytes; None where there is no file. Raises `OSError`."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_mtime_ns, stat.st_ino, stat.st_size


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream for the new content of ``path``, which takes its place in one step once it is on the disk.

    Raises `OSError`; whatever is raised, ``path`` is as it was and nothing is left beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def reported(folder: Path) -> Iterator[None]:
    """Raises `StoreError`, which names ``folder`` and the reason, for an `OSError` on the files in it."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"The files in {folder} cannot be read or written: {error.strerror or error}.",
            hint="See that the disk has room and check the permissions of that folder; it may be removed, "
            "and is then made again.",
        ) from error
