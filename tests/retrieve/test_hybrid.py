"""The pipeline over a real store and both indexes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.config.settings import load
from ragcore.errors import ConfigError
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.offline.question import RuleAnalyser
from ragcore.retrieve.agentic import AgenticRetriever
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.retrieve.synonyms import Synonyms
from ragcore.types import EVERYTHING, Chunk, Hit, Segment
from tests.libraries import HashEmbedder, OverlapReranker, add_document

SECTIONS = ["Business", "Results", "Results", "Results", "Controls"]
PASSAGES = [
    "Alpha Corp designs pumps and valves for water works.",
    "Total revenues were 1,577 million in 2018.",
    "They grew because prices rose.",
    "Operating expenses fell by two percent.",
    "The auditor found no material weakness.",
]

PRICES = [
    "Price list: Item | Price",
    "Price list: Bolt | 5 euro",
    "Price list: Nut | 9 euro",
    "Price list: Pin | 7 euro",
]

Make = Callable[..., AgenticRetriever]


def asking(*parts: Any, **named: Any) -> AgenticRetriever:
    """Search for a question as it is, without parts."""
    return AgenticRetriever(HybridRetriever(*parts, **named), parts=())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    add_document(store, "alpha.pdf", PASSAGES, SECTIONS)
    add_document(store, "beta.pdf", ["Beta sells tea.", "Tea is grown in Assam.", "BMS-986158 is not sold."])
    gamma = ["Gamma sells hardware.", *PRICES, "All hardware is made of steel."]
    add_document(store, "gamma.pdf", gamma, tables=[(1, 4)])
    return store


@pytest.fixture
def make(store: Store) -> Make:
    embedder = HashEmbedder()
    indexer = Indexer(store, embedder, load(environ={})[0].index)
    indexer.update()
    vectors, sparse = indexer.open()

    def make(
        *,
        mode: str | None = None,
        rerank: bool = True,
        reranker: Any = None,
        chunks: Any = None,
        synonyms: Synonyms | None = None,
        **overrides: Any,
    ) -> AgenticRetriever:
        settings, _ = load(environ={}, overrides={k.replace("__", "."): v for k, v in overrides.items()})
        reranker = reranker or (OverlapReranker() if rerank else None)
        by_id = chunks or store.chunks_by_id
        read = RuleAnalyser().read
        parts = (embedder, vectors, sparse, reranker, by_id, settings)
        return asking(
            *parts, mode=mode, synonyms=synonyms, read=read, connections=indexer.graph, document=store.document
        )

    return make


def first(hits: Sequence[Hit]) -> str:
    return hits[0].chunk.text.strip()


def test_every_step_is_timed(make: Make) -> None:
    assert list(make().retrieve("revenues", top_k=3).timings_ms) == [
        "embed",
        "vector",
        "bm25",
        "graph",
        "fuse",
        "rerank",
        "rse",
    ]
    assert list(make(mode="bm25", rerank=False).retrieve("revenues", top_k=3).timings_ms) == ["bm25", "fuse", "rse"]


def test_each_mode_asks_only_its_side(make: Make) -> None:
    vector = make(mode="vector", rerank=False).retrieve("revenues", top_k=5)
    assert {tuple(hit.scores) for hit in vector.hits} == {("vector", "fused")}
    bm25 = make(mode="bm25", rerank=False).retrieve("revenues", top_k=5)
    assert {tuple(hit.scores) for hit in bm25.hits} == {("bm25", "fused")}
    assert (vector.mode, bm25.mode) == ("vector", "bm25")


def test_ranks_and_scores_of_each_step_are_kept(make: Make) -> None:
    hit = make().retrieve("total revenues in 2018", top_k=3).hits[0]
    assert hit.via == "vector+bm25"
    assert dict(hit.ranks) == {"vector": 1, "bm25": 1, "fused": 1, "rerank": 1}
    assert set(hit.scores) == {"vector", "bm25", "fused", "rerank"}


def test_a_hit_of_the_vectors_alone_still_gets_its_bm25_score(make: Make) -> None:
    found = make(rerank=False).retrieve("tea", top_k=20)
    alone = [hit for hit in found.hits if hit.via == "vector"]
    assert alone
    assert all(hit.scores["bm25"] == 0.0 and "bm25" not in hit.ranks for hit in alone)


TRADE = Synonyms({"brew": ["tea"]}, {})


def test_terms_of_the_trade_find_what_is_said_in_other_words(make: Make) -> None:
    plain = make(mode="bm25", rerank=False).retrieve("brew", top_k=5)
    assert plain.hits == ()
    found = make(mode="bm25", rerank=False, synonyms=TRADE).retrieve("brew", top_k=5)
    assert {hit.chunk.text.strip() for hit in found.hits} == {"Beta sells tea.", "Tea is grown in Assam."}
    assert found.queries[0].also == ("tea",)
    for mode in ("vector", "hybrid"):
        best = make(mode=mode, rerank=False, synonyms=TRADE).retrieve("brew", top_k=2)
        assert all("tea" in hit.chunk.text.lower() for hit in best.hits)


def test_terms_of_the_trade_count_for_less_than_the_questions_own_words(make: Make) -> None:
    found = make(mode="bm25", rerank=False, synonyms=TRADE).retrieve("hardware brew", top_k=5)
    assert "hardware" in first(found.hits)
    with_them = {hit.chunk.chunk_id: hit.scores["bm25"] for hit in found.hits}
    tea = make(mode="bm25", rerank=False).retrieve("tea", top_k=5)
    assert all(with_them[hit.chunk.chunk_id] == pytest.approx(0.3 * hit.scores["bm25"]) for hit in tea.hits)


def test_how_to_answer_is_not_searched_for(make: Make) -> None:
    form = "Round your answer to two decimals."
    asked, plain = (make(rerank=False).retrieve(q, top_k=5) for q in (f"revenues in 2018? {form}", "revenues in 2018?"))
    assert [hit.scores for hit in asked.hits] == [hit.scores for hit in plain.hits]
    kept = make(rerank=False, wording__focus=False).retrieve(f"revenues in 2018? {form}", top_k=5)
    assert [hit.scores for hit in kept.hits] != [hit.scores for hit in plain.hits]


def test_an_identifier_is_found(make: Make) -> None:
    assert "BMS-986158" in first(make().retrieve("What about BMS-986158?", top_k=3).hits)


def test_the_reranker_moves_hits_and_only_the_best_are_asked(make: Make) -> None:
    found = make(rerank__candidates=2).retrieve("revenues and expenses of the corp", top_k=5)
    assert sum("rerank" in hit.scores for hit in found.hits) == 2


def test_a_reranker_that_thinks_little_of_tables_does_not_put_them_last(make: Make) -> None:
    class Bookish:
        name = "test:bookish"

        def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
            return np.array([0.001 if "|" in passage else 0.9 for passage in passages])

    def ranked(**given: Any) -> list[str]:
        return [
            hit.chunk.chunk_id for hit in make(rerank__weight=9.0, **given).retrieve("price of hardware", top_k=9).hits
        ]

    fused = ranked(rerank=False)
    assert ranked(reranker=Bookish()) == fused


def test_a_busy_machine_finds_the_same(make: Make) -> None:
    class Slow(OverlapReranker):
        def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
            time.sleep(0.02 * len(passages))
            return super().score(query, passages)

    question = "revenues and expenses of the corp"
    quick = make(rerank__candidates=6).retrieve(question, top_k=9)
    slow = make(reranker=Slow(), rerank__candidates=6).retrieve(question, top_k=9)
    assert (slow.reranked, slow.hits) == (6, quick.hits)
    assert make(rerank=False).retrieve(question, top_k=9).reranked == 0


def test_a_figure_s_description_counts_for_less(store: Store, make: Make) -> None:
    def as_figure(ids: Sequence[str]) -> list[Chunk]:
        return [
            Chunk(c.chunk_id, c.doc_id, c.index, "figure", c.start, c.end, c.text, c.section, c.header)
            if "1,577" in c.text
            else c
            for c in store.chunks_by_id(ids)
        ]

    plain = make(rerank=False).retrieve("total revenues", top_k=5).hits[0]
    figure = make(rerank=False, chunks=as_figure).retrieve("total revenues", top_k=5).hits[0]
    assert figure.scores["fused"] == pytest.approx(0.7 * plain.scores["fused"])


def test_a_chunk_that_is_gone_meanwhile_is_passed_over(store: Store, make: Make) -> None:
    def without(ids: Sequence[str]) -> list[Chunk]:
        return [c for c in store.chunks_by_id(ids) if "1,577" not in c.text]

    found = make(chunks=without).retrieve("total revenues", top_k=5)
    assert found.hits
    assert all("1,577" not in hit.chunk.text for hit in found.hits)


def test_neighbours_of_a_single_hit_come_last(make: Make) -> None:
    found = make(rse__minimum_value=9.0).retrieve("total revenues in 2018", top_k=1)
    # Chunk 0 is of another section.
    assert [(s.first_chunk, s.via) for s in found.segments] == [(1, "hit"), (2, "neighbour")]


def test_segments_come_in_the_order_of_their_best_hit(make: Make) -> None:
    found = make(rse__minimum_value=0.3).retrieve("total revenues in 2018", top_k=5)
    assert (found.segments[0].first_chunk, found.segments[0].via) == (1, "rse")
    best = {(hit.chunk.doc_id, hit.chunk.reach[0]): hit.rank for hit in reversed(found.hits)}
    places = [
        min(best[s.doc_id, i] for i in range(s.first_chunk, s.last_chunk + 1) if (s.doc_id, i) in best)
        for s in found.segments
        if s.via != "neighbour"
    ]
    assert places == sorted(places)


def test_a_short_list_is_the_beginning_of_a_long_one(make: Make) -> None:
    long = make().retrieve("revenues and tea", top_k=8)
    short = make().retrieve("revenues and tea", top_k=2)
    assert short.hits == long.hits[:2]


def test_rows_are_folded_into_their_table(make: Make) -> None:
    for mode in ("hybrid", "vector", "bm25"):
        found = make(mode=mode).retrieve("price list grid: price of the nut in euro", top_k=10)
        inside = [hit for hit in found.hits if "Price list" in hit.chunk.text]
        assert [hit.chunk.tiles for hit in inside] == [(1, 4)], mode
        assert inside[0].via.endswith("+table")
        assert [(s.first_chunk, s.last_chunk) for s in found.segments if s.via == "table"] == [(1, 4)]
        taken = [(s.doc_id, i) for s in found.segments for i in range(s.first_chunk, s.last_chunk + 1)]
        assert len(taken) == len(set(taken))
        assert len(found.hits) == len({hit.rank for hit in found.hits})


def test_the_reranker_reads_what_was_found_best_of_a_table(make: Make) -> None:
    read: list[str] = []

    class Reader(OverlapReranker):
        def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
            read.extend(passages)
            return super().score(query, passages)

    make(reranker=Reader()).retrieve("price list nut 9 euro", top_k=5)
    assert any("Nut | 9" in passage for passage in read)
    assert sum("Price list" in passage for passage in read) == 1


def test_a_table_has_neighbours_around_it(make: Make) -> None:
    found = make(rse__minimum_value=9.0).retrieve("price list grid nut bolt pin euro", top_k=1)
    assert [(s.first_chunk, s.via) for s in found.segments] == [(1, "table"), (0, "neighbour"), (5, "neighbour")]


def test_nothing_found_is_nothing(make: Make) -> None:
    found = make(mode="bm25").retrieve("zebra", top_k=5)
    assert (found.hits, found.segments) == ((), ())


def test_an_unknown_mode_is_refused(make: Make) -> None:
    with pytest.raises(ConfigError, match="'fast'"):
        make(mode="fast")


def test_a_passage_that_only_words_find_comes_first_for_them(tmp_path: Path) -> None:
    store = Store(tmp_path)
    minutes = " ".join(f"word{n}" for n in range(80)) + " ZX-4471-Q."
    add_document(store, "minutes.pdf", [minutes])
    for n in range(30):
        add_document(store, f"pump{n}.pdf", [f"Where is {n}?"])
    settings, _ = load(environ={}, overrides={"retrieve.candidates": 1, "rerank.candidates": 5, "retrieve.alpha": 0.2})
    embedder = HashEmbedder()
    indexer = Indexer(store, embedder, settings.index)
    indexer.update()
    vectors, sparse = indexer.open()
    question = "Where is ZX-4471-Q?"
    near = [chunk_id for chunk_id, _ in vectors.query(embedder.embed_query(question), 5)]
    retriever = asking(embedder, vectors, sparse, None, store.chunks_by_id, settings)
    (best,) = retriever.retrieve(question, top_k=1).hits
    assert "ZX-4471-Q" in best.chunk.text
    assert best.chunk.chunk_id not in near


def test_a_passage_that_shares_no_word_is_reached_through_names(tmp_path: Path) -> None:
    store = Store(tmp_path)
    texts = {
        "song.pdf": ["The song “Hello Love” was written by Graham Parker.", "It was a hit."],
        "man.pdf": ["For years Graham Parker lived near the village of Deepcut.", "Then he left."],
        "town.pdf": ["The parish of Deepcut has the Basingstoke Canal.", "It is old."],
        "canal.pdf": ["It runs by the Basingstoke Canal.", "There are boats."],
    }
    for name, passages in texts.items():
        add_document(store, name, passages)
    for n in range(12):
        add_document(store, f"other{n}.pdf", [f"A writer of song number {n} in a village."])
    settings, _ = load(environ={})
    embedder = HashEmbedder()
    indexer = Indexer(store, embedder, settings.index)
    indexer.update()

    question = "Where is the village of the writer of Hello Love?"

    def made(mode: str) -> AgenticRetriever:
        parts = (embedder, *indexer.open(), None, store.chunks_by_id, settings)
        return asking(*parts, mode=mode, connections=indexer.graph, document=store.document)

    def found(mode: str) -> Hit | None:
        hits = made(mode).retrieve(question, top_k=8).hits
        return next((hit for hit in hits if "lived near" in hit.chunk.text), None)

    assert found("hybrid") is None
    reached = found("graph")
    assert reached is not None
    assert reached.rank == 2
    assert "graph" in reached.via.split("+")
    assert 0.0 < reached.scores["graph"] < 1.0
    ranking = made("graph").retriever.search(question, top_k=8, scope=EVERYTHING, timings={})
    chunk = reached.chunk
    halves = [
        Segment(chunk.doc_id, *span, *chunk.reach, 1.0)
        for span in ((chunk.start, chunk.start + 9), (chunk.start + 9, chunk.end))
    ]
    (path,) = made("graph").retriever.paths(halves, [ranking], EVERYTHING, {})
    assert path.chunk_id == chunk.chunk_id

    auto, plain = (made(mode).retrieve(question, top_k=50) for mode in ("auto", "hybrid"))
    assert ([asked.names for asked in auto.queries], [asked.names for asked in plain.queries]) == (
        [("Hello Love",)],
        [()],
    )
    led, unled = (next(hit.score for hit in of.hits if hit.chunk == chunk) for of in (auto, plain))
    assert unled < led < reached.score, "followed with less weight"


def test_a_question_without_names_is_searched_for_as_without_the_graph(make: Make) -> None:
    auto, plain = (make(mode=mode).retrieve("total revenues in 2018", top_k=5) for mode in ("auto", "hybrid"))
    assert (auto.hits, auto.segments, auto.paths) == (plain.hits, plain.segments, ())


def test_the_graph_needs_its_index(store: Store) -> None:
    with pytest.raises(ValueError, match="connections"):
        HybridRetriever(None, None, None, None, store.chunks_by_id, load(environ={})[0], mode="graph")  # type: ignore[arg-type]
