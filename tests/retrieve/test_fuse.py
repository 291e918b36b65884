from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieve.fuse import min_max, ranking, stretched

SIDE = st.dictionaries(st.sampled_from([f"d:{n}" for n in range(12)]), st.sampled_from([0.0, 0.1, 0.5, 0.7, 3.0, 9.5]))
ALPHA = st.floats(0.0, 1.0)


def test_min_max_stretches_each_side() -> None:
    fused = min_max({"a": 0.9, "b": 0.8, "c": 0.7}, {"a": 0.0, "b": 10.0, "c": 5.0}, alpha=0.8)
    assert fused == pytest.approx({"a": 0.8, "b": 0.4 + 0.2, "c": 0.1})


def test_a_candidate_of_one_side_counts_as_the_worst_of_the_other() -> None:
    assert min_max({"a": 0.9, "b": 0.5}, {"c": 3.0}, alpha=0.6) == pytest.approx({"a": 0.6, "b": 0.0, "c": 0.4})


def test_one_side_may_be_empty() -> None:
    assert min_max({"a": 0.9, "b": 0.5}, {}, alpha=0.5) == pytest.approx({"a": 0.5, "b": 0.0})
    assert min_max({}, {}, alpha=0.5) == {}


def test_a_single_candidate_is_the_best_there_is() -> None:
    assert stretched({"a": 0.2}) == {"a": 1.0}
    assert stretched({}) == {}


def test_ties_have_a_fixed_order() -> None:
    assert ranking({"b": 1.0, "c": 2.0, "a": 1.0}) == ["c", "a", "b"]


@given(SIDE, SIDE, ALPHA, st.randoms())
def test_the_order_of_the_candidates_as_given_does_not_matter(
    vector: dict[str, float], bm25: dict[str, float], alpha: float, random: Random
) -> None:
    def shuffled(side: dict[str, float]) -> dict[str, float]:
        items = list(side.items())
        random.shuffle(items)
        return dict(items)

    assert min_max(shuffled(vector), shuffled(bm25), alpha=alpha) == min_max(vector, bm25, alpha=alpha)
