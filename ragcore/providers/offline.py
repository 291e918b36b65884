"""The answer without a language model: the best sentences and table rows of the sources, quoted and cited.

What is quoted is always a unit's own text, so the writer can be incomplete but never wrong about what a document says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ragcore.asks import asks
from ragcore.config import AnswerSettings
from ragcore.markdown import escape
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import Request, Reranker, StaticStream
from ragcore.providers.quotable import Quotable, is_same, quotables
from ragcore.providers.quote_ranking import rank, rows_for
from ragcore.types import Source, Usage
from ragcore.words import STOP_WORDS, tokens

_NEAREST = 3
# Where the sources do not even name what the question is about, only what is plainly relevant is quoted.
_DOUBTFUL_FLOOR = 0.5
_FINAL_PUNCTUATION = " .:;,…–—-"
_NAME = re.compile(r"(?<=[\w,] )([A-Z][\w&.-]*[a-z0-9])(?:['’]s?)?(?!\w)")


class OfflineWriter:
    """Quotes instead of writing (`ragcore.protocols.LLM`). ``reranker`` of None ranks by words alone."""

    name = "offline"
    extractive = True

    def __init__(self, reranker: Reranker | None, settings: AnswerSettings) -> None:
        self._reranker = reranker
        self._settings = settings

    def stream(self, request: Request) -> StaticStream:
        """The whole answer, one quote at a time. The prompt is not read."""
        return StaticStream(self._write(request), model=self.name, usage=Usage())

    def _write(self, request: Request) -> Iterator[str]:
        main, *parts = asks(request.question)
        found = list(quotables(" ".join((main, *parts)), request.sources))
        ranked = rank(main, found, self._reranker)
        unknown = unknown_names(main, request.sources)
        missing = f"None of the passages found names {_listed(unknown)}." if unknown else ""

        floor = max(self._settings.offline_floor, _DOUBTFUL_FLOOR if unknown else 0.0)
        floor = max(floor, self._settings.offline_share * ranked[0][1]) if ranked else floor
        # For a quantity that the question defines by others, the rows of those come before anything else.
        good = (*rows_for(parts, found), *(quote for quote, worth in ranked if worth >= floor))
        chosen = _without_repeats(good, self._settings.offline_sentences)
        if chosen:
            yield f"{missing}\n\n" if missing else ""
            yield from _listing(chosen)
            return
        yield f"{NO_ANSWER} {missing or 'No sentence or row of the passages found speaks of this directly.'}"
        nearest = _without_repeats((quote for quote, worth in ranked if worth > 0.0), _NEAREST)
        if nearest:
            yield " The nearest:\n\n"
            yield from _listing(nearest)


def _without_repeats(quotes: Iterable[Quotable], most: int) -> list[Quotable]:
    chosen: list[Quotable] = []
    for quote in quotes:
        if len(chosen) < most and not any(is_same(quote, other) for other in chosen):
            chosen.append(quote)
    return chosen


def _listing(chosen: Sequence[Quotable]) -> Iterator[str]:
    """The quotes as a list in the order of their document; under their titles, best first, when there are several."""
    documents = list(dict.fromkeys(quote.source.doc_id for quote in chosen))
    for index, doc_id in enumerate(documents):
        own = sorted((quote for quote in chosen if quote.source.doc_id == doc_id), key=lambda quote: quote.start)
        if len(documents) > 1:
            yield ("\n" if index else "") + f"**{escape(own[0].source.title)}**\n\n"
        for quote in own:
            title = quote.about.rstrip(_FINAL_PUNCTUATION)
            about = f"{escape(title)}: " if title else ""
            yield f"- {about}“{escape(quote.text)}” {quote.marker}\n"


def unknown_names(question: str, sources: Sequence[Source]) -> list[str]:
    """Names in the question that stand in no source, title or section: what is quoted can hardly be about them."""
    given: set[str] = set()
    for source in sources:
        words = tokens(" ".join((source.title, *source.section, source.text)))
        given.update(words)
        # "BestBuy" is named by "Best Buy".
        given.update(first + second for first, second in pairwise(words))
    names = []
    for name in dict.fromkeys(_NAME.findall(question)):
        parts = [part for part in tokens(name) if part not in STOP_WORDS]
        if parts and not any(part in given for part in parts):
            names.append(name)
    return names


def _listed(names: Sequence[str]) -> str:
    quoted = [f"“{escape(name)}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
