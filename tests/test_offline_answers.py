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
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(home=tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"})
    for name, data in {"report.pdf": pdfs.lines_pdf(REPORT), "balance.pdf": pdfs.statement()}.items():
        assert engine.ingest(engine.add(data, name).doc_id).status == "ready"
    engine.index()
    return engine


def test_a_question_in_another_word_for_it_is_answered(library: Engine) -> None:
    answer = library.ask("What was capex?").run()
    assert not answer.refused
    assert any("Capital expenditure was $9.7 million" in citation.quote for citation in answer.citations)


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


def test_a_cell_is_handed_out_with_its_headers(library: Engine) -> None:
    label, figures = next((label.strip(), values) for _, label, values in pdfs.STATEMENT if label.startswith("Total"))
    answer = library.ask(f"What were {label.lower()} in 2022?").run()
    first = answer.text.partition("\n")[0]
    assert first.startswith(f"**{figures[1]}** — ")
    assert f"2022: {figures[1]}” [1]" in first
    assert answer.citations[0].quote.strip("$ ") == figures[1].strip("$ ")
