"""Run of one answer: retrieved, written, checked and stored. The response is the stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Literal

from ragcore.cancel import Stop
from ragcore.errors import GroundworkError, StoreError
from ragcore.types import Answer, AnswerEvent, Done

if TYPE_CHECKING:
    from ragcore.pipelines.stream import AnswerStream


class AnswerRun:
    """Run of one question: iterate it for events (`ragcore.types.AnswerEvent`), or call `run` for the finished
    `Answer`.

    Nothing happens before the first event is requested. ``keep`` receives the answer as soon as it is finished, stopped
    or failed, even if the consumer has gone; an error of ``keep`` (a full disk, a busy database) is in ``unsaved``
    until `save` succeeds, and the answer is still delivered. Without ``keep`` an error before the first event is
    raised; with it the error becomes a failed answer, so that question and error are not lost. Other interruptions
    (unforeseen errors, Ctrl-C) are raised after the partial answer is kept. ``prepare`` receives the `Stop`, which may
    be set during its work.
    """

    def __init__(
        self,
        question: str,
        prepare: Callable[[Stop], AnswerStream],
        *,
        keep: Callable[[Answer], None] | None = None,
        turn_id: str | None = None,
    ) -> None:
        self.question = question
        self.turn_id = turn_id
        self.answer: Answer | None = None
        self.unsaved: StoreError | None = None
        self._prepare = prepare
        self._keep = keep
        self._stream: AnswerStream | None = None
        self._stop = Stop()

    def __iter__(self) -> Generator[AnswerEvent, None, None]:
        try:
            yield from self._events()
        except (GroundworkError, GeneratorExit):
            raise
        except BaseException as error:
            if self.answer is None:
                self._break_off(error)
            raise

    def _events(self) -> Generator[AnswerEvent, None, None]:
        try:
            self._stream = self._prepare(self._stop)
        except GroundworkError as error:
            if self._keep is None:
                raise
            yield self._finish(_failed(self.question, error))
            return
        listening = True
        for event in self._stream:
            if isinstance(event, Done):
                event = self._finish(event.answer)
            if listening:
                try:
                    yield event
                except GeneratorExit:
                    # The consumer has gone: stop writing, but keep the partial answer.
                    listening = False
                    self.stop()

    def stop(self) -> None:
        """Stop the writing soon, from any thread; the answer so far is checked and kept with status ``stopped``."""
        self._stop.set()

    def run(self) -> Answer:
        """Finished answer."""
        # An interrupt of this loop must end the iteration now, not when the traceback is released.
        with closing(iter(self)) as events:
            for _ in events:
                pass
        assert self.answer is not None  # a stream always ends with Done
        return self.answer

    def _break_off(self, error: BaseException) -> None:
        ours = None
        if isinstance(error, Exception):
            ours = GroundworkError(f"The answer stopped on an unexpected error: {type(error).__name__}.")
        self._finish(_failed(self.question, ours) if self._stream is None else self._stream.so_far(ours))
        if self.unsaved is not None:
            error.add_note(f"The answer so far couldn't be saved: {self.unsaved.message}")

    def _finish(self, answer: Answer) -> Done:
        self.answer = answer
        with suppress(StoreError):
            self.save()
        return Done(answer)

    def save(self) -> None:
        """Pass the finished answer to ``keep`` (again). Raises `StoreError`, which is then in ``unsaved``."""
        if self._keep is not None and self.answer is not None:
            try:
                self._keep(self.answer)
            except StoreError as error:
                self.unsaved = error
                raise
        self.unsaved = None


def _failed(question: str, error: GroundworkError | None) -> Answer:
    """Empty answer, failed with ``error`` or, with None, stopped by the user."""
    told = None if error is None else error.as_dict()
    status: Literal["stopped", "failed"] = "stopped" if error is None else "failed"
    return Answer(question, status=status, error=told, created=time.time())
