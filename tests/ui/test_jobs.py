"""Removing documents in the background, whatever is being done to them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.errors import InputError
from tests import pdfs, prepared
from ui.library.jobs import Ingestion


def until(true: Callable[[], bool], seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def test_a_document_is_removed_while_it_is_read_and_while_it_waits(tmp_path: Path) -> None:
    gone: list[str] = []
    with Engine.open(tmp_path, overrides={"ingest.undo_seconds": 0.5}) as engine:
        ingestion = Ingestion(engine, removed=gone.append)
        read = engine.add(pdfs.running_headers(60), "long.pdf").doc_id
        waits = engine.add(pdfs.one_column(), "next.pdf").doc_id
        ingestion.add(read)
        ingestion.add(waits)
        until(lambda: ingestion.jobs()[read].done > 0)

        ingestion.remove([waits])
        assert [info.doc_id for info in engine.documents()] == [read]
        until(lambda: gone == [waits])  # it does not wait for the one before it
        assert read in ingestion.jobs()

        ingestion.remove([read])
        assert engine.documents() == []
        until(lambda: gone == [waits, read])
        assert not ingestion.jobs()
        assert not ingestion.failures
        assert not list((tmp_path / "files").rglob("*.pdf"))
        ingestion.close()


@pytest.mark.slow
def test_a_removal_that_is_taken_back_goes_on_where_the_reading_was(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        doc_id = engine.add(pdfs.running_headers(12), "long.pdf").doc_id
        ingestion.add(doc_id)
        until(lambda: ingestion.jobs()[doc_id].done > 0)
        ingestion.remove([doc_id])
        ingestion.restore([doc_id])  # while its job is still being cancelled
        until(lambda: engine.documents()[0].indexed)
        until(lambda: not ingestion.jobs())
        assert not ingestion.failures
        assert engine.trash.items() == []
        ingestion.close()


@pytest.mark.slow
def test_what_was_cancelled_stays_so_until_a_person_goes_on(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        read = engine.add(pdfs.running_headers(12), "long.pdf").doc_id
        waits, done = (engine.add(data, "a.pdf").doc_id for data in (pdfs.one_column(), pdfs.ruled_table()))
        engine.ingest(done)  # and not indexed
        for doc_id in (read, waits, done):
            ingestion.add(doc_id)
        until(lambda: ingestion.jobs()[read].done > 0)
        for doc_id in (done, waits, read):
            ingestion.cancel(doc_id)
        until(lambda: not ingestion.jobs())
        ingestion.close()

        ingestion = Ingestion(engine, removed=lambda _: None)  # the next start
        ingestion.resume()
        assert not ingestion.jobs()
        ingestion.remove([waits])
        ingestion.restore([waits])
        assert not ingestion.jobs()
        ingestion.add(read)
        until(lambda: not ingestion.jobs())
        assert [info.indexed for info in engine.documents()] == [True, False, False]  # no other one with it
        ingestion.add(waits)
        ingestion.close()  # this does not cancel it
        until(lambda: not ingestion.jobs())

        ingestion = Ingestion(engine, removed=lambda _: None)
        ingestion.resume()
        until(lambda: not ingestion.jobs())
        assert [info.indexed for info in engine.documents()] == [True, True, False]
        engine.index()  # who asks for everything means what was cancelled too
        assert [info.indexed for info in engine.documents()] == [True, True, True]
        ingestion.close()


def test_what_is_in_the_trash_goes_for_good_at_once_when_that_is_wanted(tmp_path: Path) -> None:
    gone: list[str] = []
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=gone.append)
        first, second = (engine.add(data, "a.pdf").doc_id for data in (pdfs.one_column(), pdfs.ruled_table()))
        ingestion.remove([first])
        ingestion.finish([first, second])  # what is not in the trash stays where it is
        until(lambda: gone == [first])
        assert [info.doc_id for info in engine.documents()] == [second]
        assert engine.trash.items() == []
        assert len(list((tmp_path / "files").rglob("*.pdf"))) == 1
        with pytest.raises(InputError, match="too late"):
            ingestion.restore([first])
        ingestion.close()


def test_a_removal_waits_for_what_another_process_does_with_the_document(tmp_path: Path) -> None:
    gone: list[str] = []
    undo = {"ingest.undo_seconds": 0.2}
    with Engine.open(tmp_path, overrides=undo) as engine, Engine.open(tmp_path) as other:
        doc_id = engine.add(pdfs.one_column(), "survey.pdf").doc_id
        with other.store.document_lock(doc_id):
            ingestion = Ingestion(engine, removed=gone.append)
            ingestion.remove([doc_id])
            assert engine.documents() == other.documents() == []
            time.sleep(0.5)
            assert gone == []
            ingestion.close()
        # The next start finds what is left to do.
        ingestion = Ingestion(engine, removed=gone.append)
        until(lambda: gone == [doc_id])
        ingestion.close()


def test_a_start_brings_documents_up_to_date_that_other_settings_built(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        doc_ids = [prepared.read(engine, data, "a.pdf") for data in (pdfs.running_headers(6), pdfs.one_column())]
        engine.index()
    with Engine.open(tmp_path, overrides={"chunk.target_tokens": 30, "chunk.max_tokens": 60}) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        ingestion.resume()
        assert set(ingestion.jobs()) == set(doc_ids)
        until(lambda: not ingestion.jobs())
        assert not ingestion.failures
        assert engine.retrieve("headers").hits
        ingestion.close()


@pytest.mark.slow
def test_the_smallest_is_read_first_and_a_long_one_gives_way_to_it(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        long, middle, short = (
            engine.add(data, "a.pdf").doc_id
            for data in (pdfs.running_headers(60), pdfs.running_headers(9), pdfs.one_column())
        )
        ingestion.add(long)
        until(lambda: ingestion.jobs()[long].done > 2)
        ingestion.add(middle)
        ingestion.add(short)

        ended: list[str] = []
        read = {info.doc_id: info.pages_done for info in engine.documents()}[long]
        least = read

        def watch() -> bool:
            nonlocal least
            for info in engine.documents():
                if info.indexed and info.doc_id not in ended:
                    ended.append(info.doc_id)
                if info.doc_id == long:
                    least = min(least, info.pages_done)
            return not ingestion.jobs()

        until(watch)
        assert ended == [short, middle, long]
        assert least == read, "no page was read twice"
        assert not ingestion.failures
        ingestion.close()


def test_one_that_gave_way_is_cancelled_where_it_waits(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        long, short = (engine.add(data, "a.pdf").doc_id for data in (pdfs.running_headers(60), pdfs.one_column()))
        ingestion.add(long)
        until(lambda: ingestion.jobs()[long].done > 2)
        ingestion.add(short)
        until(lambda: list(ingestion.jobs()) == [short, long])
        ingestion.cancel(long)
        assert list(ingestion.jobs()) == [short]
        until(lambda: not ingestion.jobs())
        assert {info.doc_id: (info.indexed, info.held) for info in engine.documents()} == {
            long: (False, True),
            short: (True, False),
        }
        ingestion.close()


def test_removals_go_on_after_any_failure_of_one(tmp_path: Path) -> None:
    gone: list[str] = []

    def removed(doc_id: str) -> None:
        gone.append(doc_id)
        if len(gone) == 1:
            raise RuntimeError("its pictures are in use")

    with Engine.open(tmp_path, overrides={"ingest.undo_seconds": 0.1}) as engine:
        ingestion = Ingestion(engine, removed=removed)
        first, second = (engine.add(data, "a.pdf").doc_id for data in (pdfs.one_column(), pdfs.ruled_table()))
        ingestion.remove([first])
        until(lambda: gone == [first], 5)
        ingestion.remove([second])
        until(lambda: gone == [first, second], 5)
        ingestion.close()
