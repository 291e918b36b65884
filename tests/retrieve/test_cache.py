"""A question that is asked again gets what was found then, and no other question does."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragcore.cancel import Stop
from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.errors import ModelError
from ragcore.index.chroma import ChromaStore
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.protocols import Retriever, Vector
from ragcore.retrieve.cache import CachedRetriever, RetrievalCache
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.types import EVERYTHING, Retrieval, Reuse, Scope, Usage
from tests import pdfs, prepared
from tests.libraries import HashEmbedder, OverlapReranker, add_document

REVENUE = "What were the total revenues of Alpha in 2018?"
AGAIN = "what were  the total revenues of Alpha in 2018"
PASSAGES = [
    "Alpha designs pumps and valves for water works.",
    "Total revenues of Alpha were 1,577 million in 2018.",
    "Total costs of Alpha were 1,021 million in 2018.",
    "Total revenues of Alpha were 1,402 million in 2017.",
    "Operating expenses fell by two percent.",
    "The auditor found no material weakness.",
    "Water works ordered more valves than pumps.",
]
PRICES = ["Price list: Item | Price", "Price list: Bolt | 5 euro", "Price list: Nut | 9 euro"]


class CountingEmbedder(HashEmbedder):
    """Counts the queries that it embedded."""

    queries = 0

    def embed_query(self, text: str) -> Vector:
        self.queries += 1
        return super().embed_query(text)


class Watched:
    """A retriever that notes what it was asked, and can find with a fault."""

    def __init__(self, inner: Retriever) -> None:
        self.inner = inner
        self.asked: list[tuple[str, int]] = []
        self.changes: dict[str, Any] = {}
        self.queries: tuple[int, ...] = (1,)
        self.error: Exception | None = None

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        self.asked.append((query, top_k))
        if self.error is not None:
            raise self.error
        found = self.inner.retrieve(query, top_k=top_k, scope=scope)
        hits = tuple(replace(one, queries=self.queries) for one in found.hits)
        return replace(found, hits=hits, **self.changes)


class Library:
    """A small library, its hybrid retriever, and one cache for any number of cached retrievers around it."""

    def __init__(self, home: Path) -> None:
        store = Store(home)
        add_document(store, "alpha.pdf", PASSAGES)
        add_document(store, "beta.pdf", ["Beta sells tea.", "Total revenues of Beta were 12 million in 2018."])
        add_document(store, "gamma.pdf", ["Gamma sells hardware.", *PRICES, "All is steel."], tables=[(1, 3)])
        self.store = store
        settings, _ = load(environ={})
        self.embedder = CountingEmbedder()
        indexer = Indexer(store, self.embedder, settings.index, ChromaStore(home / "cache" / "chroma"))
        indexer.update()
        self.vectors, self.sparse = indexer.open()
        self.forget()

    def forget(self) -> None:
        self.cache = RetrievalCache()
        self.watched: Watched | None = None

    def retriever(
        self,
        *,
        state: Hashable = 1,
        way: Hashable = "hybrid",
        stop: Stop | None = None,
    ) -> CachedRetriever:
        settings, _ = load(environ={})
        embedder = self.embedder
        hybrid = HybridRetriever(
            embedder, self.vectors, self.sparse, OverlapReranker(), self.store.chunks_by_id, settings
        )
        if self.watched is None:
            self.watched = Watched(hybrid)
        self.watched.inner = hybrid
        return CachedRetriever(
            self.watched,
            self.cache,
            state=state,
            way=way,
            stop=stop or Stop(),
        )

    @property
    def asked(self) -> list[tuple[str, int]]:
        assert self.watched is not None
        return self.watched.asked


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def library(indexed: Library) -> Library:
    indexed.forget()
    return indexed


def ids(found: Retrieval) -> list[str]:
    return [hit.chunk.chunk_id for hit in found.hits]


def test_a_question_in_other_form_is_answered_from_the_cache(library: Library) -> None:
    first = library.retriever().retrieve(REVENUE, top_k=4)
    second = library.retriever().retrieve(AGAIN, top_k=4)
    assert library.asked == [(REVENUE, 4)]
    assert first.cache == Reuse("miss")
    assert second.cache == Reuse("hit")
    assert (second.query, second.queries[0].text) == (AGAIN, AGAIN)
    assert (ids(second), second.segments, second.routes) == (ids(first), first.segments, first.routes)
    assert [(hit.score, hit.scores, hit.ranks) for hit in second.hits] == [
        (hit.score, hit.scores, hit.ranks) for hit in first.hits
    ]
    assert [hit.via for hit in second.hits] == [f"{hit.via}+cache" for hit in first.hits]


def test_what_it_took_is_timed_and_nothing_was_spent(library: Library) -> None:
    first = library.retriever().retrieve(REVENUE, top_k=4)
    assert library.watched is not None
    assert {"embed", "vector", "bm25", "fuse", "rerank", "rse"} == set(first.timings_ms)
    library.watched.changes = {"usage": Usage(10, 20), "cost_usd": 0.5}
    assert library.retriever(state=2).retrieve(REVENUE, top_k=4).cost_usd == 0.5
    second = library.retriever(state=2).retrieve(REVENUE, top_k=4)
    assert (second.timings_ms, second.usage, second.cost_usd) == ({}, Usage(), 0.0)


@pytest.mark.parametrize(
    "other",
    [
        "What were the total revenues of Alpha in 2017?",
        "What were the total revenues of Beta in 2018?",
        "What were the total revenues of Alpha?",
        "What were the total revenues of 'Alpha' in 2018?",
        "What were the total revenues not of Alpha in 2018?",
        "What were the maximum total revenues of Alpha in 2018?",
        "Why were the total revenues of Alpha in 2018?",
        "What were the total costs of Alpha in 2018?",
        "In 2018, what were the total revenues of Alpha?",
        "What were the total revenues of Alpha in 2018 $?",
        "What were the total revenues of alpha in 2018?",
    ],
)
def test_another_question_is_never_served(library: Library, other: str) -> None:
    library.retriever().retrieve(REVENUE, top_k=4)
    found = library.retriever().retrieve(other, top_k=4)
    assert found.cache == Reuse("miss")
    assert library.asked[1:] == [(other, 4)]
    assert not any("cache" in hit.via for hit in found.hits)


@pytest.mark.parametrize(
    "change",
    [
        {"top_k": 3},
        {"scope": Scope(pages=((1, 1),))},
        {"scope": Scope(kinds=("text",))},
        {"state": 2},
        {"way": "bm25"},
    ],
)
def test_filters_and_settings_must_be_the_same(library: Library, change: dict[str, Any]) -> None:
    library.retriever().retrieve(REVENUE, top_k=4)
    asked = {"top_k": 4} | {key: change[key] for key in ("top_k", "scope") if key in change}
    built = {key: change[key] for key in ("state", "way") if key in change}
    assert library.retriever(**built).retrieve(REVENUE, **asked).cache == Reuse("miss")


def test_a_scope_is_the_same_in_any_order(library: Library) -> None:
    one, two = [info.doc_id for info in library.store.documents("test:hash")][:2]
    library.retriever().retrieve(REVENUE, top_k=4, scope=Scope((one, two)))
    turned = Scope((two, one))
    found = library.retriever().retrieve(REVENUE, top_k=4, scope=turned)
    assert (found.cache.status, found.scope) == ("hit", turned)
    assert library.retriever().retrieve(REVENUE, top_k=4, scope=Scope((one,))).cache == Reuse("miss")


def test_what_was_not_done_as_it_was_to_be_is_not_kept(library: Library) -> None:
    retriever = library.retriever()
    assert library.watched is not None
    library.watched.changes = {"notes": ("The model's form could not be used.",)}
    retriever.retrieve(REVENUE, top_k=4)
    assert len(library.cache) == 0
    assert library.retriever().retrieve(REVENUE, top_k=4).cache == Reuse("miss")


def test_what_was_stopped_is_not_kept(library: Library) -> None:
    stop = Stop()
    stop.set()
    library.retriever(stop=stop).retrieve(REVENUE, top_k=4)
    assert len(library.cache) == 0


def test_an_error_is_raised_and_not_kept(library: Library) -> None:
    retriever = library.retriever()
    assert library.watched is not None
    library.watched.error = ModelError("The model is gone.")
    with pytest.raises(ModelError):
        retriever.retrieve(REVENUE, top_k=4)
    library.watched.error = None
    assert library.retriever().retrieve(REVENUE, top_k=4).cache == Reuse("miss")


def test_another_state_forgets_what_was_found_in_the_last(library: Library) -> None:
    library.retriever(state=1).retrieve(REVENUE, top_k=4)
    library.retriever(state=1).retrieve("What does Beta sell?", top_k=4)
    library.retriever(state=2).retrieve(REVENUE, top_k=4)
    assert len(library.cache) == 1


def test_the_least_recently_used_goes_first(library: Library) -> None:
    library.cache = RetrievalCache(2)
    tea, bolts, steel = "Who sells tea?", "What do bolts cost?", "What is made of steel?"
    for question in (tea, bolts, tea, steel):
        library.retriever().retrieve(question, top_k=4)
    assert len(library.cache) == 2
    status = [library.retriever().retrieve(question, top_k=4).cache.status for question in (tea, steel, bolts)]
    assert status == ["hit", "hit", "miss"]


def test_many_threads_share_it(library: Library) -> None:
    library.cache = RetrievalCache(3)
    questions = [f"What were total revenues in {year}?" for year in range(2010, 2016)]
    alone = {question: ids(library.retriever().retrieve(question, top_k=4)) for question in questions}
    wrong: list[str] = []

    def ask(start: int) -> None:
        for step in range(20):
            question = questions[(start + step) % len(questions)]
            found = library.retriever(state=step % 2).retrieve(question, top_k=4)
            if (found.query, ids(found)) != (question, alone[question]):
                wrong.append(question)

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(library.cache) <= 3


QUESTION = "Where do the roots of the mangroves grow?"
SETTINGS = {"rerank.model": "none", "ocr.mode": "off"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with a document that is indexed and one that is read and has no vectors yet."""
    home = tmp_path_factory.mktemp("home")
    with Engine.open(home=home, overrides=SETTINGS) as engine:
        prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
        prepared.read(engine, pdfs.running_headers(3), "headers.pdf")
    return home


