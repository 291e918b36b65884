"""ADE's chunks and the words of the PDF become pages, and those a document, with every place true."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ragcore.config.settings import Settings, load
from ragcore.errors import AdeMismatch
from ragcore.ingest.ade.layout import page_layout
from ragcore.ingest.ade.pages import NO_PDF, NO_TEXT, AdeSource
from ragcore.ingest.ade.source import read_ade
from ragcore.ingest.chunk import chunk_document
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout, empty_page
from ragcore.types import Box, Document, Element
from tests.ade import CAPTION, CHART, FINDING, HEADER, ROWS, STEPS, STRAY, ade, cell_box, chunk, report, table_html
from tests.ingest.test_grounding import characters, inside, pymupdf_words, spans
from tests.pdfs import PAGE, write

SETTINGS: Settings = load()[0]


def source(folder: Path, json: bytes) -> AdeSource:
    return AdeSource(write(folder, "report.json", json), "report.json", SETTINGS.ingest)


def imported(folder: Path, json: bytes, pdf: bytes | None) -> Document:
    given = source(folder, json)
    path = None if pdf is None else write(folder, "report.pdf", pdf)
    info = FileInfo(pages=given.ade.pages)
    pages = list(given.pages(path, info, range(1, info.pages + 1)))
    given.check([page.to_bytes() for page in pages])
    return built([PageLayout.from_bytes(page.to_bytes()) for page in pages])


def built(pages: Sequence[PageLayout]) -> Document:
    return build_document("d" * 16, "0" * 64, "report.json", FileInfo(pages=len(pages)), pages, SETTINGS)


@pytest.fixture(scope="module")
def with_pdf(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return imported(tmp_path_factory.mktemp("ade"), report().json, report().pdf)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return imported(tmp_path_factory.mktemp("ade"), report().json, None)


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return imported(tmp_path_factory.mktemp("ade"), report().json, report().scan)


def text(document: Document, element: Element) -> str:
    return document.text[element.start : element.end]


def outline(document: Document) -> list[tuple[str, str | None, str]]:
    return [(e.kind, e.noise, text(document, e)) for e in document.elements if e.kind != "table"]


def table(document: Document) -> Element:
    return next(e for e in document.elements if e.table is not None)


BODY = [
    ("page_header", "page_header", HEADER),
    ("figure", "logo", "<::logo: a blue drop of water::>"),
    ("heading", None, "What was found"),
    ("paragraph", None, FINDING),
    ("list_item", None, f"1. {STEPS[0]}"),
    ("list_item", None, f"2. {STEPS[1]}"),
    ("paragraph", None, CAPTION),
]
END = [("figure", None, "<::scan_code: QR code::>"), ("figure", None, "")]
NEXT = [
    ("heading", None, "What comes next"),
    ("paragraph", None, "The council meets in June."),
    ("page_footer", "page_footer", "Page 2"),
]


def test_with_the_pdf_ade_decides_regions_and_the_pdf_words(with_pdf: Document) -> None:
    assert outline(with_pdf) == [
        *BODY,
        ("figure", None, f"Nitrate chart\n<::{CHART}::>"),
        ("paragraph", None, STRAY),  # in no chunk, and kept
        *END,
        *NEXT,
    ]
    assert [page.degraded for page in with_pdf.pages] == [None, None]


def test_without_words_in_the_pdf_ade_s_are_taken(alone: Document, scanned: Document) -> None:
    wanted = [*BODY, ("figure", None, f"<::Nitrate chart {CHART}::>"), *END, *NEXT]
    assert outline(alone) == wanted
    assert outline(scanned) == wanted
    assert {page.degraded for page in alone.pages} == {NO_PDF}
    assert {page.degraded for page in scanned.pages} == {NO_TEXT}


@pytest.mark.parametrize("way", ["with_pdf", "alone", "scanned"])
def test_tables_have_the_grid_of_ade(way: str, request: pytest.FixtureRequest) -> None:
    document: Document = request.getfixturevalue(way)
    element = table(document)
    assert element.table is not None
    cells = {(c.row, c.col): c for c in element.table.cells}
    assert (element.table.rows, element.table.columns) == (4, 3)
    wanted = {(row, col): value for row, values in enumerate(ROWS) for col, value in enumerate(values) if value}
    assert {place: document.text[c.start : c.end] for place, c in cells.items()} == wanted
    assert [(c.row_span, c.col_span, c.header) for c in element.table.cells[:3]] == [
        (2, 1, True),
        (1, 2, True),
        (1, 1, True),
    ]
    assert not cells[2, 0].header
    row = document.text[slice(*element.table.row_spans[0])]
    assert row.endswith("Orchard Lane | Nitrate / April: 58.2 | Nitrate / May: 61.4")
    for (number, col), cell in cells.items():
        (box,) = document.boxes(cell.start, cell.end)[:1]
        area = cell_box(number, col, cell.row_span, cell.col_span)
        assert area[0] - 0.1 <= box.x0 < box.x1 <= area[2] + 0.1
        assert area[1] - 0.1 <= box.y0 < box.y1 <= area[3] + 0.1


def test_the_whole_chunk_is_lit_where_only_ade_knows_the_words(alone: Document) -> None:
    finding = next(e for e in alone.elements if text(alone, e) == FINDING)
    assert [tuple(round(v) for v in (b.x0, b.y0, b.x1, b.y1)) for b in alone.element_boxes(finding)] == [
        (70, 90, 540, 200)
    ]
    caption = next(e for e in alone.elements if text(alone, e) == CAPTION)
    assert round(alone.element_boxes(caption)[0].y1) == 330, "of a table's chunk what the table leaves"


def test_a_description_is_marked_as_written_by_ai(with_pdf: Document, alone: Document) -> None:
    for document in (with_pdf, alone):
        for element in document.elements:
            said = element.generated
            assert (said is not None) == ("<::" in text(document, element))
            if said is not None:
                assert element.start <= said[0] < said[1] == element.end
                assert document.boxes(*said) == element.region


@pytest.mark.parametrize("way", ["with_pdf", "alone", "scanned"])
def test_elements_and_chunks_are_spans_with_boxes_on_the_page(way: str, request: pytest.FixtureRequest) -> None:
    document: Document = request.getfixturevalue(way)
    for element in document.elements:
        for box in document.element_boxes(element):
            page = document.pages[box.page - 1]
            assert 0 <= box.x0 < box.x1 <= page.width
            assert 0 <= box.y0 < box.y1 <= page.height
    chunks = chunk_document(document, SETTINGS.chunk)
    tiles = [c for c in chunks if c.tiles is None]
    assert "".join(c.text for c in tiles) == document.text[: document.body_end]
    assert all(c.text == document.text[c.start : c.end] for c in chunks)


def test_with_the_pdf_the_words_in_the_boxes_are_the_words_of_the_span(with_pdf: Document) -> None:
    with pymupdf.open(stream=report().pdf, filetype="pdf") as pdf:
        words = {page.number + 1: pymupdf_words(page) for page in pdf}
    for start, end in spans(with_pdf):
        said = next((e.generated for e in with_pdf.elements if e.generated and e.generated[1] == end), None)
        end = said[0] if said else end
        boxes = with_pdf.boxes(start, end)
        found = " ".join(inside(words[n], [b for b in boxes if b.page == n]) for n in {b.page for b in boxes})
        assert characters(found) == characters(with_pdf.text[start:end])
    printed = " ".join(word for own in words.values() for _rect, word in own)
    own = ~with_pdf.words.repeated
    mapped = zip(with_pdf.words.starts[own].tolist(), with_pdf.words.ends[own].tolist())
    assert characters("".join(with_pdf.text[a:b] for a, b in mapped)) == characters(printed)


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_turned_page_is_matched_as_it_is_displayed(angle: int, tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=PAGE[0], height=PAGE[1])
    page.insert_text((72, 110), HEADER, fontsize=11)
    page.insert_text((72, 400), STRAY, fontsize=11)
    page.set_rotation(angle)
    seen = [pymupdf.Rect(w[:4]) * page.rotation_matrix for w in page.get_text("words") if w[1] < 200]
    around = pymupdf.Rect(seen[0])
    for rect in seen:
        around |= rect
    size = (page.rect.width, page.rect.height)
    given = chunk("text", f"# {HEADER}", (0, 0, 1, 1))
    given["grounding"]["box"] = {
        "left": around.x0 / size[0],
        "top": around.y0 / size[1],
        "right": around.x1 / size[0],
        "bottom": around.y1 / size[1],
    }
    document = imported(tmp_path, ade([given]), pdf.tobytes())
    assert outline(document) == [("heading", None, HEADER), ("paragraph", None, STRAY)]
    assert document.pages[0].degraded is None


def test_a_picture_of_text_on_a_page_with_words_is_read_from_ade(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page(width=PAGE[0], height=PAGE[1]).insert_text((75, 105), "Page 7", fontsize=9)
    document = imported(tmp_path, ade([chunk("text", FINDING, (70, 90, 540, 200))]), pdf.tobytes())
    assert outline(document) == [("paragraph", None, "Page 7"), ("paragraph", None, FINDING)]
    assert "part of its text is a picture" in (document.pages[0].degraded or "")


def test_a_text_layer_that_is_no_text_gives_way_to_ade(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=PAGE[0], height=PAGE[1])
    page.insert_text((75, 105), "\u00ab\u00bb\u00a7\u00a6\u00b5\u00d7\u00ac\u00a4 " * 6, fontsize=9)
    page.insert_text((75, 125), "xkcdq zzrtw bcdfg hjklm npqrs tvwxz " * 4, fontsize=9)
    document = imported(tmp_path, ade([chunk("text", FINDING, (70, 90, 540, 200))]), pdf.tobytes())
    assert outline(document) == [("paragraph", None, FINDING)]
    assert "its text layer is unreadable" in (document.pages[0].degraded or "")


def test_the_wrong_pdf_is_refused(tmp_path: Path) -> None:
    other = pymupdf.open()
    for _ in range(2):
        other.new_page().insert_textbox((70, 80, 540, 700), "Quite another letter about the harvest of apples. " * 30)
    with pytest.raises(AdeMismatch, match=r"report\.json doesn't match its PDF: on 1 of 2 pages"):
        imported(tmp_path, report().json, other.tobytes())
    given = source(tmp_path, report().json)
    with pytest.raises(AdeMismatch, match="describes 2 pages; its PDF has 3"):
        list(given.pages(tmp_path / "report.pdf", FileInfo(pages=3), [1]))


def test_a_name_in_the_margin_that_goes_on_beside_its_text_is_whole(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=PAGE[0], height=PAGE[1])
    for place, (name, line) in enumerate(
        (("INCIDENCE/", "Most wells are sampled twice a year and few of them"), ("PREVALENCE", "are ever found dry."))
    ):
        page.insert_text((72, 110 + 14 * place), name, fontsize=11)
        page.insert_text((200, 110 + 14 * place), line, fontsize=11)
    markdown = "## INCIDENCE/ PREVALENCE\n\nMost wells are sampled twice a year and few of them are ever found dry."
    document = imported(tmp_path, ade([chunk("text", markdown, (70, 90, 540, 200))]), pdf.tobytes())
    assert outline(document) == [
        ("heading", None, "INCIDENCE/ PREVALENCE"),
        ("paragraph", None, "Most wells are sampled twice a year and few of them are ever found dry."),
    ]


def test_scripts_without_blanks_are_matched_too(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=PAGE[0], height=PAGE[1])
    lines = ("水质调查报告", "果园路的水井硝酸盐含量最高，南边的七口井超过了限值，秋天以前应当关闭。")
    for place, line in enumerate(lines):
        page.insert_text((72, 110 + 20 * place), line, fontsize=11, fontname="china-s")
    markdown = f"# {lines[0]}\n\n{lines[1]}"
    document = imported(tmp_path, ade([chunk("text", markdown, (70, 90, 540, 200))]), pdf.tobytes())
    assert outline(document) == [("heading", None, lines[0]), ("paragraph", None, lines[1])]
    assert document.pages[0].degraded is None


def test_long_dot_leaders_are_read_in_no_time(tmp_path: Path) -> None:
    lines = "\n\n".join(f"Zinc {'.' * 5000} {number}" for number in range(9))
    started = time.process_time()
    document = imported(tmp_path, ade([chunk("text", lines, (70, 90, 540, 700))]), None)
    assert time.process_time() - started < 5
    assert len(document.elements) == 9


def test_unknown_chunk_types_become_paragraphs_and_a_note(tmp_path: Path) -> None:
    document = imported(tmp_path, ade([chunk("hologram", FINDING, (70, 90, 540, 200))]), None)
    assert outline(document) == [("paragraph", None, FINDING)]
    assert "ADE's chunk type 'hologram' is unknown" in (document.pages[0].degraded or "")


def test_a_logo_that_holds_an_amount_is_indexed(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page(width=PAGE[0], height=PAGE[1]).insert_text((75, 105), "Balance due $44.89", fontsize=9)
    chunks = [chunk("logo", "<::logo: a box::>", (70, 90, 300, 120)), chunk("logo", "<::drop::>", (400, 90, 500, 120))]
    document = imported(tmp_path, ade(chunks), pdf.tobytes())
    assert outline(document) == [
        ("figure", None, "Balance due $44.89\n<::logo: a box::>"),
        ("figure", "logo", "<::drop::>"),
    ]


def test_overlapping_chunks_and_cells_are_told_apart_by_their_text(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=PAGE[0], height=PAGE[1])
    page.insert_text((75, 105), "First the harvest of apples", fontsize=11)
    page.insert_text((75, 120), "Then the price of pears.", fontsize=11)
    chunks = [
        chunk("text", "# First the harvest of apples", (70, 90, 540, 125)),
        chunk("text", "Then the price of pears.", (70, 92, 540, 126)),
    ]
    document = imported(tmp_path, ade(chunks), pdf.tobytes())
    assert outline(document) == [
        ("heading", None, "First the harvest of apples"),
        ("paragraph", None, "Then the price of pears."),
    ]
    html, cells = table_html()
    wide = cells | {"0-3": cell_box(0, 1, rows=2, columns=2), "0-7": cell_box(1, 1, rows=3)}
    both = [imported(tmp_path, ade([chunk("table", html, (70, 325, 470, 420))], wide), data) for data in (None,)]
    both.append(imported(tmp_path, ade([chunk("table", html, (70, 325, 470, 420))], wide, pages=2), report().pdf))
    for document in both:
        grid = table(document).table
        assert grid is not None
        assert {document.text[c.start : c.end] for c in grid.cells} == {value for row in ROWS for value in row if value}


boxes = st.tuples(*[st.floats(0, 1, width=16)] * 4).map(
    lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3]))
)
WORDS = ["apples", "pears 5", "# Plums", "\n\n", "* one", "\n", "<::a chart::>", "数据", "☐", "$5"]
TABLES = ["<table><tr><td id='c'>pears<td>5<tr><td colspan=2>apples</table>", "<table id='t'></table>"]
markdowns = st.lists(st.sampled_from(WORDS + TABLES), max_size=8).map(" ".join)
kinds = st.sampled_from(["text", "table", "figure", "logo", "marginalia", "scan_code", "title", "hologram"])
printed = st.lists(st.tuples(st.sampled_from(["apples", "pears", "5", "Plums", "数"]), boxes), max_size=25)


def generated(words: Sequence[tuple[str, tuple[float, float, float, float]]]) -> PageLayout:
    page = empty_page(1, "1", *PAGE, 0, None)
    frames = [(b[0] * 600, b[1] * 780, b[0] * 600 + 12, b[1] * 780 + 10) for _word, b in words]
    count = len(words)
    return replace(
        page,
        texts=tuple(word for word, _box in words),
        boxes=np.asarray(frames, np.float32).reshape(-1, 4),
        sizes=np.full(count, 10, np.float32),
        lines=np.arange(count, dtype=np.int32) // 3,
        flags=np.zeros(count, np.uint8),
        owners=np.arange(count, dtype=np.int32) // 6,
    )


@hypothesis_settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(kinds, markdowns, boxes), min_size=1, max_size=6), printed, boxes)
def test_whatever_ade_says_no_printed_word_is_lost(
    chunks: list[tuple[str, str, Box]], words: list[tuple[str, tuple[float, float, float, float]]], cell: Box
) -> None:
    made = [chunk(kind, markdown, (0, place, 1, 1)) for place, (kind, markdown, _box) in enumerate(chunks)]
    for one, (_kind, _markdown, box) in zip(made, chunks):
        one["grounding"]["box"] = dict(zip(("left", "top", "right", "bottom"), box))
    given_cell = (cell[0] * PAGE[0], cell[1] * PAGE[1], cell[2] * PAGE[0], cell[3] * PAGE[1])
    read = read_ade(ade(made, {"c": given_cell, "t": given_cell}), "any.json")
    before = generated(words)
    page = page_layout(read, before, reason="none")
    assert page.texts[: len(words)] == before.texts
    assert np.array_equal(page.boxes[: len(words)], before.boxes)
    assert ((page.owners >= 0) & (page.owners < len(page.regions))).all()
    again = PageLayout.from_bytes(page.to_bytes())
    assert [(r.kind, r.description, r.grid is None) for r in again.regions] == [
        (r.kind, r.description, r.grid is None) for r in page.regions
    ]
    if not page.texts and not any(region.description for region in page.regions):
        return
    document = built([page])
    own = ~document.words.repeated
    spans_of_words = list(zip(document.words.starts[own].tolist(), document.words.ends[own].tolist()))
    assert sorted(document.text[a:b] for a, b in spans_of_words) == sorted(page.texts)
    for element in document.elements:
        assert 0 <= element.start <= element.end <= len(document.text)
    tiles = [c for c in chunk_document(document, SETTINGS.chunk) if c.tiles is None]
    assert "".join(c.text for c in tiles) == document.text[: document.body_end]
