"""A question like an earlier one gets what was found then, and no other question does."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.cancel import Stop
from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.errors import ModelError
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.offline.decompose import by_rules
from ragcore.protocols import Retriever, Vector
from ragcore.providers.chroma import ChromaStore
from ragcore.retrieve.cache import CachedRetriever, RememberedQueries, RetrievalCache, merged
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.retrieve.route import DocumentNames
from ragcore.types import EVERYTHING, Chunk, Hit, Retrieval, Reuse, Scope, SubQuery, Usage
from tests import pdfs, prepared
from tests.libraries import HashEmbedder, OverlapReranker, add_document

REVENUE = "What were the total revenues of Alpha in 2018?"
AGAIN = "In 2018, what were the total revenues of Alpha?"
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
ISSUE = {"cache.full": 0.9, "cache.partial": 0.7, "cache.same_words": False}
LOOSE: dict[str, Any] = {"cache__full": 0.0, "cache__partial": 0.0, "cache__same_words": False}


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
        self.cache = RetrievalCache(load(environ={})[0].cache.entries)
        self.watched: Watched | None = None

    def retriever(
        self,
        *,
        state: Hashable = 1,
        way: Hashable = "hybrid",
        stop: Stop | None = None,
        names: DocumentNames | None = None,
        **overrides: Any,
    ) -> CachedRetriever:
        settings, _ = load(environ={}, overrides={k.replace("__", "."): v for k, v in overrides.items()})
        embedder = RememberedQueries(self.embedder)
        hybrid = HybridRetriever(
            embedder, self.vectors, self.sparse, OverlapReranker(), self.store.chunks_by_id, settings
        )
        if self.watched is None:
            self.watched = Watched(hybrid)
        self.watched.inner = hybrid
        return CachedRetriever(
            self.watched,
            self.cache,
            embedder,
            settings.cache,
            state=state,
            way=way,
            segments=hybrid.segments,
            names=names if names is not None else DocumentNames(self.store.names()),
            stop=stop,
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
    assert second.cache.status == "hit"
    assert second.cache.similarity is not None
    assert second.cache.similarity >= 0.9
    assert (second.query, second.queries[0].text) == (AGAIN, AGAIN)
    assert (ids(second), second.segments, second.routes) == (ids(first), first.segments, first.routes)
    assert [(hit.score, hit.scores, hit.ranks) for hit in second.hits] == [
        (hit.score, hit.scores, hit.ranks) for hit in first.hits
    ]
    assert [hit.via for hit in second.hits] == [f"{hit.via}+cache" for hit in first.hits]


def test_what_it_took_is_timed_and_nothing_was_spent(library: Library) -> None:
    first = library.retriever().retrieve(REVENUE, top_k=4)
    assert library.watched is not None
    assert {"embed", "cache", "vector", "bm25", "fuse", "rerank", "rse"} == set(first.timings_ms)
    library.watched.changes = {"usage": Usage(10, 20), "cost_usd": 0.5}
    assert library.retriever(state=2).retrieve(REVENUE, top_k=4).cost_usd == 0.5
    second = library.retriever(state=2).retrieve(REVENUE, top_k=4)
    assert set(second.timings_ms) == {"embed", "cache"}
    assert (second.usage, second.cost_usd) == (Usage(), 0.0)


def test_a_question_is_embedded_once(library: Library) -> None:
    for number, question in enumerate((REVENUE, AGAIN, "What were the costs of Beta?"), start=1):
        before = library.embedder.queries
        library.retriever().retrieve(question, top_k=4)
        assert library.embedder.queries - before == 1, number


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
    ],
)
@pytest.mark.parametrize("settings", [{}, {"cache__full": 0.0, "cache__partial": 0.0}])
def test_another_question_is_never_served(library: Library, other: str, settings: dict[str, Any]) -> None:
    library.retriever(**settings).retrieve(REVENUE, top_k=4)
    found = library.retriever(**settings).retrieve(other, top_k=4)
    assert found.cache == Reuse("miss")
    assert library.asked[1:] == [(other, 4)]
    assert not any("cache" in hit.via for hit in found.hits)


def test_a_document_is_a_name_in_small_letters_too(library: Library) -> None:
    library.retriever(**LOOSE).retrieve("what were total revenues of alpha", top_k=4)
    assert library.retriever(**LOOSE).retrieve("what were total revenues of beta", top_k=4).cache == Reuse("miss")
    assert library.retriever(**LOOSE).retrieve("what were total costs of alpha", top_k=4).cache.status == "hit"


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


def test_a_question_less_like_it_is_searched_for_in_part(library: Library) -> None:
    loose = {key.replace(".", "__"): value for key, value in ISSUE.items()}
    first = library.retriever(**loose).retrieve("revenues and valves and pumps of water works", top_k=6)
    found = library.retriever(**loose).retrieve("valves and pumps of water works, expenses", top_k=6)
    assert found.cache.status == "partial"
    assert found.cache.similarity is not None
    assert 0.7 <= found.cache.similarity < 0.9
    assert library.asked[-1] == ("valves and pumps of water works, expenses", 3)
    fresh = [hit for hit in found.hits if hit.via != "cache"]
    old = [hit for hit in found.hits if hit.via == "cache"]
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
    assert (len(fresh), found.hits[: len(fresh)]) == (3, tuple(fresh))
    assert old
    assert {hit.chunk.chunk_id for hit in old} <= set(ids(first)) - {hit.chunk.chunk_id for hit in fresh}
    assert max(hit.score for hit in old) <= min(hit.score for hit in fresh)
    assert all(set(hit.scores) == set(hit.ranks) == {"cache"} and hit.queries == () for hit in old)
    places = {(s.doc_id, index) for s in found.segments for index in range(s.first_chunk, s.last_chunk + 1)}
    assert {(hit.chunk.doc_id, index) for hit in found.hits for index in range(*hit.chunk.reach)} <= places


def test_a_partial_result_is_not_passed_on(library: Library) -> None:
    loose = {"cache__full": 1.0, "cache__partial": 0.0, "cache__same_words": False}
    library.retriever(**loose).retrieve("valves and pumps", top_k=4)
    assert library.retriever(**loose).retrieve("tea", top_k=4).cache.status == "partial"
    assert len(library.cache) == 1


def test_the_nearest_question_that_serves_is_taken(library: Library) -> None:
    loose = {"cache__full": 0.5, "cache__partial": 0.5, "cache__same_words": False}
    near, far = "What tea does Beta sell and drink?", "What does Beta sell?"
    for question in (near, far, "What tea does Alpha sell and pour?"):
        library.retriever(**loose).retrieve(question, top_k=4)
    asked = "What tea does Beta sell and pour?"
    found = library.retriever(**loose).retrieve(asked, top_k=4)
    cosines = {question: library.embedder.embed_query(question) for question in (near, far, asked)}
    assert cosines[asked] @ cosines[near] > cosines[asked] @ cosines[far]
    assert found.cache == Reuse("hit", pytest.approx(float(cosines[asked] @ cosines[near])))


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


def test_the_earlier_question_is_not_told(library: Library) -> None:
    retriever = library.retriever(**LOOSE)
    assert library.watched is not None
    secret = "What were the total revenues of Alpha in 2018, in our secret plan?"
    part = SubQuery("What is the secret plan?", "rules", "a secret part", {"vector": 1.0}, ("secret term",))
    library.watched.changes = {"queries": (SubQuery(secret, also=("secret term",)), part)}
    library.watched.queries = (1, 2)
    assert [one.also for one in retriever.retrieve(secret, top_k=4).queries] == [("secret term",)] * 2
    found = library.retriever(**LOOSE).retrieve(secret.replace("secret", "open"), top_k=4)
    assert found.cache.status == "hit"
    assert "secret" not in repr(found)
    assert found.queries == (SubQuery(secret.replace("secret", "open")),)
    assert {hit.queries for hit in found.hits} == {(1,)}
    same = library.retriever(**LOOSE).retrieve(secret, top_k=4)
    assert (same.cache.status, same.queries) == ("hit", (SubQuery(secret, also=("secret term",)),))
    assert {hit.queries for hit in same.hits} == {(1,)}


@pytest.mark.parametrize("settings", [{}, LOOSE])
def test_capitals_make_another_question(library: Library, settings: dict[str, Any]) -> None:
    """Routing and the cut into parts go by them."""
    small, written = "what were total revenues of alpha?", "What were total revenues of Alpha?"
    for first, second in ((small, written), (written, small)):
        library.forget()
        library.retriever(**settings).retrieve(first, top_k=4)
        assert library.retriever(**settings).retrieve(second, top_k=4).cache == Reuse("miss")
        assert library.retriever(**settings).retrieve(first.replace("?", ""), top_k=4).cache.status == "hit"


def test_a_question_that_names_other_documents_is_another(library: Library) -> None:
    names = DocumentNames([("a", "Water Works", "a.pdf"), ("b", "Waters Work", "b.pdf"), ("c", "Tea", "c.pdf")])
    one, other = "what do pumps of water works cost", "what do pumps of waters work cost"
    assert names.named(one) != names.named(other)
    library.retriever(names=names).retrieve(one, top_k=4)
    assert library.retriever(names=names).retrieve(other, top_k=4).cache == Reuse("miss")
    assert library.retriever(names=names).retrieve(f"{one}?", top_k=4).cache.status == "hit"


def test_a_question_of_other_parts_is_another(library: Library) -> None:
    one, other = (
        "What is the revenue of Alpha and what is its profit?",
        "What is the revenue of Alpha, what is its profit?",
    )
    assert (len(by_rules(one)), len(by_rules(other))) == (2, 0)
    library.retriever(**LOOSE).retrieve(one, top_k=4)
    assert library.retriever(**LOOSE).retrieve(other, top_k=4).cache == Reuse("miss")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Does the buyer indemnify the seller?", "Does the seller indemnify the buyer?"),
        ("What causes inflation?", "What does inflation cause?"),
        ("Do you pay me?", "Do I pay you?"),
        ("What is the yield of starch → sugar?", "What is the yield of sugar → starch?"),
    ],
)
def test_who_does_what_to_whom_counts(library: Library, one: str, other: str) -> None:
    anything = {"cache__full": 0.0, "cache__partial": 0.0}
    library.retriever(**anything).retrieve(one, top_k=4)
    assert library.retriever(**anything).retrieve(other, top_k=4).cache == Reuse("miss")


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


def hit(place: int, score: float, rank: int, tiles: tuple[int, int] | None = None) -> Hit:
    chunk = Chunk(f"d:{place}", "d", place, "text", place, place + 1, "x", ("S",), "", tiles=tiles)
    return Hit(rank, chunk, score, {"fused": score}, {"fused": rank}, "vector")


LISTS = st.lists(st.tuples(st.integers(0, 12), st.floats(0.0, 1.0)), max_size=8, unique_by=lambda pair: pair[0]).map(
    lambda pairs: [
        hit(place, score, rank) for rank, (place, score) in enumerate(sorted(pairs, key=lambda p: -p[1]), start=1)
    ]
)


@given(LISTS, LISTS, st.floats(0.0, 1.0), st.integers(1, 10))
def test_no_earlier_hit_goes_before_a_fresh_one(fresh: list[Hit], old: list[Hit], cosine: float, top_k: int) -> None:
    out = merged(fresh, old, cosine, top_k)
    assert list(out[: len(fresh)]) == fresh[:top_k]
    assert [one.score for one in out] == sorted((one.score for one in out), reverse=True)
    assert [one.rank for one in out] == list(range(1, len(out) + 1))
    assert len({one.chunk.chunk_id for one in out}) == len(out)
    distinct = {one.chunk.chunk_id for one in (*fresh, *old)}
    assert len(out) == min(top_k, len(distinct))


def test_rows_of_a_table_that_is_there_are_not_added() -> None:
    table = hit(20, 0.9, 1, tiles=(3, 6))
    assert [one.chunk.index for one in merged([table], [hit(4, 0.8, 1), hit(7, 0.5, 2)], 0.9, 5)] == [20, 7]
    assert [one.chunk.index for one in merged([hit(4, 0.9, 1)], [table, hit(7, 0.5, 2)], 0.9, 5)] == [4, 7]


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
    assert engine.retrieve(QUESTION).cache == Reuse("hit", pytest.approx(1.0))
    assert engine.retrieve(QUESTION, mode="vector").cache == Reuse("miss")
    assert engine.retrieve(QUESTION, top_k=2).cache == Reuse("miss")
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
        assert "cache" not in off.retrieve(QUESTION).timings_ms
