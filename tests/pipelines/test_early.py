"""A long document can be asked while it is read, and nothing that was shown of it becomes untrue."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.errors import Cancelled
from ragcore.index.store import Store
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo
from ragcore.pipelines.ingest import FIRST_PAGES
from ragcore.types import Box, Document, Partly
from tests import ade, pdfs, prepared
from tests.libraries import HashEmbedder, add_document, put_passages

PAGES = 24


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(tmp_path)


def places(document: Document, words: str) -> list[tuple[Box, ...]]:
    """Where ``words`` stand on the pages, each time."""
    found, at = [], document.text.find(words)
    while at >= 0:
        found.append(document.boxes(at, at + len(words)))
        at = document.text.find(words, at + 1)
    return found


@pytest.mark.slow
def test_the_first_pages_can_be_asked_while_the_others_are_read(engine: Engine) -> None:
    doc_id = engine.add(pdfs.running_headers(PAGES), "long.pdf").doc_id
    conversation, built = engine.conversations.new(), []

    def ask() -> None:
        [info] = engine.documents()
        assert (info.status, info.indexed, info.askable, info.pages) == ("reading", False, True, PAGES)
        built.append(info.built_pages)
        engine.search.indexer.update()
        if len(built) == 1:
            engine.chat(conversation, "What did the crews find in year 3 of the survey?").run()

    info = engine.ingest(doc_id, on_built=ask)
    assert FIRST_PAGES <= built[0] <= built[-1] < PAGES
    assert (info.status, info.built_pages) == ("ready", PAGES)
    report = engine.index()
    assert report.embedded < report.chunks, "what was embedded before is not embedded again"

    early = engine.conversations.get(conversation).turns[0].answer
    assert early is not None
    assert early.partly == (Partly(doc_id, info.title, built[0], PAGES),)
    assert early.citations
    now = engine.document(doc_id)
    for citation in early.citations:
        assert citation.page <= built[0]
        assert citation.boxes in places(now, citation.quote), "it stays lit on the same words"
    assert engine.ask("What did the crews find in year 20 of the survey?").run().partly == ()


def printed(document: Document) -> set[tuple[str, int, tuple[float, ...]]]:
    """Words with their pages and boxes."""
    map_ = document.words
    spans = zip(map_.starts.tolist(), map_.ends.tolist(), map_.pages.tolist(), map_.boxes.tolist())
    return {(document.text[start:end], page, tuple(box)) for start, end, page, box in spans}


@pytest.mark.slow
def test_a_word_of_a_first_build_stands_in_the_last_one_with_the_same_box(tmp_path: Path) -> None:
    parts = (pdfs.running_headers(4), pdfs.page_break_paragraph(), pdfs.table_over_pages(), pdfs.hyphenated())
    path = pdfs.write(tmp_path, "a.pdf", pdfs.joined(*parts, pdfs.two_columns(), pdfs.footnote()))
    settings, _ = load(environ={})
    pages = prepared.layouts(path, settings)
    info = FileInfo(len(pages), "", (), (), unlocked=False)
    last = printed(build_document("a", "b", "a.pdf", info, pages, settings))
    for count in range(1, len(pages)):
        assert printed(build_document("a", "b", "a.pdf", info, pages[:count], settings)) <= last


@pytest.mark.slow
def test_reading_and_embedding_side_by_side_end_as_one_after_the_other(tmp_path: Path) -> None:
    data = pdfs.running_headers(PAGES)
    with Engine.open(tmp_path / "a") as beside, Engine.open(tmp_path / "b") as after:
        doc_id = beside.add(data, "long.pdf").doc_id
        info = beside.ingest_and_index(doc_id)
        prepared.read(after, data, "long.pdf")
        after.index()
        assert info.status == "ready"
        assert beside.documents()[0].indexed
        one, other = beside.document(doc_id), after.document(doc_id)
        assert (one.text, one.elements, one.words.to_bytes()) == (other.text, other.elements, other.words.to_bytes())
        assert beside.chunks(doc_id) == after.chunks(doc_id)
        name = beside.settings.index.embedder
        ours, theirs = beside.store.vectors(name, [doc_id]), after.store.vectors(name, [doc_id])
        assert ours[0].ids == theirs[0].ids
        assert abs(ours[1] - theirs[1]).max() < 1e-5


@pytest.mark.slow
def test_what_was_read_before_a_cancellation_can_be_asked(engine: Engine) -> None:
    doc_id = engine.add(pdfs.running_headers(PAGES), "long.pdf").doc_id
    enough = threading.Event()
    with pytest.raises(Cancelled):
        engine.ingest_and_index(
            doc_id,
            on_progress=lambda progress: enough.set() if progress.done > FIRST_PAGES else None,
            cancelled=enough.is_set,
        )
    [info] = engine.documents()
    assert (info.status, info.askable) == ("new", True)
    engine.search.indexer.update()
    answer = engine.ask("What did the crews find in year 3 of the survey?").run()
    assert [(one.pages, one.of) for one in answer.partly] == [(info.built_pages, PAGES)]
    assert engine.ingest_and_index(doc_id).status == "ready"
    assert engine.ask("What did the crews find in year 3 of the survey?").run().partly == ()


def test_nothing_can_be_asked_of_an_ade_file_that_does_not_match_its_pdf(tmp_path: Path, engine: Engine) -> None:
    said = "The tariff of this zone is given in crowns for each cubic metre of water drawn. " * 6
    chunks = [ade.chunk("text", said, (72, 300, 500, 420), page=number) for number in range(PAGES)]
    (tmp_path / "long.json").write_bytes(ade.ade(chunks, pages=PAGES))
    (tmp_path / "long.pdf").write_bytes(pdfs.running_headers(PAGES))
    built: list[int] = []
    info = engine.ingest(engine.add(tmp_path / "long.json").doc_id, on_built=lambda: built.append(1))
    assert info.error is not None
    assert info.error["code"] == "ade_mismatch"
    assert not built


def test_a_vector_of_words_that_were_replaced_meanwhile_is_not_kept(tmp_path: Path) -> None:
    store, embedder = Store(tmp_path), HashEmbedder()
    doc_id = add_document(store, "alpha", ["Alpha makes pumps.", "Leases run to 2030."])
    waiting = store.unembedded(embedder.name, doc_id)
    vectors = embedder.embed_documents([chunk.index_text for chunk in waiting])
    put_passages(store, doc_id, "alpha", ["Zebras graze.", "Leases run to 2030."])
    store.put_vectors(embedder.name, waiting, vectors)
    assert [chunk.text for chunk in store.unembedded(embedder.name, doc_id)] == ["Zebras graze.\n"]


def test_a_passage_that_moved_keeps_its_vector(tmp_path: Path) -> None:
    store, embedder = Store(tmp_path), HashEmbedder()
    doc_id = add_document(store, "alpha", ["Alpha makes pumps.", "Leases run to 2030."])
    waiting = store.unembedded(embedder.name, doc_id)
    store.put_vectors(embedder.name, waiting, embedder.embed_documents([chunk.index_text for chunk in waiting]))
    put_passages(store, doc_id, "alpha", ["Zebras graze.", "Alpha makes pumps.", "Leases run to 2030."])
    assert [chunk.text for chunk in store.unembedded(embedder.name, doc_id)] == ["Zebras graze.\n"]
