"""Finding typed words: compared with where PyMuPDF sees them, and with plain counting."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.engine import Engine
from ragcore.types import Document, Page
from ragcore.types.geometry import WordMap
from tests import pdfs, prepared
from ui.viewer.find_in_document import Finder, folded


def document(*words: str, pages: list[int] | None = None, joined: tuple[int, ...] = ()) -> Document:
    """One word after another on a line of its own, with a blank between but before those of ``joined``."""
    text, starts, ends = "", [], []
    for i, word in enumerate(words):
        text += "" if i in joined or not text else " "
        starts.append(len(text))
        text += word
        ends.append(len(text))
    boxes = [(10.0, 20.0 * i, 50.0, 20.0 * i + 12) for i in range(len(words))]
    at = pages or [1] * len(words)
    sheets = tuple(Page(n, str(n), 600, 800) for n in range(1, max(at) + 1))
    words_at = WordMap(starts, ends, at, boxes, [False] * len(words))
    return Document("d", "s", "n", "t", text, len(text), words_at, sheets, ())


def read(tmp_path: Path, data: bytes) -> Document:
    with Engine.open(tmp_path / "home") as engine:
        doc_id = prepared.read(engine, data, "file.pdf")
        return engine.document(doc_id)


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        (["Total", "REVENUES"], "total revenues"),
        (["the", "ﬁrst", "eﬃcient"], "first efficient"),
        (["Men’s", "“Direct”"], 'men\'s "direct"'),
        (["2022–2023"], "2022-2023"),
        (["Straße"], "STRASSE"),
        (["co\u00adoperate"], "cooperate"),
        (["cafe\u0301"], "café"),
        (["one", "two", "three"], "  two\n three "),
    ],
)
def test_what_is_typed_finds_what_is_printed(printed: list[str], typed: str) -> None:
    assert len(Finder(document(*printed)).find(typed)) == 1


def test_a_match_leads_over_a_hyphen_and_a_page() -> None:
    finder = Finder(document("the", "agree", "ment", "was", "signed", pages=[1, 1, 2, 2, 2], joined=(2,)))
    found = finder.find("Agreement was")
    assert found.per_page() == [(1, 1)]
    ((number, boxes),) = finder.on_page(found, 2)
    assert number == 0
    assert [(box.page, box.y0) for box in boxes] == [(1, 20), (2, 40), (2, 60)]
    assert finder.on_page(found, 1) == finder.on_page(found, 2)


def test_nothing_is_found_for_nothing() -> None:
    finder = Finder(document("one"))
    assert len(finder.find("  ")) == 0
    assert len(finder.find("none")) == 0
    assert len(Finder(document("x", pages=[1])).find("y")) == 0


@given(
    st.lists(st.sampled_from(["a", "ab", "b", "ba", "aab"]), min_size=1, max_size=30),
    st.sampled_from(["a", "ab", "a b", "b a"]),
)
def test_matches_are_those_of_the_joined_words(words: list[str], wanted: str) -> None:
    finder = Finder(document(*words))
    found = finder.find(wanted)
    assert len(found) == " ".join(words).count(wanted)
    for first, last in zip(found.first.tolist(), found.last.tolist()):
        assert wanted in " ".join(words[first : last + 1])
        assert last - first == wanted.count(" ")


@given(st.text(max_size=40))
@example("a\u00ad\u0301")
def test_folding_twice_is_folding_once_for_what_is_typed(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize("angle", [0, 90, 270])
def test_boxes_are_those_of_the_words_on_turned_and_cropped_pages(angle: int, tmp_path: Path) -> None:
    data = pdfs.cropped(angle)
    finder = Finder(read(tmp_path, data))
    found = finder.find("orchard lane pump")
    assert len(found) >= 1
    page = pymupdf.open(stream=data, filetype="pdf")[0]
    wanted = [quad.rect * page.rotation_matrix for quad in page.search_for("Orchard Lane", quads=True)]
    ((_, boxes), *_) = finder.on_page(found, 1)
    near = min(wanted, key=lambda rect: abs(rect.x0 - boxes[0].x0) + abs(rect.y0 - boxes[0].y0))
    inside = pymupdf.Rect(boxes[0].x0 - 1, boxes[0].y0 - 3, boxes[0].x1 + 40, boxes[0].y1 + 40)
    assert inside.intersects(near)


def test_repeated_headers_are_found_where_they_are_printed(tmp_path: Path) -> None:
    finder = Finder(read(tmp_path, pdfs.ruled_table()))
    assert len(finder.find("june")) == 1
    assert len(finder.find("orchard lane 58.2 61.4")) == 1


def test_hyphenated_words_are_found_whole(tmp_path: Path) -> None:
    finder = Finder(read(tmp_path, pdfs.hyphenated()))
    ((_, boxes),) = finder.on_page(finder.find("international body"), 1)
    assert len(boxes) == 2
    assert len(finder.find("well-known")) == 2


def test_one_page_header_does_not_lead_into_the_next(tmp_path: Path) -> None:
    finder = Finder(read(tmp_path, pdfs.running_headers(6)))
    assert len(finder.find("Annual Water Report")) == 6
    assert len(finder.find("of 6 page")) == 0
