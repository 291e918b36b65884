"""Tags and folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import InputError, UnknownDocument
from ragcore.index.shelf import FOLDER_LENGTH, TAG_LENGTH, Shelf, clean_folder, clean_tag
from ragcore.index.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path)
    for i in range(3):
        made.add_file(f"%PDF-{i}".encode(), f"{i}.pdf")
    return made


def tagged(store: Store) -> list[tuple[str, ...]]:
    return [info.tags for info in store.documents()]


def test_tags_are_given_taken_renamed_and_merged(store: Store) -> None:
    shelf, ids = Shelf(store.database), [info.doc_id for info in store.documents()]
    shelf.tag(ids, add=["10-K", " bank  note "])
    shelf.tag(ids[:1], add=["10-k"], remove=["BANK NOTE"])
    assert tagged(store) == [("10-K",), ("10-K", "bank note"), ("10-K", "bank note")]
    shelf.rename_tag("bank note", "Bank note")
    assert tagged(store) == [("10-K",), ("10-K", "Bank note"), ("10-K", "Bank note")]
    shelf.rename_tag("Bank note", "10-k")  # the two become one
    assert tagged(store) == [("10-K",)] * 3
    shelf.delete_tag("10-K")
    assert tagged(store) == [()] * 3
    with pytest.raises(InputError):
        shelf.rename_tag("gone", "x")


def test_a_change_of_documents_that_are_not_all_there_changes_none(store: Store) -> None:
    shelf, ids = Shelf(store.database), [info.doc_id for info in store.documents()]
    with pytest.raises(UnknownDocument):
        shelf.tag([*ids, "f" * 16], add=["x"])
    with pytest.raises(UnknownDocument):
        shelf.put([*ids, "f" * 16], "x")
    assert {(info.folder, info.tags) for info in store.documents()} == {("", ())}


def test_folders_are_paths(store: Store) -> None:
    shelf, ids = Shelf(store.database), [info.doc_id for info in store.documents()]
    shelf.put(ids[:2], " Trial / deep \\ ../ x/")
    assert [info.folder for info in store.documents()] == ["Trial/deep/x", "Trial/deep/x", ""]
    shelf.put(ids[:1], "")
    assert [info.folder for info in store.documents()] == ["", "Trial/deep/x", ""]


@pytest.mark.parametrize("text", ["", "  ", "\n", "a,b", "x" * (TAG_LENGTH + 1)])
def test_what_cannot_be_a_tag_is_said(text: str) -> None:
    with pytest.raises(InputError):
        clean_tag(text)


@given(st.text(max_size=300))
def test_a_folder_is_clean_once_it_is_cleaned(path: str) -> None:
    try:
        folder = clean_folder(path)
    except InputError:
        assert len(path) > FOLDER_LENGTH
        return
    assert clean_folder(folder) == folder
    assert not {".", "..", ""} & set(folder.split("/")) or folder == ""
