"""RAGChecker's metrics, held to published inputs and outputs and to a second way of counting."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import InputError
from ragcore.evaluate.ragchecker import METRICS, Checked, averages, read_checked
from tests.command_line import run

DATA = Path(os.environ.get("GROUNDWORK_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
PUBLISHED = DATA / "ragchecker"
published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published verdicts are not on this machine")
NAMES = [name for names in METRICS.values() for name in names]


def checked(given: Mapping[str, Any]) -> Checked:
    return Checked.model_validate(given)


@published
def test_every_published_case_agrees() -> None:
    cases = json.loads((PUBLISHED / "cases.json").read_text())
    assert len(cases) == 100
    for case in cases:
        assert checked(case).metrics() == pytest.approx(case["expected"], abs=1e-12), case["id"]


@published
def test_the_published_example_agrees_to_the_last_digit() -> None:
    expected = json.loads((PUBLISHED / "metrics.json").read_text())["example_checking_outputs"]
    path = PUBLISHED / "checking_outputs.json"
    found = read_checked(path)
    for one, row in zip(found, json.loads(path.read_text())["results"], strict=True):
        assert one.metrics() == pytest.approx(expected["per_query"][str(row["query_id"])], abs=1e-12)
    groups = expected["mean_percent_rounded_1"]
    assert averages(found) == {f"{name}_metrics": figures for name, figures in groups.items()}


@st.composite
def verdicts(draw: st.DrawFn, *, least: int = 0) -> Checked:
    m, a, c = (draw(st.integers(least, 5)) for _ in range(3))

    def row(count: int) -> tuple[bool, ...]:
        return tuple(draw(st.lists(st.booleans(), min_size=count, max_size=count)))

    return Checked(
        answer2response=row(m),
        response2answer=row(a),
        retrieved2response=tuple(row(c) for _ in range(m)),
        retrieved2answer=tuple(row(c) for _ in range(a)),
    )


@given(verdicts(least=1))
def test_the_formulas_counted_with_matrices(one: Checked) -> None:
    ok, has = np.array(one.answer2response), np.array(one.response2answer)
    response, answer = np.array(one.retrieved2response), np.array(one.retrieved2answer)
    relevant = answer.any(axis=0)
    by_relevant, by_any = (response & relevant).any(axis=1), response.any(axis=1)
    found = answer.any(axis=1)
    expected = {
        "precision": ok.mean(),
        "recall": has.mean(),
        "claim_recall": found.mean(),
        "context_precision": relevant.mean(),
        "context_utilization": (found & has).sum() / max(found.sum(), 1),
        "noise_sensitivity_in_relevant": (by_relevant & ~ok).mean(),
        "noise_sensitivity_in_irrelevant": (by_any & ~by_relevant & ~ok).mean(),
        "hallucination": (~by_any & ~ok).mean(),
        "self_knowledge": (~by_any & ok).mean(),
        "faithfulness": by_any.mean(),
    }
    metrics = one.metrics()
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)
    product, total = metrics["precision"] * metrics["recall"], metrics["precision"] + metrics["recall"]
    assert metrics["f1"] == pytest.approx(2 * product / total if product else 0.0)
    assert metrics["hallucination"] + metrics["self_knowledge"] + metrics["faithfulness"] == pytest.approx(1.0)
    noise = metrics["noise_sensitivity_in_relevant"] + metrics["noise_sensitivity_in_irrelevant"]
    assert noise + metrics["hallucination"] == pytest.approx(1.0 - metrics["precision"])


@given(verdicts(), st.randoms())
def test_the_order_of_claims_and_passages_makes_no_difference(one: Checked, random: Any) -> None:
    m, a = (random.sample(range(len(row)), len(row)) for row in (one.answer2response, one.response2answer))
    width = max(map(len, (*one.retrieved2response, *one.retrieved2answer)), default=0)
    c = random.sample(range(width), width)
    other = Checked(
        answer2response=tuple(one.answer2response[i] for i in m),
        response2answer=tuple(one.response2answer[i] for i in a),
        retrieved2response=tuple(tuple(one.retrieved2response[i][j] for j in c) for i in m),
        retrieved2answer=tuple(tuple(one.retrieved2answer[i][j] for j in c) for i in a),
    )
    assert other.metrics() == pytest.approx(one.metrics())


def test_a_perfect_response_an_empty_one_and_one_made_up() -> None:
    def of(known: list[str], kept: list[str], response: list[list[str]], answer: list[list[str]]) -> dict[str, float]:
        return checked(
            {
                "answer2response": known,
                "response2answer": kept,
                "retrieved2response": response,
                "retrieved2answer": answer,
            }
        ).metrics()

    yes, no = "Entailment", "Contradiction"
    perfect = of([yes, yes], [yes, yes], [[yes], [yes]], [[yes], [yes]])
    good = {"precision", "recall", "f1", "claim_recall", "context_precision", "context_utilization", "faithfulness"}
    assert perfect == {name: float(name in good) for name in NAMES}
    empty = of([], [no, no], [], [[yes], [no]])
    assert empty == {name: {"claim_recall": 0.5, "context_precision": 1.0}.get(name, 0.0) for name in NAMES}
    made_up = of([no, "Neutral"], [no], [[no], ["Neutral"]], [[yes]])
    told = {"claim_recall", "context_precision", "hallucination"}
    assert made_up == {name: float(name in told) for name in NAMES}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "has no list of results"),
        ("{", "has no list of results"),
        ('{"results": []}', "has no list of results"),
        ('{"results": [{"query_id": 7}]}', "result 1 can't be scored: answer2response"),
        (
            '{"results": [{"answer2response": ["Entailment"], "response2answer": [], "retrieved2response": [],'
            ' "retrieved2answer": []}]}',
            "retrieved2response has verdicts on 0 claims, not on 1",
        ),
        (
            '{"results": [{"answer2response": ["Neutral", "Neutral"], "response2answer": [], "retrieved2response":'
            ' [["Neutral"], []], "retrieved2answer": []}]}',
            "not every claim has a verdict by every passage",
        ),
    ],
)
def test_a_file_that_cannot_be_scored_is_told_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "checked.json"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        read_checked(file)
    assert said in raised.value.message
    assert "\n" not in raised.value.message


def test_the_command_prints_the_references_names(tmp_path: Path) -> None:
    file = tmp_path / "checked.json"
    one = {"answer2response": ["Entailment"], "response2answer": ["Neutral"]}
    one |= {"retrieved2response": [["Entailment"]], "retrieved2answer": [["Neutral"]]}
    file.write_text(json.dumps({"results": [one]}))
    ran = run(["--home", str(tmp_path / "home"), "evaluate", "score", str(file), "--json"])
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert {group: tuple(metrics) for group, metrics in found.items()} == METRICS
    assert found["overall_metrics"]["precision"] == 100.0
    assert "faithfulness" in run(["--home", str(tmp_path / "home"), "evaluate", "score", str(file)]).stdout
    missing = run(["--home", str(tmp_path / "home"), "evaluate", "score", str(tmp_path / "none"), "--json"])
    assert (missing.returncode, json.loads(missing.stdout)["error"]["code"]) == (1, "input_error")
    assert run(["evaluate"]).returncode == 2
