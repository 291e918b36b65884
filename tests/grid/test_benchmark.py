"""Known values of grids are well formed, and judged as their page says."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from benchmarks.grid import FILE, is_right
from ragcore.grid.columns import given_columns
from ragcore.types.grid import CellValue, Column

ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def test_documents_have_known_values_of_their_columns_in_both_halves() -> None:
    columns = {row["kind"]: given_columns(row["columns"]) for row in ROWS if "columns" in row}
    documents = [row for row in ROWS if "cells" in row]
    assert len({(row["kind"], row["document"]) for row in documents}) == len(documents)
    halves = Counter((row["kind"].rstrip(" 0123456789"), row["split"]) for row in documents)
    kinds = {kind for kind, _ in halves}
    assert set(halves) == {(kind, half) for kind in kinds for half in ("dev", "held")}
    for row in documents:
        assert set(row["cells"]) <= {column.name for column in columns[row["kind"]]}, row["document"]


@pytest.mark.parametrize(
    ("type_", "truth", "value", "right"),
    [
        ("value", {"value": 4795.511, "also": [4795.5]}, CellValue("4,795.5", 4795.5, "USD million"), True),
        ("value", {"value": 4795.5}, CellValue("4,795.5", 4795.5, "$"), False),
        ("value", {"value": 4795.5}, CellValue("5,854", 5854.0, "USD million"), False),
        ("value", {"value": 4795.5}, CellValue("(4,795.5)", -4795.5, "USD million"), True),
        ("value", {"value": 4795.5}, CellValue("-4,795.5", -4795.5, "USD million"), False),
        ("date", {"value": "1995-11"}, CellValue("", period="1995-11-30"), True),
        ("date", {"value": "1995-11-01"}, CellValue("", period="1995-12-01"), False),
        ("name", {"value": "KPMG LLP"}, CellValue("audited by KPMG LLP"), True),
        ("yes_no", {"value": "yes"}, CellValue("No"), False),
        ("list", {"values": ["Pet", "Asia", "Europe"]}, CellValue("Our Pet segment\nAsia"), True),
        ("list", {"values": ["Pet", "Asia", "Europe"]}, CellValue("Our Pet segment"), False),
    ],
)
def test_a_value_is_right_up_to_its_rounding_in_its_unit(type_: Any, truth: Any, value: CellValue, right: bool) -> None:
    unit = "USD million" if type_ == "value" else ""
    assert is_right(truth, Column("c", "Column", "", type_, unit), value) is right
