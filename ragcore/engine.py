"""START HERE. Each public method reads as the pipeline it runs:

    ingest    add → read, page by page → build: document → (describe figures) → chunk → store     (`reading`)
    index     (build documents anew) → embed what is new → sync the caches
    retrieve  check the index → (asked before?) → documents named → vector ∥ BM25 → fuse → rerank → passages
    ask       standalone question → retrieve → number the sources → refuse or write → cite → verify → Answer
    chat      ask, with the conversation's history and scope, stored

The stages (`ingest`, `index`, `retrieve`, `answer`, `providers`) never import one another; they meet here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragcore import intake
from ragcore.config import Settings, default_home, load
from ragcore.errors import (
    Cancelled,
    EmptyQuestion,
    GroundworkError,
    IndexEmpty,
    IndexMismatch,
    UnknownDocument,
)
from ragcore.finding import Finding
from ragcore.index.contexts import Contexts
from ragcore.index.conversations import Conversation, ConversationInfo, Conversations
from ragcore.index.descriptions import Descriptions
from ragcore.index.store import DocumentInfo, Store
from ragcore.models import Models
from ragcore.reading import Reading
from ragcore.run import AnswerRun
from ragcore.scopes import checked, kinds_in_words, pages_in_words
from ragcore.stop import Stop
from ragcore.tasks import Added as Added
from ragcore.tasks import IngestReport as IngestReport
from ragcore.tasks import IsCancelled, OnProgress, ignore, printable
from ragcore.tasks import Progress as Progress
from ragcore.text import sentence_spans
from ragcore.types import (
    EVERYTHING,
    Answer,
    Box,
    Chunk,
    ChunkKind,
    Document,
    OnStep,
    Retrieval,
    Scope,
    Turn,
    unheard,
)
from ragcore.words import stem

if TYPE_CHECKING:
    from ragcore.answer.stream import AnswerStream
    from ragcore.context.estimate import Estimate
    from ragcore.index.indexer import Indexer, IndexReport


class Engine:
    """A library under one home folder, and everything that can be asked of it. Safe for many threads; several
    processes may work on one home. Heavy parts load on first use (`warm` loads them ahead)."""

    def __init__(self, home: Path, settings: Settings, origins: dict[str, str]) -> None:
        self.home = home
        self.settings = settings
        self.origins = origins
        self.store = Store(home)
        self.descriptions = Descriptions(self.store.database)
        self._conversations = Conversations(self.store.database)
        self.models = Models(settings, home / "cache")
        self.contexts = Contexts(self.store.database)
        self._reading = Reading(self.store, self.descriptions, self.contexts, self.models, settings)
        self._lock = threading.Lock()
        self._indexer: Indexer | None = None
        self._finding = Finding(home, self.store, self.models, settings)

    @classmethod
    def open(
        cls, home: Path | None = None, config: Path | None = None, overrides: dict[str, Any] | None = None
    ) -> Engine:
        """The library at ``home`` (default: ``GROUNDWORK_HOME``, else the platform's data folder) with the settings in
        force there. Raises `ConfigError`, `StoreError`."""
        home = home or default_home()
        settings, origins = load(file=config, home=home, overrides=overrides)
        return cls(home, settings, origins)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.store.database.close()

    # Ingest

    def add(self, data: bytes | Path, name: str = "", *, pdf: bytes | None = None) -> Added:
        """Keep a PDF, or an ADE JSON (with the ``pdf`` that came with it, else the one of its name beside it or in the
        library), by its hash and list it as new. Raises `FileMissing`, `EmptyFile`, `FileTooLarge`, `BadAdeJson`."""
        return intake.add(self.store, self.settings.ingest, data, name, pdf)

    def ingest(
        self,
        doc_id: str,
        *,
        password: str | None = None,
        on_progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> IngestReport:
        """Read a file that was added, going on where an earlier attempt stopped; build one that was read before anew
        where the settings ask for it, or figures are still to be described. What goes wrong with the file is in the
        report and in the library; `StoreBusy`, `StoreError` and `Cancelled` are raised."""
        info = self._info(doc_id)
        if info.status == "ready":
            if doc_id in self.stale():
                self._refresh(info, on_progress or ignore, cancelled)
            elif (info.figures.unfinished and self.describes_figures()) or (
                info.context.unfinished and self.writes_contexts()
            ):
                self._refresh(info, on_progress or ignore, cancelled, ask=True)
            return IngestReport.of(self._info(doc_id), "already")
        show = on_progress or ignore
        with self.store.document_lock(doc_id):
            started = time.monotonic()
            try:
                self.store.set_status(doc_id, "reading")
                # Where nothing could be read, OCR may be set otherwise by now.
                afresh = info.error is not None and info.error.get("code") == "no_text"
                self._reading.read(
                    doc_id, info.name, password=password, afresh=afresh, on_progress=show, cancelled=cancelled
                )
                self._reading.build(doc_id, info.name, ask=True, on_progress=show, cancelled=cancelled)
                pages = self._info(doc_id).pages
                show(Progress("done", pages, pages))
            except (Cancelled, KeyboardInterrupt):
                self.store.set_status(doc_id, "new", seconds=time.monotonic() - started)
                raise
            except GroundworkError as error:
                self.store.set_status(doc_id, "failed", error=error.as_dict(), seconds=time.monotonic() - started)
                return IngestReport.of(self._info(doc_id), "failed")
            self.store.set_status(doc_id, "ready", seconds=time.monotonic() - started)
        return IngestReport.of(self._info(doc_id), "ready")

    def stale(self) -> list[str]:
        """Documents that were built by other settings, or another version of Groundwork, than those in force."""
        return self._reading.stale()

    def _refresh(
        self,
        info: DocumentInfo,
        on_progress: OnProgress,
        cancelled: IsCancelled | None = None,
        *,
        ask: bool = False,
        ask_context: bool = False,
    ) -> None:
        with self.store.document_lock(info.doc_id):
            self._reading.refresh(
                info.doc_id,
                info.name,
                ask=ask,
                ask_context=ask_context,
                on_progress=on_progress,
                cancelled=cancelled,
            )

    def ingest_path(
        self, path: Path, *, password: str | None = None, on_progress: OnProgress | None = None
    ) -> IngestReport:
        """`add` and `ingest` one file; an error of either is in the report, so that others go on unharmed."""
        try:
            added = self.add(path)
            report = self.ingest(added.doc_id, password=password, on_progress=on_progress)
        except Cancelled:
            raise
        except GroundworkError as error:
            return IngestReport.refused(path, error)
        return replace(report, path=printable(path), note=added.note)

    def pdf_paths(self, paths: Sequence[Path]) -> Iterator[Path]:
        """Files as given, and every PDF and ADE JSON below a folder, in order of name (the folder itself where there is
        none, which `ingest_path` reports); a PDF whose ADE JSON is among them comes with that."""
        return intake.files_to_read(paths, self.settings.ingest)

    # The library

    def documents(self) -> list[DocumentInfo]:
        """Every document, in the order in which it came."""
        return self.store.documents(self.settings.index.embedder)

    def document(self, doc_id: str) -> Document:
        return self.store.document(doc_id)

    def chunks(self, doc_id: str) -> list[Chunk]:
        return self.store.chunks(doc_id)

    def file(self, doc_id: str) -> Path:
        """The readable PDF (unlocked where it was encrypted)."""
        return self.store.file(doc_id)

    def page_picture(self, doc_id: str, page: int) -> bytes:
        """A PNG of a page with what was read drawn over it: elements in reading order, cells of tables, noise."""
        from ragcore.ingest.crops import Crops
        from ragcore.ingest.picture import PICTURE_DPI, PICTURE_PIXELS, draw_page

        document = self.document(doc_id)
        sheet = document.pages[page - 1]
        with Crops(self.file(doc_id), self.settings.ingest, document.name) as crops:
            crop = crops.draw(Box(page, 0, 0, sheet.width, sheet.height), dpi=PICTURE_DPI, max_pixels=PICTURE_PIXELS)
        return draw_page(crop.png, document, page)

    def remove(self, doc_id: str) -> None:
        """Remove a document from the library and the index. Raises `UnknownDocument`, `StoreBusy`."""
        self.store.remove(doc_id)
        # Brings the caches up to date at once; an index that cannot serve now forgets it when it is next opened.
        with suppress(IndexEmpty, IndexMismatch):
            self.indexer.open()

    def _info(self, doc_id: str) -> DocumentInfo:
        found = self.store.documents(self.settings.index.embedder, doc_id)
        if not found:
            raise UnknownDocument(f"There is no document {doc_id} in this library.")
        return found[0]

    # Index

    def index(
        self,
        *,
        rebuild: bool = False,
        refresh: bool = True,
        on_progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> IndexReport:
        """Build the documents anew that are `stale` (unless ``refresh`` is False), embed what is new and bring the
        caches up to date. ``rebuild`` makes all documents, chunks and caches anew from what is in SQLite, and has the
        figures described that are not yet. Passages that are to be situated (``context.situate``, off by default) and
        are not yet are so first, as `estimate` tells, and so is what an earlier attempt left."""
        show = on_progress or ignore
        stale = set(self.stale()) if refresh else set()
        situates, asks = self.settings.context.situate == "claude", refresh and self.writes_contexts()
        usd = 0.0
        for info in self.documents():
            missing = asks and info.context.unfinished
            if info.status == "ready" and (rebuild or info.doc_id in stale or missing):
                # An update of Groundwork must not spend money by itself; who asks for a rebuild gets what is missing.
                self._refresh(info, show, cancelled, ask=rebuild, ask_context=situates or missing)
                now = self._info(info.doc_id)
                usd += now.context.usd + now.figures.usd - info.context.usd - info.figures.usd
        report = self.indexer.update(
            rebuild=rebuild,
            on_progress=lambda done, total: show(Progress("embed", done, total)),
            cancelled=cancelled,
        )
        return replace(report, usd=round(usd, 6))

    def estimate(self) -> list[Estimate]:
        """What the summaries and situating sentences will cost that the settings ask of Claude and that are not
        written yet, by document; nothing is sent. Without a key too, for ``llm.claude_model``."""
        return [self._reading.estimate(info.doc_id, info.name) for info in self.documents() if info.status == "ready"]

    def _check_recipes(self) -> None:
        stale = self.stale()
        if stale:
            raise IndexMismatch(
                f"{len(stale)} {'document was' if len(stale) == 1 else 'documents were'} built by other settings, or "
                "another version, than those in force.",
                hint="The Library brings them up to date when the app is started; on the command line "
                "`ragcore index` does.",
            )

    # Retrieve

    def retrieve(
        self,
        query: str,
        *,
        mode: str | None = None,
        top_k: int | None = None,
        doc_ids: Sequence[str] | None = None,
        pages: Sequence[tuple[int, int]] = (),
        kinds: Sequence[ChunkKind] = (),
        decompose: Literal["auto", "rules", "model", "off"] | None = None,
        gaps: bool | None = None,
        on_step: OnStep = unheard,
        stop: Stop | None = None,
    ) -> Retrieval:
        """Hits and segments for a question, in all documents or only in ``doc_ids``, ``pages`` and ``kinds`` (see
        `Scope`); where there are no hits the last of ``notes`` says so. ``decompose`` and ``gaps`` stand for those of
        ``[agentic]``; ``on_step`` is told what is about to be done, and ``stop`` ends calls to a model. Raises
        `EmptyQuestion`, `IndexEmpty`, `IndexMismatch`, `UnknownDocument`, `InputError` (no such pages or kinds);
        `ConfigError` and `ModelError` where a model is to plan the search and cannot be had."""

        if not query.strip():
            raise EmptyQuestion("There is no question.")
        scope = checked(Scope(None if doc_ids is None else tuple(doc_ids), tuple(pages), tuple(kinds)))
        self.store.require(scope.doc_ids or ())
        self._check_recipes()
        changed = {"decompose": decompose, "gaps": gaps}
        agentic = self.settings.agentic.model_copy(update={k: v for k, v in changed.items() if v is not None})
        settings = self.settings.model_copy(update={"agentic": agentic})
        retriever = self._finding.retriever(self.indexer, settings, mode=mode, on_step=on_step, stop=stop)
        top_k = self.settings.retrieve.top_k if top_k is None else top_k
        found = retriever.retrieve(query, top_k=top_k, scope=scope)
        return found if found.hits else replace(found, notes=(*found.notes, self._nothing_found(scope)))

    def _nothing_found(self, scope: Scope) -> str:
        pages, kinds = pages_in_words(scope), kinds_in_words(scope)
        words = "Nothing found" + (f" on {pages}" if pages else "") + (f" among {kinds}" if kinds else "")
        chosen = [info for info in self.documents() if scope.doc_ids is None or info.doc_id in scope.doc_ids]
        last = max((info.pages for info in chosen), default=0)
        if not (pages and last) or any(first <= last for first, _ in scope.pages):
            return f"{words}."
        longest = "the document" if len(chosen) == 1 else "the longest document"
        return f"{words}: {longest} has {'1 page' if last == 1 else f'{last} pages'}."

    # Answer

    def ask(
        self,
        question: str,
        *,
        doc_ids: Sequence[str] | None = None,
        pages: Sequence[tuple[int, int]] = (),
        kinds: Sequence[ChunkKind] = (),
        history: Sequence[Turn] = (),
        on_step: OnStep = unheard,
    ) -> AnswerRun:
        """An answer to one question; nothing is stored. Iterate the run for its events, or call ``run()``."""
        scope = Scope(None if doc_ids is None else tuple(doc_ids), tuple(pages), tuple(kinds))
        return AnswerRun(question, lambda stop: self._answer(question, scope, history, on_step, stop))

    def _answer(
        self, question: str, scope: Scope, history: Sequence[Turn], on_step: OnStep, stop: Stop
    ) -> AnswerStream:
        from ragcore.answer.chat import standalone
        from ragcore.answer.sources import build_sources
        from ragcore.answer.stream import AnswerStream
        from ragcore.answer.trace import trace

        query = standalone(question, history)
        retrieval = self.retrieve(
            query, doc_ids=scope.doc_ids, pages=scope.pages, kinds=scope.kinds, on_step=on_step, stop=stop
        )
        sources = build_sources(retrieval, self.document, self.settings.answer)
        return AnswerStream(
            question=question,
            query=query,
            retrieval=retrieval,
            sources=sources,
            history=tuple(history),
            document=self.document,
            llm=self.models.writer,
            settings=self.settings,
            reranker=self.models.reranker,
            trace=trace(retrieval, sources, self.document, self.store.titles()),
        )

    def chat(
        self, conversation_id: str, question: str, scope: Scope | None = None, *, on_step: OnStep = unheard
    ) -> AnswerRun:
        """The next question of a conversation. The question is stored at once and its answer when it ends, whether
        finished, stopped or failed. ``scope`` is that of this question; None takes the conversation's."""
        if not question.strip():
            raise EmptyQuestion("There is no question.")
        conversation = self.conversation(conversation_id)
        asked = conversation.scope if scope is None else scope
        history = [Turn(turn.question, turn.answer.text) for turn in conversation.turns if turn.answer is not None]
        turn_id = self._conversations.add_turn(conversation_id, question)

        def keep(answer: Answer) -> None:
            self._conversations.put_answer(turn_id, answer)

        return AnswerRun(
            question,
            lambda stop: self._answer(question, asked, history, on_step, stop),
            keep=keep,
            turn_id=turn_id,
        )

    def conversations(self) -> list[ConversationInfo]:
        """Conversations with at least one question, the last used first."""
        return self._conversations.all()

    def conversation(self, conversation_id: str) -> Conversation:
        return self._conversations.get(conversation_id)

    def new_conversation(self, scope: Scope = EVERYTHING) -> str:
        return self._conversations.new(scope)

    def scope(self, conversation_id: str) -> Scope:
        """What the next questions of a conversation search. Raises `UnknownConversation`."""
        return self._conversations.scope(conversation_id)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        """What the next questions of a conversation search."""
        self._conversations.set_scope(conversation_id, scope)

    def rename_conversation(self, conversation_id: str, title: str) -> None:
        self._conversations.rename(conversation_id, title)

    def delete_conversation(self, conversation_id: str) -> None:
        self._conversations.delete(conversation_id)

    # Heavy parts

    def warm(self) -> None:
        """Load what the first question needs: models, caches, writer."""
        self.models.embedder.embed_query("warm")
        if self.models.reranker is not None:
            self.models.pace.of(self.models.reranker)
        _ = self.models.writer
        stem("warm")
        sentence_spans("Warm.")
        with suppress(IndexEmpty, IndexMismatch):
            self.indexer.open()

    def writer_name(self) -> str:
        """``offline`` or the model that would answer now."""
        return self.models.writer_name

    def describes_figures(self) -> bool:
        """Whether pictures of figures go to Claude when a document is read."""
        return self.settings.figures.describe == "auto" and self.models.writer_name.startswith("claude")

    def writes_contexts(self) -> bool:
        """Whether text of documents goes to Claude for summaries or situating sentences when a document is read."""
        chosen = self.settings.context
        summaries = chosen.summaries == "auto" and (chosen.document_summary or chosen.section_summary)
        return (summaries or chosen.situate == "claude") and self.models.writer_name.startswith("claude")

    @property
    def indexer(self) -> Indexer:
        from ragcore.index.indexer import Indexer

        with self._lock:
            if self._indexer is None:
                self._indexer = Indexer(self.store, self.models.embedder, self.settings.index, self.models.vector_store)
            return self._indexer
