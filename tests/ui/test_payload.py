"""What is said about documents that a question could not search."""

from __future__ import annotations

from pathlib import Path

from ragcore.engine import Engine
from ragcore.types import EVERYTHING, Scope
from tests import pdfs, prepared
from ui.chat import payload
from ui.chat.runs import unread
from ui.library.jobs import Job


def test_documents_in_scope_that_are_not_read_are_counted_and_named(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        new = engine.add(pdfs.one_column(), "new.pdf").doc_id
        other = engine.add(pdfs.ruled_table(), "other.pdf").doc_id
        bad = engine.add(pdfs.truncated(), "bad.pdf").doc_id
        assert engine.ingest(bad).status == "failed"
        done = prepared.read(engine, pdfs.running_headers(1), "done.pdf")
        engine.index()
        infos = engine.documents()
        title = next(info.title for info in infos if info.doc_id == done)

    assert set(unread(infos, EVERYTHING)) == {new, other}, "one that cannot be read is not waited for"
    assert unread(infos, Scope((other,))) == (other,)
    assert unread(infos, EVERYTHING, before=0.0) == ()
    at_work = payload.unsearched([new], infos, {new: Job(new, "read")})
    assert at_work == [{"state": "reading", "count": 1, "names": ["new.pdf"]}]
    assert payload.unsearched([bad, new, other, done], infos, {new: Job(new, "read")}) == [
        {"state": "reading", "count": 1, "names": ["new.pdf"]},
        {"state": "stopped", "count": 1, "names": ["other.pdf"]},
        {"state": "failed", "count": 1, "names": ["bad.pdf"]},
        {"state": "ready", "count": 1, "names": [title]},
    ]
    assert payload.unsearched(["0" * 12], infos, {}) == [], "one that was removed since is no matter any more"
