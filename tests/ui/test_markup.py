"""Answers as HTML: chips and claims where they stand, tags well nested, nothing of the text run or loaded."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.types import Citation, Claim, ClaimStatus, Mark
from ui.chat import markup

VOID = {"br", "hr", "img"}


class Reader(HTMLParser):
    """Fails on tags that are not well nested; collects the text, the tags, and the text of each claim."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.stack: list[tuple[str, str | None]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.claims: dict[str, str] = {}
        self.feed(html)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.tags.append((tag, found))
        if tag not in VOID:
            self.stack.append((tag, found.get("data-claim")))

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack
        assert self.stack.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        for _, claim in self.stack:
            if claim is not None:
                self.claims[claim] = self.claims.get(claim, "") + data

    def count(self, tag: str, name: str) -> int:
        return sum(found == tag and (attributes.get("class") or "") == name for found, attributes in self.tags)


def citation(n: int) -> Citation:
    return Citation(n, "d", 'A "title"', 1, "38", "quote", 0, 5, ())


def marks(text: str) -> list[Mark]:
    return [Mark(m.start(), m.end(), int(m.group(1))) for m in re.finditer(r"\[(\d)\]", text)]


def claim(text: str, first: str, last: str, status: ClaimStatus = "supported") -> Claim:
    start = text.index(first)
    end = text.index(last, start) + len(last)
    return Claim(text[start:end], start, end, (), status, "because <of> this")


def read(text: str, *claims: Claim) -> Reader:
    cited = {n: citation(n) for n in range(1, 10)}
    return Reader("\n".join(markup.blocks(text, marks(text), cited, claims, "t1")))


def test_a_chip_is_a_link_with_its_number_and_a_name() -> None:
    html = "".join(markup.blocks("Sales rose [2].", marks("Sales rose [2]."), {2: citation(2)}, (), "t1"))
    assert '<a class="gw-cite" href="#cite-t1-2" data-n="2"' in html
    assert "Citation 2, A &quot;title&quot;, page 38" in html
    assert '<span class="gw-nb">rose<a' in html, "word and chip stay on one line"


def test_emphasis_closes_before_a_chip() -> None:
    for text in ("It was **13,418 million.**[1] More.", "*All of it.*[1][2]", "**Bold**[1]**more**"):
        html = "".join(markup.blocks(text, marks(text), {1: citation(1), 2: citation(2)}))
        assert "*" not in html
        Reader(html)


def test_a_claim_is_one_span_and_keeps_its_emphasis() -> None:
    text = "EMEA revenues were **13,418**[1] in *2023.*[2] Next."
    found = read(text, claim(text, "EMEA", "[2]"))
    assert found.count("span", "gw-claim") == 1
    assert found.claims["0"] == "EMEA revenues were 134181 in 2023.2".replace("134181", "13,4181")


def test_claims_that_cross_emphasis_items_and_cells_stay_well_nested() -> None:
    text = (
        "Then a **bold claim. Second** part.[3]\n\n- Item one says 5%.[1]\n- Item two.\n\n"
        "| A | B |\n|---|---|\n| x | 7 [2] |\n\n## Heading claim\n\n> Quoted claim.\n"
    )
    found = read(
        text,
        claim(text, "Then", "claim.", "weak"),
        claim(text, "Second", "part.[3]", "unsupported"),
        claim(text, "- Item one", "[1]"),
        claim(text, "| x", "7 [2] |", "weak"),
        claim(text, "## Heading", "claim"),
        claim(text, "> Quoted", "claim."),
    )
    assert found.claims["0"] == "Then a bold claim."
    assert found.claims["1"] == "Second part.3"
    assert found.claims["2"] == "Item one says 5%.1"
    assert found.claims["3"] == "x72"
    assert found.claims["4"] == "Heading claim"
    assert found.claims["5"] == "Quoted claim."
    assert [tag for tag, _ in found.tags].count("td") == 2
    assert found.count("button", "gw-verdict weak") == 2
    assert found.count("button", "gw-verdict bad") == 1
    assert "because <of> this" in found.text


