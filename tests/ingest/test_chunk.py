"""Chunks of real layouts: what goes together, what is kept apart."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragcore.config.settings import ChunkSettings, load
from ragcore.ingest.chunk import chunk_document
from ragcore.text.sentences import count_tokens
from ragcore.types import Chunk, Document, Element, Table, WordMap
from tests import pdfs
from tests.ingest.conftest import Build

DEFAULT: ChunkSettings = load(environ={})[0].chunk
SMALL = DEFAULT.model_copy(update={"max_tokens": 60, "target_tokens": 40, "lead_in_tokens": 30})


def document_of(*elements: tuple[str, str, tuple[str, ...]], title: str = "Report") -> Document:
    """Elements given as (kind, text, section); no word map, which chunking does not need."""
    text, made = "", []
    for number, (kind, content, section) in enumerate(elements):
        text += "\n\n" if text else ""
        start = len(text)
        text += content
        table = None
        if kind == "table":
            rows, at = [], start
            for line in content.split("\n"):
                rows.append((at, at + len(line)))
                at += len(line) + 1
            table = Table("", len(rows), 2, (), tuple(rows), tuple(range(len(rows))))
        made.append(
            Element(
                id=number,
                kind=kind,  # type: ignore[arg-type]  # tests spell kinds as plain strings
                start=start,
                end=len(text),
                page=1,
                level=len(section) + 1 if kind == "heading" else 0,
                section=section,
                table=table,
            )
        )
    words = WordMap([], [], [], [], [])
    return Document("d" * 16, "0" * 64, "r.pdf", title, text, len(text), words, (), tuple(made))


def sentences(count: int, name: str = "S") -> str:
    return " ".join(f"{name} number {n} says something plain about wells." for n in range(count))


def test_a_heading_goes_with_what_follows() -> None:
    document = document_of(
        ("paragraph", sentences(4), ("A",)),
        ("heading", "Second part", ("A",)),
        ("paragraph", sentences(4, "T"), ("A", "Second part")),
    )
    chunks = chunk_document(document, SMALL)
    starts = [chunk.text for chunk in chunks if "Second part" in chunk.text]
    assert len(starts) == 1
    assert starts[0].startswith("Second part\n\nT number 0")


def test_no_chunk_holds_two_top_sections() -> None:
    document = document_of(
        ("heading", "One", ()),
        ("paragraph", "Short.", ("One",)),
        ("heading", "Two", ()),
        ("paragraph", "Brief.", ("Two",)),
    )
    chunks = chunk_document(document, SMALL)
    assert [chunk.text.split() for chunk in chunks] == [["One", "Short."], ["Two", "Brief."]]
    assert [chunk.section for chunk in chunks] == [("One",), ("Two",)]
    assert [chunk.header for chunk in chunks] == ["Report › One", "Report › Two"]


def test_title_and_headings_stand_in_front_of_a_chunk() -> None:
    chunk = chunk_document(document_of(("paragraph", sentences(2), ("A", "B", "C"))), DEFAULT)[0]
    assert chunk.header == "Report › A › B › C"
    assert chunk.section == ("A", "B", "C")


def test_small_neighbours_of_a_section_are_merged() -> None:
    document = document_of(*[("paragraph", f"Point {n} is made here.", ("A",)) for n in range(4)])
    assert len(chunk_document(document, SMALL)) == 1


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    document = document_of(("paragraph", sentences(20), ("A",)))
    chunks = chunk_document(document, SMALL)
    assert len(chunks) > 2
    assert all(chunk.text.startswith("S number") for chunk in chunks)
    assert all(chunk.tokens <= 60 for chunk in chunks)


@pytest.mark.parametrize("text", ["x1" * 2000, "a" * 5000, "数据库系统" * 300, "🦖" * 500, "\u0301" * 900, "1" * 3000])
def test_text_without_any_border_is_cut_all_the_same(text: str) -> None:
    document = document_of(("paragraph", text, ()))
    chunks = chunk_document(document, SMALL)
    assert "".join(chunk.text for chunk in chunks) == document.text
    assert max(count_tokens(chunk.text) for chunk in chunks) <= 60


def test_a_lead_in_is_whole_sentences_within_its_limit() -> None:
    for limit in (0, 12, 25, 50):
        settings = SMALL.model_copy(update={"lead_in_tokens": limit})
        chunks = chunk_document(document_of(("paragraph", sentences(30), ("A",))), settings)
        for before, chunk in pairwise(chunks):
            assert count_tokens(chunk.lead_in) <= limit
            assert before.text.strip().endswith(chunk.lead_in)
            assert chunk.lead_in == "" or chunk.lead_in.startswith("S number")
            # One sentence more would have been too much.
            whole = before.text.strip()
            rest = whole.removesuffix(chunk.lead_in).strip()
            longer = whole[rest.rfind("S number") :] if rest else whole
            assert rest == "" or count_tokens(longer) > limit
        assert limit < 12 or any(chunk.lead_in for chunk in chunks)


def test_a_table_is_cut_at_its_rows_and_never_mixed_with_prose() -> None:
    rows = "\n".join(f"Wells — Well {n} | April: {n}.0 | May: {n}.5" for n in range(12))
    document = document_of(
        ("paragraph", "Before it.", ("A",)), ("table", rows, ("A",)), ("paragraph", "After it.", ("A",))
    )
    chunks = chunk_document(document, SMALL)
    tables = [chunk for chunk in chunks if chunk.kind == "table" and chunk.tiles is None]
    assert len(tables) == 12
    assert all(line.startswith("Wells — Well") for chunk in tables for line in chunk.text.strip().split("\n"))
    assert [chunk.text.strip() for chunk in chunks if chunk.kind == "text"] == ["Before it.", "After it."]


def test_a_lead_in_ends_the_chunk_before_and_stays_within_the_section() -> None:
    document = document_of(
        ("paragraph", sentences(12), ("A",)),
        ("heading", "B", ()),
        ("paragraph", sentences(3, "T"), ("B",)),
    )
    chunks = chunk_document(document, SMALL)
    assert chunks[0].lead_in == ""
    assert chunks[1].lead_in
    assert chunks[0].text.strip().endswith(chunks[1].lead_in)
    assert chunks[1].lead_in.startswith("S number")
    other = next(chunk for chunk in chunks if chunk.section == ("B",))
    assert other.lead_in == ""


@pytest.mark.parametrize("name", ["ruled_table", "multi_level_table"])
def test_a_caption_goes_with_its_table(name: str, build: Build) -> None:
    document = build(name)
    table = next(chunk for chunk in chunk_document(document, DEFAULT) if chunk.kind == "table")
    title = pdfs.TABLE_TITLE if name == "ruled_table" else pdfs.LEVELS_TITLE
    assert table.text.startswith(f"{title}\n\n")


def test_an_empty_body_has_no_chunks() -> None:
    document = Document("d" * 16, "0" * 64, "r.pdf", "", "page 1", 0, WordMap([], [], [], [], []), (), ())
    assert chunk_document(document, SMALL) == ()


def test_chunks_are_frozen_and_named_by_document() -> None:
    chunk: Chunk = chunk_document(document_of(("paragraph", "Text.", ())), SMALL)[0]
    assert (chunk.chunk_id, chunk.doc_id, chunk.kind) == (f"{'d' * 16}:0", "d" * 16, "text")
