"""Tables in typewriter type, columns one blank apart; and prose in it, which is no table."""

from __future__ import annotations

from dataclasses import replace

from ragcore.config.settings import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.types import Document, Table
from tests import pdfs
from tests.ingest.conftest import Build
from tests.ingest.test_tables import cell_at, table_of


def values(document: Document, table: Table, row: int) -> list[str]:
    cells = sorted((c for c in table.cells if c.row == row), key=lambda c: c.col)
    return [document.text[c.start : c.end] for c in cells]


def headers(document: Document, table: Table, col: int) -> list[str]:
    """Those above the last value of a column."""
    found = table.headers_of(cell_at(table, table.rows - 1, col))
    return [document.text[c.start : c.end] for c in found]


def test_columns_one_blank_apart_stay_apart(build: Build) -> None:
    document = build("typed_fund")
    _element, table = table_of(document)
    assert table.columns == 5
    assert values(document, table, table.rows - 1) == ["Total payments", "1,333", "1,288", "45", "3.5"]
    assert [headers(document, table, col) for col in (1, 2)] == [
        ["Year ended", "June 30", "1972"],
        ["Year ended", "June 30", "1971"],
    ]
    assert [headers(document, table, col)[-1] for col in (3, 4)] == ["Total", "%"]
    assert "Payments for the repair of wells:" in [values(document, table, row)[0] for row in range(table.rows)]
    assert table.title == "Table 7. Balances of the fund"


def test_names_of_columns_over_several_lines(build: Build) -> None:
    document = build("typed_pipe")
    _element, table = table_of(document)
    assert table.columns == 5
    assert [" ".join(headers(document, table, col)) for col in range(1, 5)] == [
        f"{name} quarter 1962" for name in ("First", "Second", "Third", "Fourth")
    ]
    assert values(document, table, table.rows - 1) == ["Exports", "1,020", "1,110", "1,090", "1,240"]


def test_a_table_that_the_layout_model_takes_for_text(build: Build) -> None:
    document = build("typed_wells")
    _element, table = table_of(document)
    lines = pdfs.TYPED_WELLS.splitlines()[2:]
    assert [values(document, table, row) for row in range(table.rows)] == [line.split() for line in lines]


def test_a_table_on_a_page_that_was_read_plainly(layouts: dict[str, list[PageLayout]], settings: Settings) -> None:
    (page,) = layouts["typed_fund"]
    parts = [region.box for region in page.regions if region.kind == "table"]
    plain = tuple(replace(region, kind="text", grid=None) for region in page.regions)
    document = build_document("0" * 16, "0" * 64, "t.pdf", FileInfo(1), [replace(page, regions=plain)], settings)
    _element, table = table_of(document)
    assert len(parts) == 1
    assert values(document, table, table.rows - 1) == ["Total payments", "1,333", "1,288", "45", "3.5"]


def test_prose_in_typewriter_type_is_no_table(build: Build) -> None:
    document = build("typed_prose")
    assert [e.kind for e in document.body] == ["paragraph"]
    assert document.text.split() == pdfs.TYPED_PROSE.split()
