"""The graph of names: its walk, and that it is made of what is there and of nothing else."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import replace

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ragcore.index.graph import FEW, MOST_IN_SENTENCE, SCOPES, STEPS, WALKS_ON, NameGraph, Names, pagerank
from ragcore.protocols import NameIndex
from ragcore.types import Chunk, Entry, Scope, Section, Seeds

TEXTS = {
    "song": ["The song “Hello Love” was written by Graham Parker.", "It was a hit in June."],
    "man": ["Then Graham Parker moved to the town of Deepcut.", "His brother ran a shop."],
    "town": ["The parish of Deepcut lies near the Basingstoke Canal.", "It has a church."],
    "far": ["The Zebra Works of Norland closed.", "Nobody knows why."],
}


def names(doc_id: str, texts: Mapping[str, list[str]] = TEXTS) -> Names:
    chunks = [
        Chunk(f"{doc_id}:{n}", doc_id, n, "text", n * 100, n * 100 + len(text), text)
        for n, text in enumerate(texts[doc_id])
    ]
    return Names.of([(Entry(one.chunk_id, doc_id, "text", 1, 1, one.start, one.end), one) for one in chunks])


def load(wanted: Mapping[str, str]) -> dict[str, Names]:
    return {doc_id: names(doc_id) for doc_id in wanted}


def graph(*doc_ids: str) -> NameGraph:
    return NameGraph().updated(dict.fromkeys(doc_ids, "1"), load)


def test_it_is_a_name_index() -> None:
    assert isinstance(graph(), NameIndex)
    assert graph().query(Seeds("Graham Parker"), 5) == []


def test_passages_are_reached_that_share_no_word_with_the_question() -> None:
    found = [chunk_id for chunk_id, _ in graph(*TEXTS).query(Seeds("Where did the writer of Hello Love move to?"), 9)]
    assert found == ["song:0", "man:0", "town:0"]  # nearest first, and nothing of Norland


def test_the_nearest_passages_names_are_walked_from_too() -> None:
    found = [chunk_id for chunk_id, _ in graph(*TEXTS).query(Seeds("What closed?", "man:0"), 9)]
    assert (found[0], set(found)) == ("man:0", {"man:0", "song:0", "town:0"})
    assert graph(*TEXTS).query(Seeds("What closed?", "far:0"), 9) == [], "its names are nowhere else"
    assert graph(*TEXTS).query(Seeds("What closed?"), 9) == []
    assert graph(*TEXTS).query(Seeds("What closed?", "gone:7"), 9) == []


def test_a_name_for_a_long_document_says_where_to_look_and_is_not_walked_from() -> None:
    texts = {"man": TEXTS["man"], "town": TEXTS["town"], "book": [f"Deepcut has a pond {n}." for n in range(2)]}
    for length, walked in ((FEW, ("Deepcut",)), (FEW + 1, ())):
        texts["book"] = ["Deepcut has a pond.", *(f"The pond has carp {n}." for n in range(1, length))]
        made = NameGraph().updated(dict.fromkeys(texts, "1"), lambda ids: {one: names(one, texts) for one in ids})
        seeds = Seeds("Who moved to Deepcut?", named=(("book", "Deepcut"), ("gone", "Who")))
        assert made.names(seeds) == walked
        assert bool(made.query(seeds, 9)) == bool(walked)
        assert made.names(Seeds("Who moved to Deepcut?")) == ("Deepcut",)
        assert made.names(replace(seeds, text="Who moved to Deepcut Group’s pond?")) == ()


def test_a_name_that_leads_everywhere_is_not_walked_from() -> None:
    for many, walked in ((FEW, ("Hello Love", "Deepcut")), (FEW + 1, ("Hello Love",))):
        texts = {"song": TEXTS["song"], "all": [f"They went to Deepcut in year {n}." for n in range(many)]}
        texts["rest"] = [f"Then Elm {chr(97 + n % 26)}{chr(97 + n // 26)} came." for n in range(500)]
        made = NameGraph().updated(
            dict.fromkeys(texts, "1"), lambda _, held=texts: {one: names(one, held) for one in held}
        )
        assert made.names(Seeds("Was Hello Love sung in Deepcut?")) == walked, "in the order of the question"


@pytest.mark.slow
def test_the_links_of_few_scopes_are_kept() -> None:
    def held() -> int:
        gc.collect()
        return sum(isinstance(one, sparse.csr_array) for one in gc.get_objects())

    whole, before = graph(*TEXTS), held()
    for last in range(1, 2 * SCOPES + 1):
        assert whole.query(Seeds("Hello Love"), 9, Scope(pages=((1, last),)))
    assert held() - before <= SCOPES


def test_hits_are_in_scope_at_most_k_and_no_path_leads_outside() -> None:
    whole = graph(*TEXTS)
    assert [i for i, _ in whole.query(Seeds("Hello Love"), 2)] == ["song:0", "man:0"]
    # From the song the town is reached by the man alone.
    assert [i for i, _ in whole.query(Seeds("Hello Love"), 9, Scope(("song", "town")))] == ["song:0"]
    assert whole.query(Seeds("Hello Love"), 9, Scope(())) == []
    of_song = Section("song", 0, 5, ("Songs",))
    sections = Scope(sections=(of_song, Section("town", 0, 5, ("Towns",))))
    assert [i for i, _ in whole.query(Seeds("Hello Love"), 9, sections)] == ["song:0"]
    assert whole.query(Seeds("Hello Love"), 9, Scope(sections=(replace(of_song, start=2000, end=2001),))) == []
    inside = {"song", "man"}
    assert whole.query(Seeds("Hello Love"), 9, Scope(tuple(inside))) == graph("song", "man").query(
        Seeds("Hello Love"), 9
    )


def test_a_doubtful_name_counts_where_it_is_sure_elsewhere() -> None:
    texts = {"a": ["Deepcut is quiet."], "b": ["They left Deepcut."], "c": ["Nothing is here."]}

    def of(*doc_ids: str) -> NameGraph:
        return NameGraph().updated(
            dict.fromkeys(doc_ids, "1"), lambda wanted: {doc_id: names(doc_id, texts) for doc_id in wanted}
        )

    assert of("a", "c").query(Seeds("the village of Deepcut"), 9) == []
    assert {i for i, _ in of("a", "b", "c").query(Seeds("the village of Deepcut"), 9)} == {"a:0", "b:0"}


def test_a_long_list_joins_none_of_its_names_to_another() -> None:
    people = [f"{chr(65 + n % 26)}{chr(97 + n // 26)}rta" for n in range(MOST_IN_SENTENCE + 1)]
    texts = {"list": ["here are " + ", ".join(people) + "."]}
    listed = NameGraph().updated({"list": "1"}, lambda _: {"list": names("list", texts)})
    walk = listed._links(Scope()).walk
    assert walk[: len(people), : len(people)].nnz == 0
    assert walk.nnz == 2 * len(people)


def same(one: NameGraph, other: NameGraph) -> bool:
    a, b = one._links(Scope()), other._links(Scope())
    return (
        list(one._keys) == list(other._keys)
        and (a.walk != b.walk).nnz == 0
        and all(np.array_equal(x, y) for x, y in ((a.names, b.names), (a.frequency, b.frequency), (a.leaves, b.leaves)))
    )


@given(st.lists(st.sets(st.sampled_from(sorted(TEXTS))), max_size=6))
def test_history_does_not_matter(states: list[set[str]]) -> None:
    """After any additions and removals it is the graph of what is left."""
    now = NameGraph()
    for state in states:
        now = now.updated({doc_id: "1" for doc_id in TEXTS if doc_id in state}, load)
        assert same(now, graph(*(doc_id for doc_id in TEXTS if doc_id in state)))


def test_only_what_changed_is_loaded() -> None:
    asked: list[list[str]] = []

    def loading(wanted: Mapping[str, str]) -> dict[str, Names]:
        asked.append(list(wanted))
        return load(wanted)

    first = NameGraph().updated({"song": "1", "man": "1"}, loading)
    assert first.updated({"song": "1", "man": "1"}, loading) is first
    first.updated({"song": "2", "man": "1", "town": "1"}, loading)
    assert asked == [["song", "man"], ["song", "town"]]


def test_names_come_back_as_they_were_kept_and_never_damaged() -> None:
    given = names("song")
    data = given.to_bytes()
    back = Names.from_bytes(data)
    assert back.keys == given.keys
    assert back.entries.ids == given.entries.ids
    assert np.array_equal(back.places, given.places)
    for place in range(0, len(data), 7):
        with pytest.raises(ValueError, match=r"\S"):
            Names.from_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


def test_rows_of_a_table_are_reached_as_the_table() -> None:
    row = "Plant — Deepcut: 5"
    tiles = [Chunk(f"t:{n}", "t", n, "table", 10 * n, 10 * n + 9, row) for n in (0, 1)]
    whole = Chunk("t:2", "t", 2, "table", 0, 19, f"{row}\n{row}", tiles=(0, 1))
    found = Names.of([(Entry(one.chunk_id, "t", "table", 1, 1), one) for one in (*tiles, whole)])
    assert found.entries.ids == ["t:2"]


@given(
    st.integers(2, 7).flatmap(
        lambda n: st.tuples(
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(1, 5)), max_size=12),
            st.lists(st.integers(0, 3), min_size=n, max_size=n),
        )
    )
)
def test_the_walk_is_personalised_pagerank(case: tuple[list[tuple[int, int, int]], list[int]]) -> None:
    """Held to networkx and igraph, over undirected graphs with weights, isolated nodes and several parts."""
    edges, start = case
    start = start if any(start) else [1, *start[1:]]
    whole = networkx.Graph()
    whole.add_nodes_from(range(len(start)))
    for a, b, weight in edges:
        if a != b:
            whole.add_edge(a, b, weight=weight)
    seeds = {node: weight / sum(start) for node, weight in enumerate(start)}
    expected = networkx.pagerank(whole, alpha=WALKS_ON, personalization=seeds, dangling=seeds, tol=1e-12, max_iter=500)
    matrix = sparse.csr_array(networkx.to_scipy_sparse_array(whole, nodelist=range(len(start)), dtype=float))
    sums = matrix.sum(axis=0)
    walk = sparse.csr_array(matrix @ sparse.diags_array(1.0 / np.where(sums > 0.0, sums, 1.0)))
    exact = [expected[node] for node in range(len(start))]
    begin = np.array(list(seeds.values()))
    assert pagerank(walk, sums == 0.0, begin, 40) == pytest.approx(exact, abs=1e-9)
    if not (sums == 0.0).any():  # igraph goes on from an isolated node to any other, not to the seeds
        links = [(a, b, weight["weight"]) for a, b, weight in whole.edges(data=True)]
        twin = igraph.Graph.TupleList(links, weights=True)
        order = [int(name) for name in twin.vs["name"]]
        other = twin.personalized_pagerank(
            damping=WALKS_ON, reset=[seeds[node] for node in order], weights="weight", directed=False
        )
        assert dict(zip(order, other)) == pytest.approx(dict(enumerate(exact)), abs=1e-9)
    found = pagerank(walk, sums == 0.0, begin)
    assert np.abs(found - exact).sum() <= 2 * WALKS_ON**STEPS
    assert found.sum() == pytest.approx(1.0)
