"""From a kept file to a stored document, in two steps that `Engine.ingest` runs one after the other:

    read    inspect → (unlock) → pages, each checkpointed in SQLite as soon as it is read
    build   pages → document → (describe figures) → chunks → (contexts) → store

Building is pure but for what models write, so a change of settings needs no second reading.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.errors import Cancelled, ParseError
from ragcore.ingest.ocr import serves, waits_for
from ragcore.pipelines.add_files import pdf_name
from ragcore.progress import Progress, ignore

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.index.contexts import Contexts
    from ragcore.index.descriptions import Descriptions
    from ragcore.index.store import Store
    from ragcore.ingest.layout import FileInfo, PageLayout
    from ragcore.progress import IsCancelled, OnProgress
    from ragcore.protocols import LLM
    from ragcore.providers.registry import Models
    from ragcore.types import Box, Chunk, Document, ModelReport
    from ragcore.types.library import Estimate

    # The pages with these numbers, in any order.
    Pages = Callable[[Sequence[int]], Iterator[PageLayout]]

# Part of every document's recipe: raise it when building or chunking changes what they give for the same settings.
BUILD_VERSION = 3


# Settings of [context] that decide what stands in front of a chunk; the others only how it is asked for.
_IN_CHUNKS = {"document_summary", "summaries", "situate"}


class Reading:
    """Reads and builds the documents of one library. The caller holds the document's lock."""

    def __init__(
        self, store: Store, descriptions: Descriptions, contexts: Contexts, models: Models, settings: Settings
    ) -> None:
        self._store = store
        self._descriptions = descriptions
        self._contexts = contexts
        self._models = models
        self._settings = settings

    def read(
        self,
        doc_id: str,
        name: str,
        *,
        password: str | None,
        afresh: bool,
        on_progress: OnProgress,
        cancelled: IsCancelled | None,
    ) -> None:
        """Read the pages that have no checkpoint that can be used, could not be read or wait for OCR that is on by now,
        or all of them ``afresh``. Raises what is wrong with the file, and `Cancelled`."""
        if self._store.ade_file(doc_id) is None:
            info, pages = self._open_pdf(doc_id, name, password, cancelled)
        else:
            info, pages = self._open_ade(doc_id, name, password, cancelled)
        self._store.set_info(doc_id, json.dumps(asdict(info)), info.pages)
        before = [] if afresh else self._pages(doc_id)
        done = {page.number for page in before if not page.unread} - self._waiting(before)
        on_progress(Progress("read", len(done), info.pages))
        for layout in pages([page for page in range(1, info.pages + 1) if page not in done]):
            self._store.put_page(doc_id, layout.number, layout.to_bytes())
            done.add(layout.number)
            on_progress(Progress("read", len(done), info.pages))
            if cancelled is not None and cancelled():
                raise Cancelled(f"Reading {name} was stopped at page {len(done)} of {info.pages}.")

    def _waiting(self, pages: Sequence[PageLayout]) -> set[int]:
        """Pages that were read without OCR and, as it is set now, would be read by it."""
        mode = self._settings.ocr.mode
        return {page.number for page in pages if serves(mode, waits_for(page.degraded))}

    def _open_pdf(
        self, doc_id: str, name: str, password: str | None, cancelled: IsCancelled | None
    ) -> tuple[FileInfo, Pages]:
        from ragcore.ingest import parse

        info, path = self._unlocked(doc_id, name, password, cancelled)
        settings, ocr = self._settings.ingest, self._settings.ocr

        def pages(numbers: Sequence[int]) -> Iterator[PageLayout]:
            return parse.parse_pages(path, numbers, settings=settings, ocr=ocr, cancelled=cancelled, name=name)

        return info, pages

    def _open_ade(
        self, doc_id: str, name: str, password: str | None, cancelled: IsCancelled | None
    ) -> tuple[FileInfo, Pages]:
        from ragcore.ingest.ade.pages import open_ade

        source = self._store.ade_file(doc_id)
        assert source is not None
        ade = open_ade(source, name, self._settings.ingest)
        path: Path | None = None
        if self._store.original(doc_id).is_file():
            info, path = self._unlocked(doc_id, pdf_name(name), password, cancelled)
        else:
            info = ade.draw(self._store.drawn_path(doc_id))

        def pages(numbers: Sequence[int]) -> Iterator[PageLayout]:
            yield from ade.pages(path, info, numbers, cancelled=cancelled)
            ade.check(self._store.page_layouts(doc_id))

        return info, pages

    def _unlocked(
        self, doc_id: str, name: str, password: str | None, cancelled: IsCancelled | None
    ) -> tuple[FileInfo, Path]:
        """What the document's PDF says about itself, and where it can be read without a password."""
        from ragcore.ingest import parse

        settings, path = self._settings.ingest, self._store.file(doc_id)
        info = parse.inspect(path, settings=settings, password=password, cancelled=cancelled, name=name)
        if info.unlocked:
            target = self._store.unlocked_path(doc_id)
            parse.unlock(path, password or "", target, settings, name=name)
            path = target
        return info, path

    def build(
        self, doc_id: str, name: str, *, ask: bool, on_progress: OnProgress, cancelled: IsCancelled | None = None
    ) -> None:
        """Document and chunks from the pages as read. ``ask``: figures without a description get one, and chunks their
        contexts, where Claude is the model in force; else only what was written before is kept."""
        self._build(doc_id, name, self._pages(doc_id), ask, ask, on_progress, cancelled)

    def refresh(
        self,
        doc_id: str,
        name: str,
        *,
        ask: bool,
        ask_context: bool = False,
        on_progress: OnProgress,
        cancelled: IsCancelled | None = None,
    ) -> None:
        """`build` once more; pages that OCR may read only now, or whose checkpoints cannot be used, are read first.
        ``ask_context``: contexts are asked for even where ``ask`` is off."""
        pages = self._pages(doc_id)
        if self._waiting(pages) or len(pages) < self._info(doc_id).pages:
            self.read(doc_id, name, password=None, afresh=False, on_progress=on_progress, cancelled=cancelled)
            pages = self._pages(doc_id)
        self._build(doc_id, name, pages, ask, ask or ask_context, on_progress, cancelled)

    def _build(
        self,
        doc_id: str,
        name: str,
        pages: Sequence[PageLayout],
        ask: bool,
        ask_context: bool,
        on_progress: OnProgress,
        cancelled: IsCancelled | None,
    ) -> None:
        from ragcore.context.write import add_context

        # An ADE JSON without its PDF has no pictures to show to anyone: its pages are drawn from its words.
        ask = ask and (self._store.ade_file(doc_id) is None or self._store.original(doc_id).is_file())
        describer = (lambda: self._models.describer) if ask else None
        document, chunks, figures = self._made(doc_id, name, pages, describer, on_progress, cancelled)
        chunks, context = add_context(
            document,
            chunks,
            writer=(lambda: self._models.context_writer) if ask_context else None,
            cache=self._contexts,
            settings=self._settings,
            on_progress=lambda done, total: on_progress(Progress("context", done, total)),
            cancelled=cancelled,
        )
        # What pages wait for is part of the recipe, so that a change of OCR concerns only documents that have some.
        needs = sorted({waits_for(page.degraded) for page in pages} - {""})
        recipe = "+".join([self._recipe, *needs])
        self._store.put_document(document, chunks, recipe=recipe, figures=figures, context=context)

    def _made(
        self,
        doc_id: str,
        name: str,
        pages: Sequence[PageLayout],
        describer: Callable[[], LLM | None] | None,
        on_progress: OnProgress,
        cancelled: IsCancelled | None,
    ) -> tuple[Document, tuple[Chunk, ...], ModelReport]:
        """Document and chunks, their contexts left out; nothing is stored but descriptions of figures."""
        from ragcore.ingest.chunk import chunk_document
        from ragcore.ingest.document import build_document
        from ragcore.ingest.figures import describe_figures

        info = self._info(doc_id)
        on_progress(Progress("build", info.pages, info.pages))
        sha256 = self._store.sha256(doc_id)

        def build(descriptions: Mapping[Box, str] | None = None) -> Document:
            return build_document(doc_id, sha256, name, info, pages, self._settings, descriptions or {})

        document = build()
        descriptions, figures = describe_figures(
            document,
            self._store.file(doc_id),
            describer=describer,
            cache=self._descriptions,
            settings=self._settings,
            on_progress=lambda done, total: on_progress(Progress("describe", done, total)),
            cancelled=cancelled,
        )
        document = build(descriptions) if descriptions else document
        return document, chunk_document(document, self._settings.chunk), figures

    def estimate(self, doc_id: str, name: str) -> Estimate:
        """What the contexts of a document that was read will cost; nothing is sent and nothing stored."""
        from ragcore.context.write import estimate

        if doc_id in self.stale():
            pages = self._pages(doc_id)
            if len(pages) < self._info(doc_id).pages:
                raise ParseError(f"Some pages of {name} must be read again first.", hint="Run `groundwork index`.")
            document, chunks, _figures = self._made(doc_id, name, pages, None, ignore, None)
        else:
            document, chunks = self._store.document(doc_id), tuple(self._store.chunks(doc_id))
        model = self._models.context_model
        return estimate(document, chunks, model=model, cache=self._contexts, settings=self._settings)

    def _pages(self, doc_id: str) -> list[PageLayout]:
        """The pages as read, without those whose checkpoints are damaged or of another version: they are to be read
        again."""
        from ragcore.ingest.layout import PageLayout

        pages = []
        for data in self._store.page_layouts(doc_id):
            with suppress(ValueError):
                pages.append(PageLayout.from_bytes(data))
        return pages

    def _info(self, doc_id: str) -> FileInfo:
        from pydantic import TypeAdapter

        from ragcore.ingest.layout import FileInfo

        return TypeAdapter(FileInfo).validate_json(self._store.info(doc_id) or "")

    def stale(self) -> list[str]:
        """Documents that were built by other settings, or another version of Groundwork, than those in force, or have
        pages that wait for OCR that is on by now."""
        mode, found = self._settings.ocr.mode, []
        for doc_id, recipe in self._store.recipes().items():
            own, *needs = recipe.split("+")
            if own != self._recipe or any(serves(mode, need) for need in needs):
                found.append(doc_id)
        return found

    @cached_property
    def _recipe(self) -> str:
        parts = {
            "version": BUILD_VERSION,
            "noise": self._settings.noise.model_dump(),
            "chunk": self._settings.chunk.model_dump(),
            "context": self._settings.context.model_dump(include=_IN_CHUNKS),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
