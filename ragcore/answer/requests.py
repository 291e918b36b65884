"""Requests to writers, from sources, history and question."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ragcore.answer.render import neutralise, render_source
from ragcore.config.settings import Settings
from ragcore.prompts import ANSWER_PROMPT, ANSWER_SYSTEM, OVERVIEW_PROMPT, SHORT_ANSWER
from ragcore.protocols import Message, ModelRequest, WritingTask
from ragcore.text.sentences import count_tokens, encoding
from ragcore.text.short_titles import short
from ragcore.text.terms import Term
from ragcore.types import Document, Overview, Route, Source, Turn
from ragcore.types.question import Comparison, Question

MOST_SILENT = 40  # documents named as having nothing on a topic
SHOWN_MARK = re.compile(r" ?\[\d{1,3}\]")


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
    overview: Overview | None = None,
    comparison: Comparison | None = None,
    titles: Mapping[str, str] | None = None,
) -> ModelRequest:
    """Request for one answer. The system part is the same for every question, so that it can be cached.

    ``query`` is the parsed stand-alone question, for a writer that does not read the history, ``terms`` its domain
    terms and ``routes`` the documents that it names. ``titles`` are those of the documents of an ``overview`` or a
    ``comparison``, by id.
    """
    blocks = "\n\n".join(render_source(source, document(source.doc_id)) for source in sources)
    prompt = ANSWER_PROMPT.format(sources=blocks, question=question.strip())
    if overview is not None:
        prompt += _grouped(overview, sources, titles or {})
    system = ANSWER_SYSTEM + SHORT_ANSWER if settings.answer.style == "short" else ANSWER_SYSTEM
    kept = recent(history, settings.answer.history_turns, settings.answer.history_tokens)
    again = _continues(history, kept, settings.answer.history_turns)
    return ModelRequest(
        system,
        (*conversation(kept, again=again), Message(prompt)),
        max_tokens=settings.llm.max_tokens,
        task=WritingTask(
            query.text if query else question,
            tuple(sources),
            tuple(terms),
            tuple(routes),
            read=query,
            overview=overview,
            comparison=comparison,
            titles=titles or {},
        ),
    )


def _grouped(overview: Overview, sources: Sequence[Source], titles: Mapping[str, str]) -> str:
    """How to write an overview: its themes with the sources of each, and the documents without any."""
    lines = []
    for theme in overview.themes:
        among = [str(source.number) for source in sources if any(source.holds(*span) for span in theme.passages)]
        if among:
            size = f"{len(theme.doc_ids)} of {overview.searched} documents"
            lines.append(f"- {neutralise('; '.join(theme.labels))} ({size}): sources {', '.join(among)}")
    named = [f"“{neutralise(short(titles.get(doc_id, doc_id)))}”" for doc_id in overview.silent[:MOST_SILENT]]
    more = len(overview.silent) - len(named)
    silent = "; ".join([*named, *([f"and {more} more"] if more else [])])
    return OVERVIEW_PROMPT.format(themes="\n".join(lines), silent=silent or "none")


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
    return whole and bool(kept) and kept[-1].answer == SHOWN_MARK.sub("", history[-1].answer)


def recent(history: Sequence[Turn], turns: int, tokens: int) -> tuple[Turn, ...]:
    """Last ``turns`` exchanges that fit ``tokens`` together, oldest first.

    Marks ``[n]`` are removed, since their numbers belong to other sources. Turns are kept whole, newest first; only the
    newest is truncated if it alone exceeds the budget.
    """
    kept: list[Turn] = []
    left = tokens
    for turn in reversed(history[-turns:] if turns else ()):
        plain = Turn(turn.question, SHOWN_MARK.sub("", turn.answer))
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
