"""A question to one section of a document: what it is answered from, and what becomes of it when documents change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

import pytest

from ragcore.config.settings import PublishedMode
from ragcore.engine import Engine
from ragcore.errors import InputError, UnknownDocument
from ragcore.retrieve.hybrid import MODES
from ragcore.types import Scope, Section
from ragcore.types import json as wire
from ragcore.types.sections import section_tree, walk
from tests import pdfs, prepared
from ui.explore import payload as explore_payload
from ui.explore import routes

QUESTION = "How often is the pump at Mill Bridge seen to?"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("sections"), overrides={"llm.model": "offline"}) as opened:
        for name, data in (("handbook.pdf", pdfs.handbook()), ("survey.pdf", pdfs.one_column())):
            prepared.read(opened, data, name)
        opened.index()
        yield opened


def sections(engine: Engine) -> dict[str, Section]:
    (doc_id,) = [info.doc_id for info in engine.documents() if info.name == "handbook.pdf"]
    return {node.label: node.of(doc_id) for node in walk(section_tree(engine.document(doc_id)))}


def test_a_handbook_has_its_chapters(engine: Engine) -> None:
    found = sections(engine)
    assert [found[name].path[1:] for name in ("Care", "Oil", "Frost")] == [
        ("Care",),
        ("Care", "Oil"),
        ("Winter", "Frost"),
    ]


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in get_args(PublishedMode)])
def test_an_answer_is_from_the_section_alone(engine: Engine, mode: str) -> None:
    asked = engine.with_settings({"retrieve.mode": mode})
    for name, weeks in (("Seals", 6), ("Oil", 4)):
        section = sections(engine)[name]
        answer = asked.ask(QUESTION, sections=[section]).run()
        assert answer.citations, answer.text
        for one in (*answer.citations, *answer.sources):
            assert one.doc_id == section.doc_id
            assert section.start <= one.start < one.end <= section.end
        assert f"{weeks} weeks" in answer.text
        assert answer.trace is not None
        assert answer.trace.scope.sections == (section,)


def test_exploring_keeps_to_the_section(engine: Engine) -> None:
    section = sections(engine)["Repair"]
    found = engine.explore(QUESTION, Scope(sections=(section,))).under({})
    assert found.retrieval.segments
    assert all(section.start <= one.start < one.end <= section.end for one in found.retrieval.segments)


def test_a_question_to_a_section_is_not_explored_without_it(engine: Engine) -> None:
    section = sections(engine)["Seals"]
    talk = engine.conversations.new(Scope(sections=(section,)))
    engine.chat(talk, QUESTION).run()
    turn = engine.conversations.get(talk).turns[-1].turn_id
    assert routes._asked(engine, talk, turn)[1].sections == (section,)
    removed = replace(section, doc_id="0" * 16)
    assert routes._kept(engine, Scope(sections=(section, removed))).sections == (section,)
    with pytest.raises(InputError, match="“Seals”"):
        routes._kept(engine, Scope(sections=(removed,)))


def test_what_is_shown_as_found_is_of_the_section(engine: Engine) -> None:
    section = sections(engine)["Seals"]
    scope = Scope(sections=(section,))
    found = engine.retrieve(QUESTION, sections=[section])
    assert any(scope.parts(hit.chunk) != [(hit.chunk.start, hit.chunk.end)] for hit in found.hits), "a chunk is cut"
    text = engine.document(section.doc_id).text
    shown = wire.retrieval(found, engine.document)["hits"]
    assert all(section.start <= hit["start"] < hit["end"] <= section.end for hit in shown)
    assert all(hit["text"] == text[hit["start"] : hit["end"]] for hit in shown)
    exploration = engine.explore(QUESTION, scope)
    explored = exploration.under({})
    opened = [explore_payload.passage(point, explored, exploration) for point in explored.points if point.hit]
    boxes = engine.document(section.doc_id).boxes(section.start, section.end)
    for one in opened:
        assert one["quote"] in text[section.start : section.end]
        assert len(one["boxes"]) <= len(boxes)


def test_a_conversation_keeps_it_and_a_later_reading_moves_it(engine: Engine) -> None:
    section = sections(engine)["Seals"]
    talk = engine.conversations.new(Scope(sections=(replace(section, start=section.start - 9, end=section.end - 9),)))
    answer = engine.chat(talk, QUESTION).run()
    assert answer.trace is not None
    assert answer.trace.scope.sections == (section,)
    assert answer.trace.searched == 1


def test_a_section_that_is_gone_is_not_searched_as_another(engine: Engine) -> None:
    section = sections(engine)["Seals"]
    with pytest.raises(InputError, match="no longer has the section “Valves”"):
        engine.ask(QUESTION, sections=[replace(section, path=("Valves",))])
    with pytest.raises(UnknownDocument):
        engine.retrieve(QUESTION, sections=[replace(section, doc_id="0" * 16)])


def test_nothing_found_names_the_section(engine: Engine) -> None:
    found = engine.retrieve(QUESTION, kinds=["figure"], sections=[sections(engine)["Seals"]])
    assert "“Seals”" in found.notes[-1]
