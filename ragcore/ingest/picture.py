"""Page pictures: crops of pages (`Crops`), and the debug picture of the parsed elements.

The debug picture outlines each element in the colour of its kind (named below the page) and numbers it in reading
order; table cells are drawn with their column headers tinted; noise is greyed with its reason. Crops are drawn in a
child process, like all MuPDF work.
"""

from __future__ import annotations

import io
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ragcore.config.settings import IngestSettings
from ragcore.errors import ParseCrashed
from ragcore.ingest.process import Child, Crop
from ragcore.types import Box, Document, Element
from ragcore.types.geometry import outlines

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

RGB = tuple[int, int, int]

_TEXT: RGB = (37, 99, 235)
COLOURS: dict[str, RGB] = {
    "heading": (190, 24, 93),
    "paragraph": _TEXT,
    "list_item": (8, 126, 164),
    "table": (21, 128, 61),
    "figure": (180, 83, 9),
    "caption": (126, 34, 206),
    "footnote": (82, 82, 91),
    "formula": (161, 98, 7),
}
NOISE: RGB = (115, 115, 115)
PICTURE_DPI = 130.0
PICTURE_PIXELS = 8_000_000
MARGIN = 2.0  # points between the words and their outline
LEGEND = 18.0  # points of height below the page


def draw_page(picture: bytes, document: Document, number: int) -> bytes:
    """``picture`` (of page ``number`` as displayed, at any resolution, in any format that Pillow reads) with the page's
    elements drawn over it, as PNG."""
    from PIL import Image, ImageDraw, ImageFont

    with Image.open(io.BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    page = document.pages[number - 1]
    scale = image.width / page.width
    draw = ImageDraw.Draw(image, "RGBA")
    font = ImageFont.load_default(max(8.0, 7.0 * scale))
    found = page_outlines(document, number)
    for order, (element, parts) in enumerate(found, start=1):
        if element.table is not None and element.noise is None:
            _cells(draw, document, element, number, scale)
        for part in parts:
            _outline(draw, font, element, part, order, scale)
    out = io.BytesIO()
    _legend(image, [element for element, _ in found], font, scale).save(out, "PNG")
    return out.getvalue()


def page_outlines(document: Document, number: int) -> list[tuple[Element, list[Box]]]:
    """Elements with a place on page ``number``, in reading order, each with its outlines there: a table's or figure's
    whole region, the lines of others column by column."""
    found: list[tuple[Element, list[Box]]] = []
    for element in document.elements:
        boxes = element.region or document.element_boxes(element)
        here = outlines(box for box in boxes if box.page == number)
        if here:
            found.append((element, here))
    return found


def _outline(
    draw: ImageDraw, font: FreeTypeFont | ImageFont, element: Element, box: Box, order: int, scale: float
) -> None:
    colour = NOISE if element.noise else COLOURS[element.kind]
    x0, y0 = (box.x0 - MARGIN) * scale, (box.y0 - MARGIN) * scale
    x1, y1 = (box.x1 + MARGIN) * scale, (box.y1 + MARGIN) * scale
    fill = (*NOISE, 70) if element.noise else None
    draw.rectangle((x0, y0, x1, y1), fill=fill, outline=colour, width=max(1, round(scale)))
    words = f"{order} {element.noise}".replace("_", " ") if element.noise else str(order)
    # Left of the outline, where least is printed; inside it at the page's edge.
    width = draw.textlength(words, font=font)
    left = x0 - width - 3 if x0 - width - 3 >= 0 else x0
    _label(draw, font, words, left, y0, colour)


def _label(draw: ImageDraw, font: FreeTypeFont | ImageFont, words: str, x: float, y: float, colour: RGB) -> float:
    """Draw ``words`` on ``colour`` with their upper left corner at ``x``, ``y``; returns the x at which they end."""
    left, _top, right, bottom = draw.textbbox((x + 1, y), words, font=font, anchor="la")
    draw.rectangle((left - 1, y, right + 1, bottom + 1), fill=(*colour, 230))
    draw.text((x + 1, y), words, font=font, fill=(255, 255, 255), anchor="la")
    return float(right)


def _legend(image: Image, elements: list[Element], font: FreeTypeFont | ImageFont, scale: float) -> Image:
    """``image`` with a line below it that names the colours it uses."""
    from PIL import Image, ImageDraw

    height = round(LEGEND * scale)
    out = Image.new("RGB", (image.width, image.height + height), "white")
    out.paste(image, (0, 0))
    draw = ImageDraw.Draw(out, "RGBA")
    x = 4.0 * scale
    names = {element.kind for element in elements if not element.noise}
    shown: list[tuple[str, RGB]] = [(kind, colour) for kind, colour in COLOURS.items() if kind in names]
    if any(element.noise for element in elements):
        shown.append(("noise", NOISE))
    for kind, colour in shown:
        x = _label(draw, font, kind.replace("_", " "), x, image.height + 4 * scale, colour) + 6 * scale
    return out


def _cells(draw: ImageDraw, document: Document, element: Element, number: int, scale: float) -> None:
    assert element.table is not None
    for cell in element.table.cells:
        tint = (*COLOURS["table"], 70) if cell.header else (*COLOURS["table"], 18)
        for box in outlines(box for box in document.boxes(cell.start, cell.end) if box.page == number):
            place = (box.x0 * scale, box.y0 * scale, box.x1 * scale, box.y1 * scale)
            draw.rectangle(place, fill=tint, outline=(*COLOURS["table"], 170))


_STRIKES = 3  # children lost to a file's figures after which no more are drawn


class Crops:
    """Crops of one file: ``with Crops(path, settings, name) as crops: crops.draw(box)``. The child starts with the
    first picture."""

    def __init__(self, path: Path, settings: IngestSettings, name: str) -> None:
        self._path, self._settings, self._name = path, settings, name
        self._child: Child | None = None
        self._lost = 0

    def draw(self, box: Box, *, dpi: float, max_pixels: int) -> Crop:
        """Picture of ``box`` (displayed-page points). Raises `ParseTimeout` or `ParseCrashed`."""
        if self._lost >= _STRIKES:
            raise ParseCrashed(f"{self._name}: the pictures of {_STRIKES} figures couldn't be drawn.")
        if self._child is None:
            self._child = Child(self._path, settings=self._settings, password=None, layout=False, name=self._name)
        try:
            return self._child.crop(box, dpi=dpi, max_pixels=max_pixels)
        finally:
            if not self._child.usable:
                self._lost += 1
                self._close()

    def __enter__(self) -> Crops:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None
