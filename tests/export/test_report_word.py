"""A report as a Word file, opened by LibreOffice: every citation is a footnote with document, page and quote; headings,
tables, gaps and the documents are there."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from docx.oxml.ns import qn

from ragcore.engine import Engine
from ragcore.report.template import from_data
from ragcore.types.report import Report
from tests import prepared
from tests.export.office import converted
from tests.export.reading import W, parts, squeezed
from tests.report.truths import _pdf

REGIONS = [["Region", "2023", "2022"], ["Americas", "1,204", "1,110"], ["Europe", "845", "790"], ["Asia", "512", "498"]]
TEMPLATE = from_data(
    {
        "title": "Northwind: a profile",
        "sections": [
            {
                "heading": "Business",
                "guidance": "Describe what the company makes.",
                "sections": [
                    {"heading": "Employees", "kind": "value", "guidance": "How many employees the company has."},
                    {"heading": "Sales by region", "kind": "table", "columns": ["Region", "2023", "2022"]},
                ],
            },
            {"heading": "Risks", "kind": "list", "guidance": "The risks that the company names."},
            {"heading": "Dividends", "kind": "value", "guidance": "Dividends per share.", "required": False},
        ],
    }
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, bytes]:
    data = _pdf(
        "# Northwind annual report 2023",
        "## Business",
        "Northwind makes pumps and valves for water works. It sells them in three regions.",
        "## Sales by region",
        ("Sales by region, USD million", REGIONS),
        "## Staff",
        "At the end of 2023 the company had 412 employees in all.",
        "## Risks",
        "Prices of copper and steel may rise faster than ours. One customer accounts for a tenth of our sales.",
    )
    with Engine.open(home=tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"}) as engine:
        prepared.read(engine, data, "north.pdf")
        engine.index()
        report = engine.fill(TEMPLATE).run()
        return report, engine.write_report(report, "docx")


def test_its_footnotes_are_its_citations(written: tuple[Report, bytes]) -> None:
    report, data = written
    cited = [one for section in report.sections if section.answer for one in section.answer.citations]
    document, footnotes = parts(data)
    notes = ["".join(note.itertext()) for note in footnotes.xpath("w:footnote[not(@w:type)]", namespaces=W)]
    references = list(document.element.body.iter(qn("w:footnoteReference")))
    assert len(notes) == len(references) == len(cited) >= 10
    for note, citation in zip(notes, cited):
        assert squeezed(f"{citation.title}, p. {citation.page_label}") in squeezed(note)
        assert squeezed(citation.quote) in squeezed(note)


def test_libreoffice_shows_every_footnote_heading_table_and_gap(written: tuple[Report, bytes], tmp_path: Path) -> None:
    report, data = written
    notes = parts(data)[1].xpath("w:footnote[not(@w:type)]", namespaces=W)
    flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES
    with pymupdf.open("pdf", converted(data, tmp_path)) as pages:
        text = [squeezed(page.get_text(flags=flags)) for page in pages]
        outline = [words for _, words, _ in pages.get_toc()]
    words = "".join(text)
    title = next(one.title for section in report.sections if section.answer for one in section.answer.citations)
    assert words.count(squeezed(f"{title}, p. 1")) == len(notes)
    for number, note in enumerate(notes, start=1):
        assert squeezed(f"{number}{''.join(note.itertext())}") in words, number
    for section in report.sections:
        assert f"{section.number} {section.heading}" in outline
    assert {"Missing"} < set(outline)
    for cells in REGIONS:
        assert "".join(squeezed(cell) for cell in cells[:1]) in words
    assert "[INSUFFICIENTDATA:Dividendspershare]" in words
    assert "north.pdf" in words, "the documents that were cited are named at the end"
    assert "Error" not in words
