"""Candidate evidence for a sentence of a draft: the sentences, pairs of sentences and table rows nearest to it.

A search without close reading gives passages; their lines are ranked by the sentence's words that they have, the rare
ones counting for more, and by its figures, then by the cross-encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.answer.cite import Citer, Part
from ragcore.answer.sources import Cut, build_sources, headed, unbounded
from ragcore.check.sentences import Checkable
from ragcore.config.settings import AnswerSettings
from ragcore.protocols import Reranker
from ragcore.text.logistic import log_odds
from ragcore.text.numbers import Number, agree, numbers
from ragcore.text.words import Rarity, content_stems
from ragcore.types import Citation, Document, Retrieval, Scope, Source
from ragcore.verify.attribution import with_synonyms
from ragcore.verify.evidence import Evidence, gather

PASSAGES = 24
_NEAR = 24  # lines that the cross-encoder reads
_MOST = 12  # candidates
_FIGURES = 0.5  # weight of the figures beside the words
_FARTHEST = 9.0  # log odds


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words of ``source`` as a citation and as evidence; ``relevance`` is the cross-encoder's log odds, 0.0 without
    one."""

    source: Source
    citation: Citation
    evidence: Evidence
    relevance: float


@dataclass(frozen=True, slots=True)
class _Line:
    source: Source
    first: int
    last: int
    text: str
    words: frozenset[str]

    @property
    def passage(self) -> str:
        return headed(self.source.title, self.source.section, self.text)


class Candidates:
    """Finder of candidates in passages of ``document``s in ``scope``. ``reranker`` is optional."""

    def __init__(
        self, document: Callable[[str], Document], scope: Scope, settings: AnswerSettings, reranker: Reranker | None
    ) -> None:
        self._document, self._scope = document, scope
        self._settings = unbounded(settings)
        self._reranker = reranker
        self._cut = Cut()

    def near(self, sentence: Checkable, asked: str, retrieval: Retrieval) -> list[Candidate]:
        """Candidates in the passages of ``retrieval``, best first; the cross-encoder is ``asked`` about them."""
        found = replace(retrieval, segments=())
        sources = build_sources(found, self._document, self._settings, self._cut)
        lines = [line for source in sources for line in _lines(source)]
        if not lines:
            return []
        said = frozenset(content_stems(f"{sentence.text} {sentence.context}"))
        held = [said & line.words for line in lines]
        rarity = Rarity(held)
        total = rarity.total(said) or 1.0
        figures = numbers(sentence.text)
        covers = [rarity.total(words) / total for words in held]
        order = sorted(range(len(lines)), key=lambda n: (-covers[n], n))[: 3 * _NEAR]
        shares = {n: covers[n] + _FIGURES * _held(figures, lines[n].text) for n in order}
        near = sorted(order, key=lambda n: (-shares[n], n))[:_NEAR]
        relevance = dict.fromkeys(near, 0.0)
        if self._reranker is not None:
            scores = self._reranker.score(asked, [lines[n].passage for n in near])
            relevance = {n: log_odds(float(score), _FARTHEST) for n, score in zip(near, scores)}
        best = dict.fromkeys(sorted(near, key=lambda n: (-relevance[n], n))[: _MOST // 2])
        best |= dict.fromkeys(near[: _MOST - len(best)])
        citer = Citer(sources, self._document)
        out = []
        for n in best:
            line = lines[n]
            citation = citer.look(Part(line.source.number, line.first, line.last, ""))
            assert citation is not None  # the part names given units
            evidence = gather([citation], self._document, self._scope)
            out.append(Candidate(line.source, citation, evidence, relevance[n]))
        return sorted(out, key=lambda one: -one.relevance)


def _held(figures: Sequence[Number], text: str) -> float:
    """Share of ``figures`` that ``text`` has."""
    if not figures:
        return 0.0
    given = numbers(text)
    return sum(any(agree(one, other, None, hedged=True, bare=True) for other in given) for one in figures) / len(
        figures
    )


def _lines(source: Source) -> Iterator[_Line]:
    """Sentences, pairs of them, and rows of ``source``, each with the stems of its words, headings and labels."""
    headings = frozenset(content_stems(" ".join((source.title, *source.section))))
    for first, last in source.lines():
        kinds = {source.units[number - 1].kind for number in (first, last)}
        if kinds == {"sentence"}:
            spans = [(n, n) for n in range(first, last + 1)]
            spans += [(n, n + 1) for n in range(first, last)]
        else:
            spans = [(first, last)]
        for low, high in spans:
            units = source.units[low - 1 : high]
            if any(unit.generated for unit in units):
                continue
            text = source.words(low, high)
            labels = " ".join(dict.fromkeys(unit.label for unit in units if unit.label))
            words = frozenset(content_stems(f"{text} {labels}"))
            if words:
                yield _Line(source, low, high, text, frozenset(with_synonyms(set(words | headings))))
