"""Fits the constants of `ragcore.verify.support` and shows how well its probabilities fit data that it did not see.

    python -m benchmarks support --prose FILE

FILE holds summaries that models wrote, with people's marks of what their source does not say, in the form of FaithBench
(a JSON object on each line: source, summary, annotations with label, summary_start, summary_end). Each sentence is held
against the three sentences of its source that are nearest by words. It is true where no mark of the labels Unwanted or
Questionable touches it; a sentence about another source, as many again, is false. Every second source is fitted on, the
others are only measured. The fit is logistic regression by Newton's method with a little ridge.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import table
from ragcore.answer.cite import Citer, Part
from ragcore.answer.sources import build_sources
from ragcore.providers.bundled import BundledReranker
from ragcore.text.words import content_stems, cover
from ragcore.types import Retrieval, Segment
from ragcore.verify import support
from ragcore.verify.claims import split_statements
from ragcore.verify.evidence import Evidence, gather
from tests.answer.samples import SETTINGS
from tests.documents import make_document

NEAREST = 3
RIDGE = 0.1


class Source:
    """One source text, and the evidence nearest to a sentence."""

    def __init__(self, text: str) -> None:
        document = make_document(text, doc_id=hashlib.sha256(text.encode()).hexdigest()[:16], title="Source")
        self._open = lambda _: document
        whole = Segment(document.doc_id, 0, document.body_end, 0, 0, 1.0)
        settings = SETTINGS.answer.model_copy(update={"source_tokens": 100_000})
        (self._source,) = build_sources(Retrieval("q", "hybrid", (), (whole,), {}), self._open, settings)
        self._stems = [content_stems(self._source.words(n, n)) for n in range(1, len(self._source.units) + 1)]

    def evidence(self, sentence: str) -> Evidence:
        said = set(content_stems(sentence))
        nearest = sorted(range(len(self._stems)), key=lambda place: -cover(said, self._stems[place]))[:NEAREST]
        citer = Citer((self._source,), self._open)
        citations = [citer.look(Part(self._source.number, n + 1, n + 1, "")) for n in sorted(nearest)]
        return gather([citation for citation in citations if citation is not None], self._open)


def sentences(row: dict) -> Iterator[tuple[str, bool]]:
    """The claims of one summary, as an answer's are split, and whether each is true."""
    wrong = [mark for mark in row["annotations"] if any(one.startswith(("Unw", "Que")) for one in mark["label"])]
    for claim in split_statements(row["summary"], ()):
        if len(content_stems(claim.text)) > 1:
            touching = (one["summary_start"] < claim.end and one["summary_end"] > claim.start for one in wrong)
            yield claim.text, not any(touching)


def fit(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    design = np.hstack([np.ones((len(values), 1)), values])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-design @ weights))
        slope = design.T @ (labels - chance) - RIDGE * weights
        curve = design.T @ (design * (chance * (1.0 - chance))[:, None]) + RIDGE * np.eye(len(weights))
        weights += np.linalg.solve(curve, slope)
    return weights


def measured(name: str, weights: np.ndarray, values: np.ndarray, labels: np.ndarray) -> list[object]:
    chance = 1.0 / (1.0 + np.exp(-(weights[0] + values @ weights[1:])))
    bins = np.clip((chance * 5).astype(int), 0, 4)
    parts = [(chance[bins == i], labels[bins == i]) for i in range(5) if (bins == i).any()]
    off = sum(len(said) * abs(said.mean() - true.mean()) for said, true in parts) / len(labels)
    brier, plain = (float(np.mean((one - labels) ** 2)) for one in (chance, np.full(len(labels), labels.mean())))
    return [name, len(labels), brier, plain, off]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prose", type=Path, required=True)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.prose.read_text("utf-8").splitlines()]
    sources = list(dict.fromkeys(row["source"] for row in rows))
    model = BundledReranker("ms-marco-MiniLM-L-12-v2", threads=1)
    values: tuple[list, list] = ([], [])
    labels: tuple[list, list] = ([], [])
    for place, text in enumerate(sources):
        source, half = Source(text), place % 2
        own = [one for row in rows if row["source"] == text for one in sentences(row)][::2]
        other = [one for row in rows if row["source"] == sources[place - 1] for one in sentences(row)][::2]
        for sentence, true in [*own, *((sentence, False) for sentence, _ in other)]:
            evidence = source.evidence(sentence)
            share, gap = support.cover_of(sentence, evidence)
            values[half].append((share, gap, support.relevance_of(sentence, evidence, model)))
            labels[half].append(float(true))
    seen, unseen = (np.array(one) for one in values)
    rows_out = []
    for name, columns in (("BY_WORDS", 2), ("BY_RELEVANCE", 3)):
        weights = fit(seen[:, :columns], np.array(labels[0]))
        first, *others = (f"{weight:.3f}" for weight in weights)
        print(f"{name} = Logistic({first}, ({', '.join(others)}))")
        rows_out.append(measured(f"{name}, fitted on", weights, seen[:, :columns], np.array(labels[0])))
        rows_out.append(measured(f"{name}, not seen", weights, unseen[:, :columns], np.array(labels[1])))
    print(table(rows_out, ("", "sentences", "Brier score", "of their mean", "calibration error")))


if __name__ == "__main__":
    main()
