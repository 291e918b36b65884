"""Drawn rules against a table's grid: boxed cells are joined and kept as the rules say, underlined headers reach."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pymupdf
from hypothesis import given
from hypothesis import strategies as st

from ragcore.config.settings import Settings
from ragcore.ingest.blocks import page_blocks
from ragcore.ingest.layout import Grid, PageLayout
from ragcore.ingest.rulings import Drawn, divides, rule_tables, rulings
from ragcore.ingest.tables.cells import draft_table
from tests.ingest.test_table_pages import built, tables_of
from tests.ingest.test_table_rules import HEIGHT, WIDTH, page_with_table

BLACK, WHITE = 0x000000, 0xFFFFFF
LEFT, TOP = 50.0, 50.0


def across(row: int, first: int, end: int, color: int = BLACK) -> Drawn:
    """A rule above grid row ``row`` from column ``first`` to ``end``."""
    y = TOP + row * HEIGHT - 1.5
    return Drawn((LEFT + first * WIDTH, y, LEFT + end * WIDTH, y + 0.5), color, False)


def down(col: int, first: int, end: int, color: int = BLACK) -> Drawn:
    """A rule left of grid column ``col`` from row ``first`` to ``end``."""
    x = LEFT + col * WIDTH
    return Drawn((x, TOP + first * HEIGHT - 1.5, x + 0.5, TOP + end * HEIGHT - 1.5), color, False)


def grid_of(page: PageLayout) -> Grid:
    (grid,) = [region.grid for region in page.regions if region.grid is not None]
    return grid


def spans(page: PageLayout) -> set[tuple[int, int, int, int]]:
    return {(c.row, c.col, c.row_span, c.col_span) for c in grid_of(page).cells if (c.row_span, c.col_span) != (1, 1)}


def test_printed_lines_of_a_boxed_cell_are_one_row(settings: Settings) -> None:
    rows = [["Group", "Butter"], ["Besnier", "Bridel 4.4%"], ["", "President 13.5%"], ["Cema", "Elle 6.7%"]]
    page = page_with_table(rows, 1)
    rules = [across(r, 0, 2) for r in (0, 1, 3, 4)] + [down(c, 0, 4) for c in range(3)]
    ruled = rule_tables(page, rulings(rules))
    assert grid_of(ruled).rows == 3
    (table,) = tables_of(document := built(settings, ruled))
    texts = [document.text[c.start : c.end] for c in table.cells]
    assert texts == ["Group", "Butter", "Besnier", "Bridel 4.4% President 13.5%", "Cema", "Elle 6.7%"]


def test_values_over_values_stay_rows_though_they_share_a_box() -> None:
    rows = [["Year", "Men", "Women"], ["1991", "11.0", "6.6"], ["1996", "9.5", "5.3"], ["2001", "7.5", "3.7"]]
    rules = [across(r, 0, 3) for r in (0, 1, 2, 4)] + [down(c, 0, 4) for c in range(4)]
    assert grid_of(rule_tables(page_with_table(rows, 1), rulings(rules))).rows == 4


def test_a_label_reaches_over_the_rows_that_no_rule_divides_beside_it() -> None:
    rows = [
        ["Year", "Who", "Share"],
        ["", "Men", "11.0"],
        ["1991", "Women", "6.6"],
        ["", "Men", "9.5"],
        ["1996", "Women", "5"],
    ]
    rules = [across(r, 0 if r in (0, 1, 3, 5) else 1, 3) for r in range(6)] + [down(c, 0, 5) for c in range(4)]
    page = rule_tables(page_with_table(rows, 1), rulings(rules))
    assert spans(page) == {(1, 0, 2, 1), (3, 0, 2, 1)}


def test_a_header_reaches_over_the_columns_that_no_rule_divides_below_it() -> None:
    rows = [
        ["", "Revenue", "", "Profit", ""],
        ["Region", "2022", "2023", "2022", "2023"],
        ["North", "1", "2", "3", "4"],
    ]
    rules = [across(r, 0, 5) for r in range(4)] + [down(c, 0 if c not in (2, 4) else 1, 3) for c in range(6)]
    page = rule_tables(page_with_table(rows, 2), rulings(rules))
    assert spans(page) == {(0, 1, 1, 2), (0, 3, 1, 2)}


def test_a_rule_under_a_header_shows_which_columns_it_names(settings: Settings) -> None:
    rows = [
        ["", "Assets", "", "Costs"],
        ["Region", "Land", "Ships", "Wages"],
        ["North", "1", "2", "3"],
        ["South", "4", "5", "6"],
    ]
    rules = [across(0, 0, 4), across(1, 1, 3), across(2, 0, 4), across(4, 0, 4)]
    page = rule_tables(page_with_table(rows, 2), rulings(rules))
    assert spans(page) == {(0, 1, 1, 2)}
    document = built(settings, page)
    (table,) = tables_of(document)
    start, end = table.row_spans[0]
    assert "Assets / Land: 1 | Assets / Ships: 2" in document.text[start:end]


def test_pieces_of_a_light_background_are_no_rules() -> None:
    rows = [["Group", "Butter"], ["Besnier", "Bridel"], ["", "President"], ["Cema", "Elle"]]
    area = Drawn((LEFT, TOP, LEFT + WIDTH, TOP + HEIGHT), WHITE, False)
    rules = [across(r, 0, 2, WHITE) for r in (0, 1, 3, 4)] + [down(c, 0, 4, WHITE) for c in range(3)]
    page = page_with_table(rows, 1)
    assert grid_of(rule_tables(page, rulings([area, *rules]))) == grid_of(page)


def test_outlines_are_four_rules() -> None:
    found = rulings([Drawn((10, 20, 110, 60), BLACK, True)])
    assert sorted(found.across.tolist()) == [[20, 10, 110], [60, 10, 110]]
    assert sorted(found.down.tolist()) == [[10, 20, 60], [110, 20, 60]]


def test_a_table_without_rules_stays_as_it_is() -> None:
    page = page_with_table([["a", "b"], ["c", "d"]], 1)
    assert rule_tables(page, rulings([])) is page


def test_cells_over_columns_in_one_of_two_joined_rows_leave_the_grid_as_it_is() -> None:
    page = page_with_table([["Group", "Butter"], ["Besnier", "Bridel"], ["x", "President"], ["Cema", "Elle"]], 1)
    (region,) = page.regions
    assert region.grid is not None
    wide = [replace(c, col_span=2) if (c.row, c.col) == (1, 0) else c for c in region.grid.cells]
    grid = replace(region.grid, cells=tuple(c for c in wide if (c.row, c.col) != (1, 1)))
    page = replace(page, regions=(replace(region, grid=grid),))
    rules = [across(r, 0, 2) for r in (0, 1, 3, 4)] + [down(c, 0, 4) for c in range(3)]
    assert grid_of(rule_tables(page, rulings(rules))).rows == 4


cells = st.sampled_from(["", "a", "12", "(5)", "two words", "$", "x1", "Total", "*", "(a)", "2023"])
grids = st.integers(1, 6).flatmap(
    lambda columns: st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=1, max_size=6)
)


@given(grids, st.integers(0, 6), st.randoms(use_true_random=False))
def test_whatever_is_ruled_no_word_is_lost_and_no_cell_leaves_the_grid(
    rows: list[list[str]], header_rows: int, random: Random
) -> None:
    page = page_with_table(rows, header_rows)
    height, width = len(rows), len(rows[0])
    edges = [across(r, c, c + 1) for r in range(height + 1) for c in range(width)]
    edges += [down(c, r, r + 1) for c in range(width + 1) for r in range(height)]
    ruled = rule_tables(page, rulings([edge for edge in edges if random.random() < 0.85]))
    for block in page_blocks(ruled):
        draft = draft_table(block)
        if draft is None:
            continue
        assert sorted(w.index for c in draft.cells for w in c.words) == sorted(w.index for w in block.words)
        slots = [
            (r, c) for cell in draft.cells if cell.lines for r in range(cell.row, cell.end_row) for c in cell.columns
        ]
        assert all(0 <= r < draft.rows and 0 <= c < draft.columns for r, c in slots)


GRID = st.integers(0, 6).map(lambda n: 60.0 + 40 * n)
NUDGES = st.sampled_from([0.0, 0.0, 0.0, 0.4, 1.5, 2.9, 3.1])
SHAPES = st.tuples(st.sampled_from(["rule", "side", "box", "area", "bar", "path"]), GRID, GRID, GRID, GRID, NUDGES)


def drawn_page(shapes: list[tuple[str, float, float, float, float, float]]) -> pymupdf.Page:
    """Page with text everywhere, and shapes on a coarse grid, each a little off it."""
    page = pymupdf.open().new_page(width=400, height=400)
    for y in range(55, 350, 20):
        page.insert_text((50, y), "a b c d e f g h i k l m n", fontsize=9)
    shape = page.new_shape()
    for kind, x0, y0, x1, y1, nudge in shapes:
        x0, y0 = x0 + nudge, y0 + nudge
        match kind:
            case "rule":
                shape.draw_line((x0, y0), (x1, y0 + nudge))
            case "side":
                shape.draw_line((x0, y0), (x0 + nudge, y1))
            case "bar":
                shape.draw_rect((x0, y0, x0 + nudge, y1))
            case "path":
                shape.draw_polyline([(x0, y0), (x1, y0), (x1, y1)])
            case _:
                shape.draw_rect(pymupdf.Rect(x0, y0, x1, y1).normalize())
        filled = (0, 0, 0) if kind in ("area", "bar") else None
        shape.finish(color=None if filled else (0, 0, 0), fill=filled, closePath=kind == "path")
    shape.commit()
    return page


@given(st.lists(SHAPES, max_size=9))
def test_the_finder_finds_nothing_where_no_columns_are_drawn(shapes: list[Any]) -> None:
    page = drawn_page(shapes)
    if not divides(page.get_drawings()):
        assert page.find_tables(strategy="lines_strict", use_layout=False).tables == []


def test_rules_and_a_frame_divide_nothing_and_a_grid_does() -> None:
    rules = [("rule", 60.0, y, x, y, 0.0) for y, x in ((100.0, 180.0), (140.0, 220.0), (180.0, 300.0))]
    assert not divides(drawn_page([*rules, ("area", 60.0, 220.0, 180.0, 260.0, 0.0)]).get_drawings())
    grid = [(kind, 60.0 + 40 * n, 60.0 + 40 * n, 140.0, 140.0, 0.0) for n in range(3) for kind in ("rule", "side")]
    page = drawn_page([("box", 60.0, 60.0, 140.0, 140.0, 0.0), ("side", 100.0, 60.0, 100.0, 140.0, 0.0), *grid])
    assert page.find_tables(strategy="lines_strict", use_layout=False).tables
    assert divides(page.get_drawings())
