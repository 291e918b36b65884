"""Offline answers and refusals as a whole: a small library, the real models, no network."""

from __future__ import annotations

import pytest

from ragcore.engine import Engine
from tests import pdfs

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
        assert engine.ingest(engine.add(data, name).doc_id).status == "ready"
    engine.index()
    return engine


def test_a_question_in_another_word_for_it_is_answered(library: Engine) -> None:
    answer = library.ask("What was capex?").run()
    assert not answer.refused
    assert any("Capital expenditure was $9.7 million" in citation.quote for citation in answer.citations)


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("What reacts violently with water?", "Sodium hydride reacts violently with water."),
        ("Is the liability capped?", "aggregate liability shall exceed EUR 2,500,000"),
        ("Is our liability limited?", "aggregate liability shall exceed EUR 2,500,000"),
    ],
)
def test_what_one_short_sentence_says_is_no_refusal(library: Engine, question: str, quote: str) -> None:
    answer = library.ask(question).run()
    assert not answer.refused
    assert any(quote in citation.quote for citation in answer.citations)


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
    assert engine.terms("What was capex?") == ()
    assert [term.said for term in library.terms("What was capex?")] == ["capex"]


def test_what_stands_nowhere_is_refused_by_name(library: Engine) -> None:
    answer = library.ask("Which volcano buried the city of Pompeii?").run()
    assert answer.refused
    assert answer.text.startswith(
        "The documents do not answer this question. None of the documents in scope is about “Pompeii”"
    )
    assert library.mentions("Pompeii") == {}
    assert sum(library.mentions("expenditure").values()) == 1


@pytest.mark.parametrize(
    "question",
    [
        "What is the price of tea in China?",
        "What is the capital of Germany?",
        "How many people live in Japan?",
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
        assert engine.ingest(engine.add(pdfs.lines_pdf(lines), "report.pdf").doc_id).status == "ready"
        engine.index()
    assert engine.ask(question).run().refused
    assert not engine.ask("How many people do we employ?").run().refused


def test_a_cell_is_handed_out_with_its_headers(library: Engine) -> None:
    label, figures = next((label.strip(), values) for _, label, values in pdfs.STATEMENT if label.startswith("Total"))
    answer = library.ask(f"What were {label.lower()} in 2022?").run()
    first = answer.text.partition("\n")[0]
    assert first.startswith(f"**{figures[1]}** — ")
    assert f"2022: {figures[1]}” [1]" in first
    assert answer.citations[0].quote.strip("$ ") == figures[1].strip("$ ")


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
        assert engine.ingest(engine.add(pdfs.lines_pdf(lines), "bericht.pdf").doc_id).status == "ready"
        engine.index()
    answer = engine.ask(question).run()
    assert not answer.refused
    assert any(citation.quote == quote for citation in answer.citations)
