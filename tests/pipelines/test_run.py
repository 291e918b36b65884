"""A run that is broken off: what had arrived is kept, and whatever broke it off is raised."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragcore.cancel import Stop
from ragcore.errors import StoreError
from ragcore.offline.question import RuleAnalyser
from ragcore.pipelines.stream import AnswerRun, AnswerStream, AnswerTask, Services
from ragcore.types import Answer, Done, Usage
from tests.answer.samples import DIVIDENDS, PROSE, SETTINGS, ScriptedWriter, document, retrieval, sources

read = RuleAnalyser().read

QUESTION = "How much did revenues rise in fiscal 2023?"


def failing(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def broken_by(error: BaseException) -> Callable[[Stop], AnswerStream]:
    def prepare(stop: Stop) -> AnswerStream:
        return AnswerStream(
            AnswerTask(QUESTION, read(QUESTION), retrieval(QUESTION, (PROSE, DIVIDENDS)), sources(PROSE, DIVIDENDS)),
            Services(
                ScriptedWriter("Revenues rose 10% <<SOURCE 1.2>>. ", "Margins fell.", failing(error), "More."),
                SETTINGS,
                document,
            ),
            stop,
        )

    return prepare


def test_what_had_arrived_is_kept_when_a_person_breaks_it_off() -> None:
    kept: list[Answer] = []
    with pytest.raises(KeyboardInterrupt):
        AnswerRun(QUESTION, broken_by(KeyboardInterrupt()), keep=kept.append).run()
    (answer,) = kept
    assert (answer.status, answer.error, answer.text) == ("stopped", None, "Revenues rose 10% [1]. Margins fell.")
    assert [citation.n for citation in answer.citations] == [1]
    assert answer.usage == Usage(10, 5)


def test_an_error_that_nobody_foresaw_is_raised_and_what_had_arrived_kept() -> None:
    kept: list[Answer] = []
    with pytest.raises(ZeroDivisionError):
        AnswerRun(QUESTION, broken_by(ZeroDivisionError("sk-secret")), keep=kept.append).run()
    (answer,) = kept
    assert (answer.status, answer.text) == ("failed", "Revenues rose 10% [1]. Margins fell.")
    assert answer.error is not None
    assert "ZeroDivisionError" in answer.error["message"]
    assert "sk-secret" not in repr(answer)


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt(), "stopped"), (ValueError("x"), "failed")])
def test_what_breaks_off_the_search_is_kept_too(error: BaseException, status: str) -> None:
    def prepare(_: Stop) -> AnswerStream:
        raise error

    kept: list[Answer] = []
    with pytest.raises(type(error)):
        AnswerRun(QUESTION, prepare, keep=kept.append).run()
    assert [(answer.question, answer.status, answer.text) for answer in kept] == [(QUESTION, status, "")]


def test_a_failure_to_keep_it_does_not_take_the_place_of_what_broke_it_off() -> None:
    def keep(_: Answer) -> None:
        raise StoreError("The disk is full.")

    with pytest.raises(KeyboardInterrupt) as caught:
        AnswerRun(QUESTION, broken_by(KeyboardInterrupt()), keep=keep).run()
    assert "The disk is full." in " ".join(caught.value.__notes__)


def test_whoever_breaks_off_between_two_events_leaves_a_stopped_answer() -> None:
    kept: list[Answer] = []
    events = iter(AnswerRun(QUESTION, broken_by(AssertionError("never reached")), keep=kept.append))
    assert not isinstance(next(events), Done)
    next(events)
    events.close()
    assert [answer.status for answer in kept] == ["stopped"]
