"""Does a judge without a model agree with people? RAGChecker's meta-evaluation: 280 pairs of answers, two people each.

    python -m benchmarks judge

Each row is a difference of scores between the two answers of a pair, against what people prefer (-2 to 2): precision
with correctness, recall with completeness, F1 with the answer as a whole. Pearson and Spearman × 100, 560 judgements.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from benchmarks.common import data, table
from ragcore.config.settings import load
from ragcore.evaluate.cases import Case
from ragcore.evaluate.judges import SupportJudge, judged
from ragcore.evaluate.measures import measures
from ragcore.index.evaluations import Outcome
from ragcore.types import Answer, Document

ASKED = {"correctness": "precision", "completeness": "recall", "overall": "f1"}
SETTINGS = load(environ={})[0].verify
SUPPORT = SupportJudge(SETTINGS)
Floats = NDArray[np.float64]


def unread(doc_id: str) -> Document:
    raise AssertionError(f"an answer without citations needs no document {doc_id}")


def by_words(case: Case, answer: Answer) -> Mapping[str, float]:
    found = measures(case, Outcome(case.case_id, answer), (), unread, SETTINGS)
    return {name: found[f"words_{name}"] for name in ASKED.values()}


def by_support(case: Case, answer: Answer) -> Mapping[str, float]:
    found = judged(case, answer, SUPPORT)
    assert found is not None
    return found.checked.metrics()


def agreement(steps: Floats, people: Floats) -> str:
    return f"{100 * pearsonr(steps, people)[0]:.1f} / {100 * spearmanr(steps, people)[0]:.1f}"


def main() -> None:
    lines = (data("ragchecker") / "meta_eval.jsonl").read_text("utf-8").splitlines()
    pairs: list[dict[str, Any]] = [json.loads(line) for line in lines]
    people = {name: np.array([[one[name] for one in pair["human"]] for pair in pairs], float).T for name in ASKED}
    rows: list[list[object]] = []
    for title, judge in (("words in common", by_words), ("support score", by_support)):
        began, steps = time.perf_counter(), {name: [] for name in ASKED.values()}
        for pair in pairs:
            case = Case("1", pair["query"], pair["gt_answer"])
            first, second = (judge(case, Answer("", text=pair[side]["text"])) for side in ("response1", "response2"))
            for name, each in steps.items():
                each.append(second[name] - first[name])
        cells = [agreement(np.tile(steps[name], 2), people[asked].ravel()) for asked, name in ASKED.items()]
        rows.append([title, *cells, f"{time.perf_counter() - began:.0f} s"])
    published = {
        name: np.array([pair["ragchecker2"][name] - pair["ragchecker1"][name] for pair in pairs])
        for name in ASKED.values()
    }
    cells = [agreement(np.tile(published[name], 2), people[asked].ravel()) for asked, name in ASKED.items()]
    rows.append(["RAGChecker, a model of 70B (published)", *cells, "–"])
    rows.append(["the other person", *(agreement(*people[asked]) for asked in ASKED), "–"])
    print(table(rows, ["", *ASKED, "560 answers"]))


if __name__ == "__main__":
    main()
