"""Answer to one question as a stream, and its run, which keeps the answer whatever happens.

    Found → (refuse | write) → Text, Cited, Dropped … → Checked → Done

`Answer.text` is exactly the streamed text, every `Text` unchanged and ``[n]`` for every `Cited`, in order; plus, at the
ends of claims, a blank and ``[n]`` for every citation added by verification (`Mark.added`), which is not streamed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Literal

from ragcore import telemetry
from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.answer.refuse import Mentions, reason_to_refuse, refusal
from ragcore.answer.requests import build_request
from ragcore.cancel import Stop
from ragcore.config.settings import Settings
from ragcore.errors import GroundworkError, StoreError, StreamBroken
from ragcore.protocols import LLM, Entailment, FieldValue, ModelRequest, Reranker
from ragcore.text.terms import Term
from ragcore.types import (
    Answer,
    AnswerEvent,
    Checked,
    Citation,
    Cited,
    Claim,
    Document,
    Done,
    Dropped,
    Found,
    Mark,
    Partly,
    Retrieval,
    Source,
    Text,
    Trace,
    Turn,
    Usage,
)
from ragcore.types.question import Comparison, Question
from ragcore.types.report import Missing
from ragcore.types.spending import cost
from ragcore.verify.added import add_citations, tell_added
from ragcore.verify.judge import Judged, judged
from ragcore.verify.verify import SECONDS_STOPPED, CheckBudget, quoted, unchecked, verify

_EMPTY_LINES = re.compile(r"^[ \t]*\n[ \t]*\n\s*\n(?=\S|$)")


class AnswerText:
    """Builder of the answer's text from prose and citations, with normalised white space around marks.

    The first mark of a run follows one blank, and no blank is inside the run; a mark equal to the one before is left
    out; a dropped marker leaves no double blank. White space is held back until the next text is known.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._blank = ""
        self._run: list[int] = []
        self._after_left_out = False
        self.marks: list[Mark] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add_text(self, text: str) -> list[AnswerEvent]:
        joined = self._blank + text
        if self._after_left_out:
            joined = _EMPTY_LINES.sub("\n\n", joined)
        body = joined.rstrip()
        self._blank = joined[len(body) :]
        if not body:
            return []
        if self._after_left_out:
            stripped = body.lstrip(" ")
            if stripped[:1] in tuple(".,;:!?)\n"):
                body = stripped
            elif len(body) - len(stripped) > 1:
                body = " " + stripped
        if not self._length:
            body = body.lstrip()
        self._run = []
        self._after_left_out = False
        return [self._put_text(body)]

    def add_citation(self, citation: Citation) -> list[AnswerEvent]:
        new_line = "\n" in self._blank
        if citation.n in self._run and not new_line:
            return []
        events: list[AnswerEvent] = []
        if new_line and self._length:
            events.append(self._put_text(self._blank))
            self._run = []
        elif self._length and not self._run:
            events.append(self._put_text(" "))
        self._blank = ""
        start = self._length
        self._put_text(f"[{citation.n}]")
        self.marks.append(Mark(start, self._length, citation.n))
        self._run.append(citation.n)
        return [*events, Cited(citation)]

    def left_out(self) -> None:
        """Note a marker that is not shown."""
        self._after_left_out = True

    def _put_text(self, text: str) -> Text:
        self._pieces.append(text)
        self._length += len(text)
        return Text(text)


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """A ``question`` with its retrieval and sources. ``query`` is its stand-alone form, made by ``rewritten_by`` ("" if
    unchanged), and ``terms`` are its domain terms. ``request`` makes the writer's request if it is not a plain
    question. ``fresh`` skips a kept answer to the same request; ``partly`` are the documents not read in full;
    ``comparison``: the question is asked of several documents one by one."""

    question: str
    query: Question
    retrieval: Retrieval
    sources: tuple[Source, ...]
    history: tuple[Turn, ...] = ()
    terms: tuple[Term, ...] = ()
    rewritten_by: str = ""
    fresh: bool = False
    partly: tuple[Partly, ...] = ()
    request: Callable[[], ModelRequest] | None = None
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class Services:
    """Dependencies of answering. ``judge`` gives the second opinion of ``verify.judge``; ``mentions`` (as
    `SparseIndex.mentions`) shows which words no document contains. With ``titles`` the answer keeps its trace."""

    llm: LLM
    settings: Settings
    document: Callable[[str], Document]
    reranker: Reranker | None = None
    judge: LLM | None = None
    mentions: Mentions | None = None
    titles: Callable[[], Mapping[str, str]] | None = None
    entailment: Entailment | None = None


