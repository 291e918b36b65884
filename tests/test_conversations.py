"""Conversations from the engine and the command line: branches, what a follow-up is searched for as, and history."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import EmptyQuestion, QuestionTooShort, UnknownTurn
from ragcore.types import Text, Turn
from tests import prepared
from tests.messages_server import MessagesServer, Reply

QUESTION = "What was the highest nitrate reading?"


@pytest.fixture(scope="module")
def home(surveyed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared.copied(surveyed, tmp_path_factory.mktemp("home") / "home")


@pytest.fixture
def engine(home: Path) -> Iterator[Engine]:
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as opened:
        yield opened


@pytest.fixture
def server(server: MessagesServer, key: None, monkeypatch: pytest.MonkeyPatch) -> MessagesServer:
    # The first call loads the client, which takes long on a busy machine.
    monkeypatch.setenv("GROUNDWORK_CHAT__TIMEOUT_SECONDS", "100")
    return server


def claude(home: Path, **overrides: Any) -> Engine:
    return Engine.open(home=home, overrides={"llm.cache": False, **overrides})


def test_a_follow_up_without_a_subject_has_what_was_cited_before(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcore.retrieve.agentic.NEIGHBOURS", 0)
    few = {"llm.model": "offline", "retrieve.top_k": 1}
    with Engine.open(home=home, overrides=few) as engine:
        first = engine.ask("When did the Larkfield survey begin?").run()
        assert first.citations[0].title == "Larkfield Water Survey"

        def found(question: str, history: Turn) -> set[str]:
            return {source.doc_id for source in engine.ask(question, history=[history]).run().sources}

        asked = "And what was it in June?"
        doc_id = first.citations[0].doc_id
        turn = replace(Turn.of(first), question="What was the nitrate of Mill Bridge by well in April?")
        assert doc_id not in found(asked, replace(turn, cited=()))
        assert doc_id in found(asked, turn)
        own = "What was the nitrate reading at Mill Bridge in April, May and June by well?"
        assert doc_id not in found(own, turn)


def test_an_edited_question_is_a_version_and_both_reopen_with_their_highlights(engine: Engine) -> None:
    one = engine.conversations.new()
    first = engine.chat(one, QUESTION).run()
    run = engine.chat(one, "And the lowest?")
    second = run.run()
    edited = engine.chat(one, "Which well was it in?", instead_of=run.turn_id)
    third = edited.run()
    turns = engine.conversations.get(one).turns
    assert [turn.answer for turn in turns] == [first, third]
    assert turns[1].versions == (run.turn_id, edited.turn_id)
    assert run.turn_id is not None
    engine.conversations.show_turn(one, run.turn_id)
    assert [turn.answer for turn in engine.conversations.get(one).turns] == [first, second]
    assert second.standalone
    assert (second.queries[0], second.rewritten_by) == (second.standalone, "rules")
    assert (first.standalone, first.rewritten_by) == ("", "")


def test_an_answer_stopped_midway_is_kept_in_its_branch(home: Path, server: MessagesServer) -> None:
    with claude(home) as engine:
        one = engine.conversations.new()
        server.reply(Reply(text="It was 61.4 mg/l <<SOURCE 1.1>>."))
        run = engine.chat(one, QUESTION)
        whole = run.run()
        server.reply(Reply(text=["It was ", *("more and more " for _ in range(400))], delay=0.05))
        again = engine.chat(one, QUESTION, instead_of=run.turn_id)
        for event in again:
            if isinstance(event, Text):
                again.stop()
        stopped = again.answer
        assert stopped is not None
        assert stopped.status == "stopped"
        assert stopped.text.startswith("It was")
    with claude(home) as engine:
        (turn,) = engine.conversations.get(one).turns
        assert turn.answer == stopped
        assert run.turn_id is not None
        engine.conversations.show_turn(one, run.turn_id)
        (turn,) = engine.conversations.get(one).turns
        assert turn.answer == whole
        assert [citation.boxes for citation in turn.answer.citations] == [c.boxes for c in whole.citations]


def test_the_writer_sees_the_history_of_the_branch_without_its_marks(home: Path, server: MessagesServer) -> None:
    with claude(home) as engine:
        one = engine.conversations.new()
        for text in ("First <<SOURCE 1.1>>.", "Second <<SOURCE 1.1>>.", "Third <<SOURCE 1.1>>."):
            server.reply(Reply(text=text))
        engine.chat(one, QUESTION).run()
        run = engine.chat(one, "In which of the wells was it measured?")
        run.run()
        engine.chat(one, "In which month was it measured?", instead_of=run.turn_id).run()
    messages = server.requests[-1]["body"]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    before = json.dumps(messages[:-1])
    assert QUESTION in before
    assert "First." in before
    assert "[1]" not in before
    assert "SOURCE" not in before


def test_a_question_asked_from_another_branch_follows_what_its_asker_saw(engine: Engine) -> None:
    one = engine.conversations.new()
    run = engine.chat(one, QUESTION, after="")
    run.run()
    engine.chat(one, "How many wells were sampled?", instead_of=run.turn_id).run()  # in another tab
    answer = engine.chat(one, "And the lowest?", after=run.turn_id).run()
    assert "nitrate" in answer.standalone
    assert [turn.question for turn in engine.conversations.get(one).turns] == [QUESTION, "And the lowest?"]
    with pytest.raises(UnknownTurn):
        engine.chat(one, "And then?", after="nowhere")
    with pytest.raises(UnknownTurn):
        engine.chat(engine.conversations.new(), "And then?", instead_of=run.turn_id)


@pytest.mark.parametrize("question", ["Q4", "ok"])
def test_a_short_question_goes_on_from_the_one_before_or_is_refused(engine: Engine, question: str) -> None:
    one = engine.conversations.new()
    with pytest.raises(QuestionTooShort):
        engine.chat(one, question)
    with pytest.raises(QuestionTooShort):
        engine.ask(question).run()
    assert engine.conversations.get(one).turns == (), "what cannot be asked is not stored"
    engine.chat(one, QUESTION).run()
    answer = engine.chat(one, question).run()
    assert "nitrate" in answer.standalone
    assert "nitrate" in answer.queries[0]
    with pytest.raises(EmptyQuestion):
        engine.chat(one, "  ")


@pytest.mark.parametrize("question", ["?", "????", "… !", "🤔"])
def test_a_question_without_a_word_is_refused_and_not_stored(engine: Engine, question: str) -> None:
    one = engine.conversations.new()
    for stored in (0, 1):
        with pytest.raises(EmptyQuestion, match="has no words") as refused:
            engine.chat(one, question)
        assert refused.value.hint == "Type a question in words."
        assert len(engine.conversations.get(one).turns) == stored
        if not stored:
            engine.chat(one, QUESTION).run()
    with pytest.raises(EmptyQuestion):
        engine.ask(question).run()


def test_two_characters_are_a_word_where_they_are_chinese(engine: Engine) -> None:
    assert engine.ask("硝酸").run().status == "complete"


def test_with_a_key_claude_makes_it_stand_alone_from_the_answers_too(home: Path, server: MessagesServer) -> None:
    with claude(home, **{"chat.rewrite": "auto"}) as engine:
        one = engine.conversations.new()
        server.reply(Reply(text="It was read in the Harrow Lane well <<SOURCE 1.1>>."))
        engine.chat(one, QUESTION).run()
        assert server.forms == [], "there is nothing before it"
        usage = {"input_tokens": 1000, "output_tokens": 100}
        server.plan(Reply(tool=("stand_alone", {"question": "Which nitrate reading has that well?"}), usage=usage))
        server.reply(Reply(text="Two <<SOURCE 1.1>>.", usage={"input_tokens": 2000, "output_tokens": 50}))
        answer = engine.chat(one, "Which wells are there?").run()
        assert answer.standalone == "Which nitrate reading has that well?"
        assert answer.rewritten_by == "claude-sonnet-4-6"
        assert answer.queries[0] == answer.standalone
        assert answer.usage.input_tokens == 3000
        assert answer.cost_usd == pytest.approx((3000 * 3 + 150 * 15) / 1e6)
        assert answer.timings_ms["rewrite"] > 0
        assert engine.conversations.get(one).turns[1].answer == answer
        (form,) = server.forms
        shown = form["messages"][-1]["content"]
        assert "Harrow Lane" in shown
        assert "[1]" not in shown
        assert any(entry.purpose == "rewrite" for entry in engine.spending().entries)


def test_a_form_that_cannot_be_used_is_asked_for_again_and_then_rules_do_it(home: Path, server: MessagesServer) -> None:
    with claude(home, **{"chat.rewrite": "auto"}) as engine:
        one = engine.conversations.new()
        engine.chat(one, QUESTION).run()
        invented = {"question": "What was the lowest reading in 1987?"}
        server.plan(Reply(tool=("stand_alone", invented)), Reply(tool=("stand_alone", "{")))
        answer = engine.chat(one, "And the lowest?").run()
    assert answer.status == "complete"
    assert answer.rewritten_by == "rules"
    assert "nitrate" in answer.standalone
    assert answer.trace is not None
    (note,) = answer.trace.notes
    assert note.startswith("claude-sonnet-4-6 couldn't rewrite the question, so rules did: ")
    assert len(server.forms) == 2
    assert "'1987' is in neither the question nor the conversation" in json.dumps(server.forms[1])


def test_the_second_form_is_used_where_only_the_first_was_wrong_and_a_refused_key_is_an_error(
    home: Path, server: MessagesServer
) -> None:
    with claude(home, **{"chat.rewrite": "auto", "llm.retries": 0}) as engine:
        one = engine.conversations.new()
        engine.chat(one, QUESTION).run()
        right = {"question": "What was the lowest nitrate reading?"}
        server.plan(Reply(tool=("stand_alone", {})), Reply(tool=("stand_alone", right)))
        answer = engine.chat(one, "And the lowest?").run()
        assert answer.standalone == right["question"]
        assert answer.trace is not None
        assert answer.trace.notes == ()
        server.plan(Reply(status=529), Reply(status=401))
        answer = engine.chat(one, "And the lowest?").run()
        assert (answer.status, answer.rewritten_by) == ("complete", "rules")
        failed = engine.chat(one, "And the lowest?").run()
        assert failed.error is not None
        assert failed.error["code"] == "key_refused"


def test_stop_while_the_question_is_read_ends_the_answer_soon(home: Path, server: MessagesServer) -> None:
    with claude(home, **{"chat.rewrite": "auto"}) as engine:
        one = engine.conversations.new()
        engine.chat(one, QUESTION).run()
        server.asked.clear()
        server.plan(Reply(first_delay=60.0))
        run = engine.chat(one, "And the lowest?")
        threading.Thread(target=lambda: (server.asked.wait(60), run.stop())).start()
        answer = run.run()
        assert (answer.status, answer.text) == ("stopped", "")
        assert engine.conversations.get(one).turns[1].answer == answer


def test_a_question_that_names_what_it_is_about_is_not_asked_about(home: Path, server: MessagesServer) -> None:
    with claude(home, **{"chat.rewrite": "auto"}) as engine:
        one = engine.conversations.new()
        engine.chat(one, QUESTION).run()
        answer = engine.chat(one, "How deep is the well of Harrow Lane?").run()
    assert (answer.standalone, server.forms) == ("", [])


def test_by_default_a_key_changes_nothing_in_what_is_searched_for(
    home: Path, engine: Engine, server: MessagesServer
) -> None:
    with claude(home) as with_key:
        asked = []
        for each in (engine, with_key):
            one = each.conversations.new()
            each.chat(one, QUESTION).run()
            asked.append(each.chat(one, "And the lowest?").run().queries)
    assert asked[0] == asked[1]
    assert server.forms == []


def said(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_command_line_lists_and_goes_on(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDWORK_LLM__MODEL", "offline")

    def ragcore(*arguments: str, stdin: str = "", code: int = 0) -> list[Any]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        assert main(["--home", str(home), "--json", "conversation", *arguments]) == code
        return said(capsys)

    walrus = "Does any walrus read nitrate?"
    first = ragcore(stdin=f"{walrus}\nAnd the highest?\n")
    one = first[0]["conversation_id"]
    assert first[1]["standalone"]
    assert first[1]["rewritten_by"] == "rules"
    (listed,) = ragcore("--list", "walrus highest")
    assert [(each["conversation_id"], each["turns"]) for each in listed["conversations"]] == [(one, 2)]
    assert listed["conversations"][0]["found"]
    assert "walrus" in ragcore("--list", "walrus")[0]["conversations"][0]["found"]
    assert ragcore("--list", "walrus absent")[0] == {"conversations": []}
    assert len(ragcore("--list")[0]["conversations"]) > 1

    (further,) = ragcore("--resume", one, stdin="And the lowest?\n")
    with Engine.open(home=home) as engine:
        turns = engine.conversations.get(one).turns
        assert [turn.question for turn in turns] == [walrus, "And the highest?", "And the lowest?"]
        assert turns[2].turn_id == further["turn_id"]
    assert ragcore(stdin="?\n", code=1)[0]["error"]["code"] == "empty_question"
    for wrong in (["--resume"], ["--resume", one, "--list"]):
        with pytest.raises(SystemExit):
            main(["--home", str(home), "conversation", *wrong])
    capsys.readouterr()

    with Engine.open(home=home) as engine:
        engine.chat(one, "And in April?", instead_of=first[1]["turn_id"]).run()
    monkeypatch.setattr("sys.stdin", io.StringIO("And the lowest?\n"))
    assert main(["--home", str(home), "conversation", "--resume", one]) == 0
    printed = capsys.readouterr()
    assert "> And in April? (2 of 2)" in printed.err
    assert printed.out.startswith("? And the lowest?\n\nUnderstood as: ")
    assert main(["--home", str(home), "conversation", "--list", "walrus"]) == 0
    assert one in capsys.readouterr().out
