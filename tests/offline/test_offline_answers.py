"""Offline answers and refusals as a whole: a small library, the real models, no network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragcore.engine import Engine
from tests import pdfs, prepared
from ui.chat.first_run import QUESTIONS

REPORT = (
    "Larkfield Instruments, annual report",
    "",
    "Inventories rose by $4.4 million because we built up a stock of transducers.",
    "Capital expenditure was $9.7 million, of which $5.2 million went into the hall.",
    "In June we replaced our two bank loans with a revolving credit facility.",
    "The facility matures on 30 June 2029 and can be extended by one year.",
    "Sodium hydride reacts violently with water.",
    "Neither party's aggregate liability shall exceed EUR 2,500,000 in any contract year.",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(home=tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"})
    samples = {"report.pdf": pdfs.lines_pdf(REPORT), "balance.pdf": pdfs.statement(), "notes.pdf": pdfs.noted()}
    for name, data in samples.items():
        prepared.read(engine, data, name)
    engine.index()
    return engine


def test_a_question_in_another_word_for_it_is_answered(library: Engine) -> None:
    answer = library.ask("What was capex?").run()
    assert not answer.refused
    assert any("Capital expenditure was $9.7 million" in citation.quote for citation in answer.citations)


def test_a_slip_of_the_pen_is_understood_and_shown(library: Engine) -> None:
    answer = library.ask("What was the capital expenditrue?").run()
    assert answer.question == "What was the capital expenditrue?"
    assert answer.standalone == "What was the capital expenditure?"
    assert "Capital expenditure was $9.7 million" in answer.citations[0].quote


def test_what_one_short_sentence_says_is_no_refusal(library: Engine) -> None:
    answer = library.ask("What reacts violently with water?").run()
    assert not answer.refused
    assert answer.citations[0].quote == "Sodium hydride reacts violently with water."


@pytest.mark.parametrize("question", ["Is the liability capped?", "Is our liability limited?"])
def test_what_the_cross_encoder_is_unsure_of_is_shown(library: Engine, question: str) -> None:
    answer = library.ask(question).run()
    assert any("aggregate liability shall exceed EUR 2,500,000" in citation.quote for citation in answer.citations)


def test_a_raised_footnote_mark_is_not_shown_and_stays_in_the_text(library: Engine) -> None:
    answer = library.ask("How many oysters were landed in Hollin Bay?").run()
    assert "“Hollin Bay landed 5,210 oysters in 2022, its best year.”" in answer.text
    cited = next(citation for citation in answer.citations if "oysters" in citation.quote)
    assert cited.quote == "Hollin Bay landed 5,210 oysters in 2022,3 its best year.14"
    assert cited.quote == library.document(cited.doc_id).text[cited.start : cited.end]
    assert cited.shown == "Hollin Bay landed 5,210 oysters in 2022, its best year."
    assert all(claim.status == "supported" for claim in answer.claims)


def test_what_documents_are_about_is_looked_for_where_they_open(library: Engine) -> None:
    answer = library.ask("What is this document about?", doc_ids=[library.documents()[0].doc_id]).run()
    assert not answer.refused
    assert answer.citations


def test_without_other_words_none_are_known(library: Engine) -> None:
    engine = Engine.open(home=library.home, overrides={"llm.model": "offline", "wording.synonyms": False})
    assert engine.search.terms("What was capex?") == ()
    assert [term.said for term in library.search.terms("What was capex?")] == ["capex"]


def test_what_stands_nowhere_is_refused_by_name(library: Engine) -> None:
    answer = library.ask("Which volcano buried the city of Pompeii?").run()
    assert answer.refused
    assert answer.text.startswith(
        "The documents do not answer this question. Nothing in your documents mentions “Pompeii”."
    )
    assert library.search.sparse().mentions("Pompeii") == {}
    assert sum(library.search.sparse().mentions("expenditure").values()) == 1


@pytest.mark.parametrize(
    "question",
    [
        "What is the price of tea in China?",
        "What is the capital of Germany?",
        "When was the first moon landing?",
    ],
)
def test_words_that_stand_apart_answer_nothing(library: Engine, question: str) -> None:
    home = library.home.parent / "apart"
    engine = Engine.open(home=home, overrides={"llm.model": "offline"})
    if not engine.documents():
        lines = (
            "Larkfield Instruments, annual report",
            "",
            "We bought back shares at an average price of $42.",
            "Land and buildings were valued for the first time in ten years.",
            "Our working capital rose to $12 million.",
            "We employ 649 people in fourteen countries.",
            "",
            "Subsidiaries: Larkfield China Ltd, Larkfield Germany GmbH, Larkfield Japan K.K.",
        )
        prepared.read(engine, pdfs.lines_pdf(lines), "report.pdf")
        engine.index()
    assert engine.ask(question).run().refused
    assert not engine.ask("How many people do we employ?").run().refused


def test_a_cell_is_handed_out_with_its_headers(library: Engine) -> None:
    label, figures = next((label.strip(), values) for _, label, values in pdfs.STATEMENT if label.startswith("Total"))
    answer = library.ask(f"What were {label.lower()} in 2022?").run()
    first = answer.text.partition("\n")[0]
    assert f": **{figures[1]}** (in millions) [1]" in first
    assert answer.citations[0].quote.strip("$ ") == figures[1].strip("$ ")
    assert re.search(rf"\| 2022 \| {re.escape(figures[1])} \[1\]", answer.text)
    assert {claim.status for claim in answer.claims} == {"supported"}


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("Ist eine Kapitalerhöhung geplant?", "Eine Kapitalerhöhung ist nicht geplant."),
        ("Wer ist Vorstandsvorsitzende?", "Vorstandsvorsitzende ist Dr. Ingrid Petersen."),
    ],
)
def test_a_short_sentence_of_another_language_is_quoted(library: Engine, question: str, quote: str) -> None:
    home = library.home.parent / "german"
    engine = Engine.open(home=home, overrides={"llm.model": "offline"})
    if not engine.documents():
        lines = (
            "Jahresbericht der Seewind Energie AG",
            "",
            "Die Gesellschaft betreibt 14 Windparks mit einer Leistung von 862 Megawatt.",
            "Vorstandsvorsitzende ist Dr. Ingrid Petersen.",
            "Eine Kapitalerhöhung ist nicht geplant.",
        )
        prepared.read(engine, pdfs.lines_pdf(lines), "bericht.pdf")
        engine.index()
    answer = engine.ask(question).run()
    assert not answer.refused
    assert any(citation.quote == quote for citation in answer.citations)


REPORT_OF_PUMPS = (
    "Larkfield Instruments, annual report",
    "",
    "Mara Velde has been our Chief Executive Officer since 2020.",
    "Brightwell Pumps is the market leader in insulin pumps, with a share of 41%.",
    "The Berlin plant is run by Jonas Reuter.",
    "We paid a dividend of $1.20 per share in 2019.",
    "Of all our stores the one in Turku had the highest sales, at $4.1 million.",
    "Samples are kept in cold storage at 4 degrees.",
    "Net sales rose 18% to $3.2 billion in the fourth quarter, due to higher prices and new brands.",
)


@pytest.fixture(scope="module")
def pumps(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(home=tmp_path_factory.mktemp("pumps"), overrides={"llm.model": "offline"})
    prepared.read(engine, pdfs.lines_pdf(REPORT_OF_PUMPS), "report.pdf")
    engine.index()
    return engine


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("Who leads the market in insulin pumps?", "Brightwell Pumps"),
        ("Who runs the Berlin plant?", "Jonas Reuter"),
        ("Which store has the highest sales?", "Turku"),
        ("Who is the chief executive?", "Mara Velde"),
        ("Why did net sales rise?", "higher prices"),
    ],
)
def test_what_answers_comes_first_whatever_form_a_question_seems_to_have(
    pumps: Engine, question: str, quote: str
) -> None:
    answer = pumps.ask(question).run()
    assert not answer.refused
    assert quote in answer.citations[0].quote
    assert answer.text.startswith("“"), "one direct line"
    assert len(answer.citations) <= 3


@pytest.mark.parametrize(
    "question",
    [
        "Why was no dividend paid in 2020?",
        "How many employees does the company have?",
        "Who audits the company?",
        "How much did Jonas Reuter earn?",
    ],
)
def test_what_is_not_there_is_refused_though_its_words_are_common(pumps: Engine, question: str) -> None:
    assert pumps.ask(question).run().refused


@pytest.mark.parametrize(
    ("question", "cannot"),
    [
        ("Summarise the rise of net sales in five sentences", "summarise"),
        ("Compare the Berlin plant with the store in Turku", "compare"),
        ("Explain the rise of net sales", "explain"),
        ("Should we buy Brightwell Pumps?", "advise"),
        ("Write an email about net sales", "write"),
    ],
)
def test_a_task_that_quoting_cannot_do_is_said_to_be_one(pumps: Engine, question: str, cannot: str) -> None:
    answer = pumps.ask(question).run()
    assert not answer.refused
    assert answer.text.startswith(f"Quoting can’t {cannot}")
    assert "key for Claude in Settings" in answer.text
    assert 1 <= len(answer.citations) <= 3
    assert {claim.status for claim in answer.claims} == {"supported"}


def test_a_row_without_any_word_of_the_question_is_only_a_figure(sampled: Path, tmp_path: Path) -> None:
    prepared.copied(sampled, tmp_path / "home")
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        answer = engine.ask("What dividends were declared or paid?").run()
    assert "dividend" in answer.citations[0].quote


@pytest.mark.parametrize(
    ("question", "told"), list(zip(QUESTIONS, ("grew 12.4%", "20,515", "matures on 30 June 2029"), strict=True))
)
def test_the_questions_that_the_app_offers_are_answered_first(
    sampled: Path, tmp_path: Path, question: str, told: str
) -> None:
    prepared.copied(sampled, tmp_path / "home")
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        answer = engine.ask(question).run()
    assert told in answer.text.partition("\n")[0]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(home=tmp_path_factory.mktemp("release"), overrides={"llm.model": "offline"})
    prepared.read(engine, pdfs.release(), "release.pdf")
    engine.index()
    return engine


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What was net income for the 13 weeks ended January 28, 2023?", "340,751"),
        ("What was net income for the 52 weeks ended January 28, 2023?", "1,242,408"),
        ("How much were pre-opening expenses in the fourth quarter?", "2,179"),
        # Without a span of time the longest.
        ("How much were pre-opening expenses?", "10,601"),
        ("What was the tax rate in the fourth quarter of fiscal 2022?", "24.6%"),
        ("What was the tax rate for the full year of fiscal 2022?", "24.4%"),
        ("What were net sales in fiscal 2022?", "10,208,580"),
        # What says a change comes before the amounts.
        ("How much did net sales grow in fiscal 2022?", "18.3%"),
        ("How much did net sales grow in the fourth quarter of fiscal 2022?", "18.2%"),
        ("By how much did they grow? (What were net sales in fiscal 2022?)", "18.3%"),
    ],
)
def test_a_value_of_the_span_of_time_that_is_asked_for_comes_first(release: Engine, question: str, first: str) -> None:
    answer = release.ask(question).run()
    assert not answer.refused
    assert first in answer.citations[0].quote
