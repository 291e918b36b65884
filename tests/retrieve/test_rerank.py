from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragcore.retrieve.fuse import ranking
from ragcore.retrieve.rerank import PLANNED, SLICE, STEPS, Pace, costs, planned, relevance, tempered, vote

FUSED = {"a": 1.0, "b": 0.7, "c": 0.6, "d": 0.1}


def test_no_weight_leaves_the_fused_scores() -> None:
    assert vote(FUSED, {"a": 0.01, "b": 0.2, "c": 0.9, "d": 0.99}, weight=0.0) == FUSED


def test_a_strong_vote_turns_the_order() -> None:
    assert ranking(vote(FUSED, {"a": 0.0, "b": 0.5, "c": 0.99, "d": 0.99}, weight=0.6)) == ["c", "a", "b", "d"]


def test_a_score_lies_between_both_parts() -> None:
    assert vote({"a": 1.0, "b": 0.2}, {"a": 0.5, "b": 1.0}, weight=0.6) == pytest.approx({"a": 0.8125, "b": 0.5})


def test_what_was_not_judged_gets_no_vote() -> None:
    scores = vote(FUSED, {"a": 0.0, "b": 0.1}, weight=0.6)
    assert scores["c"] == pytest.approx(0.375)
    assert list(scores) == list(FUSED)


def test_equal_votes_change_nothing() -> None:
    assert ranking(vote(FUSED, dict.fromkeys(FUSED, 0.3), weight=2.0)) == ["a", "b", "c", "d"]


KINDS = {"a": "text", "b": "text", "c": "table", "d": "table"}


def test_a_temperature_of_one_leaves_passages_of_one_kind_as_they_were_judged() -> None:
    judged = {"a": 0.0, "b": 0.2, "c": 0.9, "d": 1.0}
    assert tempered(judged, dict.fromkeys(judged, "text"), temperature=1.0) == pytest.approx(judged, abs=1e-8)
    assert tempered({}, {}, temperature=1.0) == {}


def test_a_higher_temperature_brings_judgements_nearer_to_one_half() -> None:
    cooled = tempered({"a": 0.001, "b": 0.5, "c": 0.999}, dict.fromkeys("abc", "text"), temperature=3.0)
    assert cooled == pytest.approx({"a": 1 / (1 + 999 ** (1 / 3)), "b": 0.5, "c": 1 - 1 / (1 + 999 ** (1 / 3))})


def test_tables_are_not_held_back_for_being_tables() -> None:
    judged = {"a": 0.9, "b": 0.3, "c": 0.01, "d": 0.001}
    votes = tempered(judged, KINDS, temperature=1.0)
    assert ranking(votes) == ["a", "c", "d", "b"]
    alone = tempered({"a": 0.9, "c": 0.001}, KINDS, temperature=1.0)
    assert alone["a"] == pytest.approx(alone["c"])


@given(
    st.dictionaries(st.sampled_from("abcd"), st.floats(0.0, 1.0), min_size=1),
    st.floats(0.5, 8.0),
)
def test_votes_lie_between_0_and_1_and_keep_the_order_within_a_kind(
    judged: dict[str, float], temperature: float
) -> None:
    votes = tempered(judged, KINDS, temperature=temperature)
    assert set(votes) == set(judged)
    assert all(0.0 <= value <= 1.0 for value in votes.values())
    for one in judged:
        for other in judged:
            if KINDS[one] == KINDS[other] and judged[one] < judged[other]:
                assert votes[one] <= votes[other] + 1e-12


