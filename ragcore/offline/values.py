"""Values: the certain cell or sentence of a document for a report field or a question, else what is likely; differing
values.

A cell's headings and a sentence's clause are compared alike: all that they say must be asked for, and all that is asked
for must be said by them or above them. A wrong value is worse than none, since the reader copies it: if equally good
places of one document differ, there is none. Where no words are that exact, a choice between all values of the
document gives one that stands out, or what is only likely.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from math import exp, log

from ragcore.offline.fields import Name, Wish, canonical, head_stems, refers, stems_of, wish
from ragcore.offline.figures import (
    Figure,
    called,
    counts,
    counts_from,
    figures,
    is_sure,
    without_bases,
)
from ragcore.offline.holders import holders
from ragcore.offline.intents import fit, holds_kind
from ragcore.offline.lists import data, listed, stems
from ragcore.offline.question import requirement
from ragcore.offline.quotes import Quotable, marker, quotables, with_paragraph
from ragcore.offline.ranking import Ranking
from ragcore.offline.rows import RATES, SHARES, Cell, Row, is_share, scale_of
from ragcore.offline.statements import is_statement, period_of
from ragcore.protocols import FieldValue, Reranker
from ragcore.text.lexicon import DENIALS
from ragcore.text.logistic import Logistic
from ragcore.text.markdown import escape, escape_lines
from ragcore.text.names import is_firm, of_others, words_of
from ragcore.text.numbers import lengths, numbers, same_figure
from ragcore.text.periods import called_year, days_in, is_part, months_of_part, without_parts
from ragcore.text.sentences import sentence_spans
from ragcore.text.terms import Term, Wanted
from ragcore.text.units import currencies
from ragcore.text.words import STOP_WORDS, content_stems, cover, stem, tokens, without_brackets
from ragcore.types import Source
from ragcore.types.question import AnswerType, Question
from ragcore.types.report import NOTHING_STATED, KnownFacts, Period, Statement

_UNDATED: Period = (0, 0, 0)
_FINAL_PUNCTUATION = " .:;,…–—-"
_PERSON = AnswerType(("PERSON",))
_TOTAL = frozenset({"total", "totals"})
_UNSCALED = RATES | SHARES | {"per"}  # rows beside a table's scale
_LONGEST_CELL = 120  # characters of a cell with a name or a few words
_LONGEST = 1200  # characters of a sentence, with its list
_LOWER = re.compile(r"\b[a-z]{2,}\b")
# Words spelled like a name, with what joins them.
_NAME = re.compile(r"(?:[A-Z][\w.’'-]*|[A-Z]\.)(?:,? (?:(?:of|and|&|de|van|von|the) )*(?:[A-Z][\w.’'-]*))*")
_RELEVANT = log(0.6 / 0.4)  # least log odds of a quote whose value is certain
MOST_RIVALS = 6
MOST_LIKELY = 3  # values of a document that are shown where none is certain
CERTAIN, LIKELY = 0.65, 0.15  # least probability of a value that is given, and of one that is shown
# Fitted by `python -m benchmarks likely`: over the log odds of a quote, the share of what is asked for that is said
# with the value, whether the value is a firm, the log of the quote's length, and the share of what is said with the
# value that is not asked for.
VALUE = Logistic(3.838, (0.474, 2.845, 3.053, -0.712, -1.384))


@dataclass(frozen=True, slots=True)
class Given:
    """Value in a document: its ``figure``, the words ``said`` with it, their ``marker``, the ``period`` stated there,
    and ``rank``, higher for a statement of the whole; ``text`` is all of it as Markdown. What isn't
    ``certain`` is only likely."""

    quote: Quotable
    figure: str
    said: str
    marker: str
    text: str
    period: Period = _UNDATED
    rank: int = 0
    cell: Cell | None = None
    certain: bool = True

    @property
    def value(self) -> FieldValue:
        scale, row = "", self.quote.row
        if (
            row is not None
            and self.cell is not None
            and not _UNSCALED.intersection(tokens(without_brackets(f"{row.name} {self.cell.column}")))
        ):
            columns = (cell.column for cell in (self.cell, *row.cells))
            scale = " ".join((row.name, *columns, row.table, scale_of(self.quote.source, row)[1]))
        return FieldValue(self.figure, self.said, self.marker, self.period, scale, self.certain)

    @property
    def narrowed(self) -> Quotable:
        """Quoted row with only the value's cell."""
        assert self.cell is not None
        return self.quote.narrowed(self.cell, self.said)


