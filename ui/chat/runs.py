"""Answer runs: each runs in its own thread and keeps its events, so that any number of tabs can follow it, even after a
reload."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragcore.engine import Engine
from ragcore.errors import InputError, StoreBusy, StoreError, UnknownConversation, UnknownTurn
from ragcore.index.jobs import Job, Jobs
from ragcore.types import (
    EVERYTHING,
    Answer,
    Checked,
    Citation,
    Cited,
    Done,
    Dropped,
    Found,
    Mark,
    OnStep,
    Scope,
    Step,
    Text,
)
from ragcore.types.library import DocumentInfo
from ui.chat.markup import Growing

if TYPE_CHECKING:
    from ragcore.pipelines.stream import AnswerRun

_log = logging.getLogger(__name__)

KEEP_SECONDS = 120.0  # a finished run stays this long, for a tab that comes back
SAVE_SECONDS = 5.0  # between two tries to store an answer for which there was no room
REMEMBERED = 1000  # questions of which it is known what they could not search


@dataclass(frozen=True)
class View:
    """Snapshot of a live answer. ``text`` with ``marks`` is the text so far; ``stage`` is ``search``, ``write``,
    ``check`` or ``done``; ``steps`` are the search steps so far in ``scope``, which holds ``searched`` documents
    (``titles`` by id); ``passages`` and ``sources`` are counts, None until the search ends; ``unsaved`` says why a
    finished answer is not stored yet."""

    revision: int = 0
    scope: Scope = EVERYTHING
    searched: int = 0
    titles: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    stage: str = "search"
    text: str = ""
    marks: tuple[Mark, ...] = ()
    citations: tuple[Citation, ...] = ()
    dropped: tuple[str, ...] = ()
    passages: int | None = None
    sources: int | None = None
    stopping: bool = False
    answer: Answer | None = None
    unsaved: str = ""
    defect: str = ""


def cited(view: Any, citation: Citation) -> dict[str, Any]:
    """What a ``citation`` behind the text of ``view`` changes there: ``text``, ``marks`` and ``citations``."""
    text, known = f"{view.text}[{citation.n}]", any(other.n == citation.n for other in view.citations)
    return {
        "text": text,
        "marks": (*view.marks, Mark(len(view.text), len(text), citation.n)),
        "citations": view.citations if known else (*view.citations, citation),
    }


class LiveAnswer:
    """Running answer. `view` may be called from any thread."""

    def __init__(
        self, conversation_id: str, begin: Callable[[OnStep], AnswerRun], scope: Scope, titles: Mapping[str, str]
    ) -> None:
        within = scope.doc_ids
        self.conversation_id = conversation_id
        self.scope = scope
        self.view = View(scope=scope, searched=len(titles) if within is None else len(within), titles=titles)
        self.finished_at: float | None = None
        self._lock = threading.Lock()
        self._run = begin(self._step)
        self.turn_id = self._run.turn_id or ""
        self.question = self._run.question
        self._growing = Growing(self.turn_id)

    def stop(self) -> None:
        self._put(stopping=True)
        self._run.stop()

    def blocks(self, view: View) -> list[str]:
        """HTML of the text so far, rendered once for all followers (on their event loop's thread)."""
        return self._growing.blocks(view.text, view.marks, {item.n: item for item in view.citations})

    def follow(self) -> None:
        """Run to the end; called on the worker thread."""
        for event in self._run:
            match event:
                case Found(retrieval, sources):
                    self._put(stage="write", passages=len(retrieval.hits), sources=len(sources))
                case Text(text):
                    self._put(text=self.view.text + text)
                case Cited(citation):
                    self._put(**cited(self.view, citation))
                case Dropped(marker):
                    self._put(dropped=(*self.view.dropped, marker))
                case Checked():
                    self._put(stage="check")
                case Done(answer):
                    self._put(answer=answer, unsaved=self._why_unsaved())

    def save(self) -> bool:
        """Store the answer if it could not be stored before, and return whether it is stored."""
        try:
            self._run.save()
        except (UnknownConversation, UnknownTurn):
            _log.info("%r was deleted before its answer could be stored", self.question)
        except StoreError:
            return False
        self._put(unsaved="")
        return True

    def _why_unsaved(self) -> str:
        error = self._run.unsaved
        return "" if error is None else f"{error.message} {error.hint}"

    def end(self, outcome: Future[None]) -> None:
        error = outcome.exception()
        if isinstance(error, (UnknownConversation, UnknownTurn)):
            _log.info("%r was deleted while it was answered", self.question)
        elif error is not None:
            _log.error("answering %r failed", self.question, exc_info=error)
        self.finished_at = time.monotonic()
        self._put(stage="done", defect=repr(error) if error else "")

    def _step(self, step: Step) -> None:
        self._put(steps=(*self.view.steps, step))

    def _put(self, **changes: object) -> None:
        # Stop comes from another thread than the text, and must not put back a view from before it.
        with self._lock:
            self.view = replace(self.view, revision=self.view.revision + 1, **changes)  # type: ignore[arg-type]


def unread(infos: Sequence[DocumentInfo], scope: Scope, before: float = math.inf) -> tuple[str, ...]:
    """Documents in ``scope`` added before a given time of which nothing can be asked yet."""
    return tuple(
        info.doc_id
        for info in infos
        if scope.holds(info.doc_id) and info.created < before and info.status != "failed" and not info.askable
    )


class ScopeGone(InputError):
    """Error: every document in scope was removed or cannot be searched yet."""


class StillWriting(InputError):
    """Error: the conversation's previous answer is still being written."""


def _lock(conversation_id: str) -> str:
    """Lock held by the machine that writes an answer in a conversation."""
    return f"{conversation_id}.answer"


@dataclass
class _Pool:
    """Threads that write one server's answers, with the number of answers in them."""

    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(8, thread_name_prefix="answer"))
    answers: int = 0


