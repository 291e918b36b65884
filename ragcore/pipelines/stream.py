"""An answer as it is written: markers resolved while text arrives, claims checked at the end.

    Found → (refuse | write) → Text, Cited, Dropped … → Checked → Done

`Answer.text` is exactly what was streamed, every `Text` as it is and ``[n]`` for every `Cited`, in order; and, where
claims end, a blank and ``[n]`` for every citation that checking added (`Mark.added`), which is not streamed.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.answer.generate import build_request
from ragcore.answer.refuse import Mentions, reason_to_refuse, refusal
from ragcore.answer.trace import trace
from ragcore.cancel import Stop
from ragcore.config.settings import Settings
from ragcore.errors import GroundworkError, StreamBroken
from ragcore.protocols import LLM, Entailment, ModelRequest, Reranker
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
    Retrieval,
    Source,
    Text,
    Trace,
    Turn,
    Usage,
)
from ragcore.types.question import Question
from ragcore.types.report import Missing
from ragcore.types.spending import cost
from ragcore.verify.added import add_citations, tell_added
from ragcore.verify.judge import Judged, judged
from ragcore.verify.verify import SECONDS_STOPPED, CheckBudget, unchecked, verify

_EMPTY_LINES = re.compile(r"^[ \t]*\n[ \t]*\n\s*\n(?=\S|$)")


class AnswerText:
    """Text and citations put together, with the white space around marks tidied.

    One blank stands before the first mark of a run and none inside it; a mark that repeats the one before it is left
    out; a dropped marker leaves no double blank. White space is held back until what follows it is known.
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
        self._append(f"[{citation.n}]")
        self.marks.append(Mark(start, self._length, citation.n))
        self._run.append(citation.n)
        return [*events, Cited(citation)]

    def left_out(self) -> None:
        """A marker stood here that is not shown."""
        self._after_left_out = True

    def _put_text(self, text: str) -> Text:
        self._append(text)
        return Text(text)

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """A ``question`` with what was found for it. ``query`` is what it was searched for as, made to stand alone by
    ``rewritten_by`` ("" where it does), and ``terms`` are what in it is called otherwise too. ``request`` makes what
    the writer is asked, where that is no plain question. ``fresh`` passes over what was answered to the same before."""

    question: str
    query: Question
    retrieval: Retrieval
    sources: tuple[Source, ...]
    history: tuple[Turn, ...] = ()
    terms: tuple[Term, ...] = ()
    rewritten_by: str = ""
    fresh: bool = False
    request: Callable[[], ModelRequest] | None = None


@dataclass(frozen=True, slots=True)
class Services:
    """What an answer is made by. ``judge`` gives the second opinion of ``verify.judge``; ``mentions`` (as
    `SparseIndex.mentions`) tells what stands in no document. With ``titles`` the answer keeps its trace."""

    llm: LLM
    settings: Settings
    document: Callable[[str], Document]
    reranker: Reranker | None = None
    judge: LLM | None = None
    mentions: Mentions | None = None
    titles: Callable[[], Mapping[str, str]] | None = None
    entailment: Entailment | None = None


