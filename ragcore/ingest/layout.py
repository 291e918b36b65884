"""Page layout: words with boxes and regions with classes, as read from one page before any decision about the document.

`PageLayout` is made in the parsing child process, stored per page as a checkpoint, and read by the passes that build
the document.

Coordinates are points of the page's *upright frame*, origin top-left: the visible part of the page, turned so that most
of its text reads from left to right. The model, the reading order and later passes therefore need no handling of turned
pages. `PageLayout.displayed` maps a box to the page as displayed, the only convention used elsewhere.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragcore.index.packing import adapter, pack_arrays, unpack_arrays

BOLD: Final = 1
ITALIC: Final = 2
SUPERSCRIPT: Final = 4
MONO: Final = 8
GLUED: Final = 16  # no blank between this word and the previous one
SOFT_HYPHEN: Final = 32  # a soft hyphen followed it at the end of its line
SIDEWAYS: Final = 64  # turned against most of the page's text
COARSE: Final = 128  # its box is that of a whole area: order and lines are as given

LINE_NUMBERS: Final = "line-number"  # kind of the region that holds a draft's line numbers
WATERMARK: Final = "watermark"  # and of the region that holds text printed across the page

_MAGIC = b"GWP4"
_PLAIN: Final = ("number", "label", "width", "height", "rotation", "turn", "texts", "degraded", "unread")
_ARRAYS: Final = ("boxes", "sizes", "lines", "flags", "owners", "confidence")

Rect = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class FileInfo:
    """Metadata of a PDF. ``title`` is the metadata's, unchanged ("" if there is none); ``labels`` has one printed label
    per page, or is empty if the PDF defines none; ``outline`` entries are (level from 1, title, page from 1).
    ``unlocked``: a password was needed and given. Of pages made of another file, ``converter`` is what made them,
    ``notes`` tell what it left out, ``cover`` is whether their first page names the document, ``places`` has the place
    of each page in that file (or nothing), and ``furniture`` the lines of its headers and footers, None if they aren't
    known."""

    pages: int
    title: str = ""
    labels: tuple[str, ...] = ()
    outline: tuple[tuple[int, str, int], ...] = ()
    unlocked: bool = False
    converter: str = ""
    notes: tuple[str, ...] = ()
    cover: bool = True
    places: tuple[str, ...] = ()
    furniture: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class GridCell:
    """Cell of a table's grid: slot, extent in slots, the grid's rectangle (not the ink's), and its ``place`` in the
    file that the page was made of ("" if none was)."""

    row: int
    col: int
    row_span: int
    col_span: int
    box: Rect
    header: bool = False
    place: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Grid of a table. ``given``: another parser supplied the cells one by one, so nothing is repaired. If Groundwork
    drew it, the number of its ``headers`` (rows) is known, and whether it ``continues`` the table before it."""

    rows: int
    columns: int
    cells: tuple[GridCell, ...]
    given: bool = False
    headers: int | None = None
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """Rectangle with a role: the layout model's class name (``text``, ``title``, ``section-header``, ``list-item``,
    ``table``, ``picture``, ``caption``, ``footnote``, ``formula``, ``page-header``, ``page-footer``), or ``logo``. A
    picture may have an AI-written ``description``. ``place`` is as of `GridCell`."""

    kind: str
    box: Rect
    grid: Grid | None = None
    description: str = ""
    place: str = ""


@dataclass(frozen=True, eq=False)
class PageLayout:
    """One page: ``regions`` in reading order, and n words as parallel columns.

    ``width`` and ``height`` are those of the page as displayed, ``rotation`` the page's own entry. The upright frame
    turned clockwise by ``turn`` degrees (0, 90, 180, 270) is the displayed page. ``texts`` n strings without white
    space; ``boxes`` float32 ``(n, 4)`` as x0, y0, x1, y1; ``sizes`` float32 ``(n,)`` font size in points; ``lines``
    int32 ``(n,)`` number of the printed line, rising in MuPDF's order; ``flags`` uint8 ``(n,)`` (BOLD, GLUED ...);
    ``owners`` int32 ``(n,)`` index of the word's region. Every word has exactly one owner. ``degraded`` says what went
    wrong with the page; with ``unread`` nothing on it could be read. ``confidence`` uint8 ``(n,)`` percent if OCR read
    the words, None if they are the PDF's own text.
    """

    number: int
    label: str
    width: float
    height: float
    rotation: int
    turn: int
    texts: tuple[str, ...]
    boxes: NDArray[np.float32]
    sizes: NDArray[np.float32]
    lines: NDArray[np.int32]
    flags: NDArray[np.uint8]
    owners: NDArray[np.int32]
    regions: tuple[Region, ...] = field(default=())
    degraded: str | None = None
    confidence: NDArray[np.uint8] | None = None
    unread: bool = False

    @property
    def ocr(self) -> float | None:
        """Mean OCR confidence of the words, 0–1, weighted by characters; None if OCR read none."""
        if self.confidence is None or not self.texts:
            return None
        return float(np.average(self.confidence, weights=[len(text) for text in self.texts])) / 100

    @property
    def frame(self) -> tuple[float, float]:
        """Width and height of the upright frame."""
        return (self.width, self.height) if self.turn in (0, 180) else (self.height, self.width)

    def displayed(self, box: Rect) -> Rect:
        """Box of the upright frame on the page as displayed, cut at its edges."""
        x0, y0, x1, y1 = turned(box, self.turn, *self.frame)
        return max(0.0, x0), max(0.0, y0), min(self.width, x1), min(self.height, y1)

    def to_bytes(self) -> bytes:
        """Compact serialisation for the checkpoint. Boxes of regions are rounded to hundredths of a point."""
        given = json.dumps(adapter(tuple[Region, ...]).dump_python(self.regions, mode="json"))
        regions = json.loads(given, parse_float=lambda digits: round(float(digits), 2))
        head = {name: getattr(self, name) for name in _PLAIN}
        arrays = [values.ravel() for name in _ARRAYS if (values := getattr(self, name)) is not None]
        return _MAGIC + zlib.compress(pack_arrays({**head, "regions": regions}, arrays), 6)

    @classmethod
    def from_bytes(cls, data: bytes) -> PageLayout:
        """Inverse of `to_bytes`. Raises ValueError for any other bytes."""
        if data[:4] != _MAGIC:
            raise ValueError("these bytes are not a page of this version")
        try:
            head, given = unpack_arrays(zlib.decompress(data[4:]))
        except zlib.error as error:
            raise ValueError("these bytes are damaged") from error
        arrays = dict(zip(_ARRAYS, given))  # without OCR the last is missing
        arrays["boxes"] = arrays["boxes"].reshape(-1, 4)
        texts, regions = tuple(head["texts"]), adapter(tuple[Region, ...]).validate_python(head["regions"])
        return cls(**{**head, **arrays, "texts": texts, "regions": regions})


def around(boxes: Iterable[Rect]) -> Rect:
    """Bounding rectangle of ``boxes``, at least one."""
    lefts, tops, rights, bottoms = zip(*boxes)
    return min(lefts), min(tops), max(rights), max(bottoms)


def area(box: Rect) -> float:
    """Area of a box; 0 for an inverted one."""
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def overlap(a: Rect, b: Rect) -> tuple[float, float]:
    """Width and height of the common part of two boxes; a negative one is the gap between them."""
    return min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])


def turned(box: Rect, angle: int, width: float, height: float) -> Rect:
    """``box`` of a ``width`` × ``height`` frame after the frame is turned clockwise by ``angle`` degrees."""
    x0, y0, x1, y1 = box
    if angle == 90:
        return height - y1, x0, height - y0, x1
    if angle == 180:
        return width - x1, height - y1, width - x0, height - y0
    if angle == 270:
        return y0, width - x1, y1, width - x0
    return box


def empty_page(
    number: int, label: str, width: float, height: float, rotation: int, degraded: str | None, *, unread: bool = False
) -> PageLayout:
    """Page without words."""
    return PageLayout(
        number=number,
        label=label,
        width=width,
        height=height,
        rotation=rotation,
        turn=0,
        texts=(),
        boxes=np.empty((0, 4), np.float32),
        sizes=np.empty(0, np.float32),
        lines=np.empty(0, np.int32),
        flags=np.empty(0, np.uint8),
        owners=np.empty(0, np.int32),
        degraded=degraded,
        unread=unread,
    )
