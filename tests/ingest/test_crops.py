"""Parts of pages as pictures: the right part, whatever the rotation and crop box, and the same pixels for one image."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from numpy.typing import NDArray

from ragcore.config.settings import Settings
from ragcore.errors import GroundworkError
from ragcore.ingest.process import Child
from ragcore.types import Box
from tests import pdfs

ZOOM = 2


def pixels(picture: pymupdf.Pixmap) -> NDArray[np.int16]:
    rows = np.frombuffer(picture.samples, np.uint8).reshape(picture.h, picture.stride)[:, : picture.w * picture.n]
    return rows.reshape(picture.h, picture.w, picture.n).astype(np.int16)


@pytest.mark.parametrize(
    "make",
    [pdfs.one_column, lambda: pdfs.rotated(90), lambda: pdfs.cropped(0), lambda: pdfs.cropped(270)],
    ids=["upright", "rotated", "cropped", "cropped and rotated"],
)
def test_a_crop_is_that_part_of_the_displayed_page(
    make: Callable[[], bytes], tmp_path: Path, settings: Settings
) -> None:
    path = pdfs.write(tmp_path, "page.pdf", make())
    with pymupdf.open(path) as pdf:
        whole = pixels(pdf[0].get_pixmap(matrix=pymupdf.Matrix(ZOOM, ZOOM), colorspace=pymupdf.csRGB))
        words = [pymupdf.Rect(word[:4]) * pdf[0].rotation_matrix for word in pdf[0].get_text("words")]
        inside = pymupdf.Rect(20, 20, pdf[0].rect.width - 120, pdf[0].rect.height - 60)
    inked = next(rect for rect in words if rect in inside)
    x0, y0 = int(inked.x0) - 10, int(inked.y0) - 10
    with closing(Child(path, settings.ingest, name="page.pdf")) as child:
        crop = child.crop(Box(1, x0, y0, x0 + 120, y0 + 60), dpi=72 * ZOOM, max_pixels=10**6)
        small = child.crop(Box(1, x0, y0, x0 + 120, y0 + 60), dpi=72 * ZOOM, max_pixels=10_000)
    shown = pixels(pymupdf.Pixmap(crop.png))[: 60 * ZOOM, : 120 * ZOOM]
    there = whole[y0 * ZOOM : (y0 + 60) * ZOOM, x0 * ZOOM : (x0 + 120) * ZOOM]
    assert np.abs(shown[: there.shape[0], : there.shape[1]] - there).mean() < 2.0
    assert (there < 128).any()
    assert (crop.width, crop.height) == (120 * ZOOM + 1, 60 * ZOOM + 1)
    assert small.width * small.height <= 10_500


def test_one_image_gives_one_hash_wherever_it_stands(tmp_path: Path, settings: Settings) -> None:
    with pymupdf.open(stream=pdfs.one_column(), filetype="pdf") as source:
        image = source[0].get_pixmap(dpi=72)
    places = [(50.0, 50.0), (301.3, 402.1), (61.37, 500.11)]
    with pymupdf.open() as made:
        for x, y in places:
            made.new_page().insert_image(pymupdf.Rect(x, y, x + 200, y + 250), pixmap=image, keep_proportion=False)
        path = pdfs.write(tmp_path, "images.pdf", made.tobytes())
    with closing(Child(path, settings.ingest, name="images.pdf")) as child:
        found = {
            child.crop(Box(page, x, y, x + 200, y + 250), dpi=150, max_pixels=10**6).sha256
            for page, (x, y) in enumerate(places, start=1)
        }
        other = child.crop(Box(1, 50, 50, 240, 300), dpi=150, max_pixels=10**6).sha256
    assert len(found) == 1
    assert other not in found


def test_a_file_that_cannot_be_drawn_says_so(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "no.pdf", pdfs.not_a_pdf())
    with closing(Child(path, settings.ingest, name="no.pdf")) as child, pytest.raises(GroundworkError):
        child.crop(Box(1, 0, 0, 100, 100), dpi=150, max_pixels=10**6)
