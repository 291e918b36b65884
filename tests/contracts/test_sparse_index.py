"""What every `SparseIndex` does."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ragcore.index.bm25 import Bm25Index, Postings
from ragcore.protocols import SparseIndex
from ragcore.types import Entry, Scope, Section

TEXTS = {
    "a": ["Net revenue grew in 2018.", "Cash was low.", "Leases are in note 9."],
    "b": ["The trial of BMS-986158 ended.", "Revenue of the trial was nil.", "See appendix C.", "Signatures follow."],
}
# Kind, first and last page of each chunk.
PLACES = {
    "a": [("text", 1, 1), ("table", 1, 2), ("text", 3, 3)],
    "b": [("text", 1, 1), ("table", 2, 4), ("text", 4, 4), ("text", 0, 0)],
}


def postings(wanted: Mapping[str, str]) -> dict[str, Postings]:
    return {
        doc_id: Postings.of(
            (Entry(f"{doc_id}:{i}", doc_id, *place, 100 * i, 100 * i + 100), text)
            for i, (place, text) in enumerate(zip(PLACES[doc_id], TEXTS[doc_id]))
        )
        for doc_id in wanted
    }


@pytest.fixture(params=["bm25"])
def index(request: pytest.FixtureRequest) -> SparseIndex:
    return Bm25Index(k1=1.5, b=0.75).updated({"a": "1", "b": "1"}, postings)


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
        assert {chunk_id for chunk_id, _ in index.query("revenue", 10, Scope(("a",)))} == {"a:0"}
        assert index.query("revenue", 10, Scope(())) == []

    @pytest.mark.parametrize(
        ("scope", "expected"),
        [
            (Scope(), {"a:0", "b:0", "b:1"}),
            (Scope(kinds=("table",)), {"b:1"}),
            (Scope(kinds=("text", "table")), {"a:0", "b:0", "b:1"}),
            (Scope(kinds=("figure",)), set()),
            (Scope(pages=((1, 1),)), {"a:0", "b:0"}),
            (Scope(pages=((3, 3),)), {"b:1"}),
            (Scope(pages=((1, 1), (4, 9))), {"a:0", "b:0", "b:1"}),
            (Scope(pages=((5, 99),)), set()),
            (Scope(("b",), ((1, 2),), ("text",)), {"b:0"}),
            (Scope(sections=(Section("b", 150, 400, ("Trial",)),)), {"b:1"}),
            (Scope(sections=(Section("a", 0, 1, ("Cash",)), Section("b", 0, 100, ("Trial",)))), {"a:0", "b:0"}),
        ],
    )
    def test_only_what_is_in_the_scope_answers(self, index: SparseIndex, scope: Scope, expected: set[str]) -> None:
        everything = dict(index.query("revenue of the trial", 10))
        assert dict(index.query("revenue of the trial", 10, scope)) == {i: everything[i] for i in expected}

    def test_scores_are_those_of_the_hits(self, index: SparseIndex) -> None:
        hits = dict(index.query("revenue of the trial", 10))
        ids = ["a:1", *hits, "gone"]
        assert index.scores("revenue of the trial", ids).tolist() == [0.0, *hits.values(), 0.0]

    def test_no_score_reaches_the_most(self, index: SparseIndex) -> None:
        for text in ("revenue of the trial", "revenue revenue", "net revenue grew in 2018", "revenue zebra"):
            scores = [score for _, score in index.query(text, 10)]
            assert 0.0 < max(scores) < index.most(text)
        assert index.most("zebra") > 0.0
        assert index.most("") == 0.0

    def test_mentions_count_the_chunks_that_hold_every_term(self, index: SparseIndex) -> None:
        assert index.mentions("revenue") == {"a": 1, "b": 1}
        assert index.mentions("the revenue of the trial") == {"b": 1}
        assert index.mentions("revenue zebra") == {}
        assert index.mentions("") == {}
