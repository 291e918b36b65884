"""Markdown of an answer as a tree, with what stands at places of it; and Markdown files that read back as that tree."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.config.settings import load
from ragcore.export.markdown import Insert, parse
from ragcore.export.pandoc import write_markdown as write
from ragcore.export.tree import (
    Manuscript,
    Nodes,
    attributes,
    heading,
    node,
    paragraph,
    plain,
    references,
    rewritten,
    rows,
    walk,
    words,
)
from tests.export import samples

SETTINGS = load(environ={})[0].export


def marked(text: str) -> Nodes:
    """Every ``[n]`` a reference."""
    marks = re.finditer(r"\[(\d+)\]", text)
    return parse(text, [Insert(match.start(), match.end(), [node("Ref", int(match[1]))]) for match in marks])


def test_looks_of_words() -> None:
    [found] = parse("a **b *c*** `d e` ~~f~~ [g](https://g.h/?a=1&b=2)  \ni\nj")
    link = node("Link", attributes(), words("g"), ["https://g.h/?a=1&b=2", ""])
    strong = node("Strong", [*words("b "), node("Emph", words("c"))])
    code, struck = node("Code", attributes(), "d e"), node("Strikeout", words("f"))
    blank = node("Space")
    assert found == node(
        "Para", [*words("a "), strong, blank, code, blank, struck, blank, link, node("LineBreak"), *words("i j")]
    )


def test_blocks() -> None:
    *blocks, table = parse(
        "# A\n\n### B\n\n- one\n  1. in\n- two\n\n4) four\n\n> q\n\n```x\ncode\n```\n\n***\n\n"
        "| a | b |\n|:-:|--:|\n| c |"
    )

    def numbered(start: int, text: str) -> Any:
        return node("OrderedList", [start, node("Decimal"), node("Period")], [[node("Plain", words(text))]])

    assert blocks == [
        heading(1, "A"),
        heading(3, "B"),
        node("BulletList", [[node("Plain", words("one")), numbered(1, "in")], [node("Plain", words("two"))]]),
        numbered(4, "four"),
        node("BlockQuote", [paragraph("q")]),
        node("CodeBlock", attributes(), "code"),
        node("HorizontalRule"),
    ]
    assert [[plain(cell) for cell in row] for row in rows(table)] == [["a", "b"], ["c", ""]]
    assert [align["t"] for align, _ in table["c"][2]] == ["AlignCenter", "AlignRight"]


def test_the_highest_heading_gets_the_level_asked_for() -> None:
    assert [block["c"][0] for block in parse("## A\n\n#### B\n\n# C", highest=3)] == [4, 6, 3]
    assert [block["c"][0] for block in parse("### A", highest=2)] == [2]


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
    assert parse(text) == [paragraph(text.replace("\\", ""))]


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "//host/x", "x.html", "#a"]
)
def test_only_links_to_the_web_are_links(href: str) -> None:
    [found] = parse(f"see [this]({href}) or ![that]({href})")
    assert "Link" not in {each["t"] for each in walk(found)}
    assert "this" in plain(found)


def test_a_reference_takes_the_blank_before_it_and_no_mark_of_a_list() -> None:
    assert marked("Rose [1][2].") == [
        node("Para", [*words("Rose"), node("Ref", 1), node("Ref", 2), *words(".")]),
    ]
    assert marked("- [1] x") == [node("BulletList", [[node("Plain", [node("Ref", 1), *words(" x")])]])]
    assert marked("**Bold [1].** x") == [
        node("Para", [node("Strong", [*words("Bold"), node("Ref", 1), *words(".")]), *words(" x")])
    ]


@pytest.mark.parametrize(
    "text",
    [
        "`a [1] b`",
        "```\na [1] b\n```",
        "``` x [1]\na\n```",
        "[a [1] b](https://c.d)",
        "[a **b [1]**](https://c.d)",
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
    assert references(blocks) == [1]
    assert "⸨" not in repr(blocks)
    assert "%E2" not in repr(blocks)
    assert not any(references(each) for each in walk(blocks) if each["t"] == "Link")


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
    inserts = [Insert(at, at, [node("Ref", number)]) for number, at in enumerate(places, start=1)]
    blocks = parse(text, inserts)
    assert sorted(references(blocks)) == list(range(1, len(places) + 1))
    if not set("⸨⸩") & set(text):
        assert "⸨" not in repr(blocks)


def back(blocks: Nodes) -> Nodes:
    """What a parser finds in what was written, below the title."""
    title, *found = parse(write(Manuscript("T", blocks), SETTINGS).decode())
    assert title == heading(1, "T")
    # A comment keeps two lists apart.
    made: Nodes = rewritten(found, lambda each: [each] if plain(each) != "<!-- -->" else [])
    return made


def test_it_reads_well_as_plain_text() -> None:
    given = samples.answer("Sales **rose** [1].\n\n- a\n- b", (samples.citation(1, "Sales rose."),))
    text = write(samples.made(samples.exchange("Did sales rise?", given)), SETTINGS).decode()
    assert text == (
        "# Capital spending of 3M\n\n"
        "A conversation with documents: 1 question, 21 September 2026\n\n"
        "## 1. Did sales rise?\n\n"
        "Written by claude-sonnet-4-6, 21 September 2026, 14:13 UTC\n\n"
        "Sales **rose**[^1].\n\n"
        "- a\n- b\n\n"
        "[^1]: *3M 2018 Annual Report*, p. 38 (page 40 of the file), Item 7 › Capital spending: “Sales rose.”\n\n"
        "## Documents cited\n\n"
        "- *3M 2018 Annual Report* (3M_2018_10K.pdf), p. 38\n"
    )


def test_a_cell_s_place_in_the_original_stands_behind_its_page() -> None:
    cited = samples.citation(1, "1,577", page=2, page_label="2", place="Readings!B46", section=())
    given = samples.answer("Spending was 1,577 [1].", (cited,))
    text = write(samples.made(samples.exchange("What was spent?", given)), SETTINGS).decode()
    assert "[^1]: *3M 2018 Annual Report*, p. 2, Readings!B46: “1,577”" in text


def test_a_part_s_notes_stand_after_it_and_the_rest_at_the_end() -> None:
    notes = (samples.note(1), samples.note(2))
    blocks = [*marked("a [1]"), node("Notes", [1]), *marked("b [2]")]
    text = write(Manuscript("T", blocks, notes), SETTINGS).decode()
    assert re.findall(r"\[\^\d\]:?", text) == ["[^1]", "[^1]:", "[^2]", "[^2]:"]


def test_blocks_come_back_as_they_were() -> None:
    text = (
        "- 1\\. not a list\n\n  7. x\n\n     ```\n     a\n\n       ``` b\n     ```\n\n     > q\\\n     > r\n\n"
        "- \\- nor this\n\n* another list\n\n1. third\n\n---\n\n| a\\|b | `c` |\n|---|--:|\n|  | **e** |\n\n"
        "> - \\# no heading\n>\n> > \\> no quote\n\n[a link](https://a.b/?c=d&e=(f)) \\_\\*\\`~\\[\\]<&amp;>\\_ https://x.y"
    )
    assert back(parse(text)) == parse(text)


def squeezed(blocks: Nodes) -> str:
    """Words without blanks, and without stars and tildes: emphasis inside of emphasis may leave its own."""
    return re.sub(r"[\s*~]", "", plain(blocks))


def test_no_word_is_lost_whatever_its_markup() -> None:
    chosen = random.Random(5)
    texts = ["".join(chosen.choices((*SIGNS, *WORDS), k=30)) for _ in range(300)]
    given = [parse(text) for text in texts]
    found = back(
        [node("BlockQuote", [node("BulletList", [blocks])]) if blocks else heading(2, "-") for blocks in given]
    )
    assert len(found) == len(given)
    for text, before, after in zip(texts, given, found):
        assert squeezed(before) in ("", squeezed([after])), text
