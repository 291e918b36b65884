"""Which quotes answer a question best: the cross-encoder's relevance, the question's words, a row's own name, and
the document that it stands in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from ragcore.offline.intents import KIND_ONLY, fit, holds_kind
from ragcore.offline.quotable import Quotable
from ragcore.protocols import Reranker
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, tokens
from ragcore.types import Route
from ragcore.types.question import Question

CANDIDATES = 40
RERANK_WEIGHT = 0.7
WITHOUT_KIND = 0.7  # what a quote is worth that does not hold the kind of thing asked for
ROW_FOR_PROSE = 0.5  # and a row, where no row can be the answer
NAMED_WEIGHT = 0.6
# What a word of the question counts that stands only in the title, section or heading over a quote.
AROUND = 0.5
# How far a quote is lifted that holds what is asked for in the usual words: over its like, not over what says it.
INTENT_LIFT = 0.45
# What a quote loses of its worth in a document that the question names least.
ROUTE_WEIGHT = 0.5
# How far a row's name must agree with a quantity of which terms.toml makes another.
AGREEMENT_OF_PARTS = 0.8
# The cross-encoder reads so many characters of a candidate; its time grows with them.
LONGEST_PASSAGE = 600
# In the brackets of a name stands what it is called for short, or what a negative number means.
_BRACKETS = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Scored:
    """A quote with its ``worth`` among the others (0–1), its ``relevance`` by the cross-encoder alone (None without
    one), the share of the question's words, rare ones counting more, that it has (``cover``), and whether it is the
    cell whose row and column the question both names (``named``)."""

    quote: Quotable
    worth: float
    relevance: float | None
    cover: float
    named: bool


class Ranking:
    """How well quotes fit ``question``, whose words are ``wanted`` and whose terms of the trade are ``terms``.
    ``routes`` are the documents that it names; ``names`` are the stems of what it calls them."""

    def __init__(
        self, question: Question, wanted: Wanted, *, terms: Sequence[Term] = (), routes: Sequence[Route] = ()
    ) -> None:
        self.question = question
        self._wanted = wanted
        self._terms = tuple(terms)
        self._priors = {route.doc_id: route.prior for route in routes}
        self.names = frozenset(stem for route in routes for stem in content_stems(route.name))

    def best(self, found: list[Quotable], reranker: Reranker | None) -> list[tuple[Quotable, float]]:
        """`scored` as pairs of quote and worth."""
        return [(each.quote, each.worth) for each in self.scored(found, reranker)]

    def scored(self, found: list[Quotable], reranker: Reranker | None) -> list[Scored]:
        """The 40 most likely of ``found``, best first.

        Worth is the cross-encoder's vote and the words' vote, lowered where the question asks for a figure and there is
        none, raised where the question names the row. Only the 40 that the words choose reach the cross-encoder.
        """
        shortlist = self._shortlist(found)
        if not shortlist:
            return []
        cover = self._words_vote(shortlist)
        votes, relevance = cover, None
        if reranker is not None:
            passages = [quote.passage[:LONGEST_PASSAGE] for quote in shortlist]
            asked = (self.question.main, *self._otherwise(shortlist))
            relevance = np.max([reranker.score(question, passages) for question in asked], axis=0)
            votes = RERANK_WEIGHT * spread(relevance) + (1 - RERANK_WEIGHT) * votes
        votes = votes * np.array([1.0 if self._holds_kind(quote) else WITHOUT_KIND for quote in shortlist])
        if self.question.answer.prose:
            votes = votes * np.array([ROW_FOR_PROSE if quote.row is not None else 1.0 for quote in shortlist])
        else:
            # A row whose header the question names is about it, also where the cross-encoder, trained on prose, is
            # blind.
            votes = 1.0 - (1.0 - votes) * (1.0 - NAMED_WEIGHT * self._named(shortlist))
        votes = np.minimum(1.0, votes + INTENT_LIFT * self._fits(shortlist))
        votes = votes * self.standing(shortlist)
        named = self._named(shortlist)
        return [
            Scored(
                shortlist[i],
                float(votes[i]),
                None if relevance is None else float(relevance[i]),
                float(cover[i]),
                bool(named[i] == 1.0 and shortlist[i].is_cell),
            )
            for i in np.argsort(-votes, kind="stable")
        ]

    def _otherwise(self, found: Sequence[Quotable]) -> list[str]:
        """The question with a term of the trade under another name that ``found`` have: the cross-encoder does not
        know that capex are capital expenditures."""
        for term in self._terms:
            for name in term.same:
                stems = set(content_stems(name))
                if term.said in self.question.main and stems and any(stems <= quote.own for quote in found):
                    return [self.question.main.replace(term.said, name)]
        return []

    def standing(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """What each quote is worth by where it stands, 0–1: highest in the document that the question names best."""
        return np.array([1.0 - ROUTE_WEIGHT * (1.0 - self.prior(quote.source.doc_id)) for quote in found])

    def fit(self, quote: Quotable) -> float:
        """How far it looks like an answer to the question, 0–1: it holds the kind of thing asked for, in the usual
        words for it, and at least half of what the question says beside these."""
        answer = self.question.answer
        if quote.row is not None and (self.question.whole or (answer.figures and self._holds_kind(quote))):
            # The unit of a row may stand in its headers.
            return 0.0 if self.question.whole else max(KIND_ONLY, fit(answer, quote.text))
        held = sum(self._wanted.has(word, quote.words) for word in answer.beside)
        return fit(answer, quote.text) if len(answer.beside) < 2 or 2 * held >= len(answer.beside) else 0.0

    def _holds_kind(self, quote: Quotable) -> bool:
        """Whether it holds the kind of thing asked for; of figures, one that the question does not say itself."""
        answer = self.question.answer
        if answer.figures and not quote.figures(set(tokens(self.question.main))):
            return False
        if answer.prose:
            return fit(answer, quote.text) > 0.0
        return quote.row is not None or holds_kind(answer, quote.text)

    def prior(self, doc_id: str) -> float:
        """How far the question names a document, 0–1, against the one that it names best."""
        most = max(self._priors.values(), default=0.0)
        return self._priors.get(doc_id, 0.0) / most if most else 1.0

    def rows_for(self, terms: Sequence[Term], found: Sequence[Quotable]) -> list[Quotable]:
        """For each quantity that a term of the question is made of the row whose name agrees with it best."""
        named = list(dict.fromkeys(part for term in terms for part in term.parts))
        chosen = [self._row_for(part, found) for part in named]
        return [row for row in chosen if row is not None]

    def _row_for(self, part: str, found: Sequence[Quotable]) -> Quotable | None:
        agreements = [agreement(row_name(quote), name_of(part)) for quote in found]
        if not agreements or max(agreements) < AGREEMENT_OF_PARTS:
            return None
        return found[int(np.argmax(np.array(agreements) * self.standing(found)))]

    def _shortlist(self, found: list[Quotable]) -> list[Quotable]:
        """At most 40, by words, by name and by half the score of their source, in the order of the text."""
        if len(found) <= CANDIDATES:
            return found
        value = self._words_vote(found) + 0.5 * self._named(found) + self._fits(found)
        value = (value + 0.5 * np.array([quote.source.score for quote in found])) * self.standing(found)
        return [found[i] for i in sorted(np.argsort(-value, kind="stable")[:CANDIDATES])]

    def _words_vote(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """The share of the question's words that each candidate has, the rarer words counting more, 0–1; a word that
        only stands over it counts half."""
        held = [self._wanted.held(quote.words) for quote in found]
        own = [self._wanted.held(quote.own) for quote in found]
        counts = Counter(word for words in held for word in words)
        weights = {word: log(1 + len(found) / (1 + counts[word])) for word in self._wanted.words}
        total = sum(weights.values()) or 1.0
        return np.array(
            [
                sum(weights[word] * (1.0 if word in said else AROUND) for word in words) / total
                for words, said in zip(held, own)
            ]
        )

    def _fits(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        return np.array([self.fit(quote) for quote in found])

    def _named(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """How far the question holds each row's name, 0–1; one of one word counts half: it may be by chance."""
        asked = self._wanted.everything
        shares = [
            len(quote.name & asked) / len(quote.name) * min(1.0, len(quote.name & asked) / 2) if quote.name else 0.0
            for quote in found
        ]
        return np.array(shares)


def name_of(text: str) -> frozenset[str]:
    """The stems by which a quantity is called, without what stands in brackets, periods and ``total``."""
    stems = content_stems(_BRACKETS.sub(" ", text))
    return frozenset(word for word in stems if not word.isdigit() and word != "total")


def row_name(quote: Quotable) -> frozenset[str]:
    """`name_of` a row's own header; empty for what is no row."""
    return name_of(quote.row.head) if quote.row is not None else frozenset()


def agreement(one: frozenset[str], other: frozenset[str]) -> float:
    """How far two names are the same words, 0–1 (Dice's coefficient)."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def spread(relevance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relevance as probability → 0–1 in even steps of log odds (−4 to 10): the cross-encoder calls so much certain
    that its probabilities hardly tell one good candidate from the next."""
    p = np.clip(relevance, 1e-9, 1 - 1e-9)
    return np.clip((np.log(p / (1 - p)) + 4.0) / 14.0, 0.0, 1.0)
