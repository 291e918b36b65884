"""Values for a report field or a question: the certain one of each document, else what is likely; differing values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragcore.offline.certain import Given, agreed, certain_values, gives_same, is_derived, is_interim, of_row, of_words
from ragcore.offline.fields import Name, Wish, head_stems, refers, stems_of, wish
from ragcore.offline.holders import holders
from ragcore.offline.intents import PERSON, holds_kind
from ragcore.offline.likely import likely_values
from ragcore.offline.lists import listed
from ragcore.offline.question import requirement
from ragcore.offline.quotes import Quotable, quotables
from ragcore.offline.ranking import Ranking
from ragcore.offline.rows import is_share
from ragcore.protocols import FieldValue, Reranker
from ragcore.text.names import of_others
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, tokens, without_brackets
from ragcore.types import Source
from ragcore.types.question import AnswerType, Question
from ragcore.types.report import NOTHING_STATED, KnownFacts

_MOST_RIVALS = 6


def field_values(
    asked: Wish, found: Sequence[Quotable], own: Sequence[Quotable], known: KnownFacts, reranker: Reranker | None
) -> list[Given]:
    """Values of ``asked``, at most one certain or a few likely ones per document of ``found``, best first;
    ``own`` are the quotes under such a heading, ``known`` the known facts about their documents."""
    out = []
    for doc_id in dict.fromkeys(quote.source.doc_id for quote in found):
        inside = [quote for quote in found if quote.source.doc_id == doc_id]
        if (office := office_of(asked)) is not None:
            stated = agreed(
                asked, [one for one in certain_values(asked, inside, known) if holds_kind(PERSON, one.figure)]
            )
            held = [stated] if stated is not None else _held(office, inside)
            out += held if len(held) == 1 else []
            continue
        if is_interim(asked, doc_id, known):
            continue
        given = certain_values(asked, inside, known)
        by_rank = asked.is_question and reranker is not None
        value = None if by_rank else agreed(asked, given)
        if value is None and (by_rank or not given):
            under = [quote for quote in own if quote.source.doc_id == doc_id]
            value = _section_of(asked, under)
            if value is None:
                out += likely_values(asked, inside, given, known, reranker)
        out += [value] if value is not None else []
    return out


def office_of(asked: Wish) -> AnswerType | None:
    """Office whose holder is asked for; None for anything else, such as what its holder earns."""
    office = asked.office if asked.sort == "words" else None
    return office if office is not None and office.wants == PERSON.wants else None


def _held(office: AnswerType, found: Sequence[Quotable]) -> list[Given]:
    """Persons who may hold ``office``."""
    return [of_words(one.quote, one.name) for one in holders(office, found)]


def certain(question: Question, terms: Sequence[Term], found: Sequence[Quotable], ranking: Ranking) -> Quotable | None:
    """Row of ``found`` narrowed to the cell that ``question`` asks for; None if it asks for none, no cell is certain,
    or equally certain ones differ."""
    words = tokens(question.main)
    derived = question.answer.prose or is_derived(question)  # or in words
    if derived or words[:1] not in (["what"], ["how"], ["the"]) or len(question.years) > 1:
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
        one = of_row(asked, quote, row, NOTHING_STATED)
        if one is not None and one.cell is row.cells[meant[0]] and any(map(str.isdigit, one.figure)):
            given.append((ranking.prior(quote.source.doc_id), one.rank, one))
    if given:
        most = {id(quote) for quote, held in zip(found, ranking.held(found)) if held}
        given = [each for each in given if id(each[-1].quote) in most]
    best = [one for *worth, one in given if worth == max(other for *other, _ in given)]
    value = agreed(asked, best)
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


def rivals(asked: Wish, terms: Sequence[Term], sources: Sequence[Source], known: KnownFacts) -> list[list[FieldValue]]:
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
            given += _held(office, own) if office is not None else certain_values(asked, own, known)
        last = max((one.period[0] for one in given), default=0)
        distinct: list[Given] = []
        for one in given:
            if one.period[0] in (0, last) and not any(gives_same(asked, one, other) for other in distinct):
                distinct.append(one)
        if len(distinct) > 1:
            out.append([one.value for one in distinct[:_MOST_RIVALS]])
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


def _section_of(asked: Wish, own: Sequence[Quotable]) -> Given | None:
    """Full text of a short section with the requested name, ``own``, for words: the clause on governing law."""
    names = [name.own for name in asked.names] if asked.sort == "words" and not asked.name else []
    plain = []
    for quote in {quote.text: quote for quote in own if not refers(quote.text)}.values():
        heading = head_stems(" ".join(quote.source.section[-1:]))
        said = set(content_stems(quote.text))
        plain += [quote] if any(name <= said or heading <= name for name in names) else []
    if not 0 < len(plain) <= 2 or any(quote.row is not None for quote in plain):
        return None
    parts = [of_words(quote) for quote in plain]
    return replace(parts[0], said=" ".join(one.said for one in parts), text=" ".join(one.text for one in parts))
