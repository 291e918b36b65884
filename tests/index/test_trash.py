"""Removal that can be taken back, and is exact when its time is over, whatever happens in between."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.errors import InputError, UnknownDocument
from ragcore.index.shelf import FINAL, Trash
from ragcore.index.store import Store
from ragcore.progress import Progress
from tests import pdfs, prepared


def marked(store: Store, doc_id: str, when: float) -> None:
    with store.database.write() as connection:
        connection.update("documents", "doc_id = ?", doc_id, removed=when)


def test_what_is_in_the_trash_is_neither_listed_nor_searched_and_comes_back_as_it_was(tmp_path: Path) -> None:
    with Engine.open(tmp_path, overrides={"rerank.model": "none"}) as engine:
        survey = prepared.read(engine, pdfs.one_column(), "survey.pdf")
        table = prepared.read(engine, pdfs.ruled_table(), "table.pdf")
        engine.index()
        engine.shelf.tag([survey], add=["water"])
        before = engine.documents()
        assert {hit.chunk.doc_id for hit in engine.retrieve("nitrate").hits} == {survey, table}

        engine.trash.put([survey])
        assert [info.doc_id for info in engine.documents()] == [table]
        assert {hit.chunk.doc_id for hit in engine.retrieve("nitrate").hits} == {table}
        with pytest.raises(UnknownDocument):
            engine.document(survey)
        with pytest.raises(UnknownDocument):
            engine.retrieve("nitrate", doc_ids=[survey])
        with pytest.raises(UnknownDocument):
            engine.trash.put([survey])
        assert engine.documents()[0].tags == ()
        [item] = engine.trash.items()
        assert (item.doc_id, item.title) == (survey, before[0].title)
        assert 0 < item.left <= engine.settings.ingest.undo_seconds
        assert engine.trash.empty() == []

        engine.trash.restore([survey])
        assert engine.documents() == before
        assert engine.trash.items() == []
        report = engine.index()
        assert report.embedded == 0
        assert {hit.chunk.doc_id for hit in engine.retrieve("nitrate").hits} == {survey, table}


def test_when_its_time_is_over_nothing_of_a_document_is_left(tmp_path: Path) -> None:
    with Engine.open(tmp_path, overrides={"rerank.model": "none"}) as engine:
        doc_id = engine.add(pdfs.encrypted(), "secret.pdf").doc_id
        engine.ingest(doc_id, password=pdfs.PASSWORD)
        engine.index()
        store, path = engine.store, engine.file(doc_id)
        engine.shelf.tag([doc_id], add=["x"])
        engine.trash.put([doc_id])
        marked(store, doc_id, time.time() - engine.settings.ingest.undo_seconds - 1)
        assert engine.trash.items() == []
        with store.document_lock(doc_id):
            assert engine.trash.empty() == []  # another task still has it: next time
        assert path.is_file()
        assert engine.trash.empty() == [doc_id]
        assert not list((tmp_path / "files").rglob("*.pdf"))
        for table in ("documents", "chunks", "vectors", "page_layouts", "tags", "embedded", "derived"):
            assert store.database.value(f"SELECT count(*) FROM {table}") == 0
        with pytest.raises(InputError, match="too late"):
            engine.trash.restore([doc_id])


def test_a_process_that_dies_in_a_removal_loses_nothing_and_the_next_one_ends_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    doc_id, _ = store.add_file(b"%PDF-1", "a.pdf")
    path = store.original(doc_id)
    Trash(store, 30).put([doc_id])
    again = Trash(Store(tmp_path), 30)  # another process
    assert [item.doc_id for item in again.items()] == [doc_id]
    again.restore([doc_id])
    assert store.original(doc_id).is_file()

    marked(store, doc_id, FINAL)  # as left by one that died between the mark and the end
    path.unlink()
    assert again.items() == []
    with pytest.raises(InputError):
        again.restore([doc_id])
    assert again.empty() == [doc_id]
    assert store.documents() == []


def test_the_same_file_added_again_takes_its_removal_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    doc_id, new = store.add_file(b"%PDF-1", "a.pdf")
    trash = Trash(store, 30)
    trash.put([doc_id])
    assert new
    assert store.add_file(b"%PDF-1", "b.pdf") == (doc_id, True)
    assert [info.name for info in store.documents()] == ["a.pdf"]
    assert store.add_file(b"%PDF-1", "b.pdf") == (doc_id, False)
    trash.put([doc_id])
    marked(store, doc_id, FINAL)
    assert store.add_file(b"%PDF-1", "b.pdf") == (doc_id, True)
    assert trash.empty() == []
    assert store.file(doc_id).is_file()


def test_several_go_and_come_together_or_not_at_all(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ids = [store.add_file(f"%PDF-{i}".encode(), f"{i}.pdf")[0] for i in range(3)]
    trash = Trash(store, 30)
    with pytest.raises(UnknownDocument):
        trash.put([*ids, "0" * 16])
    assert len(store.documents()) == 3
    trash.put(ids[:2])
    assert len({item.left for item in trash.items()}) <= 2  # removed together: shown, and taken back, together
    marked(store, ids[0], FINAL)
    with pytest.raises(InputError):
        trash.restore(ids[:2])
    assert [info.doc_id for info in store.documents()] == ids[2:]


def test_a_document_removed_while_it_is_read_is_not_said_to_have_failed(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        doc_id = engine.add(pdfs.running_headers(3), "long.pdf").doc_id

        def remove(progress: Progress) -> None:
            if progress.done == 2 and not engine.trash.items():
                engine.trash.put([doc_id])

        with pytest.raises(UnknownDocument):
            engine.ingest(doc_id, on_progress=remove)
        engine.trash.restore([doc_id])
        [info] = engine.documents()
        assert (info.status, info.error, info.pages_done) == ("new", None, 3)
        assert engine.ingest(doc_id).status == "ready"
