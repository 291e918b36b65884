"""A draft's own arithmetic is held against it only where one reading of it is certain."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.check.arithmetic import inconsistencies, with_edits
from ragcore.check.draft import read_draft
from ragcore.types.check import Inconsistency

ROOT = Path(__file__).resolve().parents[2]


def found(*lines: str) -> list[tuple[str, str, str]]:
    """Kind, figure at fault and figure to write of each fault; a line of ``|`` is a row of a table."""
    return [(one.kind, text, one.write) for one, text in faults("\n".join(lines))]


def faults(text: str) -> list[tuple[Inconsistency, str]]:
    draft = read_draft("x.md", text.encode())
    return [(one, draft.text[one.start : one.end]) for one in inconsistencies(draft)]


def table(text: str) -> str:
    """Markdown of rows with cells between commas and blanks: ``Year 2023 2024``."""
    head, *rows = [[cell.strip() for cell in line.split(";")] for line in text.strip().splitlines()]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


RIGHT = [
    "Item;2023;2024\nWell;10.1;11.4\nPump;20.3;22.2\nTotal;30.4;33.6",
    # off by rounding alone
    "Item;2023\nA;10.4\nB;10.4\nC;10.4\nTotal;31.1",
    "Item;2023;2024\nA;1;2\nB;3;4\nTotal assets;4;6\nC;5;5\nD;1;2\nTotal liabilities;6;7\nGrand total;10;13",
    "Item;2023\nRevenue;100\nCosts;(60)\nTotal;40",
    # A total that leaves out rows, and ratios called totals
    "Customer;Revenue\nFirst;50\nSecond;20\nTotal company;400",
    "Item;Units;Price\nA;10;2.5\nB;20;3.5\nTotal;30;3.2",
    "Return;2023;2024\nEquity;10.1%;4.5%\nBonds;3.2%;4.0%\nTotal return;8.0%;4.4%",
    "Ratio;2024\nDebt;2.1x\nLease;0.4x\nTotal debt to EBITDA;3.9x",
    "Item;2023;2024;Change\nA;10;12;20%\nB;20;25;25%",
    "Item;2023;2024;Change\nA;10;12;2\nB;20;18;(2)",
    "Item;2023;2024;Growth\nA;10;12;n/a\nB;20;25;5%\nC;4;9;7%",
    "Item;2024;Share\nA;10;25%\nB;30;75%\nTotal;40;100%",
    "Item;2024;Share\nA;10;12%\nB;30;9%\nTotal;40;21%",
    "Quarter;Q1;Q2;Total\nA;1;2;3\nB;4;5;9\nTotal;5;7;12",
]


@pytest.mark.parametrize("text", RIGHT)
def test_a_table_that_adds_up_or_fits_no_reading_is_left_alone(text: str) -> None:
    assert found(table(text)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Item;2023\nWell;1,200\nPump;2,340\nTotal;3,450", ("total", "3,450", "3,540")),
        ("Item;2023;2024\nWell;$10.1;$11.4\nPump;$20.3;$22.2\nTotal;$30.4;$36.6", ("total", "$36.6", "$33.6")),
        ("Item;2023;2024\nA;10;20\nB;30;40\nTotal;40;70", ("total", "70", "60")),
        ("Item;2023;2024\nCosts;(10);(20)\nFees;(5);(7)\nTotal;(15);(30)", ("total", "(30)", "(27)")),
        ("Quarter;Q1;Q2;Total\nA;10;20;30\nB;40;60;90\nTotal;50;70;120", ("total", "60", "50")),
        ("Quarter;Q1;Q2;Total\nA;10;20;30\nB;40;50;90\nTotal;50;70;130", ("total", "130", "120")),
        ("Item;2023;2024;Change\nA;10;12;20%\nB;20;25;25%\nC;40;50;15%", ("difference", "15%", "25%")),
        ("Item;2023;2024;Change\nA;10;12;2\nB;20;18;(2)\nC;30;37;9", ("difference", "9", "7")),
        ("Item;2024;Share\nA;10;20.0%\nB;15;30.0%\nC;25;55.0%\nTotal;50;", ("share", "55.0%", "50.0%")),
    ],
)
def test_a_figure_that_the_table_itself_contradicts_is_found(text: str, expected: tuple[str, str, str]) -> None:
    assert found(table(text)) == [expected]


def test_a_fault_names_the_figures_that_it_follows_from() -> None:
    text = table("Item;2023;2024\nA;10;20\nB;30;40\nTotal;40;70")
    [(fault, _)] = faults(text)
    draft = read_draft("x.md", text.encode())
    assert [draft.text[start:end] for start, end in fault.others] == ["20", "40"]
    assert "60" in fault.reason


@pytest.mark.parametrize(
    "text",
    [
        "Net income rose from $15.3 million to $18.9 million, up 24%.",
        "Net income rose to $18.9 million from $15.3 million, an increase of 23.5%.",
        "Net income rose from $15.3 million to $18.9 million, up about 20%.",
        "Net income rose from $15.3 million to $18.9 million, up 20% on an organic basis.",
        "Net income grew from $15.3 million to $18.9 million, or 7% a year.",
        "Net income rose from $15.3 million to $18.9 million, 24% of the group's.",
        "Its margin rose from 12% to 15% while costs rose 3%.",
        "Costs fell from $20 million to $15 million, down 25%.",
        "Revenue rose from £2,410 thousand in 2023 to £3,120 thousand in 2024, up 29%.",
        "Revenue rose from £2,410 thousand in 2023 (and £1,000 thousand before) to £3,120 thousand, up 35%.",
        "It grew from 2 plants to 3 countries, up 80%.",
    ],
)
def test_a_change_that_is_told_rightly_or_otherwise_is_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "wrong", "write"),
    [
        ("Net income rose from $15.3 million to $18.9 million, up 34%.", "34%", "24%"),
        ("Net income rose to $18.9 million from $15.3 million, an increase of 32.5%.", "32.5%", "23.5%"),
        ("Costs fell from €20 million to €15 million, a decrease of 20%.", "20%", "25%"),
        ("Revenue rose from £2,410 thousand in 2023 to £3,120 thousand in 2024, up 35%.", "35%", "29%"),
    ],
)
def test_a_change_that_its_own_figures_contradict_is_found(text: str, wrong: str, write: str) -> None:
    assert found(text) == [("difference", wrong, write)]


def test_a_figure_given_twice_differently_is_found() -> None:
    said = "Revenue was $142.6 million in 2025."
    assert found(said, "", "In 2025 revenue was $146.2 million.") == [("twice", "$146.2 million", "")]
    assert found(said, "", table("$ million;2024;2025\nRevenue;130.8;146.2")) == [("twice", "$142.6 million", "")]


@pytest.mark.parametrize(
    "other",
    [
        "In 2025 revenue was $143 million.",
        "Revenue was $130.8 million in 2024.",
        "Revenue in 2025 rose by $11.8 million.",
        "Revenue was more than $100 million in 2025.",
        "European revenue was $40.0 million in 2025.",
        "# Europe\n\nRevenue was $40.0 million in 2025.",
        table("$ million;2024;2025\nRevenue;130.8;142.6"),
        table("$ million;2024;2025\nRevenue;131;143"),
        table("$ thousand;2024;2025\nRevenue;130,800;142,600"),
    ],
)
def test_figures_that_agree_or_are_of_something_else_are_no_fault(other: str) -> None:
    assert found("Revenue was $142.6 million in 2025.", "", other) == []


@pytest.mark.parametrize(
    "path", sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")]), ids=lambda path: path.name
)
def test_true_text_is_never_at_fault(path: Path) -> None:
    assert faults(path.read_text("utf-8")) == []


@given(st.lists(st.lists(st.integers(-999, 9999), min_size=3, max_size=3), min_size=2, max_size=6), st.integers(0, 2))
def test_columns_that_add_up_never_are(rows: list[list[int]], decimals: int) -> None:
    scale = 10**decimals
    lines = [[f"R{n}", *(f"{value / scale:,.{decimals}f}" for value in row)] for n, row in enumerate(rows)]
    total = ["Total", *(f"{sum(column) / scale:,.{decimals}f}" for column in zip(*rows))]
    text = "\n".join(";".join(line) for line in [["Item", "a", "b", "c"], *lines, total])
    assert found(table(text)) == []


def test_a_table_of_totals_alone_takes_no_long_time() -> None:
    began = time.process_time()
    assert found(table("Item;2023;2024\n" + "\n".join(f"Total;{n};{n + 1}" for n in range(800)))) == []
    assert time.process_time() - began < 10


EDITED = """The wells were dear. In 2021 the margin was 12.0%.

