"""Documents by tag and folder."""

from __future__ import annotations

from ragcore.types.library import DocumentInfo
from ui.chat.sidebar import groups


def info(doc_id: str, folder: str = "", tags: tuple[str, ...] = ()) -> DocumentInfo:
    return DocumentInfo(doc_id, doc_id, f"{doc_id}.pdf", doc_id, 1, "ready", 0.0, folder=folder, tags=tags)


def test_a_folder_holds_what_lies_below_it_and_tags_come_after_folders() -> None:
    given = [info("a", "Trial/deep", ("b-tag",)), info("b", "Trial"), info("c", tags=("A-tag", "b-tag")), info("d")]
    assert groups(given) == {
        "Trial/ (2)": ("a", "b"),
        "Trial/deep/ (1)": ("a",),
        "#A-tag (1)": ("c",),
        "#b-tag (2)": ("a", "c"),
    }
    assert groups([info("d")]) == {}
