"""Document builder: runs the passes over the pages in order and writes the canonical text.

Pure and deterministic: the same pages and settings always give the same document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragcore.config.settings import Settings
from ragcore.errors import NoText, NothingRead
from ragcore.ingest.blocks import Block, page_blocks
from ragcore.ingest.canonical import CanonicalText, Hyphenation
from ragcore.ingest.captions import tie_captions
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.ingest.levels import section_paths, set_heading_levels, set_item_levels
from ragcore.ingest.noise import mark_noise
from ragcore.ingest.paragraphs import join_over_breaks, split_blocks
from ragcore.ingest.roles import correct_roles
from ragcore.ingest.tables.draft import Draft
from ragcore.ingest.tables.pages import draft_tables, join_tables
from ragcore.ingest.tables.text import write_table
from ragcore.ingest.titles import document_title
from ragcore.types import Box, Document, Element, Page, Table


@dataclass(frozen=True)
class _Written:
    start: int
    end: int
    table: Table | None = None
    generated: tuple[int, int] | None = None


def build_document(
    doc_id: str,
    sha256: str,
    name: str,
    info: FileInfo,
    pages: Sequence[PageLayout],
    settings: Settings,
    descriptions: Mapping[Box, str] | None = None,
) -> Document:
    """Document built from ``pages`` (any order), with ``descriptions`` of figures by region. Raises `NoText` if no page
    has a word, or `NothingRead` if unreadable pages are the cause."""
    ordered = sorted(pages, key=lambda page: page.number)
    if not any(page.texts or any(region.description for region in page.regions) for page in ordered):
        lost = [page for page in ordered if page.unread]
        if lost:
            why = (lost[0].degraded or "").rstrip(".")
            raise NothingRead(f"No text in {name} could be read. Page {lost[0].number}: {why}.")
        why = next((f" (page {page.number}: {page.degraded})" for page in ordered if page.degraded), "")
        raise NoText(f"{name} has no readable text: its pages are empty, or pictures without words{why}.")
    per_page = split_blocks([page_blocks(page) for page in ordered])
    hyphenation = Hyphenation(line for blocks in per_page for block in blocks for line in block.lines)
    correct_roles(per_page)
    mark_noise(per_page, settings.noise, info.furniture)
    captions = tie_captions(per_page)
    drafts = draft_tables(per_page)
    set_heading_levels([block for page in per_page for block in page if not block.joined], info)
    join_tables(per_page, drafts)
    join_over_breaks(per_page)
    blocks = [block for page in per_page for block in page if not block.joined]
    set_item_levels(blocks)
    paths = section_paths(blocks)

    text = CanonicalText(hyphenation)
    described = _described(blocks, descriptions or {})
    written: dict[Block, _Written] = {}
    before: Block | None = None
    body_end = 0
    for block in sorted(blocks, key=lambda block: block.noise is not None):
        if block.words or block in described:
            if before is not None:
                listed = before.kind == block.kind == "list_item"
                text.separate("\n" if listed and block.noise is None else "\n\n")
            before = block
        written[block] = _write(text, block, drafts.get(block), described.get(block, ""))
        if block.noise is None:
            body_end = len(text)

    content, words = text.finish()
    numbers = {block: number for number, block in enumerate(blocks)}
    figures: dict[Block, list[int]] = {}
    for figure, caption in captions.items():
        figures.setdefault(caption, []).append(numbers[figure])
    elements = tuple(
        Element(
            id=number,
            kind=block.kind,
            start=written[block].start,
            end=written[block].end,
            page=block.page.number,
            level=block.level,
            section=paths[number] if block.noise is None else (),
            region=tuple(
                box for part in (drafts[block].blocks if block in drafts else [block]) for box in _region(part)
            ),
            noise=block.noise,
            table=written[block].table,
            caption=numbers[captions[block]] if block in captions else None,
            caption_of=tuple(sorted(figures.get(block, ()))),
            generated=written[block].generated,
            place=block.place or (info.places[block.page.number - 1] if info.places else ""),
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
        pages=tuple(_page(page, info) for page in ordered),
        elements=elements,
    )


def _page(page: PageLayout, info: FileInfo) -> Page:
    label = (info.labels[page.number - 1] if page.number <= len(info.labels) else "") or page.label
    return Page(page.number, label, page.width, page.height, page.rotation, page.degraded, page.ocr, page.unread)


def _described(blocks: Sequence[Block], descriptions: Mapping[Box, str]) -> dict[Block, str]:
    """AI-written description of each figure: the page's own, else the one in ``descriptions`` for its region."""
    own = {block: block.description for block in blocks if block.kind == "figure" and block.description}
    given = {
        block: descriptions[region]
        for block in blocks
        if block.kind == "figure" and block.noise is None
        for region in _region(block)
        if region in descriptions
    }
    return given | own


def _write(text: CanonicalText, block: Block, draft: Draft | None, description: str) -> _Written:
    start = len(text)
    if draft is not None:
        table = write_table(text, draft)
        return _Written(start, len(text), table)
    keeps_lines = block.verbatim or block.kind == "figure"
    text.lines(block.lines, line_break="\n" if keeps_lines else " ")
    if not description:
        return _Written(start, len(text))
    if block.words:
        text.separate("\n")
    generated = text.description(description, block.page.number, block.page.displayed(block.box))
    return _Written(start, len(text), generated=generated)


def _region(block: Block) -> tuple[Box, ...]:
    if block.kind not in ("figure", "table"):
        return ()
    x0, y0, x1, y1 = block.page.displayed(block.box)
    return (Box(block.page.number, x0, y0, x1, y1),) if x1 > x0 and y1 > y0 else ()
