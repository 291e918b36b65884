"""A few pages of real files, where the measuring data is at hand: a 10-K, a two-column article, a draft guidance."""

from __future__ import annotations

import os
from pathlib import Path

import pymupdf
import pytest

from ragcore.config.settings import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo
from ragcore.ingest.parse import parse_pages
from ragcore.types import Document
from tests.ingest.test_grounding import characters, inside, pymupdf_words, spans

DATA = Path(os.environ.get("GROUNDWORK_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
FILES = {
    "nike/NIKE_2023_10K.pdf": (42, 60),
    "gov-pdfs/FDA_Refuse_to_File_NDA_BLA_draft_2017.pdf": (5,),
    "icdar2013-eu/pdf/eu-015.pdf": (1,),
}


def read(name: str, pages: tuple[int, ...], settings: Settings) -> tuple[Path, Document]:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"the measuring data is not here: {path}")
    layouts = list(parse_pages(path, pages, settings=settings.ingest))
    return path, build_document("d" * 16, "0" * 64, path.name, FileInfo(pages=len(pages)), layouts, settings)


@pytest.mark.parametrize("name", FILES)
def test_boxes_hold_exactly_the_words(name: str, settings: Settings) -> None:
    path, document = read(name, FILES[name], settings)
    with pymupdf.open(path) as pdf:
        words = {number: pymupdf_words(pdf[number - 1]) for number in FILES[name]}
    for start, end in spans(document):
        boxes = document.boxes(start, end)
        found = " ".join(inside(words[n], [b for b in boxes if b.page == n]) for n in document.pages_of(start, end))
        assert characters(found) == characters(document.text[start:end])
    for number, printed in words.items():
        own = (document.words.pages == number) & ~document.words.repeated
        mapped = zip(document.words.starts[own].tolist(), document.words.ends[own].tolist())
        assert characters("".join(document.text[a:b] for a, b in mapped)) == characters(
            "".join(text for _rect, text in printed)
        )


def test_a_row_of_a_statement_carries_its_headers(settings: Settings) -> None:
    _path, document = read("nike/NIKE_2023_10K.pdf", (42,), settings)
    assert "Footwear | FISCAL 2023: $ 8,260 | FISCAL 2022: $ 7,388 | % CHANGE: 12 %" in document.text
