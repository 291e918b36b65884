"""Ranking of quotes by the cross-encoder's relevance, what a row or list is called, and the quote's document, span of
time and years."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragcore.offline.intents import fit, holds_kind
from ragcore.offline.lists import listed, stems
from ragcore.offline.quotes import Quotable, spans_of
from ragcore.offline.rows import Row, is_change, is_share
from ragcore.protocols import Reranker
from ragcore.text import lexicon as lex
from ragcore.text.logistic import log_odds
from ragcore.text.names import lists_works
from ragcore.text.numbers import Number, numbers
from ragcore.text.periods import column_years, period_spans
from ragcore.text.sentences import clauses
from ragcore.text.terms import Wanted
from ragcore.text.words import Rarity, content_stems, name_stems, naming, tokens
from ragcore.types import Route
from ragcore.types.question import Question

CANDIDATES = 60
_FARTHEST = 11.5  # log odds of relevance
_BEST_SOURCE = 3.0  # log odds of the score of a source, which is relative: the best one's is 1
# Weight of a quote's own relevance beside what rows and usual words gain.
RELEVANCE_WEIGHT = 2 / 3
# Weight of its source's, in the odds that the choice of values was fitted on.
SOURCE_WEIGHT = 1 / 3
# Share of it that a quote is worth read alone.
ALONE_WEIGHT = 1 / 4
# Log odds that a row gains whose whole name the question has.
NAMED_WEIGHT = 4.0
# Log odds that a quote gains with the requested thing in its usual words.
FIT_WEIGHT = 2.0
# Log odds between a quote of the span of time asked for and one of another.
SPAN_WEIGHT = 3.0
# Log odds that a quote loses that is of other years than the one asked for.
YEAR_WEIGHT = 5.0
# Share of it that a row of what is asked for loses beside one of a later year, if no year is asked for.
LATEST = 0.4
# Log odds that what says a change gains, if one is asked for, with all words of what changed.
CHANGE_WEIGHT = 5.0
# Log odds that a row gains with as many words of what is asked for as any, and once more with all.
HELD_WEIGHT = 2.0
# Log odds that a row loses per logarithm of the number of words, and one, in its header that the question has not.
UNASKED_WEIGHT = 1.5
# Log odds that a row loses whose amount is smaller than that of another of its name: a part is seldom the greater.
SMALLER_WEIGHT = 1.5
# Share of the greatest amount from which on a row of its name may be the same, rounded or restated.
WHOLE = 0.9
# Log odds that a row of several columns, of which the question names none, loses beside one of another table.
SPLIT_WEIGHT = 3.0
# Log odds that a row of what is asked for gains if another table has its figure too.
AGREED_WEIGHT = 1.5
# Log odds that a row with as many words of what is asked for as any gains in its document's most central table.
CENTRAL_WEIGHT = 2.0
_YEAR = frozenset({12})
# Weight of a question's words beside a source's relevance, 0–1, in choosing candidates.
WORDS_WEIGHT = 0.5
# Weight of a question word found only in the title, section or heading of a quote.
AROUND = 0.5
# Agreement of a question's words with the name of a table that it asks for.
TABLE = 0.75
# Loss of worth in the document that the question names least.
ROUTE_WEIGHT = 0.5
# Characters of a candidate for the cross-encoder, whose time grows with them; of clauses read alone.
LONGEST_PASSAGE, LONGEST_RUN = 600, 250
FIRST = 5  # quotes that are read alone, and tell whether there is an answer


@dataclass(frozen=True, slots=True)
class Scored:
    """Quote with its relative ``worth``, 0–1, and the cross-encoder's ``relevance`` (None without one); ``odds`` are
    its log odds before they are made relative, without a cross-encoder those of its worth. ``evidence``: log odds that
    it is an answer: of its relevance and its resemblance to one, or for a row of what is asked for all of its odds."""

    quote: Quotable
    worth: float
    relevance: float | None
    odds: float
    evidence: float


class Ranking:
    """Ranker of quotes for ``question``, whose words are ``wanted``. ``routes`` are the documents that it names;
    ``names`` are the stems of their names in it. Of quotes from one document the cross-encoder reads the text
    ``alone``: what stands over it tells them little apart, and makes each less of an answer. ``around``: the relevance
    of a quote's source counts beside its own; it tells how sure a value is, and the best quote less well.

    A quote is worth what the cross-encoder says of it. That is trained on prose and long questions: a row gains as far
    as the question has its name, and a quote that looks like an answer. Without a cross-encoder its words decide.
    """

    def __init__(
        self,
        question: Question,
        wanted: Wanted,
        *,
        routes: Sequence[Route] = (),
        alone: bool = False,
        around: bool = False,
    ) -> None:
        self._alone = alone
        self._around = around
        self._routes = routes
        self.question = question
        self.wanted = wanted
        self._priors = {route.doc_id: route.prior for route in routes}
        self.names = frozenset(stem for route in routes for stem in content_stems(route.name))
        other = lex.TOTAL_STEMS | lex.SPAN_STEMS | self.names
        self._asked = tuple(word for word in wanted.words if not word.isdigit() and word not in other)

    def without(self, words: Set[str]) -> Ranking:
        """Ranker by the question's words but for these stems."""
        wanted = self.wanted.without(words)
        return Ranking(self.question, wanted, routes=self._routes, alone=self._alone, around=self._around)

    def scored(self, found: list[Quotable], reranker: Reranker | None) -> list[Scored]:
        """The 60 best of ``found``, best first. Their words and sources choose the 60 that reach the cross-encoder.
        Entries of a list of cited works are left out if there is anything else and the question does not ask for them:
        a title is no answer."""
        if lex.ASKING_FOR_WORKS.isdisjoint(tokens(self.question.main)):
            found = [quote for quote in found if not lists_works(quote.source, quote.first)] or found
        if not found:
            return []
        sources = np.array([quote.source.score for quote in found])
        words, named, standing = self._cover(found), self._named(found), self._standing(found)
        changes = self._changes(found)
        fits = np.array([self.fit(quote) for quote in found])
        if reranker is None:
            worth = np.minimum(1.0, words + named + changes + FIT_WEIGHT / 10.0 * fits) * standing
            order, odds = np.argsort(-worth, kind="stable")[:CANDIDATES], odds_of(worth)
            return [Scored(found[i], float(worth[i]), None, float(odds[i]), float(odds[i])) for i in order]
        likely = sources + WORDS_WEIGHT * (words + named + changes + fits)
        near = np.sort(np.argsort(-likely * standing, kind="stable")[:CANDIDATES])
        chosen = [found[i] for i in near]
        passages = [(one.text if self._alone else one.passage)[:LONGEST_PASSAGE] for one in chosen]
        places = [one.at for one in chosen]
        relevance, best = self.wanted.relevance(passages, [one.words for one in chosen], places, reranker.score)
        own = odds_of(relevance)
        odds = RELEVANCE_WEIGHT * own
        if self._around:  # one without a score says nothing beside its quotes
            odds += SOURCE_WEIGHT * np.where(sources[near] > 0.0, np.minimum(odds_of(sources[near]), _BEST_SOURCE), own)
        of_it, held = self._of_quantity(found), self.held(found)
        odds += (NAMED_WEIGHT * named + HELD_WEIGHT * held + AGREED_WEIGHT * _agreed(found, of_it))[near]
        odds += FIT_WEIGHT * fits[near] + CHANGE_WEIGHT * changes[near] - UNASKED_WEIGHT * self._unasked(chosen)
        odds += SPAN_WEIGHT * self._span(chosen)
        odds -= YEAR_WEIGHT * self._of_other_years(found, of_it)[near] + SPLIT_WEIGHT * _split(found, of_it)[near]
        odds += CENTRAL_WEIGHT * _central(chosen) * (held > 0)[near]
        odds -= SMALLER_WEIGHT * _smaller(found, held > 0)[near]
        worth = spread(odds) * standing[near]
        evidence = odds_of(best) + FIT_WEIGHT * fits[near]
        evidence = np.where(of_it[near], np.maximum(evidence, odds), evidence)
        order = np.lexsort((-odds, -worth))
        return [Scored(chosen[n], *(float(of[n]) for of in (worth, relevance, odds, evidence))) for n in order]

    def reread(self, scored: Sequence[Scored], reranker: Reranker | None) -> list[Scored]:
        """``scored``, of which the first five are read once more, alone: rows, and the clauses of sentences, of which
        the best counts. What else a long sentence and what stands over it say makes it less of an answer. Their order
        is by both, and the better reading is the evidence."""
        near, rest = scored[:FIRST], scored[FIRST:]
        if reranker is None or not near:
            return list(scored)
        runs = [
            (place, run[:LONGEST_PASSAGE])
            for place, one in enumerate(near)
            for run in ([one.quote.text] if one.quote.row is not None else clauses(one.quote.text, LONGEST_RUN))
        ]
        of = [near[place].quote for place, _ in runs]
        texts, words, places = [run for _, run in runs], [one.words for one in of], [one.at for one in of]
        mean, best = map(odds_of, self.wanted.relevance(texts, words, places, reranker.score))
        standing, read = self._standing([one.quote for one in near]), list[Scored]()
        for place, one in enumerate(near):
            own = [n for n, (other, _) in enumerate(runs) if other == place]
            gain = float(mean[own].max()) - log_odds(one.relevance or 0.0, _FARTHEST)
            odds = one.odds + RELEVANCE_WEIGHT * ALONE_WEIGHT * gain
            worth = float(spread(np.array([odds]))[0] * standing[place])
            read.append(replace(one, odds=odds, worth=worth, evidence=max(one.evidence, float(best[own].max()))))
        return sorted([*read, *rest], key=lambda one: (-one.worth, -one.odds))

    def table(self, found: Sequence[Quotable]) -> list[Quotable]:
        """Rows of the table that the question names more closely than any row ("revenue by segment"), in the document
        that it names best; none without one."""
        asked = name_stems(self.question.main) - stems("task", "opening") - self.names
        heads = [quote.row for quote in found if quote.row is not None]
        closest = max((TABLE, *(agreement(name_stems(row.head), asked) for row in heads)))
        tables: dict[tuple[int, str], list[Quotable]] = {}
        for quote in found:
            for table in (quote.row.table, quote.row.corner) if quote.row is not None else ():
                tables.setdefault((quote.source.number, table), []).append(replace(quote, about=table))
        near: list[list[Quotable]] = []
        for (_, table), rows in tables.items():
            name = name_stems(table)
            rest = asked - name  # names a row of it
            of_row = any(rest & name_stems(row.head) and name <= name_stems(row.table) for row in heads)
            if len(rows) > 1 and len(name) > 1 and name <= asked and agreement(name, asked) > closest and not of_row:
                near.append(rows)
        return max(near, key=lambda rows: self.prior(rows[0].source.doc_id), default=[])

    def prior(self, doc_id: str) -> float:
        """How well the question names a document, 0–1, relative to the best-named one."""
        most = max(self._priors.values(), default=0.0)
        return self._priors.get(doc_id, 0.0) / most if most else 1.0

    def _standing(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Worth of each quote by its document, 0–1, highest in the document that the question names best."""
        return np.array([1.0 - ROUTE_WEIGHT * (1.0 - self.prior(quote.source.doc_id)) for quote in found])

    def _named(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """How well the question names each row, 0–1 (`ragcore.text.words.naming`), "total" too if it has that; 0 if
        only the row is a share, or it holds no such thing as is asked for. For a list, the agreement of its section's
        heading with the question, squared: its items don't say again what they are of."""
        asked, words, main = frozenset(self.wanted.words), self.wanted.everything, self.question.main
        share, totals = is_share(main), lex.TOTAL_STEMS & frozenset(content_stems(main))

        def named(one: Quotable) -> float:
            if one.row is None:
                return agreement(one.name, asked) ** 2
            if (is_share(one.row.head) and not share) or not self._may_answer(one):
                return 0.0
            whole = one.header | (totals & frozenset(content_stems(one.row.head)))
            return max(naming(one.name, words), naming(whole, words | totals))

        return np.array(list(map(named, found)))

    def _may_answer(self, row: Quotable) -> bool:
        """Whether a row holds, with what stands over it, the kind of thing that is asked for: who, in its cells and
        unless the question names them itself."""
        answer, text = self.question.answer, f"{row.about}\n{row.text}"
        if row.row is not None and answer.wants and not answer.figures:
            asked = set(tokens(self.question.main))
            said = " ".join((row.row.head, *(cell.text for cell in row.row.cells))).split()
            text = " ".join(word for word in said if asked.isdisjoint(tokens(word)))
        return holds_kind(answer, text)

    @cached_property
    def _quantity(self) -> tuple[str, ...]:
        """Words of the question that say what is asked for, not of whom or when."""
        said = self.question.main
        names = [name.text for name in self.question.names] + [said[a:b] for _, a, b in period_spans(said)]
        other = content_stems(" ".join(names))
        return tuple(word for word in self._asked if word not in other)

    def held(self, found: Sequence[Quotable]) -> NDArray[np.int_]:
        """2 for each row that has, with its headings, all words of what is asked for and of which part; 1 if it lacks
        some, but has half of them and no row has more; else 0. A row of shares counts only if a share is asked for, and
        none does if a change is."""
        share, changes = is_share(self.question.main), self.question.changes
        rows = [
            one.row is not None and not changes and (share or not is_share(one.row.head)) and self._may_answer(one)
            for one in found
        ]
        counts = np.array([sum(self.wanted.has(word, one.words) for word in self._asked) for one in found]) * rows
        most = int(counts.max(initial=0))
        least = max(most, 1, math.ceil(len(self._asked) / 2))
        return np.where(counts >= least, 2 if most == len(self._asked) else 1, 0)

    def fit(self, quote: Quotable) -> float:
        """Resemblance to an answer, 0–1, of a quote with half of the question's other words; 0 if it says who left an
        office and the question does not ask for that."""
        answer = self.question.answer
        left = listed("sentences", "former")
        left = left if left.isdisjoint(tokens(self.question.main)) else frozenset()
        if "PERSON" in answer.wants and not left.isdisjoint(tokens(quote.text)):
            return 0.0
        held = sum(self.wanted.has(word, quote.words) for word in answer.beside)
        return fit(answer, quote.text) if len(answer.beside) < 2 or 2 * held >= len(answer.beside) else 0.0

    def _changes(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Share of the words of what changed, 0–1, squared as in `_named`, in each quote that says by how much, if that
        is asked for; else 0."""
        if not self.question.changes:
            return np.zeros(len(found))
        beside = stems("question", "changes") | lex.SPAN_STEMS
        own = [word for word in self.wanted.words if not (word in beside or word.isdigit())]
        held = [says_change(one) * sum(self.wanted.has(word, one.words) for word in own) for one in found]
        return (np.array(held, np.float64) / max(len(own), 1)) ** 2

    def _span(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """How much nearer each quote's span of time is to the one asked for than others are on average, −1 to 1, or, if
        none is asked for, to a year, which is what a row without a span is of. 0 for other quotes without one."""
        asked = spans_of(self.question)
        own = [quote.spans or (_YEAR if quote.row is not None and not asked else frozenset()) for quote in found]
        share = (bool(asked & one) if asked else math.log2(max(one, default=3) / 3) / 2 for one in own)
        near, given = np.array(list(map(float, share))), np.array(list(map(bool, own)))
        return np.where(given, near - near[given].sum() / max(given.sum(), 1), 0.0)

    def _of_other_years(self, found: Sequence[Quotable], of_it: NDArray[np.bool_]) -> NDArray[np.float64]:
        """1 for each quote that names years, but none that is asked for; without one, `LATEST` for a row ``of_it``,
        what is asked for, that ends in another year than most rows of its document, if one ends there; else 0."""
        asked = self.question.years
        if asked:
            return np.array([bool(q.years and asked.isdisjoint(q.years)) for q in found], np.float64)
        ends = [(quote.source.doc_id, max(quote.years, default=0) if quote.row is not None else 0) for quote in found]
        latest = {doc_id: year for (doc_id, year), _ in reversed(Counter(end for end in ends if end[1]).most_common())}
        there = {end for end, of in zip(ends, of_it) if of and end[1] == latest.get(end[0])}
        late = (
            of and 0 < end[1] != latest[end[0]] and (end[0], latest[end[0]]) in there for end, of in zip(ends, of_it)
        )
        return LATEST * np.array(list(late), np.float64)

    def _of_quantity(self, found: Sequence[Quotable]) -> NDArray[np.bool_]:
        """Whether each quote is a row of what is asked for."""
        asked, has = self._quantity, self.wanted.has
        return np.array([bool(asked and one.row) and all(has(w, one.words) for w in asked) for one in found], np.bool_)

    def _unasked(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Logarithm of 1 and the number of words in each row's header that the question has not; 0 for other quotes."""
        return np.log1p([len(one.header - self.wanted.everything - lex.TOTAL_STEMS) for one in found])

    def _cover(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Share of the question's words in each candidate, weighted by rarity, 0–1; words only in its headings count
        half."""
        held = [self.wanted.held(quote.words) for quote in found]
        own = [self.wanted.held(quote.own) for quote in found]
        rarity = Rarity(held)
        total = rarity.total(self.wanted.words) or 1.0
        shares = (sum(rarity.of(w) * (1.0 if w in said else AROUND) for w in words) for words, said in zip(held, own))
        return np.array(list(shares)) / total


def _agreed(found: Sequence[Quotable], of_it: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each of the rows ``of_it``, what is asked for, has a figure that a row of its name has in another table
    too; a row of another name has it of something else."""
    tables, own = defaultdict[tuple[object, ...], set[str]](set), list[set[tuple[object, ...]]]()
    for quote, of in zip(found, of_it):
        texts = [re.sub(r"[^\d.%]", "", cell.text) for cell in quote.row.meant] if of and quote.row is not None else []
        own.append({(quote.source.doc_id, quote.header, text) for text in texts if len(text) > 2})
        for figure in own[-1]:
            tables[figure].add(quote.about)
    return np.array([any(len(tables[figure]) > 1 for figure in figures) for figures in own], np.bool_)


def _central(found: Sequence[Quotable]) -> NDArray[np.float64]:
    """Centrality of each row's table in its document, 0–1; 0 for other quotes."""
    return np.array([one.source.centrality(one.row.first) if one.row is not None else 0.0 for one in found])


def _smaller(found: Sequence[Quotable], held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each of the rows ``held`` has an amount below `WHOLE` of the greatest in its document with its header and
    span of time. Those of known scale and one currency are compared, if none is negative: a part may lose more."""
    out = np.zeros(len(found), np.bool_)
    alike = defaultdict[tuple[str, frozenset[str], frozenset[int]], list[tuple[int, list[Number], float]]](list)
    for place, (quote, of) in enumerate(zip(found, held)):
        row = quote.row if of else None
        if row is not None and (given := row.amounts) and (scale := row.scale(quote.source)):
            alike[quote.source.doc_id, quote.header, quote.spans or _YEAR].append((place, given, scale))
    for rows in alike.values():
        given = [one for _, own, _ in rows for one in own]
        greatest = [max(one.value * max(one.scale, scale) for one in own) for _, own, scale in rows]
        if len({one.currency for one in given} - {""}) < 2 and min(one.value for one in given) >= 0.0:
            for (place, *_), amount in zip(rows, greatest):
                out[place] = amount < WHOLE * max(greatest)
    return out


def _split(found: Sequence[Quotable], of_it: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each of the rows ``of_it``, what is asked for, has several columns without a period, of which the
    question names none, while another has none such."""
    split = of_it & np.array([quote.row is not None and _is_split(quote.row) for quote in found], np.bool_)
    return split & bool((of_it & ~split).any())


def _is_split(row: Row) -> bool:
    """Whether a row has several columns without a period, and the question names none."""
    columns = [cell.column for cell in row.cells if cell.column]
    return not row.named and sum(not column_years(one) and not period_spans(one) for one in columns) > 1


def agreement(one: frozenset[str], other: frozenset[str]) -> float:
    """Overlap of two names, 0–1 (Dice's coefficient)."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def odds_of(relevance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log odds of relevance probabilities."""
    return np.array([log_odds(float(one), _FARTHEST) for one in relevance])


def spread(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log odds rescaled to 0–1, linear from −4 to 10: the cross-encoder is so certain that its probabilities hardly
    separate good candidates."""
    return np.clip((odds + 4.0) / 14.0, 0.0, 1.0)


def says_change(quote: Quotable) -> bool:
    """Whether a quote says by how much something changed: a row in a column of changes, a sentence by a word of change
    and an amount."""
    if quote.row is not None:
        return any(is_change(cell.column) for cell in quote.row.cells)
    amounts = any(number.percent or number.currency for number in numbers(quote.text))
    return amounts and not (lex.UP | lex.DOWN | lex.CHANGE).isdisjoint(tokens(quote.text))
