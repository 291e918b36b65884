"""Removing documents in the background, whatever is being done to them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ragcore.engine import Engine
from tests import pdfs
from ui.jobs import Ingestion


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def test_a_document_is_removed_while_it_is_read_and_while_it_waits(tmp_path: Path) -> None:
    gone: list[str] = []
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=gone.append)
        read = engine.add(pdfs.running_headers(120), "long.pdf").doc_id
        waits = engine.add(pdfs.one_column(), "next.pdf").doc_id
        ingestion.add(read)
        ingestion.add(waits)
        until(lambda: ingestion.jobs()[read].done > 0)

        ingestion.remove(waits)
        until(lambda: gone == [waits])  # it does not wait for the one before it
        assert read in ingestion.jobs()

        ingestion.remove(read)
        ingestion.remove(read)
        assert read in ingestion.removing()
        until(lambda: gone == [waits, read])
        assert engine.documents() == []
        assert not ingestion.jobs()
        assert not ingestion.removing()
        assert not ingestion.failures
        ingestion.close()


def test_a_removal_that_another_process_prevents_says_so_and_can_be_tried_again(tmp_path: Path) -> None:
    gone: list[str] = []
    with Engine.open(tmp_path) as engine, Engine.open(tmp_path) as other:
        ingestion = Ingestion(engine, removed=gone.append)
        doc_id = engine.add(pdfs.one_column(), "survey.pdf").doc_id
        with other.store.document_lock(doc_id):
            ingestion.remove(doc_id)
            until(lambda: not ingestion.removing())
            assert ingestion.failures[doc_id]["code"] == "store_busy"
            assert ingestion.failures[doc_id]["removal"] is True
            assert [info.doc_id for info in engine.documents()] == [doc_id]
        ingestion.remove(doc_id)
        until(lambda: gone == [doc_id])
        assert not ingestion.failures
        ingestion.close()


def test_a_start_brings_documents_up_to_date_that_other_settings_built(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        doc_ids = [engine.add(data, "a.pdf").doc_id for data in (pdfs.running_headers(6), pdfs.one_column())]
        for doc_id in doc_ids:
            engine.ingest(doc_id)
        engine.index()
    with Engine.open(tmp_path, overrides={"chunk.target_tokens": 30, "chunk.max_tokens": 60}) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        ingestion.resume()
        assert set(ingestion.jobs()) == set(doc_ids)
        until(lambda: not ingestion.jobs())
        assert not ingestion.failures
        assert engine.retrieve("headers").hits
        ingestion.close()
