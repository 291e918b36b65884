"""Quote ranking: by the cross-encoder's relevance, the question's words, a row's own name, and the quote's document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from ragcore.offline.intents import KIND_ONLY, fit
from ragcore.offline.quotable import Quotable
from ragcore.protocols import Reranker
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems
from ragcore.types import Route
from ragcore.types.question import Question

CANDIDATES = 40
RERANK_WEIGHT = 0.7
NAMED_WEIGHT = 0.6
# Weight of a question word found only in the title, section or heading of a quote.
AROUND = 0.5
# Bonus of a quote with the requested thing in its usual words: above similar quotes, below explicit ones.
INTENT_LIFT = 0.45
# Loss of worth in the document that the question names least.
ROUTE_WEIGHT = 0.5
# Characters of a candidate for the cross-encoder, whose time grows with them.
LONGEST_PASSAGE = 600
# Brackets in a name hold its abbreviation or the meaning of negative numbers.
_BRACKETS = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Scored:
    """Quote with its relative ``worth``, 0–1, and the cross-encoder's ``relevance`` (None without one)."""

    quote: Quotable
    worth: float
    relevance: float | None


class Ranking:
    """Ranker of quotes for ``question``, whose words are ``wanted``. ``routes`` are the documents that it names;
    ``names`` are the stems of their names in it."""

    def __init__(self, question: Question, wanted: Wanted, *, routes: Sequence[Route] = ()) -> None:
        self._question = question
        self._wanted = wanted
        self._priors = {route.doc_id: route.prior for route in routes}
        self.names = frozenset(stem for route in routes for stem in content_stems(route.name))

    def best(self, found: list[Quotable], reranker: Reranker | None) -> list[tuple[Quotable, float]]:
        """`scored` as pairs of quote and worth."""
        return [(each.quote, each.worth) for each in self.scored(found, reranker)]

    def scored(self, found: list[Quotable], reranker: Reranker | None) -> list[Scored]:
        """The 40 best of ``found``, best first: by the cross-encoder and the question's words, raised if the question
        names the row, or if the quote looks like an answer. The words choose the 40 that reach the cross-encoder."""
        shortlist = self._shortlist(found)
        if not shortlist:
            return []
        votes, relevance = self._words_vote(shortlist), None
        if reranker is not None:
            relevance = reranker.score(self._question.main, [quote.passage[:LONGEST_PASSAGE] for quote in shortlist])
            votes = RERANK_WEIGHT * spread(relevance) + (1 - RERANK_WEIGHT) * votes
        if not self._question.answer.prose:
            # A row whose header the question names is relevant, even if the cross-encoder, trained on prose, misses it.
            votes = 1.0 - (1.0 - votes) * (1.0 - NAMED_WEIGHT * self._named(shortlist))
        votes = np.minimum(1.0, votes + INTENT_LIFT * self._fits(shortlist)) * self._standing(shortlist)
        return [
            Scored(shortlist[i], float(votes[i]), None if relevance is None else float(relevance[i]))
            for i in np.argsort(-votes, kind="stable")
        ]

    def prior(self, doc_id: str) -> float:
        """How well the question names a document, 0–1, relative to the best-named one."""
        most = max(self._priors.values(), default=0.0)
        return self._priors.get(doc_id, 0.0) / most if most else 1.0

    def _standing(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Worth of each quote by its document, 0–1: highest in the document that the question names best."""
        return np.array([1.0 - ROUTE_WEIGHT * (1.0 - self.prior(quote.source.doc_id)) for quote in found])

    def _fit(self, quote: Quotable) -> float:
        """Resemblance to an answer, 0–1: it has the requested kind of thing, in its usual words, and at least half of
        the question's other words."""
        answer = self._question.answer
        if quote.row is not None and (self._question.whole or answer.figures):
            # The unit of a row may be in its headers.
            return 0.0 if self._question.whole else max(KIND_ONLY, fit(answer, quote.text))
        held = sum(self._wanted.has(word, quote.words) for word in answer.beside)
        return fit(answer, quote.text) if len(answer.beside) < 2 or 2 * held >= len(answer.beside) else 0.0

    def _shortlist(self, found: list[Quotable]) -> list[Quotable]:
        """At most 40, by words, by name and by half the score of their source, in text order."""
        if len(found) <= CANDIDATES:
            return found
        value = self._words_vote(found) + 0.5 * self._named(found) + self._fits(found)
        value = (value + 0.5 * np.array([quote.source.score for quote in found])) * self._standing(found)
        return [found[i] for i in sorted(np.argsort(-value, kind="stable")[:CANDIDATES])]

    def _words_vote(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Share of the question's words in each candidate, weighted by rarity, 0–1; words only in its headings count
        half."""
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
        return np.array([self._fit(quote) for quote in found])

    def _named(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Share of each row's name that the question has, 0–1; a one-word name counts half, since it may match by
        chance."""
        asked = self._wanted.everything
        shares = [
            len(quote.name & asked) / len(quote.name) * min(1.0, len(quote.name & asked) / 2) if quote.name else 0.0
            for quote in found
        ]
        return np.array(shares)


def name_of(text: str) -> frozenset[str]:
    """Stems of a quantity's name, without bracketed text, periods and ``total``."""
    stems = content_stems(_BRACKETS.sub(" ", text))
    return frozenset(word for word in stems if not word.isdigit() and word != "total")


def row_name(quote: Quotable) -> frozenset[str]:
    """`name_of` a row's own header; empty for other quotes."""
    return name_of(quote.row.head) if quote.row is not None else frozenset()


def agreement(one: frozenset[str], other: frozenset[str]) -> float:
    """Overlap of two names, 0–1 (Dice's coefficient)."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def spread(relevance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relevance probabilities rescaled to 0–1, linear in log odds from −4 to 10: the cross-encoder is so certain that
    its probabilities hardly separate good candidates."""
    p = np.clip(relevance, 1e-9, 1 - 1e-9)
    return np.clip((np.log(p / (1 - p)) + 4.0) / 14.0, 0.0, 1.0)
