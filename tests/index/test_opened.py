"""Opened documents: made part by part when asked for, and kept up to so many bytes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ragcore.errors import StoreError
from ragcore.index.packing import StoredElements, pack_elements
from ragcore.index.store import OpenDocuments, Store
from ragcore.types import Cell, Document, Element, Table
from ragcore.types.table_labels import elements_within
from tests.index.test_store import RECIPE, add, make

TABLE = Table('a "noise":null {"id":9,"kind":"x","start":1,"end":2,', 1, 1, (Cell(0, 0, 1, 1, 0, 5),), ((0, 5),), (0,))
ELEMENTS = (
    Element(0, "heading", 30, 35, 2, level=1, section=("Above",)),
    Element(1, "table", 6, 20, 1, section=('"noise":"x"', "\\"), table=TABLE),
    Element(2, "paragraph", 50, 60, 2, noise="page_header"),
    Element(3, "paragraph", 20, 29, 1, generated=(20, 25)),
)


def packed(elements: tuple[Element, ...]) -> StoredElements:
    return StoredElements(pack_elements(elements))


def test_stored_elements_are_like_the_tuple_that_was_packed() -> None:
    stored = packed(ELEMENTS)
    assert stored == ELEMENTS
    assert stored == ELEMENTS
    assert hash(stored) == hash(ELEMENTS)
    assert (stored[-1], stored[1:3], len(stored)) == (ELEMENTS[-1], ELEMENTS[1:3], 4)
    assert stored[1] is stored[1]
    assert [element.id for element in stored.body()] == [1, 3, 0]
    assert [element.id for element in stored.body()[1:]] == [3, 0]
    assert packed(()) == ()
    assert list(packed(()).body()) == []
    with pytest.raises(IndexError):
        stored[4]


def test_a_span_makes_only_the_elements_near_it() -> None:
    many = tuple(Element(n, "paragraph", 10 * n, 10 * n + 9, 1) for n in range(1000))
    document, _ = make("d")
    stored = packed(many)
    document = dataclasses.replace(document, elements=stored)
    assert [element.id for element in elements_within(document, 5001, 5015)] == [500, 501]
    assert sum(element is not None for element in stored._decoded) < 20


def test_damaged_elements_are_said_to_be_unreadable() -> None:
    with pytest.raises(StoreError, match="can't be read"):
        StoredElements(b"not packed")


def document(name: str) -> Document:
    return make(name)[0]


def test_the_least_recently_used_goes_when_there_is_no_room() -> None:
    opened = OpenDocuments(100)
    for name in ("a", "b"):
        opened.put(document(name), 1, 50)
    assert opened.get("a", 1) is not None
    opened.put(document("c"), 1, 50)
    assert opened.get("b", 1) is None
    assert opened.get("a", 1) is not None
    opened.put(document("d"), 1, 500)  # the last one always
    assert [name for name in "abcd" if name in opened] == ["d"]
    assert opened.get("d", 2) is None  # of another build
    opened.put(document("d"), 2, 60)
    opened.put(document("a"), 1, 40)
    assert "d" in opened
    opened.drop("d")
    assert "d" not in opened


def test_a_document_is_right_after_another_process_built_it_anew_or_removed_it(tmp_path: Path) -> None:
    store, other = Store(tmp_path), Store(tmp_path)
    doc_id = add(store)
    before = store.document(doc_id)
    assert store.document(doc_id) is before
    again, chunks = make(doc_id, "Alpha beta. Gamma delta. Epsilon.")
    other.put_document(again, chunks, recipe=RECIPE)
    after = store.document(doc_id)
    assert after.text == again.text
    assert after.elements == again.elements
    assert after.boxes(0, 11) == again.boxes(0, 11)
    assert before.boxes(0, 11) == after.boxes(0, 11)  # what was opened before can still be read
