"""What people thought of answers is kept with the turn, taken back on request, and goes with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import InputError, UnknownTurn
from ragcore.suggest.questions import OFFLINE
from ragcore.types.library import Feedback


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(tmp_path, overrides={"llm.model": "offline"})


def turn(engine: Engine) -> tuple[str, str]:
    conversation = engine.conversations.new()
    return conversation, engine.conversations.add_turn(conversation, "What was it?")


def test_it_is_kept_changed_and_taken_back(engine: Engine) -> None:
    _, turn_id = turn(engine)
    engine.feedback.put(turn_id, Feedback(True))
    assert engine.feedback.of([turn_id, "gone"]) == {turn_id: Feedback(True)}
    engine.feedback.put(turn_id, Feedback(False, "citation", "Page 3 says “no”."))
    assert engine.feedback.of([turn_id]) == {turn_id: Feedback(False, "citation", "Page 3 says “no”.")}
    engine.feedback.put(turn_id, None)
    assert engine.feedback.of([turn_id]) == {}
    assert engine.feedback.all() == []


def test_it_goes_with_the_conversation(engine: Engine) -> None:
    conversation, turn_id = turn(engine)
    engine.feedback.put(turn_id, Feedback(True))
    engine.feedback.keep_suggestions(turn_id, ["And then?"])
    engine.conversations.delete(conversation)
    assert engine.feedback.all() == []
    assert engine.feedback.suggestions(turn_id) is None
    with pytest.raises(UnknownTurn):
        engine.feedback.put(turn_id, Feedback(True))
    with pytest.raises(UnknownTurn):
        engine.feedback.keep_suggestions(turn_id, [])


def test_too_many_words_are_refused(engine: Engine) -> None:
    _, turn_id = turn(engine)
    with pytest.raises(InputError):
        engine.feedback.put(turn_id, Feedback(False, "other", "x" * 2001))


def test_suggestions_are_kept_an_empty_list_too(engine: Engine) -> None:
    _, turn_id = turn(engine)
    assert engine.feedback.suggestions(turn_id) is None
    for questions in ((), ("What was it in 2021?", "“Why”?")):
        engine.feedback.keep_suggestions(turn_id, questions)
        assert engine.feedback.suggestions(turn_id) == questions


def test_the_command_prints_all_of_it(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    conversation, turn_id = turn(engine)
    home = ["--home", str(engine.home)]
    assert main([*home, "feedback"]) == 0
    assert "No feedback yet." in capsys.readouterr().out
    engine.feedback.put(turn_id, Feedback(False, "wrong", "It was not."))
    assert main([*home, "feedback"]) == 0
    assert "- What was it?" in capsys.readouterr().out
    assert main([*home, "--json", "feedback"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["feedback"]
    assert told.pop("created") > 0
    assert told == {
        "conversation_id": conversation,
        "turn_id": turn_id,
        "question": "What was it?",
        "answer": "",
        "model": "",
        "refused": False,
        "settings_hash": "",
        "helpful": False,
        "reason": "wrong",
        "words": "It was not.",
    }


def test_candidates_are_tried_by_settings_that_there_are(engine: Engine) -> None:
    assert engine.with_settings(OFFLINE).models.writer_name == "offline"