Candidate = tuple[Given, tuple[float, ...]]  # with its signs for `VALUE`


def field_values(
    asked: Wish, found: Sequence[Quotable], own: Sequence[Quotable], known: KnownFacts, reranker: Reranker | None
) -> list[Given]:
    """Values of ``asked``, at most one certain or `MOST_LIKELY` likely ones per document of ``found``, best first;
    ``own`` are the quotes under such a heading, ``known`` the known facts about their documents."""
    out = []
    for doc_id in dict.fromkeys(quote.source.doc_id for quote in found):
        inside = [quote for quote in found if quote.source.doc_id == doc_id]
        if (office := office_of(asked)) is not None:
            held = _held(office, inside)
            out += held if len(held) == 1 else []
            continue
        given = _certain(asked, inside, known)
        value = _agreed(given)
        if value is None and not given and not _is_interim(asked, doc_id, known):
            under = [quote for quote in own if quote.source.doc_id == doc_id]
            value = _section_of(asked, under)
            if value is None:
                out += _likely(asked, inside, known, reranker)
        out += [value] if value is not None else []
    return out


def office_of(asked: Wish) -> AnswerType | None:
    """Office whose holder is asked for; None for anything else, such as what its holder earns."""
    office = asked.office if asked.sort == "words" else None
    return office if office is not None and office.wants == _PERSON.wants else None


def _held(office: AnswerType, found: Sequence[Quotable]) -> list[Given]:
    """Persons who may hold ``office``."""
    return [
        Given(one.quote, one.name, one.quote.text, one.quote.marker, _words(one.quote))
        for one in holders(office, found)
    ]


def _words(quote: Quotable) -> str:
    return f"“{escape_lines(quote.text)}” {quote.marker}"


def certain(question: Question, terms: Sequence[Term], found: Sequence[Quotable], ranking: Ranking) -> Quotable | None:
    """Row of ``found`` narrowed to the cell that ``question`` asks for; None if it asks for none, no cell is certain,
    or equally certain ones differ."""
    words = tokens(question.main)
    # Computed from several cells, or stated in words.
    derived = question.answer.prose or question.changes or not listed("values", "derived").isdisjoint(words)
    if derived or words[:1] not in (["what"], ["what's"], ["how"], ["the"]) or len(question.years) > 1:
        return None
    asked, qualifiers = _of_question(question, terms, ranking.names), listed("values", "qualifiers")
    given, share = [], is_share(question.main)
    for quote in found:
        row = quote.row
        # Without a year only the cell of a row that has no other can be meant.
        if row is None or len(meant := row.named if question.years else range(len(row.cells))) != 1:
            continue
        # A net loss is no net income, though a statement has one name for both.
        head = tokens(without_brackets(row.head))
        if qualifiers.intersection(head) != qualifiers.intersection(words) or (is_share(row.head) and not share):
            continue
        one = _of_row(asked, quote, row, NOTHING_STATED)
        if one is not None and one.cell is row.cells[meant[0]] and any(map(str.isdigit, one.figure)):
            given.append((ranking.prior(quote.source.doc_id), one.rank, one))
    if given:
        wholes = ranking.of_all(found) & ~ranking.of_parts(found)
        whole = {id(quote) for quote, is_whole in zip(found, wholes) if is_whole}
        given = [each for each in given if id(each[-1].quote) in whole]
    best = [one for *worth, one in given if worth == max(other for *other, _ in given)]
    value = _agreed(best)
    return value.narrowed if value is not None else None


