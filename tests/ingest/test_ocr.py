"""Pages that OCR reads, through the real child processes: which they are, what comes of them, and that every word
stands where it is printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pymupdf
import pytest

from ragcore.config.settings import OcrSettings, Settings
from ragcore.errors import ModelDamaged, ModelMissing, NoText
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout, turned
from ragcore.ingest.legible import garbled
from ragcore.ingest.ocr.engine import recogniser
from ragcore.ingest.ocr.scan import choose
from ragcore.ingest.parse import parse_pages
from ragcore.ingest.process import STRIKES
from ragcore.types import WordMap
from tests import pdfs, prepared

OWN_OCR = "A scanner has written what it read over this page, in letters that nobody sees. " * 3
LICENCE = (
    "Downloaded from https://archive.example.org on 20 November 2026 by guest. This copy is licensed for personal "
    "study only; no further reproduction or distribution is permitted without the consent of the publisher."
)
FILE = {
    "scan": pdfs.scanned(pdfs.note()),
    "text": pdfs.note(),
    "sideways": pdfs.scanned(pdfs.note(), turn=90),
    "upside_down": pdfs.scanned(pdfs.note(), turn=180),
    "turned_page": pdfs.scanned(pdfs.note(), rotation=270),
    "blank": pdfs.scanned(pdfs.blank()),
    "private": pdfs.broken_encoding(0xE020),
    "shifted": pdfs.broken_encoding(0x0003),
    "hidden_text": pdfs.hidden_text(OWN_OCR),
    "stamped": pdfs.hidden_text("Received 12 May"),
    "table": pdfs.scanned(pdfs.ruled_table()),
}
READ_BY_OCR = {"scan", "sideways", "upside_down", "turned_page", "private", "shifted", "stamped", "table"}
TURNS = {"sideways": 90, "upside_down": 180}


def read(folder: Path, data: bytes, settings: Settings, **ocr: object) -> list[PageLayout]:
    path = pdfs.write(folder, "file.pdf", data)
    pages = range(1, len(pymupdf.open(path)) + 1)
    chosen = settings.ocr.model_copy(update=ocr)
    return sorted(parse_pages(path, pages, settings=settings.ingest, ocr=chosen), key=lambda page: page.number)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> dict[str, PageLayout]:
    """All of `FILE` as one document with text, scans and broken pages, read once."""
    path = pdfs.write(tmp_path_factory.mktemp("ocr"), "file.pdf", pdfs.joined(*FILE.values()))
    return dict(zip(FILE, prepared.layouts(path, settings, settings.ocr), strict=True))


def printed(data: bytes) -> list[tuple[str, tuple[float, float, float, float]]]:
    return [(word[4], word[:4]) for word in pymupdf.open(stream=data, filetype="pdf")[0].get_text("words")]


def overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - width * height
    return width * height / union


@pytest.mark.slow
def test_only_pages_without_usable_text_are_read_by_ocr(pages: dict[str, PageLayout]) -> None:
    assert {name for name, page in pages.items() if page.ocr is not None} == READ_BY_OCR
    assert all(page.degraded is None for page in pages.values())
    assert pages["blank"].texts == ()
    assert " ".join(pages["hidden_text"].texts) == OWN_OCR.strip()


@pytest.mark.parametrize("name", sorted(READ_BY_OCR - {"table"}))
def test_the_words_are_those_printed_and_stand_where_they_are(pages: dict[str, PageLayout], name: str) -> None:
    page, truth = pages[name], printed(pdfs.note())
    assert page.turn == TURNS.get(name, 0)
    assert page.frame == (400, 200)
    assert list(page.texts) == [text for text, _box in truth]
    for (text, box), found in zip(truth, page.boxes.tolist(), strict=True):
        shown = turned(box, page.turn, 400, 200)
        assert overlap(page.displayed(tuple(found)), shown) > 0.5, text
    assert page.confidence is not None
    assert page.confidence.dtype == np.uint8
    assert page.confidence.min() > 50
    assert page.ocr is not None
    assert page.ocr > 0.9


def test_headings_and_tables_of_a_scan_are_found(pages: dict[str, PageLayout], settings: Settings) -> None:
    scan = build_document("d", "0" * 64, "scan.pdf", FileInfo(1), [replace(pages["scan"], number=1)], settings)
    kinds = {e.kind: scan.text[e.start : e.end] for e in scan.elements}
    assert kinds["heading"] == "Larkfield Water Survey"
    assert kinds["paragraph"] == pdfs.INTRO
    page = replace(pages["table"], number=1)
    table = next(
        e.table
        for e in build_document("d", "0" * 64, "table.pdf", FileInfo(1), [page], settings).elements
        if e.table is not None
    )
    assert (table.rows, table.columns) == (len(pdfs.TABLE), len(pdfs.TABLE[0]))


def test_the_document_knows_what_ocr_read_and_how_surely(pages: dict[str, PageLayout], settings: Settings) -> None:
    chosen = [replace(pages[name], number=n) for n, name in enumerate(("text", "scan"), start=1)]
    document = build_document("d", "0" * 64, "mixed.pdf", FileInfo(2), chosen, settings)
    own, scanned = document.pages
    assert own.ocr is None
    assert scanned.ocr == pages["scan"].ocr
    first, last = document.body[0], document.body[-1]
    assert document.ocr_confidence(first.start, first.end) is None
    confidence = document.ocr_confidence(last.start, last.end)
    assert confidence is not None
    assert 0.9 < confidence <= 1
    assert document.words.confidence[document.words.pages == 1].tolist() == [100] * len(pages["text"].texts)


def test_the_text_layer_stays_unless_ocr_shows_that_it_is_worse() -> None:
    words = pdfs.INTRO.split()
    stamp = "Received 12 May"
    assert choose(stamp, words, 99, "auto") == (False, None)
    assert choose(stamp, stamp.split(), 99, "auto") == (True, None)
    assert choose(stamp, stamp.split(), 99, "force") == (False, None)
    assert choose("\x01\x02\x03", stamp.split(), 99, "auto") == (False, None)
    codes = "MTNG PSHFT XKCD QPWM VBNT " * 8
    assert garbled(codes)
    assert choose(codes, codes.split(), 99, "auto") == (True, None)
    assert choose(codes, words, 99, "auto") == (False, None)
    kept, problem = choose(codes, words, 55, "auto")
    assert kept
    assert problem is not None
    assert "OCR couldn't read it" in problem


def licensed(source: bytes) -> bytes:
    """``source`` with `LICENCE` printed in the foot of its first page."""
    document = pymupdf.open(stream=source, filetype="pdf")
    page = document[0]
    page.insert_textbox((40, page.rect.height - 40, page.rect.width - 40, page.rect.height - 5), LICENCE, fontsize=8)
    return bytes(document.tobytes())


def pasted(*, own_text: bool) -> bytes:
    """A page with a paragraph of text, and below it a scan of a page of prose; or the prose as text on a page-wide
    picture of the same."""
    document = pymupdf.open()
    page = document.new_page(width=612, height=792)
    source = pymupdf.open(stream=pdfs.one_column(), filetype="pdf")
    page.insert_textbox((72, 50, 540, 140), pdfs.INTRO, fontsize=11)
    part, place = pymupdf.Rect(0, 40, 612, 440), pymupdf.Rect(72, 150, 540, 456)
    page.insert_image(place, pixmap=source[0].get_pixmap(dpi=200, clip=part))
    if own_text:
        page.show_pdf_page(place, source, clip=part)
    return bytes(document.tobytes())


def over(background: bytes) -> bytes:
    """A page of prose as text on ``background``, which is as large."""
    source = pymupdf.open(stream=pdfs.one_column(), filetype="pdf")
    document = pymupdf.open(stream=background, filetype="pdf")
    document[0].show_pdf_page(document[0].rect, source)
    return bytes(document.tobytes())


def shaded() -> bytes:
    """A page that a picture of one colour fills."""
    document = pymupdf.open()
    colour = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 200, 260))
    colour.set_rect(colour.irect, (220, 230, 200))
    sheet = document.new_page(width=612, height=792)
    sheet.insert_image(sheet.rect, pixmap=colour)
    return bytes(document.tobytes())


@pytest.fixture(scope="module")
def pictured(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> dict[str, PageLayout]:
    """Pages that are text in part and picture in part, read once."""
    folder = tmp_path_factory.mktemp("pictured")
    whole = {
        "stamped scan": licensed(pdfs.scanned(pdfs.one_column())),
        "text on its scan": licensed(over(pdfs.scanned(pdfs.one_column()))),
        "text on a colour": licensed(over(shaded())),
    }
    path = pdfs.write(folder, "whole.pdf", pdfs.joined(*whole.values()))
    found = dict(zip(whole, prepared.layouts(path, settings, settings.ocr), strict=True))
    partly = {
        "pasted scan": pasted(own_text=False),
        "pasted scan with its text": pasted(own_text=True),
    }
    return found | dict(zip(partly, read(folder, pdfs.joined(*partly.values()), settings), strict=True))


@pytest.mark.slow
def test_a_scan_under_a_long_stamp_is_read_whole(pictured: dict[str, PageLayout]) -> None:
    page = pictured["stamped scan"]
    assert page.ocr is not None
    assert page.degraded is None
    text = " ".join(page.texts)
    assert "61.4" in text
    assert "licensed for personal study only" in text


@pytest.mark.parametrize("name", ["text on its scan", "text on a colour"])
def test_text_on_a_picture_of_the_whole_page_is_not_read_again(name: str, pictured: dict[str, PageLayout]) -> None:
    assert (pictured[name].ocr, pictured[name].degraded) == (None, None)


@pytest.mark.slow
def test_a_scan_pasted_below_text_is_not_left_out_silently(
    pictured: dict[str, PageLayout], tmp_path: Path, settings: Settings
) -> None:
    page = pictured["pasted scan"]
    assert page.texts
    assert page.degraded is not None
    assert "pictures" in page.degraded
    assert 'ocr.mode = "force"' in page.degraded
    assert pictured["pasted scan with its text"].degraded is None
    (page,) = read(tmp_path, pasted(own_text=False), settings, mode="force")
    assert page.degraded is None
    assert "61.4" in " ".join(page.texts)


def test_off_reads_nothing_by_ocr_and_says_so(tmp_path: Path, settings: Settings) -> None:
    text, scan, broken = read(tmp_path, pdfs.joined(FILE["text"], FILE["scan"], FILE["private"]), settings, mode="off")
    assert text.degraded is None
    assert scan.texts == ()
    assert scan.degraded == "this page has no text of its own; OCR is off (ocr.mode)"
    assert broken.ocr is None
    assert broken.degraded is not None
    assert "broken text layer" in broken.degraded
    with pytest.raises(NoText, match="OCR is off"):
        build_document("d", "0" * 64, "scan.pdf", FileInfo(1), [scan], settings)


@pytest.mark.slow
def test_pages_that_take_too_long_are_reported_and_ocr_is_given_up(tmp_path: Path, settings: Settings) -> None:
    data = pdfs.joined(FILE["text"], *[FILE["scan"]] * (STRIKES + 1))
    one_process = settings.model_copy(update={"ingest": settings.ingest.model_copy(update={"workers": 1})})
    text, *scans = read(tmp_path, data, one_process, page_seconds=0.05)
    assert text.texts
    assert all(scan.texts == () and scan.degraded is not None for scan in scans)
    late = (
        "read without the layout model: this page has no text of its own, and OCR couldn't read it: file.pdf: "
        "a step took longer than 0.05 s."
    )
    assert [scan.degraded for scan in scans[:-1]] == [late] * STRIKES
    assert "the layout model or OCR failed on several pages of this file" in str(scans[-1].degraded)


@pytest.mark.slow
def test_force_reads_every_page_that_is_not_blank(tmp_path: Path, settings: Settings) -> None:
    text, blank = read(tmp_path, pdfs.joined(FILE["text"], pdfs.blank()), settings, mode="force")
    assert text.ocr is not None
    assert list(text.texts) == [word for word, _box in printed(FILE["text"])]
    assert (blank.ocr, blank.texts, blank.degraded) == (None, (), None)


def test_a_language_whose_model_is_not_there_is_refused_with_its_address(tmp_path: Path, settings: Settings) -> None:
    arabic = settings.ocr.model_copy(update={"language": "arabic", "models": str(tmp_path)})
    with pytest.raises(ModelMissing) as missing:
        recogniser(arabic)
    assert "https://" in missing.value.hint
    assert "arabic_PP-OCRv5_rec_mobile.onnx" in missing.value.hint
    (tmp_path / "arabic_PP-OCRv5_rec_mobile.onnx").write_bytes(b"another file")
    with pytest.raises(ModelDamaged):
        recogniser(arabic)
    with pytest.raises(ModelMissing, match="klingon"):
        recogniser(OcrSettings.model_validate({**arabic.model_dump(), "language": "klingon"}))


@pytest.mark.parametrize("language", ["en", "ch", "japan", "de", "fr", "EN "])
def test_the_model_of_the_wheel_reads_many_languages(settings: Settings, language: str) -> None:
    found = recogniser(settings.ocr.model_copy(update={"language": language}))
    assert found.path.name == "PP-OCRv6_rec_small.onnx"


def test_a_missing_model_fails_the_file_and_not_the_page(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(ModelMissing, match="arabic"):
        read(tmp_path, FILE["scan"], settings, language="arabic", models=str(tmp_path))


def test_pages_keep_their_confidence_as_bytes(pages: dict[str, PageLayout]) -> None:
    page = pages["scan"]
    again = PageLayout.from_bytes(page.to_bytes())
    assert again.confidence is not None
    assert page.confidence is not None
    assert again.confidence.tolist() == page.confidence.tolist()
    assert again.ocr == page.ocr


def test_word_maps_keep_confidence() -> None:
    words = WordMap([0, 4], [3, 7], [1, 1], [[0, 0, 1, 1], [2, 0, 3, 1]], [False, False], [93, 41])
    assert WordMap.from_bytes(words.to_bytes()).confidence.tolist() == [93, 41]
    with pytest.raises(ValueError, match="one length"):
        WordMap([0], [3], [1], [[0, 0, 1, 1]], [False], [1, 2])
