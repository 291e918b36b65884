"""A document that a person renames: wherever it is shown, and for good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.errors import InputError, UnknownDocument
from tests import pdfs, prepared


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as opened:
        yield opened


def read(engine: Engine) -> str:
    doc_id = prepared.read(engine, pdfs.one_column(), "survey.pdf")
    engine.index()
    return doc_id


def test_the_name_that_is_given_stands_everywhere_and_outlives_a_rebuild(engine: Engine) -> None:
    doc_id = read(engine)
    conversation = engine.conversations.new()
    before = engine.chat(conversation, "What was the highest nitrate reading?").run()
    assert before.citations[0].title == "Larkfield Water Survey"
    vectors = engine.store.with_vectors(engine.settings.index.embedder)

    engine.shelf.rename(doc_id, "  Wells\u202e of\n2025 ")
    assert (
        engine.document(doc_id).title == engine.documents()[0].title == engine.store.titles()[doc_id] == "Wells of 2025"
    )
    assert engine.store.with_vectors(engine.settings.index.embedder) == vectors, "nothing is embedded anew"
    stored = engine.conversations.get(conversation).turns[0].answer
    assert stored is not None
    assert {item.title for item in (*stored.citations, *stored.sources)} == {"Wells of 2025"}
    assert stored.text == before.text
    assert b"Wells of 2025" in engine.export(conversation, "md")
    assert engine.ask("What does Wells of 2025 say about nitrate?").run().citations[0].title == "Wells of 2025"

    engine.index(rebuild=True)
    assert engine.document(doc_id).title == "Wells of 2025"
    engine.shelf.rename(doc_id, "")
    assert engine.document(doc_id).title == engine.documents()[0].title == "Larkfield Water Survey"


def test_what_cannot_be_a_title_is_refused(engine: Engine) -> None:
    doc_id = engine.add(pdfs.note(), "note.pdf").doc_id
    with pytest.raises(InputError):
        engine.shelf.rename(doc_id, "x" * 201)
    with pytest.raises(UnknownDocument):
        engine.shelf.rename("0" * 16, "Wells")
    engine.shelf.rename(doc_id, "Wells")
    assert engine.documents()[0].title == "Wells", "before it is read, too"