def _of_question(question: Question, terms: Sequence[Term], routed: frozenset[str]) -> Wish:
    """Value that ``question`` asks for; whom it is of, its own names and those ``routed``, may be said above a row."""
    bare = question.main
    for name in question.names:
        bare = bare.replace(name.text, " ")
    asked = wish("", " ".join(word for word in bare.split() if routed.isdisjoint(content_stems(word))), "", terms)
    # In guidance "current" is said of the year.
    said = stems_of(question.main) | ({"current"} & {*content_stems(question.main)})
    subject = said & routed.union({"current"}, *(content_stems(name.text) for name in question.names))
    names = tuple(Name(name.own, subject - name.own) for name in asked.names if not name.stated)
    return replace(asked, names=names, piece=question.main, years=question.years)


def rivals(
    asked: Wish, terms: Sequence[Term], sources: Sequence[Source], known: KnownFacts = NOTHING_STATED
) -> list[list[FieldValue]]:
    """Conflicting certain values in ``sources`` in the latest period, best first, for each company with a conflict."""
    office = office_of(asked)
    if asked.sort == "words" and office is None:
        return []
    everything = f"{asked.heading} {asked.piece}"
    found = list(quotables(requirement(everything), Wanted(everything, terms), sources))
    out = []
    for documents in _by_company(dict.fromkeys(source.doc_id for source in sources), known):
        given: list[Given] = []
        for doc_id in documents:
            own = [quote for quote in found if quote.source.doc_id == doc_id]
            given += _held(office, own) if office is not None else _certain(asked, own, known)
        last = max((one.period[0] for one in given), default=0)
        distinct: list[Given] = []
        for one in given:
            if one.period[0] in (0, last) and not any(_same(one, other) for other in distinct):
                distinct.append(one)
        if len(distinct) > 1:
            out.append([one.value for one in distinct[:MOST_RIVALS]])
    return out


def _by_company(documents: Iterable[str], known: KnownFacts) -> list[list[str]]:
    """``documents`` grouped by possible company."""
    groups: list[list[str]] = []
    for doc_id in documents:
        own = known.companies.get(doc_id, ())
        together = (g for g in groups if not any(of_others(own, known.companies.get(other, ())) for other in g))
        group = next(together, None)
        groups.append([doc_id]) if group is None else group.append(doc_id)
    return groups


def _is_interim(asked: Wish, doc_id: str, known: KnownFacts) -> bool:
    """Whether a value of a year is asked of a document that covers part of one."""
    return asked.annual and doc_id in known.interim


def _certain(asked: Wish, found: Sequence[Quotable], known: KnownFacts) -> list[Given]:
    """Best certain values of one document: cells before sentences, the latest period, the highest rank."""
    if not found or _is_interim(asked, found[0].source.doc_id, known):
        return []
    latest = _latest_of(found, known)
    given = [one for quote in found if quote.row is not None and (one := _of_row(asked, quote, quote.row, known))]
    if not asked.years:
        given = [one for one in given if not one.period[0] or latest in (0, one.period[0])]
    given = given or list(_of_sentences(asked, found, latest))
    last = max((one.period[: 3 if asked.sort == "date" and asked.annual else 1] for one in given), default=())
    given = [one for one in given if one.period[: len(last)] == last]
    return [one for one in given if one.rank == max(other.rank for other in given)]


def _agreed(given: Sequence[Given]) -> Given | None:
    """First of ``given`` if all give the same value; of dates, the days before the years that are theirs."""
    days = {one.period[0] for one in given if one.period[2]}
    given = [one for one in given if one.figure != str(one.period[0]) or one.period[0] not in days]
    first = given[0] if given else None
    return first if first is not None and all(_same(one, first) for one in given) else None


def _same(one: Given, other: Given) -> bool:
    if one.period[1]:
        return one.period == other.period
    if not any(map(str.isdigit, one.figure)):
        return one.figure.split()[:1] == other.figure.split()[:1]
    return same_figure(one.figure, other.figure)


