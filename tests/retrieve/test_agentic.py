"""A question and its parts as one retrieval: by rules, and by a model through the real client."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from ragcore.cancel import Stop
from ragcore.config.settings import Settings, load
from ragcore.errors import KeyRefused
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.offline.question import RuleAnalyser
from ragcore.protocols import Capabilities
from ragcore.providers.anthropic import AnthropicModel, capabilities_of
from ragcore.retrieve.agentic import AgenticRetriever, may_ask, merged
from ragcore.retrieve.hybrid import HybridRetriever, Ranking
from ragcore.types import EVERYTHING, Chunk, Hit, Scope, Step, SubQuery, Usage
from tests.libraries import HashEmbedder, OverlapReranker, add_document
from tests.messages_server import MessagesServer, Reply

COMPOUND = "What was the revenue of Alpha in 2020? How many people did Beta employ in 2020?"
SINGLE = "What was the revenue of Alpha in 2020?"
FILLER = [f"Paragraph {n} tells of weather, harbours and the revenue of ships." for n in range(30)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("library"))
    add_document(
        store, "alpha.pdf", ["The revenue of Alpha was 7 million in 2020.", "Alpha makes pumps.", *FILLER[:15]]
    )
    add_document(store, "beta.pdf", ["Beta did employ 40 people in 2020.", "Beta grows tea.", *FILLER[15:]])
    add_document(store, "gamma.pdf", ["Gamma owns Beta since 1999.", "Bolts."], tables=[(0, 1)])
    return store


def settings_with(**changes: Any) -> Settings:
    return load(environ={}, overrides={f"agentic.{key}": value for key, value in changes.items()})[0]


def hybrid(library: Store, settings: Settings, steps: list[Step] | None = None) -> HybridRetriever:
    embedder = HashEmbedder()
    indexer = Indexer(library, embedder, settings.index)
    indexer.update()
    vectors, sparse = indexer.open()
    return HybridRetriever(
        embedder,
        vectors,
        sparse,
        OverlapReranker(),
        library.chunks_by_id,
        settings,
        on_step=(steps if steps is not None else []).append,
        read=RuleAnalyser().read,
    )


def retriever(
    library: Store,
    server: MessagesServer | None = None,
    *,
    stop: Stop | None = None,
    steps: list[Step] | None = None,
    model: str = "claude-sonnet-4-6",
    **changes: Any,
) -> AgenticRetriever:
    settings = settings_with(**{"decompose": "auto", "timeout_seconds": 100.0, **changes})
    planner = None
    if server is not None:
        planner = AnthropicModel(model, api_key="k", base_url=server.url, timeout_seconds=10.0, retries=0)
    told = steps if steps is not None else []
    return AgenticRetriever(hybrid(library, settings, told), planner, stop or Stop())


def form(name: str, *queries: str) -> Reply:
    key = {"search_for": "sub_queries", "search_further": "missing"}[name]
    filled = {key: [{"query": query, "reason": "a part"} for query in queries]}
    return Reply(tool=(name, filled), usage={"input_tokens": 1000, "output_tokens": 100})


def test_both_parts_of_a_question_come_first(library: Store) -> None:
    found = retriever(library).retrieve(COMPOUND, top_k=5)
    assert [query.origin for query in found.queries] == ["question", "rules", "rules"]
    assert all(query.reason for query in found.queries[1:])
    assert {hit.chunk.text.strip() for hit in found.hits[:2]} == {
        "The revenue of Alpha was 7 million in 2020.",
        "Beta did employ 40 people in 2020.",
    }
    by_text = {hit.chunk.text.strip(): hit for hit in found.hits}
    assert 2 in by_text["The revenue of Alpha was 7 million in 2020."].queries
    assert 3 in by_text["Beta did employ 40 people in 2020."].queries
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4, 5]
    assert all("question" in hit.scores for hit in found.hits)
    assert (found.notes, found.usage, found.cost_usd) == ((), Usage(), 0.0)


def test_a_question_of_one_part_is_what_it_was(library: Store) -> None:
    plain = hybrid(library, settings_with()).search(SINGLE, top_k=5, scope=EVERYTHING, timings={})
    found = retriever(library).retrieve(SINGLE, top_k=5)
    assert (found.hits, found.queries) == (plain.hits, (plain.asked,))
    assert (found.candidates, found.reranked) == (plain.candidates, plain.reranked)


def test_off_is_off(library: Store) -> None:
    found = retriever(library, decompose="off").retrieve(COMPOUND, top_k=5)
    assert len(found.queries) == 1


def test_times_are_summed_and_known_for_each_query(library: Store) -> None:
    found = retriever(library).retrieve(COMPOUND, top_k=5)
    for step in ("vector", "bm25", "fuse", "embed"):
        each = [query.timings_ms[step] for query in found.queries]
        assert found.timings_ms[step] == pytest.approx(sum(each))
    assert found.timings_ms["rerank"] > sum(query.timings_ms["rerank"] for query in found.queries)


def test_every_part_is_searched_in_the_scope(library: Store) -> None:
    beta = next(info.doc_id for info in library.documents() if info.name == "beta.pdf")
    found = retriever(library).retrieve(COMPOUND, top_k=5, scope=Scope((beta,)))
    assert len(found.queries) == 3
    assert {hit.chunk.doc_id for hit in found.hits} == {beta}
    assert found.scope == Scope((beta,))


def test_steps_are_told(library: Store, server: MessagesServer) -> None:
    steps: list[Step] = []
    server.plan(form("search_for", "What was the revenue of Alpha?", "How many people does Beta employ?"))
    retriever(library, server, steps=steps, gaps=True).retrieve(COMPOUND, top_k=5)
    names = [step.name for step in steps]
    assert names == ["plan", *["search", "rerank"] * 3, "gap", "rerank"]
    assert [step.query.origin for step in steps if step.name == "search" and step.query] == ["question", *["model"] * 2]


def test_the_model_decomposes_and_its_cost_is_known(library: Store, server: MessagesServer) -> None:
    server.plan(
        form("search_for", "What was the revenue of Alpha in 2020?", "How many people did Beta employ in 2020?")
    )
    found = retriever(library, server).retrieve(COMPOUND, top_k=5)
    assert [query.origin for query in found.queries] == ["question", "model", "model"]
    assert found.usage == Usage(1000, 100)
    assert found.cost_usd == pytest.approx((1000 * 3 + 100 * 15) / 1e6)
    assert found.timings_ms["plan"] > 0
    assert len(server.forms) == 1


def test_a_model_without_a_price_has_no_cost(library: Store, server: MessagesServer) -> None:
    found = retriever(library, server, model="claude-of-another-day").retrieve(COMPOUND, top_k=5)
    assert found.cost_usd is None


def test_a_plain_question_costs_nothing(library: Store, server: MessagesServer) -> None:
    retriever(library, server).retrieve(SINGLE, top_k=5)
    assert server.forms == []


def test_a_question_repeated_as_its_part_is_searched_once(library: Store, server: MessagesServer) -> None:
    server.plan(form("search_for", COMPOUND.upper().rstrip("?"), "Beta people?", "beta people"))
    found = retriever(library, server).retrieve(COMPOUND, top_k=5)
    assert [query.text for query in found.queries] == [COMPOUND, "Beta people?"]


def test_a_form_that_cannot_be_used_is_said_and_rules_stand_in(library: Store, server: MessagesServer) -> None:
    wrong = Reply(tool=("search_for", "{"), usage={"input_tokens": 10, "output_tokens": 5})
    server.plan(wrong, wrong)
    found = retriever(library, server).retrieve(COMPOUND, top_k=5)
    assert [query.origin for query in found.queries] == ["question", "rules", "rules"]
    (note,) = found.notes
    assert note.startswith("claude-sonnet-4-6's decomposition could not be used: ")
    assert note.endswith(" The question was split by rules instead.")
    assert found.usage == Usage(20, 10)


def test_a_refused_key_is_an_error(library: Store, server: MessagesServer) -> None:
    server.plan(Reply(status=401))
    with pytest.raises(KeyRefused):
        retriever(library, server).retrieve(COMPOUND, top_k=5)


def test_gaps_are_searched_for_and_merged(library: Store, server: MessagesServer) -> None:
    server.plan(form("search_further", "Who owns Beta since 1999?", SINGLE), form("search_further", "Who owns Alpha?"))
    found = retriever(library, server, decompose="off", gaps=True).retrieve(SINGLE, top_k=5)
    assert [(query.text, query.origin) for query in found.queries] == [
        (SINGLE, "question"),
        ("Who owns Beta since 1999?", "gap"),
    ]
    gamma = next(hit for hit in found.hits if "Gamma owns Beta" in hit.chunk.text)
    assert 2 in gamma.queries
    assert len({hit.chunk.chunk_id for hit in found.hits}) == 5
    assert all("question" in hit.scores for hit in found.hits), "read beside the question at the end"
    assert len(server.forms) == 1, "one iteration"
    assert found.usage == Usage(1000, 100)
    assert found.timings_ms["gaps"] > 0


def test_gaps_are_looked_for_until_none_is_found(library: Store, server: MessagesServer) -> None:
    server.plan(form("search_further", "Who owns Beta since 1999?"), form("search_further", "who owns beta since 1999"))
    found = retriever(library, server, decompose="off", gaps=True, max_iterations=5).retrieve(SINGLE, top_k=5)
    assert [query.origin for query in found.queries] == ["question", "gap"]
    first, second = (json.loads(body["messages"][0]["content"]) for body in server.forms)
    assert first["searched_for"] == [SINGLE]
    assert second["searched_for"] == [query.text for query in found.queries]
    assert any("Gamma owns Beta" in passage for passage in second["passages"])
    assert found.cost_usd == pytest.approx(2 * (1000 * 3 + 100 * 15) / 1e6)


def test_gaps_and_parts_are_switched_each_by_itself(library: Store, server: MessagesServer) -> None:
    names = []
    for changes in ({}, {"gaps": True}, {"decompose": "rules", "gaps": True}, {"decompose": "off"}):
        asked = len(server.forms)
        retriever(library, server, **changes).retrieve(COMPOUND, top_k=5)
        names.append([body["tools"][0]["name"] for body in server.forms[asked:]])
    assert names == [["search_for"], ["search_for", "search_further"], ["search_further"], []]


def test_a_failed_look_for_gaps_is_said(library: Store, server: MessagesServer) -> None:
    server.plan(Reply(status=529))
    found = retriever(library, server, decompose="off", gaps=True).retrieve(SINGLE, top_k=5)
    assert "search for gaps could not be used" in found.notes[0]
    assert len(found.hits) == 5


def test_without_a_model_no_gaps_are_looked_for(library: Store) -> None:
    found = retriever(library, gaps=True).retrieve(COMPOUND, top_k=5)
    assert [query.origin for query in found.queries] == ["question", "rules", "rules"]
    assert (found.notes, found.cost_usd) == ((), 0.0)


def test_stop_ends_the_planning_and_still_gives_the_question(library: Store, server: MessagesServer) -> None:
    server.plan(Reply(first_delay=20.0))
    stop = Stop()
    asking = retriever(library, server, stop=stop, gaps=True)
    threading.Thread(target=lambda: (server.asked.wait(60), stop.set())).start()
    started = time.perf_counter()
    found = asking.retrieve(COMPOUND, top_k=5)
    assert time.perf_counter() - started < 19
    assert len(found.queries) == 1
    assert found.hits
    assert len(server.forms) == 1


CAPABLE = {"offline": Capabilities(extractive=True)}


@pytest.mark.parametrize(
    ("changes", "model", "expected"),
    [
        ({}, "claude-sonnet-4-6", False),
        ({"decompose": "auto"}, "claude-sonnet-4-6", True),
        ({"decompose": "auto"}, "offline", False),
        ({"decompose": "auto"}, "llama", False),
        ({"decompose": "rules"}, "claude-sonnet-4-6", False),
        ({"decompose": "off"}, "claude-sonnet-4-6", False),
        ({"decompose": "off", "gaps": True}, "llama", True),
    ],
)
def test_who_may_be_asked(changes: dict[str, Any], model: str, expected: bool) -> None:
    assert may_ask(settings_with(**changes).agentic, CAPABLE.get(model) or capabilities_of(model)) is expected


def chunk(index: int, tiles: tuple[int, int] | None = None) -> Chunk:
    return Chunk(f"d:{index}", "d", index, "table", index, index + 1, "x", (), "", tiles=tiles)


def ranked(*hits: tuple[Chunk, float]) -> Ranking:
    scored = [Hit(n, of, score, {"rerank": score / 2}) for n, (of, score) in enumerate(hits, start=1)]
    return Ranking(tuple(scored), (), SubQuery("x"))


def test_merging_puts_first_what_is_first_for_a_part_or_found_by_several() -> None:
    table = chunk(9, (0, 2))
    hits = merged(
        [ranked((chunk(4), 0.6), (chunk(1), 0.5)), ranked((table, 0.9), (chunk(4), 0.7)), ranked((chunk(2), 0.95))], 10
    )
    assert [(hit.chunk.index, hit.queries) for hit in hits] == [(4, (1, 2)), (9, (2, 3))]
    assert [hit.score for hit in hits] == pytest.approx([(6 / 6 + 6 / 7) / 3, 6 / 6 / 3])
    assert hits[0].scores == {"rerank": 0.35, "question": 0.3}
    assert [hit.rank for hit in hits] == [1, 2]
