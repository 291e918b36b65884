"""Tables that go on over a page end or into the next column: joined when they are one, and only then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragcore.config.settings import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.types import Document, Table
from ragcore.types.table_labels import LabelledTable
from tests import pdfs
from tests.ingest.conftest import Build
from tests.ingest.test_table_rules import page_with_table

HEAD = ["Well", "Nitrate", "Depth"]
FIRST = [["Mill Bridge", "12.0", "40"], ["Station Road", "3.1", "22"]]
SECOND = [["Orchard Lane", "58.2", "31"], ["Meadow Farm", "7.7", "18"]]


def tables_of(document: Document) -> list[Table]:
    return [e.table for e in document.elements if e.table is not None]


def built(settings: Settings, *pages: PageLayout) -> Document:
    numbered = [replace(page, number=number, label=str(number)) for number, page in enumerate(pages, start=1)]
    return build_document("d" * 16, "0" * 64, "t.pdf", FileInfo(pages=len(pages)), numbered, settings)


@pytest.mark.parametrize("name", ["table_over_pages", "table_over_pages_plain", "table_over_pages_moved"])
def test_a_table_over_two_pages_is_one_element_with_boxes_on_both(name: str, build: Build) -> None:
    document = build(name)
    (element,) = [e for e in document.elements if e.table is not None]
    (table,) = tables_of(document)
    assert (table.rows, table.columns, len(table.row_spans)) == (41, 4, 40)
    assert {box.page for box in document.element_boxes(element)} == {1, 2}
    assert {box.page for box in element.region} == {1, 2}
    lines = [document.text[start:end] for start, end in table.row_spans]
    values = [" | ".join([row[0], *(f"{h}: {v}" for h, v in zip(pdfs.WELLS_HEAD[1:], row[1:]))]) for row in pdfs.WELLS]
    assert lines == [f"{pdfs.WELLS_TITLE} — {value}" for value in values]
    last = table.cells[-1]
    assert document.page_at(last.start, last.end) == 2
    heads = LabelledTable(document, table).heads(last)
    assert [document.text[c.start : c.end] for c in heads] == ["Well 40", "Chloride"]


def test_a_header_printed_again_becomes_furniture(build: Build) -> None:
    document = build("table_over_pages")
    (table,) = tables_of(document)
    assert [c.row for c in table.cells if c.header] == [0, 0, 0, 0]
    furniture = {e.noise: document.text[e.start : e.end] for e in document.elements if e.noise}
    assert furniture["repeated_header"] == "Well Nitrate Depth Chloride"
    assert furniture["repeated_title"] == "Table 5 (continued)"
    assert document.text[: document.body_end].count("(continued)") == 0


def test_tables_alike_with_their_own_titles_stay_two(build: Build) -> None:
    document = build("tables_alike")
    assert [t.title for t in tables_of(document)] == ["Table 5. Readings in spring", "Table 6. Readings in autumn"]
    assert not any(e.noise in ("repeated_header", "repeated_title") for e in document.elements)


def test_another_header_begins_another_table(settings: Settings) -> None:
    first = page_with_table([HEAD, *FIRST], 1)
    second = page_with_table([["Pump", "Power", "Year"], ["North", "8 kW", "1991"], ["South", "5 kW", "1987"]], 1)
    assert len(tables_of(built(settings, first, second))) == 2


def test_a_table_with_other_columns_begins_another_table(settings: Settings) -> None:
    first = page_with_table([HEAD, *FIRST], 1)
    second = page_with_table([["Orchard Lane", "58.2"], ["Meadow Farm", "7.7"]], 0)
    assert len(tables_of(built(settings, first, second))) == 2


def test_prose_between_keeps_tables_apart(settings: Settings) -> None:
    first = page_with_table([HEAD, *FIRST], 1)
    second = page_with_table([HEAD, *SECOND], 1, above=("The wells in the south were read a month later.",))
    assert len(tables_of(built(settings, first, second))) == 2


def test_a_page_without_the_table_keeps_tables_apart(settings: Settings) -> None:
    first, last = page_with_table([HEAD, *FIRST], 1), page_with_table([HEAD, *SECOND], 1)
    blank = replace(first, texts=(), boxes=np.empty((0, 4), np.float32), sizes=np.empty(0, np.float32))
    blank = replace(blank, lines=np.empty(0, np.int32), flags=np.empty(0, np.uint8), owners=np.empty(0, np.int32))
    assert len(tables_of(built(settings, first, replace(blank, regions=()), last))) == 2


@pytest.mark.parametrize("line", ["(continued)", "Table 4 (cont'd)", "Table 4. Wells of the county, continued"])
def test_continued_lines_and_repeated_titles_leave_the_body(line: str, settings: Settings) -> None:
    first = page_with_table([HEAD, *FIRST], 1, above=("Table 4. Wells of the county",))
    second = page_with_table([HEAD, *SECOND], 1, above=(line,))
    document = built(settings, first, second)
    (table,) = tables_of(document)
    assert table.title == "Table 4. Wells of the county"
    assert len(table.row_spans) == 4
    assert [document.text[e.start : e.end] for e in document.elements if e.noise == "repeated_title"] == [line]


@pytest.mark.parametrize(
    "note", ["Note: The decline in the north continued after the rain.", "Sales continued to fall in both years."]
)
def test_a_sentence_that_tells_of_something_continued_stays(note: str, settings: Settings) -> None:
    first = page_with_table([HEAD, *FIRST], 1, above=("Table 4. Wells of the county",))
    second = page_with_table([HEAD, *SECOND], 1, above=(note,))
    document = built(settings, first, second)
    assert note in document.text[: document.body_end]


def test_a_row_that_says_continued_inside_the_grid_leaves_the_table(settings: Settings) -> None:
    first = page_with_table([HEAD, *FIRST], 1)
    second = page_with_table([HEAD, ["(Continued from previous page)", "", ""], *SECOND], 1)
    document = built(settings, first, second)
    (table,) = tables_of(document)
    heads = [document.text[c.start : c.end] for c in table.cells if c.col == 0 and not c.header]
    assert heads == ["Mill Bridge", "Station Road", "Orchard Lane", "Meadow Farm"]
    assert sum("ontinue" in document.text[e.start : e.end] for e in document.elements if e.noise) == 1


def test_a_group_reaches_over_the_page_end(settings: Settings) -> None:
    first = page_with_table([HEAD, ["South of the railway:", "", ""], *FIRST], 1)
    second = page_with_table([HEAD, *SECOND], 1)
    document = built(settings, first, second)
    (table,) = tables_of(document)
    start, end = table.row_spans[-1]
    assert document.text[start:end] == "South of the railway: / Meadow Farm | Nitrate: 7.7 | Depth: 18"


def test_three_pages_make_one_table(settings: Settings) -> None:
    third = page_with_table([HEAD, ["Hill Top", "1.0", "90"], ["Quay", "2.0", "5"]], 1)
    pages = (page_with_table([HEAD, *FIRST], 1), page_with_table([HEAD, *SECOND], 1), third)
    document = built(settings, *pages)
    (table,) = tables_of(document)
    assert [document.page_at(start, end) for start, end in table.row_spans] == [1, 1, 2, 2, 3, 3]
    assert len([e for e in document.elements if e.noise == "repeated_header"]) == 2
