"""Finding conversations by the words of their titles, questions and answers."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcore.index.conversations import Conversations
from ragcore.index.database import open_database
from ragcore.text.words import lexemes
from tests.index.test_conversations import ANSWER


@pytest.fixture
def conversations(tmp_path: Path) -> Conversations:
    return Conversations(open_database(tmp_path))


def hold(conversations: Conversations, *turns: tuple[str, str]) -> str:
    one = conversations.new()
    for question, text in turns:
        turn = conversations.add_turn(one, question)
        conversations.put_answer(turn, replace(ANSWER, text=text, citations=(), marks=(), claims=()))
    return one


def test_words_of_title_questions_and_answers_count_together(conversations: Conversations) -> None:
    one = hold(conversations, ("What was the capex of 3M?", "It was $1,577 million [1]."), ("And in 2018?", "Less."))
    other = hold(conversations, ("What was the capex in 2017?", "None."))
    conversations.rename(other, "Müller & Söhne")

    def found(search: str) -> list[str]:
        return [info.conversation_id for info in conversations.all(search)]

    assert found("capex 2018") == [one]
    assert found("capex") == [other, one]
    assert found("  ") == found("")
    assert found("capex muller") == [other]
    assert found("MÜLL none") == [other]
    assert found("1,577 million") == [one]
    assert found("capex 2019") == []
    assert found("?") == []


@pytest.mark.parametrize(
    ("search", "text", "matches"),
    [
        ("expenses", "its expense", True),
        ("expense", "all expenses", True),
        ("cap", "capital", True),
        ("ital", "capital", False),
        ("margin", "marginally", True),
        ("cafe", "Café au lait", True),
        ("café", "cafe", True),
        ("straße", "Die Straße", True),
        ("bms-986158", "IC50 of BMS-986158", True),
        ("bms-98", "IC50 of BMS-986158", True),
        ("986158-bms", "IC50 of BMS-986158", False),
        ("営業利益", "2018年の営業利益は", True),
        ("利益営業", "2018年の営業利益は", False),
        ("매출", "매출은 얼마입니까", True),
        ("q4", "in Q4 2018", True),
        ("2018", "2018Q4", True),
        ("1577", "1,577 million", False),
        ("1,577", "1,577 million", True),
        ('"capital" OR cash*', "or cash: capital", True),
        ("text:capital", "capital", False),
        ("NEAR(a b)", "a b", False),
    ],
)
def test_a_word_is_found_by_its_beginning_or_its_stem(
    conversations: Conversations, search: str, text: str, matches: bool
) -> None:
    hold(conversations, ("Q?", text))
    assert bool(conversations.all(search)) is matches


def test_the_snippet_is_around_the_first_word_and_plain(conversations: Conversations) -> None:
    long = "Nothing of note was said at first. " * 6
    hold(conversations, ("Q?", f"{long}Their **capital expenditures** rose [1][2] to \\[5\\]. {long}"))
    found = conversations.all("expenditure")[0].found
    assert "capital expenditures" in found
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert len(found) < 200
    assert "[1]" not in found
    assert "\n" not in found


def test_the_snippet_is_where_most_of_the_words_stand_together(conversations: Conversations) -> None:
    said = f"The margin was low. {'Nothing of note was said. ' * 20}The gross margin of 2018 was high."
    hold(conversations, ("Margins", "None."), ("Q?", said))
    assert "gross margin of 2018" in conversations.all("2018 gross margin")[0].found


def test_a_word_that_only_the_title_has_gives_no_snippet(conversations: Conversations) -> None:
    one = hold(conversations, ("Q?", "A."))
    conversations.rename(one, "Nike")
    assert [info.found for info in conversations.all("nike")] == [""]
    assert [info.found for info in conversations.all()] == [""]


def test_branches_that_are_not_shown_are_searched_too(conversations: Conversations) -> None:
    one = conversations.new()
    first = conversations.add_turn(one, "On walrus tusks")
    conversations.add_turn(one, "On seals", conversations.place(one, instead_of=first))
    assert [info.found for info in conversations.all("walrus")] == ["On walrus tusks"]
    assert [turn.question for turn in conversations.get(one).turns] == ["On seals"]


def test_a_question_is_found_while_its_answer_is_being_written_and_a_deleted_one_never(
    conversations: Conversations,
) -> None:
    one = conversations.new()
    turn = conversations.add_turn(one, "On walrus tusks")
    assert len(conversations.all("walrus")) == 1
    conversations.put_answer(turn, replace(ANSWER, text="Ivory."))
    assert len(conversations.all("walrus ivory")) == 1
    conversations.delete(one)
    conversations.put_answer(turn, replace(ANSWER, text="Ivory."))
    assert conversations.all("walrus") == []


def test_what_stands_in_source_passages_is_not_searched(conversations: Conversations) -> None:
    hold(conversations, ("Q?", "A."))
    assert conversations.all("tusk") == []


def test_many_words_are_all_looked_for(conversations: Conversations) -> None:
    words = [f"w{number}" for number in range(95)]
    hold(conversations, ("Q?", " ".join(words)))
    assert len(conversations.all(" ".join(words))) == 1
    assert conversations.all(" ".join([*words, "absent"])) == []


@given(st.text(), st.lists(st.text("abcXYZ019é", min_size=1), min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_can_be_searched_for_and_every_word_is_found(
    conversations: Conversations, search: str, words: list[str]
) -> None:
    one = hold(conversations, ("Q?", " ".join(words)))
    conversations.all(search)
    assert one in {info.conversation_id for info in conversations.all(" ".join(words))}
    conversations.delete(one)
    assert conversations.all(words[0]) == []


@pytest.mark.slow
def test_a_thousand_conversations_of_ten_turns_are_searched_at_once(conversations: Conversations) -> None:
    draw = random.Random(7)
    words = [
        f"{a}{b}{c}" for a in ("re", "con", "de", "pro") for b in ("ven", "tri", "gul") for c in ("ue", "al", "ted")
    ]
    texts = [" ".join(draw.choices(words, k=200)) for _ in range(50)]
    rows = []
    for number in range(10_000):
        rows.append({"turn_id": f"t{number}", "conversation_id": f"c{number // 10}",
                     "question": f"n{number}", "created": 1.0, "depth": number % 10 + 1})  # fmt: skip
    with conversations.database.write() as connection:
        listed = [
            {"conversation_id": f"c{n}", "title": "T", "created": 1.0, "updated": n, "shown": f"t{n * 10 + 9}"}
            for n in range(1000)
        ]
        connection.insert("conversations", *listed)
        connection.insert("turns", *rows)
        kept = [
            {"turn_id": row["turn_id"], "conversation_id": row["conversation_id"],
             "text": f"{row['question']} {draw.choice(texts)}"}
            for row in rows
        ]  # fmt: skip
        connection.insert("turn_words", *kept)
        held = [{"turn_id": row["turn_id"], "lexeme": word} for row in kept for word in {*lexemes(row["text"])}]
        connection.insert("turn_lexemes", *held)
    assert len(conversations.all("revenue protrial")) > 900
    started = time.process_time()
    assert [info.conversation_id for info in conversations.all("revenue n1234")] == ["c123"]
    assert time.process_time() - started < 3.0  # some 0.2 s where nothing else runs
