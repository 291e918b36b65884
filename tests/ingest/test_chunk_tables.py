"""Tables as chunks: a tile for each row, and composites that span them."""

from __future__ import annotations

from typing import Any

from ragcore.config.settings import ChunkSettings, load
from ragcore.ingest.chunk import chunk_document
from ragcore.text.sentences import count_tokens
from ragcore.types import Chunk, Document
from tests.documents import Grid, Heading, make_document

DEFAULT: ChunkSettings = load(environ={})[0].chunk
DRUGS = Grid(
    "Potency of inhibitors (nM)",
    [["Drug", "IC50", "Ki"], *([f"Drug {n}", str(10 + n), str(5 + n)] for n in range(12))],
)
BALANCE = Grid(
    "Balance sheets",
    [
        ["", "2023", "2022"],
        ["Current assets:"],
        *([f"Asset {n}", f"{n},100", f"{n},200"] for n in range(8)),
        ["Liabilities:"],
        *([f"Debt {n}", f"{n},300", f"{n},400"] for n in range(8)),
    ],
)


def chunked(document: Document, **settings: Any) -> tuple[list[Chunk], list[Chunk]]:
    """Tiles and composites."""
    chunks = chunk_document(document, DEFAULT.model_copy(update=settings))
    return [c for c in chunks if c.tiles is None], [c for c in chunks if c.tiles is not None]


def test_each_row_is_a_tile_and_header_rows_stay_with_the_first() -> None:
    tiles, _ = chunked(make_document(DRUGS), row_tokens=0)
    assert len(tiles) == 12
    assert tiles[0].text == ("Drug | IC50 | Ki\nPotency of inhibitors (nM) — Drug 0 | IC50: 10 | Ki: 5\n")
    assert tiles[3].text == "Potency of inhibitors (nM) — Drug 3 | IC50: 13 | Ki: 8\n"


def test_the_name_of_a_group_goes_with_its_first_row() -> None:
    tiles, _ = chunked(make_document(BALANCE), row_tokens=0)
    assert len(tiles) == 16
    (start,) = [tile for tile in tiles if "— Liabilities:\n" in tile.text]
    assert start.text.splitlines()[1].startswith("Balance sheets — Liabilities: / Debt 0 | 2023: 0,300")


def test_rows_are_merged_where_that_is_asked_for() -> None:
    merged, composites = chunked(make_document(DRUGS), row_tokens=80)
    assert 1 < len(merged) < 12
    assert [c.tiles for c in composites] == [(0, len(merged) - 1)]
    coarse, none = chunked(make_document(DRUGS), row_tokens=400)
    assert (len(coarse), none) == (1, []), "a table of one tile needs no composite"


def test_a_composite_says_title_and_headers_once() -> None:
    document = make_document(Heading("Results"), "Some prose.", DRUGS, "More prose.", title="Report")
    tiles, (composite,) = chunked(document, row_tokens=0)
    first, last = composite.reach
    assert composite.text == document.text[composite.start : composite.end]
    assert composite.text == "".join(tile.text for tile in tiles[first : last + 1])
    assert (composite.index, composite.kind, composite.header) == (len(tiles), "table", "Report › Results")
    lines = composite.grid.splitlines()
    assert lines[:3] == ["Potency of inhibitors (nM)", "Drug | IC50 | Ki", "Drug 0 | 10 | 5"]
    assert len(lines) == 14
    assert composite.index_text == f"Report › Results\n{composite.grid}"
    assert composite.passage == composite.index_text
    assert composite.tokens == count_tokens(composite.grid) < count_tokens(composite.text)


def test_a_long_table_has_even_row_groups_that_carry_title_headers_and_group() -> None:
    tiles, composites = chunked(make_document(BALANCE), max_tokens=110, row_tokens=0)
    assert len(composites) > 1
    assert [c.reach[0] for c in composites[1:]] == [c.reach[1] + 1 for c in composites[:-1]]
    assert (composites[0].reach[0], composites[-1].reach[1]) == (0, len(tiles) - 1)
    assert all(c.tokens <= 110 for c in composites)
    sizes = [c.reach[1] - c.reach[0] for c in composites]
    assert max(sizes) - min(sizes) <= 2
    for composite in composites:
        title, columns, group, *rows = composite.grid.splitlines()
        assert (title, columns) == ("Balance sheets", "2023 | 2022")
        assert group in ("Current assets:", "Liabilities:")
        assert len(rows) > 1


def test_a_header_longer_than_a_chunk_leaves_only_the_tiles() -> None:
    long = Grid("T", [["", "a very long name of a column " * 10, "2022"], ["x", "1", "2"], ["y", "3", "4"]])
    tiles, composites = chunked(make_document(long), max_tokens=60, row_tokens=0)
    assert composites == []
    assert all(tile.tokens <= 60 for tile in tiles)


def test_a_row_longer_than_a_chunk_is_cut_in_tiles_and_composites_alike() -> None:
    words = " ".join(f"w{n}" for n in range(120))
    grid = Grid("", [["a", "b"], ["x", "1"], ["y", "2"], ["z", words], ["p", "3"], ["q", "4"]])
    tiles, composites = chunked(make_document(grid), max_tokens=60, row_tokens=0)
    assert all(chunk.tokens <= 60 for chunk in (*tiles, *composites))
    assert len([tile for tile in tiles if "w" in tile.text]) > 3
    assert composites[0].grid.startswith("a | b\nx | 1\ny | 2")
    assert composites[-1].grid.endswith("p | 3\nq | 4")


def test_tiles_of_a_header_alone_are_no_composite() -> None:
    title = "every year of the plan for the next ten years of the whole big company here"
    grid = Grid(title, [[title] * 3, ["w" * 60, "1", "2"]])
    tiles, composites = chunked(make_document(grid), max_tokens=20, row_tokens=0)
    assert "w" * 8 not in "".join(tile.text for tile in tiles[:3]), "the header fills tiles of its own"
    assert all(len(composite.grid.splitlines()) > 1 for composite in composites), "each says more than the title"


def test_composites_can_be_left_out() -> None:
    tiles, composites = chunked(make_document(DRUGS), composites=False)
    assert tiles
    assert composites == []
