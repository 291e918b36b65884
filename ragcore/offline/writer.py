"""Offline answer writer: the best sentence or cell of the sources, then at most two more, all cited.

Quotation marks enclose only a unit's own text, and a cell is shown as a table of its headers and value, so the writer
can be incomplete but never wrong about a document's words. Whether the sources hold an answer at all is judged before
(`ragcore.answer.refuse`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragcore.config.settings import AnswerSettings
from ragcore.offline.answerable import reason_to_doubt
from ragcore.offline.certain import FINAL_PUNCTUATION
from ragcore.offline.extremes import Extreme, extreme
from ragcore.offline.holders import holders
from ragcore.offline.intents import about_whole, fit
from ragcore.offline.lists import data, listed
from ragcore.offline.question import read
from ragcore.offline.quotes import Quotable, marker, quotables, without_repeats
from ragcore.offline.ranking import Ranking, Scored
from ragcore.offline.rows import Cell, Row, brief, in_figures, is_rate, parts_of_column, unit_of
from ragcore.offline.values import certain
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import Capabilities, ModelRequest, Reranker, StaticStream, WritingTask
from ragcore.text import lexicon as lex
from ragcore.text.markdown import CellRow, cell_table, escape, escape_lines, quoted
from ragcore.text.names import singular
from ragcore.text.numbers import figure, plural
from ragcore.text.periods import is_part, years
from ragcore.text.short_titles import short_titles
from ragcore.text.terms import Wanted
from ragcore.text.words import STOP_WORDS, tokens, without_brackets
from ragcore.types import OFFLINE, Each, Overview, Source
from ragcore.types.question import Comparison, Question

_OPENING = 2  # opening sentences of a document without a description of itself
_LEAST = 8  # words of a meaningful sentence
_LONGEST_TITLE = 110  # characters of a document's or table's name
_LONGEST_NAME = 60  # a longer one of a table is a sentence
_MOST_CELLS = 4  # cells of one row, if the question names none of its columns
_MOST_ROWS = 8  # cells of a table
_MOST_NAMED = 12  # documents that are named and not quoted
_RELEVANT = 0.5  # relevance from which a quote may stand between values
_MOST_SILENT = 3  # of those that were not asked for by name
_MOST_LISTED = 24  # cells of a table that is asked for


class OfflineWriter:
    """Writer that quotes instead of generating (`ragcore.protocols.LLM`). ``reranker`` of None ranks by words alone."""

    name = OFFLINE
    capabilities = Capabilities(extractive=True)

    def __init__(self, reranker: Reranker | None, settings: AnswerSettings) -> None:
        self._reranker = reranker
        self._settings = settings

    def stream(self, request: ModelRequest) -> StaticStream:
        """Whole answer, one quote at a time. The prompt is not read."""
        return StaticStream(self._write(request.task), model=self.name)

    def _write(self, request: WritingTask) -> Iterator[str]:
        question = request.read or read(request.question)
        if request.overview is not None:
            yield f"{_CANNOT['summarise']} {_ADD_KEY} " if question.task == "summarise" else ""
            yield from _overview(request.overview, request.sources, request.titles)
            return
        if request.comparison is not None:
            yield from self._compared(request.comparison, request)
            return
        wanted = Wanted(question.judged, request.terms)
        found = list(quotables(question, wanted, request.sources))
        ranking = Ranking(question, wanted, routes=request.routes)
        scored = ranking.reread(ranking.scored(found, self._reranker), self._reranker)
        floor = self._settings.offline_share * scored[0].worth if scored else 0.0
        ranked = [each.quote for each in scored if each.worth >= floor]
        if question.whole:
            ranked = _openings([each.quote for each in scored], found) or ranked
        told = False
        if question.task:
            yield f"{_CANNOT[question.task]} {_ADD_KEY}"
            ranked = _of_each_first(ranked)
        elif ranked and "PERSON" in question.answer.wants and not question.years:
            own = [quote for quote in found if quote.source.doc_id == ranked[0].source.doc_id]
            held = holders(question.answer, own)
            told = len(held) == 1 and ranking.fit(held[0].quote) > 0
            ranked = [held[0].quote, *ranked] if told else ranked
        value = certain(question, request.terms, found, ranking) if not question.task else None
        said = max((each.worth for each in scored if each.quote.row is None), default=0.0)
        share = self._settings.offline_share
        most = extreme(question, found, ranking, self._reranker, share * said) if not question.task else None
        judged = value is None and most is None and not question.task and not question.whole
        if judged and (doubt := self._reason_to_doubt(ranking, request, scored, told=told)):
            yield f"{NO_ANSWER} {doubt}"
            return
        titles = _titles(request.sources)
        if most is not None:
            yield from _extreme(question, most, titles)
            return
        if not question.task and (rows := ranking.table(found)):
            yield from _table(rows, titles)
            return
        best = value or next(iter(ranked), None)
        if not question.task and best is not None and (others := _other_years(question, best)):
            rest = [each for each in scored if not _other_years(question, each.quote)]
            if not rest or self._reason_to_doubt(ranking, request, rest):
                given, asked = (", ".join(map(str, sorted(of))) for of in (others, question.years))
                yield f"{NO_ANSWER} The figures found are for {given}, not for {asked}."
                return
            ranked = [each.quote for each in rest if each.worth >= floor]
        chosen = without_repeats([value, *ranked] if value else ranked, self._settings.offline_quotes)
        if not chosen:
            yield "" if question.task else f"{NO_ANSWER} No passage found is about this."
        elif question.task:
            yield f" {'The passages' if len(chosen) > 1 else 'The passage'} closest to your question:\n\n"
            yield from _quotes(chosen, titles)
        else:
            yield from _answer(question, chosen if value else _told_apart(chosen), titles, certain=value is not None)

    def _reason_to_doubt(
        self, ranking: Ranking, task: WritingTask, scored: Sequence[Scored], *, told: bool = False
    ) -> str:
        return reason_to_doubt(ranking, task, scored, self._reranker, self._settings.offline_floor, told=told)

    def _compared(self, of: Comparison, request: WritingTask) -> Iterator[str]:
        """The best quote of each document side by side, and the documents without any."""
        leads = dict[str, _Lead]()
        for doc_id, question in of.questions.items():
            if doc_id in of.silent:
                continue
            own = tuple(source for source in request.sources if source.doc_id == doc_id)
            if lead := self._lead(question, of.each, replace(request, sources=own, routes=())):
                leads[doc_id] = lead
        if not leads:
            yield f"{NO_ANSWER} No passage found is about this."
            return
        short = short_titles({one: request.titles.get(one, one) for one in of.questions})
        if of.each.words:
            more = f"; {of.left} more have it and are not quoted" if of.left else ""
            yield f"Found in {len(leads)} of {plural(of.among, 'document')}{more}.\n\n"
        elif not of.each.named:
            near = f"the {len(of.questions)} nearest of " if of.left else ""
            yield f"Found in {len(leads)} of {near}{plural(of.among, 'document')}.\n\n"
        yield from _side_by_side(leads, of.each.sign, short)
        silent = [short[one] for one in of.questions if one not in leads]
        if len(silent) > _MOST_SILENT and not of.each.named:
            silent = [f"the other {len(silent)} documents"]
        yield from _named("Nothing on this was found in", silent)

    def _lead(self, question: Question, each: Each, task: WritingTask) -> _Lead | None:
        wanted = Wanted(question.judged, task.terms)
        found = list(quotables(question, wanted, task.sources))
        if each.words:
            found = _saying(each.words, found)
        ranking = Ranking(question, wanted)
        scored = ranking.reread(ranking.scored(found, self._reranker), self._reranker)
        near = scored
        if each.sign and not each.named:  # what is near to it has no place between values
            near = [
                one
                for one in scored
                if one.relevance is None or one.relevance >= _RELEVANT or _is_asked_for(question, wanted, one.quote)
            ]
        value = certain(question, task.terms, found, ranking)
        best = value or next((one.quote for one in near), None)
        if best is None:
            return None
        asked_for = _is_asked_for(question, wanted, best)
        known = value is not None or asked_for or bool(each.words)
        if not known and self._reason_to_doubt(ranking, task, scored):
            return None
        return _Lead(best if question.years else _latest(best), asked_for)


@dataclass(frozen=True, slots=True)
class _Lead:
    """Best quote of a document; ``asked_for``: it is a row of nothing but what is asked for."""

    quote: Quotable
    asked_for: bool


def _saying(words: Sequence[str], found: Sequence[Quotable]) -> list[Quotable]:
    """Quotes with all of one of ``words``: sentences, else rows, of which the cell that has them is shown."""
    of = [{singular(word) for word in tokens(one)} - STOP_WORDS for one in words]

    def says(text: str) -> bool:  # by words, since "severely" has the stem of "severance"
        said = {singular(word) for word in tokens(text)}
        return any(one <= said for one in of)

    said = [quote for quote in found if says(quote.text)]
    rows = [
        quote.narrowed(cell, cell.text) if (cell := next((one for one in row.cells if says(one.text)), None)) else quote
        for quote in said
        if (row := quote.row) is not None
    ]
    return [quote for quote in said if quote.row is None] or rows


def _is_asked_for(question: Question, wanted: Wanted, quote: Quotable) -> bool:
    if quote.row is None:
        return False
    header, qualifiers = quote.header - lex.SPAN_STEMS, listed("values", "qualifiers")
    other = qualifiers & {*tokens(without_brackets(quote.row.head))}
    return bool(header) and header <= wanted.everything and other <= {*tokens(question.main)}


def _side_by_side(leads: Mapping[str, _Lead], sign: int, titles: Mapping[str, str]) -> Iterator[str]:
    """Quotes of several documents, each under its name in ``titles``: cells in one table, then prose. With a ``sign``
    the highest (1) or lowest (-1) value is named and comes first, if all in the table can be compared."""
    table = {one: lead for one, lead in leads.items() if lead.quote.row and _cells(lead.quote.row) is not None}
    amounts = {one: amount for one, lead in table.items() if lead.asked_for and (amount := _amount(lead.quote))}
    values = [value for value, _ in amounts.values()]
    alike = len({kind for _, kind in amounts.values()}) == 1 and (min(values) >= 0.0 or max(values) <= 0.0)
    if sign and len(table) > 1 and len(amounts) == len(table) and alike:
        order = sorted(table, key=lambda one: -sign * abs(amounts[one][0]))  # cash that is paid stands in brackets
        table = {one: table[one] for one in order}
        most = "highest" if sign > 0 else "lowest"
        yield f"Of the {len(table)} values in the table, the {most} is that of {escape(titles[order[0]])}.\n\n"
    rows = [
        replace(quote, row=replace(row, name=f"{titles[one]}: {row.name}".rstrip(": ")))
        for one, lead in table.items()
        if (row := (quote := lead.quote).row) is not None
    ]
    if rows:
        cells, more = _table_cells(rows, _MOST_LISTED)
        yield f"{cell_table(cells)}\n{more}"
    for one, lead in leads.items():
        if one not in table:
            yield f"> {_quotation(lead.quote, titles)}\n\n"


def _latest(quote: Quotable) -> Quotable:
    """A row of several columns, narrowed to that of the latest year, if one is."""
    row = quote.row
    if row is None or len(row.meant) < 2:
        return quote
    latest = row.latest
    return quote.narrowed(latest[0], row.of(latest[0])) if len(latest) == 1 else quote


def _amount(quote: Quotable) -> tuple[float, str] | None:
    """The one figure of a row in its scale, and its kind: what may be compared is of one kind. None if the row has
    several figures or no known scale."""
    row = quote.row
    given = figure(row.meant[0].text) if row is not None and len(row.meant) == 1 else None
    if row is None or given is None:
        return None
    if given.percent:
        return given.value, "share"
    if is_rate(f"{row.name} {row.meant[0].column}"):
        return given.value, f"rate {given.currency}"
    scale = given.scale if given.scale > 1.0 else row.scale(quote.source)
    return (given.value * scale, f"amount {given.currency.strip('$')}") if scale else None


def _overview(overview: Overview, sources: Sequence[Source], titles: Mapping[str, str]) -> Iterator[str]:
    """Themes, each with its sentences; at last the documents without any."""
    held, every = (*overview.doc_ids, *overview.doubtful, *overview.silent), overview.searched
    short = short_titles({one: titles.get(one, one) for one in held})
    if overview.topic and every > 1:
        read = f"; the best passages of {overview.read} were read" if overview.read < every else ""
        yield f"Found in {len(overview.doc_ids)} of {plural(every, 'document')}{read}. "
    yield "By theme, the largest first, each with sentences that stand for it:\n\n"
    for theme in overview.themes:
        quotes = [one for span in theme.digest for one in _spanned(sources, span)]
        if not quotes:
            continue
        size = plural(theme.size, "passage")
        among = f" in {len(theme.doc_ids)} of {plural(every, 'document')}" if every > 1 else ""
        yield f"**{escape('; '.join(theme.labels))}** · {size}{among}\n\n"
        for source, first, last in quotes:
            title = f"{escape(short[source.doc_id])}: " if every > 1 else ""
            yield f"- {title}{escape(quoted(source.words(first, last)))} {marker(source, first, last)}\n"
        yield "\n"
    for said, doc_ids in (("Perhaps also in", overview.doubtful), ("Nothing on this was found in", overview.silent)):
        yield from _named(said, [short[one] for one in doc_ids])


def _named(said: str, titles: Sequence[str]) -> Iterator[str]:
    """Line with the documents of which something is said; none without any."""
    if titles:
        more = f"; and {len(titles) - _MOST_NAMED} more" if len(titles) > _MOST_NAMED else ""
        yield f"{said} {'; '.join(map(escape, titles[:_MOST_NAMED]))}{more}.\n\n"


def _spanned(sources: Sequence[Source], span: tuple[str, int, int]) -> Iterator[tuple[Source, int, int]]:
    """The source that holds the span, with its first and last unit there; none if it had no room."""
    _, low, high = span
    for source in sources:
        units = [n for n, unit in enumerate(source.units, start=1) if unit.start < high and low < unit.end]
        if units and source.holds(*span):
            yield source, units[0], units[-1]
            return


_ADD_KEY = "For that, add a key for Claude in Settings."
_CANNOT = {
    "summarise": "Quoting can’t summarise.",
    "compare": "Quoting can’t compare.",
    "explain": "Quoting can’t explain.",
    "advise": "Quoting can’t advise.",
    "write": "Quoting can’t write a text.",
}


def _other_years(question: Question, best: Quotable) -> frozenset[int]:
    """Years of the ``best`` quote, a row, if none of those asked for is among them or in its text; a part of a fiscal
    year may end in the year before."""
    asked = question.years | {year - 1 for year in question.years if is_part(question.main)}
    return best.years if best.row and asked and asked.isdisjoint(best.years | years(best.text)) else frozenset()


def _of_each_first(ranked: Sequence[Quotable]) -> list[Quotable]:
    """The best quote of each document, then the rest."""
    firsts: dict[str, Quotable] = {}
    for quote in ranked:
        firsts.setdefault(quote.source.doc_id, quote)
    return [*firsts.values(), *ranked]


def _told_apart(chosen: Sequence[Quotable]) -> list[Quotable]:
    """``chosen``, with the table's name before that of a row which another table has too: its title, or the section's
    if that is too long for a name and the sections differ."""
    tables: dict[str, dict[str, str]] = {}
    for quote in chosen:
        if (row := quote.row) is not None:
            titled = len(row.table) <= _LONGEST_NAME or not quote.source.section
            tables.setdefault(row.name, {})[row.table] = row.table if titled else quote.source.section[-1]

    def name(row: Row) -> str:
        names = tables[row.name]
        table = names[row.table] if len(set(names.values())) == len(names) else row.table
        return f"{brief(table, _LONGEST_TITLE)} {row.name}" if table and len(names) > 1 else row.name

    return [replace(one, row=replace(one.row, name=name(one.row))) if one.row is not None else one for one in chosen]


def _answer(
    question: Question, chosen: Sequence[Quotable], titles: Mapping[str, str], *, certain: bool
) -> Iterator[str]:
    """One answering line, in bold if it is a ``certain`` value, a table if cells say more, then at most two quotes."""
    lead, *rest = chosen
    if certain or (lead.row is None and not question.answer.figures):
        rest = [quote for quote in rest if quote.row is None]
    cells = _cells(lead.row)
    if lead.row is None or cells is None:
        yield f"{_quotation(lead, titles)}\n\n"
        yield from _quotes(rest, titles, lead=lead)
        return
    name, column, figure = escape_lines(lead.row.name), escape(cells[0].column), escape(cells[0].text)
    shown = [f"{escape(cell.text)}{f' ({escape(cell.column)})' if cell.column else ''}" for cell in cells]
    said = f"{name}: {', '.join(shown)}" if name else ", ".join(shown)
    if len(cells) == 1 and name:
        said = f"{name}{f', {column}' if column else ''}: {f'**{figure}**' if certain else figure}"
    unit = _unit_of_all(lead.source, lead.row, cells)
    yield f"{_titled(lead, titles)}{said}{f' ({escape(unit)})' if unit else ''} {lead.marker}\n\n"
    whole = bool(name) and len(cells) == 1 and not column and all(_cells(quote.row) is None for quote in rest)
    yield from _quotes(rest if whole else [lead, *rest], titles)


def _unit_of_all(source: Source, row: Row, cells: Sequence[Cell]) -> str:
    """Unit that all ``cells`` have, as it is spelt within a sentence; else ""."""
    units = {unit_of(source, row, cell) for cell in cells}
    unit = units.pop() if len(units) == 1 else ""
    return unit.lower() if unit.isupper() or unit.split(" ")[0].istitle() else unit


def _extreme(question: Question, most: Extreme, titles: Mapping[str, str]) -> Iterator[str]:
    """The highest or lowest value, and the next ones as a table."""
    yield from _answer(question, most.rows, titles, certain=False)
    yield f"{'Highest' if question.extreme > 0 else 'Lowest'} of the {most.compared} values that were found.\n\n"


def _table(rows: Sequence[Quotable], titles: Mapping[str, str]) -> Iterator[str]:
    """Cells of the rows of one table, under its name."""
    cells, more = _table_cells(rows, _MOST_LISTED)
    name = escape_lines(brief(rows[0].about, _LONGEST_TITLE)).rstrip(FINAL_PUNCTUATION)
    yield f"{_titled(rows[0], titles)}{name}:\n\n{cell_table(cells)}\n{more}"


def _quotes(chosen: Sequence[Quotable], titles: Mapping[str, str], *, lead: Quotable | None = None) -> Iterator[str]:
    """Cells of ``chosen`` as one table, or the rows that a ``lead`` already quoted introduces, and the other quotes as
    block quotes in order, each with the rows that it introduces. Beside a lead's, a row without a name, or of
    the same, is of what is not said."""
    cells, left = list[CellRow](), list[str]()
    known = {"", *(row.name for row in lead.rows)} if lead and lead.rows else set[str]()
    chosen = [one for one in chosen if one.row is None or one.row.name not in known]
    every = (lead, *chosen) if lead else chosen
    mixed = len({quote.source.doc_id for quote in every if quote.rows or _cells(quote.row) is not None}) > 1
    for quote in every:
        own = quote is not lead and bool(quote.rows)
        room = (_MOST_LISTED if quote is lead else _MOST_ROWS) - (0 if own else len(cells))
        shown, more = _table_cells([quote], max(room, 0))
        if mixed:
            shown = [replace(cell, row=f"{titles[quote.source.doc_id]}: {cell.row}") for cell in shown]
        cells += [] if own else shown
        left.append(f"{cell_table(shown)}\n{more}" if own and shown else more)
    yield f"{cell_table(cells)}\n" if cells else ""
    yield left.pop(0) if lead else ""
    for quote, more in zip(chosen, left, strict=True):
        if _cells(quote.row) is None:
            yield f"> {_quotation(quote, titles)}\n\n{more}"


def _quotation(quote: Quotable, titles: Mapping[str, str]) -> str:
    """Quotation ``Title: “Its own words” <<SOURCE 1.2>>``; for a row with prose cells, the longest cell after its
    headers."""
    title = _titled(quote, titles)
    if quote.row is None:
        *before, (text, first, last) = quote.parts
        # Rows with a lead-in sentence are shown as cells, not inside its quotation marks.
        cells = (n for n in range(first, last + 1) if quote.source.units[n - 1].kind == "cell")
        end = next(cells, last + 1) - 1 if quote.rows else last
        text = text if end == last else quote.source.words(first, end)
        said = " ".join(
            f"{escape_lines(quoted(part))} {marker(quote.source, *units)}"
            for part, *units in (*before, (text, first, end))
        )
        more = f"\n\n{plural(quote.left, 'more item')} of this list on its page." if quote.left else ""
        return f"{title}{said}{more}"
    cell = max(quote.row.meant, key=lambda cell: len(cell.text))
    name = ", ".join(part for part in (quote.row.name, cell.column) if part)
    lead = f"{escape_lines(brief(name, _LONGEST_TITLE))}: " if name else ""
    return f"{title}{lead}{escape(quoted(cell.text))} {marker(quote.source, cell.number, cell.number)}"


def _cells(row: Row | None) -> list[Cell] | None:
    """Cells of a row for a table: those of the columns that the question names, else the first few; None for other
    quotes and rows of prose, most of whose cells are."""
    if row is None:
        return None
    short = [cell for cell in row.meant if in_figures(cell)]
    if 2 * len(short) <= len(row.meant):
        return None
    return short if row.named else short[:_MOST_CELLS]


def _table_cells(quotes: Sequence[Quotable], most: int) -> tuple[list[CellRow], str]:
    """Cells of ``quotes`` of one table, at most ``most``; whole rows of several, and a line that counts the rest."""
    every = [(quote.source, row) for quote in quotes for row in quote.rows or (quote.row,) if row is not None]
    rows = [[_table_row(source, row, cell) for cell in cells] for source, row in every if (cells := _cells(row))]
    kept = most // max(map(len, rows)) if len(rows) > 1 else 1
    left = plural(len(rows) - kept, "more row" if kept else "row")
    more = f"{left} of this table on its page.\n\n" if len(rows) > kept else ""
    return [cell for row in rows[:kept] for cell in row][:most], more


def _table_row(source: Source, row: Row, cell: Cell) -> CellRow:
    column, period = parts_of_column(cell.column)
    unit = unit_of(source, row, cell)
    return CellRow(row.name, column, period, cell.text, unit, marker(source, cell.number, cell.number))


def _titles(searched: Sequence[Source]) -> dict[str, str]:
    """Short titles of the documents searched, if they are several."""
    titles = {source.doc_id: source.title for source in searched}
    return short_titles(titles) if len(titles) > 1 else {}


def _titled(quote: Quotable, titles: Mapping[str, str]) -> str:
    """Title that a quote begins with; "" if ``titles`` has none."""
    title = titles.get(quote.source.doc_id)
    return f"{escape(title)}: " if title else ""


def _openings(ranked: Sequence[Quotable], found: Sequence[Quotable]) -> list[Quotable]:
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
    return out


def _opens_text(sentence: str) -> bool:
    """Whether ``sentence`` may open the document's text and is not part of its cover."""
    ends = sentence.rstrip("”\"')").endswith((".", "!", "?", ":"))
    said = f" {' '.join(tokens(sentence))} "
    return ends and len(sentence.split()) >= _LEAST and not any(f" {one} " in said for one in data()["whole"]["covers"])


def listing(chosen: Sequence[Quotable], mark: str, titles: Mapping[str, str]) -> Iterator[str]:
    """List of the quotes, given best first, in document order; several documents are listed best first under their
    ``titles``, between ``mark``."""
    documents = list(dict.fromkeys(quote.source.doc_id for quote in chosen))
    for index, doc_id in enumerate(documents):
        own = sorted((quote for quote in chosen if quote.source.doc_id == doc_id), key=lambda quote: quote.start)
        if len(documents) > 1:
            # A bold title is a heading; any other is a lead-in.
            yield ("\n" if index else "") + f"{mark}{escape(titles[doc_id])}{mark}{'' if mark == '**' else ':'}\n\n"
        for quote in own:
            title = brief(quote.about, _LONGEST_TITLE).rstrip(FINAL_PUNCTUATION)
            about = f"{escape(title)}: " if title else ""
            said = (f"{escape_lines(quoted(text))} {marker(quote.source, *units)}" for text, *units in quote.parts)
            yield f"- {about}{' '.join(said)}\n"