def _latest_of(found: Sequence[Quotable], known: KnownFacts) -> int:
    """Latest year of the statements of one document, else the one that most tables compare with the one before; 0 if
    none does."""
    tables = {(q.row.table, tuple(c.column for c in q.row.cells)) for q in found if q.row is not None}
    last: Counter[int] = Counter()
    for table, columns in tables:
        own = {period[0] for column in columns if (period := period_of(column)) is not None}
        lures = {stem(word) for word in tokens(f"{table} {' '.join(columns)}")} & stems("names", "others")
        if len(own) > 1 and max(own) - min(own) < 3 and not lures:
            last[max(own)] += 1
    return known.year_of(found[0].source.doc_id) or max(last, key=lambda year: (last[year], year), default=0)


def _matches(asked: Wish, called: frozenset[str], around: frozenset[str], *, whole: bool = False) -> bool:
    """Whether words that name a value, ``called``, with those above it, ``around``, are what is asked for."""
    called, around = canonical(called), canonical(around)
    names = ((canonical(name.own), canonical(name.all)) for name in asked.names if whole or not name.stated)
    return any(own <= called <= everything <= called | around for own, everything in names)


# Rows


def _of_row(asked: Wish, quote: Quotable, row: Row, known: KnownFacts, *, named: bool = True) -> Given | None:
    """The one cell of ``row`` that matches, if ``named`` by its headings, in the requested years or latest period."""
    statement = _statement(quote, row, known)
    fits = [cell for cell in row.cells if _is_of_sort(asked, row, cell)]
    if named:
        fits = [cell for cell in fits if _fits(asked, quote, row, cell, statement)]
    else:
        above = frozenset(content_stems(f"{row.name} {row.table} {' '.join(quote.source.section[-1:])}"))
        fits = [cell for cell in fits if _is_plain(asked, cell) and not _is_of_other(asked, row, cell, above, row.head)]
    # Each amount has its share of sales beside it, under the same header.
    fits = [cell for cell in fits if cell.text.rstrip(" )").endswith("%") == asked.share] or fits
    fits = _of_part(asked, row, fits)
    dated = [(period, cell) for cell in fits if (period := period_of(cell.column)) is not None]
    if not dated:
        plain = len(row.cells) == 1 or (len(fits) == 1 and stems_of(fits[0].column) & asked.words)
        dated = [(_UNDATED, fits[0])] if fits and plain and not asked.years else []
    if asked.years:
        dated = [one for one in dated if called_year(one[0], quote.source.lag) in asked.years]
    dated = [one for one in dated if one[0] == max(period for period, _ in dated)]
    if len(dated) != 1:
        return None
    ((period, cell),) = dated
    exact = bool(_TOTAL & set(tokens(row.head))) == bool(_TOTAL & set(tokens(asked.piece)))
    about = (row.table or (statement.name if statement is not None else "")).rstrip(_FINAL_PUNCTUATION)
    number, scale = scale_of(quote.source, row)
    note = f" ({escape(scale)} {marker(quote.source, number, number)})" if scale else ""
    cited = marker(quote.source, cell.number, cell.number)
    where = f"{escape(about)}: " if about else ""
    text = f"**{escape(cell.text)}** — {where}“{escape(row.of(cell))}” {cited}{note}"
    return Given(quote, cell.text, row.of(cell), cited, text, period, 0 if statement is None else 1 + exact, cell)


def _of_part(asked: Wish, row: Row, fits: list[Cell]) -> list[Cell]:
    """Cells of the part of a year that is asked for, where the row has several: "three months ended" of a quarter."""
    wanted = months_of_part(asked.piece)
    parts = {cell: months_of_part(f"{row.table} {cell.column}") for cell in fits}
    return [cell for cell in fits if parts[cell] & wanted] if wanted and any(parts.values()) else fits


