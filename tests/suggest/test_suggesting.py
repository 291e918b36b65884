"""What could be asked next: drawn from around the cited words, and offered only where it is answered from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.offline import wording
from ragcore.pipelines.stream import AnswerRun
from ragcore.suggest.questions import OFFERED, Candidate, around, suggest
from ragcore.types import Answer, Scope, Turn
from tests import prepared
from tests.documents import Heading, make_document


@pytest.fixture(scope="module")
def library(sampled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, str, str]]:
    home = prepared.copied(sampled, tmp_path_factory.mktemp("suggesting") / "home")
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        conversation = engine.conversations.new()
        run = engine.chat(conversation, "What was total revenue in 2025?")
        run.run()
        yield engine, conversation, run.turn_id or ""


def answer_of(library: tuple[Engine, str, str]) -> Answer:
    engine, conversation, _ = library
    found = engine.conversations.get(conversation).turns[0].answer
    assert found is not None
    return found


def candidates(engine: Engine, answer: Answer, *, several: bool = False) -> list[Candidate]:
    places = [(item.doc_id, item.start, item.end) for item in answer.citations[:3]]
    return list(around(places, engine.document, wording, several=several))


@pytest.mark.slow
def test_each_one_that_is_offered_is_answered_from_where_it_was_made(library: tuple[Engine, str, str]) -> None:
    engine, conversation, turn_id = library
    offered = engine.suggest(conversation, turn_id)
    assert 0 < len(offered) <= OFFERED
    places = {each.question: each for each in candidates(engine, answer_of(library))}
    for question in offered:
        answer = engine.ask(question).run()
        assert not answer.refused, question
        place = places[question]
        assert place.doc_id == answer.citations[0].doc_id
        assert any(item.start < place.end and place.start < item.end for item in answer.citations), question
    assert engine.suggest(conversation, turn_id) == offered, "kept with the turn"


def test_periods_rows_and_sections_beside_it_are_asked_for(library: tuple[Engine, str, str]) -> None:
    engine = library[0]
    questions = [each.question for each in candidates(engine, answer_of(library))]
    assert any(each.endswith("in 2024?") for each in questions), "a period"
    assert any(each.endswith("in 2025?") for each in questions), "a row"
    assert any(question.startswith("What does the document say about ") for question in questions), "another section"
    assert len({question.lower() for question in questions}) == len(questions)


def test_questions_beside_several_documents_do_not_repeat_a_title(library: tuple[Engine, str, str]) -> None:
    engine, answer = library[0], answer_of(library)
    title = engine.document(answer.citations[0].doc_id).title
    questions = [each.question for each in candidates(engine, answer, several=True)]
    assert questions
    assert not any(title in question or "the document " in question for question in questions)


def test_nothing_that_was_asked_or_is_refused_is_offered(library: tuple[Engine, str, str]) -> None:
    engine, answer = library[0], answer_of(library)
    tried: list[str] = []

    def refusing(question: str) -> Answer:
        tried.append(question)
        return replace(answer, refused=True)

    before = replace(answer, question="what was total revenue, in 2024", citations=())
    assert suggest(answer, [before], engine.document, wording, refusing) == ()
    assert tried
    assert "What was total revenue in 2024?" not in tried


def test_what_was_cited_before_is_not_asked_for(library: tuple[Engine, str, str]) -> None:
    engine, answer = library[0], answer_of(library)
    tried: list[str] = []

    def elsewhere(question: str) -> Answer:
        tried.append(question)
        return replace(answer, refused=True)

    place = next(each for each in candidates(engine, answer) if each.question.endswith("in 2024?"))
    cited = replace(answer.citations[0], start=place.start, end=place.end)
    suggest(answer, [replace(answer, question="Another?", citations=(cited,))], engine.document, wording, elsewhere)
    assert tried
    assert place.question not in tried


def test_an_answer_from_elsewhere_does_not_count(library: tuple[Engine, str, str]) -> None:
    engine, answer = library[0], answer_of(library)
    elsewhere = replace(answer, citations=tuple(replace(item, start=0, end=1) for item in answer.citations))
    assert suggest(answer, [], engine.document, wording, lambda _: elsewhere) == ()


def test_a_candidate_is_tried_as_the_next_question_of_the_conversation(
    library: tuple[Engine, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _, _ = library
    conversation = engine.conversations.new()
    run = engine.chat(conversation, "What was net income in 2025?")
    run.run()
    asked: list[tuple[str, ...]] = []
    ask = Engine._ask

    def spied(self: Engine, question: str, scope: Scope, history: Sequence[Turn], *given: Any) -> AnswerRun:
        asked.append(tuple(turn.question for turn in history))
        return ask(self, question, scope, history, *given)

    monkeypatch.setattr(Engine, "_ask", spied)
    engine.suggest(conversation, run.turn_id or "")
    assert asked
    assert set(asked) == {("What was net income in 2025?",)}


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
    turn_id = engine.conversations.add_turn(conversation, "Lost?")
    engine.conversations.put_answer(turn_id, gone)
    assert engine.suggest(conversation, turn_id) == ()


def test_no_question_is_made_of_a_section_in_another_language() -> None:
    english = "The bill is due in May, and what is not paid by then is subject to a late charge of five dollars."
    spanish = "La factura se debe pagar en mayo, y lo que no se paga a tiempo está sujeto a un cargo de cinco dólares."
    blocks = (
        Heading("Your bill"),
        english,
        Heading("Pagos de los clientes"),
        spanish,
        Heading("Late charges"),
        english,
    )
    document = make_document(*blocks)
    asked = [one.question for one in around([(document.doc_id, 0, 9)], lambda _: document, wording)]
    assert any("late charges" in question for question in asked)
    assert not any("clientes" in question for question in asked)
