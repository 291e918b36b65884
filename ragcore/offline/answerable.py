"""Answerability classifier: a logistic model of the probability that the lines found hold an answer.

Its weights are fitted by `benchmarks.answerable` on development questions, some of them unanswerable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import log
from typing import Final

from ragcore.offline.names import Missing
from ragcore.offline.quotable import Quotable, with_paragraph
from ragcore.offline.quote_ranking import LONGEST_PASSAGE, Ranking, Scored
from ragcore.protocols import Reranker
from ragcore.text.logistic import Logistic, log_odds
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems

_READ = 4  # lines judged with their paragraph
FARTHEST = 9.0  # log odds of relevance


@dataclass(frozen=True, slots=True)
class Signs:
    """Features of answerability. ``relevance``: log odds of the best relevance of a line, alone or with the preceding
    text of its paragraph. ``cover``: the share of the question's words in one line and its headings, weighted by
    rarity. ``thing``: whether a good line has the rarest word of the question that is not a name. ``fit``: how closely
    one looks like an answer. ``names`` and ``years``: whether some appear nowhere."""

    relevance: float
    cover: float
    thing: float
    fit: float
    names: float
    years: float


def signs_of(
    ranking: Ranking,
    wanted: Wanted,
    found: Sequence[Quotable],
    scored: Sequence[Scored],
    named: Sequence[str],
    absent: Missing,
    reranker: Reranker | None,
) -> Signs:
    """Features of ``found``, of which ``scored`` are the best lines; ``named`` are the names in the question."""
    best = sorted(scored, key=_relevance, reverse=True)[:_READ]
    counts = Counter(word for quote in found for word in wanted.held(quote.words))
    weights = {word: log(1 + len(found) / (1 + counts[word])) for word in wanted.words}
    total = sum(weights.values()) or 1.0
    question = ranking.question
    names = {stem for name in named for stem in content_stems(name)}
    things = [word for word in wanted.words if word in (question.answer.beside or wanted.words) and not word.isdigit()]
    thing = max((word for word in things if word not in names), key=weights.__getitem__, default="")
    lines = [*best, *scored[:_READ]]
    said = not thing or any(wanted.has(thing, each.quote.words) for each in lines)
    relevance = _relevance(best[0])
    if reranker is not None:
        read = [with_paragraph(each.quote)[-LONGEST_PASSAGE:] for each in best]
        # A line that only names the question's subject is relevant to the name.
        asked = question.main if said else _without(question.main, named)
        together = float(reranker.score(asked, read).max())
        relevance = max(relevance, together) if said else together
    # Of two things compared, one may be answerable.
    lacking = bool(absent.names) and not (question.compares and set(named) - set(absent.names))
    return Signs(
        log_odds(relevance, FARTHEST),
        max(sum(weights[word] for word in wanted.held(each.quote.words)) / total for each in scored),
        float(said),
        max(ranking.fit(each.quote) for each in lines),
        float(lacking),
        float(bool(absent.years)),
    )


def probability(signs: Signs) -> float:
    """Probability that the question is answered."""
    return ANSWERED(*astuple(signs))


def _without(question: str, names: Sequence[str]) -> str:
    for name in names:
        question = question.replace(name, " ")
    return " ".join(question.split())


def _relevance(each: Scored) -> float:
    return each.worth if each.relevance is None else each.relevance


# In the order of `Signs`.
ANSWERED: Final = Logistic(-1.6, (0.19, 2.25, 0.42, 1.86, -5.41, -5.36))
