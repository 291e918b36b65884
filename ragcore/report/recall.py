"""What a section's guidance asked for, held against what was written: which of it is missing."""

from __future__ import annotations

from collections.abc import Sequence

from ragcore.protocols import Reranker
from ragcore.text.words import content_stems, cover
from ragcore.types import Answer
from ragcore.types.report import INSUFFICIENT, missing_mark

# A requirement is taken for met where this much of its words stands in what is cited, or the cross-encoder says so: a
# gap that is none costs a person more than one that they see for themselves.
_WORDS = 0.5
_RELEVANT = 0.3


def marked(text: str) -> list[str]:
    """What ``text`` itself says is missing, in order; "" where it does not say what."""
    return list(dict.fromkeys((match.group(1) or "").strip(" .") for match in INSUFFICIENT.finditer(text)))


def unmet(requirements: Sequence[str], answer: Answer, heading: str, reranker: Reranker | None) -> list[str]:
    """Those of ``requirements`` that no cited claim of ``answer`` speaks of and that are not marked as missing."""
    told = [claim.text for claim in answer.claims if claim.citations and claim.status != "unsupported"]
    said = set(content_stems(" ".join([heading, *told, *marked(answer.text)])))
    missing = [piece for piece in requirements if cover(content_stems(piece), said) < _WORDS]
    if not missing or reranker is None or not told:
        return missing
    return [piece for piece in missing if float(reranker.score(piece, told).max()) < _RELEVANT]


def with_marks(text: str, missing: Sequence[str]) -> str:
    """``text`` with what is missing said at its end, as a writer says it."""
    marks = [missing_mark(what) for what in missing]
    return "\n\n".join([*([text] if text else []), *marks])
