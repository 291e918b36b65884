"""Defined terms of contracts, and questions that name a party instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.text.definitions import called, calls, defined
from ragcore.text.terms import Term
from tests import pdfs, prepared

CONTRACT = (
    'This agreement is between Orrin Valves, Inc. (the "Company") and MARA L. QUILL (the "Executive"). The Orrin Bonus '
    'Plan (the "Plan") applies. It is signed with Ms. Quill, dated 3 May 2024 (the "Agreement"). Halden Lease Ltd. '
    '(hereinafter the "Landlord") lets the hall.'
)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Is Ms. Quill entitled to a car?", {"Ms. Quill": ("the Executive",)}),
        ("Is Mara Quill entitled to a car?", {"Mara Quill": ("the Executive",)}),
        ("Must Halden Lease insure the hall?", {"Halden Lease": ("the Landlord",)}),
        ("Is Ms. Quill the Executive?", {}),
        ("What does Orrin Valves pay?", {}),
        ("Is Ms. Brandt entitled to a car?", {}),
        ("Is the executive entitled to a car?", {}),
    ],
)
def test_a_name_has_the_terms_that_a_document_defines_for_it(question: str, terms: dict[str, tuple[str, ...]]) -> None:
    assert {one.said: one.same for one in defined(question, {"contract": CONTRACT})} == terms


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What is Mr. Brandt paid?", {"Mr. Brandt": ("you", "your")}),
        ("What is Olaf Brandt paid?", {"Olaf Brandt": ("you", "your")}),
        ("What is Ms. Quill paid?", {}),
    ],
)
def test_a_letter_calls_its_addressee_you(question: str, terms: dict[str, tuple[str, ...]]) -> None:
    letter = "3 May 2024\n\nOlaf T. Brandt\n12 Hill Road, Orrin\n\nDear Ole,\n\nMs. Quill will pay you 400 crowns."
    told = defined(question, {"letter": letter, "contract": CONTRACT.replace("MARA L. QUILL", "M. QUILT")})
    assert {one.said: one.same for one in told if one.defining == "letter"} == terms


def test_a_text_is_put_as_the_document_puts_it() -> None:
    letter = Term("Mr. Brandt", ("you", "your"), defining="b", within=(20, 90))
    contract = Term("Ms. Quill", ("the Executive",), defining="q", within=(0, 90))
    assert called("Mr. Brandt's fee is paid to Mr. Brandt.", letter) == "your fee is paid to you."
    assert called("Ms. Quill’s fee is paid to Ms. Quill.", contract) == "the Executive’s fee is paid to the Executive."
    assert calls("Your fee is paid.", "b", 30, letter)
    assert calls("Brandt is paid.", "b", 5, letter)
    assert not calls("The Executive is paid.", "b", 30, letter)
    assert not calls("Your fee is paid.", "b", 95, letter)
    assert not calls("Your fee is paid.", "q", 30, letter)


def test_a_term_holds_to_the_end_of_its_agreement_or_letter() -> None:
    letter = "Olaf T. Brandt\n12 Hill Road, Orrin\n\nDear Ole,\n\nOrrin (the 'Company') pays you 400 crowns."
    text = f"{letter}\n\n{CONTRACT}\n\n{CONTRACT.replace('MARA L. QUILL', 'Otto Berg')}"
    [brandt] = defined("What is Mr. Brandt paid?", {"all": text})
    [quill] = defined("What is Mara Quill paid?", {"all": text})
    [berg] = defined("What is Otto Berg paid?", {"all": text})
    assert brandt.within[1] < quill.within[0] < quill.within[1] < berg.within[0]


def test_documents_that_define_different_terms_have_their_own() -> None:
    lease = 'This lease is with Mara Quill (the "Tenant").'
    told = defined(
        "What does Ms. Quill owe?", {"contract": CONTRACT, "lease": lease, "note": "Ms. Quill owes nothing."}
    )
    assert {one.same: one.defining for one in told} == {("the Executive",): "contract", ("the Tenant",): "lease"}


def test_a_question_that_names_a_party_is_answered_by_the_clause_on_its_term(tmp_path: Path) -> None:
    clauses = {
        "Parties": [CONTRACT],
        "Announcement": ["Ms. Quill joins the board in June. Ms. Quill is entitled to severance if she is dismissed."],
        "Leave": ["The Executive shall be entitled to 22 vacation days in each calendar year."],
        "Travel": ["The Executive is not eligible for a car allowance."],
        "Law": ["This Agreement shall be governed by and construed in accordance with the laws of Norway."],
        "Contacts": ["The agreement with Ms. Quill was signed at the office of the agreement's registrar, Ms. Quill."],
    }
    home = prepared.home(tmp_path / "home", {"contract.pdf": pdfs.report("Employment agreement", clauses)})
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        for question, words in (
            ("Is Ms. Quill entitled to a car allowance?", "not eligible for a car allowance"),
            ("How many vacation days does Ms. Quill get?", "22 vacation days"),
            ("Which law governs the agreement with Ms. Quill?", "laws of Norway"),
        ):
            assert words in engine.ask(question).run().citations[0].quote
