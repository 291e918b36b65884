"""What the page viewer is given of a document: words with what stands between them, headings, matches."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.types import Document
from tests import pdfs, prepared
from ui.viewer import document_text


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    home: Path = tmp_path_factory.mktemp("reading")
    made = {"table": pdfs.ruled_table(), "hyphens": pdfs.hyphenated(), "survey": pdfs.one_column()}
    with Engine.open(home) as engine:
        ids = {name: prepared.read(engine, data, f"{name}.pdf") for name, data in made.items()}
        return {name: engine.document(doc_id) for name, doc_id in ids.items()}


def copied(read: Document, page: int = 1) -> str:
    return "".join(f"{text}{after}" for *_, text, after in document_text.words(read, page))


def test_words_cut_by_a_line_end_are_whole_when_copied(documents: dict[str, Document]) -> None:
    text = copied(documents["hyphens"])
    assert "every international body" in text
    assert "A well-known engineer" in text
    assert "-\n" not in text


def test_a_table_is_copied_as_rows_with_tabs(documents: dict[str, Document]) -> None:
    rows = [line.split("\t") for line in copied(documents["table"]).splitlines()]
    for row in pdfs.TABLE[1:]:
        assert list(row) in rows


def test_paragraphs_and_headings_are_lines_of_their_own(documents: dict[str, Document]) -> None:
    lines = copied(documents["survey"]).splitlines()
    assert "Findings" in lines
    assert pdfs.FINDING in lines


def test_boxes_lie_on_the_page_in_order_of_the_text(documents: dict[str, Document]) -> None:
    read = documents["survey"]
    words = document_text.words(read, 1)
    sheet = read.pages[0]
    assert all(0 <= x0 < x1 <= sheet.width and 0 <= y0 < y1 <= sheet.height for x0, y0, x1, y1, *_ in words)
    assert [text for *_, text, _ in words] == copied(read).split()
    assert document_text.words(read, 2) == []


def test_sections_have_the_places_of_their_headings(documents: dict[str, Document]) -> None:
    read = documents["survey"]
    sections = document_text.sections(read)
    assert [(heading, page) for _, heading, page, *_ in sections] == [("Larkfield Water Survey", 1), ("Findings", 1)]
    assert [boxes[0][2] for *_, boxes in sections] == pytest.approx([75, 200], abs=12)
    assert [read.text[start:].startswith(heading) for _, heading, _, start, _, _ in sections] == [True, True]
    assert sections[-1][4] == read.body_end


def test_searches_follow_a_document_that_is_built_anew(documents: dict[str, Document]) -> None:
    read = documents["survey"]
    found = document_text.found(read, "orchard lane")
    assert found["count"] == sum(count for _, count in found["pages"]) > 0
    assert len(document_text.found_on(read, "orchard lane", 1)) == found["count"]
    finder = document_text.finders.of(read)
    assert document_text.finders.of(read) is finder
    for other in ("table", "hyphens"):
        assert document_text.finders.of(documents[other]) is not finder
