"""Candidate evidence for a sentence of a draft: the sentences, pairs of sentences and table rows nearest to it.

A search without close reading gives passages. Of their lines those are read by the cross-encoder that have most of the
sentence's words, the rare ones counting for more, and of its figures, or that are nearest in meaning: what is told in
other words shares few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.answer.cite import Citer, Part
from ragcore.answer.sources import Cut, build_sources, headed, unbounded
from ragcore.check.sentences import Checkable
from ragcore.config.settings import AnswerSettings
from ragcore.protocols import Embedder, Reranker, Vector
from ragcore.text.logistic import log_odds
from ragcore.text.numbers import Number, agree, numbers
from ragcore.text.words import Rarity, content_stems
from ragcore.types import Citation, Document, Retrieval, Scope, Source
from ragcore.verify.attribution import with_synonyms
from ragcore.verify.evidence import Evidence, gather

PASSAGES = 24
MOST = 14  # candidates: by relevance, by meaning, and by words
_NEAR, _MEANT = 24, 8  # lines that the cross-encoder reads: by words, and by meaning
_FOREMOST = 8  # passages whose lines are ranked by meaning
_FIRST = 5  # by relevance, and by meaning
_FIGURES = 0.5  # weight of the figures beside the words
_FARTHEST = 9.0  # log odds
_ALIKE = 30.0  # log odds that a likeness of 1 is worth


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words of ``source`` (``text``) as a citation and as evidence; ``relevance`` is the cross-encoder's log odds, 0.0
    without one."""

    source: Source
    text: str
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
        self,
        document: Callable[[str], Document],
        scope: Scope,
        settings: AnswerSettings,
        embedder: Embedder,
        reranker: Reranker | None,
    ) -> None:
        self._document, self._scope = document, scope
        self._settings = unbounded(settings)
        self._embedder, self._reranker = embedder, reranker
        self._vectors: dict[str, Vector] = {}
        self._cut = Cut()

    def likeness(self, text: str, others: Sequence[str]) -> list[float]:
        """Cosines of the meaning of ``text`` and of each of the ``others``."""
        new = [one for one in dict.fromkeys((text, *others)) if one not in self._vectors]
        self._vectors.update(zip(new, self._embedder.embed_documents(new)))
        return [float(self._vectors[text] @ self._vectors[one]) for one in others]

    def near(self, sentence: Checkable, asked: str, retrieval: Retrieval, most: int) -> list[Candidate]:
        """At ``most`` so many candidates in the passages of ``retrieval``, best first; the cross-encoder is ``asked``
        about them."""
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
        shares = {n: covers[n] + _FIGURES * held_of(figures, lines[n].text) for n in order}
        near = sorted(order, key=lambda n: (-shares[n], n))[:_NEAR]
        alone = [n for n, line in enumerate(lines) if line.first == line.last and line.source.number <= _FOREMOST]
        alike = dict(zip(alone, self.likeness(sentence.text, [lines[n].text for n in alone])))
        meant = sorted(alone, key=lambda n: (-alike[n], n))[:_MEANT]
        read = list(dict.fromkeys((*near, *meant)))
        relevance = dict.fromkeys(read, 0.0)
        if self._reranker is not None:
            scores = self._reranker.score(asked, [lines[n].passage for n in read])
            relevance = {n: log_odds(float(score), _FARTHEST) for n, score in zip(read, scores)}
        best = dict.fromkeys((*sorted(read, key=lambda n: (-relevance[n], n))[:_FIRST], *meant[:_FIRST]))
        best |= dict.fromkeys(near[: most - len(best)])
        citer = Citer(sources, self._document)
        out: list[tuple[float, Candidate]] = []
        for n, likeness in zip(best, self.likeness(sentence.text, [lines[n].text for n in best])):
            line = lines[n]
            citation = citer.look(Part(line.source.number, line.first, line.last, ""))
            assert citation is not None  # the part names given units
            evidence = replace(gather([citation], self._document, self._scope), near="")  # only its own words count
            nearness = relevance[n] + _ALIKE * likeness
            out.append((nearness, Candidate(line.source, line.text, citation, evidence, relevance[n])))
        return [one for _, one in sorted(out, key=lambda one: -one[0])]


def held_of(figures: Sequence[Number], text: str) -> float:
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
