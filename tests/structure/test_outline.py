"""The outline: sections above passages, and the way to a passage by its headings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragcore.engine import Engine
from ragcore.structure.outline import sections
from ragcore.types import Chunk, Entry
from ragcore.types.sections import section_tree, walk
from tests import pdfs, prepared

PARTS = {
    "Water": ["Wells are dug by hand in the dry months, when the river is low and the ground can be walked on. " * 2]
    * 3,
    "Machines": ["Pumps are oiled once a week by the keeper of the works, who writes the day into a book. " * 2] * 3,
}


def leaf(index: int, *section: str, **more: object) -> tuple[Entry, Chunk]:
    chunk = Chunk(f"d:{index}", "d", index, "text", index * 10, index * 10 + 9, "Some text", section, **more)  # type: ignore[arg-type]
    return Entry(chunk.chunk_id, "d"), chunk


def test_sections_hold_their_passages_and_the_sections_below_them() -> None:
    made = sections([leaf(0), leaf(1, "A"), leaf(2, "A", "B"), leaf(3, "A", "B"), leaf(4, "C", "D"), leaf(5, "A")])
    assert made.ids == [f"d:{index}" for index in range(6)]
    # A › B and C › D, then A and C, then the document.
    assert [below.tolist() for below in made.members] == [[2, 3], [4], [1, 5, 6], [7], [0, 8, 9]]


def test_rows_of_a_table_are_in_it() -> None:
    made = sections([leaf(0, "A"), leaf(1, "A"), leaf(2, "A", tiles=(0, 1))])
    assert made.ids == ["d:2"]
    assert [below.tolist() for below in made.members] == [[0], [1]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("outline"), overrides={"retrieve.mode": "outline"}) as engine:
        prepared.read(engine, pdfs.report("Works of the town", PARTS), "works.pdf")
        engine.index()
        yield engine


def test_a_path_leads_by_the_headings_where_they_are_printed(library: Engine) -> None:
    found = library.retrieve("How often are pumps oiled?")
    assert "oiled" in found.hits[0].chunk.text
    path = next(one for one in found.paths if one.chunk_id == found.hits[0].chunk.chunk_id)
    assert path.over == "tree"
    document = library.document(path.doc_id)
    *headings, last = path.steps
    assert tuple(step.name for step in headings) == found.hits[0].chunk.section
    assert headings[-1].name == "Machines"
    for step in path.steps:
        assert document.text[step.start : step.end] == step.quote
    assert [" ".join(step.quote.split()) for step in headings] == [step.name for step in headings]
    assert (last.start, last.end) == (path.start, path.end)


def test_headings_out_of_scope_have_no_place(library: Engine) -> None:
    question, title = "How often are pumps oiled?", "Works of the town"
    chunk = library.retrieve(question).hits[0].chunk
    assert chunk.section == (title, "Machines")
    node = next(one for one in walk(section_tree(library.document(chunk.doc_id))) if one.label == "Machines")
    (path,) = library.retrieve(question, sections=(node.of(chunk.doc_id),)).paths
    assert [(step.name, step.doc_id) for step in path.steps[:-1]] == [(title, ""), ("Machines", chunk.doc_id)]
