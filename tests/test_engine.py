"""The pipeline as a whole, on PDFs that the tests make, with the real models and no network."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.engine import Engine
from ragcore.errors import (
    Cancelled,
    EmptyFile,
    EmptyQuestion,
    FileTooLarge,
    IndexEmpty,
    IndexMismatch,
    InputError,
    NotAPdf,
    QuestionTooLong,
    UnknownDocument,
)
from ragcore.progress import Progress
from ragcore.protocols import Reranker
from ragcore.providers import registry as providers
from ragcore.types import Checked, Done, Found
from tests import pdfs, prepared
from tests.command_line import run
from ui.chat import payload
from ui.library import payload as library_payload

QUESTION = "What was the highest nitrate reading?"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline"})


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Two indexed documents; read only."""
    engine = Engine.open(home=tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"})
    for name, data in {"survey.pdf": pdfs.one_column(), "table.pdf": pdfs.ruled_table()}.items():
        prepared.read(engine, data, name)
    engine.index()
    return engine


def test_from_file_to_lit_words(library: Engine) -> None:
    answer = library.ask(QUESTION).run()
    assert (answer.status, answer.refused, answer.extractive, answer.model) == ("complete", False, True, "offline")
    assert answer.citations
    for citation in answer.citations:
        document = library.document(citation.doc_id)
        assert citation.quote == document.text[citation.start : citation.end]
        assert citation.boxes == document.boxes(citation.start, citation.end)
        for box in citation.boxes:
            page = document.pages[box.page - 1]
            assert 0 <= box.x0 < box.x1 <= page.width
            assert 0 <= box.y0 < box.y1 <= page.height
    assert any("61.4" in citation.quote for citation in answer.citations)
    assert all(answer.text[mark.start : mark.end] == f"[{mark.n}]" for mark in answer.marks)
    assert all(claim.status == "supported" for claim in answer.claims)
    assert answer.settings_hash == library.settings.hash()


class CountingReranker:
    """Reranker that lists what it reads."""

    def __init__(self, model: Reranker) -> None:
        self.name = model.name
        self.read: list[tuple[str, str]] = []
        self._model = model

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        self.read += [(query, passage) for passage in passages]
        return self._model.score(query, passages)


def test_no_step_of_a_question_reads_what_one_has_read(library: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    model = library.models.reranker
    assert model is not None
    counting = CountingReranker(model)
    monkeypatch.setattr(providers, "reranker", lambda name, threads: counting)
    with Engine.open(library.home, overrides={"llm.model": "offline"}) as engine:
        answer = engine.ask(QUESTION).run()
        assert len(counting.read) == len(set(counting.read)) > 0
        reads = len(counting.read)
        assert engine.ask(QUESTION).run().text == answer.text == library.ask(QUESTION).run().text
    assert len(counting.read) == 2 * reads, "only within a question"


def test_events_come_in_order_and_make_up_the_answer(library: Engine) -> None:
    events = list(library.ask(QUESTION))
    assert isinstance(events[0], Found)
    assert isinstance(events[-2], Checked)
    assert isinstance(events[-1], Done)
    assert sum(isinstance(event, (Found, Checked, Done)) for event in events) == 3


def test_scope_narrows_and_an_unknown_document_is_refused(library: Engine) -> None:
    ids = {info.name: info.doc_id for info in library.documents()}
    found = library.retrieve(QUESTION, doc_ids=[ids["table.pdf"]])
    assert {hit.chunk.doc_id for hit in found.hits} == {ids["table.pdf"]}
    with pytest.raises(UnknownDocument):
        library.retrieve(QUESTION, doc_ids=["nowhere"])


def test_pages_and_kinds_narrow_what_is_searched(library: Engine) -> None:
    wide = library.with_settings({"retrieve.top_k": 100})
    everything = {hit.chunk.chunk_id for hit in wide.retrieve(QUESTION).hits}
    for pages, kinds in ((((1, 1),), ()), (((2, 9),), ()), ((), ("table",)), (((1, 1),), ("text",))):
        expected = set()
        for info in library.documents():
            document = library.document(info.doc_id)
            for chunk in library.chunks(info.doc_id):
                touched = document.pages_of(chunk.start, chunk.end)
                on_them = not pages or any(first <= page <= last for first, last in pages for page in touched)
                if on_them and (not kinds or chunk.kind in kinds) and chunk.chunk_id in everything:
                    expected.add(chunk.chunk_id)
        found = wide.retrieve(QUESTION, pages=pages, kinds=kinds)
        assert {hit.chunk.chunk_id for hit in found.hits} <= expected
        assert bool(found.hits) == bool(expected)
        assert (found.scope.pages, found.scope.kinds) == (pages, kinds)


@pytest.mark.parametrize("scope", [{"pages": [(0, 3)]}, {"pages": [(7, 3)]}, {"kinds": ["picture"]}])
def test_pages_and_kinds_that_cannot_be_are_refused(library: Engine, scope: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        library.retrieve(QUESTION, **scope)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ({"pages": [(500, 500)]}, "Nothing found on page 500: the longest document has 1 page."),
        ({"pages": [(500, 501), (3, 3)]}, "Nothing found on pages 500–501 and 3: the longest document has 1 page."),
        ({"kinds": ["figure"]}, "Nothing found among figures."),
        ({"pages": [(1, 2)], "kinds": ["figure"]}, "Nothing found on pages 1–2 among figures."),
    ],
)
def test_where_nothing_is_found_the_last_note_says_so(library: Engine, scope: dict[str, Any], said: str) -> None:
    for _ in range(2):  # the second time as the cache has it
        found = library.retrieve(QUESTION, **scope)
        assert (found.hits, found.notes) == ((), (said,))
    assert library.retrieve(QUESTION).notes == ()
    answer = library.ask(QUESTION, **scope).run()
    assert answer.refused
    assert answer.trace is not None
    assert answer.trace.notes == (said,)


def test_of_one_document_its_own_pages_are_said(library: Engine) -> None:
    found = library.retrieve(QUESTION, doc_ids=[library.documents()[0].doc_id], pages=[(2, 9)])
    assert found.notes == ("Nothing found on pages 2–9: the document has 1 page.",)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "bm25"])
