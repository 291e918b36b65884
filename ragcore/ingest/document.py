"""Pages → document: the passes in order, and the writing of the canonical text.

Pure and deterministic: the same pages and settings always give the same document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.config import Settings
from ragcore.errors import NoText
from ragcore.ingest.blocks import Block, all_lines, page_blocks
from ragcore.ingest.canonical import CanonicalText, Hyphenation, Line
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.ingest.noise import mark_noise
from ragcore.ingest.roles import correct_roles
from ragcore.ingest.sections import section_paths, set_levels, table_title
from ragcore.ingest.table_headers import Draft
from ragcore.ingest.tables import draft_table, write_table
from ragcore.ingest.titles import document_title
from ragcore.types import Box, Document, Element, Page, Table

_SENTENCE_END = (".", "!", "?", ":", ";", "。", "！", "？", "”", '"', ")")
# Words that no sentence ends with: the next column or page goes on with it even in capitals.
_GOES_ON = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with"}
)
_FLOATS = ("figure", "table", "caption", "footnote", "formula")


@dataclass(frozen=True)
class _Written:
    start: int
    end: int
    table: Table | None = None


def build_document(
    doc_id: str, sha256: str, name: str, info: FileInfo, pages: Sequence[PageLayout], settings: Settings
) -> Document:
    """The document of ``pages`` (any order). Raises `NoText` when no page has a word."""
    ordered = sorted(pages, key=lambda page: page.number)
    if not any(page.texts for page in ordered):
        raise NoText(f"{name} has no text that can be read: its pages are pictures or empty.")
    per_page = [page_blocks(page) for page in ordered]
    hyphenation = Hyphenation(line for blocks in per_page for line in all_lines(blocks))
    correct_roles(per_page)
    mark_noise(per_page, settings.noise)
    drafts = _draft_tables(per_page)
    blocks = [block for page in per_page for block in page]
    set_levels(blocks, info)
    titles = {
        block: table_title(block, page)
        for page in per_page
        for block in page
        if block in drafts and block.noise is None
    }
    _join_over_pages(per_page)
    blocks = [block for block in blocks if not block.joined]
    paths = section_paths(blocks)

    text = CanonicalText(hyphenation)
    written: dict[Block, _Written] = {}
    body = [block for block in blocks if block.noise is None]
    furniture = [block for block in blocks if block.noise is not None]
    before: Block | None = None
    for block in body:
        if block.words:
            if before is not None:
                text.separate("\n" if before.kind == block.kind == "list_item" else "\n\n")
            before = block
        written[block] = _write(text, block, drafts, titles)
    body_end = len(text)
    for block in furniture:
        if block.words and len(text):
            text.separate("\n\n")
        written[block] = _write(text, block, drafts, titles)

    content, words = text.finish()
    elements = tuple(
        Element(
            id=number,
            kind=block.kind,
            start=written[block].start,
            end=written[block].end,
            page=block.page.number,
            level=block.level,
            section=paths[number] if block.noise is None else (),
            region=_region(block),
            noise=block.noise,
            table=written[block].table,
        )
        for number, block in enumerate(blocks)
    )
    return Document(
        doc_id=doc_id,
        sha256=sha256,
        name=name,
        title=document_title(info, blocks, name),
        text=content,
        body_end=body_end,
        words=words,
        pages=tuple(
            Page(page.number, _label(page, info), page.width, page.height, page.rotation, page.degraded)
            for page in ordered
        ),
        elements=elements,
    )


def _label(page: PageLayout, info: FileInfo) -> str:
    return (info.labels[page.number - 1] if page.number <= len(info.labels) else "") or page.label


def _draft_tables(per_page: Sequence[Sequence[Block]]) -> dict[Block, Draft]:
    """The tables that can be trusted; the others become paragraphs that keep their lines."""
    drafts: dict[Block, Draft] = {}
    for blocks in per_page:
        for block in blocks:
            if block.kind != "table":
                continue
            draft = draft_table(block)
            if draft is not None:
                drafts[block] = draft
            else:
                block.kind, block.verbatim = "paragraph", True
    return drafts


def _write(text: CanonicalText, block: Block, drafts: dict[Block, Draft], titles: dict[Block, list[Line]]) -> _Written:
    start = len(text)
    if block in drafts:
        table = write_table(text, drafts[block], titles.get(block, ()))
        return _Written(start, len(text), table)
    keeps_lines = block.verbatim or block.kind == "figure"
    text.lines(block.lines, line_break="\n" if keeps_lines else " ")
    return _Written(start, len(text))


def _region(block: Block) -> tuple[Box, ...]:
    if block.kind not in ("figure", "table"):
        return ()
    x0, y0, x1, y1 = block.page.displayed(block.box)
    return (Box(block.page.number, x0, y0, x1, y1),) if x1 > x0 and y1 > y0 else ()


def _join_over_pages(per_page: Sequence[Sequence[Block]]) -> None:
    """Join a paragraph that breaks off at the end of a column or page with the one that goes on with it."""
    last: Block | None = None
    for blocks in per_page:
        body = [b for b in blocks if b.noise is None and b.words]
        for block in body:
            if block.kind in _FLOATS:
                continue
            if (
                last is not None
                and block.kind == "paragraph"
                and last.kind in ("paragraph", "list_item")
                and _elsewhere(last, block)
                and _goes_on(last, block)
            ):
                last.lines = [*last.lines, *block.lines]
                last.words = (*last.words, *block.words)
                block.joined = True
                continue
            last = block


def _elsewhere(first: Block, second: Block) -> bool:
    """Whether ``second`` stands at the head of another page or column than the end of ``first``."""
    end = first.words[-1]
    if end.page is not second.page:
        return second.page.number - end.page.number == 1
    return second.box[1] < end.box[1] and second.box[0] > end.box[0] - 5


def _goes_on(first: Block, second: Block) -> bool:
    if first.verbatim or second.verbatim:
        return False
    ending, beginning = first.words[-1], second.words[0]
    if abs(ending.size - beginning.size) > 0.1 * max(ending.size, beginning.size):
        return False
    if ending.text.endswith(("-", "\u2010")) and beginning.text[0].islower():
        return True
    if ending.text.endswith(_SENTENCE_END) and not re.fullmatch(r"[A-Za-z]\.", ending.text):
        return False
    if beginning.text[0].islower():
        return True
    return ending.text.endswith((",", "–", "—")) or ending.text.lower() in _GOES_ON
