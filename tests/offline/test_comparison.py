"""Questions of several documents: what is asked of each alone, and the answers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.offline.comparison import asked_of_each
from tests import pdfs, prepared

TWO = ("Corvane", "Larkfield")


@pytest.mark.parametrize(
    ("question", "names", "alone"),
    [
        ("Compare net sales of Corvane and Larkfield in 2022", TWO, "net sales in 2022"),
        ("What were total revenues of Corvane and Larkfield in 2022?", TWO, "What were total revenues in 2022"),
        ("Corvane vs. Larkfield total assets", TWO, "total assets"),
        ("How does Corvane's rent expense compare with Larkfield's in 2022?", TWO, "rent expense in 2022"),
        ("Which had higher R&D expense, Corvane or Larkfield?", TWO, "R&D expense"),
        ("Is Corvane's revenue higher than Larkfield's?", TWO, "revenue"),
        ("What is the difference in revenue between Corvane and Larkfield?", TWO, "What is the revenue"),
        ("Who audits Corvane and Larkfield?", TWO, "Who audits"),
        ("compare state taxes of Corvane and Larkfield", TWO, "state taxes"),
        ("Which documents mention arbitration?", (), "arbitration"),
        ("find every file that refers to Black-Scholes", (), "Black-Scholes"),
        ("I need every file in which the name Deloitte turns up", (), "the name Deloitte"),
        ("Find the filings that discuss a waiting period or clearance", (), "a waiting period or clearance"),
        ("In which documents does hepatitis come up?", (), "hepatitis"),
        ("busulfan - in which documents does it appear?", (), "busulfan does it"),
        ("Do any of my documents refer to hepatitis, and which ones?", (), "hepatitis"),
        ("goodwill, Corvane against Larkfield", TWO, "goodwill"),
        ("Please set Corvane's 2022 rent against Larkfield's for 2017", TWO, "set rent in 2022"),
        (
            "Compare amounts under the credit facility of Corvane and Larkfield",
            TWO,
            "amounts under the credit facility",
        ),
        ("Which company in my documents has the most employees?", (), "the employees"),
        ("For each company, who is the auditor?", (), "who is the auditor"),
        ("How do the two guidances differ on toxicology?", (), "toxicology"),
        ("What do both papers say about blinding?", (), "blinding"),
        ("Which of the Corvane filings reports the highest profit?", ("Corvane",), "the profit"),
        ("How do Corvane and Larkfield each describe the risks of fire?", TWO, "How do describe the risks of fire"),
        ("Compare the minimum lease payments of Corvane and Larkfield", TWO, "the minimum lease payments"),
        ("Which documents mention Corvane and Larkfield?", TWO, "Corvane and Larkfield"),
        ("Which of my filings was audited by KPMG?", (), "audited by KPMG"),
    ],
)
def test_a_question_of_several_documents_is_asked_of_each_alone(
    question: str, names: Sequence[str], alone: str
) -> None:
    each = asked_of_each(question, names)
    assert each is not None
    assert each.text == alone
    assert each.named == (len(names) > 1 and not each.words)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Does Corvane supply Larkfield?", TWO),
        ("What was net income of Corvane?", ("Corvane",)),
        ("Which company acquired the plant in Leeds?", ()),
        ("What must each report contain?", ()),
        ("Must all documents be in English?", ()),
        ("Compare Corvane and Larkfield", TWO),
        ("Compare the two documents", ()),
        ("What documents must be submitted with an IND?", ()),
        ("Which reports must be filed with the SEC?", ()),
        ("What contracts does Larkfield have with suppliers?", ("Larkfield",)),
        ("Which leases expire in 2025?", ()),
        ("What is the term of all leases?", ()),
        ("For each study arm, what was the dose?", ()),
        ("Which documents do not mention arbitration?", ()),
        ("Which company has the highest?", ()),
        ("What is the difference between an IND and an NDA?", ("IND", "NDA")),
        ("Which company has more than 1000 employees?", ()),
        ("Which company has the second highest revenue?", ()),
        ("What documents do I have?", ()),
    ],
)
def test_any_other_question_is_asked_of_all_together(question: str, names: Sequence[str]) -> None:
    assert asked_of_each(question, names) is None


@pytest.mark.parametrize(
    "question",
    [
        "What was the rent of Corvane in 2015 and of Larkfield in 2022?",
        "rent: Corvane (2015) vs Larkfield (fiscal 2022)",
        "Set Corvane's 2015 rent against Larkfield's for 2022",
    ],
)
def test_a_document_may_be_asked_of_a_year_of_its_own(question: str) -> None:
    each = asked_of_each(question, TWO)
    assert each is not None
    own = dict(each.own)
    assert own["Corvane"].endswith("rent in 2015")
    assert own["Larkfield"].endswith("rent in 2022")


def test_a_year_of_both_is_asked_of_both() -> None:
    each = asked_of_each("Compare the rent of Corvane and Larkfield in 2021 and 2022", TWO)
    assert each is not None
    assert {text for _, text in each.own} == {"the rent in 2021 and 2022"}


def test_each_name_may_be_asked_for_something_of_its_own() -> None:
    each = asked_of_each("Compare Corvane's water revenue with Larkfield's oyster revenue in 2022", TWO)
    assert each is not None
    assert dict(each.own) == {"Corvane": "water revenue", "Larkfield": "oyster revenue in 2022"}


def test_one_of_several_words_may_be_looked_for() -> None:
    each = asked_of_each("Which documents mention arbitration or toxicology?", ())
    assert each is not None
    assert each.words == ("arbitration", "toxicology")


@pytest.mark.parametrize(
    ("question", "sign"),
    [
        ("Which had higher rent, Corvane or Larkfield?", 1),
        ("Which company has the lowest rent?", -1),
        ("Compare the rent of Corvane and Larkfield", 0),
        ("Compare the rent of Corvane and Larkfield in the latest year", 0),
        ("Did the rent of Corvane grow more than that of Larkfield?", 0),
        ("What is the rent of Corvane and Larkfield, in less than 50 words?", 0),
        ("Does Corvane pay more or less rent than Larkfield?", 0),
    ],
)
def test_a_question_may_ask_where_a_value_is_higher(question: str, sign: int) -> None:
    each = asked_of_each(question, TWO)
    assert each is not None
    assert each.sign == sign


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(home=tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"})
    head = ("", "2023", "2022")
    made = {
        "corvane.pdf": pdfs.results(
            "Corvane Ltd",
            (head, ("Revenue", "412", "398"), ("Rent", "31", "30")),
            "Disputes go to arbitration in Geneva under the rules of the chamber.",
        ),
        "larkfield.pdf": pdfs.results(
            "Larkfield Ltd",
            (head, ("Revenue", "1,250", "1,190"), ("Rent", "18", "17")),
            "The company owns two water works and leases a third one in the hills.",
        ),
        "hollin.pdf": pdfs.results(
            "Hollin Bay plc",
            (head, ("Oysters landed", "5,210", "4,870"), ("Boats", "41", "40")),
            "Any dispute about the harbour is settled by arbitration in Hollin Bay.",
        ),
    }
    for name, data in made.items():
        prepared.read(engine, data, name)
    engine.index()
    return engine


def cited(engine: Engine, question: str) -> tuple[str, dict[str, list[str]]]:
    """The answer's text, and its quotes by file, in its order."""
    names = {info.doc_id: Path(info.name).stem for info in engine.documents()}
    answer = engine.ask(question).run()
    found: dict[str, list[str]] = {}
    for citation in answer.citations:
        found.setdefault(names[citation.doc_id], []).append(citation.quote)
    assert all(claim.status == "supported" for claim in answer.claims)
    return answer.text, found


