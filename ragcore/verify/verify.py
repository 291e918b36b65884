"""Every claim of an answer held against the words it cites.

What is looked at, and how it is weighed, is `ragcore.verify.support`. Evidence is the quote, what labels it (row and
column headers) and, for names and scale only, the title, section and table around it. No model is needed. Where one is
handed in, it may only lift a verdict that rests on missing words (a paraphrase), never one that rests on a wrong
figure, period, code, name or denial.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ragcore.config.settings import VerifySettings
from ragcore.protocols import Reranker
from ragcore.types import Citation, Claim, Document, Mark
from ragcore.verify.budget import CheckBudget
from ragcore.verify.claims import Statement, split_statements
from ragcore.verify.evidence import Evidence, Finding, gather
from ragcore.verify.support import support

GENERATED = "Based on an AI description of a figure. Check the figure itself."


def verify(
    text: str,
    marks: Sequence[Mark],
    citations: Sequence[Citation],
    document: Callable[[str], Document],
    settings: VerifySettings,
    *,
    reranker: Reranker | None = None,
    budget: CheckBudget | None = None,
) -> tuple[Claim, ...]:
    """A verdict for every claim of ``text`` (Markdown with ``[n]`` at ``marks``), in order.

    The worst finding decides. ``uncited`` stands for a statement with no citation; it is not checked further. What
    ``budget`` has no room for is ``weak``, and its reason says that it was not checked.
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
            finding = support(statement, gathered[cited], settings, reranker).finding
            if any(by_number[n].generated for n in cited):
                finding = replace(finding, reason=f"{finding.reason} {GENERATED}".strip())
            found[same] = finding
        claims.append(
            Claim(
                statement.text,
                statement.start,
                statement.end,
                statement.citations,
                finding.status,
                finding.reason,
                _places(finding.wrong, text, statement, marks),
            )
        )
    return tuple(claims)


def _places(
    wrong: Sequence[str], text: str, statement: Statement, marks: Sequence[Mark]
) -> tuple[tuple[int, int], ...]:
    """Where the figures ``wrong`` of ``statement`` stand in ``text``, in order, outside of marks and of each other."""
    found: list[tuple[int, int]] = []
    taken = [(mark.start, mark.end) for mark in marks if statement.start <= mark.start < statement.end]
    for figure in sorted(wrong, key=len, reverse=True):
        digits = re.search(r"\d[\d.,]*", figure)  # where markup parts a figure from its unit
        for written in dict.fromkeys((figure, digits.group() if digits else figure)):
            pattern = re.compile(rf"(?<![\w.,]){re.escape(written)}(?!\w|[.,]\d)")
            spans = [match.span() for match in pattern.finditer(text, statement.start, statement.end)]
            spans = [(low, high) for low, high in spans if not any(low < b and a < high for a, b in (*found, *taken))]
            found += spans
            if spans:
                break
    return tuple(sorted(found))
