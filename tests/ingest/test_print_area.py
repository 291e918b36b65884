"""Pages that are printed small: which part of them is enlarged for the layout model, and what stays whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from ragcore.config.settings import Settings
from ragcore.ingest.layout import Rect
from ragcore.ingest.parse import parse_pages
from ragcore.ingest.regions import print_area
from tests import pdfs

WHOLE = (0.0, 0.0, *pdfs.PAGE)


def area(*, words: int = 200, size: float = 5.0, width: float = 270.0, foot: float = 0.0) -> Rect:
    """Print area of a page with ``words`` in lines of 20 from (150, 40), and one more at ``foot``."""
    lines, columns = np.divmod(np.arange(words), 20)
    left, top = 150 + columns * width / 20, 40 + lines * 7.0
    boxes = np.stack([left, top, left + width / 20, top + 5], axis=1).astype(np.float32)
    if foot:
        boxes = np.vstack([boxes, np.asarray([[300, foot, 310, foot + 5]], np.float32)])
    return print_area(boxes, np.full(len(boxes), size, np.float32), WHOLE)


def test_a_small_print_has_margins_and_the_pages_proportions() -> None:
    left, top, right, foot = area()
    assert (left, top, right) == pytest.approx((123, 13, 447))
    assert (foot - top) / (right - left) == pytest.approx(pdfs.PAGE[1] / pdfs.PAGE[0])


@pytest.mark.parametrize(
    "changes",
    [{"words": 30}, {"size": 9.0}, {"width": 440.0}, {"width": 90.0}, {"foot": 770.0}, {"words": 0}],
    ids=["a caption", "common type", "the whole width", "a column of labels", "a footer at the edge", "no words"],
)
def test_other_pages_are_laid_out_whole(changes: dict[str, Any]) -> None:
    assert area(**changes) == WHOLE


def test_an_image_beside_a_small_print_is_not_lost(tmp_path: Path, settings: Settings) -> None:
    document = pymupdf.open(stream=pdfs.shrunken(pdfs.ruled_table()), filetype="pdf")
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 200, 120))
    pixmap.set_rect(pixmap.irect, (60, 120, 200))
    document[0].insert_image(pymupdf.Rect(100, 500, 500, 740), pixmap=pixmap)
    path = pdfs.write(tmp_path, "beside.pdf", document.tobytes())
    (page,) = parse_pages(path, [1], settings=settings.ingest)
    assert [round(region.box[1]) for region in page.regions if region.kind == "picture"][-1:] == [500]
