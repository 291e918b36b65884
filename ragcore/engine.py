"""START HERE. Each public method reads as the pipeline it runs:

    ingest    add → inspect → (unlock) → parse page by page → build document → chunk → store
    index     (rebuild documents) → embed what is new → sync the caches
    retrieve  check the index → vector ∥ BM25 → fuse → rerank → segments + neighbours
    ask       standalone question → retrieve → number the sources → refuse or write → cite → verify → Answer
    chat      ask, with the conversation's history and scope, stored

The stages (`ingest`, `index`, `retrieve`, `answer`, `providers`) never import one another; they meet here.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcore.config import Settings, default_home, load
from ragcore.errors import (
    Cancelled,
    EmptyFile,
    EmptyQuestion,
    FileMissing,
    FileTooLarge,
    GroundworkError,
    IndexEmpty,
    IndexMismatch,
    ParseError,
    UnknownDocument,
)
from ragcore.index.conversations import Conversation, ConversationInfo, Conversations
from ragcore.index.store import DocumentInfo, Store
from ragcore.models import Models
from ragcore.run import AnswerRun
from ragcore.tasks import Added as Added
from ragcore.tasks import IngestReport as IngestReport
from ragcore.tasks import IsCancelled, OnProgress, ignore, printable
from ragcore.tasks import Progress as Progress
from ragcore.text import sentence_spans
from ragcore.types import Answer, Chunk, Document, Retrieval, Turn
from ragcore.words import stem

if TYPE_CHECKING:
    from ragcore.answer.stream import AnswerStream
    from ragcore.index.indexer import Indexer, IndexReport

# Part of every document's recipe: raise it when parsing or chunking changes what they give for the same settings.
BUILD_VERSION = 1


class Engine:
    """A library under one home folder, and everything that can be asked of it. Safe for many threads; several
    processes may work on one home. Heavy parts load on first use (`warm` loads them ahead)."""

    def __init__(self, home: Path, settings: Settings, origins: dict[str, str]) -> None:
        self.home = home
        self.settings = settings
        self.origins = origins
        self.store = Store(home)
        self._conversations = Conversations(self.store.database)
        self.models = Models(settings, home / "cache")
        self._lock = threading.Lock()
        self._indexer: Indexer | None = None

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

    def add(self, data: bytes | Path, name: str = "") -> Added:
        """Keep a file by its hash and list it as new. Raises `FileMissing`, `EmptyFile`, `FileTooLarge`."""
        if isinstance(data, Path):
            name = name or data.name
            if not data.is_file():
                raise FileMissing(f"There is no file at {data}.")
            self._check_size(data.stat().st_size, name)
            data = data.read_bytes()
        # A file name is bytes to the system; what is no UTF-8 in it cannot be stored or shown.
        name = printable(Path(name)) if name else name
        self._check_size(len(data), name)
        doc_id, new = self.store.add_file(data, name)
        return Added(doc_id, "new" if new else "already")

    def _check_size(self, size: int, name: str) -> None:
        limit = self.settings.ingest.max_bytes
        if size == 0:
            raise EmptyFile(f"{name} is empty.")
        if size > limit:
            raise FileTooLarge(f"{name} has {size / 2**20:.0f} MiB; the limit is {limit / 2**20:.0f} MiB.")

    def ingest(
        self,
        doc_id: str,
        *,
        password: str | None = None,
        on_progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> IngestReport:
        """Read a file that was added, going on where an earlier attempt stopped; build one that was read before anew
        where the settings ask for it. What goes wrong with the file is in the report and in the library; `StoreBusy`,
        `StoreError` and `Cancelled` are raised."""
        info = self._info(doc_id)
        if info.status == "ready":
            if doc_id in self.stale():
                self._refresh(info, on_progress or ignore)
            return IngestReport.of(self._info(doc_id), "already")
        with self.store.document_lock(doc_id):
            started = time.monotonic()
            try:
                self.store.set_status(doc_id, "reading")
                self._read(doc_id, info.name, password, on_progress or ignore, cancelled)
            except (Cancelled, KeyboardInterrupt):
                self.store.set_status(doc_id, "new", seconds=time.monotonic() - started)
                raise
            except GroundworkError as error:
                self.store.set_status(doc_id, "failed", error=error.as_dict(), seconds=time.monotonic() - started)
                return IngestReport.of(self._info(doc_id), "failed")
            self.store.set_status(doc_id, "ready", seconds=time.monotonic() - started)
        return IngestReport.of(self._info(doc_id), "ready")

    def _read(
        self, doc_id: str, name: str, password: str | None, on_progress: OnProgress, cancelled: IsCancelled | None
    ) -> None:
        from ragcore.ingest import parse

        settings = self.settings.ingest
        path = self.store.file(doc_id)
        info = parse.inspect(path, settings=settings, password=password, name=name)
        if info.unlocked:
            target = self.store.unlocked_path(doc_id)
            parse.unlock(path, password or "", target, settings, name=name)
            path = target
        self.store.set_info(doc_id, json.dumps(asdict(info)), info.pages, info.title)

        done = self.store.pages_done(doc_id)
        missing = [page for page in range(1, info.pages + 1) if page not in done]
        on_progress(Progress("read", len(done), info.pages))
        for layout in parse.parse_pages(path, missing, settings=settings, cancelled=cancelled, name=name):
            self.store.put_page(doc_id, layout.number, layout.to_bytes())
            done.add(layout.number)
            on_progress(Progress("read", len(done), info.pages))
            if cancelled is not None and cancelled():
                raise Cancelled(f"Reading {name} was stopped at page {len(done)} of {info.pages}.")
        on_progress(Progress("build", info.pages, info.pages))
        self._build(doc_id, name)
        on_progress(Progress("done", info.pages, info.pages))

    def _build(self, doc_id: str, name: str) -> None:
        """Document and chunks from the pages as read. Pure, so a change of settings needs no second parse."""
        from pydantic import TypeAdapter

        from ragcore.ingest.chunk import chunk_document
        from ragcore.ingest.document import build_document
        from ragcore.ingest.layout import FileInfo, PageLayout

        info = TypeAdapter(FileInfo).validate_json(self.store.info(doc_id) or "")
        try:
            layouts = [PageLayout.from_bytes(data) for data in self.store.page_layouts(doc_id)]
        except ValueError as error:
            raise ParseError(
                f"The pages of {name} were read by another version of Groundwork.",
                hint="Remove the document and add it again.",
                retryable=False,
            ) from error
        sha256 = self._info(doc_id).sha256
        document = build_document(doc_id, sha256, name, info, layouts, self.settings)
        chunks = chunk_document(document, self.settings.chunk)
        self.store.put_document(document, chunks, recipe=self._recipe)

    def stale(self) -> list[str]:
        """Documents that were built by other settings, or another version of Groundwork, than those in force."""
        return [doc_id for doc_id, recipe in self.store.recipes().items() if recipe != self._recipe]

    def _refresh(self, info: DocumentInfo, on_progress: OnProgress) -> None:
        """Build a document anew from its pages as read."""
        on_progress(Progress("build", info.pages, info.pages))
        with self.store.document_lock(info.doc_id):
            self._build(info.doc_id, info.name)

    @cached_property
    def _recipe(self) -> str:
        parts = {
            "version": BUILD_VERSION,
            "noise": self.settings.noise.model_dump(),
            "chunk": self.settings.chunk.model_dump(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]

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
        return replace(report, path=printable(path))

    def pdf_paths(self, paths: Sequence[Path]) -> Iterator[Path]:
        """Files as given, and every ``*.pdf`` below a folder, in order of name."""
        for path in paths:
            if path.is_dir():
                yield from sorted(item for item in path.rglob("*") if item.suffix.lower() == ".pdf" and item.is_file())
            else:
                yield path

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
        caches up to date. ``rebuild`` makes all documents, chunks and caches anew from what is in SQLite."""
        show = on_progress or ignore
        stale = set(self.stale()) if refresh else set()
        for info in self.documents():
            if info.status == "ready" and (rebuild or info.doc_id in stale):
                self._refresh(info, show)
        return self.indexer.update(
            rebuild=rebuild,
            on_progress=lambda done, total: show(Progress("embed", done, total)),
            cancelled=cancelled,
        )

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
    ) -> Retrieval:
        """Hits and segments for a question, in all documents or only ``doc_ids``. Raises `EmptyQuestion`,
        `IndexEmpty`, `IndexMismatch`, `UnknownDocument`."""
        from ragcore.retrieve.hybrid import HybridRetriever

        if not query.strip():
            raise EmptyQuestion("There is no question.")
        for doc_id in doc_ids or ():
            self.store.document(doc_id)
        self._check_recipes()
        vectors, sparse = self.indexer.open()
        retriever = HybridRetriever(
            self.models.embedder,
            vectors,
            sparse,
            self.models.reranker,
            self.store.chunks_by_id,
            self.settings,
            mode=mode,
        )
        return retriever.retrieve(
            query, top_k=self.settings.retrieve.top_k if top_k is None else top_k, doc_ids=doc_ids
        )

    # Answer

    def ask(self, question: str, *, doc_ids: Sequence[str] | None = None, history: Sequence[Turn] = ()) -> AnswerRun:
        """An answer to one question; nothing is stored. Iterate the run for its events, or call ``run()``."""
        return AnswerRun(question, lambda: self._answer(question, doc_ids, history))

    def _answer(self, question: str, doc_ids: Sequence[str] | None, history: Sequence[Turn]) -> AnswerStream:
        from ragcore.answer.chat import standalone
        from ragcore.answer.sources import build_sources
        from ragcore.answer.stream import AnswerStream

        query = standalone(question, history)
        retrieval = self.retrieve(query, doc_ids=doc_ids)
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
        )

    def chat(self, conversation_id: str, question: str, doc_ids: Sequence[str] | None = None) -> AnswerRun:
        """The next question of a conversation. The question is stored at once and its answer when it ends, whether
        finished, stopped or failed. ``doc_ids`` narrows this question; None keeps the conversation's scope."""
        if not question.strip():
            raise EmptyQuestion("There is no question.")
        conversation = self.conversation(conversation_id)
        scope = doc_ids if doc_ids is not None else conversation.doc_ids
        history = [Turn(turn.question, turn.answer.text) for turn in conversation.turns if turn.answer is not None]
        turn_id = self._conversations.add_turn(conversation_id, question)

        def keep(answer: Answer) -> None:
            self._conversations.put_answer(turn_id, answer)

        return AnswerRun(question, lambda: self._answer(question, scope, history), keep=keep, turn_id=turn_id)

    def conversations(self) -> list[ConversationInfo]:
        """Conversations with at least one question, the last used first."""
        return self._conversations.all()

    def conversation(self, conversation_id: str) -> Conversation:
        return self._conversations.get(conversation_id)

    def new_conversation(self, doc_ids: Sequence[str] | None = None) -> str:
        return self._conversations.new(doc_ids)

    def set_scope(self, conversation_id: str, doc_ids: Sequence[str] | None) -> None:
        self._conversations.set_scope(conversation_id, doc_ids)

    def rename_conversation(self, conversation_id: str, title: str) -> None:
        self._conversations.rename(conversation_id, title)

    def delete_conversation(self, conversation_id: str) -> None:
        self._conversations.delete(conversation_id)

    # Heavy parts

    def warm(self) -> None:
        """Load what the first question needs: models, caches, writer."""
        self.models.embedder.embed_query("warm")
        if self.models.reranker is not None:
            self.models.reranker.score("warm", ["up"])
        _ = self.models.writer
        stem("warm")
        sentence_spans("Warm.")
        with suppress(IndexEmpty, IndexMismatch):
            self.indexer.open()

    def writer_name(self) -> str:
        """``offline`` or the model that would answer now."""
        return self.models.writer_name

    @property
    def indexer(self) -> Indexer:
        from ragcore.index.indexer import Indexer

        with self._lock:
            if self._indexer is None:
                self._indexer = Indexer(self.store, self.models.embedder, self.settings.index, self.models.vector_store)
            return self._indexer
