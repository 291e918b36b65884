"""The edges of the ADE import: what is taken and refused, Markdown and HTML as pieces and grids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import BadAdeJson, TooManyPages
from ragcore.ingest.ade.markup import HtmlTable, pieces
from ragcore.ingest.ade.source import is_json, looks_like_ade, read_ade
from tests.ade import ade, chunk, report, share, table_html

TEXT = chunk("text", "Words.", (70, 90, 300, 120))


def changed(**more: Any) -> bytes:
    return ade([TEXT | more])


BAD: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{nonsense", "is not JSON: "),
    "cut off": (report().json[:-40], "is not JSON: "),
    "nothing but a list": (b"[]", "not what LandingAI"),
    "other JSON": (b'{"name": "package"}', "not what LandingAI"),
    "no chunks in it": (ade([]), "chunks is empty"),
    "chunks are no list": (b'{"chunks": {"a": 1}}', "at chunks: "),
    "a chunk without Markdown": (changed(markdown=None), "at chunks[0].markdown: "),
    "a chunk without end": (changed(markdown="word " * 200_000), "at chunks[0].markdown: string should have at most"),
    "a box in points": (
        changed(grounding={"page": 0, "box": {"left": 70, "top": 0.1, "right": 300, "bottom": 0.2}}),
        "at chunks[0].grounding.box.left: input should be less than or equal to 1.02",
    ),
    "a box inside out": (
        changed(grounding={"page": 0, "box": {"left": 0.5, "top": 0.1, "right": 0.2, "bottom": 0.2}}),
        "at chunks[0].grounding.box: its right or bottom edge",
    ),
    "a box that is no number": (
        changed(grounding={"page": 0, "box": {"left": "x", "top": 0.1, "right": 0.2, "bottom": 0.2}}),
        "at chunks[0].grounding.box.left: ",
    ),
    "half a box": (changed(grounding={"page": 0, "box": {"left": 0.1}}), "at chunks[0].grounding.box.top: "),
    "a page before the first": (changed(grounding=TEXT["grounding"] | {"page": -1}), "at chunks[0].grounding.page: "),
    "a page after the last": (changed(grounding=TEXT["grounding"] | {"page": 1}), "a chunk on page 2, and"),
    "no place": (json.dumps({"chunks": [TEXT | {"grounding": None}]}).encode(), "chunks[0] has no grounding"),
    "a cell outside": (ade([TEXT], {"0-1": (0, 0, 9000, 10)}), "at grounding.0-1.box.right: "),
    "not UTF-8": (b'{"chunks": "\xff"}', "is not JSON: "),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_json_gets_one_line_that_names_the_place(case: str) -> None:
    data, place = BAD[case]
    with pytest.raises(BadAdeJson) as caught:
        read_ade(data, "bill.json")
    message = caught.value.message
    assert message.startswith("bill.json")
    assert place in message
    assert "\n" not in message
    assert len(message) < 220
    assert caught.value.hint


def test_what_is_said_of_the_pages() -> None:
    read = read_ade(report().json, "report.json")
    assert (read.pages, sorted(read.chunks), read.failed) == (2, [1, 2], False)
    assert read.boxes["0-6"][0] == 1
    with pytest.raises(TooManyPages):
        read_ade(report().json, "report.json", max_pages=1)


def test_what_only_other_versions_write_is_tolerated() -> None:
    first = json.loads(report().json)
    del first["splits"], first["metadata"]["failed_pages"]
    first["metadata"]["version"] = "dpt-2-20250919"
    assert read_ade(json.dumps(first).encode(), "a").pages == 2
    # A finished parse job wraps the answer.
    assert len(read_ade(json.dumps({"status": "completed", "data": first}).encode(), "a").chunks[1]) == 7
    bare = {"chunks": [TEXT | {"grounding": {"page": 2, "box": share((-3, 0, 613, 792))}}]}
    read = read_ade(b"\xef\xbb\xbf" + json.dumps(bare).encode(), "a")
    assert (read.pages, read.chunks[3][0].box) == (3, (0.0, 0.0, 1.0, 1.0))


def test_a_file_is_json_by_what_it_begins_with_then_by_its_name(tmp_path: Path) -> None:
    assert is_json(report().json, "upload")
    assert is_json(b"\xef\xbb\xbf\n{}", "upload")
    assert is_json(b"nonsense", "a.JSON")
    assert not is_json(report().pdf, "a.json")
    assert not is_json(b"%PDF-1.7", "a.pdf")
    for name, data, wanted in (
        ("ade", report().json, True),
        ("broken", report().json[:-40], True),
        ("other", b'{"chunks": 1}', False),
        ("empty", b"", False),
    ):
        (tmp_path / name).write_bytes(data)
        assert looks_like_ade(tmp_path / name) is wanted


def test_markdown_becomes_headings_paragraphs_and_items() -> None:
    found = pieces(
        "<a id='x'></a>\n\n# **Terms** of _use_\\n\\nPay in 5 days\nor <u>less</u> &amp; win.\n\n"
        "3. First\n   - inner\n7. Second\n\n---\nTotal: $5\\*\n> 5 days\n<!-- PAGE BREAK -->"
    )
    assert [(piece.kind, piece.level, piece.lines) for piece in found] == [
        ("section-header", 1, ("Terms of use",)),
        ("text", 0, ("Pay in 5 days", "or less & win.")),
        ("list-item", 0, ("3. First",)),
        ("list-item", 0, ("• inner",)),
        ("list-item", 0, ("7. Second",)),
        ("text", 0, ("Total: $5*", "> 5 days")),
    ]


def test_what_ade_says_in_its_own_words_is_a_piece_of_its_own() -> None:
    found = pieces("Paid <::a stamp, red\n: figure::> in May\n\n<::unclosed")
    assert [(piece.kind, piece.lines) for piece in found] == [
        ("text", ("Paid",)),
        ("picture", ("a stamp, red",)),
        ("text", ("in May",)),
        ("picture", ("unclosed",)),
    ]
    assert pieces("CAPTION ERROR") == []
    assert pieces("<a id='x'></a>\n\n") == []


def test_tables_are_cut_out_of_the_markdown_whole() -> None:
    found = pieces("Before\n<table><tr><td>a</td></tr></table>\nbetween <table><tr><td>\n\nd")
    assert [piece.kind for piece in found] == ["text", "table", "text", "table"]
    assert HtmlTable(found[1].html).cells[0].lines == ("a",)
    assert HtmlTable(found[3].html).cells[0].lines == ("d",)


def test_a_table_is_laid_out_by_the_rules_of_html() -> None:
    table = HtmlTable(table_html()[0])
    assert (table.key, table.rows, table.columns) == ("0-1", 4, 3)
    assert [(c.row, c.col, c.row_span, c.col_span, c.header) for c in table.cells[:4]] == [
        (0, 0, 2, 1, True),
        (0, 1, 1, 2, True),
        (1, 1, 1, 1, True),
        (1, 2, 1, 1, True),
    ]
    assert [" ".join(c.lines) for c in table.cells if c.row == 3] == ["Mill Bridge", "12.0", "11.6"]
    slips = HtmlTable(
        "<table><tr><td>p &lt;0.05<td rowspan=2>b<tr><td colspan='3'>c</td></tr><tr><td rowspan=999999999>d</table>"
    )
    assert [(c.row, c.col, c.row_span, c.col_span, c.lines) for c in slips.cells] == [
        (0, 0, 1, 1, ("p <0.05",)),
        (0, 1, 2, 1, ("b",)),
        (1, 0, 1, 1, ("c",)),  # cut where it would run into what reaches down from above
        (2, 0, 1, 1, ("d",)),
    ]


TAGS = ["<table>", "</table>", "<tr>", "</tr>", "<td>", "<td rowspan=3>", "<th colspan=2>", "</td>", "<thead>", "<br>"]
MARKS = ["a ", "<b", "<::", "::>", "\n\n", "# ", "* ", "1. ", "word ", "&lt;", "**", "`"]
markup = st.lists(st.sampled_from(TAGS + MARKS), max_size=40)


@given(markup)
def test_any_markup_gives_lines_and_grids_without_overlap(parts: list[str]) -> None:
    for piece in pieces("".join(parts)):
        assert all(line and line == " ".join(line.split()) for line in piece.lines)
        if piece.kind == "table":
            table = HtmlTable(piece.html)
            taken = [
                (row, col)
                for c in table.cells
                for row in range(c.row, c.row + c.row_span)
                for col in range(c.col, c.col + c.col_span)
            ]
            assert len(taken) == len(set(taken))
            assert all(row < table.rows and col < table.columns for row, col in taken)