def test_the_value_of_each_company_stands_in_one_table(library: Engine) -> None:
    text, found = cited(library, "Compare the revenue of Corvane and Larkfield in 2023")
    assert found == {"corvane": ["412"], "larkfield": ["1,250"]}
    assert text.count("| --- |") == 1
    assert "can’t compare" not in text


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which had higher revenue in 2023, Corvane or Larkfield?", "larkfield"),
        ("Which had lower revenue in 2023, Larkfield or Corvane?", "corvane"),
        ("Which company paid the highest rent in 2023?", "corvane"),
    ],
)
def test_the_highest_comes_first_and_is_named(library: Engine, question: str, first: str) -> None:
    text, found = cited(library, question)
    assert next(iter(found)) == first
    assert f"is that of {first.capitalize()} Ltd" in text


def test_a_document_without_an_answer_is_named(library: Engine) -> None:
    text, found = cited(library, "Which company has the highest revenue in 2023?")
    assert list(found) == ["larkfield", "corvane"]
    assert text.startswith("Found in 2 of 3 documents.")
    assert "Nothing on this was found in Hollin Bay plc" in text


def test_the_documents_that_have_a_word_are_those_that_have_it(library: Engine) -> None:
    text, found = cited(library, "Which documents mention arbitration?")
    assert found.keys() == {"corvane", "hollin"}
    assert all("arbitration" in quote for quotes in found.values() for quote in quotes)
    assert text.startswith("Found in 2 of 3 documents.")


def test_of_several_words_those_of_most_documents_are_left_out(library: Engine) -> None:
    _, found = cited(library, "Which documents mention arbitration or report?")
    assert found.keys() == {"corvane", "hollin"}


def test_a_name_that_is_asked_about_is_answered_however_near_it_is(library: Engine) -> None:
    _, found = cited(library, "How much higher is the rent of Larkfield than that of Hollin Bay?")
    assert "larkfield" in found


def test_what_no_document_has_is_refused(library: Engine) -> None:
    assert library.ask("Which documents mention Pompeii?").run().refused


def test_each_document_is_searched_by_itself_and_the_trace_says_so(library: Engine) -> None:
    answer = library.ask("Compare the revenue of Corvane and Larkfield in 2023").run()
    assert answer.trace is not None
    first, *each = answer.trace.queries
    assert first.doc_id == ""
    assert {answer.trace.titles[one.doc_id] for one in each} == {
        "Corvane Ltd annual report 2023",
        "Larkfield Ltd annual report 2023",
    }
