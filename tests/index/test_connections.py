"""The map of connections: what is on it, that its links can be read, and that only the question and library make it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.index.connections import MOST_LINKS, MOST_NODES, NameMap, layout
from ragcore.index.graph import NameGraph
from ragcore.protocols import Texts
from ragcore.text.mentions import key_of
from ragcore.types import EVERYTHING, Scope, Section, Seeds
from tests.index.test_paths import KNOWN, QUESTION, TEXTS, Library, keys, paths, searches


def drawn(library: Library, graph: NameGraph, text: str, near: str, scope: Scope = EVERYTHING, k: int = 50) -> NameMap:
    ids = [chunk_id for chunk_id, _ in graph.query(Seeds(text, near), k, scope)]
    return graph.map([Seeds(text, near)], ids, Texts(library.chunks, library.document, scope))


def linked(found: NameMap) -> set[tuple[str, str]]:
    return {(found.nodes[link.one].key, found.nodes[link.other].key) for link in found.links}


def test_names_of_the_question_lead_over_others_to_passages() -> None:
    found = drawn(KNOWN, KNOWN.graph(tuple(TEXTS)), QUESTION, "song:0")
    kinds = {node.key: (node.kind, node.printed) for node in found.nodes}
    assert kinds["hello love"] == ("asked", "Hello Love")
    assert kinds["graham parker"] == ("name", "Graham Parker")
    assert kinds["deepcut"] == ("name", "Deepcut")
    assert {key for key, (kind, _) in kinds.items() if kind == "passage"} == {"song:0", "man:0", "town:0", "town:1"}
    assert linked(found) >= {("graham parker", "song:0"), ("graham parker", "man:0"), ("deepcut", "town:1")}
    (link,) = (one for one in found.links if found.nodes[one.other].key == "town:1")
    assert (link.sentence.quote, link.way) == ("Deepcut", True), "a heading says so too"


def test_without_a_walk_there_is_no_map() -> None:
    graph = KNOWN.graph(tuple(TEXTS))
    ids = [f"{doc_id}:0" for doc_id in TEXTS]
    assert graph.map([], ids, Texts(KNOWN.chunks, KNOWN.document)) == NameMap()
    assert graph.map([Seeds("who sang?")], ids, Texts(KNOWN.chunks, KNOWN.document)) == NameMap()
    assert NameGraph().map([Seeds(QUESTION, "song:0")], ids, Texts(KNOWN.chunks, KNOWN.document)) == NameMap()


def test_several_queries_have_one_map() -> None:
    graph = KNOWN.graph(tuple(TEXTS))
    ids = ["song:0", "town:0"]
    found = graph.map([Seeds("Hello Love"), Seeds("Basingstoke Canal")], ids, Texts(KNOWN.chunks, KNOWN.document))
    assert {node.key for node in found.nodes if node.kind == "asked"} == {"hello love", "basingstoke canal"}


def test_of_a_large_library_the_heaviest_are_shown() -> None:
    people = [f"{chr(65 + n // 26)}{chr(97 + n % 26)}rta Wood" for n in range(260)]
    texts = {f"d{n:03}": ("", [f"then {one} met {people[n - 1]} and Elm Hall."]) for n, one in enumerate(people)}
    library = Library(texts)
    graph = library.graph(tuple(texts))
    found = drawn(library, graph, f"who met {people[7]}?", "d007:0", k=260)
    assert {node.key for node in found.nodes} >= {key_of(people[7]), "d007:0", "d008:0"}
    every = drawn(library, graph, " ".join(f"who met {one}?" for one in people), "", k=260)
    assert len(every.nodes) == MOST_NODES
    assert len(every.links) <= MOST_LINKS


def test_names_of_another_section_of_a_passage_are_not_shown() -> None:
    rows = ["site: Deepcut, by Cedar Works", "site: Birch Hall, by Deepcut"]
    library = Library({"t": ("", ["\n".join(rows)]), "man": ("", ["Then Cedar Works and Birch Hall left Deepcut."])})
    graph = library.graph(("t", "man"))
    scope = Scope(sections=(Section("t", 0, len(rows[0]), ("First",)),))
    assert {"cedar works", "birch hall"} <= {node.key for node in drawn(library, graph, "Deepcut?", "t:0").nodes}
    found = drawn(library, graph, "Deepcut?", "t:0", scope)
    assert {node.key for node in found.nodes} == {"deepcut", "t:0"}
    assert {link.sentence.quote for link in found.links} == {rows[0]}


@given(searches())
def test_every_link_can_be_read_on_the_pages(given_: tuple[Library, str, str, Scope]) -> None:
    library, text, near, scope = given_
    graph = library.graph(tuple(library.texts))
    found = drawn(library, graph, text, near, scope)
    ends = [end for link in found.links for end in (link.one, link.other)]
    assert set(ends) == set(range(len(found.nodes))), "each end is there, and each node is one"
    assert list(found.nodes) == sorted(found.nodes, key=lambda node: (-node.weight, node.key))
    assert len({node.key for node in found.nodes}) == len(found.nodes) <= MOST_NODES
    assert all(0.0 <= place <= 1.0 for node in found.nodes for place in (node.x, node.y))
    for node in found.nodes:
        assert node.weight > 0.0
        assert (node.kind == "asked") == (node.kind != "passage" and node.key in keys(text))
        assert key_of(node.printed) == ("" if node.kind == "passage" else node.key)
    for link in found.links:
        said = link.sentence
        assert scope.holds(said.doc_id), "never leaves the scope"
        assert library.document(said.doc_id).text[said.start : said.end] == said.quote
        one, other = found.nodes[link.one], found.nodes[link.other]
        assert one.kind != "passage"
        assert {node.key for node in (one, other) if node.kind != "passage"} <= keys(said.quote)
        if other.kind == "passage":
            (chunk,) = library.chunks([other.key])
            assert said.doc_id == chunk.doc_id
            assert (chunk.start <= said.start and said.end <= chunk.end) or said.quote in chunk.section
    pairs = linked(found)
    for path in paths(library, graph, text, near, scope):
        steps = [key_of(step.name) if step.name else path.chunk_id for step in path.steps[-2:]]
        assert tuple(steps) in pairs or path.steps[-2].name == "", "each path ends on the map"


@settings(max_examples=30, deadline=None)
@given(searches(), st.randoms(use_true_random=False))
def test_history_and_what_is_out_of_scope_do_not_matter(
    given_: tuple[Library, str, str, Scope], chance: Random
) -> None:
    library, text, near, scope = given_
    expected = drawn(library, library.graph(tuple(library.texts)), text, near, scope)
    now = NameGraph()
    for some in (
        *(chance.sample(sorted(library.texts), chance.randint(0, len(library.texts))) for _ in range(2)),
        None,
    ):
        order = chance.sample(sorted(library.texts), len(library.texts)) if some is None else some
        now = now.updated(dict.fromkeys(order, "1"), library.load)
    assert repr(drawn(library, now, text, near, scope)) == repr(expected)
    inside = tuple(doc_id for doc_id in library.texts if scope.holds(doc_id))
    assert repr(drawn(library, library.graph(inside), text, near)) == repr(expected)


def web(count: int) -> list[tuple[int, int]]:
    chance = Random(1)
    return [(node, chance.randrange(node)) for node in range(1, count)]


@pytest.mark.parametrize("links", [[], [(0, 1)], [(0, 1), (2, 3)], web(200), [(0, n) for n in range(1, 60)]])
def test_nodes_lie_apart_and_linked_ones_near(links: Sequence[tuple[int, int]]) -> None:
    count = max((max(pair) for pair in links), default=0) + 1
    places = layout(count, links)
    assert np.array_equal(places, layout(count, links))
    assert len({tuple(place) for place in places.tolist()}) == count
    if count > 4:
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        assert np.mean([apart[pair] for pair in links]) < 0.8 * apart.sum() / (count * (count - 1))
