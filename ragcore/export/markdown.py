"""Markdown parser for manuscripts: Markdown → pandoc's tree, with inlines inserted at given positions (citation marks,
verdict words).

Positions refer to the Markdown. Before parsing, each becomes a short sentinel between ``⸨`` and ``⸩``: punctuation to
the parser (CommonMark and GFM's tables and strikethrough, by markdown-it-py), like ``[1]``, so that emphasis beside it
still closes. Raw HTML and entities are text, pictures become their alternative text, and only links to the web or a
mail address stay links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from ragcore.export.characters import clean
from ragcore.export.tree import Node, Nodes, attributes, node, references, rewritten, table, words

OPEN, CLOSE = "⸨", "⸩"
# The same characters in the text itself become noncharacters, which `clean` has removed from it.
_SAFE = str.maketrans({OPEN: "\ufdd0", CLOSE: "\ufdd1"})
_RESTORE = str.maketrans({"\ufdd0": OPEN, "\ufdd1": CLOSE})
_SENTINEL = re.compile(f"(?:{OPEN}|%E2%B8%A8)(\\d+)(?:{CLOSE}|%E2%B8%A9)")  # as it is, and in an address
_LINKS = ("http://", "https://", "mailto:")
LEVELS = 6
DEEPEST = 40  # levels of blocks that a page has room for; a quote is one, a list with its item two
_LOOKS = {"strong": "Strong", "em": "Emph", "s": "Strikeout"}
_ALIGNS = {"": "AlignDefault", "left": "AlignLeft", "center": "AlignCenter", "right": "AlignRight"}


@dataclass(frozen=True, slots=True)
class Insert:
    """Replacement of ``text[start:end]`` by inlines."""

    start: int
    end: int
    inlines: Nodes


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    # A link definition would swallow a line of a quote that looks like one.
    return parser.disable(["reference", "html_block", "html_inline", "entity"])


def parse(text: str, inserts: Sequence[Insert] = (), *, highest: int = 1) -> Nodes:
    """Blocks of ``text``; its highest headings get the level ``highest``, the others follow. Inserts lie within it and
    do not overlap; each is in the blocks once, at the end if Markdown drops its place (a surplus cell)."""
    root = SyntaxTreeNode(_parser().parse(_with_sentinels(text, inserts)))
    levels = [int(each.tag[1:]) for each in root.walk() if each.type == "heading"]
    reader = _Reader(inserts, lower=highest - min(levels, default=1))
    found = reader.blocks(root)
    lost = [each for place in sorted(set(range(len(inserts))) - reader.placed) for each in inserts[place].inlines]
    return [*found, node("Para", lost)] if lost else found


def _with_sentinels(text: str, inserts: Sequence[Insert]) -> str:
    parts: list[str] = []
    at = 0
    for place, insert in sorted(enumerate(inserts), key=lambda pair: (pair[1].start, pair[1].end, pair[0])):
        parts += [clean(text[at : insert.start]).translate(_SAFE), f"{OPEN}{place}{CLOSE}"]
        at = max(at, insert.end)
    return "".join((*parts, clean(text[at:]).translate(_SAFE)))


class _Reader:
    """Converter of the parser's tree to pandoc's; ``placed`` are the inserts met so far."""

    def __init__(self, inserts: Sequence[Insert], lower: int) -> None:
        self.inserts = inserts
        self.lower = lower
        self.placed: set[int] = set()

    def blocks(self, parent: SyntaxTreeNode) -> Nodes:
        return [block for child in parent.children for block in self._block(child)]

    def _block(self, found: SyntaxTreeNode) -> Nodes:
        match found.type:
            case "heading":
                level = min(int(found.tag[1:]) + self.lower, LEVELS)
                return [node("Header", level, attributes(), self._inlines(found))]
            case "paragraph":
                return [node("Plain" if found.hidden else "Para", self._inlines(found))]
            case "bullet_list":
                return [node("BulletList", [self.blocks(item) for item in found.children])]
            case "ordered_list":
                numbers = [int(found.attrs.get("start", 1)), node("Decimal"), node("Period")]
                return [node("OrderedList", numbers, [self.blocks(item) for item in found.children])]
            case "blockquote":
                return [node("BlockQuote", self.blocks(found))]
            case "table":
                return [self._table(found)]
            case "fence" | "code_block":  # inserts in it, or after its fence, come below it
                inside = [each for text in (found.info, found.content) for each in self._found(text)]
                text = _SENTINEL.sub("", found.content).translate(_RESTORE).rstrip("\n")
                return [node("CodeBlock", attributes(), text)] + ([node("Para", inside)] if inside else [])
            case "hr":
                return [node("HorizontalRule")]
        raise AssertionError(f"a block of Markdown that is not switched on: {found.type}")

    def _table(self, found: SyntaxTreeNode) -> Node:
        head, *bodies = (
            [[[node("Plain", self._inlines(cell))] for cell in row.children] for row in part.children]
            for part in found.children
        )
        first = found.children[0].children[0].children
        aligns = [_ALIGNS[str(cell.attrs.get("style", "")).removeprefix("text-align:")] for cell in first]
        return table(head, [row for body in bodies for row in body], aligns)

    def _inlines(self, parent: SyntaxTreeNode) -> Nodes:
        """Inlines of a node, without a blank before a note's number."""
        out: Nodes = []
        for child in parent.children:
            for each in self._inline(child):
                if each["t"] == "Ref" and out and out[-1]["t"] == "Space":
                    out.pop()
                out.append(each)
        return out

    def _inline(self, found: SyntaxTreeNode) -> Nodes:
        match found.type:
            case "text" | "code_inline":
                return self._text(found.content, code=found.type == "code_inline")
            case "softbreak":
                return [node("Space")]
            case "hardbreak":
                return [node("LineBreak")]
            case "strong" | "em" | "s":
                return [node(_LOOKS[found.type], self._inlines(found))]
            case "link" | "image":
                href = str(found.attrs["src" if found.type == "image" else "href"])
                inner, bare = self._inlines(found), _SENTINEL.sub("", href)
                inserts = self._found(href)
                if not bare.lower().startswith(_LINKS):
                    return [*inner, *inserts]
                kept = rewritten(inner, lambda each: [each] if each["t"] != "Ref" else [])  # a link holds no link
                notes = [node("Ref", number) for number in references(inner)]
                return [node("Link", attributes(), kept, [bare, ""]), *notes, *inserts]
            case "inline":
                return self._inlines(found)
        raise AssertionError(f"Markdown that is not switched on: {found.type}")

    def _text(self, content: str, *, code: bool) -> Nodes:
        out: Nodes = []
        for place, part in enumerate(_SENTINEL.split(content)):
            text = part.translate(_RESTORE)
            if place % 2:
                out += self._put(int(part))
            elif text:
                out += [node("Code", attributes(), text)] if code else words(text)
        return out

    def _found(self, text: str) -> Nodes:
        return [each for place in _SENTINEL.findall(text) for each in self._put(int(place))]

    def _put(self, place: int) -> Nodes:
        self.placed.add(place)
        return self.inserts[place].inlines
