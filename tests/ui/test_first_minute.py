"""What an empty conversation is told: which documents are ready, and questions while others are tried."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ragcore.engine import Engine
from ragcore.errors import ModelError
from ragcore.suggest.questions import Starter
from ragcore.types import EVERYTHING, Scope, Section
from ragcore.types.library import DocumentInfo
from tests import pdfs, prepared
from ui import components
from ui.chat import payload, sidebar
from ui.chat.first_questions import FirstQuestions, Found
from ui.chat.runs import LiveAnswer
from ui.chat.start_routes import documents
from ui.library.jobs import Job
from ui.library.samples import NAME, SAMPLE
from ui.server.services import Services

CHAT = Path(__file__).resolve().parents[2] / "pages" / "chat.py"
INFO = DocumentInfo("a", "a", "a.pdf", "A", 1, "ready", 0.0, pages=3, tables=1, indexed=True)


def info(doc_id: str, created: float, **changed: Any) -> DocumentInfo:
    return replace(INFO, doc_id=doc_id, name=f"{doc_id}.pdf", title=doc_id.upper(), created=created, **changed)


def test_what_is_in_scope_or_at_work_is_listed_and_what_failed_is_counted() -> None:
    infos = [
        info("a", 1.0),
        info("b", 2.0),
        info("c", 3.0, status="failed", indexed=False),
        info("d", 4.0, status="reading", indexed=False),
        info("e", 5.0, status="new", indexed=False),  # cancelled: nobody works at it
    ]
    jobs = {"d": Job("d", "read", done=2, total=9)}
    shown = documents(infos, jobs, Scope(("b",)))
    assert [(row["id"], row["ready"]) for row in shown["documents"]] == [("d", False), ("b", True)]
    assert (shown["documents"][0]["done"], shown["documents"][0]["total"]) == (2, 9)
    assert shown["failed"] == 1
    assert [row["id"] for row in documents(infos, jobs, EVERYTHING)["documents"]] == ["d", "b", "a"]


class Library:
    """Stands for an engine whose searches take until they are let go."""

    def __init__(self) -> None:
        self.store = self
        self.go = threading.Semaphore(0)
        self.error: Exception | None = None

    def revision(self) -> int:
        return 1

    def starters(self, doc_ids: Any, go_on: Any, tell: Any) -> None:
        for number in range(4):
            self.go.acquire(timeout=10)
            if self.error is not None:
                raise self.error
            if not go_on():
                return
            tell(Starter(f"Question {number}?", doc_ids[0], "1", False))


@pytest.fixture
def library() -> Library:
    return Library()


def until(starting: FirstQuestions, wanted: int, done: bool) -> Found:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found = starting.look(["a"])
        if len(found.starters) == wanted and found.done == done:
            return found
        time.sleep(0.01)
    raise AssertionError("not found in time")


def test_questions_are_there_while_others_are_tried(library: Library) -> None:
    starting = FirstQuestions(lambda: library, lambda: True)  # type: ignore[arg-type,return-value]
    assert starting.look(["a"]) == Found()
    library.go.release()
    assert [one.question for one in until(starting, 1, False).starters] == ["Question 0?"]
    library.go.release(3)
    until(starting, 4, True)
    assert starting.look([]) == Found(done=True)


def test_a_search_gives_way_to_what_people_ask_and_goes_on_afterwards(library: Library) -> None:
    idle = threading.Event()
    idle.set()
    starting = FirstQuestions(lambda: library, idle.is_set)  # type: ignore[arg-type,return-value]
    starting.look(["a"])
    idle.clear()
    library.go.release()
    until(starting, 0, False)
    idle.set()
    library.go.release(8)
    until(starting, 4, True)


def test_what_prevents_them_is_said(library: Library) -> None:
    library.error = ModelError("The model is gone.", hint="Choose another.")
    starting = FirstQuestions(lambda: library, lambda: True)  # type: ignore[arg-type,return-value]
    starting.look(["a"])
    library.go.release()
    assert until(starting, 0, True).trouble == "The model is gone. Choose another."


def chat(question: str = "", ticked: dict[str, bool] | None = None) -> None:
    """What a run of Chat does with a question, or with a click on the boxes of the scope."""
    from ui.chat import current_conversation, sidebar

    if ticked:
        sidebar._put(current_conversation.current(), ticked)
    if question:
        sidebar.send(question)
        sidebar.ask_sent()


def test_a_scope_does_not_widen_when_its_section_is_lost(opened: Services) -> None:
    engine = opened.engine
    first, second = (engine.add(make(), f"{make.__name__}.pdf").doc_id for make in (pdfs.handbook, pdfs.one_column))
    section = Section(first, 0, 9, ("Care",))
    lost = engine.conversations.new(Scope(sections=(section,)))
    kept = engine.conversations.new(Scope(sections=(section, replace(section, doc_id=second))))
    engine.remove(first)
    assert sidebar._forget_removed(lost) == sidebar._forget_removed(kept) == 1
    assert engine.conversations.scope(lost) == Scope(())
    assert [one.doc_id for one in engine.conversations.scope(kept).sections] == [second]
    engine.remove(second)


@pytest.mark.slow
def test_what_becomes_ready_is_searched_next_unless_the_scope_was_chosen(
    opened: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(st.context), "cookies", {})  # there is no browser
    engine, answers = opened.engine, opened.answers

    def asked(tab: AppTest) -> LiveAnswer:
        tab.args = ("Which crew sampled the wells?",)
        tab.run(timeout=60)
        assert not tab.exception
        talk = engine.conversations.get("".join(tab.query_params["c"]))
        live = answers.get(talk.turns[-1].turn_id)
        assert live is not None
        end = time.monotonic() + 60
        while live.finished_at is None and time.monotonic() < end:
            time.sleep(0.02)
        return live

    def told(live: LiveAnswer) -> list[Any]:
        groups = payload.unsearched(answers.unsearched(live.turn_id) or (), engine.documents(), {})
        return [(group["state"], group["names"]) for group in groups]

    sample = engine.ingest(engine.add(SAMPLE, NAME).doc_id).doc_id
    first = prepared.read(engine, pdfs.one_column(), "first.pdf")
    engine.index()
    later = engine.add(pdfs.running_headers(4), "later.pdf").doc_id
    standing, chosen = (AppTest.from_function(chat) for _ in range(2))

    live = asked(standing)
    assert live.scope.doc_ids == (first,)
    assert told(live) == [("stopped", ["later.pdf"])]
    assert asked(chosen).scope.doc_ids == (first,)
    for inside in ({sample: True}, {sample: False}, {first: False}, {first: True, sample: True}, {sample: False}):
        chosen.args = ("", inside)
        chosen.run()
    assert asked(chosen).scope.doc_ids == (first,)
    assert told(asked(chosen)) == [("stopped", ["later.pdf"])], "everything but the sample again"
    chosen.args = ("", {first: False, sample: True})
    chosen.run()
    assert told(asked(chosen)) == [], "it was not in the scope"

    engine.ingest(later)
    engine.index()
    assert told(live)[0][0] == "ready"
    live = asked(standing)
    assert set(live.scope.doc_ids or ()) == {first, later}
    assert told(live) == []
    assert asked(chosen).scope.doc_ids == (sample,)


def test_what_becomes_ready_while_the_page_is_drawn_is_in_its_scope(
    opened: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(st.context), "cookies", {})  # there is no browser
    engine, reading, offered = opened.engine, dict[str, Job](), list[int]()
    prepared.read(engine, pdfs.one_column(), "first.pdf")
    engine.index()
    later = engine.add(pdfs.handbook(), "later.pdf").doc_id
    reading[later] = Job(later)

    def documents_before(self: Engine) -> list[DocumentInfo]:
        before = listed(self)
        if reading.pop(later, None):  # it is ready right after this look
            engine.ingest(later)
            engine.index()
        return before

    listed = Engine.documents
    monkeypatch.setattr(Engine, "documents", documents_before)
    monkeypatch.setattr(type(opened.ingestion), "jobs", lambda *_: dict(reading))
    monkeypatch.setattr(components, "scope", lambda _, documents, *rest: offered.append(len(documents)))
    page = AppTest.from_file(str(CHAT)).run(timeout=60)
    assert not page.exception
    assert offered == [1, 2]
