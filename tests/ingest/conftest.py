"""One parse for all tests of this folder: every sample PDF becomes pages of one file, read once by real children."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import pymupdf
import pytest

from ragcore.config.settings import Settings, load
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.types import Document
from tests import pdfs, prepared


def _shrunken(name: str) -> bytes:
    return pdfs.shrunken(sample(name))


SHRUNKEN = ("ruled_table", "statement", "days_over_years", "multi_level_table")
SAMPLES: dict[str, Callable[[], bytes]] = {
    "one_column": pdfs.one_column,
    "two_columns": pdfs.two_columns,
    "ruled_table": pdfs.ruled_table,
    "borderless_table": pdfs.borderless_table,
    "multi_level_table": pdfs.multi_level_table,
    "hyphenated": pdfs.hyphenated,
    "running_headers": pdfs.running_headers,
    "page_break_paragraph": pdfs.page_break_paragraph,
    "figure": pdfs.figure,
    "figures_in_columns": pdfs.figures_in_columns,
    "line_numbers": pdfs.line_numbers,
    "footnote": pdfs.footnote,
    "contents": pdfs.contents,
    "filing": pdfs.filing,
    "filing_of_a_picture": partial(pdfs.filing, named=False),
    "filing_without_a_caption": partial(pdfs.filing, captioned=False),
    "watermarked": pdfs.watermarked,
    "watermarked_upright": partial(pdfs.watermarked, 1, diagonal=False),
    "with_logo": pdfs.with_logo,
    "printed_twice": pdfs.printed_twice,
    "three_columns": pdfs.three_columns,
    "blank": pdfs.blank,
    "table_over_pages": pdfs.table_over_pages,
    "table_over_pages_plain": partial(pdfs.table_over_pages, header=False, again=""),
    "table_over_pages_moved": partial(pdfs.table_over_pages, again="", moved=6.0),
    "tables_alike": pdfs.tables_alike,
    "marked_table": pdfs.marked_table,
    "statement": pdfs.statement,
    "quarters": pdfs.quarters,
    "ranges": pdfs.ranges,
    "days_over_years": pdfs.days_over_years,
    "shadowed": pdfs.shadowed,
    "typed_fund": partial(pdfs.typed, pdfs.TYPED_FUND),
    "typed_pipe": partial(pdfs.typed, pdfs.TYPED_PIPE),
    "typed_wells": partial(pdfs.typed, pdfs.TYPED_WELLS),
    "typed_prose": partial(pdfs.typed, pdfs.TYPED_PROSE),
    **{f"rotated_{angle}": partial(pdfs.rotated, angle) for angle in (90, 180, 270)},
    **{f"rotated_table_{angle}": partial(pdfs.rotated_table, angle) for angle in (90, 270)},
    **{f"{name}_shrunken": partial(_shrunken, name) for name in SHRUNKEN},
    **{f"cropped_{angle}": partial(pdfs.cropped, angle) for angle in (0, 90, 180, 270)},
}


@cache
def sample(name: str) -> bytes:
    return SAMPLES[name]()


Build = Callable[[str], Document]


@pytest.fixture(scope="session")
def settings() -> Settings:
    return load()[0]


@pytest.fixture(scope="session")
def layouts(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> dict[str, list[PageLayout]]:
    """The pages of each sample, numbered from 1 within it."""
    whole = pymupdf.open()
    places: dict[str, range] = {}
    for name in SAMPLES:
        pdf = pymupdf.open(stream=sample(name), filetype="pdf")
        places[name] = range(len(whole) + 1, len(whole) + 1 + len(pdf))
        whole.insert_pdf(pdf)
    path = pdfs.write(tmp_path_factory.mktemp("samples"), "samples.pdf", whole.tobytes())
    pages = dict(enumerate(prepared.layouts(path, settings), start=1))
    assert all(page.degraded is None for page in pages.values())
    return {
        name: [replace(pages[number], number=place) for place, number in enumerate(numbers, start=1)]
        for name, numbers in places.items()
    }


@pytest.fixture(scope="session")
def build(layouts: dict[str, list[PageLayout]], settings: Settings) -> Build:
    """A sample's name → its document."""

    def make(name: str) -> Document:
        pages = layouts[name]
        info = FileInfo(pages=len(pages))
        return build_document("0123456789abcdef", "0" * 64, f"{name}.pdf", info, pages, settings)

    return make
