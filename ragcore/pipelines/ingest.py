"""Ingest: from a stored file to a stored document, in two steps that `Engine.ingest` runs in sequence.

    read    inspect → (unlock) → pages, each checkpointed in SQLite as soon as it is read
    build   pages → document → (describe figures) → chunks → (contexts) → store

Building is pure except for model-written text, so a change of settings needs no second reading. It is cheap beside
reading, so the first pages are built before the others are read (`FIRST_PAGES`): they can be asked at once.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.errors import Cancelled, GroundworkError, ModelError, NoText, NothingRead, StoreError, UnknownDocument
from ragcore.index.packing import pack, unpack
from ragcore.index.store import DRAWN, MADE, UNLOCKED
from ragcore.ingest.convert.kinds import CONVERTERS, SCANNED
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.ingest.ocr import serves, waits_for
from ragcore.pipelines.add_files import pdf_name
from ragcore.progress import Progress
from ragcore.protocols import UNLIMITED, Allowance

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.index.model_records import FigureTexts, ModelTexts
    from ragcore.index.store import Store
    from ragcore.progress import IsCancelled, OnProgress
    from ragcore.providers.registry import Models
    from ragcore.types.library import DocumentInfo, Status

    # Pages with these numbers, in any order.
    Pages = Callable[[Sequence[int]], Iterator[PageLayout]]

# Part of every document's recipe: raise it when building or chunking gives another result for the same settings.
BUILD_VERSION = 13

# Pages that the first build of a long document has, and how much larger each further one is. Together they cost less
# than the last one, with all pages.
FIRST_PAGES, GROWTH = 8, 2.5


_MADE_BY = "by:"  # in a recipe, before the converter's name

# Settings of [context] that determine a chunk's context; the others affect only the requests.
_IN_CHUNKS = {"document_summary", "situate"}


@dataclass(frozen=True)
class Reading:
    """Reading and building of one library's documents."""

    store: Store
    descriptions: FigureTexts
    contexts: ModelTexts
    models: Models
    settings: Settings
    allowance: Allowance = UNLIMITED

    @contextmanager
    def work(
        self, info: DocumentInfo, on_progress: OnProgress, cancelled: IsCancelled | None
    ) -> Iterator[DocumentTask]:
        """Task on a document, under its exclusive lock. Faults of its file become its status; other faults (the disk, a
        model needed by a ready document) and `Cancelled` are raised."""
        started = time.monotonic()

        def ends(status: Status, error: GroundworkError | None = None) -> None:
            if not holds():
                return  # it is another process's by now
            told = None if error is None else error.as_dict()
            self.store.set_status(info.doc_id, status, error=told, seconds=round(time.monotonic() - started, 3))

        def ended() -> bool:
            return not holds() or (cancelled is not None and cancelled())

        with self.store.document_lock(info.doc_id) as holds:
            try:
                yield DocumentTask(self, info.doc_id, info.name, on_progress, ended)
            except (Cancelled, KeyboardInterrupt, UnknownDocument):  # perhaps removed, or restored, meanwhile
                ends("ready" if info.status == "ready" else "new")
                raise
            except StoreError:
                raise  # the status cannot be stored either; a restart resumes
            except GroundworkError as error:
                if info.status == "ready" and isinstance(error, ModelError):
                    raise
                ends("failed", error)
            else:
                ends("ready")

    def stale(self) -> list[str]:
        """Documents built with other settings, or by another version of Groundwork or of its converters, than those in
        force, or with pages waiting for OCR that is enabled now."""
        mode, found = self.settings.ocr.mode, []
        for doc_id, recipe in self.store.recipes().items():
            own, *needs = recipe.split("+")
            if own != self.recipe or any(serves(mode, need) or _outdated(need) for need in needs):
                found.append(doc_id)
        return found

    @cached_property
    def recipe(self) -> str:
        parts = {
            "version": BUILD_VERSION,
            "noise": self.settings.noise.model_dump(),
            "chunk": self.settings.chunk.model_dump(),
            "context": self.settings.context.model_dump(include=_IN_CHUNKS),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def _outdated(need: str) -> bool:
    """Whether a part of a recipe names a converter that is no longer in use."""
    return need.startswith(_MADE_BY) and need.removeprefix(_MADE_BY) not in CONVERTERS.values()


@dataclass(frozen=True)
class DocumentTask:
    """Reading and building of one document."""

    of: Reading
    doc_id: str
    name: str
    on_progress: OnProgress
    cancelled: IsCancelled

    def read(
        self, *, password: str | None = None, afresh: bool = False, on_built: Callable[[], object] | None = None
    ) -> None:
        """Read the pages without a usable checkpoint, unreadable so far, or waiting for OCR that is enabled now; with
        ``afresh``, all pages. With ``on_built``, build the first pages meanwhile, more of them each time, and call it
        after each. Raises faults of the file, `LimitReached` and `Cancelled`."""
        store = self.of.store
        if store.kind(self.doc_id) != "pdf":
            info, pages = self._open_made()
            afresh = afresh or not store.info(self.doc_id) or info.converter != self.info().converter
        elif store.ade_file(self.doc_id) is None:
            info, pages = self._open_pdf(password)
        else:  # whether it fits its PDF is only known in the end
            (info, pages), on_built = self._open_ade(password), None
        store.set_info(self.doc_id, pack(info, FileInfo), info.pages, info.notes)
        before = [] if afresh else self.pages()
        done = {page.number for page in before if not page.unread} - self._waiting(before)
        self.on_progress(Progress("read", len(done), info.pages))
        first, due = 0, max(FIRST_PAGES, store.built_pages(self.doc_id) * GROWTH)
        wanted = [page for page in range(1, info.pages + 1) if page not in done]
        self.of.allowance.take("pages", len(wanted))
        try:
            for layout in pages(wanted):
                store.put_page(self.doc_id, layout.number, layout.to_bytes())
                done.add(layout.number)
                self.on_progress(Progress("read", len(done), info.pages))
                while first + 1 in done:
                    first += 1
                if on_built is not None and due <= first < info.pages / GROWTH**0.5:
                    due = first * GROWTH
                    with suppress(NoText, NothingRead):  # later pages may have some
                        self.build(ask=False, first=first)
                        on_built()
                if self.cancelled():
                    raise Cancelled(f"Reading {self.name} was stopped at page {len(done)} of {info.pages}.")
        finally:
            self.of.allowance.give_back("pages", len(set(wanted) - done))

    def _waiting(self, pages: Sequence[PageLayout]) -> set[int]:
        """Pages read without OCR that the current OCR settings would read by OCR."""
        mode = self.of.settings.ocr.mode
        return {page.number for page in pages if serves(mode, waits_for(page.degraded))}

    def _open_pdf(self, password: str | None) -> tuple[FileInfo, Pages]:
        from ragcore.ingest import parse

        info, path = self._unlocked(self.name, password)
        settings, ocr = self.of.settings.ingest, self.of.settings.ocr
        return info, partial(
            parse.parse_pages, path, settings=settings, ocr=ocr, cancelled=self.cancelled, name=self.name
        )

    def _open_made(self) -> tuple[FileInfo, Pages]:
        """Pages made of the original, unless the converter in use has made them already."""
        from ragcore.ingest import parse
        from ragcore.ingest.process import Child

        store, settings = self.of.store, self.of.settings.ingest
        path, kind = store.path(self.doc_id, MADE), store.kind(self.doc_id)
        inspect = partial(parse.inspect, path, settings=settings, cancelled=self.cancelled, name=self.name, made=True)
        info = inspect() if path.is_file() else None
        if info is None or info.converter != CONVERTERS[kind]:
            with closing(Child(None, settings, name=self.name, cancelled=self.cancelled)) as child:
                child.convert(store.original(self.doc_id), path, kind)
            shutil.rmtree(store.pictures / self.doc_id, ignore_errors=True)  # of the pages before
            info = inspect()
        store.files.keep(path.name)
        ocr = self.of.settings.ocr if kind in SCANNED else None
        return info, partial(
            parse.parse_pages, path, settings=settings, ocr=ocr, cancelled=self.cancelled, name=self.name, made=True
        )

    def _open_ade(self, password: str | None) -> tuple[FileInfo, Pages]:
        from ragcore.ingest.ade.pages import AdeSource

        store = self.of.store
        source = store.ade_file(self.doc_id)
        assert source is not None
        ade = AdeSource(source, self.name, self.of.settings.ingest)
        path: Path | None = None
        if store.original(self.doc_id).is_file():
            info, path = self._unlocked(pdf_name(self.name), password)
        else:
            info = ade.draw(drawn := store.path(self.doc_id, DRAWN))
            store.files.keep(drawn.name)

        def pages(numbers: Sequence[int]) -> Iterator[PageLayout]:
            yield from ade.pages(path, info, numbers, cancelled=self.cancelled)
            ade.check(store.page_layouts(self.doc_id))

        return info, pages

    def _unlocked(self, name: str, password: str | None) -> tuple[FileInfo, Path]:
        """PDF metadata of the document, and the path of a PDF readable without a password."""
        from ragcore.ingest import parse
        from ragcore.ingest.process import Child

        settings, path = self.of.settings.ingest, self.of.store.file(self.doc_id)
        info = parse.inspect(path, settings=settings, password=password, cancelled=self.cancelled, name=name)
        if info.unlocked:
            target = self.of.store.path(self.doc_id, UNLOCKED)
            with closing(Child(path, settings, password=password, name=name)) as child:
                child.unlock(target)
            self.of.store.files.keep(target.name)
            path = target
        return info, path

    def refresh(self, *, ask: bool, ask_context: bool = False) -> None:
        """Run `build` again, after reading pages that only OCR can read now or whose checkpoints are unusable.
        ``ask_context`` requests contexts even if ``ask`` is off."""
        pages = self.pages()
        info = self.info()
        outdated = info.converter not in ("", *CONVERTERS.values())
        if self._waiting(pages) or len(pages) < info.pages or outdated:
            self.read()
        self.build(ask=ask, ask_context=ask_context)

    def build(self, *, ask: bool, ask_context: bool = False, first: int | None = None) -> None:
        """Build document and chunks from the pages, or from the ``first`` ones. ``ask``: request missing figure
        descriptions and contexts if Claude is the model in force; otherwise only stored ones are used."""
        from ragcore.context.write import add_context
        from ragcore.ingest.chunk import chunk_document
        from ragcore.ingest.document import build_document
        from ragcore.ingest.figures import describe_figures

        of, store, pages, info = self.of, self.of.store, self.pages(), self.info()
        if first is None:
            self.on_progress(Progress("build", info.pages, info.pages))
        else:
            pages = [page for page in pages if page.number <= first]
        make = partial(build_document, self.doc_id, store.sha256(self.doc_id), self.name, info, pages, of.settings)
        document = make({})
        # An ADE JSON without its PDF has no pictures: its pages are drawn from its words.
        pictured = store.ade_file(self.doc_id) is None or store.original(self.doc_id).is_file()
        descriptions, figures = describe_figures(
            document,
            store.file(self.doc_id),
            describer=(lambda: of.models.describer) if ask and pictured else None,
            cache=of.descriptions,
            settings=of.settings,
            on_progress=lambda done, total: self.on_progress(Progress("describe", done, total)),
            cancelled=self.cancelled,
        )
        document = make(descriptions) if descriptions else document
        chunks, context = add_context(
            document,
            chunk_document(document, of.settings.chunk),
            writer=(lambda: of.models.context_writer) if ask or ask_context else None,
            cache=of.contexts,
            settings=of.settings,
            on_progress=lambda done, total: self.on_progress(Progress("context", done, total)),
            cancelled=self.cancelled,
        )
        # Pages waiting for OCR are part of the recipe, so that a change of OCR affects only documents with such pages.
        needs = sorted({waits_for(page.degraded) for page in pages} - {""})
        needs += [_MADE_BY + info.converter] if info.converter else []
        recipe = "+".join([of.recipe, *needs])
        store.put_document(document, chunks, recipe=recipe, figures=figures, context=context, whole=first is None)

    def pages(self) -> list[PageLayout]:
        """Pages read so far; those with damaged or outdated checkpoints are left out, to be read again."""
        pages = []
        for data in self.of.store.page_layouts(self.doc_id):
            with suppress(ValueError):
                pages.append(PageLayout.from_bytes(data))
        return pages

    def info(self) -> FileInfo:
        return unpack(self.of.store.info(self.doc_id), FileInfo)
