import pytest

from ragcore.retrieve.fuse import ranking
from ragcore.retrieve.rerank import vote

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
