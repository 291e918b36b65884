"""What holds for every document, whatever the pages: words once, spans sound, chunks a tiling."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ragcore.config.settings import ChunkSettings, Settings, load
from ragcore.ingest.chunk import chunk_document
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.text.sentences import count_tokens
from ragcore.types import Document
from tests.ingest.strategies import documents

SETTINGS: Settings = load()[0]
SOME = hypothesis_settings(suppress_health_check=[HealthCheck.too_slow])


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
    ChunkSettings,
    max_tokens=st.integers(20, 500),
    target_tokens=st.integers(10, 300),
    row_tokens=st.sampled_from([0, 40, 200]),
    composites=st.booleans(),
    lead_in_tokens=st.integers(0, 60),
)


@SOME
@given(documents(), chunk_settings)
def test_chunks_tile_the_body_and_composites_lie_beside(pages: list[PageLayout], chunking: ChunkSettings) -> None:
    document = build(pages)
    chunks = chunk_document(document, chunking)
    tiles = [chunk for chunk in chunks if chunk.tiles is None]
    assert "".join(tile.text for tile in tiles) == document.text[: document.body_end]
    at = 0
    for index, chunk in enumerate(chunks):
        assert (chunk.index, chunk.chunk_id) == (index, f"{'d' * 16}:{index}")
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.end > chunk.start
        assert chunk.tokens == count_tokens(chunk.grid or chunk.text) <= chunking.max_tokens
    for index, tile in enumerate(tiles):
        assert (tile.start, tile.grid) == (at, "")
        assert count_tokens(tile.lead_in) <= chunking.lead_in_tokens
        if tile.lead_in:
            assert tiles[index - 1].section == tile.section
        at = tile.end
    assert at == document.body_end

    composites = chunks[len(tiles) :]
    assert chunking.composites or not composites
    after = 0
    for chunk in composites:
        first, last = chunk.reach
        assert after <= first < last < len(tiles), "in order, apart, and of several tiles"
        after = last + 1
        assert (chunk.start, chunk.end) == (tiles[first].start, tiles[last].end)
        assert {tile.kind for tile in tiles[first : last + 1]} == {chunk.kind} == {"table"}
        assert (chunk.lead_in, chunk.header) == ("", tiles[first].header)
        inside = [
            cell
            for element in document.body
            for cell in (element.table.cells if element.table else ())
            if not cell.header and cell.start < chunk.end and chunk.start < cell.end
        ]
        assert inside
        lines = chunk.grid.splitlines()
        if all(any(t.start <= c.start and c.end <= t.end for t in tiles[first : last + 1]) for c in inside):
            assert all(any(" ".join(document.text[c.start : c.end].split()) in ln for ln in lines) for c in inside)
