from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieve.fuse import max_normalised, min_max, ranking, reciprocal_rank, single

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


def test_the_reference_divides_by_the_largest() -> None:
    fused = max_normalised({"a": 0.9, "b": 0.45}, {"b": 4.0, "c": 2.0})
    assert fused == pytest.approx({"a": 0.5, "b": 0.75, "c": 0.25})
    assert max_normalised({"a": -0.2}, {}) == {"a": 0.0}


def test_a_single_candidate_is_the_best_there_is() -> None:
    assert single({"a": 0.2}) == {"a": 1.0}
    assert single({}) == {}


def test_ties_have_a_fixed_order() -> None:
    assert ranking({"b": 1.0, "c": 2.0, "a": 1.0}) == ["c", "a", "b"]


def straightforward_rrf(vector: dict[str, float], bm25: dict[str, float], alpha: float, k: int) -> dict[str, float]:
    """The paper's formula, read off two sorted lists."""
    first, second = (sorted(side, key=lambda i: (-side[i], i)) for side in (vector, bm25))
    return {
        i: (alpha / (k + first.index(i) + 1) if i in vector else 0.0)
        + ((1.0 - alpha) / (k + second.index(i) + 1) if i in bm25 else 0.0)
        for i in {*vector, *bm25}
    }


def test_reciprocal_ranks_count_from_one() -> None:
    fused = reciprocal_rank({"a": 0.9, "b": 0.5}, {"b": 7.0, "c": 2.0}, alpha=0.5)
    assert fused == pytest.approx({"a": 0.5, "b": 0.5 * 61 / 62 + 0.5, "c": 0.5 * 61 / 62})
    assert ranking(fused) == ["b", "a", "c"]


def test_the_first_of_both_sides_has_1() -> None:
    assert reciprocal_rank({"a": 0.9, "b": 0.1}, {"a": 1.0}, alpha=0.3)["a"] == pytest.approx(1.0)
    assert reciprocal_rank({}, {}, alpha=0.5) == {}


@given(SIDE, SIDE, ALPHA, st.integers(1, 100))
def test_reciprocal_ranks_are_the_formula_in_0_to_1(
    vector: dict[str, float], bm25: dict[str, float], alpha: float, k: int
) -> None:
    fused = reciprocal_rank(vector, bm25, alpha=alpha, k=k)
    expected = straightforward_rrf(vector, bm25, alpha, k)
    assert fused == pytest.approx({i: score * (k + 1) for i, score in expected.items()})
    assert all(0.0 <= score <= 1.0 + 1e-12 for score in fused.values())


@given(SIDE, SIDE, ALPHA, st.randoms())
def test_the_order_of_the_candidates_as_given_does_not_matter(
    vector: dict[str, float], bm25: dict[str, float], alpha: float, random: Random
) -> None:
    def shuffled(side: dict[str, float]) -> dict[str, float]:
        items = list(side.items())
        random.shuffle(items)
        return dict(items)

    for fuse in (reciprocal_rank, min_max, max_normalised):
        assert fuse(shuffled(vector), shuffled(bm25), alpha=alpha) == fuse(vector, bm25, alpha=alpha)


@given(SIDE, SIDE, ALPHA)
def test_only_the_order_within_a_side_counts(vector: dict[str, float], bm25: dict[str, float], alpha: float) -> None:
    squeezed = {i: score**3 + 1.0 for i, score in vector.items()}
    assert reciprocal_rank(squeezed, bm25, alpha=alpha) == reciprocal_rank(vector, bm25, alpha=alpha)
