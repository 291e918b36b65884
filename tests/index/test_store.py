"""The store: files by hash, documents, chunks and vectors, one transaction each."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ragcore.errors import StoreBusy, StoreError, UnknownDocument
from ragcore.index.chunks import Entries
from ragcore.index.shelf import Trash
from ragcore.index.store import Store
from ragcore.types import Cell, Chunk, Document, Element, Entry, Page, Table, WordMap
from tests.libraries import askable

RECIPE = "r1"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def make(doc_id: str, text: str = "Alpha beta. Gamma delta.") -> tuple[Document, list[Chunk]]:
    starts = [index for index, char in enumerate(text) if index == 0 or text[index - 1] == " "]
    ends = [text.find(" ", start) if " " in text[start:] else len(text) for start in starts]
    boxes = [(10.0 * n, 10.0, 10.0 * n + 8, 20.0) for n in range(len(starts))]
    words = WordMap(starts, ends, [1] * len(starts), boxes, [False] * len(starts))
    table = Table("T", 1, 1, (Cell(0, 0, 1, 1, 0, 5, header=True),), ((0, 5),), (0,))
    elements = (
        Element(0, "heading", 0, 5, 1, level=1, section=("Alpha",)),
        Element(1, "table", 6, len(text), 1, section=("Alpha",), table=table, noise=None),
    )
    document = Document(
        doc_id, doc_id * 4, "a.pdf", "Title", text, len(text), words, (Page(1, "i", 600, 800),), elements
    )
    middle = text.index("Gamma")
    spans = [(0, middle), (middle, len(text))]
    chunks = [
        Chunk(f"{doc_id}:{n}", doc_id, n, "text", start, end, text[start:end], ("Alpha",), "Title", "", 3)
        for n, (start, end) in enumerate(spans)
    ]
    return document, chunks


def add(store: Store, data: bytes = b"%PDF-1", text: str = "Alpha beta. Gamma delta.") -> str:
    doc_id, _ = store.add_file(data, "a.pdf")
    document, chunks = make(doc_id, text)
    store.put_document(document, chunks, recipe=RECIPE)
    return doc_id


def test_the_same_bytes_are_kept_once(store: Store) -> None:
    doc_id, new = store.add_file(b"%PDF-1", "a.pdf")
    again, new_again = store.add_file(b"%PDF-1", "b.pdf")
    assert (doc_id, True, False) == (again, new, new_again)
    assert store.file(doc_id).read_bytes() == b"%PDF-1"
    assert [info.name for info in store.documents()] == ["a.pdf"]


def test_a_document_comes_back_as_it_was(store: Store) -> None:
    doc_id = add(store)
    given, _ = make(doc_id)
    for got in (store.document(doc_id), Store(store.home).document(doc_id)):
        assert (got.text, got.elements, got.pages, got.title) == (given.text, given.elements, given.pages, given.title)
        assert got.boxes(0, 5) == given.boxes(0, 5)
    info = store.documents("e")[0]
    assert (info.status, info.pages, info.chunks, info.tables, info.indexed) == ("ready", 1, 2, 1, False)


def test_chunks_carry_the_document_s_text(store: Store) -> None:
    doc_id = add(store)
    document = store.document(doc_id)
    assert [chunk.text for chunk in store.chunks(doc_id)] == ["Alpha beta. ", "Gamma delta."]
    for chunk in store.chunks(doc_id):
        assert chunk.text == document.text[chunk.start : chunk.end]
    assert [c.index for c in store.chunks_by_id([f"{doc_id}:1", "gone", f"{doc_id}:0"])] == [1, 0]


def test_vectors_wait_until_they_are_stored(store: Store) -> None:
    doc_id = add(store)
    waiting = store.unembedded("e", doc_id)
    assert len(waiting) == 2
    store.put_vectors("e", waiting[:1], np.eye(1, 4, dtype=np.float32))
    assert store.waiting("e") == {doc_id: 1}
    assert store.with_vectors("e") != {doc_id: store.searchable()[doc_id]}, "one of two"
    assert not store.documents("e")[0].indexed
    store.put_vectors("e", waiting[1:], np.eye(1, 4, k=1, dtype=np.float32))
    assert store.unembedded("e", doc_id) == []
    assert store.waiting("e") == {}
    assert store.waiting("other") == {doc_id: 2}
    assert store.with_vectors("e") == store.searchable()
    assert store.count(list(store.searchable())) == 2
    entries, matrix = store.vectors("e", [doc_id])
    expected = [Entry(one.chunk_id, doc_id, "text", 1, 1, one.start, one.end) for one in store.chunks(doc_id)]
    assert entries.to_json() == Entries.of(expected).to_json()
    assert matrix.tolist() == np.eye(2, 4).tolist()
    assert store.documents("e")[0].indexed


def test_building_again_keeps_the_vectors_of_what_did_not_change(store: Store) -> None:
    doc_id = add(store)
    store.put_vectors("e", store.chunks(doc_id), np.eye(2, 4, dtype=np.float32))
    document, chunks = make(doc_id, "Alpha beta. Gamma OMEGA.")
    before = store.revision()
    store.put_document(document, chunks, recipe="r2")
    assert [chunk.index for chunk in store.unembedded("e", doc_id)] == [1]
    assert store.waiting("e") == {doc_id: 1}
    assert store.revision() > before
    assert store.document(doc_id).text.endswith("OMEGA.")


def test_a_build_by_another_process_is_seen(store: Store) -> None:
    doc_id = add(store)
    assert store.document(doc_id).text.endswith("delta.")
    document, chunks = make(doc_id, "Alpha beta. Gamma OMEGA.")
    Store(store.home).put_document(document, chunks, recipe="r2")
    assert store.document(doc_id).text.endswith("OMEGA.")


def test_removing_forgets_everything(store: Store) -> None:
    doc_id = add(store)
    other = add(store, b"%PDF-2")
    store.put_page(doc_id, 1, b"page")
    store.put_vectors("e", store.chunks(doc_id) + store.chunks(other), np.ones((4, 3), dtype=np.float32))
    path = store.file(doc_id)
    Trash(store, 0).remove(doc_id)
    assert not path.exists()
    assert askable(store) == [other]
    assert store.chunks(doc_id) == [] != store.chunks(other)
    assert store.vectors("e", [doc_id, other])[0].ids == [f"{other}:0", f"{other}:1"]
    assert store.searchable().keys() == store.with_vectors("e").keys() == {other}
    with pytest.raises(UnknownDocument):
        store.document(doc_id)
    with pytest.raises(UnknownDocument):
        Trash(store, 0).remove(doc_id)


def test_one_task_at_a_time_reads_a_document(store: Store) -> None:
    doc_id = add(store)
    with store.document_lock(doc_id):
        with pytest.raises(StoreBusy), store.document_lock(doc_id):
            pass
        code = (
            "import sys; from pathlib import Path; from ragcore.index.store import Store\n"
            "from ragcore.index.shelf import Trash\n"
            "from ragcore.errors import StoreBusy\n"
            "try: Trash(Store(Path(sys.argv[1])), 0).remove(sys.argv[2])\n"
            "except StoreBusy: print('busy')"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(store.home), doc_id], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "busy"
    Trash(store, 0).remove(doc_id)


def test_a_failed_write_leaves_nothing_behind(store: Store) -> None:
    doc_id = add(store)
    document, chunks = make(doc_id, "Other words. Gamma two.")
    twice = [chunks[0], Chunk(**{name: getattr(chunks[1], name) for name in Chunk.__slots__} | {"index": 0})]
    with pytest.raises(StoreError):
        store.put_document(document, twice, recipe="r2")
    assert store.document(doc_id).text.startswith("Alpha")
    assert len(store.chunks(doc_id)) == 2


def test_checkpoints_are_kept_in_page_order(store: Store) -> None:
    doc_id, _ = store.add_file(b"%PDF-1", "a.pdf")
    for page in (3, 1, 2):
        store.put_page(doc_id, page, str(page).encode())
    assert store.page_layouts(doc_id) == [b"1", b"2", b"3"]


@pytest.mark.sqlite
@pytest.mark.parametrize(("version", "hint"), [(99, "folder `files`"), (1000, "Update Groundwork")])
def test_a_file_of_another_schema_is_refused_and_left_as_it_was(tmp_path: Path, version: int, hint: str) -> None:
    path = tmp_path / "groundwork.sqlite"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE documents (doc_id TEXT)")
        raw.execute(f"PRAGMA user_version = {version}")
    raw.close()
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreError, match=f"schema {version}") as caught:
            Store(tmp_path)
        assert hint in caught.value.hint
    assert path.read_bytes()[100:] == before[100:]  # but for the journal mode in the header


@pytest.mark.sqlite
def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "groundwork.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match="can't be used"):
        Store(tmp_path)
