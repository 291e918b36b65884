"""A live answer: what its search does is told while it does it, and the answer keeps why it has its sources."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.errors import InputError, UnknownDocument, UnknownTurn
from ragcore.types import Scope
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply
from ui.chat import payload
from ui.chat.runs import Answers, LiveAnswer, ScopeGone, StillWriting


def test_the_steps_of_a_search_are_told_and_the_scope_is_kept(tmp_path: Path) -> None:
    scope = Scope(None, ((1, 2),), ("text",))
    with Engine.open(tmp_path) as engine:
        doc_id = prepared.read(engine, pdfs.running_headers(4), "four.pdf")
        engine.index()
        answers = Answers(engine)
        conversation = engine.conversations.new(scope)
        live = answers.ask(conversation, "What did the crews find?")
        assert payload.turn(engine.conversations.get(conversation).turns[0], live)["only"] == "Only pages 1–2, text"
        end = time.monotonic() + 60
        while live.finished_at is None and time.monotonic() < end:
            time.sleep(0.02)
        answer = engine.conversations.get(conversation).turns[0].answer
        answers.close()

    assert [step.name for step in live.view.steps] == ["search", "rerank"]
    assert answer is not None
    assert answer.trace is not None
    assert answer.trace.scope == scope
    assert set(answer.trace.titles) == {doc_id}
    assert answer.trace.found > 0
    assert all(set(source.pages) & {1, 2} for source in answer.sources)


def test_versions_of_a_question_and_the_branch_that_is_shown(tmp_path: Path) -> None:
    def finished(live: LiveAnswer) -> str:
        end = time.monotonic() + 60
        while live.finished_at is None and time.monotonic() < end:
            time.sleep(0.02)
        return live.turn_id

    with Engine.open(tmp_path) as engine:
        prepared.read(engine, pdfs.one_column(), "a.pdf")
        engine.index()
        answers = Answers(engine)
        talk = engine.conversations.new()
        first = finished(answers.ask(talk, "Which crew sampled the wells?"))
        second = finished(answers.ask(talk, "When did the survey begin?", after=first))
        live = answers.ask(talk, "Which crew sampled?", instead_of=first)
        other = live.turn_id
        refused = ""
        try:
            answers.show(talk, first)
        except StillWriting as error:
            refused = error.message
        assert "being written" in refused or live.finished_at is not None
        finished(live)
        answers.show(talk, other)
        assert [turn.turn_id for turn in engine.conversations.get(talk).turns] == [other]
        (turn,) = payload.conversation(engine.conversations.get(talk), {})["turns"]
        assert turn["versions"] == [first, other]
        answers.show(talk, first)
        assert [turn.turn_id for turn in engine.conversations.get(talk).turns] == [first, second]
        with pytest.raises(UnknownTurn):
            answers.show(talk, "0" * 16)
        answers.close()


def test_a_document_removed_from_the_library_is_not_asked(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        kept, removed = (prepared.read(engine, make(), "a.pdf") for make in (pdfs.one_column, pdfs.ruled_table))
        engine.index()
        both, one = (engine.conversations.new(Scope(ids)) for ids in ((kept, removed), (removed,)))
        engine.remove(removed)
        answers = Answers(engine)
        assert answers.ask(both, "Which crew sampled the wells?").scope.doc_ids == (kept,)
        for shown in (None, Scope(())):  # a page that shows none of what was removed
            with pytest.raises(InputError, match="removed from the library"):
                answers.ask(one, "Which crew sampled the wells?", shown)
        assert engine.conversations.get(one).turns == ()
        with pytest.raises(UnknownDocument) as caught:
            engine.retrieve("Which crew?", doc_ids=[removed])
        answers.close()
    assert "ragcore" not in payload.error(caught.value.as_dict())["hint"], "no command is named in the app"


def test_of_questions_at_the_same_moment_one_is_taken(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        prepared.read(engine, pdfs.one_column(), "a.pdf")
        engine.index()
        answers = Answers(engine)
        talk = engine.conversations.new()
        begin = threading.Barrier(4)

        def ask(number: int) -> str:
            begin.wait()
            try:
                return answers.ask(talk, f"Which crew sampled the wells {number}?").turn_id
            except StillWriting:
                return ""

        with ThreadPoolExecutor(4) as pool:
            taken = [turn_id for turn_id in pool.map(ask, range(4)) if turn_id]
        with pytest.raises(ScopeGone, match="No document is in scope"):
            answers.ask(engine.conversations.new(), "Which crew?", Scope(()))
        stored = [turn.turn_id for turn in engine.conversations.get(talk).turns]
        answers.close()
    assert len(taken) == 1
    assert stored == taken


def test_what_could_not_be_searched_is_remembered_of_the_last_questions_only(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        prepared.read(engine, pdfs.ruled_table(), "read.pdf")
        engine.index()
        engine.add(pdfs.one_column(), "waits.pdf")
        answers = Answers(engine, remembered=3)
        turns = [
            answers.ask(engine.conversations.new(), f"Which crew sampled well {number}?").turn_id for number in range(5)
        ]
        assert [bool(answers.unsearched(turn_id)) for turn_id in turns] == [False, False, True, True, True]
        answers.close()


def test_a_question_before_the_first_document_is_ready_is_not_stored(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        waits = engine.add(pdfs.one_column(), "waits.pdf").doc_id
        answers = Answers(engine)
        talk = engine.conversations.new()
        for scope in (None, Scope((waits,))):
            with pytest.raises(ScopeGone, match="still being read"):
                answers.ask(talk, "Which crew sampled the wells?", scope)
        assert engine.conversations.get(talk).turns == ()
        answers.close()


def test_a_server_that_hangs_holds_up_no_other_answer(surveyed: Path, tmp_path: Path, server: MessagesServer) -> None:
    prepared.copied(surveyed, tmp_path / "home")
    server.reply(*[Reply(text="late", first_delay=240)] * 9)
    with Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        hung = engine.with_settings({"llm.model": "claude", "llm.base_url": server.url}, "sk-own")
        answers = Answers(engine)
        for _ in range(9):
            answers.ask(engine.conversations.new(), "What was the highest nitrate reading?", engine=hung)
        live = answers.ask(engine.conversations.new(), "What was the highest nitrate reading?")
        end = time.monotonic() + 180
        while live.finished_at is None:
            assert time.monotonic() < end, "it waits for the others"
            time.sleep(0.01)
        assert live.view.answer is not None
        answers.close()
