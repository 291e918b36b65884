"""What became of a question: in words, and better or worse in one run than in another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ragcore.evaluate.cases import Case
from ragcore.evaluate.runs import Evaluated

Tone = Literal["ok", "off", "weak", "bad"]
WORTH: dict[Tone, float] = {"ok": 1.0, "off": 0.5, "weak": 0.4, "bad": 0.0}
RANKED = 0.1  # weight of the rank of the evidence beside it
HIGH = 5  # lowest rank of evidence that was found well


def state(case: Case, run: Evaluated) -> tuple[str, Tone]:
    """What became of a case, in words, and its tone."""
    outcome, found = run.outcomes.get(case.case_id), run.measures.get(case.case_id, {})
    if outcome is None:
        return "Not asked yet", "off"
    if run.info.searched and outcome.error is None:
        return _rank(found)
    if outcome.answer is None or outcome.error is not None:
        return "Failed", "bad"
    if outcome.answer.refused:
        return ("Refused", "bad") if case.answerable else ("Refused", "ok")
    if not case.answerable:
        return "Answered", "bad"
    if "value" in found:
        return ("Right value", "ok") if found["value"] else ("Wrong value", "bad")
    if "evidence_cited" in found:
        if found["evidence_cited"]:
            return "Evidence cited", "ok"
        return ("Not cited", "weak") if found["evidence_given"] else ("Not found", "bad")
    return "Answered", "off"


def _rank(found: Mapping[str, float]) -> tuple[str, Tone]:
    """Where a search has the evidence."""
    if "mrr" not in found:
        return "Searched", "off"
    rank = round(1.0 / found["mrr"]) if found["mrr"] else 0
    words = "Evidence first" if rank == 1 else f"Evidence is number {rank}" if rank else "Not found"
    return words, "bad" if not rank else "ok" if rank <= HIGH else "weak"


def worth(case: Case, run: Evaluated) -> float:
    """How good what became of a case is: from 0 to 1, and a little more where its evidence stood first."""
    return WORTH[state(case, run)[1]] + RANKED * run.measures.get(case.case_id, {}).get("mrr", 0.0)


def gain(case: Case, first: Evaluated, second: Evaluated) -> float:
    """Gain of a case from the first run to the second; a loss is negative, 0 where the second didn't ask it."""
    return round(worth(case, second) - worth(case, first), 4) if case.case_id in second.outcomes else 0.0