| Site | Rings |
|---|---|
| Leuven | 70.2 |
| Bergen | 2.8 |
| Total | 75.0 |

In 2021 the margin was 14.0%. They said so.
"""


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({}, {"75.0": "73.0", "14.0%": ""}),
        ({"The wells were dear.": "No."}, {"75.0": "73.0", "14.0%": ""}),
        ({"2.8": "4.8"}, {"14.0%": ""}),
        ({"The wells were dear.": "They were very dear indeed.", "70.2": "70.5"}, {"75.0": "73.3", "14.0%": ""}),
        ({"In 2021 the margin was 12.0%.": "In 2021 the margin was 14.0%."}, {"75.0": "73.0"}),
        ({"75.0": "73.0", "They said so.": "Yes."}, {"14.0%": ""}),
        ({"75.0": "76.0"}, {"75.0": "73.0", "14.0%": ""}),
        ({"75.0": "73.0", "In 2021 the margin was 14.0%.": "In 2021 the margin was 12.0%."}, {}),
    ],
)
def test_figures_are_recomputed_with_what_was_edited(edits: dict[str, str], told: dict[str, str]) -> None:
    draft = read_draft("x.md", EDITED.encode())
    at = {words: draft.text.index(words) for words in edits}
    places = sorted((start, start + len(words), edits[words]) for words, start in at.items())
    found = with_edits(draft, places)
    assert {draft.text[one.start : one.end]: one.write for one in found} == told
    for one in found:
        assert all(draft.text[start:end] for start, end in one.others)
    assert with_edits(draft, []) == inconsistencies(draft)


@pytest.mark.parametrize("total", ["105", "100"])
def test_what_was_edited_is_held_against_the_arithmetic_again(total: str) -> None:
    draft = read_draft("x.md", f"| Part | 2021 |\n|---|---|\n| A | 60 |\n| B | 40 |\n| Total | {total} |\n".encode())
    start = draft.text.index(total)
    [found] = with_edits(draft, [(start, start + 3, "104")])
    assert (found.start, found.end, found.write) == (start, start + 3, "100")
    assert "not to 104" in found.reason
    assert with_edits(draft, [(start, start + 3, "100")]) == ()


def test_the_figure_of_an_edited_sentence_is_written_within_its_words() -> None:
    draft = read_draft("x.md", b"Yes. Sales fell. They did.")
    start = draft.text.index("Sales")
    said = "Sales rose from $10.0 million to $12.0 million, up 25%, they say."
    [found] = with_edits(draft, [(0, 4, "Indeed."), (start, start + 11, said)])
    assert (found.start, found.end) == (start, start + 11)
    assert found.write == said.replace("25", "20")
