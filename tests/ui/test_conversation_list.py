"""The conversation list, what conversations have cost, and filters in few words."""

from __future__ import annotations

import time

import pytest

from ragcore.index.conversations import ConversationInfo
from ragcore.types import Scope, Spending, Spent
from ragcore.types.retrieval import Usage
from ui.chat import conversation_list, payload
from ui.chat.scope_words import only, pages_in_brief, searched_in
from ui.chat.turn_routes import shown

DAY = 86_400.0


def info(number: int, ago: float = 0.0, found: str = "") -> ConversationInfo:
    return ConversationInfo(f"{number:012}", f"Talk {number}", 0.0, time.time() - ago, 1, found=found)


def test_the_list_stands_under_its_days_and_says_how_many_there_are() -> None:
    infos = [info(1), info(2, 1 * DAY), info(3, 4 * DAY), info(4, 400 * DAY)]
    listed = conversation_list.listed(infos, None)
    assert listed["total"] == 4
    assert [group["day"] for group in listed["days"]][:3] == ["Today", "Yesterday", "Last 7 days"]
    assert conversation_list.listed(infos, 2)["total"] == 4
    assert sum(len(group["items"]) for group in conversation_list.listed(infos, 2)["days"]) == 2
    assert conversation_list.listed([], 2) == {"total": 0, "days": []}


def test_a_question_that_is_offered_does_not_repeat_a_long_title() -> None:
    titles = ["Lease", "Tidewell Water annual report and accounts 2025"]
    assert shown("What does “Lease” say about rent?", titles) == "What does “Lease” say about rent?"
    cut = shown(f"What does “{titles[1]}” say about leakage?", titles)
    assert cut.startswith("What does “Tidewell Water")
    assert cut.endswith("…” say about leakage?")
    assert len(cut) < 65


def test_a_line_does_not_repeat_its_title() -> None:
    (group,) = conversation_list.listed([info(1, found="Talk 1"), info(2, found="what was said")], None)["days"]
    assert [item["found"] for item in group["items"]] == ["", "what was said"]


@pytest.mark.parametrize(
    ("usd", "words"),
    [(None, "price unknown"), (0.0, "$0.000"), (0.0004, "under $0.001"), (0.0251, "$0.025"), (1234.5, "$1,234.50")],
)
def test_dollars(usd: float | None, words: str) -> None:
    assert payload.dollars(usd) == words


def test_what_was_paid_for_is_told_by_model_and_purpose() -> None:
    spent = Spending(
        (
            Spent("claude-sonnet-4-6", "answer", 3, Usage(), 0.12),
            Spent("some-model", "rewrite", 1, Usage(), None),
        )
    )
    assert conversation_list.parts(spent) == [
        "Claude Sonnet 4.6, answers: $0.120, 3 calls",
        "some-model, rewriting questions: price unknown, 1 call",
    ]


def test_many_page_ranges_are_told_in_brief() -> None:
    many = Scope(pages=tuple((3 * i + 1, 3 * i + 2) for i in range(30)), kinds=("table",))
    assert pages_in_brief(many) == "pages 1–2, 4–5, 7–8 and 27 more"
    assert only(many) == "Only pages 1–2, 4–5, 7–8 and 27 more, tables"
    assert searched_in(many, 2) == "pages 1–2, 4–5, 7–8 and 27 more of 2 documents, only tables"
    few = Scope(pages=((3, 7), (12, 12)))
    assert pages_in_brief(few) == "pages 3–7 and 12"
    assert only(few) == "Only pages 3–7 and 12"
    assert searched_in(Scope(), 1) == "1 document"
    assert only(Scope()) == ""
