"""Saying that the documents do not hold the answer: when, and in which words.

A wrong refusal hurts more than a weak answer that is shown as weak, so before anything is written only a clear case is
refused: nothing was found, or nothing that was found is about the question by relevance and by words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragcore.answer.cite import Marker, Part
from ragcore.config import AnswerSettings
from ragcore.markdown import escape
from ragcore.scopes import nothing_within
from ragcore.types import Retrieval, Source
from ragcore.words import content_stems, cover, tokens

NEAREST = 3
_UNANSWERED = "The documents do not answer this question."
_LONGEST_QUOTE = 280
_LONGEST_QUERY = 160
_FEWEST_WORDS = 5
_FEWEST_WORDS_UNENDED = 8
_SENTENCE_END = (".", "!", "?", ";", ":", ",")
_PAGE_COLUMN = re.compile(r"(?:^|· )(?:form \S+ )?page(?:\s*(?:no\.?|number|#))?$", re.IGNORECASE)
_DOT_LEADERS = re.compile(r"(?:\.\s?){5,}|(?:…\s?){2,}|_{4,}")


def reason_to_refuse(query: str, retrieval: Retrieval, sources: Sequence[Source], settings: AnswerSettings) -> str:
    """What opens a refusal, with why the sources cannot hold an answer to ``query``, or "" when they may.

    Refused when there is no source; when none of the query's content words stands in any source; or when the best
    rerank score is below ``refuse_below`` and no single source has half of the query's content words.
    """
    if not sources:
        scope = retrieval.scope
        # A search by words alone also finds nothing where there is something to search.
        if (scope.pages or scope.kinds) and not retrieval.hits and retrieval.mode != "bm25":
            return f"{nothing_within(scope)} Search other pages or kinds, or more documents."
        return f"{_UNANSWERED} No passage was found."
    wanted = set(content_stems(query))
    if not wanted:
        return ""
    best_cover = max(cover(wanted, content_stems(f"{s.title}\n{' '.join(s.section)}\n{s.text}")) for s in sources)
    reranked = [hit.scores["rerank"] for hit in retrieval.hits if "rerank" in hit.scores]
    irrelevant = bool(reranked) and max(reranked) < settings.refuse_below
    if irrelevant and best_cover < 0.5:
        return f"{_UNANSWERED} None of the passages found is about this."
    if best_cover == 0.0 and not any(score >= 0.5 for score in reranked):
        return f"{_UNANSWERED} None of the passages found has a word of the question."
    return ""


def refusal(
    reason: str, query: str, sources: Sequence[Source], *, said: bool = False, cited: bool = False
) -> list[str | Marker]:
    """A refusal as Markdown and markers: ``reason`` (as `reason_to_refuse` gives it, "" for none), what was searched,
    and the nearest passages, cited.

    The words of the question and of the documents are escaped, and only what is a `Marker` here cites. ``said`` leaves
    the opening out, where the writer has already said what is missing; ``cited`` leaves the nearest passages out, where
    it has already cited some.
    """
    asked = escape(_shortened(query, _LONGEST_QUERY))
    opening = "" if said else f"{reason or _UNANSWERED}\n\n"
    if not sources:
        return [f"{opening}Searched for: “{asked}”."]
    titles = [escape(" ".join(title.split())) for title in dict.fromkeys(source.title for source in sources)]
    where = ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")
    passages = "passage" if len(sources) == 1 else "passages"
    text = f"{opening}Searched for “{asked}”; read {len(sources)} {passages} of {where}."
    nearest = [] if cited else nearest_units(query, sources)
    if nearest:
        text += "\n\nThe nearest passages:\n"
    parts: list[str | Marker] = []
    for number, first, last, quote in nearest:
        place = Part(number, first, last, f"<<SOURCE {number}.{first}-{number}.{last}>>")
        parts += [f"{text}\n- “{escape(quote)}” ", Marker(place.raw, (place,))]
        text = ""
    return parts or [text]


def nearest_units(query: str, sources: Sequence[Source]) -> list[tuple[int, int, int, str]]:
    """``(source number, first unit, last unit, quote)`` of the sentence or table row nearest to the query in each of
    the first few sources that have one. Headings, fragments and lines of contents are not offered."""
    wanted = content_stems(query)
    out = []
    for source in sources:
        offered = [(first, last, source.words(first, last)) for first, last in _offered(source)]
        if offered:
            first, last, words = max(offered, key=lambda item: (cover(wanted, content_stems(item[2])), -item[0]))
            out.append((source.number, first, last, _shortened(words, _LONGEST_QUOTE)))
        if len(out) == NEAREST:
            break
    return out


def _offered(source: Source) -> Iterator[tuple[int, int]]:
    """Sentences and rows of the document that say something by themselves, as first and last unit numbers."""
    for first, last in source.lines():
        if source.units[first - 1].generated:
            continue
        if source.units[first - 1].kind == "cell":
            labels = [unit.label for unit in source.units[first - 1 : last]]
            values = [label for label in labels if label and not _PAGE_COLUMN.search(label)]
            if values and not all(labels) and not _DOT_LEADERS.search(source.words(first, last)):
                yield first, last
            continue
        yield from ((n, n) for n in range(first, last + 1) if _says_something(source.words(n, n)))


def _says_something(text: str) -> bool:
    """Whether a sentence unit can be more than a heading or a fragment: some words, and an end as of a sentence or
    else many words that are not all capitalised as in a title."""
    words = tokens(text)
    if len(words) < _FEWEST_WORDS or _DOT_LEADERS.search(text):
        return False
    if text.rstrip("”\"')’").endswith(_SENTENCE_END):
        return True
    return len(words) >= _FEWEST_WORDS_UNENDED and any(len(word) > 4 and word.islower() for word in text.split())


def _shortened(text: str, longest: int) -> str:
    """``text`` with single blanks, cut between words to about ``longest`` characters."""
    words = " ".join(text.split())
    return words if len(words) <= longest else words[:longest].rsplit(" ", 1)[0] + " …"
