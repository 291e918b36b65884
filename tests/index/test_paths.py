"""Paths over names: where they begin and end, the sentences of their steps, and that only the library makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import UnknownDocument
from ragcore.index.graph import NameGraph, Names
from ragcore.index.paths import LONGEST
from ragcore.protocols import Texts
from ragcore.text.mentions import key_of, mentions
from ragcore.types import EVERYTHING, Chunk, Document, Element, Entry, NamePath, Page, Scope, Section, Seeds, WordMap

WORDS = ("Alder", "Birch", "Cedar", "Elm Hall", "Fir", "Hazel Works", "Ivy")
QUESTION = "Where did the writer of Hello Love move to?"
TEXTS = {
    "song": ("", ["The song “Hello Love” was written by Graham Parker.", "It was a hit in June."]),
    "man": ("", ["A long life. Then Graham Parker moved to the town of Deepcut. He sang.", "His brother ran a shop."]),
    "town": ("Deepcut", ["Its parish lies near the Basingstoke Canal.", "It has a church."]),
    "far": ("", ["The Zebra Works of Norland closed.", "Nobody knows why."]),
}
Written = Mapping[str, tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Library:
    """Documents on one page each: a heading, if they have one, then their chunks."""

    texts: Written

    def document(self, doc_id: str) -> Document:
        heading, chunks = self.texts[doc_id]
        text = "".join(f"{part}\n\n" for part in ([heading] if heading else []) + list(chunks))
        elements = (Element(0, "heading", 0, len(heading), 1), Element(1, "paragraph", len(heading), len(text), 1))
        words = WordMap([0], [1], [1], [(10.0, 10.0, 20.0, 20.0)], [False])
        return Document(doc_id, doc_id, doc_id, "", text, len(text), words, (Page(1, "1", 600.0, 800.0),), elements)

    def all(self, doc_id: str) -> list[Chunk]:
        heading, texts = self.texts[doc_id]
        at, out = len(heading) + 2 if heading else 0, []
        for n, text in enumerate(texts):
            section = (heading,) if heading else ()
            out.append(Chunk(f"{doc_id}:{n}", doc_id, n, "text", at, at + len(text), text, section))
            at += len(text) + 2
        return out

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        return [chunk for one in ids for chunk in self.all(one.partition(":")[0]) if chunk.chunk_id == one]

    def load(self, wanted: Mapping[str, str]) -> dict[str, Names]:
        return {
            doc_id: Names.of(
                [(Entry(one.chunk_id, doc_id, "text", 1, 1, one.start, one.end), one) for one in self.all(doc_id)]
            )
            for doc_id in wanted
        }

    @cache  # noqa: B019
    def graph(self, doc_ids: tuple[str, ...]) -> NameGraph:
        return NameGraph().updated(dict.fromkeys(doc_ids, "1"), self.load)

    def __hash__(self) -> int:
        return id(self)


def paths(library: Library, graph: NameGraph, text: str, near: str, scope: Scope = EVERYTHING) -> list[NamePath]:
    ids = [chunk_id for chunk_id, _ in graph.query(Seeds(text, near), 50, scope)]
    return graph.paths(Seeds(text, near), ids, Texts(library.chunks, library.document, scope))


def told(found: Sequence[NamePath]) -> dict[str, list[str]]:
    return {path.chunk_id: [step.name for step in path.steps] for path in found}


KNOWN = Library(TEXTS)


def test_a_path_leads_from_the_words_of_the_question_to_the_passage() -> None:
    for near in ("", "song:0"):
        found = told(paths(KNOWN, KNOWN.graph(tuple(TEXTS)), QUESTION, near))
        assert found["song:0"] == ["Hello Love", ""]
        assert found["man:0"] == ["Hello Love", "Graham Parker", ""]
        assert found["town:0"] == ["Hello Love", "Graham Parker", "Deepcut", ""]
        assert "far:0" not in found


def test_each_step_has_its_sentence_and_a_heading_is_one() -> None:
    found = {path.chunk_id: path for path in paths(KNOWN, KNOWN.graph(tuple(TEXTS)), QUESTION, "song:0")}
    assert [(step.doc_id, step.quote) for step in found["town:1"].steps] == [
        ("", ""),
        ("song", "The song “Hello Love” was written by Graham Parker."),
        ("man", "Then Graham Parker moved to the town of Deepcut."),
        ("town", "Deepcut"),
    ]


def test_without_a_name_of_the_question_it_begins_in_the_nearest_passage() -> None:
    (path,) = (one for one in paths(KNOWN, KNOWN.graph(tuple(TEXTS)), "Who sang?", "man:0") if one.doc_id == "song")
    assert [step.name for step in path.steps] == ["Graham Parker", ""]
    assert path.steps[0].quote == "Then Graham Parker moved to the town of Deepcut."


def test_of_a_table_the_row_is_the_sentence() -> None:
    row = "Plant — Deepcut: {}"
    rows = "\n".join(row.format(n) for n in range(9)) + "\nPlant — Norland: 9"
    library = Library({"t": ("", [rows]), "man": TEXTS["man"]})
    (path,) = (one for one in paths(library, library.graph(("t", "man")), "Deepcut?", "") if one.doc_id == "t")
    assert path.steps[-1].quote == row.format(0)


def test_each_row_with_a_name_is_a_sentence_of_it() -> None:
    rows = [f"Plant — {'Acme Corp' if n % 2 else 'Norland'}: {n}" for n in range(7)]
    library = Library({"t": ("On Acme Corp", ["\n".join(rows)])})
    found = library.graph(("t",)).sentences("Acme Corp", Texts(library.chunks, library.document))
    assert [one.quote for one in found] == [*rows[1::2], "On Acme Corp"]
    assert all(library.document("t").text[one.start : one.end] == one.quote for one in found)
    assert set(found[0].names) == {"plant", "acme corp"}


def test_names_are_joined_by_the_row_that_has_both_else_by_the_nearest_rows() -> None:
    def joins(*rows: str) -> str:
        library = Library({"t": ("", ["\n".join(rows)]), "other": ("", ["Later Birch Hall was closed."])})
        graph = library.graph(("t", "other"))
        (path,) = (one for one in paths(library, graph, "Cedar Works?", "") if one.doc_id == "other")
        return path.steps[1].quote

    first, last, both = "site: Cedar Works", "site: Birch Hall", "site: Birch Hall, from Cedar Works"
    assert joins(first, "none: 0", last, "none: 1", both) == both
    assert joins(first, "none: 0", "none: 1", last, "none: 2", first) == f"{last}\nnone: 2\n{first}"


def test_in_a_section_the_row_there_is_the_sentence() -> None:
    rows = [f"site: Deepcut {mark}" for mark in "abc"]
    library = Library({"t": ("", ["\n".join(rows)]), "man": TEXTS["man"]})
    low = len(rows[0]) + 1
    scope = Scope(sections=(Section("t", low, low + len(rows[1]), ("Second",)),))
    (path,) = library.graph(("t", "man")).paths(
        Seeds("Deepcut?"), ["t:0"], Texts(library.chunks, library.document, scope)
    )
    assert path.steps[-1].quote == rows[1]


def test_a_document_that_is_removed_meanwhile_has_no_heading() -> None:
    def gone(doc_id: str) -> Document:
        raise UnknownDocument(f"There is no document {doc_id}.")

    graph, ids = KNOWN.graph(tuple(TEXTS)), [f"{doc_id}:{n}" for doc_id in TEXTS for n in (0, 1)]
    assert set(told(graph.paths(Seeds(QUESTION), ids, Texts(KNOWN.chunks, gone)))) == {"song:0", "man:0"}


def test_text_that_changed_since_and_chunks_that_are_gone_have_no_path() -> None:
    graph = KNOWN.graph(tuple(TEXTS))
    other = Library({**TEXTS, "song": ("", ["Nothing is left of it.", "Really."])})
    assert {path.doc_id for path in paths(other, graph, QUESTION, "")} == set()
    assert graph.paths(Seeds(QUESTION), ["song:0", "gone:3"], Texts(lambda _: [], KNOWN.document)) == []
    assert graph.paths(Seeds("nothing"), ["song:0", "gone:3"], Texts(KNOWN.chunks, KNOWN.document)) == []


def test_a_heading_on_a_page_out_of_scope_is_no_step() -> None:
    graph = KNOWN.graph(tuple(TEXTS))
    ids = [f"{doc_id}:{n}" for doc_id in TEXTS for n in (0, 1)]
    inside = graph.paths(Seeds(QUESTION), ids, Texts(KNOWN.chunks, KNOWN.document, Scope(pages=((1, 1),))))
    assert "town:1" in told(inside)

    def turned(doc_id: str) -> Document:
        made = KNOWN.document(doc_id)
        return replace(made, elements=tuple(replace(element, page=7) for element in made.elements))

    assert "town:1" not in told(graph.paths(Seeds(QUESTION), ids, Texts(KNOWN.chunks, turned, Scope(pages=((1, 1),)))))


@st.composite
def libraries(draw: st.DrawFn) -> Library:
    names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)
    sentence = names.map(lambda found: f"then {' met '.join(found)} there.")
    passage = st.lists(sentence, min_size=1, max_size=2).map(" ".join)
    heading = st.one_of(st.just(""), st.sampled_from(WORDS).map(lambda name: f"On {name}"))
    document = st.tuples(heading, st.lists(passage, min_size=1, max_size=2))
    return Library({f"d{n}": draw(document) for n in range(draw(st.integers(1, 5)))})


@st.composite
def searches(draw: st.DrawFn) -> tuple[Library, str, str, Scope]:
    library = draw(libraries())
    ids = sorted(library.texts)
    text = f"who knew {' or '.join(draw(st.lists(st.sampled_from(WORDS), max_size=2)))}?"
    scope = draw(
        st.one_of(st.just(EVERYTHING), st.sets(st.sampled_from(ids)).map(lambda some: Scope(tuple(sorted(some)))))
    )
    near = [chunk.chunk_id for doc_id in ids if scope.holds(doc_id) for chunk in library.all(doc_id)]
    return library, text, draw(st.sampled_from(["", *near])), scope


def keys(text: str) -> set[str]:
    return {one.key for one in mentions(text)}


@given(searches())
def test_each_path_can_be_read_on_the_pages(given_: tuple[Library, str, str, Scope]) -> None:
    library, text, near, scope = given_
    for path in paths(library, library.graph(tuple(library.texts)), text, near, scope):
        (chunk,) = library.chunks([path.chunk_id])
        first, *_, last = path.steps
        assert (path.doc_id, path.start, path.end) == (chunk.doc_id, chunk.start, chunk.end)
        assert len(path.steps) <= LONGEST + 1
        named = [step.name for step in path.steps if step.name]
        assert len(set(named)) == len(named), "no name twice"
        for step in path.steps[0 if first.doc_id else 1 :]:
            assert scope.holds(step.doc_id), "never leaves the scope"
            assert library.document(step.doc_id).text[step.start : step.end] == step.quote
        if first.doc_id:
            (nearest,) = library.chunks([near])
            assert nearest.chunk_id != path.chunk_id
            assert first.doc_id == nearest.doc_id
            assert key_of(first.name) in keys(first.quote)
            assert first.quote in (*nearest.section, nearest.text) or first.quote in nearest.text
        else:
            assert key_of(first.name) in keys(text)
        for before, step in pairwise(path.steps):
            assert before.name or step.name, "passages are joined by names"
            assert {key_of(one.name) for one in (before, step) if one.name} <= keys(step.quote)
        assert last.name == ""
        assert last.doc_id == chunk.doc_id
        assert (chunk.start <= last.start and last.end <= chunk.end) or last.quote in chunk.section


@given(searches(), st.randoms(use_true_random=False))
def test_history_does_not_matter(given_: tuple[Library, str, str, Scope], chance: Random) -> None:
    """After any additions and removals, in any order, paths are those of what is left."""
    library, text, near, scope = given_
    expected = {path.chunk_id: path for path in paths(library, library.graph(tuple(library.texts)), text, near, scope)}
    now = NameGraph()
    for _ in range(3):
        some = chance.sample(sorted(library.texts), chance.randint(0, len(library.texts)))
        now = now.updated(dict.fromkeys(some, "1"), library.load)
        list(paths(library, now, text, near if near.partition(":")[0] in some else "", scope))
    order = chance.sample(sorted(library.texts), len(library.texts))
    now = now.updated(dict.fromkeys(order, "1"), library.load)
    assert {path.chunk_id: path for path in paths(library, now, text, near, scope)} == expected


@given(searches())
def test_a_scope_is_as_if_nothing_else_were_there(given_: tuple[Library, str, str, Scope]) -> None:
    library, text, near, scope = given_
    inside = tuple(doc_id for doc_id in library.texts if scope.holds(doc_id))
    alone = paths(library, library.graph(inside), text, near)
    assert paths(library, library.graph(tuple(library.texts)), text, near, scope) == alone
