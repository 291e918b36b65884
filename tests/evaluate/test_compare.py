"""Paired comparison of two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import InputError
from ragcore.evaluate.cases import Case
from ragcore.evaluate.compare import broken, chance, compared, in_words, interval
from ragcore.evaluate.measures import MEASURES
from ragcore.evaluate.runs import Evaluated
from ragcore.index.evaluations import RunInfo


def run(name: str, found: Mapping[str, Mapping[str, float]], set_id: str = "s", documents: int = 0) -> Evaluated:
    info = RunInfo(f"{name}-id", set_id, "set", name, {}, "", False, "offline", 0.0, 0.0, len(found), len(found), 0.0)
    cases = tuple(
        Case(one, "Why?", documents=(f"{n % documents}.pdf",) if documents else ()) for n, one in enumerate(found)
    )
    return Evaluated(info, cases, {}, found)


def runs(
    before: list[float], after: list[float], measure: str = "mrr", documents: int = 0
) -> tuple[Evaluated, Evaluated]:
    return tuple(
        run(name, {str(n): {measure: value} for n, value in enumerate(values)}, documents=documents)
        for name, values in (("old", before), ("new", after))
    )  # type: ignore[return-value]


def test_a_clear_gain_is_told_from_a_small_one() -> None:
    (clear,) = compared(*runs([0.0] * 40, [1.0] * 30 + [0.0] * 10))
    assert (clear.mean, clear.better, clear.worse, clear.clear, clear.improved) == (0.75, 30, 0, True, True)
    assert 0.5 < clear.low < 0.75 < clear.high < 1.0
    assert "30 of 40 questions" in in_words(clear, "old", "new")
    assert "unlikely" in in_words(clear, "old", "new")
    (small,) = compared(*runs([0.0] * 40, [1.0] * 3 + [0.0] * 37))
    assert not small.clear
    assert "could be chance" in in_words(small, "old", "new")
    (none,) = compared(*runs([0.5] * 9, [0.5] * 9))
    assert (none.low, none.high, none.p) == (0.0, 0.0, 1.0)
    assert "equal" in in_words(none, "old", "new")


def test_time_is_better_when_it_is_less() -> None:
    (one,) = compared(*runs([3.0] * 12, [2.0] * 12, "seconds"))
    assert (one.better, one.worse, one.improved) == (12, 0, True)
    assert "less" in in_words(one, "old", "new")


def test_questions_of_one_document_count_together() -> None:
    before, after = [0.0] * 40, [1.0] * 20 + [0.0] * 20
    (alone,) = compared(*runs(before, after))
    one, other = runs(before, after)
    cases = tuple(Case(case.case_id, "Why?", documents=(f"{int(case.case_id) // 20}.pdf",)) for case in one.cases)
    (together,) = compared(
        Evaluated(one.info, cases, {}, one.measures), Evaluated(other.info, cases, {}, other.measures)
    )
    assert together.high - together.low > alone.high - alone.low
    assert together.p > alone.p


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=2, max_size=10))
def test_the_p_value_is_that_of_all_sign_flips(steps: list[float]) -> None:
    values = np.array(steps)
    found = chance(values, np.arange(len(values)))
    means = [abs(sum(sign * step for sign, step in zip(signs, steps))) for signs in product((1, -1), repeat=len(steps))]
    assert found == pytest.approx(np.mean([one >= abs(sum(steps)) - 1e-12 for one in means]))


def test_the_p_value_agrees_with_scipys() -> None:
    from scipy.stats import permutation_test  # takes a second, which each process of the tests would wait

    values = np.random.default_rng(1).normal(0.3, 1.0, 30)
    other = permutation_test(
        (values, np.zeros(30)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=9999, rng=1
    )
    assert chance(values, np.arange(30)) == pytest.approx(other.pvalue, abs=0.02)


def test_the_interval_is_the_same_each_time_and_holds_the_mean() -> None:
    values = np.random.default_rng(2).normal(0.2, 1.0, 60)
    low, high = interval(values, np.arange(60))
    assert (low, high) == interval(values, np.arange(60))
    assert low < values.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 60**0.5, rel=0.1)


def test_several_measures_are_corrected() -> None:
    names = ["mrr", "value", "evidence_cited"]
    before = {str(n): dict.fromkeys(names, 0.0) for n in range(12)}
    after = {str(n): {"mrr": float(n < 6), "value": 0.0, "evidence_cited": float(n < 5)} for n in range(12)}
    alone = {
        name: compared(
            *(run(label, {k: {name: v[name]} for k, v in of.items()}) for label, of in (("a", before), ("b", after)))
        )[0].p
        for name in names
    }
    together = {one.measure: one.p for one in compared(run("a", before), run("b", after))}
    assert together["mrr"] == pytest.approx(min(1.0, 3 * alone["mrr"]))
    assert together["evidence_cited"] == pytest.approx(max(together["mrr"], 2 * alone["evidence_cited"]))
    assert together["value"] == 1.0


def test_judges_and_measures_that_nobody_asked_for_make_a_loss_no_less_clear() -> None:
    judges = {name: 0.5 for name in MEASURES if name.startswith("ragchecker.support.")}
    before = {str(n): {"value": 1.0, "mrr": 1.0} for n in range(12)}
    after = {str(n): {"value": float(n > 5), "mrr": 1.0} for n in range(12)}
    plain = {one.measure: one.p for one in compared(run("a", before), run("b", after))}
    first, second = (
        replace(run(name, {case: {**of, **judges} for case, of in found.items()}), judges={"support": "support 1"})
        for name, found in (("a", before), ("b", after))
    )
    assert {one.measure: one.p for one in compared(first, second)}["value"] == plain["value"]
    (alone,) = compared(first, second, ["value"])
    assert alone.p == pytest.approx(plain["value"] / 2)


def test_the_gate_breaks_on_a_loss_beyond_chance_only() -> None:
    worse = compared(*runs([1.0] * 40, [0.0] * 20 + [1.0] * 20))
    assert [one.measure for one in broken(worse)] == ["mrr"]
    assert broken(worse, loss=0.6) == []
    assert broken(compared(*runs([1.0] * 40, [0.0] + [1.0] * 39))) == []
    assert broken(compared(*runs([0.0] * 40, [1.0] * 40))) == []
    with pytest.raises(InputError, match="no measure value"):
        broken(worse, wanted=["value"])


def test_runs_of_other_sets_or_without_a_shared_question_are_not_compared() -> None:
    one, other = runs([1.0], [1.0])
    with pytest.raises(InputError, match="different sets"):
        compared(one, run("x", {"0": {"mrr": 1.0}}, set_id="t"))
    with pytest.raises(InputError, match="no question in common"):
        compared(one, Evaluated(other.info, other.cases, {}, {}))
