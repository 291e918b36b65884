"""Markdown parser for manuscripts: Markdown → blocks, with runs inserted at given positions (citation marks, verdict
words).

Positions refer to the Markdown. Before parsing, each becomes a short sentinel between ``⸨`` and ``⸩``: punctuation to
the parser (CommonMark and GFM's tables and strikethrough, by markdown-it-py), like ``[1]``, so that emphasis beside it
still closes. Raw HTML and entities are text, pictures become their alternative text, and only links to the web or a
mail address stay links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block
from markdown_it.tree import SyntaxTreeNode

from ragcore.export.characters import clean
from ragcore.export.model import (
    Align,
    Block,
    Break,
    Code,
    Heading,
    Inline,
    Items,
    Paragraph,
    Quote,
    Rule,
    Runs,
    Table,
    Text,
    joined,
)

OPEN, CLOSE = "⸨", "⸩"
# The same characters in the text itself become noncharacters, which `clean` has removed from it.
_SAFE = str.maketrans({OPEN: "\ufdd0", CLOSE: "\ufdd1"})
_RESTORE = str.maketrans({"\ufdd0": OPEN, "\ufdd1": CLOSE})
_SENTINEL = re.compile(f"{OPEN}(\\d+){CLOSE}")
_IN_ADDRESS = re.compile("%E2%B8%A8(\\d+)%E2%B8%A9")
_LINKS = ("http://", "https://", "mailto:")
LEVELS = 6
DEEPEST = 18  # level below which no blocks nest; a quote is one level, a list with its item two
_Rule = Callable[[StateBlock, int, int, bool], bool]


@dataclass(frozen=True, slots=True)
class Insert:
    """Replacement of ``text[start:end]`` by ``runs``."""

    start: int
    end: int
    runs: Runs


def _shallow(rule: _Rule) -> _Rule:
    """``rule`` limited to level `DEEPEST`. Deeper blocks become a paragraph with their markup: the parser drops content
    at level 20, as do readers of the written Markdown, and a page has no room for it."""

    def shallow(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.level < DEEPEST and rule(state, start, end, silent)

    return shallow


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    rules = parser.block.ruler
    rules.at("blockquote", _shallow(blockquote), {"alt": ["paragraph", "reference", "blockquote", "list"]})
    rules.at("list", _shallow(list_block), {"alt": ["paragraph", "reference", "blockquote"]})
    # A link definition would swallow a line of a quote that looks like one.
    return parser.disable(["reference", "html_block", "html_inline", "entity"])


def parse(text: str, inserts: Sequence[Insert] = (), *, highest: int = 1) -> tuple[Block, ...]:
    """Blocks of ``text``; its highest headings get the level ``highest``, the others follow. Inserts lie within it and
    do not overlap; each is in the blocks once, at the end if Markdown drops its place (a surplus cell)."""
    root = SyntaxTreeNode(_parser().parse(_with_sentinels(text, inserts)))
    levels = [int(node.tag[1:]) for node in root.walk() if node.type == "heading"]
    reader = _Reader(inserts, lower=highest - min(levels, default=1))
    found = [block for node in root.children for block in reader.block(node)]
    lost = [run for place in sorted(set(range(len(inserts))) - reader.placed) for run in inserts[place].runs]
    if lost:
        found.append(Paragraph(tuple(lost)))
    return tuple(found)


def parse_inline(text: str) -> Runs:
    """Runs of ``text`` as words inside a block: it opens no block."""
    root = SyntaxTreeNode(_parser().parseInline(clean(text).translate(_SAFE)))
    return _Reader((), lower=0).runs(root)


def _with_sentinels(text: str, inserts: Sequence[Insert]) -> str:
    parts: list[str] = []
    at = 0
    for place, insert in sorted(enumerate(inserts), key=lambda pair: (pair[1].start, pair[1].end, pair[0])):
        parts += [clean(text[at : insert.start]).translate(_SAFE), f"{OPEN}{place}{CLOSE}"]
        at = max(at, insert.end)
    return "".join((*parts, clean(text[at:]).translate(_SAFE)))


class _Reader:
    """Converter of the parser's tree to blocks; ``placed`` are the inserts met so far."""

    def __init__(self, inserts: Sequence[Insert], lower: int) -> None:
        self.inserts = inserts
        self.lower = lower
        self.placed: set[int] = set()

    def block(self, node: SyntaxTreeNode) -> list[Block]:
        match node.type:
            case "heading":
                return [Heading(min(int(node.tag[1:]) + self.lower, LEVELS), self.runs(node))]
            case "paragraph":
                return [Paragraph(self.runs(node))]
            case "bullet_list":
                return [Items(self._items(node))]
            case "ordered_list":
                return [Items(self._items(node), start=int(node.attrs.get("start", 1)))]
            case "blockquote":
                return [Quote(self._blocks(node))]
            case "table":
                return [self._table(node)]
            case "fence" | "code_block":
                return self._code(node)
            case "hr":
                return [Rule()]
        raise AssertionError(f"a block of Markdown that is not switched on: {node.type}")

    def _blocks(self, node: SyntaxTreeNode) -> tuple[Block, ...]:
        return tuple(block for child in node.children for block in self.block(child))

    def _items(self, node: SyntaxTreeNode) -> tuple[tuple[Block, ...], ...]:
        return tuple(self._blocks(item) for item in node.children)

    def _table(self, node: SyntaxTreeNode) -> Table:
        heads = [row for part in node.children if part.type == "thead" for row in part.children]
        rows = [row for part in node.children if part.type == "tbody" for row in part.children]
        aligns = tuple(
            cast("Align", str(cell.attrs.get("style", "")).removeprefix("text-align:")) for cell in heads[0].children
        )
        return Table(
            tuple(tuple(self.runs(cell) for cell in row.children) for row in (*heads, *rows)), aligns, len(heads)
        )

    def _code(self, node: SyntaxTreeNode) -> list[Block]:
        """Code unchanged, with the inserts in it, or after its fence, below it."""
        inside = [run for text in (node.info, node.content) for run in self._found(text)]
        code = Code(_SENTINEL.sub("", node.content).translate(_RESTORE).rstrip("\n"))
        return [code, Paragraph(tuple(inside))] if inside else [code]

    def runs(self, node: SyntaxTreeNode) -> Runs:
        return joined(run for child in node.children for run in self._inline(child, Text("")))

    def _inline(self, node: SyntaxTreeNode, look: Text) -> Iterator[Inline]:
        match node.type:
            case "text" | "code_inline":
                yield from self._text(node.content, replace(look, code=look.code or node.type == "code_inline"))
                return
            case "softbreak":
                yield replace(look, text=" ")
                return
            case "hardbreak":
                yield Break()
                return
            case "strong":
                look = replace(look, bold=True)
            case "em":
                look = replace(look, italic=True)
            case "s":
                look = replace(look, strike=True)
            case "link" | "image":
                href = str(node.attrs["src" if node.type == "image" else "href"])
                bare = _IN_ADDRESS.sub("", href)
                inner = replace(look, href=bare if bare.lower().startswith(_LINKS) else look.href)
                for child in node.children:
                    yield from self._inline(child, inner)
                for match in _IN_ADDRESS.finditer(href):
                    yield from self._put(int(match[1]))
                return
            case "inline":
                pass
            case _:
                raise AssertionError(f"Markdown that is not switched on: {node.type}")
        for child in node.children:
            yield from self._inline(child, look)

    def _text(self, content: str, look: Text) -> Iterator[Inline]:
        at = 0
        for match in _SENTINEL.finditer(content):
            yield replace(look, text=content[at : match.start()].translate(_RESTORE))
            yield from self._put(int(match[1]))
            at = match.end()
        yield replace(look, text=content[at:].translate(_RESTORE))

    def _found(self, text: str) -> Iterator[Inline]:
        for match in _SENTINEL.finditer(text):
            yield from self._put(int(match[1]))

    def _put(self, place: int) -> Runs:
        self.placed.add(place)
        return self.inserts[place].runs
