"""Manual editing of report sections: text with its marks ``[n]``, checked again like any other, and passages and values
copied from the documents."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragcore.answer.cite import Citer, Part
from ragcore.answer.sources import build_sources
from ragcore.errors import InputError
from ragcore.report.fill import marked
from ragcore.text.markdown import escape
from ragcore.types import Answer, Citation, Mark, Retrieval, Segment, Source
from ragcore.types.report import INSUFFICIENT, FilledSection, Gap, SectionStatus, Span, StatedValue
from ragcore.verify.verify import unchecked, verify

if TYPE_CHECKING:
    from ragcore.report.fill import SectionFiller

HAND = "hand"  # writer of a text without a model
LONGEST = 100_000  # characters of a section
LONGEST_PASSAGE = 6_000  # characters copied at once
_MARK = re.compile(r"\[(\d{1,4})\]")
BY_HAND = "It is said so in the text."


def edited(filler: SectionFiller, section: FilledSection, text: str, further: Sequence[Citation] = ()) -> FilledSection:
    """``section`` with ``text`` in place of its own; ``[n]`` marks its citations and those of ``further``, and
    every sentence is checked against its citations. A mark without a citation goes to `Answer.dropped`. Raises
    `InputError` for a text that is too long."""
    text = text.replace("\r\n", "\n").strip()
    if len(text) > LONGEST:
        raise InputError(
            f"A section can have at most {LONGEST:,} characters; this one has {len(text):,}.", hint="Shorten it."
        )
    before = section.answer or blank(section)
    known = {citation.n: citation for citation in (*before.citations, *further)}
    found = list(_MARK.finditer(text))
    marks = tuple(Mark(match.start(), match.end(), int(match[1])) for match in found if int(match[1]) in known)
    used = tuple(known[n] for n in sorted({mark.n for mark in marks}))
    claims = verify(
        text,
        marks,
        used,
        filler.document,
        filler.settings.verify,
        reranker=filler.models.reranker,
        entailment=filler.models.entailment,
    )
    answer = replace(
        blank(section),
        text=text,
        claims=claims,
        citations=used,
        marks=marks,
        dropped=tuple(dict.fromkeys(match.group() for match in found if int(match[1]) not in known)),
        sources=before.sources,
        notes=unchecked(claims),
    )
    gaps = tuple(_gap(section, what or section.heading) for what in marked(text))
    bare = INSUFFICIENT.sub("", text).strip()
    status: SectionStatus = "empty" if not bare else "partial" if gaps else "filled"
    return replace(section, status=status, answer=answer, gaps=gaps)


def with_passage(filler: SectionFiller, section: FilledSection, span: Span, instead_of: str = "") -> FilledSection:
    """``section`` with the words at ``span`` quoted at its end, or in place of the gap ``instead_of``. Raises
    `InputError` for no words, or too many."""
    source, citation = _cited(filler, section, span)
    words = " ".join(citation.quotation.split())
    about = f"{escape(citation.label)}: " if citation.label else ""
    quote = f"{about}“{escape(words)}” [{citation.n}]"
    answer = section.answer or blank(section)
    if source is not None:
        section = replace(section, answer=replace(answer, sources=(*answer.sources, source)))
    return edited(filler, section, _put(section, quote, instead_of), (citation,))


def with_value(filler: SectionFiller, section: FilledSection, rival: StatedValue) -> FilledSection:
    """``section`` with one of the documents' values, quoted, in place of its text."""
    answer = section.answer or blank(section)
    known = _same(answer.citations, rival.citation)
    citation = known or replace(rival.citation, n=_next(answer.citations))
    text = f"**{escape(rival.figure)}** — “{escape(rival.words)}” [{citation.n}]"
    return replace(edited(filler, section, text, (citation,)), conflicts=())


def _cited(filler: SectionFiller, section: FilledSection, span: Span) -> tuple[Source | None, Citation]:
    """Citation of ``span`` with its source, None for a source that the section has already."""
    if span.end - span.start > LONGEST_PASSAGE:
        raise InputError(
            f"You can add at most {LONGEST_PASSAGE:,} characters at once.", hint="Select a shorter passage."
        )
    citations = section.answer.citations if section.answer else ()
    sources = section.answer.sources if section.answer else ()
    segment = Segment(span.doc_id, span.start, span.end, 0, 0, 0.0, "hand")
    document = filler.document(span.doc_id)
    inside = 0 <= span.start < span.end <= len(document.text) and document.text[span.start : span.end].strip()
    found = Retrieval("", "hand", (), (segment,))
    made = build_sources(found, filler.document, filler.settings.answer) if inside else ()
    if not made:
        raise InputError("No words are selected.", hint="Select words on the page, then add them.")
    source = replace(made[0], number=max((one.number for one in sources), default=0) + 1)
    citation = Citer((source,), filler.document).cite(Part(source.number, 0, 0, ""))
    assert citation is not None  # the source has units
    known = _same(citations, citation)
    return (None, known) if known else (source, replace(citation, n=_next(citations)))


def blank(section: FilledSection) -> Answer:
    """Empty answer, for a section without text."""
    return Answer(section.heading, text=section.text, model=HAND, cost_usd=0.0, created=time.time())


def _put(section: FilledSection, quote: str, instead_of: str) -> str:
    text = section.text
    if section.field.kind == "list":
        quote = f"- {quote}"
    for match in INSUFFICIENT.finditer(text):
        if instead_of and (match.group(1) or "").strip(" .") == instead_of.strip(" ."):
            return f"{text[: match.start()]}{quote}{text[match.end() :]}"
    between = "\n" if section.field.kind == "list" and text.rpartition("\n")[2].startswith("- ") else "\n\n"
    return f"{text}{between}{quote}" if text else quote


def _gap(section: FilledSection, what: str) -> Gap:
    return next((gap for gap in section.gaps if gap.what == what), Gap(what, BY_HAND))


def _same(citations: Sequence[Citation], wanted: Citation) -> Citation | None:
    place = (wanted.doc_id, wanted.start, wanted.end)
    return next((one for one in citations if (one.doc_id, one.start, one.end) == place), None)


def _next(citations: Sequence[Citation]) -> int:
    return max((citation.n for citation in citations), default=0) + 1
