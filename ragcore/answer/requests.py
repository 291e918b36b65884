"""Requests to writers: for an answer, from sources, history and question; for a section of a report, from sources, the
report so far and the section's form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ragcore.answer.render import neutralise, render_source
from ragcore.config.settings import Settings
from ragcore.prompts import (
    ANSWER_PROMPT,
    ANSWER_SYSTEM,
    SECTION_FORMS,
    SECTION_PROMPT,
    SECTION_REVISION,
    SECTION_SYSTEM,
    SHORT_ANSWER,
)
from ragcore.protocols import Message, ModelRequest, WritingTask
from ragcore.text.sentences import count_tokens, encoding
from ragcore.text.terms import Term
from ragcore.types import Answer, Document, Route, Source, Turn
from ragcore.types.question import Question
from ragcore.types.report import Field, FilledSection

BEFORE_TOKENS = 3000  # of the earlier sections of a report that the writer sees
_SHOWN_MARK = re.compile(r" ?\[\d{1,3}\]")


def build_request(
    question: str,
    sources: Sequence[Source],
    history: Sequence[Turn],
    document: Callable[[str], Document],
    settings: Settings,
    *,
    query: Question | None = None,
    terms: Sequence[Term] = (),
    routes: Sequence[Route] = (),
) -> ModelRequest:
    """Request for one answer. The system part is the same for every question, so that it can be cached.

    ``query`` is the parsed stand-alone question, for a writer that does not read the history, ``terms`` its domain
    terms and ``routes`` the documents that it names.
    """
    blocks = "\n\n".join(render_source(source, document(source.doc_id)) for source in sources)
    prompt = ANSWER_PROMPT.format(sources=blocks, question=question.strip())
    system = ANSWER_SYSTEM + SHORT_ANSWER if settings.answer.style == "short" else ANSWER_SYSTEM
    kept = recent(history, settings.answer.history_turns, settings.answer.history_tokens)
    again = _continues(history, kept, settings.answer.history_turns)
    return ModelRequest(
        system,
        (*conversation(kept, again=again), Message(prompt)),
        max_tokens=settings.llm.max_tokens,
        task=WritingTask(query.text if query else question, tuple(sources), tuple(terms), tuple(routes), read=query),
    )


def conversation(history: Sequence[Turn], *, again: bool = False) -> list[Message]:
    """Earlier questions and answers as messages; ``again`` marks them for the prompt cache, since the next request
    repeats them."""
    said: list[Message] = []
    for turn in history:
        if turn.question.strip() and turn.answer.strip():
            said += [Message(turn.question), Message(turn.answer, "assistant")]
    if said and again:
        said[-1] = replace(said[-1], kept=True)
    return said


def _continues(history: Sequence[Turn], kept: Sequence[Turn], turns: int) -> bool:
    """Whether ``kept`` is all of ``history``, unchanged, and the next request will keep it too."""
    whole = len(kept) == len(history) < turns
    return whole and bool(kept) and kept[-1].answer == _SHOWN_MARK.sub("", history[-1].answer)


def recent(history: Sequence[Turn], turns: int, tokens: int) -> tuple[Turn, ...]:
    """Last ``turns`` exchanges that fit ``tokens`` together, oldest first.

    Marks ``[n]`` are removed, since their numbers belong to other sources. Turns are kept whole, newest first; only the
    newest is truncated if it alone exceeds the budget.
    """
    kept: list[Turn] = []
    left = tokens
    for turn in reversed(history[-turns:] if turns else ()):
        plain = Turn(turn.question, _SHOWN_MARK.sub("", turn.answer))
        cost = count_tokens(plain.question) + count_tokens(plain.answer)
        if cost > left:
            room = left - count_tokens(plain.question)
            if not kept and room > 0:
                kept.append(Turn(plain.question, _shorten(plain.answer, room)))
            break
        kept.append(plain)
        left -= cost
    return tuple(reversed(kept))


def _shorten(text: str, tokens: int) -> str:
    """First ``tokens`` tokens of ``text`` without an incomplete last word."""
    ids = encoding().encode_ordinary(text)[: max(1, tokens - 1)]
    return encoding().decode(ids, errors="ignore").rsplit(" ", 1)[0] + " …"


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
    unit = f" in {form.unit}" if form.unit else ""
    prompt = SECTION_PROMPT.format(
        sources="\n\n".join(render_source(source, document(source.doc_id)) for source in sources),
        outline="\n".join(outline),
        about=about or "–",
        before=_before(before, BEFORE_TOKENS) or "None yet.",
        heading=heading,
        guidance=guidance or "–",
        requirements=asked,
        form=SECTION_FORMS[form.kind].format(columns=" | ".join(form.columns), unit=unit),
        revision=revision,
    )
    return ModelRequest(
        SECTION_SYSTEM,
        (Message(prompt),),
        max_tokens=settings.report.section_tokens,
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
