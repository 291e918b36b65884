"""Documents that are built anew: what is wrong with one of them stays with that one."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.errors import IndexMismatch
from tests import pdfs, prepared
from tests.command_line import run

QUESTION = "What was the highest nitrate reading?"
OTHER = {"llm.model": "offline", "chunk.target_tokens": 30, "chunk.max_tokens": 60}
DAMAGES = {"of another version": lambda data: b"GWP0" + data[4:], "a flipped bit": lambda data: flipped(data)}


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]


def library(home: Path) -> tuple[str, str]:
    """A survey and its table, read and indexed; their ids."""
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        ids = [prepared.read(engine, data, name) for name, data in files().items()]
        engine.index()
    return ids[0], ids[1]


def files() -> dict[str, bytes]:
    return {"survey.pdf": pdfs.one_column(), "table.pdf": pdfs.ruled_table()}


def damage(engine: Engine, doc_id: str, how: str, *, file: bool = False) -> None:
    """The pages of a document as read, and with ``file`` what they were read from."""
    with engine.store.database.write() as connection:
        for page, data in connection.rows("SELECT page, data FROM page_layouts WHERE doc_id = ?", doc_id):
            connection.update("page_layouts", "doc_id = ? AND page = ?", doc_id, page, data=DAMAGES[how](data))
    if file:
        engine.file(doc_id).write_bytes(b"no PDF any more")


@pytest.mark.parametrize("how", DAMAGES)
def test_pages_that_cannot_be_used_are_read_again(tmp_path: Path, how: str) -> None:
    survey, _ = library(tmp_path)
    with Engine.open(tmp_path, overrides=OTHER) as engine:
        damage(engine, survey, how)
        assert engine.index().failed == ()
        assert engine.stale() == []
        assert engine.retrieve(QUESTION, doc_ids=[survey]).hits


def test_one_that_cannot_be_built_anew_is_said_and_blocks_no_other(tmp_path: Path) -> None:
    survey, table = library(tmp_path)
    with Engine.open(tmp_path, overrides=OTHER) as engine:
        damage(engine, survey, "of another version", file=True)
        report = engine.index()
        assert [failed.doc_id for failed in report.failed] == [survey]
        status = {info.doc_id: info.status for info in engine.documents()}
        assert status == {survey: "failed", table: "ready"}
        assert engine.documents()[0].error
        found = engine.retrieve(QUESTION)
        assert {hit.chunk.doc_id for hit in found.hits} == {table}
        assert engine.ask(QUESTION).run().status == "complete"
        # Given its file again it is read again.
        engine.file(survey).write_bytes(files()["survey.pdf"])
        assert engine.ingest(survey).status == "ready"
        engine.index()
        assert survey in {hit.chunk.doc_id for hit in engine.retrieve(QUESTION).hits}


def test_what_is_wrong_with_a_ready_document_is_in_the_report(tmp_path: Path) -> None:
    survey, _ = library(tmp_path)
    with Engine.open(tmp_path, overrides=OTHER) as engine:
        damage(engine, survey, "of another version", file=True)
        report = engine.ingest(survey)
        assert report.status == "failed"
        assert report.error
        assert report.error["hint"]


def test_a_document_that_waits_to_be_built_anew_blocks_no_question_to_another(tmp_path: Path) -> None:
    survey, table = library(tmp_path)
    with Engine.open(tmp_path, overrides=OTHER) as engine:
        assert engine.ingest(table).status == "already"
        engine.index(refresh=False)
        assert engine.stale() == [survey]
        assert engine.retrieve(QUESTION, doc_ids=[table]).hits
        assert engine.ask(QUESTION, doc_ids=[table]).run().status == "complete"
        with pytest.raises(IndexMismatch):
            engine.retrieve(QUESTION)


def test_the_command_line_says_which_could_not_be_built(tmp_path: Path) -> None:
    survey, _ = library(tmp_path)
    with Engine.open(tmp_path, overrides=OTHER) as engine:
        damage(engine, survey, "of another version", file=True)
    (tmp_path / "config.toml").write_text("[chunk]\ntarget_tokens = 30\nmax_tokens = 60\n")
    done = run(["--home", str(tmp_path), "index"])
    assert done.returncode == 1
    assert "survey.pdf" in done.stderr


def test_an_engine_beside_another_holds_none_of_those_between(tmp_path: Path) -> None:
    with Engine.open(tmp_path, overrides={"llm.model": "offline"}) as engine:
        made, between = engine, []
        for number in range(1200):
            made = made.with_settings({"retrieve.top_k": number % 50 + 1})
            between.append(weakref.ref(made))
        assert made.search.indexer is engine.search.indexer
        gc.collect()
        assert sum(old() is not None for old in between) == 1
