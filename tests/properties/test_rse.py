"""The fast search for segments equals a brute force written from the description of the rule."""

from __future__ import annotations

import json
import os
import tracemalloc
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieve.rse import best_segments, chunk_values

# Where the 200 published cases lie, if they are at hand.
ROOT = Path(__file__).resolve().parents[2]
CASES = Path(os.environ.get("GROUNDWORK_DATA", ROOT.parent / "shared" / "data")) / "rse" / "cases.json"


def brute_force(
    values: list[list[float]], lengths: list[int], max_length: int, overall_max_length: int, minimum_value: float
) -> list[tuple[int, int, float]]:
    ends = list(accumulate(lengths))
    n = ends[-1] if ends else 0
    taken: list[tuple[int, int, float]] = []
    out: set[int] = set()
    while len(out) < len(values):
        for number, query in enumerate(values):
            left = overall_max_length - sum(end - start for start, end, _ in taken)
            if left <= 0:
                return taken
            if number in out:
                continue
            best: tuple[int, int, float] | None = None
            for start in range(n):
                total = 0.0
                for end in range(start + 1, min(n, start + min(max_length, left)) + 1):
                    total += query[end - 1]
                    if query[start] < 0 or query[end - 1] < 0:
                        continue
                    if any(start < bound < end for bound in ends):
                        continue
                    if any(start < other_end and other_start < end for other_start, other_end, _ in taken):
                        continue
                    if total > (best[2] if best else -1000.0):
                        best = (start, end, total)
            if best is None or best[2] < minimum_value:
                out.add(number)
            else:
                taken.append(best)
    return taken


coarse = st.sampled_from([-1.0, -0.5, -0.18, -0.1, 0.0, 0.1, 0.2, 0.3, 0.5, 1.0])
fine = st.floats(-1.0, 1.0)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[float]], list[int]]:
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4))
    value = draw(st.sampled_from([coarse, fine]))
    n = sum(lengths)
    return draw(st.lists(st.lists(value, min_size=n, max_size=n), min_size=1, max_size=3)), lengths


@given(cases(), st.integers(1, 8), st.integers(0, 20), st.sampled_from([-5.0, 0.0, 0.2, 0.5]))
def test_segments_and_values_equal_the_brute_force_bit_for_bit(
    case: tuple[list[list[float]], list[int]], max_length: int, overall_max_length: int, minimum_value: float
) -> None:
    values, lengths = case
    actual = best_segments(
        values,
        lengths,
        max_length=max_length,
        overall_max_length=overall_max_length,
        minimum_value=minimum_value,
    )
    assert actual == brute_force(values, lengths, max_length, overall_max_length, minimum_value)


@st.composite
def long_cases(draw: st.DrawFn) -> tuple[list[list[float]], list[int], int, int, float]:
    """Clumps of hits among many chunks that were not found, and presets' limits: the last segments must fit into what
    is left, and most windows overlap one that was taken."""
    lengths = draw(st.lists(st.integers(0, 60), min_size=1, max_size=3))
    queries = []
    for _ in range(draw(st.integers(1, 3))):
        values = [-draw(st.sampled_from([0.18, 0.25]))] * sum(lengths)
        for start in draw(st.lists(st.integers(0, 180), max_size=12)):
            clump = draw(st.lists(st.sampled_from([-0.1, 0.0, 0.02, 0.3, 0.3, 0.7]), min_size=1, max_size=9))
            values[start : start + len(clump)] = clump[: max(0, len(values) - start)]
        queries.append(values)
    limits = draw(st.sampled_from([(15, 30, 0.5), (40, 200, 0.4), (6, 20, 0.5), (40, 45, 0.0), (7, 23, 0.1)]))
    return queries, lengths, *limits


@given(long_cases())
def test_presets_over_clumps_equal_the_brute_force(case: tuple[list[list[float]], list[int], int, int, float]) -> None:
    values, lengths, max_length, overall_max_length, minimum_value = case
    actual = best_segments(
        values,
        lengths,
        max_length=max_length,
        overall_max_length=overall_max_length,
        minimum_value=minimum_value,
    )
    assert actual == brute_force(values, lengths, max_length, overall_max_length, minimum_value)


@pytest.mark.skipif(not CASES.is_file(), reason="the 200 published cases are not at hand (GROUNDWORK_DATA)")
def test_the_published_cases() -> None:
    for case in json.loads(CASES.read_text("utf-8")):
        actual = best_segments(
            case["per_query_values"],
            np.diff([0, *case["document_boundaries"]]).tolist(),
            max_length=case["max_length"],
            overall_max_length=case["overall_max_length"],
            minimum_value=case["minimum_value"],
        )
        assert [[start, end] for start, end, _ in actual] == case["expected_segments"], case["id"]
        assert [value for *_, value in actual] == case["expected_scores"], case["id"]


def test_shapes_that_do_not_agree_are_refused() -> None:
    with pytest.raises(ValueError, match="one value per chunk"):
        best_segments([[0.1, 0.2]], [3], max_length=2, overall_max_length=2, minimum_value=0.0)
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="number"):
            best_segments([[value]], [1], max_length=2, overall_max_length=2, minimum_value=0.0)


def test_nothing_gives_nothing() -> None:
    assert best_segments([], [], max_length=5, overall_max_length=5, minimum_value=0.0) == []
    assert best_segments([[]], [], max_length=5, overall_max_length=5, minimum_value=0.0) == []


def test_a_chunk_kept_out_lies_in_no_segment() -> None:
    values = [0.5, float("-inf"), 0.5, 0.5]
    found = best_segments([values], [4], max_length=4, overall_max_length=4, minimum_value=0.1)
    assert found == [(2, 4, 1.0), (0, 1, 0.5)]


def test_memory_does_not_grow_with_the_length_of_segments() -> None:
    n = 60_000
    values = np.random.default_rng(0).random(n)  # every chunk may begin a segment
    tracemalloc.start()
    try:
        found = best_segments([values], [n], max_length=40, overall_max_length=200, minimum_value=0.4)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found) == 5
    assert peak < 60 * n + 16 * 2**20  # a table of all windows would be 320 bytes a chunk, thrice


def test_a_chunk_is_worth_less_with_rank_and_more_with_score() -> None:
    values = chunk_values([0, 0, 30], [1.0, 0.5, 1.0], decay_rate=30.0, irrelevant_chunk_penalty=0.18)
    assert values == pytest.approx([0.82, 0.32, np.exp(-1) - 0.18])
    assert chunk_values([1000], [0.0], decay_rate=30.0, irrelevant_chunk_penalty=0.18) == pytest.approx([-0.18])
