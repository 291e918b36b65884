"""Markdown of an answer as blocks and runs, with what stands at places of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.export.model import (
    Block,
    Break,
    Code,
    Heading,
    Items,
    NoteRef,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
    plain,
    references,
)
from ragcore.export.parse import Insert, parse


def marked(text: str) -> tuple[Block, ...]:
    """Every ``[n]`` a reference."""
    return parse(text, [Insert(m.start(), m.end(), (NoteRef(int(m[1])),)) for m in re.finditer(r"\[(\d+)\]", text)])


def test_looks_of_words() -> None:
    [paragraph] = parse("a **b *c*** `d` ~~e~~ [f](https://g.h/?a=1&b=2)  \ni\nj")
    assert isinstance(paragraph, Paragraph)
    assert paragraph.runs == (
        Text("a "),
        Text("b ", bold=True),
        Text("c", bold=True, italic=True),
        Text(" "),
        Text("d", code=True),
        Text(" "),
        Text("e", strike=True),
        Text(" "),
        Text("f", href="https://g.h/?a=1&b=2"),
        Break(),
        Text("i j"),
    )


def test_blocks() -> None:
    blocks = parse(
        "# A\n\n### B\n\n- one\n  1. in\n- two\n\n4) four\n\n> q\n\n```x\ncode\n```\n\n***\n\n"
        "| a | b |\n|:-:|--:|\n| c |"
    )
    assert blocks == (
        Heading(1, (Text("A"),)),
        Heading(3, (Text("B"),)),
        Items(
            ((Paragraph((Text("one"),)), Items(((Paragraph((Text("in"),)),),), start=1)), (Paragraph((Text("two"),)),))
        ),
        Items(((Paragraph((Text("four"),)),),), start=4),
        Quote((Paragraph((Text("q"),)),)),
        Code("code"),
        Rule(),
        Table((((Text("a"),), (Text("b"),)), ((Text("c"),), ())), ("center", "right"), 1),
    )


def test_the_highest_heading_gets_the_level_asked_for() -> None:
    levels = [block.level for block in parse("## A\n\n#### B\n\n# C", highest=3) if isinstance(block, Heading)]
    assert levels == [4, 6, 3]
    assert [block.level for block in parse("### A", highest=2) if isinstance(block, Heading)] == [2]


@pytest.mark.parametrize(
    "text",
    [
        "<b onclick='x'>bold</b>",
        "&amp; &copy; &#65;",
        "a < b",
        "[x]: http://a.b",
        "[1] and ⸨0⸩ and ⸨",
        "\\[2\\] \\* \\_",
    ],
)
def test_what_is_no_markup_of_ours_is_words(text: str) -> None:
    [paragraph] = parse(text)
    assert isinstance(paragraph, Paragraph)
    assert paragraph.runs == (Text(text.replace("\\", "")),)


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "//host/x", "x.html", "#a"]
)
def test_only_links_to_the_web_are_links(href: str) -> None:
    [paragraph] = parse(f"see [this]({href}) or ![that]({href})")
    assert isinstance(paragraph, Paragraph)
    assert all(isinstance(run, Text) and not run.href for run in paragraph.runs)
    assert "this" in plain(paragraph.runs)


def test_a_reference_takes_the_blank_before_it_and_no_mark_of_a_list() -> None:
    assert marked("Rose [1][2].") == (Paragraph((Text("Rose"), NoteRef(1), NoteRef(2), Text("."))),)
    assert marked("- [1] x") == (Items(((Paragraph((NoteRef(1), Text(" x"))),),)),)
    assert marked("**Bold [1].** x") == (
        Paragraph((Text("Bold", bold=True), NoteRef(1), Text(".", bold=True), Text(" x"))),
    )


@pytest.mark.parametrize(
    "text",
    [
        "`a [1] b`",
        "```\na [1] b\n```",
        "``` x [1]\na\n```",
        "[a [1] b](https://c.d)",
        "[a](https://c.d/[1])",
        "| a |\n|---|\n| b | c [1] |",
        "# a [1]",
        "> a [1]",
        "![a [1]](https://c.d)",
        "a\n===[1]",
        "    code [1]",
    ],
)
def test_a_reference_is_kept_wherever_it_stands(text: str) -> None:
    blocks = marked(text)
    assert list(references(blocks)) == [1]
    assert "⸨" not in repr(blocks)
    assert "%E2" not in repr(blocks)


SIGNS = (
    "**",
    "*",
    "_",
    "`",
    "```",
    "~~",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "> ",
    "# ",
    "|",
    "|---|---|\n",
    "    ",
    "  ",
    "\t",
)
WORDS = ("[", "](https://a.b)", "![", "<b>", "&amp;", "\\", "⸨", "⸩", "word", "Zahl 5", "中文", "שלום", "\x00", "[9]")
MARKDOWN = st.lists(st.sampled_from((*SIGNS, *WORDS)), max_size=40)


@given(MARKDOWN, st.data())
@example(["|", "word", "|", "\n", "|---|---|\n"], None)
def test_whatever_stands_around_them_every_insert_is_there_once(parts: list[str], data: st.DataObject | None) -> None:
    text = "".join(parts)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5))) if data else []
    inserts = [Insert(at, at, (NoteRef(number),)) for number, at in enumerate(places, start=1)]
    blocks = parse(text, inserts)
    assert sorted(references(blocks)) == list(range(1, len(places) + 1))
    if not set("⸨⸩") & set(text):
        assert "⸨" not in repr(blocks)
