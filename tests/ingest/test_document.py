"""Pages → elements: order, roles, joins, furniture, sections, title."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragcore.config.settings import Settings
from ragcore.errors import NoText
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.types import Document, Element
from tests import pdfs
from tests.ingest.conftest import Build


def texts(document: Document, kind: str | None = None) -> list[str]:
    return [document.text[e.start : e.end] for e in document.elements if kind is None or e.kind == kind]


def only(document: Document, kind: str) -> Element:
    found = [element for element in document.elements if element.kind == kind]
    assert len(found) == 1
    return found[0]


def test_headings_and_paragraphs(build: Build) -> None:
    document = build("one_column")
    assert texts(document) == ["Larkfield Water Survey", pdfs.INTRO, "Findings", pdfs.FINDING, pdfs.ADVICE]
    assert [e.kind for e in document.elements] == ["heading", "paragraph", "heading", "paragraph", "paragraph"]
    assert [e.level for e in document.elements] == [1, 0, 2, 0, 0]
    assert document.elements[3].section == ("Larkfield Water Survey", "Findings")
    assert document.title == "Larkfield Water Survey"
    assert document.text[: document.body_end] == "\n\n".join(texts(document))


def test_columns_are_read_one_after_the_other(build: Build) -> None:
    text = build("two_columns").text
    places = [text.index(f"Left sentence number {n} ") for n in range(1, 13)]
    places += [text.index(f"Right sentence number {n} ") for n in range(1, 13)]
    assert places == sorted(places)


def test_a_picture_across_three_columns_divides_them(build: Build) -> None:
    text = build("three_columns").text
    order = [(name, half) for half in (0, 1) for name in ("Left", "Middle", "Right")]
    numbers = [f"{name} sentence number {half * 6 + n} " for name, half in order for n in range(1, 7)]
    places = [text.index(sentence) for sentence in numbers]
    assert places == sorted(places)
    assert text.startswith("The Larkfield Quarterly Review")


@pytest.mark.parametrize("name", ["watermarked", "watermarked_upright"])
def test_a_watermark_keeps_out_of_the_prose(name: str, build: Build) -> None:
    document = build(name)
    assert "DRAFT" not in document.text[: document.body_end]
    marks = [e for e in document.elements if e.noise == "watermark"]
    assert [document.text[e.start : e.end] for e in marks] == ["DRAFT"] * len(document.pages)
    assert pdfs.ADVICE in document.text.replace("\n", " ")
    assert [e.noise for e in document.elements if e.noise] == ["watermark"] * len(document.pages)


def test_a_logo_is_noise_and_a_figure_is_not(build: Build) -> None:
    figures = [e for e in build("with_logo").elements if e.kind == "figure"]
    assert [(e.page, e.noise) for e in figures] == [(1, "logo"), (2, "logo"), (2, None), (3, "logo"), (4, "logo")]


def test_a_shadow_drawn_in_other_pieces_is_no_second_title(build: Build) -> None:
    made = build("shadowed")
    assert made.title == "Larkfield Residential Home"
    assert texts(made, "heading") == [made.title]


def test_a_heading_printed_twice_stands_once(build: Build) -> None:
    assert texts(build("printed_twice"), "heading") == ["Sampling of the wells"]


def test_hyphens_at_line_ends(build: Build) -> None:
    document = build("hyphenated")
    assert "every international body" in document.text
    assert "A well-known engineer" in document.text
    assert "Asia-Pacific Surveys" in document.text
    assert "all transplant-related costs" in document.text
    start = document.text.index("international")
    part = document.words.within(start, start + len("international"))
    assert part.stop - part.start == 2  # one entry for each half
    assert len(document.boxes(start, start + len("international"))) == 2


def test_a_paragraph_goes_on_over_the_page_end(build: Build) -> None:
    document = build("page_break_paragraph")
    broken = next(e for e in document.elements if "old timber piers" in document.text[e.start : e.end])
    assert "found that most of the old timber piers had been" in document.text[broken.start : broken.end]
    assert document.pages_of(broken.start, broken.end) == (1, 2)
    assert {box.page for box in document.boxes(broken.start, broken.end)} == {1, 2}


def test_running_headers_and_page_numbers_are_furniture(build: Build) -> None:
    document = build("running_headers")
    furniture = [e for e in document.elements if e.noise]
    assert len(furniture) == 12
    assert all(e.start >= document.body_end for e in furniture)
    assert all(e.end <= document.body_end for e in document.elements if not e.noise)
    assert {e.kind for e in furniture} == {"page_header", "page_footer"}
    assert "Annual Water Report" not in document.text[: document.body_end]
    assert all(f"Chapter {n}" in texts(document, "heading") for n in range(1, 7))
    # Ids count in the reading order of the pages, furniture in its place.
    assert [e.page for e in document.elements] == sorted(e.page for e in document.elements)


def test_line_numbers_of_a_draft_are_furniture(build: Build) -> None:
    document = build("line_numbers")
    numbers = next(e for e in document.elements if e.noise == "line_number")
    assert document.text[numbers.start : numbers.end].split() == [str(n) for n in range(34, 50)]
    assert "II. BACKGROUND" in texts(document, "heading")
    assert "cracked, so that the readings of April had to be" in document.text


def test_footnotes_keep_out_of_the_prose(build: Build) -> None:
    document = build("footnote")
    note = only(document, "footnote")
    assert document.text[note.start : note.end] == "1 Sampled by the crews of the county, not of the town."


def test_a_table_of_contents_is_no_table(build: Build) -> None:
    document = build("contents")
    assert not [e for e in document.elements if e.table]
    assert "1. Introduction" in document.text


def test_a_figure_has_a_region_and_its_caption_follows(build: Build) -> None:
    document = build("figure")
    figure = only(document, "figure")
    assert figure.start == figure.end
    (box,) = document.element_boxes(figure)
    assert (box.x0, box.y0, box.x1, box.y1) == pytest.approx((150, 150, 450, 330), abs=3)
    assert document.text[only(document, "caption").start :].startswith("Figure 1. Wells south of the railway.")


def test_a_document_of_nothing_but_furniture_keeps_its_text(
    layouts: dict[str, list[PageLayout]], settings: Settings
) -> None:
    page = layouts["one_column"][0]
    footers = tuple(replace(region, kind="page-footer") for region in page.regions)
    document = build_document(
        "0" * 16, "0" * 64, "label.pdf", FileInfo(pages=1), [replace(page, regions=footers)], settings
    )
    assert document.body_end == len(document.text)
    assert not [e for e in document.elements if e.noise]


def test_no_words_is_an_error_that_names_the_file(build: Build) -> None:
    with pytest.raises(NoText, match=r"blank\.pdf has no readable text"):
        build("blank")


def test_the_same_pages_give_the_same_document(build: Build) -> None:
    first, second = build("running_headers"), build("running_headers")
    assert first.text == second.text
    assert first.elements == second.elements
    assert first.words.to_bytes() == second.words.to_bytes()


@pytest.mark.parametrize("given", ["", "0001065280-16-000047", "LKF 10K FY23"])
def test_a_filing_is_called_by_its_cover(given: str, layouts: dict[str, list[PageLayout]], settings: Settings) -> None:
    info = FileInfo(pages=1, title=given)
    document = build_document("0" * 16, "0" * 64, "x.pdf", info, layouts["filing"], settings)
    assert document.title == "Larkfield Pumps, Inc. Form 10-K 2023"


@pytest.mark.parametrize(
    ("sample", "name"),
    [("filing_of_a_picture", "LARKFIELD PUMPS, INC."), ("filing_without_a_caption", "Larkfield Pumps, Inc.")],
)
def test_a_filing_whose_cover_does_not_say_its_name_in_the_usual_place_has_it(
    sample: str, name: str, layouts: dict[str, list[PageLayout]], settings: Settings
) -> None:
    pages = layouts[sample]
    document = build_document("0" * 16, "0" * 64, "x.pdf", FileInfo(pages=len(pages)), pages, settings)
    assert document.title == f"{name} Form 10-K 2023"


def test_the_outline_sets_heading_levels(layouts: dict[str, list[PageLayout]], settings: Settings) -> None:
    outline = tuple((1 if n % 2 else 2, f"Chapter {n}", n) for n in range(1, 7))
    info = FileInfo(pages=6, outline=outline)
    document = build_document("0" * 16, "0" * 64, "r.pdf", info, layouts["running_headers"], settings)
    assert [e.level for e in document.elements if e.kind == "heading"] == [1, 2, 1, 2, 1, 2]
    last = next(e for e in document.elements if "Chapter 6 of the report" in document.text[e.start : e.end])
    assert last.section == ("Chapter 5", "Chapter 6")


def test_repetition_drops_nothing_from_a_short_document(
    layouts: dict[str, list[PageLayout]], settings: Settings
) -> None:
    """Two pages with the same text at the same place: no frequency noise below noise.min_pages."""
    page = layouts["one_column"][0]
    document = build_document(
        "0" * 16, "0" * 64, "twice.pdf", FileInfo(pages=2), [page, replace(page, number=2)], settings
    )
    assert not [e for e in document.elements if e.noise]


def test_what_is_drawn_behind_the_next_column_does_not_join_the_columns(build: Build) -> None:
    document = build("figures_in_columns")
    text = document.text
    assert text.index("Left sentence number 10") < text.index("Figure 1.") < text.index("Right sentence number 1 ")
    assert text.index("Right sentence number 10") < text.index("Figure 2.")
