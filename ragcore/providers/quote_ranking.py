"""Which quotes answer a question best: the cross-encoder's relevance, the question's words, and a row's own name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from ragcore.asks import spelled_out
from ragcore.protocols import Reranker
from ragcore.providers.quotable import Quotable
from ragcore.words import content_stems, tokens

CANDIDATES = 24
RERANK_WEIGHT = 0.7
WITHOUT_FIGURE = 0.7
NAMED_WEIGHT = 0.6
# The cross-encoder reads so many characters of a candidate; its time grows with them.
LONGEST_PASSAGE = 600
_ASKS_FIGURE = re.compile(
    r"\bhow\s+(?:many|much|long|often|old|far|large|big|high|soon|quickly)\b|\bwhen\b|"
    r"\bwhat\s+(?:is\s+the\s+|was\s+the\s+)?(?:percent\w*|share|year|date|number|amount|rate|size|length|price)\b|"
    r"\bwhat\s+(?:was|were|is|are)\b.*\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)


def rank(question: str, found: list[Quotable], reranker: Reranker | None) -> list[tuple[Quotable, float]]:
    """The 24 most likely of ``found`` with their worth for ``question``, 0–1, best first.

    Worth is the cross-encoder's vote and the words' vote, lowered where the question asks for a figure and there is
    none, raised where the question names the row. Only the 24 that the words choose reach the cross-encoder.
    """
    wanted = content_stems(spelled_out(question))
    shortlist = _shortlist(wanted, found)
    if not shortlist:
        return []
    votes = _words_vote(wanted, shortlist)
    if reranker is not None:
        relevance = reranker.score(question, [quote.passage[:LONGEST_PASSAGE] for quote in shortlist])
        votes = RERANK_WEIGHT * spread(relevance) + (1 - RERANK_WEIGHT) * votes
    if _ASKS_FIGURE.search(question):
        own = set(tokens(question))
        votes = votes * np.array([1.0 if quote.figures(own) else WITHOUT_FIGURE for quote in shortlist])
    # A row whose header the question names is about it, also where the cross-encoder, trained on prose, is blind.
    named = np.array([_named(quote.name, set(wanted)) for quote in shortlist])
    votes = 1.0 - (1.0 - votes) * (1.0 - NAMED_WEIGHT * named)
    order = np.argsort(-votes, kind="stable")
    return [(shortlist[i], float(votes[i])) for i in order]


def rows_for(parts: Sequence[str], found: Sequence[Quotable]) -> list[Quotable]:
    """For each part of a definition the row whose name agrees with it best, where at least half of both agree."""
    rows = []
    for part in parts:
        wanted = {word for word in content_stems(spelled_out(part)) if not word.isdigit()}
        agreements = [
            2 * len(quote.name & wanted) / (len(quote.name) + len(wanted)) if quote.name else 0.0 for quote in found
        ]
        best = int(np.argmax(agreements)) if agreements else 0
        if agreements and agreements[best] >= 0.5:
            rows.append(found[best])
    return rows


def spread(relevance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relevance as probability → 0–1 in even steps of log odds (−4 to 10): the cross-encoder calls so much certain
    that its probabilities hardly tell one good candidate from the next."""
    p = np.clip(relevance, 1e-9, 1 - 1e-9)
    return np.clip((np.log(p / (1 - p)) + 4.0) / 14.0, 0.0, 1.0)


def _shortlist(wanted: Sequence[str], found: list[Quotable]) -> list[Quotable]:
    """At most 24, by words, by name and by half the score of their source, in the order of the text."""
    if len(found) <= CANDIDATES:
        return found
    named = np.array([_named(quote.name, set(wanted)) for quote in found])
    value = _words_vote(wanted, found) + 0.5 * named + 0.5 * np.array([quote.source.score for quote in found])
    return [found[i] for i in sorted(np.argsort(-value, kind="stable")[:CANDIDATES])]


def _words_vote(wanted: Sequence[str], found: Sequence[Quotable]) -> NDArray[np.float64]:
    """The share of the question's words that each candidate has, the rarer words counting more, 0–1."""
    counts = Counter(word for quote in found for word in set(wanted) & quote.words)
    weights = {word: log(1 + len(found) / (1 + counts[word])) for word in dict.fromkeys(wanted)}
    total = sum(weights.values()) or 1.0
    return np.array([sum(weights[word] for word in weights if word in quote.words) / total for quote in found])


def _named(name: frozenset[str], asked: set[str]) -> float:
    """How far ``asked`` holds a row's name, 0–1; a name of one word counts half, since it may be named by chance."""
    return len(name & asked) / len(name) * min(1.0, len(name & asked) / 2) if name else 0.0
