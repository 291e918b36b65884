"""What holds for every document, whatever the pages: words once, spans sound, chunks a tiling."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ragcore.config import ChunkSettings, Settings, load
from ragcore.ingest.chunk import chunk_document
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.text import count_tokens
from ragcore.types import Document
from tests.ingest.strategies import documents

SETTINGS: Settings = load()[0]
SOME = hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def build(pages: list[PageLayout]) -> Document:
    return build_document("d" * 16, "0" * 64, "generated.pdf", FileInfo(pages=len(pages)), pages, SETTINGS)


@SOME
@given(documents())
def test_every_word_stands_in_the_text_exactly_once(pages: list[PageLayout]) -> None:
    document = build(pages)
    printed = Counter(
        (page.number, *(round(v, 2) for v in box)) for page in pages for box in page.boxes.astype(float).tolist()
    )
    own = ~document.words.repeated
    mapped = Counter(
        (int(page), *(round(v, 2) for v in box))
        for page, box in zip(document.words.pages[own], document.words.boxes[own].astype(float).tolist())
    )
    assert mapped == printed
    letters = Counter("".join("".join(page.texts) for page in pages).replace("-", ""))
    spans = zip(document.words.starts[own].tolist(), document.words.ends[own].tolist())
    assert Counter("".join(document.text[a:b] for a, b in spans).replace("-", "")) == letters


@SOME
@given(documents())
def test_elements_cells_and_rows_are_sound_spans(pages: list[PageLayout]) -> None:
    document = build(pages)
    assert [e.id for e in document.elements] == list(range(len(document.elements)))
    at = 0
    for element in sorted(document.elements, key=lambda e: (e.start, e.end)):
        assert 0 <= element.start <= element.end <= len(document.text)
        assert element.start >= at
        at = max(at, element.end)
        assert (element.start >= document.body_end) if element.noise else (element.end <= document.body_end)
        if element.table is not None:
            for cell in element.table.cells:
                assert element.start <= cell.start < cell.end <= element.end
                assert cell.row >= 0
                assert cell.row + cell.row_span <= element.table.rows
                assert cell.col >= 0
                assert cell.col + cell.col_span <= element.table.columns
            rows = element.table.row_spans
            assert len(rows) == len(element.table.row_numbers)
            assert all(a[1] < b[0] for a, b in itertools.pairwise(rows))
    assert all(c.isprintable() or c in "\n\u200c\u200d" for c in document.text if c.isascii())


chunk_settings = st.builds(
    lambda most, target, lead: ChunkSettings(max_tokens=most, target_tokens=target, lead_in_tokens=lead),
    st.integers(20, 500),
    st.integers(10, 300),
    st.integers(0, 60),
)


@SOME
@given(documents(), chunk_settings)
def test_chunks_tile_the_body(pages: list[PageLayout], chunking: ChunkSettings) -> None:
    document = build(pages)
    chunks = chunk_document(document, chunking)
    assert "".join(chunk.text for chunk in chunks) == document.text[: document.body_end]
    at = 0
    for index, chunk in enumerate(chunks):
        assert (chunk.start, chunk.index, chunk.chunk_id) == (at, index, f"{'d' * 16}:{index}")
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.end > chunk.start
        assert chunk.tokens == count_tokens(chunk.text) <= chunking.max_tokens
        assert count_tokens(chunk.lead_in) <= chunking.lead_in_tokens
        if chunk.lead_in:
            assert chunks[index - 1].section == chunk.section
        at = chunk.end
    assert at == document.body_end