class Answers:
    """Running and recently finished answers of this process."""

    def __init__(
        self,
        engine: Engine,
        remembered: int = REMEMBERED,
        save_seconds: float = SAVE_SECONDS,
        prefer: Callable[[Sequence[str]], None] = lambda _: None,
    ) -> None:
        """``prefer`` receives the documents in scope of each question, if the scope is a choice."""
        self.engine = engine
        self._jobs = Jobs(engine.store.database, "answer")
        self._prefer = prefer
        self._remembered = remembered
        self._save_seconds = save_seconds
        self._closed = threading.Event()
        self._live: dict[str, LiveAnswer] = {}
        self._unsearched: dict[str, tuple[str, ...]] = {}
        self._beginning: set[str] = set()
        self._lock = threading.Lock()
        self._pools: dict[str, _Pool] = {}  # by server, so that one that hangs holds up nobody else's answers

    def ask(
        self,
        conversation_id: str,
        question: str,
        scope: Scope | None = None,
        *,
        after: str | None = None,
        instead_of: str | None = None,
        engine: Engine | None = None,
    ) -> LiveAnswer:
        """Store the question and start its answer by ``engine`` (the visit's; None: the process's) in ``scope`` (None:
        the conversation's), less removed documents; ``after`` and ``instead_of`` as in `Engine.chat`. Raises
        `EmptyQuestion`, `QuestionTooShort`, `UnknownConversation`, `UnknownTurn`, `StillWriting`, and `ScopeGone` if
        nothing of the scope is left."""
        asking = engine or self.engine
        asking.conversations.require(conversation_id)
        # The next answer would be written without knowing this one.
        with self._alone(conversation_id, "The previous answer is still being written.", "Wait, or stop it.") as lock:
            kept = asking.conversations.scope(conversation_id)
            wanted = kept if scope is None else scope
            infos = self.engine.documents()
            missing = unread(infos, wanted)
            self._prefer(wanted.doc_ids or ())
            asked = self.engine.resolved(wanted)
            if missing and not any(info.askable and wanted.holds(info.doc_id) for info in infos):
                raise ScopeGone("Your documents are still being read.", hint="Ask again when one is ready.")
            if asked.doc_ids is not None:
                known = {info.doc_id for info in infos}
                asked = replace(asked, doc_ids=tuple(i for i in asked.doc_ids if i in known and i not in missing))
                # The browser shows none of those that were removed, and sends none.
                before = wanted.doc_ids or kept.doc_ids or ()
                if not asked.doc_ids and before and known.isdisjoint(before):
                    raise ScopeGone(
                        "The documents in scope were removed from the library.", hint="Tick another in the sidebar."
                    )
                if not asked.doc_ids:
                    raise ScopeGone("No document is in scope.", hint="Tick at least one in the sidebar.")
            live = LiveAnswer(
                conversation_id,
                lambda on_step: asking.chat(
                    conversation_id, question, asked, after=after, instead_of=instead_of, on_step=on_step
                ),
                asked,
                self.engine.store.titles(),
            )
            with self._lock:
                now = time.monotonic()
                for turn_id, item in list(self._live.items()):
                    if item.finished_at and not item.view.unsaved and now - item.finished_at > KEEP_SECONDS:
                        del self._live[turn_id]
                self._live[live.turn_id] = live
                self._unsearched[live.turn_id] = missing
                for turn_id in list(self._unsearched)[: -self._remembered]:
                    del self._unsearched[turn_id]
            self._submit(live, asking.models.server, lock.pop_all())
        return live

    def _submit(self, live: LiveAnswer, server: str, lock: ExitStack) -> None:
        def ended(outcome: Future[None]) -> None:
            live.end(outcome)
            with suppress(StoreError):  # lost: the answer is stored all the same
                lock.close()
            with self._lock:
                pool.answers -= 1
                if not pool.answers and self._pools.get(server) is pool:
                    self._pools.pop(server).threads.shutdown(wait=False)

        with self._lock:
            pool = self._pools.setdefault(server, _Pool())
            pool.answers += 1
            followed = pool.threads.submit(self._follow, live)
        followed.add_done_callback(ended)

    def _follow(self, live: LiveAnswer) -> None:
        with self._jobs.shown(lambda: Job(live.turn_id), live.stop, _lock(live.conversation_id)):
            live.follow()
        if live.view.unsaved:
            threading.Thread(target=self._save, args=[live], name="save", daemon=True).start()

    def _save(self, live: LiveAnswer) -> None:
        """Retry storing a finished answer and booking its cost until the disk has room; once more at shutdown."""
        _log.warning("The answer to %r is not stored yet: %s", live.question, live.view.unsaved)
        while not live.save() and not self._closed.is_set():
            self._closed.wait(self._save_seconds)
        try:
            self.engine.ledger.settle()
        except StoreError as error:
            _log.warning("What the answer to %r cost is not booked yet: %s", live.question, error.message)

    def show(self, conversation_id: str, turn_id: str, engine: Engine | None = None) -> None:
        """Show the branch through a turn, as the person of ``engine`` (None: the process's). Raises
        `UnknownConversation`, `UnknownTurn`, and `StillWriting` while an answer is being written, which would otherwise
        continue unseen."""
        asking = engine or self.engine
        asking.conversations.require(conversation_id)
        with self._alone(conversation_id, "An answer is being written.", "Wait, or stop it, then change the version."):
            asking.conversations.show_turn(conversation_id, turn_id)

    @contextmanager
    def _alone(self, conversation_id: str, message: str, hint: str) -> Iterator[ExitStack]:
        """Exclusive use of a conversation: no answer is being written in it or can start, on any machine. What keeps it
        from other machines can be taken over. Raises `StillWriting`."""
        with self._lock:
            if conversation_id in self._beginning or self._runs(conversation_id):
                raise StillWriting(message, hint=hint)
            self._beginning.add(conversation_id)
        database = self.engine.store.database
        try:
            with ExitStack() as lock:
                if database.shared:
                    try:
                        lock.enter_context(database.locked(_lock(conversation_id), message))
                    except StoreBusy as error:
                        raise StillWriting(message, hint=hint) from error
                yield lock
        finally:
            with self._lock:
                self._beginning.discard(conversation_id)

    def elsewhere(self, conversation_id: str) -> bool:
        """Whether another machine writes an answer in a conversation."""
        return bool(self.engine.store.database.taken([_lock(conversation_id)])) and not self.running(conversation_id)

    def get(self, turn_id: str) -> LiveAnswer | None:
        with self._lock:
            return self._live.get(turn_id)

    def unsearched(self, turn_id: str) -> tuple[str, ...] | None:
        """Documents in scope that could not be searched when a question was asked; None if another process asked it or
        it has been forgotten."""
        with self._lock:
            return self._unsearched.get(turn_id)

    def stop_elsewhere(self, turn_id: str) -> None:
        """Stop an answer that another machine writes."""
        self._jobs.stop(turn_id)

    def stop_all(self, conversation_id: str) -> None:
        """Stop the answers of a conversation that is being deleted."""
        with self._lock:
            live = [item for item in self._live.values() if item.conversation_id == conversation_id]
        for item in live:
            item.stop()

    def running(self, conversation_id: str) -> bool:
        with self._lock:
            return self._runs(conversation_id)

    def idle(self) -> bool:
        """Whether no answer is being written."""
        with self._lock:
            return not self._beginning and all(item.finished_at for item in self._live.values())

    def _runs(self, conversation_id: str) -> bool:
        return any(v.conversation_id == conversation_id and not v.finished_at for v in self._live.values())

    def close(self) -> None:
        """Stop all answers; their text so far is kept."""
        with self._lock:
            live, pools = list(self._live.values()), list(self._pools.values())
        for item in live:
            if item.finished_at is None:
                item.stop()
        self._closed.set()
        for pool in pools:
            pool.threads.shutdown(wait=False, cancel_futures=True)
