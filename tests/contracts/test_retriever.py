"""What the search for a question does, in every mode and with parts."""

from __future__ import annotations

from typing import get_args

import pytest

from ragcore.config.settings import PublishedMode, load
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.pipelines.structures import Structures
from ragcore.retrieve.agentic import AgenticRetriever
from ragcore.retrieve.hybrid import MODES, HybridRetriever
from ragcore.types import Scope, Section, SubQuery
from tests.libraries import HashEmbedder, OverlapReranker, add_document

PASSAGES = [
    "Alpha Corp designs pumps and valves for water works.",
    "Total revenues of Alpha Corp were 1,577 million in 2018.",
    "Operating expenses fell by two percent in the year.",
    "The auditor found no material weakness.",
    "Water works ordered more valves than pumps.",
]


PARTS = [SubQuery("What were the revenues of Alpha Corp?", "model"), SubQuery("Who makes pumps and valves?", "model")]


@pytest.fixture(scope="module", params=[*MODES, "agentic"])
def retriever(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AgenticRetriever:
    """One for all tests, which only ask."""
    store = Store(tmp_path_factory.mktemp("home"))
    add_document(store, "alpha.pdf", PASSAGES)
    add_document(store, "beta.pdf", ["Beta Inc sells tea.", "Revenues of Beta Inc were 12 million.", "Tea is grown."])
    add_document(
        store,
        "gamma.pdf",
        ["Gamma sells bolts.", *(f"Prices: valve {n} | {n} euro" for n in range(4))],
        tables=[(1, 4)],
    )
    mode = request.param if request.param in MODES else "hybrid"
    settings, _ = load(environ={})
    embedder = HashEmbedder()
    indexer = Indexer(store, embedder, settings.index)
    indexer.update()
    vectors, sparse = indexer.open()
    parts = (embedder, vectors, sparse, OverlapReranker(), store.chunks_by_id, settings)
    hybrid = HybridRetriever(
        *parts,
        mode=mode,
        connections=indexer.graph,
        document=store.document,
        structure=Structures(store, indexer, embedder).open,
    )
    return AgenticRetriever(hybrid, parts=PARTS if request.param == "agentic" else ())


def finds(retriever: AgenticRetriever) -> None:
    """Skip methods that stand as published, to be compared with: where no name leads, they find nothing."""
    if retriever.retriever.mode in get_args(PublishedMode):
        pytest.skip("as published, it follows names alone")


class TestRetriever:
    def test_the_passage_with_the_answer_comes_first(self, retriever: AgenticRetriever) -> None:
        finds(retriever)
        found = retriever.retrieve("What were the total revenues of Alpha Corp in 2018?", top_k=3)
        assert found.hits[0].chunk.text.startswith("Total revenues of Alpha Corp")
        assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
        assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)

    def test_at_most_top_k_hits_without_repeats(self, retriever: AgenticRetriever) -> None:
        for top_k in (1, 2, 50):
            hits = retriever.retrieve("valves and revenues", top_k=top_k).hits
            assert 0 < len(hits) <= top_k
            assert len({hit.chunk.chunk_id for hit in hits}) == len(hits)

    def test_only_the_given_documents_answer(self, retriever: AgenticRetriever) -> None:
        everywhere = retriever.retrieve("revenues", top_k=20)
        beta = next(hit.chunk.doc_id for hit in everywhere.hits if "Beta" in hit.chunk.text)
        found = retriever.retrieve("revenues", top_k=20, scope=Scope((beta,)))
        assert {hit.chunk.doc_id for hit in found.hits} == {segment.doc_id for segment in found.segments} == {beta}

    def test_only_the_given_section_answers_to_the_character(self, retriever: AgenticRetriever) -> None:
        finds(retriever)
        everywhere = retriever.retrieve("revenues of Alpha Corp", top_k=20)
        (chunk,) = [hit.chunk for hit in everywhere.hits if hit.chunk.text.startswith("Total revenues of Alpha")]
        # It begins within one passage and ends within the next but one.
        section = Section(chunk.doc_id, chunk.start + 9, chunk.end + 60, ("Revenues",))
        question = "revenues, auditor and water works"
        found = retriever.retrieve(question, top_k=20, scope=Scope(sections=(section,)))
        assert found.hits
        assert found.segments
        for hit in found.hits:
            assert hit.chunk.doc_id == section.doc_id
            assert hit.chunk.start < section.end
            assert hit.chunk.end > section.start
        for one in found.segments:
            assert one.doc_id == section.doc_id
            assert section.start <= one.start < one.end <= section.end
        other = Section(chunk.doc_id, chunk.end, chunk.end + 5, ("Expenses",))
        both = retriever.retrieve(question, top_k=20, scope=Scope(sections=(section, other)))
        assert (both.hits, both.segments) == (found.hits, found.segments), "it lies inside the other"

    def test_the_same_question_gives_the_same_answer(self, retriever: AgenticRetriever) -> None:
        first, second = (retriever.retrieve("revenues of the corp", top_k=5) for _ in range(2))
        assert first.hits == second.hits
        assert first.segments == second.segments

    def test_every_hit_lies_in_exactly_one_segment(self, retriever: AgenticRetriever) -> None:
        found = retriever.retrieve("valves and revenues", top_k=4)
        taken = [
            (segment.doc_id, index)
            for segment in found.segments
            for index in range(segment.first_chunk, segment.last_chunk + 1)
        ]
        assert len(taken) == len(set(taken))
        own = [(h.chunk.doc_id, i) for h in found.hits for i in range(h.chunk.reach[0], h.chunk.reach[1] + 1)]
        assert len(own) == len(set(own)), "what a table has found is not found again by its rows"
        assert set(own) <= set(taken)

    def test_hits_say_why_they_are_there(self, retriever: AgenticRetriever) -> None:
        found = retriever.retrieve("total revenues", top_k=5)
        for hit in found.hits:
            assert hit.via
            assert set(hit.via.split("+")) - {"table"} <= set(hit.scores)
            assert ("table" in hit.via.split("+")) == (hit.chunk.tiles is not None)
            assert set(hit.ranks) <= set(hit.scores)
            assert 0.0 <= hit.score <= 1.0
            assert 0.0 <= hit.scores["fused"] <= 1.0
        assert found.timings_ms
        assert all(spent >= 0.0 for spent in found.timings_ms.values())
