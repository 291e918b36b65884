"""Sources, history and question → what the writer is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ragcore.answer.render import render_source
from ragcore.config import Settings
from ragcore.prompts import ANSWER_PROMPT, ANSWER_SYSTEM
from ragcore.protocols import Request
from ragcore.text import count_tokens, encoding
from ragcore.types import Document, Source, Turn

_SHOWN_MARK = re.compile(r" ?\[\d{1,3}\]")


def build_request(
    question: str,
    sources: Sequence[Source],
    history: Sequence[Turn],
    document: Callable[[str], Document],
    settings: Settings,
    *,
    query: str = "",
) -> Request:
    """The request for one answer. The system part is the same for every question, so that it can be cached.

    ``query`` is the question made to stand alone, for a writer that does not read the history.
    """
    blocks = "\n\n".join(render_source(source, document(source.doc_id)) for source in sources)
    return Request(
        question=query or question,
        sources=tuple(sources),
        system=ANSWER_SYSTEM,
        prompt=ANSWER_PROMPT.format(sources=blocks, question=question.strip()),
        history=recent(history, settings.answer.history_turns, settings.answer.history_tokens),
        max_tokens=settings.llm.max_tokens,
        temperature=settings.llm.temperature,
    )


def recent(history: Sequence[Turn], turns: int, tokens: int) -> tuple[Turn, ...]:
    """The last ``turns`` exchanges that fit ``tokens`` together, oldest first.

    Marks ``[n]`` are left out: their numbers belong to other sources. Turns go in whole, newest first; only the newest
    is shortened, at its end, when it alone is longer than the budget.
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
    """The first ``tokens`` tokens of ``text`` with the last broken word left out."""
    ids = encoding().encode_ordinary(text)[: max(1, tokens - 1)]
    return encoding().decode(ids, errors="ignore").rsplit(" ", 1)[0] + " …"
