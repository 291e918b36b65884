"""Conversations: stored at once, reopened as they were."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from ragcore.errors import InputError, UnknownConversation
from ragcore.index.conversations import Conversations
from ragcore.index.database import open_database
from ragcore.types import (
    EVERYTHING,
    Answer,
    Box,
    Citation,
    Claim,
    Mark,
    Route,
    Scope,
    Section,
    Source,
    SubQuery,
    Trace,
    Unit,
    Usage,
)

BOX = Box(3, 1.5, 2.5, 3.5, 4.5)
ANSWER = Answer(
    question="How many?",
    queries=("How many?",),
    text="Five.[1]",
    refused=False,
    claims=(Claim("Five.", 0, 8, (1,), "supported", "the number stands there"),),
    citations=(
        Citation(1, "d", "T", 3, "iii", "Five.", 10, 15, (BOX,), (BOX,), "Row · Column", ("A", "B"), 1, (2, 2)),
    ),
    marks=(Mark(5, 8, 1),),
    dropped=("<<SOURCE 9>>",),
    sources=(Source(1, "d", "T", 0, 20, "…", (Unit(10, 15, "cell", "Row · Column"),), ("A",), (3,), ("iii",)),),
    model="offline",
    extractive=True,
    usage=Usage(1, 2),
    cost_usd=0.0,
    timings_ms={"retrieve": 1.5},
    settings_hash="h",
    status="failed",
    error={"code": "overloaded", "retryable": True},
    created=12.5,
)


@pytest.fixture
def conversations(tmp_path: Path) -> Conversations:
    return Conversations(open_database(tmp_path))


def test_a_turn_is_there_before_its_answer_and_reopens_as_it_was(conversations: Conversations, tmp_path: Path) -> None:
    one = conversations.new(Scope(("d",)))
    turn = conversations.add_turn(one, "How many?")
    assert conversations.get(one).turns[0].answer is None
    conversations.put_answer(turn, ANSWER)
    got = Conversations(open_database(tmp_path)).get(one)
    assert got.turns[0].answer == ANSWER
    assert got.scope == Scope(("d",))
    assert got.info.title == "How many?"


def test_turns_keep_their_order_and_the_first_gives_the_title(conversations: Conversations) -> None:
    one = conversations.new()
    for text in ("First question, which is much longer than a title in the list of conversations may be", "Second"):
        conversations.add_turn(one, text)
    got = conversations.get(one)
    assert [turn.question[:6] for turn in got.turns] == ["First ", "Second"]
    assert got.info.title.startswith("First question, which")
    assert len(got.info.title) <= 61
    assert got.scope == EVERYTHING


def test_a_scope_reopens_as_it_was(conversations: Conversations) -> None:
    one = conversations.new()
    for scope in (
        Scope(("d", "e"), ((3, 7), (12, 12)), ("table", "figure")),
        Scope(pages=((2, 2),)),
        Scope(("d",), sections=(Section("d", 5, 90, ("Part I", "Item 7")),)),
        Scope(()),
        EVERYTHING,
    ):
        conversations.set_scope(one, scope)
        assert conversations.get(one).scope == scope


def test_a_scope_of_the_time_before_sections_is_read(conversations: Conversations) -> None:
    one = conversations.new(Scope(("d",), ((3, 7),)))
    with conversations.database.write() as connection:
        old = json.dumps({"doc_ids": ["d"], "pages": [[3, 7]], "kinds": [], "without": []})
        connection.execute("UPDATE conversations SET doc_ids = ? WHERE conversation_id = ?", (old, one))
    assert conversations.get(one).scope == Scope(("d",), ((3, 7),))


def test_an_answer_of_the_time_before_traces_is_read(conversations: Conversations) -> None:
    one = conversations.new()
    turn = conversations.add_turn(one, "How many?")
    old = asdict(ANSWER)
    del old["trace"]
    with conversations.database.write() as connection:
        connection.execute(
            "UPDATE turns SET answer = ? WHERE turn_id = ?", (zlib.compress(json.dumps(old).encode()), turn)
        )
    assert conversations.get(one).turns[0].answer == ANSWER


def test_a_trace_reopens_as_it_was(conversations: Conversations) -> None:
    trace = Trace(
        scope=Scope(("d",), ((3, 7),), ("table",)),
        searched=1,
        queries=(SubQuery("How many?"), SubQuery("How many in 2020?", "rules", "it compares two years")),
        routes=(Route("d", 0.8, "T"),),
        found=1,
        titles={"d": "T"},
        candidates=40,
        reranked=20,
        timings_ms={"embed": 12.5},
    )
    one = conversations.new()
    turn = conversations.add_turn(one, "How many?")
    conversations.put_answer(turn, replace(ANSWER, trace=trace))
    answer = conversations.get(one).turns[0].answer
    assert answer is not None
    assert answer.trace == trace


def test_the_list_has_what_was_asked_last_first_and_nothing_empty(conversations: Conversations) -> None:
    old, new, _empty = (conversations.new() for _ in range(3))
    conversations.add_turn(old, "old")
    conversations.add_turn(new, "new")
    assert [info.title for info in conversations.all()] == ["new", "old"]
    conversations.add_turn(old, "again")
    assert [(info.title, info.turns) for info in conversations.all()] == [("old", 2), ("new", 1)]


def test_renaming_and_deleting(conversations: Conversations) -> None:
    one = conversations.new()
    turn = conversations.add_turn(one, "x")
    conversations.rename(one, " A name ")
    assert conversations.all()[0].title == "A name"
    with pytest.raises(InputError):
        conversations.rename(one, "T" * 201)
    conversations.rename(one, "T" * 200)
    conversations.delete(one)
    conversations.put_answer(turn, replace(ANSWER))
    with pytest.raises(UnknownConversation):
        conversations.get(one)
    with pytest.raises(UnknownConversation):
        conversations.rename(one, "y")
    with pytest.raises(UnknownConversation):
        conversations.add_turn(one, "z")


def test_a_part_of_the_turns_and_one_of_them(conversations: Conversations) -> None:
    one = conversations.new()
    turns = [conversations.add_turn(one, f"Question {number}?") for number in range(5)]
    other = conversations.add_turn(one, "Another?", conversations.place(one, instead_of=turns[4]))
    path = [*turns[:4], other]

    def ids(**part: object) -> tuple[list[str], int]:
        found = conversations.get(one, **part)  # type: ignore[arg-type]
        assert found.info.turns == 5
        return [turn.turn_id for turn in found.turns], found.earlier

    assert ids() == (path, 0)
    assert ids(newest=2) == (path[3:], 3)
    assert ids(newest=0) == ([], 5)
    assert ids(newest=9) == (path, 0)
    assert ids(newest=2, before=turns[3]) == (path[1:3], 1)
    assert ids(newest=2, since=turns[1]) == (path[1:], 1)
    assert ids(newest=2, since=turns[4]) == (path[3:], 3), "what is not shown is as not given"
    assert ids(newest=2, before="gone") == (path[3:], 3)

    shown = conversations.shown_turn(one, other)
    assert shown is not None
    assert (shown.question, shown.versions) == ("Another?", (turns[4], other))
    assert conversations.shown_turn(one, turns[4]) is None