def test_every_mode_finds_the_passage(library: Engine, mode: str) -> None:
    found = library.with_settings({"retrieve.mode": mode, "retrieve.top_k": 3}).retrieve(QUESTION)
    assert found.mode == mode
    assert "nitrate" in found.hits[0].chunk.text.lower()
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
    assert found.timings_ms


def test_a_conversation_keeps_its_thread_and_reopens(library: Engine) -> None:
    conversation = library.conversations.new()
    first = library.chat(conversation, QUESTION).run()
    second = library.chat(conversation, "And the lowest?").run()
    assert second.queries[0] != "And the lowest?"
    turns = library.conversations.get(conversation).turns
    assert [turn.answer for turn in turns] == [first, second]
    assert library.conversations.all()[0].title == QUESTION


def test_a_question_without_words_is_refused(library: Engine) -> None:
    with pytest.raises(EmptyQuestion):
        library.ask("  ").run()


def test_a_question_is_checked_before_its_words_are_looked_up(engine: Engine) -> None:
    for question, error in (("", EmptyQuestion), ("reveneu " * 2000, QuestionTooLong)):
        with pytest.raises(error):
            engine.ask(question).run()


def test_nothing_indexed_is_said_and_kept_in_the_conversation(engine: Engine) -> None:
    with pytest.raises(IndexEmpty):
        engine.ask(QUESTION).run()
    conversation = engine.conversations.new()
    answer = engine.chat(conversation, QUESTION).run()
    assert answer.status == "failed"
    assert answer.error is not None
    assert answer.error["code"] == "index_empty"
    assert engine.conversations.get(conversation).turns[0].answer == answer


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "letter.pdf": (pdfs.not_a_pdf, "not_a_pdf"),
    "cut.pdf": (pdfs.truncated, "damaged_pdf"),
    "none.pdf": (pdfs.no_pages, "no_pages"),
    "locked.pdf": (pdfs.encrypted, "password_required"),
    "blank.pdf": (pdfs.blank, "no_text"),
}


