"""What every `SparseIndex` does."""

from __future__ import annotations

import pytest

from ragcore.index.bm25 import Bm25Index
from ragcore.protocols import SparseIndex
from ragcore.types import Chunk

TEXTS = {
    "a": ["Net revenue grew in 2018.", "Cash was low.", "Leases are in note 9."],
    "b": ["The trial of BMS-986158 ended.", "Revenue of the trial was nil.", "See appendix C.", "Signatures follow."],
}


def chunks(doc_id: str) -> list[Chunk]:
    return [Chunk(f"{doc_id}:{i}", doc_id, i, "text", 0, len(t), t) for i, t in enumerate(TEXTS[doc_id])]


@pytest.fixture(params=["bm25"])
def index(request: pytest.FixtureRequest) -> SparseIndex:
    return Bm25Index({}, {}, k1=1.5, b=0.75).updated({"a": "1", "b": "1"}, chunks, revision=1)


class TestSparseIndex:
    def test_it_is_a_sparse_index(self, index: SparseIndex) -> None:
        assert isinstance(index, SparseIndex)

    def test_hits_are_best_first_and_at_most_k(self, index: SparseIndex) -> None:
        hits = index.query("revenue of the trial", 10)
        assert hits[0][0] == "b:1"
        assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
        assert index.query("revenue of the trial", 1) == hits[:1]

    def test_only_what_matches_is_found(self, index: SparseIndex) -> None:
        assert index.query("zebra", 10) == []
        assert index.query("", 10) == []
        assert all(score > 0.0 for _, score in index.query("revenue", 10))

    def test_only_the_given_documents_answer(self, index: SparseIndex) -> None:
        assert {chunk_id for chunk_id, _ in index.query("revenue", 10, ["a"])} == {"a:0"}
        assert index.query("revenue", 10, []) == []

    def test_scores_are_those_of_the_hits(self, index: SparseIndex) -> None:
        hits = dict(index.query("revenue of the trial", 10))
        ids = ["a:1", *hits, "gone"]
        assert index.scores("revenue of the trial", ids).tolist() == [0.0, *hits.values(), 0.0]

    def test_mentions_count_the_chunks_that_hold_every_term(self, index: SparseIndex) -> None:
        assert index.mentions("revenue") == {"a": 1, "b": 1}
        assert index.mentions("the revenue of the trial") == {"b": 1}
        assert index.mentions("revenue zebra") == {}
        assert index.mentions("") == {}
