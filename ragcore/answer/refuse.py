"""Saying that the documents do not hold the answer: when, and in which words.

A wrong refusal hurts more than a weak answer that is shown as weak, so before anything is written only a clear case is
refused: nothing was found, or nothing that was found is about the question by relevance and by words.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragcore.answer.render import neutralise
from ragcore.config import AnswerSettings
from ragcore.types import Retrieval, Source, Unit
from ragcore.words import content_stems, cover

NEAREST = 3
_LONGEST_QUOTE = 280
_LONGEST_QUERY = 160


def reason_to_refuse(query: str, retrieval: Retrieval, sources: Sequence[Source], settings: AnswerSettings) -> str:
    """One sentence on why the sources cannot hold an answer to ``query``, or "" when they may.

    Refused when there is no source; when none of the query's content words stands in any source; or when the best
    rerank score is below ``refuse_below`` and no single source has half of the query's content words.
    """
    if not sources:
        return "No passage was found."
    wanted = set(content_stems(query))
    if not wanted:
        return ""
    best_cover = max(cover(wanted, content_stems(f"{s.title}\n{' '.join(s.section)}\n{s.text}")) for s in sources)
    reranked = [hit.scores["rerank"] for hit in retrieval.hits if "rerank" in hit.scores]
    irrelevant = bool(reranked) and max(reranked) < settings.refuse_below
    if irrelevant and best_cover < 0.5:
        return "None of the passages found is about this."
    if best_cover == 0.0 and not any(score >= 0.5 for score in reranked):
        return "None of the passages found has a word of the question."
    return ""


def refusal_text(reason: str, query: str, sources: Sequence[Source], *, said: bool = False, cited: bool = False) -> str:
    """A refusal in the writers' language: what is missing, what was searched, and the nearest passages with markers.

    ``said`` leaves the opening out, where the writer has already said what is missing; ``cited`` leaves the nearest
    passages out, where it has already cited some.
    """
    query = query if len(query) <= _LONGEST_QUERY else query[:_LONGEST_QUERY].rsplit(" ", 1)[0] + " …"
    titles = list(dict.fromkeys(source.title for source in sources))
    lines = [] if said else [f"The documents do not answer this question. {reason}".strip()]
    if not sources:
        lines.append(f"Searched for: “{query}”.")
        return "\n\n".join(lines)
    where = ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")
    passages = "passage" if len(sources) == 1 else "passages"
    lines.append(f"Searched for “{query}”; read {len(sources)} {passages} of {where}.")
    nearest = [] if cited else nearest_units(query, sources)
    if nearest:
        lines.append("The nearest passages:")
        lines.append("\n".join(f"- “{quote}” <<SOURCE {number}.{unit}>>" for number, unit, quote in nearest))
    return "\n\n".join(lines)


def nearest_units(query: str, sources: Sequence[Source]) -> list[tuple[int, int, str]]:
    """``(source number, unit number, quote)`` of the sentence nearest to the query in each of the first few sources."""
    wanted = content_stems(query)
    out = []
    for source in sources:
        sentences = [(i, u) for i, u in enumerate(source.units, start=1) if u.kind == "sentence"]
        units = [item for item in sentences if len(_text(source, item[1])) >= 40] or sentences
        units = units or list(enumerate(source.units, start=1))
        if units:
            index, unit = max(units, key=lambda item: (cover(wanted, content_stems(_text(source, item[1]))), -item[0]))
            out.append((source.number, index, _quote(_text(source, unit))))
        if len(out) == NEAREST:
            break
    return out


def _text(source: Source, unit: Unit) -> str:
    return source.text[unit.start - source.start : unit.end - source.start]


def _quote(text: str) -> str:
    words = neutralise(" ".join(text.split()))
    return words if len(words) <= _LONGEST_QUOTE else words[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