def test_bad_files_say_why_by_name_and_harm_no_other(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, (make, _) in BAD.items():
        (folder / name).write_bytes(make())
    (folder / "empty.pdf").write_bytes(pdfs.empty_file())
    (folder / "good.pdf").write_bytes(pdfs.one_column())
    paths = list(engine.pdf_paths([folder, tmp_path / "missing.pdf"]))
    reports = {Path(report.path).name: report.info for report in map(engine.ingest_path, paths)}

    assert reports["good.pdf"].status == "ready"
    wanted = {name: code for name, (_, code) in BAD.items()} | {
        "empty.pdf": "empty_file",
        "missing.pdf": "file_missing",
    }
    for name, code in wanted.items():
        error = reports[name].error
        assert reports[name].status == "failed"
        assert error is not None
        assert (error["code"], name in error["message"], bool(error["hint"])) == (code, True, True), name
    assert len(engine.store.names()) == 1
    assert engine.index().chunks == reports["good.pdf"].chunks


def test_what_is_no_pdf_is_not_kept_and_a_pdf_without_its_header_is_read(engine: Engine) -> None:
    for name in ("letter.pdf", "copy.pdf"):
        with pytest.raises(NotAPdf, match=name):
            engine.add(pdfs.not_a_pdf(), name)
    assert engine.documents() == []
    headless = pdfs.one_column().partition(b"\n")[2]
    assert engine.ingest(engine.add(headless, "headless.pdf").doc_id).status == "ready"


def test_a_folder_without_a_file_to_read_is_refused_and_harms_no_other(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "in" / "empty").mkdir(parents=True)
    (tmp_path / "in" / "empty" / "notes.py").write_text("no PDF")
    (tmp_path / "in" / "survey.pdf").write_bytes(pdfs.one_column())
    given = [tmp_path / "in" / "empty", tmp_path / "in"]
    assert list(engine.pdf_paths(given)) == [given[0], tmp_path / "in" / "survey.pdf"]
    refused, read = (engine.ingest_path(path).info for path in engine.pdf_paths(given))
    assert (refused.status, read.status) == ("failed", "ready")
    assert refused.error is not None
    assert refused.error["code"] == "file_missing"
    assert refused.error["message"].endswith("empty has no file that Groundwork reads.")


def test_a_password_opens_what_asked_for_it(engine: Engine) -> None:
    doc_id = engine.add(pdfs.encrypted(), "locked.pdf").doc_id
    assert engine.ingest(doc_id).status == "failed"
    wrong = engine.ingest(doc_id, password="wrong")
    assert wrong.error is not None
    assert wrong.error["code"] == "wrong_password"
    assert engine.ingest(doc_id, password=pdfs.PASSWORD).status == "ready"
    assert engine.file(doc_id) != engine.store.original(doc_id)


def test_the_same_file_twice_is_read_once(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdfs.one_column())
    assert [engine.ingest_path(path).info.status for _ in range(2)] == ["ready", "already"]


def test_size_is_checked_before_anything_is_kept(tmp_path: Path) -> None:
    engine = Engine.open(home=tmp_path, overrides={"ingest.max_bytes": 10})
    with pytest.raises(FileTooLarge):
        engine.add(pdfs.one_column(), "big.pdf")
    with pytest.raises(EmptyFile):
        engine.add(b"", "empty.pdf")
    assert engine.documents() == []


def test_a_cancelled_reading_goes_on_where_it_stopped(engine: Engine) -> None:
    doc_id = engine.add(_titled(pdfs.running_headers(6), "0000012345-23-000088"), "six.pdf").doc_id
    seen: list[Progress] = []
    with pytest.raises(Cancelled):
        engine.ingest(doc_id, on_progress=seen.append, cancelled=lambda: bool(seen) and seen[-1].done >= 2)
    done = engine.documents()[0].pages_done
    assert 2 <= done < 6
    assert engine.documents()[0].status == "new"
    assert engine.documents()[0].title == "six.pdf"  # what the file calls itself is not weighed before it is read
    again: list[Progress] = []
    assert engine.ingest(doc_id, on_progress=again.append).status == "ready"
    assert again[0] == Progress("read", done, 6)


@pytest.mark.slow
def test_a_page_that_cannot_be_read_is_told_with_its_document(tmp_path: Path) -> None:
    limits = {"ingest.page_seconds": 12.0, "ingest.plain_seconds": 2.0, "ingest.workers": 1}
    (tmp_path / "given.pdf").write_bytes(pdfs.with_endless_page())
    with Engine.open(home=tmp_path / "home", overrides=limits) as engine:
        doc_id = engine.add((tmp_path / "given.pdf").read_bytes(), "given.pdf").doc_id
        report = engine.ingest(doc_id)
        assert (report.status, report.unread_pages, report.degraded_pages) == ("ready", (2,), 0)
        (row,) = library_payload.library(engine.documents(), {}, {}, (), (), engine.settings, {})["documents"]
        assert (row["status"], row["unread"], row["degraded"]) == ("ready", [2], 0)
        assert [page[5] for page in payload.document(engine.document(doc_id))["pages"]] == [False, True, False]
    listed = run(["--home", str(tmp_path / "home"), "documents"]).stdout
    assert "page 2 not read" in listed
    elements = run(["--home", str(tmp_path / "home"), "elements", doc_id, "--page", "2"]).stdout
    assert "longer than 2 s" in elements


def _titled(data: bytes, title: str) -> bytes:
    import pymupdf

    with pymupdf.open(stream=data) as pdf:
        pdf.set_metadata({"title": title})
        return bytes(pdf.tobytes())


def test_a_killed_reading_goes_on_where_it_stopped(engine: Engine) -> None:
    doc_id = engine.add(pdfs.running_headers(8), "eight.pdf").doc_id
    code = (
        "import os, sys; from pathlib import Path; from ragcore.engine import Engine\n"
        "kill = lambda p: os.kill(os.getpid(), 9) if p.done >= 3 else None\n"
        "Engine.open(home=Path(sys.argv[1])).ingest(sys.argv[2], on_progress=kill)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(engine.home), doc_id], check=False)
    assert done.returncode == -9
    assert engine.documents()[0].pages_done >= 3
    again: list[Progress] = []
    assert engine.ingest(doc_id, on_progress=again.append).status == "ready"
    assert again[0].done >= 3


def test_removing_a_document_takes_it_out_of_every_answer(engine: Engine) -> None:
    keep = prepared.read(engine, pdfs.ruled_table(), "table.pdf")
    gone = prepared.read(engine, pdfs.one_column(), "survey.pdf")
    engine.index()
    assert gone in {hit.chunk.doc_id for hit in engine.retrieve(QUESTION).hits}
    engine.remove(gone)
    assert {hit.chunk.doc_id for hit in engine.retrieve(QUESTION).hits} == {keep}
    engine.remove(keep)
    with pytest.raises(IndexEmpty):
        engine.retrieve(QUESTION)


def test_other_settings_are_refused_until_the_documents_are_built_by_them(engine: Engine) -> None:
    doc_id = prepared.read(engine, pdfs.running_headers(6), "six.pdf")
    before = engine.index()
    other = Engine.open(home=engine.home, overrides={"chunk.target_tokens": 30, "chunk.max_tokens": 60})
    assert other.stale() == [doc_id]
    with pytest.raises(IndexMismatch, match="1 document needs"):
        other.retrieve(QUESTION)
    after = other.index()
    assert after.chunks > before.chunks
    assert other.stale() == []
    assert other.retrieve("headers").hits


def test_the_caches_can_be_lost(engine: Engine) -> None:
    prepared.read(engine, pdfs.one_column(), "survey.pdf")
    engine.index()
    engine.store.forget_derived(["postings", "names"])
    fresh = Engine.open(home=engine.home)
    assert fresh.index(rebuild=True).embedded == 0
    assert fresh.retrieve(QUESTION).hits