def test_supported_claims_carry_no_verdict() -> None:
    assert read("All good.", claim("All good.", "All", "good.")).count("button", "gw-verdict weak") == 0


def test_html_links_and_pictures_are_shown_as_text() -> None:
    text = "<script>alert(1)</script> <b>x</b> ![p](http://a/b.png) [l](javascript:alert(1)) <http://a.b> &lt;"
    found = read(text)
    assert {tag for tag, _ in found.tags} == {"p"}
    assert "<script>alert(1)</script>" in found.text
    assert "![p](http://a/b.png)" in found.text


def test_the_brackets_that_serve_as_sentinels_survive_in_a_text() -> None:
    assert read("A ⸨o1⸩ B[1]").text == "A ⸨o1⸩ B1"


PIECES = st.sampled_from(
    [
        "word ",
        "**",
        "*",
        "`",
        "- ",
        "\n",
        "\n\n",
        "| ",
        "# ",
        "> ",
        "[1]",
        "[2]",
        "<b>",
        "&",
        "⸨",
        "⸩",
        ". ",
        "1. ",
        "~~",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join), st.data())
def test_any_text_gives_well_nested_html_with_every_chip(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    inside = marks(text)
    cuts = [c for c in cuts if not any(m.start < c < m.end for m in inside)]
    claims = [Claim(text[a:b], a, b, (), "weak", "why") for a, b in zip(cuts[::2], cuts[1::2])]
    found = read(text, *claims)
    assert found.count("a", "gw-cite") == len(inside)


@pytest.mark.parametrize("text", ["~~~~[1]", "```[1]\ncode\n```", "```python [1]\ncode [1]\n```"])
def test_a_chip_behind_a_code_fence_is_a_chip(text: str) -> None:
    assert read(text).count("a", "gw-cite") == text.count("[1]")


def test_a_citation_that_checking_added_says_so_where_it_stands() -> None:
    text = "One [1]. Two [1]."
    given, added = marks(text)
    html = "".join(markup.blocks(text, [given, replace(added, added=True)], {1: citation(1)}, turn_id="t"))
    read = Reader(html)
    assert read.count("a", "gw-cite") == read.count("a", "gw-cite added") == 1
    labels = [attributes.get("aria-label") for tag, attributes in read.tags if tag == "a"]
    assert labels == ['Citation 1, A "title", page 38', 'Citation 1, A "title", page 38, added by Groundwork']


def test_the_wrong_figure_is_marked_within_its_claim() -> None:
    text = r"Sales were **\$5.1** million, not 4 [1]. More."
    at = text.index("$")
    claim = Claim("Sales were $5.1 million, not 4.", 0, 40, (1,), "unsupported", "No.", ((at, at + 4),))
    (html,) = markup.blocks(text, [Mark(36, 39, 1)], {1: citation(1)}, [claim], "t")
    assert '<span class="gw-wrong">$5.1</span>' in html
    assert Reader(html).text.startswith("Sales were $5.1 million, not 41.")


def test_a_claim_without_a_citation_carries_a_mark_unless_told_otherwise() -> None:
    claim = Claim("Sales rose.", 0, 11, (), "uncited", "This has no citation.")
    (html,) = markup.blocks("Sales rose.", [], {}, [claim], "t")
    assert 'data-status="uncited"' in html
    assert '<button type="button" class="gw-verdict off"' in html
    assert "gw-verdict" not in markup.blocks("Sales rose.", [], {}, [claim], "t", uncited=False)[0]


def test_in_a_table_of_cells_the_value_is_the_chip() -> None:
    text = "| Row | Value | Unit |\n| --- | ---: | ---: |\n| Net sales | $ 5,110 [1] | in millions |\n"
    start = text.index("$ 5,110")
    claims = [Claim("$ 5,110", start, start + 11, (1,), "supported", "")]
    (html,) = markup.blocks(text, marks(text), {1: citation(1)}, claims, "t1")
    read = Reader(html)
    assert read.count("a", "gw-cite gw-value") == 1
    assert read.claims == {"0": "$ 5,110"}
    chip = next(attributes for tag, attributes in read.tags if tag == "a")
    assert (chip.get("aria-label") or "").startswith("$ 5,110, Citation 1, ")
    other = text.replace("Value", "Amount")
    assert Reader(markup.blocks(other, marks(other), {1: citation(1)})[0]).count("a", "gw-cite gw-value") == 0


CELLS = """| Row | Column | Period | Value | Unit |
| --- | ---: | ---: | ---: | ---: |
| Revenue &amp; more |  | 2025 | 148 [1] | in thousands |
| Revenue &amp; more |  | 2024 | 132 [2] | in thousands |
| Revenue &amp; more | Change |  | 12.4% [3] |  |
| Orders |  | 2025 | 97 [4] | in units |
"""


def test_cells_of_one_table_stand_as_a_grid_by_row_with_their_verdicts() -> None:
    at = CELLS.index("132")
    claims = [Claim("132", at, CELLS.index("in thousands |", at) + 12, (2,), "unsupported", "It says otherwise.")]
    (html,) = markup.blocks(CELLS, marks(CELLS), {n: citation(n) for n in range(1, 5)}, claims, "t")
    rows = [
        [" ".join(cell.split()) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in html.split("<tr>")
    ]
    shown = [[re.sub(r"<button.*?</button>|<[^>]*>", "", cell) for cell in row] for row in rows[1:]]
    assert shown == [
        ["", "2025", "2024", "Change"],
        ["Revenue &amp;amp; more, in thousands", "148", "132", "12.4%"],
        ["Orders, in units", "97", "", ""],
    ]
    assert re.findall(r'data-n="(\d)"', html) == ["1", "2", "3", "4"]
    assert "gw-verdict" in rows[2][2]
    assert html.count("gw-verdict") == 1


@pytest.mark.parametrize(
    "second",
    [
        pytest.param("| Orders | North | 97 [2] |", id="as long as the list"),
        pytest.param("| Revenue | South | 97 [2] |", id="two in one place"),
    ],
)
def test_cells_that_make_no_smaller_grid_stay_a_list(second: str) -> None:
    text = f"| Row | Column | Value |\n| --- | ---: | ---: |\n| Revenue | South | 148 [1] |\n{second}\n"
    (html,) = markup.blocks(text, marks(text), {n: citation(n) for n in (1, 2)}, (), "t")
    assert "gw-cells" not in html
    assert html.count("gw-value") == 2


PIECES = ["2", ". b", "1. a", "- a", "*", "*", "# t", "> q", "|a|b|", "|-|-|", "===", "---", "```", "    c", "[1]"]


@given(st.lists(st.sampled_from([*PIECES, "word", " ", "\n", "\n", "\n\n", "\r\n"]), max_size=40))
def test_a_text_that_grows_is_rendered_as_the_whole_text_is(pieces: list[str]) -> None:
    growing, text = markup.Growing("t"), ""
    found: list[Mark] = []
    for piece in pieces:
        if piece == "[1]":
            found.append(Mark(len(text), len(text) + 3, 1))
        text += piece
        assert growing.blocks(text, found, {1: citation(1)}) == markup.blocks(text, found, {1: citation(1)}, (), "t")


def test_of_a_text_that_grows_only_the_end_is_rendered_again() -> None:
    growing, text, found = markup.Growing("t"), "", list[Mark]()
    for n in range(1, 100):
        text += "A paragraph of some forty characters here"
        found.append(Mark(len(text), len(text) + len(f"[{n}]"), n))
        text += f"[{n}]\n\n"
        # What is rendered again would miss its citation.
        last = growing.blocks(text, found, {m: citation(m) for m in range(max(1, n - 2), n + 1)})
        assert growing.blocks(text, found, {}) is last
    assert len(last) == 99