def _statement(quote: Quotable, row: Row, known: KnownFacts) -> Statement | None:
    """Statement of the whole that ``quote`` is in: one of those known, or by the table's title."""
    own = [one for one in known.statements if one.doc_id == quote.source.doc_id]
    title = f"{' '.join(quote.source.section[-1:])} {row.table}"
    if not own and is_statement(title):
        return Statement(quote.source.doc_id, quote.start, quote.start + 1, row.table)
    return next((one for one in own if one.start <= quote.start < one.end), None)


def _is_of_sort(asked: Wish, row: Row, cell: Cell) -> bool:
    """Whether a cell holds the requested kind of value; a name or words count only in the sole cell of its row."""
    if asked.sort in ("amount", "count") or (len(row.cells) > 1 and asked.sort == "words"):
        return any(character.isdigit() for character in cell.text)
    if asked.sort in ("date", "duration"):
        return len(row.cells) == 1 and bool(days_in(cell.text) if asked.sort == "date" else lengths(cell.text))
    return len(row.cells) == 1 and len(cell.text) <= _LONGEST_CELL and any(map(str.isalnum, cell.text))


def _fits(asked: Wish, quote: Quotable, row: Row, cell: Cell, statement: Statement | None) -> bool:
    """Whether the headings of ``cell`` are those requested, and neither they nor its group and table are about
    something else."""
    whole, is_total = statement is not None, bool(_TOTAL & set(tokens(row.head)))
    title, group = frozenset(content_stems(row.table)), head_stems(row.name) - head_stems(row.head)
    named, by, parts = without_brackets(row.table.lower()).replace(" per ", " by ").partition(" by ")
    # Of "Releases to air and to water by plant" only the plant is said of every cell.
    over = frozenset(content_stems(parts)) if {",", "and", "or"} & {*tokens(named), *named} else title
    known = stems("names", "beside") | stems("names", "columns") | frozenset(content_stems(asked.unit))
    known |= over
    if whole:  # the header over all columns is the company, not a part of it
        known = known.union(title, frozenset.intersection(*(frozenset(content_stems(one.column)) for one in row.cells)))
    column = head_stems(without_parts(cell.column)) - (known - asked.words)
    above = group if whole else group | title | frozenset(content_stems(" ".join(quote.source.section[-1:])))
    head = _plain(row.head) if whole else row.head
    if _is_of_other(asked, row, cell, above, f"{head} {row.name if is_total and not whole else ''}"):
        return False
    around = over | group | frozenset(content_stems(" ".join((quote.source.title, *quote.source.section))))
    heads = {head_stems(row.head), head_stems(head)}
    if by:
        heads.add(stems_of(named.rpartition(" of ")[2] if is_total else named) | head_stems(row.head))
    return any(own and _matches(asked, own | column, around, whole=whole) for own in heads)


def _is_plain(asked: Wish, cell: Cell) -> bool:
    """Whether a cell is one number, a percentage if that is asked for, and no money if that is not."""
    found, money = numbers(cell.text), asked.sort != "count" and (not asked.unit or currencies(asked.unit))
    return len(found) == 1 and asked.share == ("%" in cell.text) and bool(money or not found[0].currency)


def _is_of_other(asked: Wish, row: Row, cell: Cell, above: frozenset[str], head: str) -> bool:
    """Whether a cell compares others, or its ``head`` and the words ``above`` it are about a part, or something else,
    that is not asked for."""
    compares = listed("names", "compares") & {*tokens(cell.column), "%" if "%" in cell.column else ""}
    return bool(
        (compares and not asked.share)
        or listed("names", "narrows") & set(tokens(head)) - set(tokens(f"{asked.heading} {asked.piece}"))
        or is_part(f"{row.table} {cell.column}") > is_part(asked.piece)
        or ((above | head_stems(cell.column)) & (stems("names", "others") | stems("names", "parts"))) - asked.words
    )


def _plain(head: str) -> str:
    """Row header in a statement without a tail that leaves the amount unchanged: "Long-term debt, less current
    portion"."""
    for tail in data()["rows"]["tails"]:
        place = head.lower().find(tail)
        head = head[:place] if place > 0 else head
    return head.rstrip(" ,(")


