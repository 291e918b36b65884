"""Chunks: consecutive spans that tile a document's body without gap or overlap.

Recursive: an element stays whole while it fits, else it is cut at its lines (a table at its rows), then at sentences,
then at words, then anywhere. Small neighbours of one section are then merged up to a target. A heading goes with what
follows it, a table is never mixed with prose, and no chunk holds text of two top sections.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ragcore.config import ChunkSettings
from ragcore.text import count_tokens, sentence_spans
from ragcore.types import Chunk, ChunkKind, Document, Element

SMALL = 3  # a piece below target / SMALL tokens may be merged with another subsection of its top section

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    tokens: int
    role: Literal["lead", "table", "text"]  # lead: a heading, or the caption above a table
    element: int
    section: tuple[str, ...]

    @property
    def top(self) -> str:
        return self.section[0] if self.section else ""


def chunk_document(document: Document, settings: ChunkSettings) -> tuple[Chunk, ...]:
    """Chunks in order: the first starts at 0, each starts where the one before ends, the last ends at ``body_end``.

    None has more than ``settings.max_tokens`` cl100k tokens. A document whose body is empty has none.
    """
    groups = _merge(_pieces(document, settings), settings)
    chunks: list[Chunk] = []
    for index, group in enumerate(groups):
        start, end = group[0].start, group[-1].end
        text = document.text[start:end]
        section = _section(group)
        kind: ChunkKind = "table" if any(piece.role == "table" for piece in group) else "text"
        before = chunks[-1] if chunks else None
        lead_in = ""
        if before is not None and before.section == section and before.kind == kind == "text":
            lead_in = _lead_in(before.text, settings.lead_in_tokens)
        chunks.append(
            Chunk(
                chunk_id=f"{document.doc_id}:{index}",
                doc_id=document.doc_id,
                index=index,
                kind=kind,
                start=start,
                end=end,
                text=text,
                section=section,
                header=" › ".join(part for part in (document.title, *section) if part),
                lead_in=lead_in,
                tokens=count_tokens(text),
            )
        )
    return tuple(chunks)


def _pieces(document: Document, settings: ChunkSettings) -> list[_Piece]:
    body = [element for element in document.body if element.end > element.start]
    pieces: list[_Piece] = []
    for place, element in enumerate(body):
        start = element.start if place else 0
        end = body[place + 1].start if place + 1 < len(body) else document.body_end
        following = body[place + 1] if place + 1 < len(body) else None
        role: Literal["lead", "table", "text"] = "text"
        section = element.section
        if element.kind == "table":
            role = "table"
        elif element.kind == "heading":
            role = "lead"
            section = (*section, document.text[element.start : element.end])
        elif element.kind == "caption" and following is not None and following.kind == "table":
            role = "lead"
        for piece_start, piece_end in _split(document.text, (start, end), element, settings):
            tokens = count_tokens(document.text[piece_start:piece_end])
            pieces.append(_Piece(piece_start, piece_end, tokens, role, element.id, section))
    return pieces


def _split(text: str, span: Span, element: Element, settings: ChunkSettings) -> list[Span]:
    """``span`` in parts of at most max_tokens; a table always at its rows, for the merge to fill up again."""
    if element.table is not None and element.table.row_spans:
        cuts = sorted({start for start, _end in element.table.row_spans} - {span[0]})
        rows = _cut(span, [cut for cut in cuts if span[0] < cut < span[1]])
        return [part for row in rows for part in _shrink(text, row, settings, _CUTTERS[1:])]
    return _shrink(text, span, settings, _CUTTERS)


_Cutter = Callable[[str, int, int], list[int]]


def _line_cuts(text: str, start: int, end: int) -> list[int]:
    return [match.end() for match in re.compile(r"\n+").finditer(text, start, end)]


def _sentence_cuts(text: str, start: int, end: int) -> list[int]:
    return [first for first, _last in sentence_spans(text[start:end], start)]


def _word_cuts(text: str, start: int, end: int) -> list[int]:
    return [match.end() for match in re.compile(r"\s+").finditer(text, start, end)]


def _middle(text: str, start: int, end: int) -> list[int]:
    return [(start + end) // 2]


_CUTTERS: tuple[_Cutter, ...] = (_line_cuts, _sentence_cuts, _word_cuts, _middle)


def _shrink(text: str, span: Span, settings: ChunkSettings, cutters: Sequence[_Cutter]) -> list[Span]:
    start, end = span
    if count_tokens(text[start:end]) <= settings.max_tokens or end - start <= 1:
        return [span]
    parts = _cut(span, [cut for cut in cutters[0](text, start, end) if start < cut < end])
    # The last cutter halves, and is applied again until the parts fit.
    rest = cutters[1:] or cutters
    if len(parts) == 1:
        return _shrink(text, span, settings, rest)
    limit = min(settings.max_tokens, settings.target_tokens)
    return [
        piece
        for part in _pack(text, parts, limit)
        for piece in _shrink(text, part, settings, rest if part in parts else cutters)
    ]


def _cut(span: Span, cuts: Sequence[int]) -> list[Span]:
    edges = [span[0], *cuts, span[1]]
    return list(pairwise(edges))


def _pack(text: str, parts: Sequence[Span], limit: int) -> list[Span]:
    """Neighbouring parts together up to ``limit`` tokens, counted apart (which is hardly ever less than together)."""
    packed: list[Span] = []
    room = 0
    for start, end in parts:
        tokens = count_tokens(text[start:end])
        if packed and tokens <= room:
            packed[-1] = (packed[-1][0], end)
            room -= tokens
        else:
            packed.append((start, end))
            room = limit - tokens
    return packed


def _merge(pieces: Sequence[_Piece], settings: ChunkSettings) -> list[list[_Piece]]:
    groups: list[list[_Piece]] = []
    current: list[_Piece] = []
    for piece in pieces:
        if current and not _joins(current, piece, settings):
            carried = _trailing_leads(current)
            if carried and _joins(carried, piece, settings):
                groups.append(current[: -len(carried)])
                current = carried
            else:
                groups.append(current)
                current = []
        current.append(piece)
    if current:
        groups.append(current)
    return groups


def _trailing_leads(group: Sequence[_Piece]) -> list[_Piece]:
    """The headings at the end of a group that has other text before them."""
    count = 0
    while count < len(group) and group[-1 - count].role == "lead":
        count += 1
    return list(group[len(group) - count :]) if 0 < count < len(group) else []


def _joins(group: Sequence[_Piece], piece: _Piece, settings: ChunkSettings) -> bool:
    tokens = sum(p.tokens for p in group)
    # Counted apart, pieces can come out a token short of their sum in one: leave room for one each.
    if tokens + piece.tokens + len(group) > settings.max_tokens or piece.top != group[-1].top:
        return False
    content = [p for p in group if p.role != "lead"]
    if not content:
        return True
    if piece.role == "table" or content[-1].role == "table":
        return piece.element == content[-1].element and tokens + piece.tokens <= settings.target_tokens
    small = settings.target_tokens // SMALL
    if piece.role == "lead":
        return tokens < small
    if group[-1].role == "lead":
        return tokens + piece.tokens <= settings.target_tokens
    same = piece.section == content[-1].section
    return (same or min(tokens, piece.tokens) < small) and tokens + piece.tokens <= settings.target_tokens


def _section(group: Sequence[_Piece]) -> tuple[str, ...]:
    """The section of the group's text; of its last heading when it has nothing else."""
    content = next((piece for piece in group if piece.role != "lead"), None)
    return content.section if content is not None else group[-1].section


def _lead_in(text: str, limit: int) -> str:
    """The last sentences of ``text`` that together have at most ``limit`` tokens."""
    start = None
    for first, _last in reversed(sentence_spans(text)):
        if count_tokens(text[first:].strip()) > limit:
            break
        start = first
    return "" if start is None else " ".join(text[start:].split())
