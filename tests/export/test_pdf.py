"""PDFs: bookmarks, links there and back, page numbers, fonts of its own, nothing beyond the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pymupdf
import pytest

from ragcore.config.settings import load
from ragcore.export.markdown import parse
from ragcore.export.pdf import write
from ragcore.export.tree import Manuscript, heading, paragraph
from tests.export import samples

SETTINGS = load(environ={})[0].export


@pytest.fixture(scope="module")
def document() -> Iterator[Any]:
    with pymupdf.open("pdf", write(samples.rich(), SETTINGS)) as opened:
        yield opened


def test_every_question_is_a_bookmark_to_its_heading(document: Any) -> None:
    marks = document.get_toc(simple=False)
    assert [level for level, *_ in marks] == [1, 2, 1, 1, 1, 1, 1, 1, 1]
    assert marks[0][1] == "1. What did it spend in 2018?"
    assert "much […] much why" in marks[4][1], "with the blanks at line ends"
    for _, words, page, place in marks:
        [found, *_] = document[page - 1].search_for(words[:20]) or [None]
        if found is not None:  # right-to-left words are not searched for
            assert abs(found.y0 - place["to"].y) < 20


def test_a_reference_leads_to_its_note_and_the_note_back(document: Any) -> None:
    links = [(page.number, link) for page in document for link in page.get_links()]
    inside = [(number, link) for number, link in links if link["kind"] == pymupdf.LINK_GOTO]
    assert len(inside) == 14 + 10, "one for each reference, one for each note"
    for number, link in inside:
        words = document[number].get_textbox(link["from"]).strip()
        assert words.isdecimal()
        target = document[link["page"]]
        below = pymupdf.Rect(0, link["to"].y, target.rect.width, link["to"].y + 40)
        assert words in target.get_textbox(below)
    outside = {link["uri"] for _, link in links if link["kind"] == pymupdf.LINK_URI}
    assert outside == {"https://www.sec.gov/edgar?a=1&b=2"}


def test_it_tells_what_it_is_and_not_who_made_it(document: Any) -> None:
    about = document.metadata
    assert (about["title"], about["author"], about["creator"]) == ("Capital spending of 3M", "", "")
    assert about["creationDate"] == "D:20260922151320Z"
    assert document.language.startswith("en")


def test_pages_are_numbered_and_its_fonts_are_in_it(document: Any) -> None:
    for number, page in enumerate(document, start=1):
        assert f"{number} / {len(document)}" in page.get_text()
        for reference, ending, *_ in page.get_fonts():
            name, kind, _, data = document.extract_font(reference)
            assert ending != "n/a" or name == "Helvetica", f"{name} {kind} is not embedded"
            assert data or name == "Helvetica"
    assert len(document.tobytes()) < 150_000, "only the characters that are used, also of the one for Chinese"


def test_every_script_has_its_letters() -> None:
    letters = "Aéß Ωμέγα Жук 中文 日本語 한국어 ∑∫√≤≠→ ½ ² ₂ € ☐ ✓ ไทย שלום"
    with pymupdf.open("pdf", write(Manuscript("T", [paragraph(letters)]), SETTINGS)) as opened:
        raw = opened[0].get_text("rawdict")
    shown = [
        char["c"]
        for block in raw["blocks"]
        for line in block["lines"]
        for span in line["spans"]
        for char in span["chars"]
    ]
    assert set(letters) - {" "} <= set(shown)
    assert "\ufffd" not in shown


def test_nothing_is_beyond_the_page() -> None:
    long, many = "x" * 600, 14
    row = "| " + " | ".join(f"Column {i} {'12,345,678' * 2}" for i in range(many)) + " |\n"
    grid = row + "|---" * many + "|\n" + row * 2
    made = Manuscript("T", parse(f"# {long}\n\n{long}\n\n{grid}\n| {long} | b |\n|---|---|\n| c | {long} |"))
    with pymupdf.open("pdf", write(made, SETTINGS)) as opened:
        spans = [
            (page.rect.width, span["bbox"])
            for page in opened
            for block in page.get_text("dict")["blocks"]
            for line in block["lines"]
            for span in line["spans"]
        ]
    assert all(box[0] >= 40 and box[2] <= width - 40 for width, box in spans)


def test_a_heading_is_not_left_alone_at_the_end_of_a_page() -> None:
    for lines in range(38, 60):
        blocks = [*(paragraph(f"line {i}") for i in range(lines)), heading(1, "Heading")]
        made = Manuscript("T", [*blocks, *(paragraph(f"under {i}") for i in range(6))])
        with pymupdf.open("pdf", write(made, SETTINGS)) as opened:
            [page] = [page for page in opened if page.search_for("Heading")]
            assert page.search_for("under 0"), lines


@pytest.mark.parametrize(("paper", "width"), [("a4", 595), ("letter", 612)])
def test_the_paper_is_that_of_the_settings(paper: str, width: float) -> None:
    data = write(samples.made(), SETTINGS.model_copy(update={"paper": paper}))
    with pymupdf.open("pdf", data) as opened:
        assert round(opened[0].rect.width) == width