# Sentences


def _of_sentences(asked: Wish, found: Sequence[Quotable], latest: int) -> Iterator[Given]:
    """Figures whose clause says only what is asked for."""
    for quote in found:
        # A list item: its subject is in the lead-in.
        if quote.row is not None or len(quote.text) > _LONGEST or quote.text[:1].islower():
            continue
        above = (quote.source.title, *quote.source.section, with_paragraph(quote))
        around = frozenset(content_stems(" ".join(above)))
        for figure in figures(asked, quote, latest):
            words = called(asked, quote, figure)
            # What is counted follows its number.
            counted = asked.sort != "count" or any(
                canonical(name.own) & canonical(content_stems(figure.after)) for name in asked.names
            )
            if words is not None and counted and _matches(asked, words, around, whole=True):
                yield _sentence(quote, figure)


def _sentence(quote: Quotable, figure: Figure) -> Given:
    text = f"**{escape(figure.text)}** — “{escape_lines(quote.text)}” {quote.marker}"
    return Given(quote, figure.text, quote.text, quote.marker, text, figure.period)


def _section_of(asked: Wish, own: Sequence[Quotable]) -> Given | None:
    """Full text of a short section with the requested name, for words."""
    plain = _section(asked, own) if asked.sort == "words" and not asked.name else []
    if not plain:
        return None
    text = " ".join(_words(quote) for quote in plain)
    return Given(plain[0], "", " ".join(quote.text for quote in plain), plain[0].marker, text)


def _section(asked: Wish, own: Sequence[Quotable]) -> list[Quotable]:
    """Full text of a short section with the requested name, ``own``: the clause on governing law."""
    names = [name.own for name in asked.names]
    plain = []
    for quote in {quote.text: quote for quote in own if not refers(quote.text)}.values():
        heading = head_stems(" ".join(quote.source.section[-1:]))
        said = set(content_stems(quote.text))
        plain += [quote] if any(name <= said or heading <= name for name in names) else []
    return plain if len(plain) <= 2 and all(quote.row is None for quote in plain) else []


def _likely(asked: Wish, found: Sequence[Quotable], known: KnownFacts, reranker: Reranker | None) -> list[Given]:
    """Best values of one document with the probability of each to be the one asked for, by a conditional logit choice
    (McFadden 1974) between the different values and none: the certain one alone, or those that are likely."""
    every = candidates(asked, found, known, reranker)
    different: list[tuple[float, Candidate]] = []
    for odds, one in sorted(((VALUE.odds(*one[1]), one) for one in every), key=lambda each: -each[0]):
        if not any(gives_same(asked, one[0], other) for _, (other, _) in different):
            different.append((exp(odds), one))
    total = 1.0 + sum(odds for odds, _ in different)
    likely = [(odds / total, one) for odds, one in different[:MOST_LIKELY] if odds / total >= LIKELY]
    if likely and likely[0][0] >= CERTAIN and stands_out(asked, likely[0][1], every):
        return [likely[0][1][0]]
    return [replace(given, certain=False) for _, (given, _) in likely]


def stands_out(asked: Wish, one: Candidate, every: Sequence[Candidate]) -> bool:
    """Whether a value may be certain: its quote is relevant, none that gives another value ranks as high, and a count
    says all that is asked, since a part is counted in the same words as the whole ("our 310 employees in Canada")."""
    given, (odds, said, *_) = one
    others = [
        signs[0] for other, signs in every if other.quote is not given.quote and not gives_same(asked, other, given)
    ]
    whole = asked.sort != "count" or asked.counted or said == 1.0
    return whole and odds >= _RELEVANT and all(other < odds for other in others)


def gives_same(asked: Wish, one: Given, other: Given) -> bool:
    """Whether two values are the same: day, figure, name, or without one the words."""
    if asked.sort == "date":
        return one.period == other.period
    if asked.sort == "words":
        return tokens(one.figure or one.said) == tokens(other.figure or other.said)
    return same_figure(one.figure, other.figure)