class Clock:
    """Seconds that pass only while `Reader` reads."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Reader:
    """A reranker that takes ``ms`` for each word; ``read`` is every passage that it was given."""

    name = "test:reader"

    def __init__(self, clock: Clock, ms: float) -> None:
        self.clock, self.ms = clock, ms
        self.read: list[str] = []

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        self.read.extend(passages)
        self.clock.now += self.ms * sum(costs(query, passages)) / 1000.0
        return np.array([len(passage) % 7 / 7 for passage in passages])


PASSAGES = [f"passage {n} " + "of some words " * 25 for n in range(40)]
WORDS = costs("question", PASSAGES)[0]


def timed(ms: float) -> tuple[Reader, Pace]:
    clock = Clock()
    return Reader(clock, ms), Pace(clock=clock)


def test_without_a_budget_everything_is_read_at_once() -> None:
    reader, pace = timed(1000.0)
    scores = relevance(reader, "question", PASSAGES, max_ms=0.0, pace=pace)
    assert reader.read == PASSAGES
    assert scores.shape == (40,)


def test_a_wide_budget_reads_everything() -> None:
    reader, pace = timed(0.01)
    scores = relevance(reader, "question", PASSAGES, max_ms=1000.0, pace=pace)
    np.testing.assert_array_equal(scores, Reader(Clock(), 0.0).score("question", PASSAGES))


def test_a_tight_budget_is_kept_by_reading_fewer_the_best_fused_first() -> None:
    reader, pace = timed(0.1)
    pace.of(reader)
    started, reader.read = reader.clock.now, []
    count = len(relevance(reader, "question", PASSAGES, max_ms=100.0, pace=pace))
    assert reader.read == PASSAGES[:count]
    assert count == planned([WORDS] * 40, 750.0) == 4  # 75 ms at .1 ms a word
    assert reader.clock.now - started <= 0.1


def test_the_same_question_is_read_as_far_again_while_the_machine_is_about_as_fast() -> None:
    reader, pace = timed(0.1)
    counts = []
    for ms in (0.1, 0.12, 0.09, 0.13, 0.08, 0.1):
        reader.ms = ms
        counts.append(len(relevance(reader, "question", PASSAGES, max_ms=400.0, pace=pace)))
    assert len(set(counts)) == 1


def test_a_machine_that_became_slow_is_noticed() -> None:
    reader, pace = timed(0.1)
    fast = len(relevance(reader, "question", PASSAGES, max_ms=400.0, pace=pace))
    reader.ms = 0.4
    started = reader.clock.now
    cut = len(relevance(reader, "question", PASSAGES, max_ms=400.0, pace=pace))
    assert reader.clock.now - started <= 0.4
    slow = [len(relevance(reader, "question", PASSAGES, max_ms=400.0, pace=pace)) for _ in range(9)][-1]
    assert slow == planned([WORDS] * 40, 750.0) <= cut < fast
    reader.ms = 0.1
    again = [len(relevance(reader, "question", PASSAGES, max_ms=400.0, pace=pace)) for _ in range(30)][-1]
    assert again == fast


def calibrated(busy_ms: float, ms: float) -> tuple[Reader, Pace]:
    """A reader whose pace was measured at ``busy_ms`` a word and that needs ``ms`` from then on."""
    reader, pace = timed(busy_ms)
    pace.of(reader)
    reader.ms = ms
    return reader, pace


def test_a_pace_measured_in_a_busy_moment_does_not_hold_back_the_next_questions() -> None:
    reader, pace = calibrated(1.0, 0.1)
    first = PASSAGES[:20]
    started, reader.read = reader.clock.now, []
    counts = [len(relevance(reader, "question", first, max_ms=800.0, pace=pace)) for _ in range(5)]
    assert counts == [20] * 5
    assert reader.read == first * 5  # each once, the best fused first
    assert reader.clock.now - started <= 5 * 0.8


def test_what_is_read_beyond_the_plan_is_scored_as_in_one_call() -> None:
    reader, pace = calibrated(1.0, 0.1)
    scores = relevance(reader, "question", PASSAGES[:20], max_ms=800.0, pace=pace)
    np.testing.assert_array_equal(scores, Reader(Clock(), 0.0).score("question", PASSAGES[:20]))


@given(st.floats(1.0, 50.0), st.floats(0.01, 10.0), st.floats(10.0, 2000.0))
def test_a_too_slow_pace_leaves_no_step_unread_that_would_have_fitted(busy: float, ms: float, max_ms: float) -> None:
    reader, pace = calibrated(busy * ms, ms)
    started = reader.clock.now
    count = len(relevance(reader, "question", PASSAGES, max_ms=max_ms, pace=pace))
    assert count == 1 or (reader.clock.now - started) * 1000.0 <= max_ms
    cost = costs("question", PASSAGES)
    if count < len(cost):
        further = min(step for step in STEPS if step > count)
        assert ms * sum(cost[:further]) >= 0.999 * PLANNED**2 * max_ms
    again = [len(relevance(reader, "question", PASSAGES, max_ms=max_ms, pace=pace)) for _ in range(7)]
    assert again == [count] * 7


def test_a_faster_speed_is_believed_at_once_a_slower_one_only_as_the_median_of_five() -> None:
    reader, pace = calibrated(0.4, 0.1)
    pace.learn(1000.0, 100.0)
    assert pace.of(reader) == pytest.approx(0.1)
    for spent_ms in (400.0, 400.0, 110.0, 110.0):
        pace.learn(1000.0, spent_ms)
        assert pace.of(reader) == pytest.approx(0.1)
    for spent_ms in (400.0, 400.0):
        pace.learn(1000.0, spent_ms)
    assert pace.of(reader) == pytest.approx(0.4)


def test_the_slow_questions_before_do_not_bring_the_slow_pace_back() -> None:
    reader, pace = calibrated(0.4, 0.1)
    for _ in range(5):
        pace.learn(1000.0, 400.0)
    for _ in range(5):
        pace.learn(1000.0, 100.0)
        assert pace.of(reader) == pytest.approx(0.1)


def test_the_best_is_read_however_slow_the_machine_is() -> None:
    reader, pace = timed(1000.0)
    assert len(relevance(reader, "question", PASSAGES, max_ms=1.0, pace=pace)) == 1
    assert relevance(reader, "question", [], max_ms=1.0, pace=pace).shape == (0,)


def test_the_speed_is_measured_once() -> None:
    reader, pace = timed(0.1)
    assert pace.of(reader) == pytest.approx(0.1)
    calls = len(reader.read)
    pace.of(reader)
    assert len(reader.read) == calls == 1 + 2 * SLICE


@given(st.lists(st.integers(1, 500), max_size=120), st.floats(0.0, 40_000.0))
def test_a_plan_fits_and_no_larger_step_does(cost: list[int], most: float) -> None:
    count = planned(cost, most)
    if sum(cost) <= most:
        assert count == len(cost)
        return
    assert count in STEPS
    assert count == 1 or sum(cost[:count]) <= most
    assert all(sum(cost[:step]) > most for step in STEPS if count < step <= len(cost))
    assert count <= len(cost)


@given(st.lists(st.text(max_size=60), max_size=8), st.text(max_size=40))
def test_longer_pairs_cost_more_up_to_what_is_read(passages: list[str], query: str) -> None:
    for cost, longer in zip(costs(query, passages), costs(query, [f"{p} and more" for p in passages])):
        assert 0 < cost <= longer
