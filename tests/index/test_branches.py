"""The turns of a conversation as a tree: what is shown, what is kept, and homes of the time before."""

from __future__ import annotations

import multiprocessing
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import UnknownConversation, UnknownTurn
from ragcore.index.conversations import Conversations
from ragcore.index.database import open_database
from tests.index.test_conversations import ANSWER


@pytest.fixture
def conversations(tmp_path: Path) -> Conversations:
    return Conversations(open_database(tmp_path))


def asked(conversations: Conversations, one: str, question: str, **place: str | None) -> str:
    """A question with an answer that repeats it."""
    turn = conversations.add_turn(one, question, conversations.place(one, **place))
    conversations.put_answer(turn, replace(ANSWER, text=f"{question}!", citations=(), marks=(), claims=()))
    return turn


def shown(conversations: Conversations, one: str) -> list[str]:
    return [turn.question for turn in conversations.get(one).turns]


def test_an_edited_question_stands_beside_the_first_and_nothing_is_lost(conversations: Conversations) -> None:
    one = conversations.new()
    asked(conversations, one, "a")
    b = asked(conversations, one, "b")
    c = asked(conversations, one, "c")
    edited = asked(conversations, one, "B", instead_of=b)
    assert shown(conversations, one) == ["a", "B"]
    assert conversations.get(one).turns[1].versions == (b, edited)
    assert conversations.get(one).turns[0].versions == (conversations.get(one).turns[0].turn_id,)
    conversations.show_turn(one, b)
    assert shown(conversations, one) == ["a", "b", "c"]
    assert conversations.get(one).turns[2].turn_id == c
    third = asked(conversations, one, "B again", instead_of=edited)
    assert conversations.get(one).turns[1].versions == (b, edited, third)


def test_another_version_has_the_history_that_the_first_had(conversations: Conversations) -> None:
    one = conversations.new()
    asked(conversations, one, "a")
    b = asked(conversations, one, "b")
    asked(conversations, one, "c")
    assert [turn.question for turn in conversations.place(one, instead_of=b).history] == ["a"]
    asked(conversations, one, "B", instead_of=b)
    assert [(turn.question, turn.answer) for turn in conversations.place(one).history] == [("a", "a!"), ("B", "B!")]


def test_a_first_question_can_be_edited_too(conversations: Conversations) -> None:
    one = conversations.new()
    a = asked(conversations, one, "a")
    asked(conversations, one, "b")
    assert conversations.place(one, instead_of=a).history == ()
    edited = asked(conversations, one, "A", instead_of=a)
    assert shown(conversations, one) == ["A"]
    assert conversations.get(one).turns[0].versions == (a, edited)
    assert conversations.all()[0].turns == 1


def test_a_question_goes_after_the_turn_that_its_asker_saw(conversations: Conversations) -> None:
    one = conversations.new()
    a = asked(conversations, one, "a")
    b = asked(conversations, one, "b")
    asked(conversations, one, "A", instead_of=a)  # in another tab
    assert shown(conversations, one) == ["A"]
    assert [turn.question for turn in conversations.place(one, after=b).history] == ["a", "b"]
    asked(conversations, one, "c", after=b)
    assert shown(conversations, one) == ["a", "b", "c"]
    asked(conversations, one, "first", after="")
    assert shown(conversations, one) == ["first"]
    assert len(conversations.get(one).turns[0].versions) == 3


def test_going_to_a_branch_goes_to_its_newest_end(conversations: Conversations) -> None:
    one = conversations.new()
    a = asked(conversations, one, "a")
    b = asked(conversations, one, "b")
    asked(conversations, one, "c")
    asked(conversations, one, "c2", after=b)
    asked(conversations, one, "A", instead_of=a)
    conversations.show_turn(one, a)
    assert shown(conversations, one) == ["a", "b", "c2"]
    assert conversations.all()[0].turns == 3
    assert conversations.all()[0].shown == conversations.get(one).turns[-1].turn_id


def test_showing_another_branch_does_not_move_the_conversation_up(conversations: Conversations) -> None:
    old, new = conversations.new(), conversations.new()
    a = asked(conversations, old, "a")
    asked(conversations, old, "A", instead_of=a)
    asked(conversations, new, "x")
    conversations.show_turn(old, a)
    assert [info.conversation_id for info in conversations.all()] == [new, old]


@pytest.mark.parametrize("place", [{"after": "gone"}, {"instead_of": "gone"}, {"instead_of": ""}])
def test_an_unknown_turn_is_an_error(conversations: Conversations, place: dict[str, str]) -> None:
    one = conversations.new()
    asked(conversations, one, "a")
    with pytest.raises(UnknownTurn):
        conversations.place(one, **place)
    with pytest.raises(UnknownTurn):
        conversations.show_turn(one, "gone")
    assert shown(conversations, one) == ["a"]


