"""Answerability: the probability that the quotes ranked first answer a question, and what a refusal says otherwise.

What the cross-encoder says of these quotes is the evidence, beside names and years of the question that are nowhere.
The weights are fitted by `benchmarks.answerable` on questions with and without the passages that answer them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final

import numpy as np

from ragcore.offline.intents import PERSON
from ragcore.offline.lists import stems
from ragcore.offline.question import ASKING
from ragcore.offline.quotes import Quotable
from ragcore.offline.ranking import FIRST, LONGEST_PASSAGE, Ranking, Scored, odds_of
from ragcore.protocols import Reranker, WritingTask
from ragcore.text import lexicon as lex
from ragcore.text.logistic import Logistic
from ragcore.text.markdown import escape
from ragcore.text.names import Word, full_text, named, unnamed, words_of
from ragcore.text.periods import years
from ragcore.text.words import stem, tokens
from ragcore.types.question import Question

_TOPIC = 2  # words of a question that is a topic


@dataclass(frozen=True, slots=True)
class Signs:
    """Features of answerability: the ``evidence`` of the best of the first quotes (`Scored`), or the log odds of
    relevance of the first one with the sentence before it, which may name its subject; ``level``, the mean log odds of
    relevance of all quotes, from which an answer stands out; ``names``, whether some of the question's, or the office
    that it asks for, are in no passage; ``years``, whether its are in none, or these quotes speak of others."""

    evidence: float
    level: float
    names: float
    years: float


# In the order of `Signs`.
ANSWERED: Final = Logistic(-1.83, (0.375, -0.132, -4.77, -4.9))


def reason_to_doubt(
    of: Ranking,
    task: WritingTask,
    scored: Sequence[Scored],
    reranker: Reranker | None,
    floor: float,
    *,
    told: bool = False,
) -> str:
    """Opening of a refusal if quotes ``scored``, best first, answer the question ``of`` a ranking with a probability
    below ``floor``; "" if they may, if it is but a topic that one of them is on, if it is ``told`` but by another name
    or in another year, and without a ``reranker``."""
    if not scored or reranker is None or _is_on_topic(of, scored):
        return ""
    signs = signs_of(of, task, scored, reranker)
    if (told and not (signs.names or signs.years)) or ANSWERED(*astuple(signs)) >= floor:
        return ""
    lacking = [f"“{escape(name)}”" for name in _absent_names(of.question, task)] if signs.names else []
    lacking += map(str, sorted(of.question.years)) if signs.years else []
    if lacking:
        return f"The passages found do not mention {' or '.join(lacking)}."
    # Nothing shows that it is missing: it may take several passages, or a calculation.
    return "None of the passages found answers this question on its own."


def signs_of(of: Ranking, task: WritingTask, scored: Sequence[Scored], reranker: Reranker) -> Signs:
    """Features of quotes ``scored`` by a ranking, best first, of the sources of ``task``."""
    question, near, best = of.question, scored[:FIRST], scored[0].quote
    passage = [_with_sentence_before(best)]
    _, together = of.wanted.relevance(passage, [best.words], [best.at], reranker.score)
    told = frozenset[int]().union(*(years(one.quote.passage) | one.quote.years for one in near))
    given = frozenset[int]().union(*(years(full_text(source)) for source in task.sources))
    return Signs(
        max(float(odds_of(together)[0]), *(one.evidence for one in near)),
        float(np.mean(odds_of(np.array([one.relevance or 0.0 for one in scored])))),
        float(bool(_absent_names(question, task))),
        float(bool(question.years) and not (question.years & given and (not told or question.years & told))),
    )


def _with_sentence_before(quote: Quotable) -> str:
    """Passage of a quote with the sentence before it in its paragraph, if it has one and was not read so already."""
    if quote.row is not None or quote.first == quote.opening or quote.first - 1 in quote.before:
        return quote.passage[:LONGEST_PASSAGE]
    return quote.passage.removesuffix(quote.text) + quote.source.words(quote.first - 1, quote.last)[-LONGEST_PASSAGE:]


def _is_on_topic(of: Ranking, scored: Sequence[Scored]) -> bool:
    """Whether the question is but a topic, of one or two words, and one of the first quotes has these with its
    headings; who asks who, how or why asks for more."""
    topic = [word for word in of.wanted.words if word not in stems("overview", "beside")]
    if not 0 < len(topic) <= _TOPIC or not ASKING.isdisjoint(tokens(of.question.main)[:1]):
        return False
    return any(all(of.wanted.has(word, one.quote.words) for word in topic) for one in scored[:FIRST])


def _absent_names(question: Question, task: WritingTask) -> list[str]:
    """Names of ``question`` that no source has, none if another one of a comparison is there; and the office that none
    has."""
    names = named(question.names, task.terms)
    known = " ".join(route.name for route in task.routes if route.name)
    absent = [name.text for name in unnamed(names, task.sources) if name.text not in known]
    return ([] if question.compares and len(absent) < len(names) else absent) + _absent_office(question, task)


def _absent_office(question: Question, task: WritingTask) -> list[str]:
    """Words of ``question`` for the office whose holder it asks for, if no source has any name of this office."""
    if question.answer.wants != PERSON.wants:
        return []
    words, names = words_of(question.main), question.answer.says
    asked = [
        (words[at].start, words[at + len(name) - 1].end) for name in names for at in lex.places(name, _stems(words))
    ]
    texts = (_stems(words_of(full_text(source))) for source in task.sources)
    if not asked or any(lex.places(name, words) for words in texts for name in names):
        return []
    return [question.main[slice(*asked[0])]]


def _stems(words: Sequence[Word]) -> list[str]:
    return [stem(word.plain) for word in words]
