"""What could be asked next: drawn from around the cited words, and offered only where it is answered from there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.suggesting import OFFERED, _heading, _inside, _of_cell, candidates, suggest
from ragcore.types import Answer

SAMPLE = Path(__file__).resolve().parents[1] / "ui" / "sample" / "sample.pdf"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, str, str]]:
    with Engine.open(tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"}) as engine:
        doc_id = engine.add(SAMPLE, "annual report.pdf").doc_id
        assert engine.ingest(doc_id).status == "ready"
        engine.index()
        conversation = engine.new_conversation()
        run = engine.chat(conversation, "What was total revenue in 2025?")
        run.run()
        yield engine, conversation, run.turn_id or ""


def answer_of(library: tuple[Engine, str, str]) -> Answer:
    engine, conversation, _ = library
    found = engine.conversation(conversation).turns[0].answer
    assert found is not None
    return found


def test_each_one_that_is_offered_is_answered_from_where_it_was_made(library: tuple[Engine, str, str]) -> None:
    engine, conversation, turn_id = library
    offered = engine.suggest(conversation, turn_id)
    assert 0 < len(offered) <= OFFERED
    places = {each.question: each for each in candidates(answer_of(library), engine.document)}
    for question in offered:
        answer = engine.ask(question).run()
        assert not answer.refused, question
        place = places[question]
        assert any(item.start < place.end and place.start < item.end for item in answer.citations), question
    assert engine.suggest(conversation, turn_id) == offered, "kept with the turn"


def test_periods_rows_and_sections_beside_it_are_asked_for(library: tuple[Engine, str, str]) -> None:
    engine = library[0]
    questions = [each.question for each in candidates(answer_of(library), engine.document)]
    assert "What was total revenue in 2024?" in questions
    assert any(" in 2025?" in question for question in questions), "another row of the same year"
    assert any(question.startswith("What does “") for question in questions), "another section"
    assert len({question.lower() for question in questions}) == len(questions)


def test_nothing_that_was_asked_or_is_refused_is_offered(library: tuple[Engine, str, str]) -> None:
    engine, answer = library[0], answer_of(library)
    tried: list[str] = []

    def refusing(question: str, doc_id: str) -> Answer:
        tried.append(question)
        return replace(answer, refused=True)

    assert suggest(answer, ["what was total revenue, in 2024"], engine.document, refusing) == ()
    assert tried
    assert "What was total revenue in 2024?" not in tried


def test_an_answer_from_elsewhere_does_not_count(library: tuple[Engine, str, str]) -> None:
    engine, answer = library[0], answer_of(library)
    elsewhere = replace(answer, citations=tuple(replace(item, start=0, end=1) for item in answer.citations))
    assert suggest(answer, [], engine.document, lambda *_: elsewhere) == ()


def test_it_gives_up_when_somebody_asks(library: tuple[Engine, str, str]) -> None:
    engine, conversation, _ = library
    again = engine.chat(conversation, "What was total revenue in 2025?")
    again.run()
    assert engine.suggest(conversation, again.turn_id or "", lambda: False) == ()
    assert engine.feedback.suggestions(again.turn_id or "") is None, "it is looked for again"


def test_a_removed_document_is_not_asked_about(library: tuple[Engine, str, str]) -> None:
    engine, conversation, _ = library
    answer = answer_of(library)
    gone = replace(answer, citations=tuple(replace(item, doc_id="gone") for item in answer.citations))
    turn_id = engine._conversations.add_turn(conversation, "Lost?")
    engine._conversations.put_answer(turn_id, gone)
    assert engine.suggest(conversation, turn_id) == ()


@pytest.mark.parametrize(
    ("row", "column", "question"),
    [
        ("Current assets / Inventories", "December 31, 2022", "What were inventories at December 31, 2022?"),
        ("Net cash provided by operations", "Fiscal 2021", "What was net cash provided by operations in Fiscal 2021?"),
        ("EBITDA", "2020", "What was EBITDA in 2020?"),
        ("Gross margin", "Change", "What is the change of gross margin?"),
        ("Total", "2020", ""),
        ("as a percent of revenue", "2020", ""),
        ("12", "2020", ""),
        ("Revenue", "%", ""),
    ],
)
def test_a_cell_is_asked_for_by_its_headers(row: str, column: str, question: str) -> None:
    assert _of_cell(row, column) == question


@pytest.mark.parametrize(
    ("name", "within"),
    [("Cost of sales", "cost of sales"), ("NET INCOME", "net income"), ("Jordan Brand", "Jordan Brand")],
)
def test_names_within_a_sentence(name: str, within: str) -> None:
    assert _inside(name) == within


def test_numbers_before_headings_and_headings_that_say_nothing_are_left_out(library: tuple[Engine, str, str]) -> None:
    engine = library[0]
    document = engine.document(engine.documents()[0].doc_id)
    heading = next(item for item in document.body if item.kind == "heading")

    def named(words: str) -> str:
        return _heading(replace(document, text=words), replace(heading, start=0, end=len(words)))

    assert named("4.2 Results of operations") == "Results of operations"
    assert named("Item 7. The year at a glance") == "The year at a glance"
    assert named("IV. Legal proceedings") == "Legal proceedings"
    assert [named(words) for words in ("Contents", "2 Introduction", "12", document.title)] == [""] * 4
