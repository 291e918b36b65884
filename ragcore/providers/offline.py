"""The answer without a language model: the best sentences and table rows of the sources, quoted and cited.

What is quoted is always a unit's own text, so the writer can be incomplete but never wrong about what a document says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ragcore.about import asks_about_whole, opens_text
from ragcore.asks import asks, places
from ragcore.called import called, compares
from ragcore.config import AnswerSettings
from ragcore.everyday import asks_holder
from ragcore.markdown import escape
from ragcore.missing import Missing, missing, years_in
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import Request, Reranker, StaticStream
from ragcore.providers.quotable import Quotable, is_same, quotables, without_repeats
from ragcore.providers.quote_ranking import Ranking
from ragcore.providers.rows import brief
from ragcore.providers.values import Value, values
from ragcore.quoting import quoted
from ragcore.terms import Wanted
from ragcore.types import Usage

_NEAREST = 3
# Where the sources do not even name what the question is about, only what is plainly relevant is quoted.
_DOUBTFUL_FLOOR = 0.5
_FINAL_PUNCTUATION = " .:;,…–—-"
_OPENING = 2  # sentences with which a document that does not say what it is about opens
_LONGEST_TITLE = 110  # characters of what a document or table is called


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
        wanted = Wanted(main, request.terms)
        found = list(
            quotables(" ".join((main, *parts)), Wanted(" ".join((main, *parts)), request.terms), request.sources)
        )
        ranking = Ranking(
            main,
            wanted,
            where=places(request.question),
            terms=request.terms,
            routes=request.routes,
        )
        ranked = ranking.best(found, self._reranker)
        absent = missing(main, request.sources, request.terms)
        # What led to a document is the name of it, however the document calls it.
        known = " ".join(route.name for route in request.routes)
        absent = replace(absent, names=tuple(name for name in absent.names if name not in known))
        said = f"None of the passages found {_lacks(absent)}." if absent else ""

        # Of two that are compared, the one that is there is told of.
        half = compares(main) and any(name.text not in absent.names for name in called(main, request.terms))
        floor = max(self._settings.offline_floor, _DOUBTFUL_FLOOR if absent.names and not half else 0.0)
        floor = max(floor, self._settings.offline_share * ranked[0][1]) if ranked else floor
        # For a quantity that is made of others, the rows of those come before anything else.
        rows = ranking.rows_for(parts, request.terms, found)
        good = (*rows, *(quote for quote, worth in ranked if worth >= floor))
        # Who is named in the office asked for is the answer; what else speaks of the office is not.
        holders = [quote for quote in good if ranking.has_form(quote)] if asks_holder(main) else []
        if asks_about_whole(main):
            good = _openings(ranking, [quote for quote, _ in ranked], found)
        chosen = without_repeats(holders or good, self._settings.offline_quotes)
        if chosen and not absent.years:
            said = said or _of_other_years(main, chosen)
            if asks_holder(main) and not holders:
                said = said or "No passage found plainly says who holds this office. What comes nearest:"
            yield f"{said}\n\n" if said else ""
            direct = [] if parts or absent else values(main, request.terms, found, ranking)
            yield from _direct(direct)
            shown = [value.quote for value in direct]
            rest = [quote for quote in chosen if not any(is_same(quote, other) for other in shown)]
            yield from listing(rest, best_first=not rows)
            return
        yield f"{NO_ANSWER} {said or 'No sentence or row of the passages found speaks of this directly.'}"
        nearest = without_repeats((quote for quote, worth in ranked if worth > 0.0), _NEAREST)
        if nearest:
            yield " The nearest:\n\n"
            yield from listing(nearest)


def _direct(found: Sequence[Value]) -> Iterator[str]:
    """The value that was asked for, and what other tables give instead of it."""
    for index, value in enumerate(found):
        table = brief(value.quote.about, _LONGEST_TITLE).rstrip(_FINAL_PUNCTUATION)
        about = "; ".join(part for part in (value.title, table) if part)
        opening = "Another table gives a different value: " if index == 1 else ""
        note = f" ({escape(value.scale)} {value.scale_marker})" if value.scale else ""
        where = f"{escape(about)}: " if about else ""
        yield f"{opening}**{escape(value.figure)}** — {where}{escape(quoted(value.text))} {value.marker}{note}\n\n"


def _openings(ranking: Ranking, ranked: Sequence[Quotable], found: Sequence[Quotable]) -> tuple[Quotable, ...]:
    """Of each document that is asked about as a whole what says what it is, best first, else how its text opens; of
    each of several one quote."""
    out: list[Quotable] = []
    documents = dict.fromkeys(quote.source.doc_id for quote in ranked)
    most = None if len(documents) == 1 else 1
    for doc_id in documents:
        own = [quote for quote in found if quote.source.doc_id == doc_id and quote.row is None]
        best = [quote for quote in ranked if quote in own] + own
        said = [quote for quote in best if ranking.has_form(quote)]
        if not said:
            said = sorted((quote for quote in own if opens_text(quote.text)), key=lambda quote: quote.start)[:_OPENING]
        out += (said or sorted(own, key=lambda quote: quote.start)[:_OPENING])[:most]
    return tuple(out)


def listing(
    chosen: Sequence[Quotable],
    *,
    best_first: bool = False,
    mark: str = "**",
    titles: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """The quotes, given best first, as a list in the order of their document, with ``best_first`` behind the best of
    them; under their titles (between ``mark``), or what they are called in ``titles``, best first, when there are
    several."""
    documents = list(dict.fromkeys(quote.source.doc_id for quote in chosen))
    for index, doc_id in enumerate(documents):
        own = [quote for quote in chosen if quote.source.doc_id == doc_id]
        leads = own[:1] if best_first else []
        own = leads + sorted(own[len(leads) :], key=lambda quote: quote.start)
        if len(documents) > 1:
            title = (titles or {}).get(doc_id) or brief(own[0].source.title, _LONGEST_TITLE)
            # A bold line is a heading by itself; another leads in what it stands over.
            yield ("\n" if index else "") + f"{mark}{escape(title)}{mark}{'' if mark == '**' else ':'}\n\n"
        for quote in own:
            title = brief(quote.about, _LONGEST_TITLE).rstrip(_FINAL_PUNCTUATION)
            about = f"{escape(title)}: " if title else ""
            yield f"- {about}{escape(quoted(quote.shown))} {quote.marker}\n"


def _of_other_years(question: str, chosen: Sequence[Quotable]) -> str:
    """That nothing quoted is of a year asked for, "" where something is, or may be."""
    asked = years_in(question)
    # The title's year is that of what says no other.
    of_each = [years_in(f"{quote.text} {quote.about}") or years_in(quote.source.title) for quote in chosen]
    given = {year for years in of_each for year in years}
    if not asked or asked & given or not given:
        return ""
    return f"What is quoted does not speak of {_listed([str(year) for year in sorted(asked)])}."


def _lacks(absent: Missing) -> str:
    """``names “Apple” or speaks of 2012``."""
    said = []
    if absent.names:
        said.append(f"names {_listed([f'“{escape(name)}”' for name in absent.names])}")
    if absent.years:
        said.append(f"speaks of {_listed([str(year) for year in absent.years])}")
    return " or ".join(said)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
