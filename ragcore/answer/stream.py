"""An answer as it is written: markers resolved while text arrives, claims checked at the end.

    Found → (refuse | write) → Text, Cited, Dropped … → Checked → Done

`Answer.text` is exactly what was streamed: every `Text` as it is and ``[n]`` for every `Cited`, in order.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.answer.generate import build_request
from ragcore.answer.refuse import reason_to_refuse, refusal
from ragcore.answer.verify import verify
from ragcore.config import Settings
from ragcore.errors import GroundworkError, StreamBroken
from ragcore.prices import cost
from ragcore.protocols import LLM, Reranker, TextStream
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


class AnswerStream:
    """Iterate it once for events; ``answer`` is set when it ends. See `ragcore.types` for the events' order.

    From the first event on it never raises a `GroundworkError`: when the writer fails, the answer ends with status
    ``failed`` and the error, and keeps what had arrived. ``stop`` may be called from another thread at any time; the
    answer then ends soon with status ``stopped``, checked as far as it goes.
    """

    def __init__(
        self,
        *,
        question: str,
        query: str,
        retrieval: Retrieval,
        sources: Sequence[Source],
        document: Callable[[str], Document],
        llm: LLM,
        settings: Settings,
        history: Sequence[Turn] = (),
        reranker: Reranker | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.answer: Answer | None = None
        self._question = question
        self._query = query
        self._retrieval = retrieval
        self._sources = tuple(sources)
        self._trace = trace
        self._document = document
        self._llm = llm
        self._settings = settings
        self._history = tuple(history)
        self._reranker = reranker
        self._stop = threading.Event()
        self._stopped = False
        self._lock = threading.Lock()
        self._writing: TextStream | None = None

        self._parser = MarkerParser()
        self._citer = Citer(self._sources, document)
        self._text = AnswerText()
        self._dropped: list[str] = []
        self._no_answer = False
        self._error: GroundworkError | None = None
        self._timings: dict[str, float] = {}

    def stop(self) -> None:
        """End the writing soon. Safe from any thread, and more than once."""
        with self._lock:
            self._stop.set()
            writing = self._writing
        if writing is not None:
            writing.close()

    def __iter__(self) -> Iterator[AnswerEvent]:
        started = time.perf_counter()
        self._timings = {name: float(value) for name, value in self._retrieval.timings_ms.items()}
        yield Found(self._retrieval, self._sources)

        reason = reason_to_refuse(self._query, self._retrieval, self._sources, self._settings.answer)
        usage, model = Usage(), self._llm.name
        if reason:
            yield from self._refuse(reason)
        elif not self._stop.is_set():
            try:
                writing = self._open()
                try:
                    for piece in writing:
                        self._timings.setdefault("first_token", _since(started))
                        yield from self._take(self._parser.feed(piece))
                finally:
                    writing.close()
                    usage, model = writing.usage, writing.model
            except GroundworkError as error:
                if not self._stop.is_set():
                    self._error = error
            self._stopped = self._stop.is_set()
            yield from self._take(self._parser.finish())
            if not self._stopped and self._error is None:
                if self._no_answer:
                    yield from self._refuse("")
                elif not self._text.text:
                    self._error = StreamBroken(f"{model} ended without writing anything.")
        else:
            self._stopped = True
        self._timings["generate"] = _since(started)

        checking = time.perf_counter()
        claims = self._verify()
        self._timings["verify"] = _since(checking)
        self._timings["answer"] = _since(started)
        yield Checked(claims)
        self.answer = self._finish(claims, usage, model)
        yield Done(self.answer)

    def _open(self) -> TextStream:
        request = build_request(
            self._question, self._sources, self._history, self._document, self._settings, query=self._query
        )
        writing = self._llm.stream(request)
        with self._lock:
            self._writing = writing
            stopped = self._stop.is_set()
        if stopped:
            writing.close()
        return writing

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
        said = bool(self._text.text)
        parts = refusal(reason, self._query, self._sources, said=said, cited=bool(self._text.marks))
        if said:
            self._text.left_out()  # the sentinel: empty lines around it are one
        yield from self._take((["\n\n"] if said else []) + parts)

    def _verify(self) -> tuple[Claim, ...]:
        if self._no_answer:
            return ()
        return verify(
            self._text.text,
            self._text.marks,
            self._citer.citations,
            self._document,
            self._settings.verify,
            reranker=self._reranker,
        )

    def _finish(self, claims: tuple[Claim, ...], usage: Usage, model: str) -> Answer:
        status: Literal["complete", "stopped", "failed"] = "complete"
        if self._stopped:
            status = "stopped"
        elif self._error is not None:
            status = "failed"
        written = 0.0 if self._llm.extractive else cost(usage, model, self._settings.llm.prices)
        planned = self._retrieval.cost_usd
        return Answer(
            answer_id=uuid.uuid4().hex[:16],
            question=self._question,
            queries=tuple(one.text for one in self._retrieval.queries) or (self._query,),
            text=self._text.text,
            refused=self._no_answer,
            claims=claims,
            citations=self._citer.citations,
            marks=tuple(self._text.marks),
            dropped=tuple(self._dropped),
            sources=self._sources,
            model=model,
            extractive=self._llm.extractive,
            usage=self._retrieval.usage + usage,
            cost_usd=None if written is None or planned is None else written + planned,
            timings_ms=self._timings,
            settings_hash=self._settings.hash(),
            status=status,
            error=self._error.as_dict() if self._error is not None else None,
            created=time.time(),
            trace=self._trace,
        )


def _since(moment: float) -> float:
    return round((time.perf_counter() - moment) * 1000, 2)
