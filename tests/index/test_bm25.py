from collections.abc import Mapping

import pytest

from ragcore.index.bm25 import Bm25Index, Postings
from ragcore.types import Entry, Scope

TEXTS = {
    "a": ["Total revenues were 1,577 million.", "Free cash flow fell.", "Goodwill was not impaired."],
    "b": ["BMS-986158 inhibits BET proteins.", "Revenues of the segment grew.", "Leases are listed in note 9."],
}


def load(wanted: Mapping[str, str]) -> dict[str, Postings]:
    return {
        doc_id: Postings.of((Entry(f"{doc_id}{i}", doc_id), text) for i, text in enumerate(TEXTS[doc_id]))
        for doc_id in wanted
    }


EMPTY = Bm25Index(k1=1.5, b=0.75)


@pytest.fixture
def index() -> Bm25Index:
    return EMPTY.updated({"a": "1", "b": "1"}, load)


def test_identifiers_and_numbers_are_found(index: Bm25Index) -> None:
    assert index.query("BMS-986158", 5)[0][0] == "b0"
    assert index.query("1577", 5)[0][0] == "a0"


def test_only_the_given_documents_answer(index: Bm25Index) -> None:
    assert {hit for hit, _ in index.query("revenues", 5)} == {"a0", "b1"}
    assert [hit for hit, _ in index.query("revenues", 5, Scope(("b",)))] == ["b1"]
    assert index.query("revenues", 5, Scope(("unknown",))) == []


def test_an_unknown_id_scores_nothing(index: Bm25Index) -> None:
    assert index.scores("revenues", ["a0", "gone"])[1] == 0.0


def test_nothing_is_found_in_an_empty_index() -> None:
    assert EMPTY.query("revenues", 5) == []
    assert EMPTY.mentions("revenues") == {}
    assert EMPTY.scores("revenues", ["a"]).tolist() == [0.0]
    assert len(EMPTY.updated({}, load)) == 0


def test_chunks_without_words_do_no_harm() -> None:
    wordless = EMPTY.updated({"a": "1"}, lambda _: {"a": Postings.of([(Entry("a0", "a"), "…")])})
    assert wordless.query("revenues", 5) == []
    assert len(wordless) == 1
    assert len(wordless.updated({"b": "1"}, load)) == 3


def test_postings_come_back_as_they_were_kept_and_never_damaged() -> None:
    kept = load({"a": "1"})["a"].to_bytes()
    assert Postings.from_bytes(kept).to_bytes() == kept
    for size in (0, 5, 12, len(kept) // 2, len(kept) - 1):
        with pytest.raises(ValueError, match="damaged"):
            Postings.from_bytes(kept[:size])
    for bit in range(0, len(kept) * 8, 13):
        flipped = bytearray(kept)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="damaged"):
            Postings.from_bytes(bytes(flipped))


def test_k1_and_b_are_applied(index: Bm25Index) -> None:
    other = Bm25Index(k1=0.5, b=0.0).updated({"a": "1", "b": "1"}, load)
    assert other.query("revenues", 1)[0][1] != index.query("revenues", 1)[0][1]


def test_an_index_in_use_stays_as_it_is(index: Bm25Index) -> None:
    before = index.query("revenues", 5)
    assert index.updated({"b": "2"}, load).query("revenues", 5) != before
    assert index.query("revenues", 5) == before


def test_a_small_change_reads_little_of_a_large_library() -> None:
    read: list[str] = []

    def many(wanted: Mapping[str, str]) -> dict[str, Postings]:
        read.extend(wanted)
        return {doc_id: Postings.of([(Entry(f"{doc_id}:0", doc_id), f"word{doc_id}")]) for doc_id in wanted}

    documents = {f"d{number}": "1" for number in range(200)}
    index = EMPTY.updated(documents, many)
    for number in range(200, 264):
        documents = {**documents, f"d{number}": "1"}
        index = index.updated(documents, many)
    assert len(index) == 264
    assert len(read) <= 200 + 64 * 7  # each of the new ones about log2(64) times, the others once
    read.clear()
    assert len(index.updated({"d0": "1", **dict.fromkeys(list(documents)[2:], "1")}, many)) == 263
    assert read == []
