"""A report as one HTML file with pictures of what it cites, and the annex of pages: every cited place is lit there."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image

from ragcore.engine import Engine
from ragcore.export import kind as export_kind
from ragcore.export.evidence import write_annex
from ragcore.export.tree import Manuscript
from ragcore.report.files import KINDS
from ragcore.report.template import from_data
from ragcore.types import Box
from ragcore.types.report import Report
from tests import pdfs, prepared
from tests.export import samples

TEMPLATE = from_data(
    {
        "title": "Survey <report>",
        "sections": [
            {"heading": "Findings", "guidance": "State the highest nitrate reading."},
            {"heading": "Nitrate in wells", "guidance": "State the limit of nitrate and the wells above it."},
            {"heading": "Dividends", "kind": "value", "guidance": "Dividends per share."},
        ],
    }
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Report, str]]:
    with Engine.open(home=tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"}) as engine:
        doc_id = prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
        yield engine, engine.fill(TEMPLATE).run(), doc_id


def test_the_html_holds_everything_and_loads_nothing(filled: tuple[Engine, Report, str]) -> None:
    engine, report, _ = filled
    page = engine.write_report(report, "html").decode()
    assert "<h1>Survey &lt;report&gt;</h1>" in page
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!data:image/png;base64,|#)""", page)
    cited = sum(len(section.answer.citations) for section in report.sections if section.answer)
    pictures = re.findall(r'<figure><img src="data:image/png;base64,([^"]+)"[^>]*>((?:<i[^>]*></i>)+)</figure>', page)
    assert len(pictures) == cited > 0
    for data, marks in pictures:
        assert base64.b64decode(data).startswith(b"\x89PNG")
        for left, top, width, height in re.findall(
            r"left:([\d.]+)%;top:([\d.]+)%;width:([\d.]+)%;height:([\d.]+)%", marks
        ):
            assert 0 <= float(left) < float(left) + float(width) <= 100.001
            assert 0 <= float(top) < float(top) + float(height) <= 100.001
    assert "[INSUFFICIENT DATA: Dividends per share]" in page


def test_the_annex_has_every_cited_page_once_with_its_places_marked(filled: tuple[Engine, Report, str]) -> None:
    engine, report, doc_id = filled
    citations = [one for section in report.sections if section.answer for one in section.answer.citations]
    with pymupdf.open(stream=engine.write_report(report, "annex")) as annex:
        assert len(annex) == len({(one.doc_id, one.page) for one in citations})
        (page,) = annex
        assert len(page.get_images()) == 1
        text = page.get_text()
        numbers = {int(number) for number in re.findall(r"\[(\d+)\]", text)}
        assert numbers == set(range(1, max(numbers) + 1))
        # The ground of each cited word is lit on the picture, and its ink is as dark as on the page.
        picture = page.get_image_rects(page.get_images()[0][0])[0]
        sheet = engine.document(doc_id).pages[0]
        for citation in citations:
            for box in citation.boxes:
                shares = (box.x0 / sheet.width, box.y0 / sheet.height, box.x1 / sheet.width, box.y1 / sheet.height)
                across, down = (picture.x0, picture.y0), (picture.width, picture.height)
                x0, y0, x1, y1 = (across[i % 2] + share * down[i % 2] for i, share in enumerate(shares))
                shown = page.get_pixmap(dpi=200, clip=pymupdf.Rect(x0 + 1, y0 + 1, x1 - 1, y1 - 1))
                with Image.open(io.BytesIO(shown.tobytes("png"))) as lit:
                    pixels = np.asarray(lit.convert("RGB")).reshape(-1, 3).tolist()
                assert max(pixels, key=sum) == pytest.approx((255, 212, 59), abs=12)
                assert max(min(pixels, key=sum)) < 90


def test_a_document_that_is_gone_is_told_in_the_place_of_its_pages(
    filled: tuple[Engine, Report, str], tmp_path: Path
) -> None:
    _, report, _ = filled
    with Engine.open(home=tmp_path / "empty", overrides={"llm.model": "offline"}) as other:
        assert "no longer in the library" in other.write_report(report, "html").decode()
        with pymupdf.open(stream=other.write_report(report, "annex")) as annex:
            assert "no longer in the library" in annex[0].get_text()


def test_every_kind_is_written_and_others_are_refused(filled: tuple[Engine, Report, str]) -> None:
    engine, report, _ = filled
    for kind in KINDS:
        assert engine.write_report(report, kind)
    with pytest.raises(Exception, match="Groundwork can't export to “xls”"):
        export_kind("xls", KINDS)


def test_the_line_above_a_page_of_the_annex_keeps_its_dashes_and_ends_at_the_margin(
    filled: tuple[Engine, Report, str],
) -> None:
    long = "Část 312 — Investigational New Drug Application – " + "Department of Health and Human Services " * 4
    engine, _, doc_id = filled
    note = samples.note(1, title=long, doc_id=doc_id, page=1, page_label="1")
    note = replace(note, citation=replace(note.citation, boxes=(Box(1, 72, 72, 200, 90),)))
    data = write_annex(Manuscript("T", [], (note,)), lambda *_: "not drawn", engine.settings.export)
    with pymupdf.open(stream=data) as annex:
        (page,) = annex
        (x0, _, x1, _, line, *_), *_ = page.get_text("blocks")
        assert line.startswith("Část 312 — Investigational New Drug")
        assert " […] " in line.split("\n")[0]
        assert x0 >= 35
        assert x1 <= page.rect.width - 35
