"""Pages as a person types them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import InputError
from ragcore.types import EVERYTHING, Scope, Section
from ragcore.types.scope import checked, kinds_in_words, nothing_found, page_ranges, pages_in_words, pages_typed, within


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("", ()),
        (" , ", ()),
        ("7", ((7, 7),)),
        ("3-7, 12", ((3, 7), (12, 12))),
        ("12; 3 – 7", ((3, 7), (12, 12))),
        ("3—7", ((3, 7),)),
        ("1-4, 3-6, 7, 9", ((1, 7), (9, 9))),
    ],
)
def test_pages_are_read_in_order_and_joined(text: str, ranges: tuple[tuple[int, int], ...]) -> None:
    assert page_ranges(text) == ranges


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("7-3", "“7-3” runs backwards. Write 3-7."),
        ("3-", "“3-” is not a page."),
        ("-3", "“-3” is not a page."),
        ("0-4", "There's no page 0."),
        ("iv", "“iv” is not a page."),
        ("3 7", "“3 7” is not a page."),
        ("1234567", "“1234567” is not a page."),
    ],
)
def test_what_is_wrong_is_said_of_the_part_that_is_wrong(text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        page_ranges(f"1, {text}")
    assert f"{error.value.message} {error.value.hint}".startswith(said)


def test_pages_behind_the_end_of_every_document_are_refused() -> None:
    assert page_ranges("90-300", last=112) == ((90, 300),)
    with pytest.raises(InputError, match="The longest document in scope has 112 pages"):
        page_ranges("113, 200-300", last=112)


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 40)), max_size=6))
def test_what_is_shown_in_the_field_means_the_same(parts: list[tuple[int, int]]) -> None:
    ranges = page_ranges(", ".join(f"{first}-{first + more}" for first, more in parts))
    covered = {page for first, end in ranges for page in range(first, end + 1)}
    assert covered == {page for first, more in parts for page in range(first, first + more + 1)}
    assert page_ranges(pages_typed(Scope(pages=ranges))) == ranges


def test_a_scope_in_words() -> None:
    scope = Scope(None, ((3, 7), (9, 9), (12, 12)), ("figure", "table"))
    assert pages_in_words(scope) == "pages 3–7, 9 and 12"
    assert kinds_in_words(scope) == "tables and figures"
    assert within(scope, 1) == "pages 3–7, 9 and 12 of 1 document, only tables and figures"
    assert pages_in_words(Scope(pages=((4, 4),))) == "page 4"
    assert within(EVERYTHING, 1200) == "1,200 documents"


def test_sections_in_words() -> None:
    scope = Scope(pages=((3, 7),), kinds=("table",), sections=(Section("d", 5, 90, ("Part II", "Item 7. Discussion")),))
    assert within(scope, 1, {"d": "AMD 10-K"}) == "pages 3–7 of “Item 7. Discussion” of AMD 10-K, only tables"
    assert nothing_found(Scope(sections=scope.sections)) == "Nothing found in “Item 7. Discussion”."


def test_a_scope_with_sections_holds_their_documents_alone() -> None:
    parts = ((40, 60), (0, 10), (10, 30), (5, 8))
    scope = Scope(("e",), sections=tuple(Section("d", start, end, ("A",)) for start, end in parts))
    assert (scope.holds("d"), scope.holds("e")) == (True, False)
    assert scope.narrowed
    assert scope.spans("d") == [(0, 30), (40, 60)]
    assert scope.spans("e") == []
    for wrong in (Section("d", 5, 5, ("A",)), Section("d", -1, 5, ("A",)), Section("d", 0, 5, ())):
        with pytest.raises(InputError):
            checked(Scope(sections=(wrong,)))