def candidates(asked: Wish, found: Sequence[Quotable], known: KnownFacts, reranker: Reranker | None) -> list[Candidate]:
    """Values of the wanted kind in the quotes that rank best, each with its signs for `VALUE`; without a cross-encoder
    only in sentences, since words tell rows too little apart."""
    latest = _latest_of(found, known)
    common = {word for quote in found for word in _LOWER.findall(quote.text)} if asked.name else frozenset[str]()
    found = [quote for quote in found if quote.row is None or reranker is not None]
    given = {id(quote): list(_values_of(asked, quote, known, latest, common)) for quote in found}
    ranking = Ranking(requirement(_request(asked)), Wanted(_request(asked)), alone=True)
    wanted = canonical(content_stems(asked.piece))
    everything = content_stems(f"{asked.heading} {asked.piece} {asked.unit}")
    asks = canonical(asked.words.union(everything, stems("names", "beside")))
    out: list[Candidate] = []
    for each in ranking.scored([quote for quote in found if given[id(quote)]], reranker):
        for one, clause in given[id(each.quote)]:
            own = canonical(content_stems(clause))
            firm = asked.sort == "words" and is_firm(one.figure)
            beside = len(own - asks) / max(1, len(own))
            out.append((one, (each.odds, cover(wanted, own), float(firm), log(len(each.quote.text)), beside)))
    return out


def _request(asked: Wish) -> str:
    return f"{asked.heading}: {asked.piece}"


def _values_of(
    asked: Wish, quote: Quotable, known: KnownFacts, latest: int, common: Set[str]
) -> Iterator[tuple[Given, str]]:
    """Values of the wanted kind in a quote, each with the words that must name it: the cell of the latest period in a
    row, the figures of a sentence, the names in it, or for words the sentence itself."""
    row = quote.row
    if asked.sort == "words" and not asked.name:
        # A firm has a name of two words, too.
        held = asked.office is None or (_holds_office(asked.office, quote.text) and holds_kind(_PERSON, quote.text))
        if row is None and held and not refers(quote.text):
            yield Given(quote, "", quote.text, quote.marker, _words(quote)), quote.text
    elif not is_sure(asked, quote.text) or not DENIALS.isdisjoint(tokens(quote.text)):
        return
    elif asked.name:
        for name in names_in(asked, quote, common):
            yield Given(quote, name, quote.text, quote.marker, _words(quote)), quote.text
    elif row is not None:
        one = _of_row(asked, quote, row, known, named=False)
        if one is not None and one.cell is not None and one.period[0] in (0, latest):
            yield one, f"{row.name} {one.cell.column}"
    elif not quote.text[:1].islower() and len(quote.text) <= _LONGEST and not _of_bases(asked, quote):
        # A year alone may lie in the past ("auditor since 1983").
        past = asked.sort == "date" and not days_in(quote.text.title())
        for figure in figures(asked, quote, 0 if past else latest):
            if asked.sort == "duration" and _counts_from_another(asked, quote, figure):
                continue
            if asked.sort != "count" or counts(asked, figure, quote.text):
                yield _sentence(quote, figure), f"{figure.before} {figure.after}"


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
    """Names in a quote that are neither asked for nor ``common`` words of its document: the only cell with words of a
    row, what is spelt like a name in a sentence."""
    row = quote.row
    if row is not None:
        cells = [cell.text for cell in row.cells if any(map(str.isalnum, cell.text))]
        sole = len(cells) == 1 and any(map(str.isalpha, cells[0])) and not refers(cells[0])
        return cells if sole else []
    sentences = (quote.text[start:end] for start, end in sentence_spans(quote.text))
    found = dict.fromkeys(match.group().strip(" ,.") for one in sentences for match in _NAME.finditer(one))
    names = []
    for name in found:
        words = [word.plain for word in words_of(name) if word.names and not word.skipped]
        own = [word for word in words if word not in common | STOP_WORDS and stem(word) not in asked.words]
        names += [name] if own else []
    return names
