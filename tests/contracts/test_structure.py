"""What every `Structure` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcore.config.settings import load
from ragcore.index.indexer import Indexer
from ragcore.index.shelf import Trash
from ragcore.index.store import Store
from ragcore.pipelines.structures import MAKERS, Structures
from ragcore.protocols import Asked, Structure, Texts
from ragcore.retrieve.hybrid import STRUCTURES
from ragcore.types import Scope, Section
from tests.libraries import HashEmbedder, add_document

LIBRARY = {
    "alpha.pdf": [
        "Alpha Corp designs pumps and valves for the water works of Northtown.",
        "Total revenues of Alpha Corp were 1,577 million in 2018, said Jane Miller.",
        "Jane Miller studied at Westford College before she joined Alpha Corp.",
        "The auditor found no material weakness at Alpha Corp.",
    ],
    "beta.pdf": [
        "Beta Inc sells tea from the hills of Northtown.",
        "Revenues of Beta Inc were 12 million.",
        "Westford College stands in Eastham, and Beta Inc has a shop there.",
    ],
    "gamma.pdf": ["Gamma sells bolts in Eastham.", *(f"Prices of Gamma: valve {n} is {n} euro." for n in range(4))],
}
QUESTION = "What were the revenues of Alpha Corp, and where did Jane Miller study?"


class Shelf:
    """A library whose documents come and go."""

    def __init__(self, home: Path) -> None:
        self.store = Store(home)
        self.embedder = HashEmbedder()
        settings, _ = load(environ={})
        self.indexer = Indexer(self.store, self.embedder, settings.index)
        self.structures = Structures(self.store, self.indexer, self.embedder)

    def add(self, *names: str) -> Shelf:
        for name in names:
            add_document(self.store, name, LIBRARY[name])
        self.indexer.update()
        return self

    def remove(self, name: str) -> Shelf:
        (doc_id,) = [info.doc_id for info in self.store.documents() if info.name == name]
        Trash(self.store, 0.0).remove(doc_id)
        return self

    def asked(self, text: str = QUESTION) -> Asked:
        return Asked(text, self.embedder.embed_query(text))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "one").add(*LIBRARY)


@pytest.fixture(params=STRUCTURES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_mode_has_a_structure() -> None:
    assert set(MAKERS) == set(STRUCTURES)


class TestStructure:
    def test_it_is_a_structure(self, shelf: Shelf, mode: str) -> None:
        assert isinstance(shelf.structures.open(mode), Structure)

    def test_leaves_are_passages_each_once_best_first(self, shelf: Shelf, mode: str) -> None:
        found = shelf.structures.open(mode).leaves(shelf.asked(), 5)
        assert 0 < len(found) <= 5
        ids = [chunk_id for chunk_id, _ in found]
        assert len(set(ids)) == len(ids)
        assert len(shelf.store.chunks_by_id(ids)) == len(ids)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
        assert all(score > 0.0 for _, score in found)

    def test_nothing_outside_the_scope_comes_out(self, shelf: Shelf, mode: str) -> None:
        structure = shelf.structures.open(mode)
        for info in shelf.store.documents():
            inside = structure.leaves(shelf.asked(), 50, Scope((info.doc_id,)))
            assert {chunk_id.split(":")[0] for chunk_id, _ in inside} <= {info.doc_id}
        chunk = shelf.store.chunks_by_id([structure.leaves(shelf.asked(), 1)[0][0]])[0]
        section = Section(chunk.doc_id, chunk.start, chunk.end, ("Here",))
        within = structure.leaves(shelf.asked(), 50, Scope(sections=(section,)))
        assert [chunk_id for chunk_id, _ in within] == [chunk.chunk_id]

    def test_paths_lead_to_their_passages_by_words_that_stand_there(self, shelf: Shelf, mode: str) -> None:
        structure, asked = shelf.structures.open(mode), shelf.asked()
        ids = [chunk_id for chunk_id, _ in structure.leaves(asked, 10)]
        paths = structure.paths(asked, ids, Texts(shelf.store.chunks_by_id, shelf.store.document))
        assert [path.chunk_id for path in paths] == [one for one in ids if one in {path.chunk_id for path in paths}]
        for path in paths:
            for step in path.steps:
                if step.doc_id:
                    text = shelf.store.document(step.doc_id).text
                    assert text[step.start : step.end] == step.quote

    def test_no_path_passes_what_is_out_of_scope(self, shelf: Shelf, mode: str) -> None:
        structure, asked = shelf.structures.open(mode), shelf.asked()
        for info in shelf.store.documents():
            scope = Scope((info.doc_id,))
            ids = [chunk_id for chunk_id, _ in structure.leaves(asked, 10, scope)]
            paths = structure.paths(asked, ids, Texts(shelf.store.chunks_by_id, shelf.store.document, scope))
            assert {step.doc_id for path in paths for step in path.steps} <= {"", info.doc_id}

    def test_what_was_added_and_removed_before_makes_no_difference(
        self, shelf: Shelf, mode: str, tmp_path: Path
    ) -> None:
        other = Shelf(tmp_path / "other").add("gamma.pdf", "beta.pdf")
        other.structures.open(mode)
        other.add("alpha.pdf").remove("gamma.pdf")
        shelf.remove("gamma.pdf")
        for text in (QUESTION, "Who sells tea?", "Northtown and Westford College"):
            one = shelf.structures.open(mode).leaves(shelf.asked(text), 50)
            two = other.structures.open(mode).leaves(other.asked(text), 50)
            assert dict(one) == pytest.approx(dict(two), rel=1e-6)

    def test_an_unknown_scope_or_an_empty_library_gives_nothing(self, mode: str, tmp_path: Path) -> None:
        empty = Shelf(tmp_path / "empty").add("beta.pdf").remove("beta.pdf")
        assert empty.structures.open(mode).leaves(empty.asked(), 5) == []
