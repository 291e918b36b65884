"""Pictures as pages: one for each, in a size that is read and shown well. Their words come from OCR, as those of scans.
Runs in the child process only.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pymupdf
from PIL import ExifTags, Image, ImageOps, ImageSequence

from ragcore.errors import DamagedFile, FileTooLarge, TooManyPages
from ragcore.ingest.convert.kinds import DAMAGED
from ragcore.protocols import Converted
from ragcore.types.library import FileKind

MOST_PIXELS = 120_000_000  # of one picture: A3 in 600 dpi has 70 million
LEAST_DPI, MOST_DPI = 100, 1200  # of scanners: others write 72 or 96, whatever the size
SCREEN = 0.75  # points for each pixel, if no resolution is given
PAGE = (595.0, 842.0)  # points: where no resolution is given, a picture is no larger, but for a long one
LONGEST = 14_400.0  # points: the most that a PDF may have (ISO 32000-1, annex C)
_PLAIN = {"1", "L", "RGB"}  # modes that are kept as they are
_SMALLER = "Save it in fewer pixels, or cut it into several pictures."


def draw_pictures(data: bytes, name: str, kind: FileKind, most_pages: int) -> Converted:
    """Pages of a picture file, of a TIFF all of its pictures. Raises `DamagedFile`, `FileTooLarge`, `TooManyPages`."""
    document = pymupdf.open()
    notes: tuple[str, ...] = ()
    try:
        with Image.open(io.BytesIO(data), formats=[kind]) as opened:
            moving = 0 if kind == "tiff" else getattr(opened, "n_frames", 1) - 1
            notes = (f"{moving} more pictures of an animation left out.",) if moving else ()
            for number, frame in enumerate(_frames(opened, kind, name)):
                if number >= most_pages:
                    raise TooManyPages(f"{name} has more than {most_pages} pages; that is the limit.")
                _put(document, frame, data if kind == "jpeg" else b"")
    except (TooManyPages, FileTooLarge):
        raise
    except Image.DecompressionBombError as error:  # Pillow's own, larger limit
        raise _too_large(name) from error
    except (*DAMAGED, pymupdf.mupdf.FzErrorBase) as error:
        raise DamagedFile(f"{name} is damaged: a picture in it can't be read.") from error
    return Converted(document, notes, cover=True)


def _frames(opened: Any, kind: FileKind, name: str) -> Iterator[Any]:
    """Pictures of a file, each within the limit of pixels before it is unpacked."""
    frames = ImageSequence.Iterator(opened) if kind == "tiff" else [opened]
    for frame in frames:
        if frame.width * frame.height > MOST_PIXELS:
            raise _too_large(name)
        yield frame


def _too_large(name: str) -> FileTooLarge:
    return FileTooLarge(f"{name} has a picture of more than {MOST_PIXELS:,} pixels; that is the limit.", hint=_SMALLER)


def _put(document: Any, frame: Any, data: bytes) -> None:
    """Add a page with one picture, as it is to be seen; ``data`` is kept as it is if that is how it stands there."""
    frame.load()
    turned = ImageOps.exif_transpose(frame)
    dpi = frame.info.get("dpi", (0, 0))
    if not data or frame.getexif().get(ExifTags.Base.Orientation, 1) != 1:
        out = io.BytesIO()
        _flat(turned).save(out, "PNG", compress_level=1)
        data = out.getvalue()
    width, height = _size(turned.width, turned.height, tuple(map(float, dpi)))
    page = document.new_page(width=width, height=height)
    page.insert_image(page.rect, stream=data, keep_proportion=False)


def _flat(picture: Any) -> Any:
    """Picture on white, in grey or colour, with 8 bits each."""
    if picture.mode.startswith(("I", "F")):
        low, high = picture.getextrema()
        picture = picture.convert("F").point(lambda value: (value - low) * (255.0 / ((high - low) or 1.0)))
        return picture.convert("L")
    if picture.mode in _PLAIN:
        return picture
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    white = Image.new("RGBA", picture.size, "white")
    white.alpha_composite(picture.convert("RGBA"))
    return white.convert("RGB")


def _size(width: int, height: int, dpi: tuple[float, ...]) -> tuple[float, float]:
    """Size of the page in points: as scanned if the file says so, else as on a screen, and no larger than a sheet."""
    if len(dpi) == 2 and all(LEAST_DPI <= each <= MOST_DPI for each in dpi):
        across, down = width * 72 / dpi[0], height * 72 / dpi[1]
    else:
        short, long = sorted((width, height))
        scale = min(SCREEN, max(PAGE[0] / short, PAGE[1] / long))
        across, down = width * scale, height * scale
    fit = min(1.0, LONGEST / max(across, down))
    return max(1.0, across * fit), max(1.0, down * fit)