def test_a_turn_of_another_conversation_is_an_error(conversations: Conversations) -> None:
    one, other = conversations.new(), conversations.new()
    asked(conversations, one, "a")
    foreign = asked(conversations, other, "b")
    for place in ({"after": foreign}, {"instead_of": foreign}):
        with pytest.raises(UnknownTurn):
            conversations.place(one, **place)
    with pytest.raises(UnknownTurn):
        conversations.add_turn(one, "c", conversations.place(other))
    with pytest.raises(UnknownTurn):
        conversations.show_turn(one, foreign)
    assert (shown(conversations, one), shown(conversations, other)) == (["a"], ["b"])


def test_deleting_a_conversation_deletes_all_its_branches(conversations: Conversations) -> None:
    one = conversations.new()
    a = asked(conversations, one, "a")
    asked(conversations, one, "A", instead_of=a)
    with conversations.database.write() as connection:  # a chain of turns longer than SQLite's triggers may nest
        for number in range(1200):
            parent = f"t{number - 1}" if number else a
            row = {"turn_id": f"t{number}", "conversation_id": one, "question": "q", "created": 1.0}
            connection.insert("turns", row | {"parent": parent, "depth": number + 2})
    conversations.delete(one)
    with conversations.database.read() as connection:
        for table in ("conversations", "turns", "turn_words"):
            assert connection.value(f"SELECT count(*) FROM {table}") == 0
    for attempt in (lambda: conversations.show_turn(one, a), lambda: conversations.place(one, after=a)):
        with pytest.raises(UnknownConversation):
            attempt()


def test_versions_of_a_first_question_stay_versions(conversations: Conversations) -> None:
    one = conversations.new()
    a = asked(conversations, one, "a")
    versions = [a, *(asked(conversations, one, "a", instead_of=a) for _ in range(3))]
    for _ in range(2):
        assert conversations.all("a")[0].turns == 1
        assert conversations.get(one).turns[0].versions == tuple(versions)


def test_branches_reopen_with_the_same_highlights(conversations: Conversations, tmp_path: Path) -> None:
    one = conversations.new()
    first = conversations.add_turn(one, "a")
    conversations.put_answer(first, ANSWER)
    other = replace(ANSWER, status="stopped", text="Fi", marks=(), claims=(), error=None)
    second = conversations.add_turn(one, "a", conversations.place(one, instead_of=first))
    conversations.put_answer(second, other)
    again = Conversations(open_database(tmp_path))
    assert again.get(one).turns[0].answer == other
    again.show_turn(one, first)
    assert again.get(one).turns[0].answer == ANSWER


def _ask_many(home: Path, one: str, after: str, name: str) -> None:
    conversations = Conversations(open_database(home))
    for number in range(15):
        after = conversations.add_turn(one, f"{name}{number}", conversations.place(one, after=after))


def test_processes_that_ask_at_once_each_keep_their_own_thread(conversations: Conversations, tmp_path: Path) -> None:
    one = conversations.new()
    root = asked(conversations, one, "a")
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_ask_many, args=(tmp_path, one, root, name)) for name in ("x", "y")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    versions = conversations.get(one).turns[1].versions
    assert len(versions) == 2
    for turn_id in versions:
        conversations.show_turn(one, turn_id)
        questions = shown(conversations, one)
        assert questions == ["a", *(f"{questions[1][0]}{number}" for number in range(15))]


def test_threads_that_ask_at_once_lose_nothing(conversations: Conversations) -> None:
    one = conversations.new()
    root = asked(conversations, one, "a")
    threads = [
        threading.Thread(target=lambda name=name: asked(conversations, one, name, instead_of=root)) for name in "bcdefg"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(conversations.get(one).turns[0].versions) == 7


@given(st.lists(st.tuples(st.sampled_from(["ask", "edit", "show"]), st.integers(0, 50)), max_size=25))
def test_the_shown_path_is_what_was_last_asked_or_chosen(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    database = open_database(tmp_path_factory.mktemp("home"))
    conversations = Conversations(database)
    one = conversations.new()
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for step, which in steps:
        chosen = list(parents)[which % len(parents)] if parents else None
        if step == "ask" or chosen is None:
            turn = conversations.add_turn(one, "q", conversations.place(one, after=path[-1] if path else ""))
            parents[turn] = path[-1] if path else None
            path = [*path, turn]
        elif step == "edit":
            turn = conversations.add_turn(one, "q", conversations.place(one, instead_of=chosen))
            parents[turn] = parents[chosen]
            path = _path(parents, turn)
        else:
            conversations.show_turn(one, chosen)
            ends = [turn for turn in parents if chosen in _path(parents, turn)]
            path = _path(parents, ends[-1])
        turns = conversations.get(one).turns
        assert [turn.turn_id for turn in turns] == path
        for turn in turns:
            siblings = [other for other in parents if parents[other] == parents[turn.turn_id]]
            assert list(turn.versions) == siblings
    database.close()


def _path(parents: dict[str, str | None], turn: str | None) -> list[str]:
    return [] if turn is None else [*_path(parents, parents[turn]), turn]