class AnswerStream:
    """Iterate it once for events; ``answer`` is set when it ends. See `ragcore.types` for the events' order.

    From the first event on it never raises a `GroundworkError`: when the writer fails, the answer ends with status
    ``failed`` and the error, and keeps what had arrived. ``stop`` may be called from another thread at any time; the
    answer then ends soon with status ``stopped``, checked as far as it goes; while it is checked, the check ends.
    ``missing`` is what the writer of a section says is missing of one document.
    """

    def __init__(self, task: AnswerTask, services: Services) -> None:
        self.answer: Answer | None = None
        self._task = task
        self._with = services
        self._extractive = services.llm.capabilities.extractive
        self._stop = Stop()
        self._stopped = False

        self._parser = MarkerParser()
        self._citer = Citer(task.sources, services.document)
        self._text = AnswerText()
        self._dropped: list[str] = []
        self._no_answer = False
        self._error: GroundworkError | None = None
        self._timings: dict[str, float] = {}
        self._usage, self._model, self._replayed = Usage(), services.llm.name, False
        self._notes: tuple[str, ...] = ()
        self.missing: tuple[Missing, ...] = ()

    def stop(self) -> None:
        """End the writing soon. Safe from any thread, and more than once."""
        self._stop.set()

    def __iter__(self) -> Iterator[AnswerEvent]:
        started = time.perf_counter()
        self._timings = {name: float(value) for name, value in self._task.retrieval.timings_ms.items()}
        yield Found(self._task.retrieval, self._task.sources)

        reason = self._reason_to_refuse() if self._task.request is None else ""
        if reason:
            yield from self._refuse(reason)
        elif not self._stop.is_set():
            try:
                writing = self._with.llm.stream((self._task.request or self._build_request)())
                try:
                    with self._stop.closing(writing.close):
                        for piece in writing:
                            self._timings.setdefault("first_token", _since(started))
                            yield from self._take(self._parser.feed(piece))
                finally:
                    writing.close()
                    self._usage, self._model, self._replayed = writing.usage, writing.model, writing.replayed
                    self._notes, self.missing = writing.notes, writing.missing
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
        else:
            self._stopped = True
        self._timings["generate"] = _since(started)

        checking = time.perf_counter()
        text, marks = self._with_added()
        checked = self._verify(text, marks)
        self._timings["verify"] = _since(checking)
        self._timings["answer"] = _since(started)
        yield Checked(checked.claims)
        self.answer = self._finish(text, marks, checked, *self._traced())
        yield Done(self.answer)

    def so_far(self, error: GroundworkError | None) -> Answer:
        """The answer as far as it had come when the iteration was broken off, by ``error`` or (None) by a person. Its
        claims are not checked."""
        if self.answer is None:
            self._error, self._stopped = error, error is None
            notes = ("The claims weren't checked because the answer was cut off.",)
            self.answer = self._finish(self._text.text, tuple(self._text.marks), Judged(()), None, notes)
        return self.answer

    def _reason_to_refuse(self) -> str:
        return reason_to_refuse(
            self._task.query,
            self._task.retrieval,
            self._task.sources,
            self._with.settings.answer,
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
            fresh=self._task.fresh,
        )

    def _take(self, items: Sequence[str | Marker]) -> Iterator[AnswerEvent]:
        for item in items:
            if isinstance(item, str):
                yield from self._text.add_text(item)
            elif item.no_answer:
                # After a cited statement it can only mean that a part is missing: that is an answer.
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
        """The refusal; after a writer's own words on what is missing, only what was searched and the nearest."""
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
            self._text.left_out()  # the sentinel: empty lines around it are one
        yield from self._take((["\n\n"] if said else []) + parts)

    def _with_added(self) -> tuple[str, tuple[Mark, ...]]:
        """What was streamed, with the marks of citations that the writer could have given."""
        text, marks = self._text.text, tuple(self._text.marks)
        if self._no_answer or self._extractive or not self._with.settings.verify.add_citations:
            return text, marks
        unfinished = self._stopped or self._error is not None
        return add_citations(
            text,
            marks,
            self._task.sources,
            self._citer,
            self._with.document,
            self._with.settings.verify,
            unfinished=unfinished,
            budget=self._budget(),
        )

    def _verify(self, text: str, marks: tuple[Mark, ...]) -> Judged:
        if self._no_answer:
            return Judged(())
        citations = self._citer.citations
        claims = verify(
            text,
            marks,
            citations,
            self._with.document,
            self._with.settings.verify,
            reranker=self._with.reranker,
            entailment=self._with.entailment,
            budget=self._budget(),
        )
        if self._extractive:
            # What it says without a citation is its own remark, never a document's.
            claims = tuple(claim for claim in claims if claim.status != "uncited")
        found = self._judged(claims, text, marks)
        return replace(
            found, claims=tell_added(found.claims, marks, citations), notes=(*unchecked(claims), *found.notes)
        )

    def _budget(self) -> CheckBudget:
        """What was stopped while it was written is checked all the same, for a moment; Stop then ends the check."""
        return CheckBudget(seconds=SECONDS_STOPPED) if self._stopped else CheckBudget(stopped=self._stop.is_set)

    def _judged(self, claims: tuple[Claim, ...], text: str, marks: tuple[Mark, ...]) -> Judged:
        if self._with.settings.verify.judge == "off" or not any(claim.citations for claim in claims):
            return Judged(claims)
        if self._with.judge is None:
            return Judged(claims, notes=("There was no second opinion: verify.judge needs a model, and none is set.",))
        if self._stopped or self._error is not None:
            name = self._with.judge.name
            return Judged(claims, notes=(f"{name} gave no second opinion because the answer was cut off.",))
        return judged(
            claims,
            text,
            marks,
            self._citer.citations,
            self._with.document,
            self._with.judge,
            self._with.settings,
            self._stop,
            fresh=self._task.fresh,
        )

    def _finish(
        self,
        text: str,
        marks: tuple[Mark, ...],
        checked: Judged,
        trace: Trace | None,
        notes: tuple[str, ...],
    ) -> Answer:
        status: Literal["complete", "stopped", "failed"] = "complete"
        if self._stopped:
            status = "stopped"
        elif self._error is not None:
            status = "failed"
        written: float | None = 0.0
        if not self._extractive and not self._replayed:
            written = cost(self._usage, self._model, self._with.settings.llm.prices, asked=self._with.llm.name)
        costs = (self._task.retrieval.cost_usd, written, checked.cost_usd)
        return Answer(
            answer_id=uuid.uuid4().hex[:16],
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
            replayed=self._replayed,
            notes=(*self._notes, *checked.notes, *notes),
        )

    def _traced(self) -> tuple[Trace | None, tuple[str, ...]]:
        """Made when all else is done: it looks into every document that was found, which nobody need wait for."""
        try:
            titles = self._with.titles
            if titles is None:
                return None, ()
            return trace(self._task.retrieval, self._task.sources, self._with.document, titles()), ()
        except GroundworkError as error:
            return None, (f"The search details couldn't be saved: {error.message}",)


def _since(moment: float) -> float:
    return round((time.perf_counter() - moment) * 1000, 2)
