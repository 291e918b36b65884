"""How well do a few signs tell whether a question is answered in what was found? Fits their weights.

    python -m benchmarks answerable --home DIR --questions FILE

``--home`` is an indexed library and FILE a JSON list of ``{"question", "docs": [names without .pdf], "answered"}``.
The weights of `ragcore.answer.refuse.ANSWERED` are printed as fitted on all of them, and for each threshold the share
of unanswered questions that are refused, each judged by weights that were fitted without its tenth of the set, beside
the cross-encoder's best relevance alone.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import table
from ragcore.answer.refuse import Signs, signs_of
from ragcore.engine import Engine
from ragcore.offline.question import RuleAnalyser
from ragcore.types import Found

ANALYSER = RuleAnalyser()
_FOLDS = 10
_RIDGE = 1.0  # on standardised signs: keeps a few questions from deciding a weight
_WRONG = (0.03, 0.06, 0.10)  # shares of answered questions that may be refused

Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    options = parser.parse_args()
    signs, answered = measured(options.home, json.loads(options.questions.read_text()))
    report(signs, answered)


def measured(home: Path, asked: list[dict[str, Any]]) -> tuple[Array, Array]:
    """The signs of each question for which something is found, and 1.0 for those that are answered."""
    rows: list[list[float]] = []
    answered: list[float] = []
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        ids = {Path(info.name).stem: info.doc_id for info in engine.documents() if info.indexed}
        reranker = engine.models.reranker
        for one in asked:
            for event in engine.ask(one["question"], doc_ids=[ids[doc] for doc in one["docs"]]):
                if isinstance(event, Found) and event.sources:
                    question, terms = ANALYSER.read(one["question"]), engine.search.terms(one["question"])
                    signs = signs_of(question, event.sources, terms, event.retrieval.routes, reranker)
                    rows.append(list(asdict(signs).values()))
                    answered.append(float(one["answered"]))
    return np.array(rows), np.array(answered)


def report(signs: Array, answered: Array) -> None:
    weights, intercept = fitted(signs, answered)
    names = [field.name for field in fields(Signs)]
    print(table([*zip(names, map(float, weights)), ("intercept", intercept)], ("sign", "weight")))
    order = np.random.default_rng(7).permutation(len(answered))
    held = np.empty(len(answered))
    for fold in range(_FOLDS):
        out = order[fold::_FOLDS]
        kept = np.setdiff1d(order, out)
        w, b = fitted(signs[kept], answered[kept])
        held[out] = 1 / (1 + np.exp(-(signs[out] @ w + b)))
    rows = []
    for wrong in _WRONG:
        rows.append([f"{wrong:.0%}", *at(held, answered, wrong), *at(signs[:, 0], answered, wrong)])
    head = ("answered, refused at most", "threshold", "unanswered, refused", "relevance", "unanswered, refused")
    print(table(rows, head))


def at(score: Array, answered: Array, wrong: float) -> tuple[float, float]:
    """The threshold that refuses at most ``wrong`` of the answered, and the share of the others that it refuses."""
    there = np.sort(score[answered == 1.0])
    threshold = float(there[int(wrong * len(there))])
    return threshold, float(np.mean(score[answered == 0.0] < threshold))


def fitted(signs: Array, answered: Array) -> tuple[Array, float]:
    """Weights and intercept of a logistic regression with a ridge, answered and unanswered counting alike."""
    mean, spread = signs.mean(axis=0), signs.std(axis=0)
    spread[spread == 0.0] = 1.0
    x = np.column_stack([(signs - mean) / spread, np.ones(len(signs))])
    share = answered.mean()
    balance = np.where(answered == 1.0, 0.5 / share, 0.5 / (1 - share))
    ridge = np.diag([_RIDGE] * signs.shape[1] + [0.0])
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (balance * (p - answered)) + ridge @ w
        hessian = (x * (balance * p * (1 - p))[:, None]).T @ x + ridge
        w -= np.linalg.solve(hessian, gradient)
    weights = w[:-1] / spread
    return weights, float(w[-1] - weights @ mean)


if __name__ == "__main__":
    main()
