"""Pictures of pages as PNG, written for speed: MuPDF's own writer takes four times as long for a page of text, and
eleven times for a scan, since it tries filters that pages gain nothing by and keeps three channels of grey."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 1  # of zlib's nine; the sixth takes three times as long and saves a twentieth
_GREY, _RGB = 0, 2  # colour types


def encode(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels ``(height, width, 3)``, red, green and blue, as a PNG without loss: of one channel where all are grey."""
    grey = bool((pixels[..., 0] == pixels[..., 1]).all() and (pixels[..., 0] == pixels[..., 2]).all())
    kept = pixels[..., :1] if grey else pixels
    height, width, channels = kept.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with its filter, which is none
    rows[:, 1:].reshape(height, width, channels)[...] = kept
    head = struct.pack(">IIBBBBB", width, height, 8, _GREY if grey else _RGB, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.data, LEVEL)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(*part) for part in parts)


def of(pixmap: Any) -> bytes:
    """A PyMuPDF pixmap in RGB without alpha as a PNG."""
    rows = np.frombuffer(pixmap.samples_mv, np.uint8).reshape(pixmap.height, pixmap.stride)
    return encode(rows[:, : pixmap.width * 3].reshape(pixmap.height, pixmap.width, 3))


def _part(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
