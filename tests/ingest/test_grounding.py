"""The invariant: every printed character is in the text once and knows its box; what PyMuPDF finds in the boxes of a
span are the span's words; boxes lie on the page as displayed, rotation and crop box applied."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pymupdf
import pytest

from ragcore.ingest.layout import PageLayout
from ragcore.types import Box, Document
from tests import pdfs
from tests.ingest.conftest import SAMPLES, Build, sample

# Where one word is printed over another, PyMuPDF finds both in the box of either.
OVERPRINTED = ("watermarked", "watermarked_upright", "printed_twice", "shadowed")
WITH_TEXT = [name for name in SAMPLES if name != "blank" and name not in OVERPRINTED]


def characters(text: str) -> Counter[str]:
    # A hyphen at a line's end is on the page and not in the joined word.
    return Counter(re.sub(r"[\s\-]", "", text))


def pymupdf_words(page: pymupdf.Page) -> list[tuple[pymupdf.Rect, str]]:
    """PyMuPDF's words on the displayed page."""
    words = [(pymupdf.Rect(word[:4]) * page.rotation_matrix, word[4]) for word in page.get_text("words")]
    return [(rect, text) for rect, text in words if not (rect & page.rect).is_empty]


def inside(words: list[tuple[pymupdf.Rect, str]], boxes: list[Box]) -> str:
    def held(rect: pymupdf.Rect) -> bool:
        x, y = (rect.x0 + rect.x1) / 2, (rect.y0 + rect.y1) / 2
        return any(box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1 for box in boxes)

    return " ".join(text for rect, text in words if held(rect))


def spans(document: Document) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for element in document.elements:
        if element.table is None:
            out.append((element.start, element.end))
        else:
            out.extend((cell.start, cell.end) for cell in element.table.cells)
    return out


@pytest.mark.parametrize("name", WITH_TEXT)
def test_every_printed_character_is_in_the_text_once(name: str, build: Build) -> None:
    document = build(name)
    with pymupdf.open(stream=sample(name), filetype="pdf") as pdf:
        for page in pdf:
            own = (document.words.pages == page.number + 1) & ~document.words.repeated
            mapped = "".join(
                document.text[start:end]
                for start, end in zip(document.words.starts[own].tolist(), document.words.ends[own].tolist())
            )
            printed = " ".join(text for _rect, text in pymupdf_words(page))
            assert characters(mapped) == characters(printed)


@pytest.mark.parametrize("name", WITH_TEXT)
def test_words_inside_the_boxes_of_a_span_are_its_words(name: str, build: Build) -> None:
    document = build(name)
    with pymupdf.open(stream=sample(name), filetype="pdf") as pdf:
        words = {page.number + 1: pymupdf_words(page) for page in pdf}
    checked = 0
    for start, end in spans(document):
        boxes = document.boxes(start, end)
        found = " ".join(inside(words[n], [b for b in boxes if b.page == n]) for n in document.pages_of(start, end))
        assert characters(found) == characters(document.text[start:end])
        checked += 1
    assert checked


@pytest.mark.parametrize("name", WITH_TEXT)
def test_boxes_lie_on_the_displayed_page(name: str, build: Build) -> None:
    document = build(name)
    with pymupdf.open(stream=sample(name), filetype="pdf") as pdf:
        for page, shown in zip(document.pages, pdf):
            assert (page.width, page.height) == pytest.approx((shown.rect.width, shown.rect.height))
            assert page.rotation == shown.rotation
    for element in document.elements:
        for box in document.element_boxes(element):
            page = document.pages[box.page - 1]
            assert 0 <= box.x0 < box.x1 <= page.width + 0.01
            assert 0 <= box.y0 < box.y1 <= page.height + 0.01


@pytest.mark.parametrize("name", ["one_column", *(n for n in SAMPLES if n.startswith(("rotated", "cropped")))])
def test_boxes_cover_the_ink_of_the_rendered_page(name: str, build: Build) -> None:
    """Pixels are the independent witness: all ink lies in the boxes, and each box of words holds ink."""
    document = build(name)
    zoom = 2
    with pymupdf.open(stream=sample(name), filetype="pdf") as pdf:
        pixmap = pdf[0].get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY)
    ink = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.h, pixmap.stride)[:, : pixmap.w] < 128
    covered = np.zeros_like(ink)
    for box in (b for element in document.elements for b in document.boxes(element.start, element.end)):
        part = (
            slice(max(0, int(box.y0 * zoom) - 1), int(box.y1 * zoom) + 2),
            slice(max(0, int(box.x0 * zoom) - 1), int(box.x1 * zoom) + 2),
        )
        assert ink[part].any()
        covered[part] = True
    if "table" not in name:  # rules are ink without words
        assert not (ink & ~covered).any()


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_rotated_page_reads_like_the_upright_one(angle: int, build: Build) -> None:
    assert build(f"rotated_{angle}").text == build("one_column").text


@pytest.mark.parametrize("angle", [90, 270])
def test_a_table_on_a_rotated_page_is_read_as_a_table(angle: int, build: Build) -> None:
    upright, rotated = build("ruled_table"), build(f"rotated_table_{angle}")
    assert rotated.text == upright.text
    assert [e.table for e in rotated.elements] == [e.table for e in upright.elements]


def test_line_boxes_do_not_reach_into_neighbouring_lines(build: Build) -> None:
    document = build("one_column")
    paragraph = next(e for e in document.elements if e.kind == "paragraph")
    boxes = document.boxes(paragraph.start, paragraph.end)
    assert len(boxes) >= 3
    for above, below in pairwise(boxes):
        assert above.y1 <= below.y0 + 1.0


def test_pages_survive_the_checkpoint(layouts: dict[str, list[PageLayout]]) -> None:
    for pages in layouts.values():
        for page in pages:
            again = PageLayout.from_bytes(page.to_bytes())
            assert again.texts == page.texts
            assert again.degraded == page.degraded
            assert (again.number, again.label, again.turn, again.rotation) == (
                page.number,
                page.label,
                page.turn,
                page.rotation,
            )
            assert [region.kind for region in again.regions] == [region.kind for region in page.regions]
            for name in ("boxes", "sizes", "lines", "flags", "owners"):
                assert np.array_equal(getattr(again, name), getattr(page, name))
            assert len(page.to_bytes()) < 20_000


def test_a_region_without_a_place_survives_the_checkpoint(layouts: dict[str, list[PageLayout]]) -> None:
    page = next(page for pages in layouts.values() for page in pages if page.regions)
    nowhere = replace(page.regions[0], box=(float("nan"), 0.0, float("inf"), 1.0))
    again = PageLayout.from_bytes(replace(page, regions=(nowhere,)).to_bytes())
    assert np.array_equal(again.regions[0].box, nowhere.box, equal_nan=True)


def test_a_checkpoint_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="not a page"):
        PageLayout.from_bytes(b"GWP0" + pdfs.blank())
