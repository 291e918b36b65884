import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieve.fuse import ranking, tempered, vote

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
