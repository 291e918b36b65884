"""Footnote marks: set off from the value, known to the cell, and never part of a number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragcore.config.settings import Settings
from ragcore.ingest.canonical import Ref
from ragcore.ingest.layout import GLUED, SUPERSCRIPT
from ragcore.ingest.tables.cells import count_marks, tail
from ragcore.ingest.tables.draft import Draft, DraftCell
from ragcore.types import Cell, Document
from tests.ingest.conftest import Build
from tests.ingest.test_table_rules import page_with_table, read


def cell_of(words: list[tuple[str, bool]]) -> DraftCell:
    """A cell of these words; a raised one is small, high and glued to the one before."""
    page = page_with_table([[" ".join(text for text, _raised in words), "x"], ["y", "z"]], 0)
    boxes, sizes, flags = page.boxes.copy(), page.sizes.copy(), page.flags.copy()
    x = 50.0
    for index, (text, raised) in enumerate(words):
        boxes[index] = (x, 50, x + 5 * len(text), 55) if raised else (x, 50, x + 5 * len(text), 60)
        sizes[index], flags[index] = (6.0, SUPERSCRIPT | GLUED) if raised else (10.0, 0)
        x += 5 * len(text) + (0 if raised else 3)
    page = replace(page, boxes=boxes, sizes=sizes, flags=flags)
    return DraftCell(0, 0, 1, 1, False, [tuple(Ref(page, index) for index in range(len(words)))])


def marks_of(words: list[tuple[str, bool]]) -> list[str]:
    cell = cell_of(words)
    count_marks(Draft(1, 1, [cell], []))
    return [word.text for word in cell.words[len(cell.words) - cell.marks :]]


@pytest.mark.parametrize(
    ("words", "marks"),
    [
        ([("1,234", False), ("2", True)], ["2"]),
        ([("(56)", False), ("a", True)], ["a"]),
        ([("$", False), ("8.4", False), ("1,2", True)], ["1,2"]),
        ([("Revenue", False), ("b", True)], ["b"]),
        ([("910", False), ("*", False)], ["*"]),
        ([("Loans", False), ("(a)", False), ("(b)", False)], ["(a)", "(b)"]),
        ([("Area", False), ("m", False), ("2", True)], []),
        ([("Phase", False), ("I", False), ("1", True)], ["1"]),
        ([("Phase", False), ("I", False), ("2", True)], ["2"]),
        ([("Vitamin", False), ("R", False), ("1", True)], ["1"]),
        ([("Adjusted", False), ("R", False), ("2", True)], []),
        ([("9.8", False), ("m", False), ("/", False), ("s", False), ("2", True)], []),
        ([("kg", False), ("m/s", False), ("2", True)], []),
        ([("4.2", False), ("×", False), ("10", False), ("6", True)], []),
        ([("15", False), ("(36)", False)], []),
        ([("(5)", False)], []),
        ([("*", False)], []),
    ],
)
def test_what_is_a_mark(words: list[tuple[str, bool]], marks: list[str]) -> None:
    assert marks_of(words) == marks


@pytest.mark.parametrize(
    ("text", "count"), [("4.5*", 1), ("1,234†", 1), ("Total(a)", 3), ("f(1)", 0), ("100%", 0), ("*", 0)]
)
def test_marks_set_level_in_one_word(text: str, count: int) -> None:
    assert tail(cell_of([(text, False)]).words[0]) == count


def texts(document: Document, cell: Cell) -> tuple[str, str]:
    mark = "" if cell.mark is None else document.text[slice(*cell.mark)].strip()
    return document.text[cell.start : cell.value_end], mark


def test_a_raised_mark_is_no_part_of_the_number(build: Build) -> None:
    document = build("marked_table")
    (table,) = [e.table for e in document.elements if e.table is not None]
    last = {c.row: texts(document, c) for c in table.cells if c.col == 2 and not c.header}
    assert last == {1: ("1,234", "2"), 2: ("(56)", "a"), 3: ("78", ""), 4: ("910", "*")}
    assert "1,2342" not in document.text
    labels = [texts(document, c) for c in table.cells if c.col == 0 and not c.header]
    assert ("Area in m2", "") in labels
    assert "2 Restated after the audit" not in "".join(document.text[s:e] for s, e in table.row_spans)


def test_a_letter_far_down_the_alphabet_alone_is_a_unit(settings: Settings) -> None:
    rows = [["Year", "Apples (t)", "Costs (a)"], ["2023", "410", "38"], ["2024", "287", "22"]]
    _, _, lines = read(settings, rows, 1)
    assert lines[1] == "2023 | Apples (t): 410 | Costs: 38"


def test_headers_are_repeated_without_their_marks(settings: Settings) -> None:
    rows = [["Item", "Sales (a)", "Costs"], ["North", "410", "38"], ["South", "287", "22"]]
    document, _table, lines = read(settings, rows, 1)
    assert lines[0] == "Item | Sales (a) | Costs"
    assert lines[1] == "North | Sales: 410 | Costs: 38"
    assert document.text.count("(a)") == 1
