from pathlib import Path

import pytest

from ragcore.index.bm25 import Bm25Index
from ragcore.index.bm25_files import MANIFEST
from ragcore.types import Entry, Scope

TEXTS = {
    "a": ["Total revenues were 1,577 million.", "Free cash flow fell.", "Goodwill was not impaired."],
    "b": ["BMS-986158 inhibits BET proteins.", "Revenues of the segment grew.", "Leases are listed in note 9."],
}


def load(doc_id: str) -> list[tuple[Entry, str]]:
    return [(Entry(f"{doc_id}{i}", doc_id), text) for i, text in enumerate(TEXTS[doc_id])]


def empty(folder: Path) -> Bm25Index:
    return Bm25Index.empty(folder, k1=1.5, b=0.75)


@pytest.fixture
def index(tmp_path: Path) -> Bm25Index:
    return empty(tmp_path / "bm25").updated({"a": "1", "b": "1"}, load, revision=7)


def test_identifiers_and_numbers_are_found(index: Bm25Index) -> None:
    assert index.query("BMS-986158", 5)[0][0] == "b0"
    assert index.query("1577", 5)[0][0] == "a0"


def test_only_the_given_documents_answer(index: Bm25Index) -> None:
    assert {hit for hit, _ in index.query("revenues", 5)} == {"a0", "b1"}
    assert [hit for hit, _ in index.query("revenues", 5, Scope(("b",)))] == ["b1"]
    assert index.query("revenues", 5, Scope(("unknown",))) == []


def test_an_unknown_id_scores_nothing(index: Bm25Index) -> None:
    assert index.scores("revenues", ["a0", "gone"])[1] == 0.0


def test_nothing_is_found_in_an_empty_index(tmp_path: Path) -> None:
    assert empty(tmp_path).query("revenues", 5) == []
    assert empty(tmp_path).mentions("revenues") == {}
    assert empty(tmp_path).scores("revenues", ["a"]).tolist() == [0.0]
    assert len(empty(tmp_path).updated({}, load, revision=1)) == 0


def test_chunks_without_words_do_no_harm(tmp_path: Path) -> None:
    wordless = empty(tmp_path).updated({"a": "1"}, lambda i: [(Entry("a0", i), "…")], revision=1)
    assert wordless.query("revenues", 5) == []
    assert len(wordless) == 1
    assert len(wordless.updated({"b": "1"}, load, revision=2)) == 3


def test_a_file_that_is_damaged_or_gone_is_no_index(index: Bm25Index, tmp_path: Path) -> None:
    folder = tmp_path / "bm25"
    assert Bm25Index.load(tmp_path / "nowhere", k1=1.5, b=0.75) is None
    for path in list(folder.iterdir()):
        data = path.read_bytes()
        for size in (0, 10, len(data) // 2, len(data) - 1):
            path.unlink()  # a mapped file is never written over
            path.write_bytes(data[:size])
            assert Bm25Index.load(folder, k1=1.5, b=0.75) is None
        path.unlink()
        assert Bm25Index.load(folder, k1=1.5, b=0.75) is None
        path.write_bytes(data)
        assert Bm25Index.load(folder, k1=1.5, b=0.75) is not None


def test_k1_and_b_are_applied_on_loading(index: Bm25Index, tmp_path: Path) -> None:
    other = Bm25Index.load(tmp_path / "bm25", k1=0.5, b=0.0)
    assert other is not None
    assert other.query("revenues", 1)[0][1] != index.query("revenues", 1)[0][1]


def test_an_index_in_use_outlives_its_files(index: Bm25Index) -> None:
    before = index.query("revenues", 5)
    assert index.updated({"b": "2"}, load, revision=8).query("revenues", 5) != before
    assert index.query("revenues", 5) == before


def test_what_a_killed_update_left_behind_is_removed_by_the_next(index: Bm25Index, tmp_path: Path) -> None:
    folder = tmp_path / "bm25"
    for name in ("f00.postings", "f01.postings.77.part", f"{MANIFEST}.77.part"):
        (folder / name).write_bytes(b"half")
    loaded = Bm25Index.load(folder, k1=1.5, b=0.75)
    assert loaded is not None
    assert loaded.query("revenues", 5) == index.query("revenues", 5)
    loaded.updated({"a": "1"}, load, revision=8)
    assert len(list(folder.iterdir())) == 2