class AnswerStream:
    """Stream of one answer: iterate it once for events; ``answer`` is set at the end. `ragcore.types` has the order of
    events.

    After the first event it never raises a `GroundworkError`: if the writer fails, the answer ends with status
    ``failed`` and the error, and keeps the text so far. ``stop`` may be set from another thread at any time; the answer
    then ends soon with status ``stopped``, with its text so far checked; during the check, it ends the check.
    ``missing`` lists the items that, according to a section's writer, one document lacks.
    """

    def __init__(self, task: AnswerTask, services: Services, stop: Stop | None = None) -> None:
        self.answer: Answer | None = None
        self._task = task
        self._with = services
        self._extractive = services.llm.capabilities.extractive
        self._comparison = task.comparison
        self._stop = stop or Stop()
        self._stopped = False

        self._parser = MarkerParser()
        self._citer = Citer(task.sources, services.document)
        self._text = AnswerText()
        self._dropped: list[str] = []
        self._no_answer = False
        self._error: GroundworkError | None = None
        self._timings: dict[str, float] = {}
        self._usage, self._model = Usage(), services.llm.name
        self._notes: tuple[str, ...] = ()
        self.missing: tuple[Missing, ...] = ()
        self.values: tuple[FieldValue, ...] = ()

    def stop(self) -> None:
        """Stop the writing soon. Thread-safe; repeated calls are allowed."""
        self._stop.set()

    def __iter__(self) -> Iterator[AnswerEvent]:
        started = time.perf_counter()
        self._timings = {name: float(value) for name, value in self._task.retrieval.timings_ms.items()}
        yield Found(self._task.retrieval, self._task.sources)

        plain = self._task.request is None and self._task.retrieval.overview is None
        reason = self._reason_to_refuse() if plain else ""
        if reason:
            yield from self._refuse(reason)
        else:
            yield from self._write(started)
        self._timings["generate"] = _since(started)

        checking = time.perf_counter()
        text, marks = self._with_added()
        checked = self._verify(text, marks)
        self._timings["verify"] = _since(checking)
        self._timings["answer"] = _since(started)
        yield Checked(checked.claims)
        self.answer = self._finish(text, marks, checked, *self._traced())
        yield Done(self.answer)

    def _write(self, started: float) -> Iterator[AnswerEvent]:
        if self._stop.is_set():
            self._stopped = True
            return
        try:
            request = (self._task.request or self._build_request)()
            writing = self._with.llm.stream(replace(request, fresh=self._task.fresh))
            try:
                with self._stop.closing(writing.close):
                    for piece in writing:
                        self._timings.setdefault("first_token", _since(started))
                        yield from self._take(self._parser.feed(piece))
            finally:
                writing.close()
                self._usage, self._model = writing.usage, writing.model
                self._notes, self.missing, self.values = writing.notes, writing.missing, writing.values
        except GroundworkError as error:
            if not self._stop.is_set():
                self._error = error
        self._stopped = self._stop.is_set()
        yield from self._take(self._parser.finish())
        if not self._stopped and self._error is None:
            if self._no_answer:
                yield from self._refuse("")
            elif not self._text.text:
                self._error = StreamBroken(f"{self._model} returned no text.")

    def so_far(self, error: GroundworkError | None) -> Answer:
        """Partial answer after the iteration was interrupted by ``error`` or, with None, by the user. Its claims are
        unchecked."""
        if self.answer is None:
            self._error, self._stopped = error, error is None
            notes = ("The claims weren't checked because the answer was cut off.",)
            self.answer = self._finish(self._text.text, tuple(self._text.marks), Judged(()), None, notes)
        return self.answer

    def _reason_to_refuse(self) -> str:
        of, sources = self._task.comparison, self._task.sources
        if of is not None and self._extractive:
            retrieval = replace(self._task.retrieval, routes=())
            silent = tuple(
                one
                for one, question in of.questions.items()
                if not (own := [source for source in sources if source.doc_id == one])
                or (not of.each.words and self._reason(question, retrieval, own))
            )
            self._comparison = replace(of, silent=silent) if len(silent) < len(of.questions) else None
            if self._comparison is not None:
                return ""
        return self._reason(self._task.query, self._task.retrieval, sources)

    def _reason(self, question: Question, retrieval: Retrieval, sources: Sequence[Source]) -> str:
        return reason_to_refuse(
            question,
            retrieval,
            sources,
            terms=self._task.terms,
            mentions=self._with.mentions,
            document=self._with.document,
            extractive=self._extractive,
        )

    def _build_request(self) -> ModelRequest:
        return build_request(
            self._task.question,
            self._task.sources,
            self._task.history,
            self._with.document,
            self._with.settings,
            query=self._task.query,
            terms=self._task.terms,
            routes=self._task.retrieval.routes,
            overview=self._task.retrieval.overview,
            comparison=self._comparison,
            titles=self._with.titles() if self._with.titles is not None else None,
        )

    def _take(self, items: Sequence[str | Marker]) -> Iterator[AnswerEvent]:
        for item in items:
            if isinstance(item, str):
                yield from self._text.add_text(item)
            elif item.no_answer:
                # After a cited statement it means that a part is missing: that is an answer.
                self._no_answer = not self._text.marks
                self._text.left_out()
            else:
                cited, dropped = self._citer.resolve(item)
                for citation in cited:
                    yield from self._text.add_citation(citation)
                for raw in dropped:
                    self._dropped.append(raw)
                    self._text.left_out()
                    yield Dropped(raw)

    def _refuse(self, reason: str) -> Iterator[AnswerEvent]:
        """Refusal; after a writer's own statement of what is missing, only the searched scope and the nearest
        passages."""
        self._no_answer = True
        said = self._text.text
        parts = refusal(
            reason,
            self._task.query,
            self._task.sources,
            terms=self._task.terms,
            written=said,
            cited=bool(self._text.marks),
            found=len(self._task.retrieval.hits),
        )
        if said:
            self._text.left_out()  # the sentinel: blank lines around it collapse into one
        yield from self._take((["\n\n"] if said else []) + parts)

    def _with_added(self) -> tuple[str, tuple[Mark, ...]]:
        """Streamed text plus the marks of citations added by verification."""
        text, marks = self._text.text, tuple(self._text.marks)
        if self._no_answer or self._extractive or not self._with.settings.verify.add_citations:
            return text, marks
        return add_citations(
            text,
            marks,
            self._task.sources,
            self._citer,
            self._with.document,
            self._with.settings.verify,
            unfinished=self._stopped or self._error is not None,
            budget=self._budget(),
        )

    def _verify(self, text: str, marks: tuple[Mark, ...]) -> Judged:
        if self._no_answer:
            return Judged(())
        if self._extractive:
            return self._judged(quoted(text, marks, self._citer.citations), text, marks)
        claims = verify(
            text,
            marks,
            self._citer.citations,
            self._with.document,
            self._with.settings.verify,
            reranker=self._with.reranker,
            entailment=self._with.entailment,
            budget=self._budget(),
        )
        found = self._judged(claims, text, marks)
        told = tell_added(found.claims, marks, self._citer.citations)
        return replace(found, claims=told, notes=(*unchecked(claims), *found.notes))

    def _budget(self) -> CheckBudget:
        """Limits of the check. A stopped answer is still checked for a short time; Stop then ends the check."""
        return CheckBudget(seconds=SECONDS_STOPPED) if self._stopped else CheckBudget(stopped=self._stop.is_set)

    def _judged(self, claims: tuple[Claim, ...], text: str, marks: tuple[Mark, ...]) -> Judged:
        judge = self._with.judge
        if self._with.settings.verify.judge == "off" or not any(claim.citations for claim in claims):
            return Judged(claims)
        if judge is None:
            return Judged(claims, notes=("There was no second opinion: verify.judge needs a model, and none is set.",))
        if self._extractive:
            return Judged(claims)  # a document's own words need none
        if self._stopped or self._error is not None:
            return Judged(claims, notes=(f"{judge.name} gave no second opinion because the answer was cut off.",))
        document, settings = self._with.document, self._with.settings
        citations = self._citer.citations
        return judged(claims, text, marks, citations, document, judge, settings, self._stop)

    def _finish(
        self,
        text: str,
        marks: tuple[Mark, ...],
        checked: Judged,
        trace: Trace | None,
        notes: tuple[str, ...],
    ) -> Answer:
        status: Literal["complete", "stopped", "failed"]
        status = "stopped" if self._stopped else "complete" if self._error is None else "failed"
        written: float | None = 0.0
        if not self._extractive:
            written = cost(self._usage, self._model, self._with.settings.llm.prices, asked=self._with.llm.name)
        costs = (self._task.retrieval.cost_usd, written, checked.cost_usd)
        return Answer(
            question=self._task.question,
            queries=tuple(one.text for one in self._task.retrieval.queries) or (self._task.query.text,),
            text=text,
            refused=self._no_answer,
            claims=checked.claims,
            citations=self._citer.citations,
            marks=marks,
            dropped=tuple(self._dropped),
            sources=self._task.sources,
            model=self._model,
            extractive=self._extractive,
            usage=self._task.retrieval.usage + self._usage + checked.usage,
            cost_usd=None if None in costs else sum(each for each in costs if each is not None),
            timings_ms=self._timings,
            settings_hash=self._with.settings.hash(),
            status=status,
            error=self._error.as_dict() if self._error is not None else None,
            created=time.time(),
            trace=trace,
            standalone=self._task.query.text if self._task.rewritten_by else "",
            rewritten_by=self._task.rewritten_by,
            notes=(*self._notes, *checked.notes, *notes),
            partly=self._task.partly,
        )

    def _traced(self) -> tuple[Trace | None, tuple[str, ...]]:
        """Trace of the retrieval."""
        if self._with.titles is None:
            return None, ()
        try:
            return Trace.of(self._task.retrieval, self._with.titles()), ()
        except GroundworkError as error:
            return None, (f"The search details couldn't be saved: {error.message}",)


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
        self._began = 0.0
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
        self._began = time.perf_counter()
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
        writer = "rules" if answer.extractive or not answer.model else "model"
        telemetry.took(
            "groundwork.answer",
            time.perf_counter() - self._began,
            answer.timings_ms,
            status=answer.status,
            writer=writer,
            refused=str(answer.refused).lower(),
        )
        telemetry.counted("groundwork.answer.usd", answer.cost_usd or 0.0)
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


def _since(moment: float) -> float:
    return round((time.perf_counter() - moment) * 1000, 2)
