"""The debug picture: outlines stand where the elements and cells are."""

from __future__ import annotations

import io

from PIL import Image

from ragcore.ingest.picture import COLOURS, NOISE, draw_page, page_outlines
from ragcore.types import Document
from tests.ingest.conftest import Build

SCALE = 2


def drawn(document: Document, number: int) -> Image.Image:
    page = document.pages[number - 1]
    blank = Image.new("RGB", (round(page.width * SCALE), round(page.height * SCALE)), "white")
    given = io.BytesIO()
    blank.save(given, "PNG")
    image = Image.open(io.BytesIO(draw_page(given.getvalue(), document, number)))
    assert image.width == blank.width
    assert image.height > blank.height  # the legend stands below the page
    return image.convert("RGB")


def test_elements_are_outlined_in_the_colour_of_their_kind_and_headers_tinted(build: Build) -> None:
    document = build("ruled_table")
    image = drawn(document, 1)
    outlines = page_outlines(document, 1)
    assert {element.kind for element, _boxes in outlines} >= {"table"}
    for element, (box, *_more) in outlines:
        colour = NOISE if element.noise else COLOURS[element.kind]
        # The lower edge, where no label stands.
        edge = {image.getpixel((round((box.x0 + box.x1) / 2 * SCALE), round(box.y1 * SCALE) + d)) for d in range(7)}
        assert colour in edge
    table = next(element.table for element, _boxes in outlines if element.table is not None)
    tints = {}
    for cell in table.cells:
        box = document.boxes(cell.start, cell.end)[0]
        tints[cell.header] = image.getpixel(
            (round((box.x0 + box.x1) / 2 * SCALE), round((box.y0 + box.y1) / 2 * SCALE))
        )
    assert tints[True] != tints[False] != (255, 255, 255)


def test_noise_is_greyed_and_a_paragraph_over_two_pages_is_drawn_on_both(build: Build) -> None:
    headers = build("running_headers")
    noise = [(element, box) for element, (box, *_more) in page_outlines(headers, 2) if element.noise]
    assert noise
    image = drawn(headers, 2)
    for _element, box in noise:
        assert image.getpixel((round((box.x1 - 1) * SCALE), round((box.y1 - 1) * SCALE))) != (255, 255, 255)
    broken = build("page_break_paragraph")
    both = {element.id for element, _ in page_outlines(broken, 1)} & {
        element.id for element, _ in page_outlines(broken, 2)
    }
    assert both
