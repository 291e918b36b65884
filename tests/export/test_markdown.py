"""Markdown that reads back as what was written."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ragcore.config.settings import load
from ragcore.export.markdown import write
from ragcore.export.model import (
    Block,
    Break,
    Code,
    Heading,
    Items,
    Manuscript,
    Note,
    NoteRef,
    Notes,
    Paragraph,
    Quote,
    Rule,
    Runs,
    Table,
    Text,
    plain,
)
from ragcore.export.parse import parse
from tests.export import samples

SETTINGS = load(environ={})[0].export
TITLE = Heading(1, (Text("T"),))


def lower(block: Block) -> Block:
    """As it is written below a title."""
    match block:
        case Heading():
            return Heading(min(block.level + 1, 6), block.runs)
        case Items():
            return Items(tuple(tuple(map(lower, item)) for item in block.items), block.start)
        case Quote():
            return Quote(tuple(map(lower, block.blocks)))
        case _:
            return block


def back(*blocks: Block) -> tuple[Block, ...]:
    """What a parser finds in what was written, below the title."""
    found = parse(write(Manuscript("T", blocks), SETTINGS).decode())
    assert found[0] == TITLE
    return found[1:]


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


def test_a_part_s_notes_stand_after_it_and_the_rest_at_the_end() -> None:
    notes = tuple(Note(n, "D", n, str(n), f"quote {n}") for n in (1, 2))
    blocks = (Paragraph((Text("a"), NoteRef(1))), Notes((1,)), Paragraph((Text("b"), NoteRef(2))))
    text = write(Manuscript("T", blocks, notes), SETTINGS).decode()
    assert re.findall(r"\[\^\d\]:?", text) == ["[^1]", "[^1]:", "[^2]", "[^2]:"]


def test_blocks_come_back_as_they_were() -> None:
    inner = (Paragraph((Text("x"),)), Code("a\n\n  ``` b"), Quote((Paragraph((Text("q"), Break(), Text("r"))),)))
    blocks: tuple[Block, ...] = (
        Heading(1, (Text("C #"),)),
        Items(((Paragraph((Text("1. not a list"),)), Items((inner,), start=7)), (Paragraph((Text("- nor this"),)),))),
        Items(((Paragraph((Text("another list"),)),),)),
        Items(((Paragraph((Text("third"),)),),), start=1),
        Rule(),
        Table((((Text("a|b"),), (Text("c|d", code=True),)), ((), (Text("e", bold=True),))), ("", "right")),
        Quote((Items(((Paragraph((Text("# no heading"),)),),)), Quote((Paragraph((Text("> no quote"),)),)))),
        Paragraph((Text("a link", href="https://a.b/?c=<d>&e=(f)"), Text(" _*`~[]<&amp;>_ https://x.y"))),
    )
    found = back(*blocks)
    link = found[-1]
    assert isinstance(link, Paragraph)
    assert isinstance(link.runs[0], Text)
    assert link.runs[0].href == "https://a.b/?c=%3Cd%3E&e=(f)"
    assert found[:-1] == tuple(map(lower, blocks[:-1]))
    assert plain(link.runs) == "a link _*`~[]<&amp;>_ https://x.y"


WORDS = st.text(st.sampled_from("ab1 .-+*_`~#>|[]()<&;!=:\\“”’é中ש\u200f$%5"), max_size=12)
LOOKS = st.builds(Text, WORDS, bold=st.booleans(), italic=st.booleans(), code=st.booleans(), strike=st.booleans())
RUNS = st.lists(LOOKS, max_size=5).map(tuple)


def words(runs: Runs) -> str:
    return "".join(plain(runs).split())


@given(RUNS)
def test_no_word_is_lost_in_a_paragraph_whatever_it_looks_like(runs: Runs) -> None:
    assert "".join(words(block.runs) for block in back(Paragraph(runs)) if isinstance(block, Paragraph)) == words(runs)


@given(RUNS, RUNS)
def test_no_word_is_lost_elsewhere(first: Runs, second: Runs) -> None:
    table = Table(((first, second), (second, first)), ("", ""))
    blocks = (Heading(2, first), table, Items(((Paragraph(second),), (Paragraph(first),))), Quote((Paragraph(first),)))
    heading, grid, *rest = back(*blocks)
    assert isinstance(heading, Heading)
    assert words(heading.runs) == words(first)
    assert isinstance(grid, Table)
    assert [[words(cell) for cell in row] for row in grid.rows] == [[words(cell) for cell in row] for row in table.rows]
    [listed, *quoted] = rest
    assert isinstance(listed, Items)
    assert len(listed.items) == 2
    if words(first):
        assert quoted == [Quote((Paragraph(quoted[0].blocks[0].runs),))]  # type: ignore[union-attr]
