"""RAGChecker's metrics (Ru et al. 2024, arXiv 2408.08067): of a response, from which text entails which claim.

Claims are those of the response and of the reference answer; texts are both of these and the passages that the writer
was given. Only the verdict `ENTAILMENT` counts; neutral and contradicted claims are not told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from ragcore.errors import InputError

ENTAILMENT = "Entailment"
JUDGES = SUPPORT, CLAUDE = "support", "claude"  # kinds of what finds claims and verdicts
# Metrics by group, with the reference program's names.
METRICS: Mapping[str, tuple[str, ...]] = {
    "overall_metrics": ("precision", "recall", "f1"),
    "retriever_metrics": ("claim_recall", "context_precision"),
    "generator_metrics": (
        "context_utilization",
        "noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant",
        "hallucination",
        "self_knowledge",
        "faithfulness",
    ),
}
Verdict = Annotated[bool, BeforeValidator(lambda said: said == ENTAILMENT if isinstance(said, str) else said)]
Row = tuple[Verdict, ...]


class Checked(BaseModel, frozen=True):
    """Verdicts on one response of ``m`` claims, against a reference answer of ``a`` claims and ``c`` passages.

    ``answer2response`` ``(m,)``: the reference answer entails each claim of the response; ``response2answer`` ``(a,)``:
    the response each claim of the reference answer; ``retrieved2response`` ``(m, c)`` and ``retrieved2answer``
    ``(a, c)``: each passage those claims.
    """

    answer2response: Row
    response2answer: Row
    retrieved2response: tuple[Row, ...]
    retrieved2answer: tuple[Row, ...]

    @model_validator(mode="after")
    def _agree(self) -> Self:
        for name, matrix, claims in (
            ("retrieved2response", self.retrieved2response, self.answer2response),
            ("retrieved2answer", self.retrieved2answer, self.response2answer),
        ):
            if len(matrix) != len(claims):
                raise ValueError(f"{name} has verdicts on {len(matrix)} claims, not on {len(claims)}")
        if len({len(row) for row in (*self.retrieved2response, *self.retrieved2answer)}) > 1:
            raise ValueError("not every claim has a verdict by every passage")
        return self

    def metrics(self) -> dict[str, float]:
        """Every metric of `METRICS`, 0–1. One that needs claims or passages that aren't there is 0."""
        known, kept = self.answer2response, self.response2answer
        found = [any(row) for row in self.retrieved2answer]
        relevant = [any(column) for column in zip(*self.retrieved2answer)]
        grounded = [any(row) for row in self.retrieved2response]
        relevantly = [any(v for v, good in zip(row, relevant) if good) for row in self.retrieved2response]
        wrong = [not ok for ok in known] if kept else [False] * len(known)
        precision, recall = _mean(known), _mean(kept)
        passages = any(map(len, (*self.retrieved2response, *self.retrieved2answer)))
        astray = [a and not r for a, r in zip(grounded, relevantly)]
        return {
            "precision": precision,
            "recall": recall,
            "f1": 2.0 * precision * recall / (precision + recall) if precision and recall else 0.0,
            "claim_recall": _mean(found),
            "context_precision": _mean(relevant),
            "context_utilization": _mean([used for used, there in zip(kept, found) if there]),
            "noise_sensitivity_in_relevant": _both(relevantly, wrong),
            "noise_sensitivity_in_irrelevant": _both(astray, wrong),
            "hallucination": _mean([not g and not ok for g, ok in zip(grounded, known)]) if passages else 0.0,
            "self_knowledge": _mean([not g and ok for g, ok in zip(grounded, known)]) if passages else 0.0,
            "faithfulness": _mean(grounded),
        }


class _File(BaseModel):
    results: list[dict[str, object]] = Field(min_length=1)


def read_checked(path: Path) -> list[Checked]:
    """Results of the reference program's checking outputs (``{"results": [...]}``). Raises `InputError` that names the
    result at fault."""
    hint = "RAGChecker writes it as checking_outputs.json."
    try:
        given = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", hint="Check the path.") from error
    except ValidationError as error:
        raise InputError(f"{path.name} has no list of results.", hint=hint) from error
    out = []
    for number, result in enumerate(given.results, start=1):
        try:
            out.append(Checked.model_validate(result))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            said = first["msg"].removeprefix("Value error, ")
            raise InputError(
                f"{path.name}: result {number} can't be scored: {f'{place}: ' if place else ''}{said}.", hint=hint
            ) from error
    return out


def averages(checked: Sequence[Checked]) -> dict[str, dict[str, float]]:
    """Mean of each metric over responses, by group, in per cent with one decimal."""
    each = [one.metrics() for one in checked]
    return {
        group: {name: round(100.0 * fmean(of[name] for of in each), 1) for name in names}
        for group, names in METRICS.items()
    }


def _mean(held: Sequence[bool]) -> float:
    return sum(held) / len(held) if held else 0.0


def _both(one: Sequence[bool], other: Sequence[bool]) -> float:
    return _mean([a and b for a, b in zip(one, other, strict=True)])
