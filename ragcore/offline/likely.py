"""Likely values: where none of a document is certain by its words, a choice between all of its values and none.

A value that stands out is given like a certain one; others are only shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from math import exp, log

from ragcore.offline.certain import (
    FIGURE_WORDS,
    LONGEST,
    Given,
    gives_same,
    is_derived,
    is_in_words,
    is_of_sort,
    latest_of,
    of_cell,
    of_figure,
    of_row,
    of_words,
)
from ragcore.offline.fields import FIGURES, Wish, canonical, refers
from ragcore.offline.figures import Figure, counts, counts_from, figures, is_sure, without_bases
from ragcore.offline.intents import PERSON, fit, holds_kind
from ragcore.offline.lists import listed, stems
from ragcore.offline.question import read, requirement
from ragcore.offline.quotes import Quotable, quotables
from ragcore.offline.ranking import Ranking
from ragcore.offline.rows import Cell, Row, is_change, is_share
from ragcore.protocols import Reranker
from ragcore.text import lexicon as lex
from ragcore.text.logistic import Logistic
from ragcore.text.names import FIRM, company, filer, is_firm, words_of
from ragcore.text.numbers import lengths
from ragcore.text.periods import column_years, dates_in, days_in, is_part, without_dates
from ragcore.text.sentences import sentence_spans
from ragcore.text.terms import Wanted
from ragcore.text.units import currencies
from ragcore.text.words import STOP_WORDS, content_stems, cover, stem, tokens
from ragcore.types.question import AnswerType, Question
from ragcore.types.report import KnownFacts

_LOWER = re.compile(r"\b[a-z]{2,}\b")
# Words spelled like a name, with what joins them, its number and the form of a firm.
_NAME = re.compile(
    rf"[A-Z][\w.’'-]*(?: (?:(?:of|and|&|de|van|von|the) )*[A-Z][\w.’'-]*| \d[\w.-]*)*(?:, {FIRM}(?!\w))?"
)
_RELEVANT = log(0.6 / 0.4)  # least log odds of a quote whose figure is certain
MOST_LIKELY = 3  # values of a document that are shown where none is certain
READ = 25  # quotes that are read for the figure that a question asks for
# Least probability of a value that is given: one that stands out, a day or name, which the whole doesn't share with a
# part, and the figure that a question asks for; and of a value that is shown.
CERTAIN, ALONE, SURE, LIKELY = 0.65, 0.45, 0.75, 0.15
# Fitted by `python -m benchmarks likely`. Over the log odds of a quote, those beside the first one's, the log of the
# number of its figures, whether the figure is certain by its words, and the share of what is asked that it says.
FIGURE = Logistic(-0.237, (0.257, 0.423, -1.834, 4.218, 1.294))
# Over the log odds of a quote, the share of what is asked for that is said with the value, whether the value is a firm,
# the log of the quote's length, and the share of what is said with the value that is not asked for.
VALUE = Logistic(3.838, (0.474, 2.845, 3.053, -0.712, -1.384))

Candidate = tuple[Given, tuple[float, ...]]  # with its signs for `FIGURE` or `VALUE`


def likely_values(
    asked: Wish, found: Sequence[Quotable], certain: Sequence[Given], known: KnownFacts, reranker: Reranker | None
) -> list[Given]:
    """Best values of one document: the certain one alone, or those that are likely. A question gets the figure of the
    quotes that answer it best, or one ``certain`` by its words; for a figure with a name they give likely ones only."""
    likely: list[tuple[float, Candidate]] = []
    if reranker is None or not asked.is_question:
        every = candidates(asked, found, known, reranker)
        likely = _chosen(asked, VALUE, every)
        if likely and _is_given(asked, likely, every):
            return [likely[0][1][0]]
    if reranker is not None and asked.sort in FIGURES:
        likely = _chosen(asked, FIGURE, figures_asked(asked, found, certain, reranker)) or likely
        if likely and likely[0][0] >= SURE and asked.is_question and _is_told(asked, likely[0][1][0]):
            return [likely[0][1][0]]
    return [replace(given, certain=False) for _, (given, _) in likely]


def _is_given(asked: Wish, likely: Sequence[tuple[float, Candidate]], every: Sequence[Candidate]) -> bool:
    """Whether the first of the ``likely`` values is given: a day or name that is twice as likely as any other, and what
    stands out."""
    chance, one = likely[0]
    if asked.sort == "date" or asked.name:
        return chance >= ALONE and all(chance >= 2 * other for other, _ in likely[1:])
    return chance >= CERTAIN and stands_out(asked, one, every)


def _is_told(asked: Wish, given: Given) -> bool:
    """Whether the document itself tells what is asked: nothing computed, and of those whom the question names."""
    question = read(asked.text)
    named = (content_stems(name.text) for name in question.names)
    return not is_derived(question) and all(map(given.quote.words.issuperset, named))


def _chosen(asked: Wish, model: Logistic, every: Sequence[Candidate]) -> list[tuple[float, Candidate]]:
    """Likely values with the probability of each to be the one asked for, by a conditional logit choice (McFadden 1974)
    between the different values and none."""
    different: list[tuple[float, Candidate]] = []
    for odds, one in sorted(((model.odds(*one[1]), one) for one in every), key=lambda each: -each[0]):
        if not any(gives_same(asked, one[0], other) for _, (other, _) in different):
            different.append((exp(odds), one))
    total = 1.0 + sum(odds for odds, _ in different)
    return [(odds / total, one) for odds, one in different[:MOST_LIKELY] if odds / total >= LIKELY]


def figures_asked(
    asked: Wish, found: Sequence[Quotable], certain: Sequence[Given], reranker: Reranker
) -> list[Candidate]:
    """Figures of the quotes that rank best for what is asked as a question, and those ``certain`` by their words, each
    with its signs for `FIGURE`."""
    question = replace(read(asked.text), years=asked.years)
    wanted, wants = Wanted(question.judged, asked.terms), canonical(content_stems(question.main))
    sources = {quote.source.number: quote.source for quote in found}
    ranking = Ranking(question, wanted, around=True)
    scored = ranking.scored(list(quotables(question, wanted, [*sources.values()])), reranker)[:READ]
    if not scored:
        return []
    certain = [one for one in certain if not (row := one.quote.row) or not one.cell or _is_figure(asked, row, one.cell)]
    told: list[tuple[Given, float, int, str]] = []
    for each in scored:
        given = list(_figures_of(asked, each.quote, question))
        told += [(one, each.odds, len(given), said) for one, said in given]
    for one in certain:
        if not any(gives_same(asked, one, other) for other, *_ in told):
            told.append((one, scored[-1].odds, 1, one.said))
    out: list[Candidate] = []
    for one, odds, several, said in told:
        sure = any(gives_same(asked, one, other) for other in certain)
        held = cover(wants, canonical(content_stems(said)))
        out.append((one, (odds, odds - scored[0].odds, log(several), float(sure), held)))
    return out


def _figures_of(asked: Wish, quote: Quotable, question: Question) -> Iterator[tuple[Given, str]]:
    """Figures of a quote, each with the words that must name it: the cells of the columns asked for or of the latest
    year, or those of a sentence."""
    row = quote.row
    if row is None or (row.is_form_line and len(tokens(row.cells[0].text)) > FIGURE_WORDS):
        quote = quote.alone
        if is_sure(asked, quote.text) and not _of_bases(asked, quote):
            for one in figures(asked, quote, 0):
                yield of_figure(quote, one), f"{one.before} {one.after}"
        return
    cells = [cell for cell in _of_years(quote, row, question.years) if _is_figure(asked, row, cell)]
    if asked.share:
        cells = [cell for cell in cells if "%" in cell.text or is_share(f"{row.name} {cell.column}")]
    elif not is_share(row.name):
        cells = [cell for cell in cells if "%" not in cell.text] or cells
    if not question.changes:
        cells = [cell for cell in cells if not is_change(cell.column)] or cells
    for cell in cells:
        yield of_cell(quote, row, cell, cell.text, row.table), f"{row.name} {cell.column} {row.table}"


def _of_years(quote: Quotable, row: Row, asked: Set[int]) -> Sequence[Cell]:
    """Cells of the latest year, or of the years ``asked`` for: by their columns, or all if what is over the row says
    these."""
    if not asked:
        return row.latest
    own = [cell for cell in row.meant if column_years(cell.column, quote.source.fiscal) & asked]
    return own or (row.meant if quote.years and quote.years <= asked else ())


def _is_figure(asked: Wish, row: Row, cell: Cell) -> bool:
    """Whether a cell holds a figure of the wanted kind, of a part of a year only if that is asked for."""
    over, part = f"{row.table} {cell.column}", is_part(asked.piece)
    if is_part(over) > part or (part and not is_part(over) and not dates_in(over)):
        return False
    if asked.sort == "duration":
        return bool(lengths(cell.text) or lex.SPAN_STEMS.intersection(content_stems(f"{row.name} {cell.column}")))
    return is_of_sort(asked, row, cell) and not (asked.sort == "count" and currencies(cell.text))


def stands_out(asked: Wish, one: Candidate, every: Sequence[Candidate]) -> bool:
    """Whether a value may be certain: no quote that gives another value ranks as high. Of figures, which a part and the
    whole have in the same words, the quote is relevant, and a count says all that is asked ("our 310 employees in
    Canada")."""
    given, (odds, said, *_) = one
    others = (each for each in every if each[0].quote is not given.quote and not gives_same(asked, each[0], given))
    whole = asked.sort in ("date", "words") or odds >= _RELEVANT
    whole = whole and (asked.sort != "count" or asked.counted or said == 1.0)
    return whole and all(signs[0] < odds for _, signs in others)


def candidates(asked: Wish, found: Sequence[Quotable], known: KnownFacts, reranker: Reranker | None) -> list[Candidate]:
    """Values of the wanted kind in the quotes that rank best, each with its signs for `VALUE`; without a cross-encoder
    only in sentences, since words tell rows too little apart."""
    latest = latest_of(found, known)
    common = {word for quote in found for word in _LOWER.findall(quote.text)} if asked.name else frozenset[str]()
    found = [quote for quote in found if quote.row is None or reranker is not None]
    given = {id(quote): list(_values_of(asked, quote, known, latest, common)) for quote in found}
    ranking = Ranking(requirement(asked.text), Wanted(asked.text), alone=True, around=True)
    wanted = canonical(content_stems(asked.piece))
    asks = canonical(asked.words.union(content_stems(f"{asked.text} {asked.unit}"), stems("names", "beside")))
    out: list[Candidate] = []
    for each in ranking.scored([quote for quote in found if given[id(quote)]], reranker):
        for one, clause in given[id(each.quote)]:
            own = canonical(content_stems(clause))
            firm = asked.sort == "words" and is_firm(one.figure)
            beside = len(own - asks) / max(1, len(own))
            out.append((one, (each.odds, cover(wanted, own), float(firm), log(len(one.quote.text)), beside)))
    return out


def _values_of(
    asked: Wish, quote: Quotable, known: KnownFacts, latest: int, common: Set[str]
) -> Iterator[tuple[Given, str]]:
    """Values of the wanted kind in a quote, each with the words that must name it: the cell of the latest period in a
    row, the figures of a sentence, the names in it, or for words the sentence itself."""
    row = quote.row
    quote = quote if asked.sort == "words" else quote.alone
    if asked.sort == "words" and not asked.name:
        # A firm has a name of two words, too.
        held = asked.office is None or (_holds_office(asked.office, quote.text) and holds_kind(PERSON, quote.text))
        if row is None and held and not refers(quote.text):
            yield of_words(quote), quote.text
    elif not is_sure(asked, quote.text):
        return
    elif asked.name:
        for name in names_in(asked, quote, common):
            yield of_words(quote, name), quote.text
    elif row is not None and not is_in_words(asked, row):
        one = of_row(asked, quote, row, known, named=False)
        if one is not None and one.cell is not None and (one.period[0] in (0, latest) or asked.sort == "date"):
            yield one, f"{row.name} {one.cell.column}"
    elif not quote.text[:1].islower() and len(quote.text) <= LONGEST and not _of_bases(asked, quote):
        # A year alone may lie in the past ("auditor since 1983").
        past = asked.sort == "date" and not days_in(quote.text.title())
        for figure in figures(asked, quote, 0 if past else latest):
            if asked.sort == "duration" and _counts_from_another(asked, quote, figure):
                continue
            if asked.sort != "count" or counts(asked, figure, quote.text):
                yield of_figure(quote, figure), f"{figure.before} {figure.after}"


def _holds_office(office: AnswerType, text: str) -> bool:
    """Whether ``text`` names an office, and nobody who left it or only stands in for its holder."""
    return fit(office, text) == 1.0 and listed("sentences", "former").isdisjoint(tokens(text))


def _counts_from_another(asked: Wish, quote: Quotable, figure: Figure) -> bool:
    """Whether a duration counts from something else than is asked for ("after submission")."""
    start, other = counts_from(asked.piece), counts_from(quote.text.partition(figure.text)[2])
    return bool(start and other) and start[0] not in other


def _of_bases(asked: Wish, quote: Quotable) -> bool:
    """Whether a sentence says what is asked for only as what a percentage is of: "8.0% of revenue" gives no revenue."""
    about = canonical(quote.own) & canonical(asked.words)
    return bool(about) and about.isdisjoint(canonical(content_stems(without_bases(quote.text))))


def names_in(asked: Wish, quote: Quotable, common: Set[str]) -> list[str]:
    """Names in a quote that are neither asked for nor ``common`` words of its document nor the filing company's: the
    only cell with words of a row, what is spelt like a name in a sentence."""
    row = quote.row
    if row is not None:
        cells = [cell.text for cell in row.cells if any(map(str.isalnum, cell.text))]
        said = without_dates(cells[0]) if len(cells) == 1 else ""
        named = any(map(str.isalnum if row.is_form_line else str.isalpha, said)) and not refers(cells[0])
        return cells if named else []
    sentences = (quote.text[start:end] for start, end in sentence_spans(quote.text))
    found = dict.fromkeys(match.group().strip(" ,.") for one in sentences for match in _NAME.finditer(one))
    names, filed = [], company(filer(quote.source.title))
    if "who" in tokens(asked.piece):  # nobody is an act
        found = {name: None for name in found if " " not in name or is_firm(name) or holds_kind(PERSON, name)}
    for name in found:
        words = [word.plain for word in words_of(name) if word.names and not word.skipped]
        own = [word for word in words if word not in common | STOP_WORDS and stem(word) not in asked.words]
        names += [name] if own and company(name) != filed else []
    return names
