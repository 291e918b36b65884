"""Engine: START HERE. Each public method reads as the pipeline it runs:

    ingest    add → read, page by page → build: document → (describe figures) → chunk → store     (`pipelines.ingest`)
    index     (rebuild stale documents) → embed new chunks → update the caches; beside reading in `ingest_and_index`
    retrieve  check the index → documents named → vector ∥ BM25 → fuse → rerank → passages
    ask       standalone question → retrieve → number the sources → refuse or write → cite → verify → Answer
    chat      ask, with the conversation's history and scope, stored
    fill      a report: for each section retrieve → write → check → (missing items: retrieve → write again) → gaps
    grids     for each document and column a section of one field → value, place, rivals

`pipelines` joins the stages; `docs/architecture.md` shows the layers.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcore import telemetry
from ragcore.config.settings import Settings, default_home, load, varied
from ragcore.errors import Cancelled, GroundworkError, IndexEmpty, IndexMismatch
from ragcore.index.model_records import Responses
from ragcore.index.shared import saved
from ragcore.library import Library
from ragcore.pipelines.ingest import Reading
from ragcore.pipelines.search import Search
from ragcore.progress import IngestReport, IsCancelled, OnProgress, Progress, ignore, printable
from ragcore.protocols import UNLIMITED, Allowance, ModelRequest, Texts
from ragcore.providers.paid import Billing
from ragcore.providers.registry import Models, trial
from ragcore.text.sentences import count_tokens, sentence_spans
from ragcore.text.words import stem
from ragcore.types import EVERYTHING, Answer, ChunkKind, OnStep, Retrieval, Scope, Section, SubQuery, Turn
from ragcore.types.library import DocumentInfo
from ragcore.types.report import NO_FOCUS, Focus
from ragcore.types.scope import checked

if TYPE_CHECKING:
    from ragcore.check.checks import Checks
    from ragcore.evaluate.runs import Evaluation
    from ragcore.explore.explore import Exploration
    from ragcore.grid.grids import Grids
    from ragcore.index.indexer import IndexReport
    from ragcore.index.paths import Sentence
    from ragcore.pipelines.answer import AnswerPipeline
    from ragcore.pipelines.build_structures import StructureBuilder
    from ragcore.pipelines.stream import AnswerRun
    from ragcore.report.files import ReportKind
    from ragcore.report.fill import ReportRun, SectionFiller
    from ragcore.report.template import Template
    from ragcore.report.workspace import ReportWorkspace
    from ragcore.structure.groups import DocumentGroup
    from ragcore.suggest.overview import Overview
    from ragcore.suggest.questions import Starter
    from ragcore.types.report import Report


class Engine(Library):
    """Library with its whole question pipeline. Heavy parts load on first use; `warm` loads them ahead."""

    def __init__(
        self,
        home: Path,
        settings: Settings,
        origins: dict[str, str],
        *,
        api_key: str | None = None,
        models: Models | None = None,
        allowance: Allowance = UNLIMITED,
    ) -> None:
        super().__init__(home, settings, allowance)
        self.origins = origins
        billing = self._billing(settings)
        self.models = models.under(settings, billing) if models else Models(settings, billing, api_key=api_key)
        self._reading = Reading(self.store, self.descriptions, self.contexts, self.models, settings, allowance)
        self._base: Engine | None = None  # opened engine, if this one was made by `with_settings` or `of`
        self._of: dict[str, Engine] = {}  # this engine as people have it
        self.search = Search(home, self.store, self.models, settings, self._reading)

    @classmethod
    def open(
        cls,
        home: Path | None = None,
        config: Path | None = None,
        overrides: dict[str, Any] | None = None,
        *,
        api_key: str | None = None,
        models: Models | None = None,
        allowance: Allowance = UNLIMITED,
    ) -> Engine:
        """Library at ``home`` (default: ``GROUNDWORK_HOME``, else the platform's data folder) with the settings in
        force there. ``api_key`` replaces ``ANTHROPIC_API_KEY`` and stays in memory; ``models`` are those of another
        library, whose loaded parts and key are shared; ``allowance`` limits what it may take. Raises `ConfigError`,
        `StoreError`."""
        home = home or default_home()
        settings, origins = load(file=config, saved=None if config else saved(home), overrides=overrides)
        return cls(home, settings, origins, api_key=api_key, models=models, allowance=allowance)

    def of(self, owner: str) -> Engine:
        """This engine as a person has it: with their conversations, feedback and kept answers, and what others share.
        It is made once for each, and closing it closes nothing."""
        made = self._of.get(owner)
        if made is None:
            made = copy.copy(self)
            made._base = self._base or self
            made.see(owner)
            made.allowance = self.allowance.of(owner)
            made.models = self.models.under(self.settings, made._billing(self.settings))
            made.search = self.search.under(made.models, self.settings, self._reading)
            self._of[owner] = made
        return made

    def with_settings(
        self,
        overrides: Mapping[str, Any],
        api_key: str | None = None,
        *,
        origin: str = "argument",
        reading: bool = False,
    ) -> Engine:
        """Engine over the same library with other settings: the dotted keys ``overrides``, which come from ``origin``,
        and another key (None: this engine's key, unless requests would go to another server). It shares store, index
        and loaded models, is cheap to create, and closing it closes nothing. Raises `ConfigError`, also for settings
        that fix how the library was read and indexed; ``reading`` permits those that may change for pages read later
        (`ragcore.config.settings.READING`)."""
        made = copy.copy(self)
        made.settings, made.origins = varied(self.settings, self.origins, overrides, origin, reading=reading)
        made.models = self.models.under(made.settings, self._billing(made.settings), api_key=api_key)
        made._reading = replace(self._reading, models=made.models, settings=made.settings)
        made.search = self.search.under(made.models, made.settings, made._reading)
        made._base = self._base or self
        made._of = {}
        return made

    def _billing(self, settings: Settings) -> Billing:
        kept = Responses(self.store.database, self.owner or "") if settings.llm.cache else None
        return Billing(self.ledger, kept, settings.llm.prices, self.allowance)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._base is None:
            self.store.database.close()

    # Ingest

    def ingest(
        self,
        doc_id: str,
        *,
        password: str | None = None,
        on_progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
        on_built: Callable[[], object] | None = None,
    ) -> DocumentInfo:
        """Read an added file, resuming an earlier attempt. Rebuild a document that is ready if the settings require it,
        or if figures or contexts are still to be written. With ``on_built``, the first pages can be asked before all
        are read; it is called each time that there are more. Faults of the file become the document's ``error``;
        `StoreBusy`, `StoreError` and `Cancelled` are raised."""
        info, show, began = self.info(doc_id), on_progress or ignore, time.monotonic()
        if info.status == "ready":
            stale = doc_id in self.stale()
            figures = info.figures.unfinished and self.models.describes_figures
            if stale or figures or (info.context.unfinished and self.models.writes_contexts):
                with self._reading.work(info, show, cancelled) as task:
                    task.refresh(ask=not stale)
            now = self.info(doc_id)
            return now if now.status == "failed" else replace(now, status="already")
        with self._reading.work(info, show, cancelled) as task:
            if self.info(doc_id).status == "ready":
                return self.info(doc_id)  # another process has just read it
            self.store.set_status(doc_id, "reading")
            # After a "no text" failure the OCR settings may have changed.
            afresh = info.error is not None and info.error.get("code") == "no_text"
            task.read(password=password, afresh=afresh, on_built=on_built)
            task.build(ask=True)
            pages = self.info(doc_id).pages
            show(Progress("done", pages, pages))
        info = self.info(doc_id)
        telemetry.took("groundwork.reading", time.monotonic() - began, status=info.status)
        telemetry.counted("groundwork.reading.pages", info.pages)
        return info

    def ingest_and_index(
        self,
        doc_id: str,
        *,
        password: str | None = None,
        on_progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> DocumentInfo:
        """Run `ingest` and `index` side by side: what is read can be asked, and is embedded while the rest is read.
        Raises what both raise."""
        done = threading.Event()

        def embed() -> None:
            with suppress(GroundworkError):  # it happens again in the last update, which raises it
                self.search.indexer.update(cancelled=done.is_set)

        beside = ThreadPoolExecutor(1, thread_name_prefix="embed")
        try:
            info = self.ingest(
                doc_id,
                password=password,
                on_progress=on_progress,
                cancelled=cancelled,
                on_built=lambda: beside.submit(embed),
            )
        finally:
            done.set()
            beside.shutdown(cancel_futures=True)
        if info.status != "failed":
            self.index(refresh=False, on_progress=on_progress, cancelled=cancelled)
        return info

    def waiting(self) -> list[DocumentInfo]:
        """Documents that wait to be read or indexed and that no process has at work, smallest first, in a library that
        several machines may use."""
        if not self.store.database.shared:
            return []
        waiting = [info for info in self.documents() if info.unready and not info.held]
        telemetry.stands("groundwork.documents.waiting", len(waiting), of=str(self.home))
        taken = self.store.at_work([info.doc_id for info in waiting])
        return sorted((info for info in waiting if info.doc_id not in taken), key=lambda info: info.bytes)

    def stale(self) -> list[str]:
        """Documents built with other settings, or by another version of Groundwork, than those in force."""
        return self._reading.stale()

    def ingest_path(
        self, path: Path, *, password: str | None = None, on_progress: OnProgress | None = None
    ) -> IngestReport:
        """Run `add` and `ingest` on one file; an error of either goes into the report, so that other files continue."""
        try:
            added = self.add(path)
            info = self.ingest(added.doc_id, password=password, on_progress=on_progress)
        except Cancelled:
            raise
        except GroundworkError as error:
            name = printable(Path(path.name))
            refused = DocumentInfo("", "", name, name, 0, "failed", 0.0, error=error.as_dict())
            return IngestReport(refused, printable(path))
        return IngestReport(info, printable(path), added.note, added.attached)

    def ingest_attached(self, report: IngestReport, *, on_progress: OnProgress | None = None) -> Iterator[IngestReport]:
        """Run `ingest` on each document that was added with a message."""
        for doc_id in report.attached:
            info = self.ingest(doc_id, on_progress=on_progress)
            yield IngestReport(info, report.path, f"attached to {report.info.name}")

    def remove(self, doc_id: str) -> None:
        """Remove a document from the library and the index permanently; `trash` offers removals with undo. Raises
        `UnknownDocument`, `StoreBusy`."""
        self.trash.remove(doc_id)
        self.settle()

    def settle(self) -> None:
        """Update the caches now after documents were added or removed; otherwise the next question does it."""
        # An unusable index is updated when it is next opened.
        with suppress(IndexEmpty, IndexMismatch):
            self.search.indexer.open()

    # Index

    def index(
        self,
        *,
        rebuild: bool = False,
        refresh: bool = True,
        on_progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> IndexReport:
        """Rebuild `stale` documents (unless ``refresh`` is False), embed new chunks and update the caches.

        ``rebuild`` rebuilds all documents, chunks and caches from SQLite and describes figures that have no description
        yet. Passages still to be situated (``context.situate``, off by default) come first, including those left by an
        earlier attempt. Documents cancelled in the app are embedded too, unless ``refresh``
        is False. Documents that cannot be rebuilt are ``failed`` in the report and affect no other.
        """
        show = on_progress or ignore
        if refresh:
            self.store.hold(None, False)
        stale = set(self.stale()) if refresh else set()
        situates, asks = self.settings.context.situate == "claude", refresh and self.models.writes_contexts
        usd, failed = 0.0, []
        for info in self.documents():
            missing = asks and info.context.unfinished
            if info.status == "ready" and (rebuild or info.doc_id in stale or missing):
                # An update of Groundwork must not spend money by itself; an explicit rebuild writes what is missing.
                with self._reading.work(info, show, cancelled) as task:
                    task.refresh(ask=rebuild, ask_context=situates or missing)
                now = self.info(info.doc_id)
                usd += now.context.usd + now.figures.usd - info.context.usd - info.figures.usd
                failed += [now] if now.status == "failed" else []
        report = self.search.indexer.update(
            rebuild=rebuild,
            on_progress=lambda done, total: show(Progress("embed", done, total)),
            cancelled=cancelled,
        )
        self.structures.keep(show, cancelled)
        return replace(report, usd=round(usd, 6), failed=tuple(failed))

    @property
    def structures(self) -> StructureBuilder:
        """Trees and graphs over the library: their state, building and forgetting."""
        from ragcore.pipelines.build_structures import StructureBuilder

        return StructureBuilder(self.search.structures, self.models, self.settings)

    # Retrieve

    def retrieve(
        self,
        query: str,
        *,
        doc_ids: Sequence[str] | None = None,
        pages: Sequence[tuple[int, int]] = (),
        kinds: Sequence[ChunkKind] = (),
        sections: Sequence[Section] = (),
    ) -> Retrieval:
        """Hits and segments for a question, in all documents or only in ``doc_ids``, ``pages``, ``kinds`` and
        ``sections`` (see `Scope`); without hits, the last of ``notes`` says so. Raises `EmptyQuestion`, `IndexEmpty`,
        `IndexMismatch`, `UnknownDocument`, `InputError` (no such pages, kinds or section); `ConfigError` and
        `ModelError` if a model has to plan the search and is unavailable."""
        scope = Scope(None if doc_ids is None else tuple(doc_ids), tuple(pages), tuple(kinds), (), tuple(sections))
        self.allowance.take("questions", 1)
        resolved = self.resolved(scope)
        return self.search.overview(query, resolved) or self.search.retrieve(query, resolved)

    def groups(self) -> tuple[DocumentGroup, ...]:
        """Documents that are alike, in groups: two and more of a kind, and within it on one subject, largest first;
        none if nothing is embedded."""
        return self.search.groups()

    def sentences_with(self, name: str) -> list[Sentence]:
        """Sentences and headings with a name, document after document; none if no document has it as a name."""
        return self.search.indexer.graph().sentences(name, Texts(self.store.chunks_by_id, self.document))

    def explore(
        self, question: str, scope: Scope = EVERYTHING, *, parts: Sequence[SubQuery] | None = None
    ) -> Exploration:
        """Scores of a question over every chunk in ``scope``, for searches under any settings without new embedding or
        reranking. ``parts`` replace the sub-queries beside the question. Raises what `retrieve` raises."""
        from ragcore.explore.explore import Exploration

        self.allowance.take("questions", 1)
        scope = self.search.checked(question, self.resolved(checked(scope)))
        return Exploration(self, question, scope, parts)

    # Answer

    def ask(
        self,
        question: str,
        *,
        doc_ids: Sequence[str] | None = None,
        pages: Sequence[tuple[int, int]] = (),
        kinds: Sequence[ChunkKind] = (),
        sections: Sequence[Section] = (),
        history: Sequence[Turn] = (),
        on_step: OnStep = ignore,
    ) -> AnswerRun:
        """Answer to one question; nothing is stored. Iterate the run for its events, or call ``run()``."""
        scope = Scope(None if doc_ids is None else tuple(doc_ids), tuple(pages), tuple(kinds), (), tuple(sections))
        self.allowance.take("questions", 1)
        return self._ask(question, scope, history, on_step)

    def _ask(self, question: str, scope: Scope, history: Sequence[Turn], on_step: OnStep = ignore) -> AnswerRun:
        from ragcore.pipelines.stream import AnswerRun

        return AnswerRun(question, partial(self._answers.stream, question, self.resolved(scope), history, on_step))

    @property
    def evaluation(self) -> Evaluation:
        """Sets of questions with known answers, and runs of configurations over them."""
        from ragcore.evaluate.runs import Evaluation

        return Evaluation(self)

    @property
    def _answers(self) -> AnswerPipeline:
        from ragcore.pipelines.answer import AnswerPipeline

        models = self.models.once()
        search = self.search.under(models, self.settings, self._reading)
        return AnswerPipeline(models, self.settings, search, self.store)

    def chat(
        self,
        conversation_id: str,
        question: str,
        scope: Scope | None = None,
        *,
        after: str | None = None,
        instead_of: str | None = None,
        on_step: OnStep = ignore,
    ) -> AnswerRun:
        """Next question of a conversation. The question is stored at once, its answer when it is finished, stopped or
        failed; its branch becomes the shown one. ``scope`` applies to this question; None takes the conversation's.

        ``after`` is the turn before it: the last one that the asker sees, "" if the asker sees none. None is the end of
        the shown branch, which another tab may have changed. ``instead_of`` makes it another version of a turn (edited,
        or asked again), with the same predecessor; nothing is deleted. Raises `EmptyQuestion`, `QuestionTooLong`,
        `QuestionUnclear`, `UnknownConversation`, `UnknownTurn`, and `QuestionTooShort` for the first question.
        """
        from ragcore.answer.chat import check, settle
        from ragcore.pipelines.stream import AnswerRun

        place = self.conversations.place(conversation_id, after=after, instead_of=instead_of)
        asked = self.resolved(self.conversations.scope(conversation_id) if scope is None else scope)
        check(question, place.history)  # an invalid question is not stored
        answers = self._answers
        if answers.rewriter() is None:
            settle(question, place.history, self.models.analyser)
        self.allowance.take("questions", 1)
        turn_id = self.conversations.add_turn(conversation_id, question, place)
        return AnswerRun(
            question,
            partial(answers.stream, question, asked, place.history, on_step, fresh=instead_of is not None),
            keep=partial(self.conversations.put_answer, turn_id),
            turn_id=turn_id,
        )

    def overview(self, doc_id: str) -> Overview:
        """Overview of a document: five of its sentences, each a citation, or its chapter headings; kept until the
        document is rebuilt. Raises `UnknownDocument`, `ModelError`."""
        from ragcore.suggest.overview import overview

        return overview(self, self.models.embedder, self.models.wording, doc_id)

    def starters(
        self,
        doc_ids: Sequence[str],
        go_on: Callable[[], bool] = lambda: True,
        tell: Callable[[Starter], None] = lambda _: None,
    ) -> tuple[Starter, ...]:
        """Starting questions about ``doc_ids`` in the order found, each answered offline as a check and passed to
        ``tell`` at once; kept until the library changes. If ``go_on()`` is false, the search ends early and keeps
        nothing. Raises what retrieval raises."""
        from ragcore.suggest.questions import starters

        scope = Scope(tuple(doc_ids))
        return starters(
            self, self.models.wording, self.overview, lambda asked: self._quoted(asked, scope, ()), doc_ids, go_on, tell
        )

    def suggest(self, conversation_id: str, turn_id: str, go_on: Callable[[], bool] = lambda: True) -> tuple[str, ...]:
        """Follow-up questions to an answer, from the text around its citations, each answered offline as a check; kept
        with the turn, so that the search runs once. If ``go_on()`` is false, the search ends early and keeps nothing.
        Raises `UnknownConversation`, and what retrieval raises."""
        from ragcore.suggest.questions import suggestions

        return suggestions(self, self.models.wording, self._quoted, conversation_id, turn_id, go_on)

    def _quoted(self, question: str, scope: Scope, history: Sequence[Turn]) -> Answer:
        """Answer in quotes, by the settings of suggestions."""
        from ragcore.suggest.questions import OFFLINE

        return self.with_settings(OFFLINE)._ask(question, scope, history).run()

    # Reports

    def fill(self, template: Template, *, doc_ids: Sequence[str] | None = None, focus: Focus = NO_FOCUS) -> ReportRun:
        """Sections of a report, filled from all documents or only from ``doc_ids``; nothing is stored. ``focus`` gives
        its company and year. Iterate the run for each finished section, or call ``run()``. Faults in writing a section
        go into the section; `IndexEmpty`, `IndexMismatch` and `UnknownDocument` are raised."""
        from ragcore.report.fill import ReportRun

        scope = Scope(None if doc_ids is None else tuple(doc_ids))
        filler, infos = self._filler(), self.documents()
        return ReportRun(
            template,
            lambda stop: filler.sections(template, scope, infos, stop, focus),
            self.models.writer_name,
            focus,
        )

    def _filler(self) -> SectionFiller:
        from ragcore.report.fill import SectionFiller

        search = self.search
        return SectionFiller(
            search.retrieve,
            self.document,
            search.terms,
            lambda words: search.sparse().mentions(words),
            self.models,
            self.settings,
        )

    @property
    def reports(self) -> ReportWorkspace:
        """Stored reports: outlines, sections with their versions, and the queue of sections to write."""
        from ragcore.index.reports import Reports
        from ragcore.report.workspace import ReportWorkspace

        store = Reports(self.store.database, self.owner)
        return ReportWorkspace(store, self._filler(), self.documents, self.models, self.settings)

    def write_report(self, report: Report, kind: ReportKind) -> bytes:
        """Report as a file of format ``kind``, each citation a note, with a list of gaps; ``annex`` is a PDF of the
        cited pages with the quoted words highlighted."""
        from ragcore.report.files import write

        return write(self, report, kind)

    @property
    def checks(self) -> Checks:
        """Drafts checked against the documents, sentence by sentence."""
        from ragcore.check.checks import Checks

        return Checks(self)

    @property
    def grids(self) -> Grids:
        """Documents by typed questions, cell by cell."""
        from ragcore.grid.grids import Grids

        return Grids(self)

    # Heavy parts

    def warm(self) -> None:
        """Load models, caches and writer for the first question."""
        self.models.embedder.embed_query("warm")
        if self.models.reranker is not None:
            self.models.reranker.score("warm", ["warm"])  # the first call allocates the session's memory
        # Creating a stream loads the writer's client and sends nothing.
        self.models.writer.stream(ModelRequest()).close()
        count_tokens("warm")
        stem("warm")
        sentence_spans("Warm.")
        self.settle()

    def try_out(self, changed: Collection[str]) -> None:
        """Load the models named by the settings ``changed`` and send each a minimal request. Raises the `ModelError` or
        `ConfigError` that a question would raise."""
        if "index.embedder" in changed:
            self.models.embedder.embed_query("ready")
        if "rerank.model" in changed and self.models.reranker is not None:
            self.models.reranker.score("ready", ["ready"])
        if "verify.entailment" in changed and self.models.entailment is not None:
            self.models.entailment.score("ready", ["ready"])
        if not self.models.capabilities.extractive and {"llm.model", "llm.claude_model", "llm.base_url"} & set(changed):
            trial(self.models)
