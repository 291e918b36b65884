import pytest

from ragcore.retrieve.fuse import max_normalised, min_max, ranking, single


def test_min_max_stretches_each_side() -> None:
    fused = min_max({"a": 0.9, "b": 0.8, "c": 0.7}, {"a": 0.0, "b": 10.0, "c": 5.0}, alpha=0.8)
    assert fused == pytest.approx({"a": 0.8, "b": 0.4 + 0.2, "c": 0.1})


def test_a_candidate_of_one_side_counts_as_the_worst_of_the_other() -> None:
    assert min_max({"a": 0.9, "b": 0.5}, {"c": 3.0}, alpha=0.6) == pytest.approx({"a": 0.6, "b": 0.0, "c": 0.4})


def test_one_side_may_be_empty() -> None:
    assert min_max({"a": 0.9, "b": 0.5}, {}, alpha=0.5) == pytest.approx({"a": 0.5, "b": 0.0})
    assert min_max({}, {}, alpha=0.5) == {}


def test_the_reference_divides_by_the_largest() -> None:
    fused = max_normalised({"a": 0.9, "b": 0.45}, {"b": 4.0, "c": 2.0})
    assert fused == pytest.approx({"a": 0.5, "b": 0.75, "c": 0.25})
    assert max_normalised({"a": -0.2}, {}) == {"a": 0.0}


def test_a_single_candidate_is_the_best_there_is() -> None:
    assert single({"a": 0.2}) == {"a": 1.0}
    assert single({}) == {}


def test_ties_have_a_fixed_order() -> None:
    assert ranking({"b": 1.0, "c": 2.0, "a": 1.0}) == ["c", "a", "b"]
