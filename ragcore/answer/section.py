"""Requests for sections of a report: the sources, the report so far, the section, and its form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ragcore.answer.render import neutralise, render_source
from ragcore.config.settings import Settings
from ragcore.prompts import SECTION_FORMS, SECTION_PROMPT, SECTION_REVISION, SECTION_SYSTEM
from ragcore.protocols import Message, ModelRequest, WritingTask
from ragcore.text.sentences import count_tokens
from ragcore.text.terms import Term
from ragcore.types import Answer, Document, Route, Source
from ragcore.types.report import Field, FilledSection

BEFORE_TOKENS = 3000  # of the sections before it that the writer sees
_SHOWN_MARK = re.compile(r" ?\[\d+\]")


def section_request(
    heading: str,
    guidance: str,
    form: Field,
    outline: Sequence[str],
    before: Sequence[FilledSection],
    sources: Sequence[Source],
    document: Callable[[str], Document],
    settings: Settings,
    *,
    about: str = "",
    terms: Sequence[Term] = (),
    routes: Sequence[Route] = (),
    own: Sequence[tuple[int, int, int]] = (),
    draft: Answer | None = None,
    missing: Sequence[str] = (),
    instruction: str = "",
) -> ModelRequest:
    """Request for one section. ``outline`` are the numbered headings of the whole report, ``about`` its guidance, and
    ``before`` its earlier sections, included newest first within `BEFORE_TOKENS`. ``own`` is as in `WritingTask`. A
    ``draft`` requests a revision: for ``missing`` items, with sources found since, or by ``instruction``."""
    asked = "\n".join(f"{number}. {piece}" for number, piece in enumerate(form.requirements, start=1))
    revision = ""
    if draft is not None:
        revision = SECTION_REVISION.format(
            draft=with_markers(draft),
            missing="\n".join(f"- {what}" for what in missing) or "- nothing",
            instruction=instruction or "Fill what is missing from the sources; keep the rest as it is.",
        )
    prompt = SECTION_PROMPT.format(
        sources="\n\n".join(render_source(source, document(source.doc_id)) for source in sources),
        outline="\n".join(outline),
        about=about or "–",
        before=_before(before, BEFORE_TOKENS) or "None yet.",
        heading=heading,
        guidance=guidance or "–",
        requirements=asked,
        form=_form(form),
        revision=revision,
    )
    return ModelRequest(
        SECTION_SYSTEM,
        (Message(prompt),),
        max_tokens=settings.report.section_tokens,
        temperature=settings.llm.temperature,
        purpose="report",
        task=WritingTask(heading, tuple(sources), tuple(terms), tuple(routes), form, tuple(own)),
    )


def with_markers(answer: Answer) -> str:
    """Text of an answer as written, with citations as the writer's markers."""
    by_number = {citation.n: citation for citation in answer.citations}
    pieces: list[str] = []
    at = 0
    for mark in answer.marks:
        citation = by_number[mark.n]
        first, last = citation.units
        unit = f"{citation.source}.{first}" if first else str(citation.source)
        pieces += [
            answer.text[at : mark.start],
            f"<<SOURCE {unit}{f'-{citation.source}.{last}' if last > first else ''}>>",
        ]
        at = mark.end
    return "".join([*pieces, answer.text[at:]])


def _form(form: Field) -> str:
    columns = " | ".join(form.columns)
    return SECTION_FORMS[form.kind].format(columns=columns, unit=f" in {form.unit}" if form.unit else "")


def _before(sections: Sequence[FilledSection], tokens: int) -> str:
    """Earlier sections that fit ``tokens`` together, in the report's order, without citation marks, whose numbers
    belong to other sources."""
    kept: list[str] = []
    for section in reversed([section for section in sections if section.text]):
        text = neutralise(f"{section.number} {section.heading}\n{_SHOWN_MARK.sub('', section.text)}")
        cost = count_tokens(text)
        if cost > tokens:
            break
        kept.append(text)
        tokens -= cost
    return "\n\n".join(reversed(kept))
