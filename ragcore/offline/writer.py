"""Offline answer writer: the best sentence or cell of the sources, then at most two more, all cited.

Quotation marks enclose only a unit's own text, and a cell is shown as a table of its headers and value, so the writer
can be incomplete but never wrong about a document's words. A quote must be about the question: by the cross-encoder's
judgement of the line, or because the line has all of the question's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragcore.config.settings import AnswerSettings
from ragcore.offline.answerable import FARTHEST, Signs, probability, signs_of
from ragcore.offline.intents import about_whole, fit, listed_lines
from ragcore.offline.names import Missing, missing
from ragcore.offline.question import read
from ragcore.offline.quotable import Quotable, is_same, joined_to, marker, quotables, without_repeats
from ragcore.offline.quote_ranking import LONGEST_PASSAGE, Ranking, Scored
from ragcore.offline.rows import Cell, CellRow, Row, brief, cell_table, in_figures, parts_of_column, unit_of
from ragcore.offline.values import MOST, Value, extremes, values
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import Capabilities, ModelRequest, Reranker, StaticStream, WritingTask
from ragcore.text.languages import language_of
from ragcore.text.logistic import log_odds
from ragcore.text.markdown import escape, quoted
from ragcore.text.naming import named
from ragcore.text.periods import years
from ragcore.text.terms import Wanted
from ragcore.text.words import tokens
from ragcore.types import OFFLINE, Source, Usage
from ragcore.types.question import Question

_NEAREST = 3
_PLAINLY = 0.02  # relevance of a document's statement of its findings, without words of the question
# Gain in log odds of relevance by which two sentences match the question better than the first alone.
_TOGETHER = 0.5
_FITS = 2.0  # bonus if the two look like an answer and the first alone does not
_FINAL_PUNCTUATION = " .:;,…–—-"
_OPENING = 2  # opening sentences of a document without a description of itself
_LEAST = 8  # words of a meaningful sentence
_LONGEST_NEAR = 320  # characters
_LONGEST_TITLE = 110  # characters of a document's or table's name
_MOST_CELLS = 4  # cells of one row, if the question names none of its columns
_MOST_ROWS = 6  # cells of a table


@dataclass(frozen=True)
class _Asked:
    """Request as read: the question, all quotable parts, the best of them, and the names found nowhere."""

    request: WritingTask
    question: Question
    wanted: Wanted
    found: list[Quotable]
    ranking: Ranking
    scored: list[Scored]
    absent: Missing


class OfflineWriter:
    """Writer that quotes instead of generating (`ragcore.protocols.LLM`). ``reranker`` of None ranks by words alone."""

    name = OFFLINE
    capabilities = Capabilities(extractive=True)

    def __init__(self, reranker: Reranker | None, settings: AnswerSettings) -> None:
        self._reranker = reranker
        self._settings = settings

    def stream(self, request: ModelRequest) -> StaticStream:
        """Whole answer, one quote at a time. The prompt is not read."""
        return StaticStream(self._write(self._asked(request.task)), model=self.name, usage=Usage())

    def signs(self, request: WritingTask) -> Signs | None:
        """Answerability features of ``request``; None if nothing can be quoted."""
        return self._signs(self._asked(request))

    def _asked(self, request: WritingTask) -> _Asked:
        question = request.read or read(request.question)
        wanted = Wanted(question.main, request.terms)
        found = list(quotables(question, wanted, request.sources))
        ranking = Ranking(question, wanted, routes=request.routes)
        # The words that led to a document name it, whatever it calls itself.
        known = " ".join(route.name for route in request.routes)
        absent = missing(question, request.sources, request.terms)
        absent = replace(absent, names=tuple(name for name in absent.names if name not in known))
        return _Asked(request, question, wanted, found, ranking, ranking.scored(found, self._reranker), absent)

    def _write(self, asked: _Asked) -> Iterator[str]:
        question, request, scored, absent = asked.question, asked.request, asked.scored, asked.absent
        if question.task:
            yield from self._instead(asked)
            return
        if question.whole:
            opening = _openings([each.quote for each in scored], asked.found)
            if opening:
                yield from _answer(question, [], without_repeats(opening, self._settings.offline_quotes))
                return
        direct = [] if absent else values(question, request.terms, asked.found, asked.ranking)
        chosen = self._chosen(asked, certain=bool(direct))
        other_years = "" if direct else _of_other_years(question, chosen)
        if direct or (chosen and not other_years):
            yield f"{_lacks(absent)}\n\n" if absent else ""
            yield from _answer(question, direct, chosen)
            return
        foreign = _other_language(question, request.sources)
        if not foreign and _is_broad(asked.wanted, asked.found):
            yield "The question is broad. What the document says about itself:\n\n"
            yield from _quotes(self._overview(asked))
            return
        said = foreign or _lacks(absent) or other_years
        yield f"{NO_ANSWER} {said or 'No passage found is about this.'}"
        near = [each.quote for each in scored if _is_near(each, asked.wanted)]
        nearest = [] if foreign else without_repeats(near, _NEAREST)
        if nearest:
            yield " The nearest passages:\n\n"
            yield from _quotes(nearest)

    def _chosen(self, asked: _Asked, *, certain: bool) -> list[Quotable]:
        """Quotes to show, best first: none if an answer is unlikely and no value is ``certain``."""
        rows = [] if asked.absent else extremes(asked.question, asked.wanted, asked.found)
        if not rows and not certain and not self._may_be_answered(asked):
            return []
        good = without_repeats((*rows, *self._good(asked.scored)), self._settings.offline_quotes)
        return self._completed(asked.question, good)

    def _may_be_answered(self, asked: _Asked) -> bool:
        """Whether the quotes are likely enough to hold an answer."""
        signs = self._signs(asked)
        return signs is not None and probability(signs) >= self._settings.offline_floor

    def _signs(self, asked: _Asked) -> Signs | None:
        if not asked.scored:
            return None
        names = [name.text for name in named(asked.question.names, asked.request.terms)]
        return signs_of(asked.ranking, asked.wanted, asked.found, asked.scored, names, asked.absent, self._reranker)

    def _good(self, scored: Sequence[Scored]) -> list[Quotable]:
        """Quotes worth showing besides the best, best first."""
        floor = self._settings.offline_share * scored[0].worth if scored else 0.0
        return [each.quote for each in scored if each.worth >= floor]

    def _completed(self, question: Question, good: list[Quotable]) -> list[Quotable]:
        """``good`` with its first sentence joined to the previous or next one in its paragraph, if the two clearly
        match the question better: a sentence that only repeats the question is no answer, its neighbour may be."""
        lead = good[0] if good else None
        if self._reranker is None or lead is None or lead.row is not None or lead.first != lead.last:
            return good
        pairs = joined_to(lead)
        if not pairs:
            return good
        alone, *together = self._reranker.score(
            question.main, [quote.text[:LONGEST_PASSAGE] for quote in (lead, *pairs)]
        )
        answer = question.answer
        gains = [
            log_odds(float(each), FARTHEST)
            - log_odds(float(alone), FARTHEST)
            + _FITS * (fit(answer, pair.text) - fit(answer, lead.text))
            for each, pair in zip(together, pairs, strict=True)
        ]
        best = max(range(len(pairs)), key=gains.__getitem__)
        return [pairs[best], *good[1:]] if gains[best] >= _TOGETHER else good

    def _overview(self, asked: _Asked) -> list[Quotable]:
        """Opening of each document, and its statements about its own findings."""
        findings = Ranking(read(_FINDINGS), Wanted(_FINDINGS), routes=asked.request.routes)
        prose = [quote for quote in asked.found if quote.row is None]
        best = [
            each.quote
            for each in findings.scored(prose, self._reranker)
            if each.relevance is not None and each.relevance >= _PLAINLY
        ]
        opening = _openings([each.quote for each in asked.scored], asked.found)
        first = sorted((quote for quote in prose if _opens_text(quote.text)), key=lambda quote: quote.start)
        return without_repeats([*opening[:1], *best, *opening, *first], _NEAREST)

    def _instead(self, asked: _Asked) -> Iterator[str]:
        """Notice that quoting cannot do the task and what can, then the best passages: of each document the best
        first."""
        yield f"{_CANNOT[asked.question.task]} For that, add a key for Claude in Settings."
        about = self._good(asked.scored) if self._may_be_answered(asked) else []
        firsts: dict[str, Quotable] = {}
        for quote in about:
            firsts.setdefault(quote.source.doc_id, quote)
        chosen = without_repeats([*firsts.values(), *about], _NEAREST)
        if asked.question.whole or not chosen:
            chosen = self._overview(asked)
        if chosen:
            yield f" {'The passages' if len(chosen) > 1 else 'The passage'} closest to your question:\n\n"
            yield from _quotes(chosen)


# Question for a document that is to be summarised.
_FINDINGS = "main findings, results and conclusions overall"
_CANNOT = {
    "summarise": "Quoting can’t summarise.",
    "compare": "Quoting can’t compare.",
    "explain": "Quoting can’t explain.",
    "advise": "Quoting can’t advise.",
    "write": "Quoting can’t write a text.",
}


def _is_near(each: Scored, wanted: Wanted) -> bool:
    """Whether a line that does not answer is shown as the nearest match: it has a word of the question itself, and is
    short."""
    return each.worth > 0.0 and len(each.quote.text) <= _LONGEST_NEAR and bool(wanted.held(each.quote.own))


def _is_broad(wanted: Wanted, found: Sequence[Quotable]) -> bool:
    """Whether the question has only one word to search for, and the only document searched has it."""
    one = len(wanted.words) == 1 and len({quote.source.doc_id for quote in found}) == 1
    return one and any(wanted.held(quote.words) for quote in found)


def _answer(question: Question, direct: Sequence[Value], chosen: Sequence[Quotable]) -> Iterator[str]:
    """One answering line, with a table for a cell, then at most two more quotes."""
    if direct:
        yield from _values(direct)
        rest = [quote for quote in chosen if not any(is_same(quote, value.quote) for value in direct)]
        yield from _quotes([quote for quote in rest if quote.row is None][: MOST - 1])
        return
    lead, *rest = chosen
    if lead.row is None and not question.answer.figures:
        rest = [quote for quote in rest if quote.row is None]
    cells = _cells(lead.row)
    if cells is None:
        yield f"{_quotation(lead, titled=_several(chosen))}\n\n"
        yield from _quotes(rest, titled=_several(chosen), lead=lead)
        return
    name = escape(lead.row.name if lead.row is not None else "")
    shown = [f"{escape(cell.text)}{f' ({escape(cell.column)})' if cell.column else ''}" for cell in cells]
    if lead.row is not None:
        title = f"{_title(lead)}: " if _several(chosen) else ""
        one = f"{name}, {escape(cells[0].column)}: {escape(cells[0].text)}" if name and cells[0].column else ""
        said = one if one and len(cells) == 1 else f"{name}: {', '.join(shown)}" if name else ", ".join(shown)
        yield f"{title}{said} {lead.marker}\n\n"
    yield from _quotes([lead, *rest], titled=_several(chosen))


def _quotes(chosen: Sequence[Quotable], *, titled: bool | None = None, lead: Quotable | None = None) -> Iterator[str]:
    """Cells of ``chosen``, and of a ``lead`` already quoted, as one table, and the other quotes as block quotes in
    order."""
    titled = _several(chosen) if titled is None else titled
    rows = [row for quote in ([lead] if lead else []) + [*chosen] for row in _table_rows(quote)]
    if rows:
        yield cell_table(rows[:_MOST_ROWS]) + "\n"
    for quote in chosen:
        if _cells(quote.row) is None:
            yield f"> {_quotation(quote, titled=titled)}\n\n"


def _quotation(quote: Quotable, *, titled: bool = False) -> str:
    """Quotation ``Title: “Its own words” <<SOURCE 1.2>>``; for a row with prose cells, the longest cell after its
    headers."""
    title = f"{_title(quote)}: " if titled else ""
    if quote.row is None:
        units = range(quote.first, quote.last + 1)
        # Rows with a lead-in sentence are shown as cells, not inside its quotation marks.
        last = next((n - 1 for n in units if quote.rows and quote.source.units[n - 1].kind == "cell"), quote.last)
        text = quote.text if last == quote.last else quote.source.words(quote.first, last)
        return f"{title}{escape(quoted(text))} {marker(quote.source, quote.first, last)}"
    cell = _prose(quote)
    name = ", ".join(part for part in (quote.row.name, cell.column) if part)
    lead = f"{escape(brief(name, _LONGEST_TITLE))}: " if name else ""
    return f"{title}{lead}{escape(quoted(cell.text))} {marker(quote.source, cell.number, cell.number)}"


def _prose(quote: Quotable) -> Cell:
    assert quote.row is not None
    asked = [quote.row.cells[place] for place in quote.row.named] or list(quote.row.cells)
    return max(asked, key=lambda cell: len(cell.text))


def _cells(row: Row | None) -> list[Cell] | None:
    """Cells of a row for a table: those of the columns that the question names, else the first few; None for other
    quotes and rows of prose."""
    if row is None or not all(in_figures(cell) for cell in row.cells):
        return None
    return [row.cells[place] for place in row.named] or list(row.cells[:_MOST_CELLS])


def _table_rows(quote: Quotable) -> list[CellRow]:
    rows = quote.rows or ((quote.row,) if quote.row is not None else ())
    return [_table_row(quote.source, row, cell) for row in rows for cell in _cells(row) or ()]


def _table_row(source: Source, row: Row, cell: Cell) -> CellRow:
    column, period = parts_of_column(cell.column)
    unit = unit_of(source, row, cell)
    return CellRow(row.name, column, period, cell.text, unit, marker(source, cell.number, cell.number))


def _values(found: Sequence[Value]) -> Iterator[str]:
    """Requested cell or two, in a line and as a table, with the differing values of other tables."""
    first = found[0]
    own = [value for value in found if value.quote is first.quote]
    others = [value for value in found if value.quote is not first.quote]
    assert first.quote.row is not None
    name = escape(first.quote.row.name)
    title = f"{escape(first.title)}: " if first.title else ""
    if len(own) == 1:
        column = f", {escape(first.cell.column)}" if first.cell.column else ""
        yield f"{title}{name}{column}: **{escape(first.figure)}** {first.marker}"
    else:
        each = [f"**{escape(value.figure)}** ({escape(value.cell.column)}) {value.marker}" for value in own]
        yield f"{title}{name}: {', '.join(each)}"
    if others:
        other = quoted(brief(others[0].quote.about, _LONGEST_TITLE)) if others[0].quote.about else ""
        yield f" Another table{f', {escape(other)},' if other else ''} gives a different value."
    yield "\n\n"
    rows = [
        _table_row(value.quote.source, value.quote.row, value.cell) for value in found if value.quote.row is not None
    ]
    yield cell_table(rows) + "\n"


def _several(chosen: Sequence[Quotable]) -> bool:
    return len({quote.source.doc_id for quote in chosen}) > 1


def _title(quote: Quotable) -> str:
    return escape(brief(quote.source.title, _LONGEST_TITLE))


def _openings(ranked: Sequence[Quotable], found: Sequence[Quotable]) -> tuple[Quotable, ...]:
    """For each document asked about as a whole, the sentences that say what it is, best first, else its opening; one
    quote each for several documents."""
    out: list[Quotable] = []
    documents = dict.fromkeys(quote.source.doc_id for quote in ranked)
    most = None if len(documents) == 1 else 1
    for doc_id in documents:
        own = [quote for quote in found if quote.source.doc_id == doc_id and quote.row is None]
        best = [quote for quote in ranked if quote in own] + own
        said = [quote for quote in best if fit(about_whole(), quote.text)]
        if not said:
            said = sorted((quote for quote in own if _opens_text(quote.text)), key=lambda quote: quote.start)[:_OPENING]
        out += (said or sorted(own, key=lambda quote: quote.start)[:_OPENING])[:most]
    return tuple(out)


def _opens_text(sentence: str) -> bool:
    """Whether ``sentence`` may open the document's text and is not part of its cover."""
    ends = sentence.rstrip("”\"')").endswith((".", "!", "?", ":"))
    said = f" {' '.join(tokens(sentence))} "
    return (
        ends
        and len(sentence.split()) >= _LEAST
        and not any(f" {one} " in said for one in listed_lines("whole", "covers"))
    )


