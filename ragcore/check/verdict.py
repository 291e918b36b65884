"""Verdict on a sentence of a draft: what the documents in scope say of it.

A sentence is confirmed if words that speak of the same thing support it as a whole, or each of its clauses; nothing less
than their exact figures, periods and names counts. It is contradicted if words that certainly speak of the same thing
have another figure, period or an opposite in the place of one. Otherwise the clauses that are covered are told from those
that are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ragcore.check.candidates import PASSAGES, Candidate, Candidates
from ragcore.check.corrections import corrections
from ragcore.check.quotations import Quotation, quotations
from ragcore.check.sentences import Checkable
from ragcore.text import lexicon as lex
from ragcore.text.clauses import clause_spans
from ragcore.text.logistic import Logistic
from ragcore.text.numbers import numbers
from ragcore.text.words import tokens
from ragcore.types import Citation, Scope
from ragcore.types.check import CheckedSentence, CheckStatus, Correction
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import gather
from ragcore.verify.support import Support, cover_of, support

if TYPE_CHECKING:
    from ragcore.check.checks import CheckedLibrary

# Probability that words which no exact check is against say the sentence: over the cross-encoder's log odds, the share
# of its content words in them, and whether it has figures. Fitted by `python -m benchmarks check --fit`.
SAYS: Final = Logistic(-4.0, (0.35, 4.5, 1.5))
# Probability that words speak of the same thing, whatever they say of it.
SAME: Final = Logistic(-4.0, (0.6, 4.0))
CONFIRMED = 0.5
CONTRADICTED = 0.8
NEAREST = 3  # passages shown of a sentence that is not found


@dataclass(frozen=True, slots=True)
class _Read:
    """Candidate with its support for a statement; ``cover`` is the share of the statement's content words in it."""

    candidate: Candidate
    support: Support
    cover: float
    says: float
    same: float

    @property
    def confirms(self) -> bool:
        return self.support.finding.status == "supported" and self.says >= CONFIRMED

    @property
    def contradicts(self) -> bool:
        return self.same >= CONTRADICTED and any(
            finding.status == "unsupported" and not finding.worded for finding in self.support.exact
        )


class Checker:
    """Checker of sentences against the documents in ``scope``."""

    def __init__(self, library: CheckedLibrary, scope: Scope) -> None:
        fast = library.with_settings({"rerank.model": "none", "retrieve.top_k": PASSAGES, "retrieve.mode": "hybrid"})
        self._library, self._search, self._scope = library, fast.search, scope
        self._settings = library.settings.verify
        self._reranker = library.models.once().reranker
        self._candidates = Candidates(library.document, library.settings.answer, self._reranker)

    def verdict(self, sentence: Checkable) -> CheckedSentence:
        """Raises what retrieval raises."""
        near = self.near(sentence)
        reads = self.reads(sentence, (0, len(sentence.text)), near)
        confirming = max((read for read in reads if read.confirms), key=lambda read: read.says, default=None)
        if confirming is not None:
            return self._made(sentence, "confirmed", "", [confirming])
        against = next((read for read in reads if read.contradicts), None)
        if against is not None:
            found = corrections(sentence.text, against.support, against.candidate.evidence)
            return self._made(sentence, "contradicted", _told(found, against), [against], found)
        return self._made(sentence, "not_found", "Nothing in the documents says so.", reads[:NEAREST])

    def near(self, sentence: Checkable) -> list[Candidate]:
        query = f"{sentence.context} {sentence.text}".strip()
        if sentence.before and lex.WHOM.intersection(tokens(sentence.text)[:1]):
            query = f"{sentence.before} {query}"  # "It is tested once a year."
        return self._candidates.near(sentence, query, self._search.retrieve(query, self._scope))

    def reads(self, sentence: Checkable, span: tuple[int, int], near: Sequence[Candidate]) -> list[_Read]:
        """Support of each candidate for the words of ``sentence`` at ``span``, best first."""
        text = sentence.text[slice(*span)]
        statement = Statement(text, 0, len(text), (1,), sentence.context)
        figured = float(any(not number.counts for number in numbers(text)))
        out = []
        for one in near:
            found = support(statement, one.evidence, self._settings, self._reranker)
            cover, _ = cover_of(f"{text} {sentence.context}", one.evidence)
            out.append(
                _Read(one, found, cover, SAYS(one.relevance, cover, figured), SAME(one.relevance, cover))
            )
        return out

    def _made(
        self,
        sentence: Checkable,
        status: CheckStatus,
        reason: str,
        reads: Sequence[_Read],
        found: Sequence[Correction] = (),
    ) -> CheckedSentence:
        cited = dict.fromkeys((one.citation.doc_id, one.citation.start, one.citation.end) for one in (read.candidate for read in reads))
        by_place = {(r.candidate.citation.doc_id, r.candidate.citation.start, r.candidate.citation.end): r.candidate.citation for r in reads}
        citations = tuple(replace(by_place[place], n=n) for n, place in enumerate(cited, start=1))
        return CheckedSentence(
            sentence.text, sentence.start, sentence.end, status, reason, citations, tuple(found), (), sentence.place
        )


def _told(found: Sequence[Correction], read: _Read) -> str:
    title = read.candidate.source.title
    if found:
        return " ".join(f"The draft says {one.said}; {title} says {one.found}." for one in found)
    return f"{title} says otherwise."
