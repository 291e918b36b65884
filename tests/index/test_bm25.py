from pathlib import Path

import pytest

from ragcore.index.bm25 import Bm25Index
from ragcore.types import Chunk

TEXTS = {
    "a": ["Total revenues were 1,577 million.", "Free cash flow fell.", "Goodwill was not impaired."],
    "b": ["BMS-986158 inhibits BET proteins.", "Revenues of the segment grew.", "Leases are listed in note 9."],
}


def make(doc_id: str) -> list[Chunk]:
    return [Chunk(f"{doc_id}{i}", doc_id, i, "text", 0, len(t), t) for i, t in enumerate(TEXTS[doc_id])]


@pytest.fixture
def index() -> Bm25Index:
    return Bm25Index({}, {}, k1=1.5, b=0.75).updated({"a": "1", "b": "1"}, make, revision=7)


def test_identifiers_and_numbers_are_found(index: Bm25Index) -> None:
    assert index.query("BMS-986158", 5)[0][0] == "b0"
    assert index.query("1577", 5)[0][0] == "a0"


def test_only_the_given_documents_answer(index: Bm25Index) -> None:
    assert {hit for hit, _ in index.query("revenues", 5)} == {"a0", "b1"}
    assert [hit for hit, _ in index.query("revenues", 5, ["b"])] == ["b1"]
    assert index.query("revenues", 5, ["unknown"]) == []


def test_an_unknown_id_scores_nothing(index: Bm25Index) -> None:
    assert index.scores("revenues", ["a0", "gone"])[1] == 0.0


def test_nothing_is_found_in_an_empty_index() -> None:
    assert Bm25Index({}, {}, k1=1.5, b=0.75).query("revenues", 5) == []


def test_chunks_without_words_do_no_harm() -> None:
    empty = Bm25Index({}, {}, k1=1.5, b=0.75).updated(
        {"a": "1"}, lambda i: [Chunk("a0", i, 0, "text", 0, 1, "…")], revision=1
    )
    assert empty.query("revenues", 5) == []
    assert len(empty) == 1


def test_a_file_cut_short_is_no_file(index: Bm25Index, tmp_path: Path) -> None:
    path = tmp_path / "bm25.npz"
    assert Bm25Index.load(path, k1=1.5, b=0.75) is None
    index.save(path)
    assert Bm25Index.load(path, k1=1.5, b=0.75) is not None
    data = path.read_bytes()
    for size in (0, 10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        assert Bm25Index.load(path, k1=1.5, b=0.75) is None


def test_k1_and_b_are_applied_on_loading(index: Bm25Index, tmp_path: Path) -> None:
    index.save(tmp_path / "bm25.npz")
    other = Bm25Index.load(tmp_path / "bm25.npz", k1=0.5, b=0.0)
    assert other is not None
    assert other.query("revenues", 1)[0][1] != index.query("revenues", 1)[0][1]