@pytest.fixture
def engine(home: Path, tmp_path: Path) -> Iterator[Engine]:
    shutil.copytree(home, tmp_path / "home")
    with Engine.open(home=tmp_path / "home", overrides=SETTINGS) as engine:
        yield engine


def named(engine: Engine, name: str) -> str:
    return next(info.doc_id for info in engine.documents() if info.name == name)


def test_the_engine_answers_from_the_cache_until_the_library_changes(engine: Engine) -> None:
    assert engine.retrieve(QUESTION).cache == Reuse("miss")
    assert engine.retrieve(QUESTION).cache == Reuse("hit")
    assert engine.with_settings({"retrieve.mode": "vector"}).retrieve(QUESTION).cache == Reuse("miss")
    assert engine.with_settings({"retrieve.top_k": 2}).retrieve(QUESTION).cache == Reuse("miss")
    engine.index()
    assert engine.retrieve(QUESTION).cache == Reuse("miss")
    assert engine.retrieve(QUESTION).cache.status == "hit"
    gone = named(engine, "headers.pdf")
    engine.remove(gone)
    found = engine.retrieve(QUESTION)
    assert found.cache == Reuse("miss")
    assert gone not in {one.chunk.doc_id for one in found.hits}


def test_a_document_that_is_embedded_later_is_found(engine: Engine) -> None:
    added = named(engine, "headers.pdf")
    assert added not in {one.chunk.doc_id for one in engine.retrieve("headers").hits}
    assert engine.retrieve("headers").cache.status == "hit"
    before = engine.store.revision()
    engine.index()
    assert engine.store.revision() == before, "only vectors came"
    found = engine.retrieve("headers")
    assert found.cache == Reuse("miss")
    assert added in {one.chunk.doc_id for one in found.hits}


def test_what_another_process_does_counts(engine: Engine) -> None:
    assert engine.retrieve(QUESTION).cache == Reuse("miss")
    with Engine.open(home=engine.home, overrides=SETTINGS) as other:
        assert other.retrieve(QUESTION).cache == Reuse("miss"), "each process has its own"
        other.remove(named(other, "headers.pdf"))
    assert engine.retrieve(QUESTION).cache == Reuse("miss")
    assert engine.retrieve(QUESTION).cache.status == "hit"


def test_it_can_be_switched_off(engine: Engine) -> None:
    with Engine.open(home=engine.home, overrides={**SETTINGS, "cache.mode": "off"}) as off:
        assert [off.retrieve(QUESTION).cache for _ in range(2)] == [Reuse("off"), Reuse("off")]
