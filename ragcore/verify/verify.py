"""Verification of an answer: every claim checked against the words it cites.

`ragcore.verify.support` defines the checks and their weights. Evidence is the quote, its labels (row and column
headers) and, for names and scale only, the title, section and table around it. No model is needed. A given model may
only raise a verdict based on missing words (a paraphrase), never one based on a wrong figure, period, code, name or
denial.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ragcore.config.settings import VerifySettings
from ragcore.protocols import Entailment, Reranker
from ragcore.types import Citation, Claim, Document, Mark
from ragcore.verify.claims import Statement, split_statements
from ragcore.verify.evidence import Evidence, Finding, gather
from ragcore.verify.support import support

GENERATED = "Based on an AI description of a figure. Check the figure itself."
LONGEST_CLAIM = 2_000  # characters; the slowest checks grow faster than a claim's length
MOST_FIGURES = 60  # numbers in one claim
MOST_TEXT = 40_000  # characters of distinct claims in one answer, about four times the longest written
SECONDS = 30.0
SECONDS_STOPPED = 5.0  # for an answer that the user stopped
NOT_CHECKED = "Not checked:"
QUOTED = "Quoted word for word."


class CheckBudget:
    """Budget of checks for one answer, spent claim by claim: bounded by size, by time and by the user's Stop.

    Claims beyond it do not pass but are reported as unchecked. Size comes first, since it does not depend on the
    machine.
    """

    def __init__(self, *, seconds: float = SECONDS, stopped: Callable[[], bool] = lambda: False) -> None:
        self._left = MOST_TEXT
        self._until = time.monotonic() + seconds
        self._stopped = stopped

    def spend(self, claim: str) -> str:
        """Take ``claim`` off the budget and return "", or the reason why it is not checked."""
        if self._stopped():
            return f"{NOT_CHECKED} checking was stopped."
        if len(claim) > LONGEST_CLAIM:
            return f"{NOT_CHECKED} the sentence has over {LONGEST_CLAIM:,} characters."
        if len(re.findall(r"\d+", claim)) > MOST_FIGURES:
            return f"{NOT_CHECKED} the sentence has over {MOST_FIGURES} figures."
        if len(claim) > self._left:
            return f"{NOT_CHECKED} the answer is too long."
        if time.monotonic() > self._until:
            return f"{NOT_CHECKED} checking took too long."
        self._left -= len(claim)
        return ""


def unchecked(claims: Iterable[Claim]) -> tuple[str, ...]:
    """Notice about the ``claims`` that were not checked: a line, or nothing."""
    reasons = [claim.reason for claim in claims if claim.reason.startswith(NOT_CHECKED)]
    if not reasons:
        return ()
    counted = "1 claim was" if len(reasons) == 1 else f"{len(reasons):,} claims were"
    return (f"{counted} not checked: {reasons[0].removeprefix(NOT_CHECKED).strip()}",)


def verify(
    text: str,
    marks: Sequence[Mark],
    citations: Sequence[Citation],
    document: Callable[[str], Document],
    settings: VerifySettings,
    *,
    reranker: Reranker | None = None,
    entailment: Entailment | None = None,
    budget: CheckBudget | None = None,
) -> tuple[Claim, ...]:
    """Verdict for every claim of ``text`` (Markdown with ``[n]`` at ``marks``), in order.

    The worst finding decides. ``uncited`` marks a statement without a citation, which is not checked further. A claim
    beyond ``budget`` is ``weak``, and its reason says that it was not checked.
    """
    budget = budget if budget is not None else CheckBudget()
    by_number = {citation.n: citation for citation in citations}
    gathered: dict[tuple[int, ...], Evidence] = {}
    found: dict[tuple[str, str, tuple[int, ...]], Finding] = {}
    claims = []
    for statement in split_statements(text, marks):
        cited = tuple(n for n in statement.citations if n in by_number)
        if not cited:
            finding = Finding("uncited", "This has no citation.")
        elif (same := (statement.text, statement.context, cited)) in found:
            finding = found[same]
        elif why := budget.spend(statement.text):
            finding = Finding("weak", why)
        else:
            if cited not in gathered:
                gathered[cited] = gather([by_number[n] for n in cited], document)
            finding = support(statement, gathered[cited], settings, reranker, entailment).finding
            if any(by_number[n].generated for n in cited):
                finding = replace(finding, reason=f"{finding.reason} {GENERATED}".strip())
            found[same] = finding
        said = (statement.text, statement.start, statement.end, statement.citations)
        claims.append(Claim(*said, finding.status, finding.reason, _places(finding.wrong, text, statement, marks)))
    return tuple(claims)


def quoted(text: str, marks: Sequence[Mark], citations: Sequence[Citation]) -> tuple[Claim, ...]:
    """Claims of a writer that only quotes. What cites something is supported without a check, since it is its
    document's words by construction; the rest are the writer's own remarks, which are no claims."""
    generated = {citation.n: citation.generated for citation in citations}
    return tuple(
        Claim(one.text, one.start, one.end, one.citations, "supported", f"{QUOTED} {GENERATED}" if any(by) else QUOTED)
        for one in split_statements(text, marks)
        if (by := [generated[n] for n in one.citations if n in generated])
    )


def _places(
    wrong: Sequence[str], text: str, statement: Statement, marks: Sequence[Mark]
) -> tuple[tuple[int, int], ...]:
    """Spans in ``text`` of the ``wrong`` figures of ``statement``, in order, outside of marks and of each other."""
    found: list[tuple[int, int]] = []
    taken = [(mark.start, mark.end) for mark in marks if statement.start <= mark.start < statement.end]
    for figure in sorted(wrong, key=len, reverse=True):
        digits = re.search(r"\d[\d.,]*", figure)  # if markup separates a figure from its unit
        for written in dict.fromkeys((figure, digits.group() if digits else figure)):
            pattern = re.compile(rf"(?<![\w.,]){re.escape(written)}(?!\w|[.,]\d)")
            spans = [match.span() for match in pattern.finditer(text, statement.start, statement.end)]
            spans = [(low, high) for low, high in spans if not any(low < b and a < high for a, b in (*found, *taken))]
            found += spans
            if spans:
                break
    return tuple(sorted(found))
