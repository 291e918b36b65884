"""A live answer: what its search does is told while it does it, and the answer keeps why it has its sources."""

from __future__ import annotations

import time
from pathlib import Path

from ragcore.engine import Engine
from ragcore.types import Scope
from tests import pdfs
from ui import payload
from ui.runs import Answers


def test_the_steps_of_a_search_are_told_and_the_scope_is_kept(tmp_path: Path) -> None:
    scope = Scope(None, ((1, 2),), ("text",))
    with Engine.open(tmp_path) as engine:
        doc_id = engine.add(pdfs.running_headers(4), "four.pdf").doc_id
        assert engine.ingest(doc_id).status == "ready"
        engine.index()
        answers = Answers(engine)
        conversation = engine.new_conversation(scope)
        live = answers.ask(conversation, "What did the crews find?")
        assert payload.turn(engine.conversation(conversation).turns[0], live)["only"] == "Only pages 1–2, text"
        end = time.monotonic() + 60
        while live.finished_at is None and time.monotonic() < end:
            time.sleep(0.02)
        answer = engine.conversation(conversation).turns[0].answer
        answers.close()

    assert [step.name for step in live.view.steps] == ["search", "rerank"]
    assert answer is not None
    assert answer.trace is not None
    assert answer.trace.scope == scope
    assert {hit.doc_id for hit in answer.trace.hits} == {doc_id}
    assert all(set(hit.pages) & {1, 2} for hit in answer.trace.hits)
    assert {hit.source for hit in answer.trace.hits} >= {
        source.number for source in answer.sources if source.via == "hit"
    }
