"""What a person asks of the writing of one section of a report beside its template, and what that does to the sources:
places that are always given or never, and what was written before and is to be rewritten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from ragcore.errors import InputError, UnknownDocument
from ragcore.types import Answer, Document, Mark, Retrieval, Scope, Segment, Source
from ragcore.types.report import NO_FOCUS, Focus, Span

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.types.library import DocumentInfo


@dataclass(frozen=True, slots=True)
class SectionConstraints:
    """``pinned`` places are always among the sources and ``excluded`` ones never; ``draft`` is written again, by
    ``instruction``. ``fresh`` passes over what a model answered to the same request before. ``focus``: whom and which
    year the report is about."""

    pinned: tuple[Span, ...] = ()
    excluded: tuple[Span, ...] = ()
    draft: Answer | None = None
    instruction: str = ""
    fresh: bool = False
    focus: Focus = NO_FOCUS


def without(found: Retrieval, spans: Sequence[Span]) -> Retrieval:
    """``found`` without ``spans``: segments are cut around them, and hits that share anything with them left out."""
    if not spans:
        return found
    return replace(
        found,
        hits=tuple(hit for hit in found.hits if not _shares(hit.chunk.doc_id, hit.chunk.start, hit.chunk.end, spans)),
        segments=tuple(part for segment in found.segments for part in _cut(segment, spans)),
    )


def _shares(doc_id: str, start: int, end: int, spans: Sequence[Span]) -> bool:
    return any(span.doc_id == doc_id and span.start < end and start < span.end for span in spans)


def _cut(segment: Segment, spans: Sequence[Span]) -> list[Segment]:
    parts = [(segment.start, segment.end)]
    for span in spans:
        if span.doc_id == segment.doc_id:
            parts = [
                part
                for start, end in parts
                for part in ((start, min(end, span.start)), (max(start, span.end), end))
                if part[0] < part[1]
            ]
    return [replace(segment, start=start, end=end) for start, end in parts]


def pinned_sources(
    pinned: Sequence[Span], document: Callable[[str], Document], settings: Settings
) -> tuple[Source, ...]:
    """The sources that ``pinned`` are, numbered from 1. Raises `InputError` where they are longer than
    ``report.pinned_tokens`` together, and `UnknownDocument`."""
    if not pinned:
        return ()
    from ragcore.answer.sources import build_sources

    segments = tuple(Segment(span.doc_id, span.start, span.end, 0, 0, 0.0, "pinned") for span in pinned)
    budget = settings.answer.model_copy(update={"source_tokens": settings.report.pinned_tokens})
    sources = build_sources(Retrieval("", "pinned", (), segments), document, budget)
    for span in pinned:
        held = any(
            source.doc_id == span.doc_id and source.start < span.end and span.start < source.end for source in sources
        )
        if not held:
            raise InputError(
                f"The pinned passages are longer than {settings.report.pinned_tokens:,} tokens together.",
                hint="Unpin one, or raise report.pinned_tokens.",
            )
    return sources


def kept_sources(draft: Answer, excluded: Sequence[Span]) -> tuple[Source, ...]:
    """The sources of ``draft``, with their numbers, that share nothing with ``excluded``."""
    return tuple(source for source in draft.sources if not _shares(source.doc_id, source.start, source.end, excluded))


def without_marks_of_others(draft: Answer, sources: Sequence[Source]) -> Answer:
    """``draft`` without the marks of citations of anything but ``sources``, which its rewriting cannot cite."""
    numbers = {source.number for source in sources}
    held = {citation.n for citation in draft.citations if citation.source in numbers}
    text, marks, at, length = [], [], 0, 0
    for mark in draft.marks:
        keeps = mark.n in held
        piece = draft.text[at : mark.end if keeps else mark.start]
        piece = piece if keeps else piece.rstrip(" ")
        text.append(piece)
        length += len(piece)
        if keeps:
            marks.append(Mark(length - (mark.end - mark.start), length, mark.n, mark.added))
        at = mark.end
    return replace(draft, text="".join([*text, draft.text[at:]]), marks=tuple(marks))


def further(sources: Sequence[Source], more: Sequence[Source]) -> tuple[Source, ...]:
    """Those of ``more`` that share nothing with ``sources``, numbered after them: a draft's citations hold."""
    last = max((source.number for source in sources), default=0)
    new = [
        source
        for source in more
        if not any(s.doc_id == source.doc_id and s.start < source.end and source.start < s.end for s in sources)
    ]
    return tuple(replace(source, number=number) for number, source in enumerate(new, start=last + 1))


def within(scope: Scope, documents: Sequence[str] | None, infos: Sequence[DocumentInfo]) -> Scope:
    """``scope``, narrowed to the documents that a section names. Raises `UnknownDocument`."""
    if documents is None:
        return scope
    own: dict[str, None] = {}
    for name in documents:
        found = named(name, infos)
        if not found:
            raise UnknownDocument(
                f"The template uses “{name}”, which isn't in this library.",
                hint="Add it, or name another: `groundwork documents` lists them.",
            )
        own.update(dict.fromkeys(found))
    inside = tuple(doc_id for doc_id in own if scope.doc_ids is None or doc_id in scope.doc_ids)
    return replace(scope, doc_ids=inside)


def named(name: str, infos: Sequence[DocumentInfo]) -> list[str]:
    """The documents called ``name``: by id, file name (with or without its ending) or title."""
    called = name.casefold()
    return [
        info.doc_id
        for info in infos
        if called in (info.doc_id, info.name.casefold(), PurePath(info.name).stem.casefold(), info.title.casefold())
    ]
