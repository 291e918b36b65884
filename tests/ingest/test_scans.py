"""A scanned file from ingest to the lit words of an answer, and one that OCR may read only later."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from ragcore.engine import Engine
from ragcore.types import json as wire
from tests import pdfs

QUESTION = "What was the highest nitrate reading?"


def open_engine(home: Path, **overrides: object) -> Engine:
    return Engine.open(home=home, overrides={"llm.model": "offline", **overrides})


@pytest.mark.slow
def test_from_scan_to_lit_words(tmp_path: Path) -> None:
    engine = open_engine(tmp_path)
    data = pdfs.scanned(pdfs.one_column(), turn=90, rotation=180)
    report = engine.ingest(engine.add(data, "scan.pdf").doc_id)
    assert (report.status, report.pages, report.ocr_pages, report.degraded_pages) == ("ready", 1, 1, 0)
    engine.index()
    answer = engine.ask(QUESTION).run()
    assert not answer.refused
    cited = next(item for item in answer.citations if "61.4" in item.quote)
    assert cited.ocr is not None
    assert cited.ocr > 0.9
    assert wire.answer(answer)["citations"][cited.n - 1]["ocr"] == cited.ocr

    document = engine.document(report.doc_id)
    page = document.pages[0]
    assert page.ocr is not None
    assert (page.width, page.height, page.rotation) == (792, 612, 180)
    assert cited.boxes == document.boxes(cited.start, cited.end)
    # The boxes must hold the quote's words where they are printed, and no other words.
    source = pymupdf.open(stream=pdfs.one_column(), filetype="pdf")[0]
    lit: list[str] = []
    for x0, y0, x1, y1, text, *_rest in source.get_text("words"):
        # Turned clockwise by 90 degrees, as the scan shows it.
        x, y = source.rect.height - (y0 + y1) / 2, (x0 + x1) / 2
        if any(box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1 for box in cited.boxes):
            lit.append(text)
    assert " ".join(lit) == " ".join(cited.quote.split())

    info = engine.documents()[0]
    assert info.ocr_pages == 1
    assert info.ocr_confidence > 90


@pytest.mark.slow
def test_what_could_not_be_read_is_read_again_once_ocr_is_on(tmp_path: Path) -> None:
    off = open_engine(tmp_path, **{"ocr.mode": "off"})
    doc_id = off.add(pdfs.scanned(pdfs.note()), "scan.pdf").doc_id
    report = off.ingest(doc_id)
    assert report.status == "failed"
    assert report.error is not None
    assert report.error["code"] == "no_text"
    assert "OCR is off" in report.error["message"]
    assert "ocr.mode" in report.error["hint"]

    report = open_engine(tmp_path).ingest(doc_id)
    assert (report.status, report.ocr_pages) == ("ready", 1)


@pytest.mark.slow
def test_pages_left_out_of_a_mixed_file_are_read_once_ocr_is_on(tmp_path: Path) -> None:
    off = open_engine(tmp_path, **{"ocr.mode": "off"})
    data = pdfs.joined(pdfs.one_column(), pdfs.scanned(pdfs.note()))
    doc_id = off.add(data, "mixed.pdf").doc_id
    report = off.ingest(doc_id)
    assert (report.status, report.ocr_pages, report.degraded_pages) == ("ready", 0, 1)
    assert off.stale() == []
    assert open_engine(tmp_path, **{"ocr.language": "de", "ocr.mode": "off"}).stale() == []

    on = open_engine(tmp_path)
    assert on.stale() == [doc_id]
    first = on.store.page_layouts(doc_id)[0]
    report = on.ingest(doc_id)
    assert (report.status, report.ocr_pages, report.degraded_pages) == ("already", 1, 0)
    assert pdfs.INTRO.split()[-1] in on.document(doc_id).text.split()
    assert on.store.page_layouts(doc_id)[0] == first
    assert on.stale() == []
    # What OCR has read stays as it is.
    assert open_engine(tmp_path, **{"ocr.mode": "off"}).stale() == []
