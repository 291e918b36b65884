"""Markdown: its blocks; escaping and quotation of document text in answers, and plain text of answers.

The escapes are CommonMark's (0.31, "Backslash escapes"): a backslash before ASCII punctuation, except inside code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

# Inline formatting, and openings of HTML tags, entities and citation markers. An underscore inside a word is harmless.
_FORMATS = re.compile(r"[\\*`~\[\]<]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_OPENS_ITEM = re.compile(r"^(\s*\d*)([-+.)#>=])")
_CODE_OR_ESCAPE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^[ \t]*(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)"
    r"|`+"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])",
    re.MULTILINE | re.DOTALL,
)

# A pair of straight marks: the first after a blank or bracket, the second not before a letter. A single one may mean
# inches.
_STRAIGHT = re.compile(r'(?<![^\s(\[{“‘—–/-])"(?=\S)([^"\n]*\S)"(?!\w)')
_BARS = re.compile(r"(?<!\\)\|")
VALUE = "Value"
CELL_COLUMNS = ("Row", "Column", "Period", VALUE, "Unit")
_SINGLE = str.maketrans("“”„‟", "‘’‚‘")  # as ui/components/shared/quoted.js does

_DEEPEST = 100  # lists and quotations in one another
_HOLDERS = ("bullet_list", "ordered_list", "list_item", "blockquote")
_BREAK_TAG = re.compile(r"<br\b", re.IGNORECASE)


def blocks(text: str, *off: str) -> Iterator[tuple[SyntaxTreeNode, int]]:
    """Headings, paragraphs, tables, code and HTML of ``text`` in order, each with the number of lists around it, by
    CommonMark with GFM's tables and strikethrough, without the rules that are ``off``; what is indented is prose."""
    return _blocks(SyntaxTreeNode(_parser(off).parse(text)), 0)


@cache
def _parser(off: tuple[str, ...]) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    return parser.disable(["code", *off])


def _blocks(parent: SyntaxTreeNode, lists: int) -> Iterator[tuple[SyntaxTreeNode, int]]:
    for each in parent.children:
        if each.type in _HOLDERS:
            yield from _blocks(each, lists + each.type.endswith("_list"))
        else:
            yield each, lists


def item_of(block: SyntaxTreeNode) -> SyntaxTreeNode | None:
    """List item that ``block`` begins."""
    parent = block.parent
    return parent if parent and parent.type == "list_item" and parent.children[0] is block else None


def words(node: SyntaxTreeNode, line_break: str = " ") -> str:
    """Words of a block or cell without markup."""
    if node.type in ("softbreak", "hardbreak") or (node.type == "html_inline" and _BREAK_TAG.match(node.content)):
        return line_break
    if node.children:
        return "".join(words(child, line_break) for child in node.children)
    return node.content if node.type in ("text", "text_special", "code_inline", "fence") else ""


def escape(text: str) -> str:
    """``text`` escaped for use inside a line of Markdown: nothing in it formats, links, opens a tag or is a citation
    marker. Characters with a meaning only at the start of a line (``#``, ``-``, ``>``) are unchanged.
    """
    return _FORMATS.sub(r"\\\g<0>", text)


def escape_lines(text: str) -> str:
    """``text`` escaped as `escape` does, as one paragraph that keeps its line breaks; no further line opens a list."""
    return "  \n".join(_OPENS_ITEM.sub(r"\1\\\2", escape(line)) for line in text.split("\n"))


def plain(markdown: str) -> str:
    """``markdown`` without its backslash escapes (``\\[2\\]`` → ``[2]``); other markup and all code stay."""
    return _CODE_OR_ESCAPE.sub(lambda match: match["escaped"] or match.group(), markdown)


def quoted(text: str) -> str:
    """``text`` as a quotation “…”, unless it already is one; inner double marks become single."""
    text = _STRAIGHT.sub(r"“\1”", text)
    whole = text.startswith("“") and text.endswith("”") and text.count("“") == text.count("”") == 1
    return text if whole else f"“{text.translate(_SINGLE)}”"


# Tables of single cells in an answer: the app recognises their header and turns each value into a link to its place.


@dataclass(frozen=True, slots=True)
class CellRow:
    """Cell with its headers, "" if the table has none. ``marker`` cites it; a computed value has none."""

    row: str
    column: str
    period: str
    value: str
    unit: str = ""
    marker: str = ""


def cell_table(rows: Sequence[CellRow]) -> str:
    """Markdown table of ``rows``, without columns empty in all of them."""
    texts = [astuple(row)[:-1] for row in rows]
    kept = [place for place in range(len(CELL_COLUMNS)) if any(text[place] for text in texts)]
    lines = [[CELL_COLUMNS[place] for place in kept], ["---" if place == 0 else "---:" for place in kept]]
    for row, text in zip(rows, texts):
        cited = f" {row.marker}" if row.marker else ""
        lines.append([f"{_in_cell(text[place])}{cited if CELL_COLUMNS[place] == VALUE else ''}" for place in kept])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def is_cell_table(header: str) -> bool:
    """Whether ``header``, a line of Markdown, is the header of a `cell_table`."""
    cells = [cell.strip() for cell in _BARS.split(header.strip().strip("|"))]
    return VALUE in cells and cells == [name for name in CELL_COLUMNS if name in cells]


def _in_cell(text: str) -> str:
    return escape(" ".join(text.split())).replace("|", "\\|")
