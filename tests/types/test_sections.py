"""The section tree of a document, whatever its levels, and a section found again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ragcore.types import Chunk, Document, Element, Section, WordMap
from ragcore.types.sections import RANKS, SectionNode, chunks_of, placed, section_tree, walk

PARTS = st.lists(
    st.tuples(
        st.sampled_from(("heading", "paragraph")), st.integers(1, 9), st.sampled_from(("Cash", "Debt", " ", "A\nB"))
    ),
    max_size=14,
)


def document_of(parts: Sequence[tuple[str, int, str]]) -> Document:
    """Elements given as (kind, level, text), each on a page of its own; no word map."""
    text, elements = "", []
    for number, (kind, level, words) in enumerate(parts):
        start = len(text)
        text += f"{words}\n\n"
        elements.append(Element(number, kind, start, start + len(words), number + 1, level))  # type: ignore[arg-type]
    return Document("d" * 16, "0" * 64, "r.pdf", "R", text, len(text), WordMap([], [], [], [], []), (), tuple(elements))


def check(nodes: Sequence[SectionNode], low: int, high: int, above: tuple[str, ...]) -> None:
    """Nodes in ``[low, high)`` follow one another without a gap, up to its end."""
    for left, right in pairwise(nodes):
        assert left.end == right.start
        assert right.level <= left.level, "a lower one would be inside"
    for node in nodes:
        assert low <= node.start < node.end <= high
        assert node.path == (*above, node.label)
        assert node.first_page <= node.last_page
        assert all(child.level >= node.level for child in node.children)
        check(node.children, node.heading.end, node.end, node.path)
    assert not nodes or nodes[-1].end == high


@given(PARTS)
def test_a_tree_nests_covers_and_keeps_the_order(parts: list[tuple[str, int, str]]) -> None:
    document = document_of(parts)
    tree = section_tree(document)
    headings = [
        one for one in document.elements if one.kind == "heading" and document.text[one.start : one.end].strip()
    ]
    assert [node.heading for node in walk(tree)] == headings
    check(tree, headings[0].start if headings else 0, document.body_end, ())
    for node in walk(tree):
        found = placed(node.of(document.doc_id), document)
        assert found is not None
        assert (found.path, found.start, found.end) == (node.path, node.start, node.end)


def test_levels_that_are_left_out_count_for_nothing() -> None:
    tree = section_tree(
        document_of([("heading", 4, "Cover"), ("heading", 1, "One"), ("heading", 5, "Deep"), ("heading", 3, "Back")])
    )
    assert [node.path for node in walk(tree)] == [("Cover",), ("One",), ("One", "Deep"), ("One", "Back")]
    assert [(node.first_page, node.last_page) for node in walk(tree)] == [(1, 1), (2, 4), (3, 3), (4, 4)]


def test_on_the_deepest_level_capitals_are_above_the_rest() -> None:
    levels = [("Cover", 1), ("ITEM 1. BUSINESS", 6), ("General", 6), ("Seasonality", 6), ("ITEM 2. PROPERTIES", 6)]
    (cover,) = section_tree(document_of([("heading", level, text) for text, level in levels]))
    assert [(node.label, len(node.children)) for node in cover.children] == [
        ("ITEM 1. BUSINESS", 2),
        ("ITEM 2. PROPERTIES", 0),
    ]
    assert len(section_tree(document_of([("heading", 2, "METHODS"), ("heading", 2, "Results")]))) == 2


def test_on_the_deepest_level_a_series_is_above_capitals() -> None:
    texts = ["PART I", "ITEM 1. BUSINESS", "Item 2. Properties", "OUTLOOK", "Sites", "PART II", "Item 7.Discussion"]
    texts += ["DEBT", "Fiscal 2014", "Fiscal 2015", "Fiscal 2016", "PART III", "Directors"]
    tree = section_tree(document_of([("heading", 6, text) for text in texts]))
    assert [(node.label, [child.label for child in node.children]) for node in tree] == [
        ("PART I", ["ITEM 1. BUSINESS", "Item 2. Properties"]),
        ("PART II", ["Item 7.Discussion"]),
        ("PART III", ["Directors"]),
    ]
    (discussion,) = tree[1].children
    assert [node.label for node in walk([discussion])][1:] == ["DEBT", "Fiscal 2014", "Fiscal 2015", "Fiscal 2016"]


def test_a_catalogue_does_not_nest_without_end() -> None:
    texts = [f"{word} {number}" for number in (1, 2, 3) for word in (f"Place{n}" for n in range(200))]
    tree = section_tree(document_of([("heading", 6, text) for text in texts]))
    found = list(walk(tree))
    assert len(found) == len(texts)
    assert max(len(node.path) for node in found) <= RANKS


def test_a_section_is_found_where_it_now_is() -> None:
    parts = [("heading", 1, "Cash"), ("paragraph", 0, "Low."), ("heading", 1, "Debt"), ("heading", 1, "Cash")]
    first, _, last = (node.of("d" * 16) for node in section_tree(document_of(parts)))
    moved = document_of([("paragraph", 0, "A cover that was not read before."), *parts])
    found = [placed(one, moved) for one in (first, last)]
    texts = [moved.text[one.start : one.end] for one in found if one is not None]
    assert texts == ["Cash\n\nLow.\n\n", "Cash\n\n"], "of two with one heading the one of its length"
    assert (first.nth, last.nth) == (0, 1)
    assert placed(Section("d" * 16, 0, 5, ("Equity",)), moved) is None
    assert section_tree(document_of([("paragraph", 0, "No heading.")])) == ()


def test_the_chunks_of_a_section_are_those_with_text_of_it() -> None:
    document = document_of([("heading", 1, "Cash"), ("paragraph", 0, "Low."), ("heading", 2, "Debt")])
    (cash,) = section_tree(document)
    tiles = [Chunk(f"d:{n}", "d", n, "text", n * 6, n * 6 + 6, document.text[n * 6 : n * 6 + 6]) for n in range(3)]
    assert document.text[:12] == "Cash\n\nLow.\n\n"
    assert [chunks_of(node, tiles) for node in walk([cash])] == [3, 1]
