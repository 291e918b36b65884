"""The words and numbers of how an answer was searched for, and of the steps while one is made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ragcore.errors import UnknownDocument
from ragcore.types import (
    EVERYTHING,
    Answer,
    Citation,
    Document,
    NamePath,
    Page,
    PathStep,
    Route,
    Scope,
    Source,
    Step,
    SubQuery,
    Trace,
    Usage,
    WordMap,
)
from ui.chat import answer_progress, payload
from ui.chat.runs import View
from ui.explore import explain
from ui.explore.paths import path

TRACE = Trace(
    scope=EVERYTHING,
    searched=12,
    queries=(SubQuery("How much cash?"),),
    routes=(Route("d", 1.0, "Adobe", period="2016", fits="same"),),
    found=2,
    titles={"d": "Adobe 10-K 2016"},
    candidates=118,
    reranked=20,
    timings_ms={"embed": 12.5, "vector": 50.0, "made_up": 0.25},
)
SOURCES = tuple(
    Source(number, "d", "Adobe 10-K 2016", 0, 9, "", (), ("A",), (3,), ("3",), 0.5, via)
    for number, via in ((1, "neighbour"), (2, "table"))
)


def answer(trace: Trace | None, **changes: Any) -> Answer:
    made = Answer(
        question="How much cash?",
        queries=(),
        text="",
        refused=False,
        claims=(),
        citations=(
            Citation(3, "d", "Adobe", 53, "51", "Net", 12, 15, ()),
            Citation(4, "d", "Adobe", 9, "9", "x", 70, 71, ()),
        ),
        marks=(),
        dropped=(),
        sources=SOURCES,
        model="offline",
        extractive=True,
        usage=Usage(),
        cost_usd=0.0,
        timings_ms={"embed": 12.5, "generate": 100.0, "verify": 4.0, "answer": 200.0, "first_token": 1.0},
        settings_hash="h",
        trace=trace,
    )
    return replace(made, **changes)


def explained(trace: Trace = TRACE, **changes: Any) -> Any:
    return explain.explanation(answer(trace, **changes), document)


def document(doc_id: str) -> Document:
    """Fifty words of one letter, each in a box of its own; no other document is in the library."""
    if doc_id != "d":
        raise UnknownDocument(f"There is no document {doc_id} in this library.")
    text = "x " * 50
    starts = list(range(0, 100, 2))
    boxes = [(10.0 * n, 10.0, 10.0 * n + 5, 20.0) for n in range(50)]
    words = WordMap(starts, [start + 1 for start in starts], [1] * 50, boxes, [False] * 50)
    return Document("d", "d" * 64, "d.pdf", "D", text, 100, words, (Page(1, "i", 600.0, 800.0),), ())


def test_an_answer_of_the_time_before_traces_is_not_explained() -> None:
    assert explain.explanation(answer(None), document) is None
    shown = payload.answer("t", answer(None))
    assert shown["found"] == shown["only"] == ""


def test_times_are_in_the_order_of_the_work_and_scaled_to_the_longest() -> None:
    steps = [(step["name"], step["ms"], step["share"]) for step in explained()["steps"]]
    assert steps == [
        ("Reading the question", "12 ms", 0.125),
        ("Searching by meaning", "50 ms", 0.5),
        ("Writing the answer", "100 ms", 1.0),
        ("Checking its claims", "4 ms", 0.04),
        ("made_up", "0.2 ms", 0.003),
    ]


def test_sub_queries_say_who_asked_them_and_why() -> None:
    parts = (SubQuery("How much cash?"), SubQuery("Cash 2015", "rules", "two years are compared"))
    shown = explained(replace(TRACE, queries=parts))
    assert shown["queries"][1] == {
        "text": "Cash 2015",
        "how": "part of the question, by rule",
        "reason": "two years are compared",
    }
    further = explained(replace(TRACE, queries=(*parts, SubQuery("Debt 2015", "gap", "no passage has it"))))
    assert further["queries"][2] == {"text": "Debt 2015", "how": "to fill a gap", "reason": "no passage has it"}
    assert shown["read"] == "118 passages weighed in 2 searches, the best 20 read together with the question"


def test_terms_of_the_trade_are_told_with_the_query() -> None:
    asked = (SubQuery("Capex?", also=("capital expenditures", "capital spending")),)
    (query,) = explained(replace(TRACE, queries=asked))["queries"]
    assert query["reason"] == "also, with less weight: capital expenditures, capital spending"


STEPS = (
    PathStep("Net"),
    PathStep("Ivy", "d", 2, 5, "x x"),
    PathStep("", "d", 4, 5, "x"),
    PathStep("Elm", "gone", 0, 3, "Elm"),
    PathStep("", "d", 6, 7, "another text"),
)


def test_each_source_has_the_path_to_its_best_passage() -> None:
    paths = (NamePath("d:7", "d", 40, 50, STEPS[:1]), NamePath("d:1", "d", 5, 9, STEPS), NamePath("d:0", "d", 0, 5, ()))
    found = explained(replace(TRACE, paths=paths))["paths"]
    assert [(one["source"], one["where"], one["path"]["id"]) for one in found] == [
        (1, "Adobe 10-K 2016, p. 3", "path-d:1"),
        (2, "Adobe 10-K 2016, p. 3", "path-d:1"),
    ]
    assert explained()["paths"] == []


def test_of_a_passage_cut_in_two_the_source_with_the_last_sentence_has_the_path() -> None:
    halves = (replace(SOURCES[0], end=6), replace(SOURCES[1], start=6))

    def sources(*steps: PathStep) -> list[int]:
        trace = replace(TRACE, paths=(NamePath("d:1", "d", 5, 9, steps),))
        return [one["source"] for one in explained(trace, sources=halves)["paths"]]

    assert sources(*STEPS) == [2]
    assert sources(*STEPS[:2], PathStep("", "d", 0, 3, "x x")) == [1, 2], "its heading is outside"


def test_the_steps_of_a_path_are_told_and_open_what_is_still_there() -> None:
    told = path(NamePath("d:1", "d", 5, 9, STEPS), TRACE.titles, document)["steps"]
    assert [(step["name"], step["how"], step["where"]) for step in told] == [
        ("Net", "your words", ""),
        ("Ivy", "same sentence", "p. i of Adobe 10-K 2016"),
        ("a passage", "names it", "p. i of Adobe 10-K 2016"),
        ("Elm", "named there", ""),
        ("this passage", "names it", ""),
    ]
    places = [step["place"] for step in told]
    assert [place and place["n"] for place in places] == [None, 1, 2, None, None]
    assert places[1]["quote"] == "x x"
    assert places[1]["boxes"] == [[1, 10.0, 10.0, 25.0, 20.0]]
    first = path(NamePath("d:1", "d", 5, 9, STEPS[1:]), TRACE.titles, document)["steps"][0]
    assert first["how"] == "in the nearest passage"


def test_notes_are_told() -> None:
    assert explained(replace(TRACE, notes=("No plan was made.",)))["notes"] == ["No plan was made."]


def test_the_scope_that_a_question_was_asked_under_is_shown() -> None:
    scoped = replace(TRACE, scope=Scope(("d",), ((3, 7),), ("table",)), searched=1)
    assert explained(scoped)["within"] == "pages 3–7 of 1 document, only tables"
    assert payload.answer("t", answer(scoped))["only"] == "Only pages 3–7, tables"


def steps_of(view: View) -> list[tuple[str, bool]]:
    return [(step["text"], step["done"]) for step in answer_progress.live_steps(view)]


def test_the_question_as_it_is_searched_for_is_told_where_it_differs() -> None:
    view = View(searched=1)
    assert answer_progress.standalone(view, "And in 2021?") == ""
    view = replace(view, steps=(Step("plan", SubQuery("What was revenue in 2021?")),))
    assert answer_progress.standalone(view, "And in 2021?") == "What was revenue in 2021?"
    assert answer_progress.standalone(view, "What was  revenue in 2021?") == ""


def test_steps_of_a_search_are_told_as_they_come() -> None:
    view = View(searched=12, titles={"d": "Adobe 10-K 2016"})
    assert steps_of(view) == [("Searching 12 documents", False)]
    view = replace(view, steps=(Step("plan", SubQuery("x")),))
    assert steps_of(view) == [("Working out what to search for", False)]
    view = replace(view, steps=(Step("search", SubQuery("x"), TRACE.routes),))
    assert steps_of(view) == [
        ("Preferring Adobe 10-K 2016 (named: Adobe; year: 2016)", True),
        ("Searching 12 documents", False),
    ]
    view = replace(view, steps=(*view.steps, Step("rerank", SubQuery("x"), passages=20)))
    assert steps_of(view)[-1] == ("Reading the 20 best passages", False)
    view = replace(view, steps=(*view.steps, Step("search", SubQuery("Cash 2015", "rules", "r"))))
    assert steps_of(view)[-1] == ("Searching for “Cash 2015”", False)
    view = replace(view, stage="write", passages=20, sources=1)
    assert steps_of(view) == [
        ("Asked in 2 ways", True),
        ("20 passages found", True),
        ("1 source kept", True),
        ("Writing", False),
    ]
    assert steps_of(replace(view, stopping=True))[-1] == ("Stopping", False)