def listing(
    chosen: Sequence[Quotable],
    *,
    best_first: bool = False,
    mark: str = "**",
    titles: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """List of the quotes, given best first, in document order, or after the best one with ``best_first``; several
    documents are listed best first under their titles (between ``mark``) or their names in ``titles``."""
    documents = list(dict.fromkeys(quote.source.doc_id for quote in chosen))
    for index, doc_id in enumerate(documents):
        own = [quote for quote in chosen if quote.source.doc_id == doc_id]
        leads = own[:1] if best_first else []
        own = leads + sorted(own[len(leads) :], key=lambda quote: quote.start)
        if len(documents) > 1:
            title = (titles or {}).get(doc_id) or brief(own[0].source.title, _LONGEST_TITLE)
            # A bold title is a heading; any other is a lead-in.
            yield ("\n" if index else "") + f"{mark}{escape(title)}{mark}{'' if mark == '**' else ':'}\n\n"
        for quote in own:
            title = brief(quote.about, _LONGEST_TITLE).rstrip(_FINAL_PUNCTUATION)
            about = f"{escape(title)}: " if title else ""
            yield f"- {about}{escape(quoted(quote.shown))} {quote.marker}\n"


def _of_other_years(question: Question, chosen: Sequence[Quotable]) -> str:
    """Notice that no quote is from a requested year, "" if one is or may be."""
    asked = question.years
    # A fiscal year is not the calendar year: a named column is of the requested year, whatever its header says.
    if not asked or any(quote.row is not None and quote.row.named for quote in chosen):
        return ""
    # The title's year applies to text without another.
    of_each = [years(f"{quote.text} {quote.about}") or years(quote.source.title) for quote in chosen]
    given = set().union(*of_each)
    if asked & given or not given:
        return ""
    return f"The passages found do not mention {_listed([str(year) for year in sorted(asked)])}."


def _other_language(question: Question, sources: Sequence[Source]) -> str:
    """Notice that the question is in another language than all sources; "" if not or unknown."""
    spoken = question.language
    written = [name for name in dict.fromkeys(language_of(source.text) for source in sources) if name]
    if not spoken or not written or spoken in written:
        return ""
    return (
        f"The question is in {spoken}, the documents in {' and '.join(written)}. Offline, ask in the "
        "documents’ language; Claude answers across languages."
    )


def _lacks(absent: Missing) -> str:
    """Notice such as ``The passages found do not mention “Apple” or 2012.``, "" if nothing is absent."""
    words = [*(f"“{escape(name)}”" for name in absent.names), *map(str, absent.years)]
    return f"The passages found do not mention {_listed(words)}." if words else ""


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
