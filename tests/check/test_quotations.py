"""Quotations, letter by letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.check.quotations import Fate, quotations
from ragcore.types import Document, Page, Scope, Section, WordMap

TEXT = (
    "The Facility shall be repaid in full on 30 June 2029 (the ‘Maturity Date’), unless extended under clause 4.3.\n"
    "Any Loan outstanding on that date is due together with accrued interest. The Lender’s costs are borne by the "
    "Borrower—without limit."
)


def document(text: str = TEXT) -> Document:
    page = Page(1, "1", 600.0, 800.0)
    return Document(
        "d1",
        "d1",
        "agreement.pdf",
        "Agreement",
        text,
        len(text),
        WordMap([0], [1], [1], [(10.0, 10.0, 20.0, 20.0)], [False]),
        (page,),
        (),
    )


@pytest.mark.parametrize(
    ("quote", "fate"),
    [
        ("The Facility shall be repaid in full on 30 June 2029", "found"),
        ("The Facility shall be repaid\nin full", "found"),
        ("(the 'Maturity Date'), unless extended", "found"),
        ("The Lender's costs are borne by the Borrower-without limit", "found"),
        ("The Facility shall be repaid … unless extended under clause 4.3", "found"),
        ("The Facility shall be repaid [...] together with accrued interest", "found"),
        ("[T]he Facility shall be repaid in full", "found"),
        ("together with accrued interest.", "found"),
        ("The Facility must be repaid in full", "not_found"),
        ("the facility shall be repaid in full", "not_found"),
        ("shall be repaid in full on 30 June 2028", "not_found"),
        ("The Facility shall be repaid with accrued interest. The Lender’s costs", "stitched"),
    ],
)
def test_letters_figures_and_case_must_be_the_documents(quote: str, fate: Fate) -> None:
    [found] = quotations(f"It says “{quote}”.", ["d1"], lambda _: document())
    assert found.fate == fate


@pytest.mark.timeout(20)
def test_brackets_and_long_inventions_take_no_time() -> None:
    long = document("signature " + "_ net sales " * 20_000)
    brackets = " ".join(["[0][1][2][3][4][5][6][7][8]"] * 4)
    [found] = quotations(f"“{brackets} net sales rose”", ["d1"], lambda _: long)
    assert found.fate == "not_found"
    [found] = quotations(f"“{'net sales _ ' * 30} and more”", ["d1"], lambda _: long)
    assert found.fate == "not_found"


def test_a_quotation_is_looked_for_in_the_sections_in_scope_alone() -> None:
    twice = document(f"{TEXT}\n{TEXT}\n{TEXT}")
    section = Section("d1", len(TEXT) + 1, 2 * len(TEXT) + 1, ("Here",))
    said = "“Any Loan outstanding on that date” and “Borrower—without limit. The Facility”"
    [inside, over_its_end] = quotations(said, ["d1"], lambda _: twice, Scope(sections=(section,)))
    [(_, start, end)] = inside.places
    assert section.start <= start < end <= section.end
    assert over_its_end.fate == "not_found"


def test_terms_of_a_word_or_two_are_no_quotations() -> None:
    assert quotations("The “Maturity Date” is a “term”.", ["d1"], lambda _: document()) == ()


def test_no_more_documents_are_read_than_it_takes() -> None:
    read: list[str] = []

    def reading(doc_id: str) -> Document:
        read.append(doc_id)
        return document()

    quotations("A term.", ["d1", "d2"], reading)
    assert read == []
    quotations("“The Facility shall be repaid in full”", ["d1", "d2"], reading)
    assert read == ["d1"]


@given(st.integers(0, len(TEXT) - 1), st.integers(20, 90))
def test_any_run_of_words_is_found_where_it_stands(start: int, length: int) -> None:
    words = TEXT[start : start + length].split()[1:-1]
    if len(words) < 3 or "”" in " ".join(words):
        return
    quote = " ".join(words)
    [found] = quotations(f"“{quote}”", ["d1"], lambda _: document())
    assert found.fate == "found"
    [(doc_id, low, high)] = found.places
    assert doc_id == "d1"
    assert "".join(TEXT[low:high].split()).startswith("".join(quote.split()).rstrip(".,;"))
