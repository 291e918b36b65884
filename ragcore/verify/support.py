"""Support score: how well evidence supports a text; it judges claims, citations and quotes alike.

Exact checks come first: figures, units, periods, codes, names, contrast and quotation. Their findings decide, and no
probability outweighs them. Otherwise `Support.probability` is the probability that the evidence says the claim: a
logistic model of the share of its content words in the evidence, of the longest run that is missing and, if there is
one, of the cross-encoder's score; with an entailment model, the mean of its log odds and that model's. The constants
are fitted by ``benchmarks/support.py``; docs/verification.md describes the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragcore.config.settings import VerifySettings
from ragcore.protocols import Entailment, Reranker
from ragcore.text import lexicon as lex
from ragcore.text.logistic import Logistic, log_odds
from ragcore.text.numbers import WORDS
from ragcore.text.sentences import YES_OR_NO
from ragcore.text.words import STOP_WORDS, cover, stem, tokens
from ragcore.types import ClaimStatus
from ragcore.verify.attribution import with_synonyms
from ragcore.verify.claims import Statement
from ragcore.verify.contrast import check_contrast
from ragcore.verify.evidence import Evidence, Finding
from ragcore.verify.figures import check_numbers
from ragcore.verify.identifiers import check_codes, check_names, check_periods
from ragcore.verify.quotes import check_quotation, is_quoted, without_lead_in

ORDER: Final[tuple[ClaimStatus, ...]] = ("supported", "weak", "unsupported")
# Fitted by `python -m benchmarks support`: over the cover and the gap, and over the relevance too.
BY_WORDS: Final = Logistic(-2.546, (4.609, -0.194))
BY_RELEVANCE: Final = Logistic(-1.747, (2.901, -0.222, 0.097))
_MOST = 8.0  # of a gap, in words, and of log odds
_NOT_COUNTED = STOP_WORDS.union(
    *(lex.BESIDE_FIGURES, lex.UP, lex.DOWN, lex.MORE, lex.LESS, WORDS.keys(), lex.TITLES, lex.TELLING)
)
_PASSAGE = 2000  # characters that a model reads

CHECKS: Final[dict[str, Callable[[Statement, Evidence], list[Finding]]]] = {
    "figures": check_numbers,
    "periods": check_periods,
    "codes": check_codes,
    "names": check_names,
    "contrast": lambda statement, evidence: check_contrast(statement.text, evidence),
    "quotation": check_quotation,
}


@dataclass(frozen=True, slots=True)
class Support:
    """``probability`` that the evidence says the claim; 0.0 if an exact check is against it. ``exact`` holds the
    findings of those checks, ``words`` the finding of the probability."""

    probability: float
    exact: tuple[Finding, ...]
    words: Finding

    @property
    def finding(self) -> Finding:
        """Verdict: the worst finding, with all reasons of that kind."""
        return _worst((*self.exact, self.words))

    @property
    def agrees(self) -> bool:
        """Whether no exact check is against the claim; only its wording can be."""
        return all(finding.status == "supported" or finding.worded for finding in self.exact)


def support(
    statement: Statement,
    evidence: Evidence,
    settings: VerifySettings,
    reranker: Reranker | None = None,
    entailment: Entailment | None = None,
) -> Support:
    """Support of ``evidence`` for ``statement``.

    Models are asked only about cited prose: the cross-encoder if the words do not decide, the entailment model whenever
    no exact check is against the claim.
    """
    statement = without_lead_in(statement, evidence)
    if is_quoted(statement, evidence):
        return Support(1.0, (), Finding("supported", "Matches the source."))
    statement = replace(statement, text=YES_OR_NO.sub("", statement.text))
    if not statement.text.strip(" .*_"):
        return Support(0.0, (Finding("weak", "A plain yes or no can't be checked."),), Finding("supported", ""))
    exact = tuple(one for check in CHECKS.values() for one in check(statement, evidence))
    against = any(finding.status == "unsupported" for finding in exact)
    share, gap = cover_of(statement.text, evidence)
    probability = BY_WORDS(share, gap)
    said, only = f"{share:.0%} of its words are in the cited words.", "Only "
    if probability < settings.weak_below and reranker is not None and not evidence.cells:
        probability = BY_RELEVANCE(share, gap, relevance_of(statement.text, evidence, reranker))
        if probability >= settings.weak_below:
            said = "It says the same as the cited words in other words."
    if entailment is not None and not against and not evidence.cells:
        entailed = float(entailment.score(statement.text, [evidence.words[:_PASSAGE]])[0])
        probability = Logistic(0.0, (0.5, 0.5))(log_odds(probability, _MOST), log_odds(entailed, _MOST))
        said, only = f"{entailment.name} finds it {entailed:.0%} likely that the cited words say so.", ""
    status: ClaimStatus = "unsupported" if probability < settings.unsupported_below else "weak"
    words = Finding("supported", said) if probability >= settings.weak_below else Finding(status, f"{only}{said}")
    return Support(0.0 if against else probability, exact, words)


def _worst(findings: Sequence[Finding]) -> Finding:
    status = max((finding.status for finding in findings), key=ORDER.index, default=ORDER[0])
    worst = [finding for finding in findings if finding.status == status]
    reasons = " ".join(dict.fromkeys(finding.reason for finding in worst if finding.reason))
    return Finding(status, reasons, tuple(dict.fromkeys(figure for finding in worst for figure in finding.wrong)))


def relevance_of(text: str, evidence: Evidence, reranker: Reranker) -> float:
    """Cross-encoder score of the evidence for ``text``, as a logit."""
    return log_odds(float(reranker.score(text, [evidence.words[:_PASSAGE]])[0]), _MOST)


def cover_of(text: str, evidence: Evidence) -> tuple[float, float]:
    """Share of the content words of ``text`` found in the evidence, its titles or sections, and the longest missing
    run, in words. Figures, and the words beside them, do not count."""
    given = with_synonyms(set(evidence.stems))
    words = [stem(word) for word in tokens(text) if word not in _NOT_COUNTED and len(word) > 1 and word.isalpha()]
    longest = run = 0
    for word in words:
        run = 0 if word in given else run + 1
        longest = max(longest, run)
    return cover(words, given), min(float(longest), _MOST)
