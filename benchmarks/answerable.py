"""How well do a few signs tell whether a question is answered in what was found? Fits their weights.

    python -m benchmarks answerable --home DIR SET.json ...

``--home`` is an indexed library; sets as for `answers`, of which questions with several turns are left out. The weights
of `ragcore.offline.answerable.ANSWERED` are printed as fitted on all of them, also on those that the writer does not
judge by them (a certain value, a topic), and for each threshold the share of unanswered questions that are refused,
each judged by weights that were fitted without its tenth of the set, beside the evidence alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.answers import Item, items
from benchmarks.common import table
from ragcore.engine import Engine
from ragcore.offline.answerable import Signs, signs_of
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.quotes import quotables
from ragcore.offline.ranking import Ranking
from ragcore.protocols import WritingTask
from ragcore.text.terms import Wanted
from ragcore.types import Found

ANALYSER = RuleAnalyser()
_FOLDS = 10
_RIDGE = 1.0  # on standardised signs: keeps a few questions from deciding a weight
_WRONG = (0.03, 0.06, 0.10)  # shares of answered questions that may be refused

Array = NDArray[np.float64]
Given = tuple[str, str, Item, Sequence[str], bool]  # as of `items`


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("sets", type=Path, nargs="+")
    options = parser.parse_args()
    given = [one for file in options.sets for one in items(json.loads(file.read_text("utf-8")))]
    report(*measured(options.home, given))


def measured(home: Path, given: Sequence[Given]) -> tuple[Array, Array]:
    """Signs of each question in whose documents something is found, and 1.0 for those that are answered."""
    rows: list[list[float]] = []
    answered: list[float] = []
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        ids = {Path(info.name).stem: info.doc_id for info in engine.documents() if info.indexed}
        reranker = engine.models.reranker
        assert reranker is not None
        for *_, item, docs, there in given:
            if len(item["turns"]) > 1 or not ids.keys() >= set(docs):
                continue
            [text] = item["turns"]
            question, terms = ANALYSER.read(text), engine.search.terms(text)
            for event in engine.ask(text, doc_ids=[ids[doc] for doc in docs]):
                if isinstance(event, Found) and event.sources and not question.whole:
                    wanted, routes = Wanted(question.judged, terms), event.retrieval.routes
                    found = list(quotables(question, wanted, event.sources))
                    ranking = Ranking(question, wanted, routes=routes)
                    scored = ranking.reread(ranking.scored(found, reranker), reranker)
                    task = WritingTask(text, event.sources, terms, routes)
                    if scored:
                        rows.append(list(asdict(signs_of(ranking, task, scored, reranker)).values()))
                        answered.append(float(there))
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
