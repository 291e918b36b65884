"""The library on disk: PDFs by SHA-256, and SQLite as the only truth about them.

Chroma and BM25 are caches beside it that can be made again from what is here. Every write bumps nothing but what it
changes; `revision` grows whenever chunks come or go, which is how the caches know that they are stale.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.dialects.sqlite import insert

from ragcore.errors import StoreBusy, UnknownDocument
from ragcore.index import database as db
from ragcore.index.chunk_store import batches, bump_revision, chunk_row, fingerprint, settle
from ragcore.index.elements import StoredElements
from ragcore.index.file_store import FileStore
from ragcore.index.opened import Opened, weight
from ragcore.index.packing import pack, unpack
from ragcore.types import Chunk, Document, Element, ModelReport, Page, WordMap
from ragcore.types.library import DocumentInfo, Status

T = TypeVar("T")


class Store(FileStore):
    """Everything under one home folder: ``groundwork.sqlite``, ``files/``, ``cache/`` and ``locks/``."""

    def __init__(self, home: Path, opened_mb: int = 256) -> None:
        super().__init__(home)
        self.opened = Opened(opened_mb << 20)

    @contextmanager
    def document_lock(self, doc_id: str) -> Iterator[None]:
        """Held by the one task that reads or removes a document. Raises `StoreBusy` at once if it is taken."""
        folder = self.home / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{doc_id}.lock", timeout=0, thread_local=False, mode=0o600)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreBusy("Another task is reading or removing this document right now.") from error
        try:
            yield
        finally:
            lock.release()

    # Reading a file, page by page

    def set_status(
        self, doc_id: str, status: Status, *, error: Mapping[str, Any] | None = None, seconds: float = 0.0
    ) -> None:
        """Set the status and error; ``seconds`` are added to the time spent."""
        with self.database.write() as connection:
            if status == "failed":
                bump_revision(connection)  # its chunks of an earlier build are not searched any more
            connection.execute(
                sa.update(db.documents)
                .where(db.documents.c.doc_id == doc_id)
                .values(
                    status=status,
                    error=json.dumps(error) if error else None,
                    seconds=db.documents.c.seconds + seconds,
                )
            )

    def hold(self, doc_ids: Sequence[str] | None, held: bool) -> None:
        """Note of documents (None: of all) whether a person cancelled their reading, so that it goes on only when a
        person says so."""
        with self.database.write() as connection:
            every = sa.update(db.documents).where(db.documents.c.held != held)
            for part in [None] if doc_ids is None else batches(doc_ids):
                some = every if part is None else every.where(db.documents.c.doc_id.in_(part))
                connection.execute(some.values(held=int(held)))

    def set_info(self, doc_id: str, info: str, pages: int) -> None:
        """Keep what inspecting the file said (as JSON text). It is called by its file's name until it is read."""
        with self.database.write() as connection:
            connection.execute(
                sa.update(db.documents).where(db.documents.c.doc_id == doc_id).values(info=info, pages=pages)
            )

    def info(self, doc_id: str) -> str | None:
        value: str | None = self._row(doc_id, db.documents.c.info).info
        return value

    def put_page(self, doc_id: str, page: int, data: bytes) -> None:
        """Checkpoint one page as read."""
        with self.database.write() as connection:
            connection.execute(
                insert(db.page_layouts)
                .values(doc_id=doc_id, page=page, data=data)
                .on_conflict_do_update(index_elements=["doc_id", "page"], set_={"data": data})
            )

    def pages_done(self, doc_id: str) -> set[int]:
        with self.database.read() as connection:
            query = sa.select(db.page_layouts.c.page).where(db.page_layouts.c.doc_id == doc_id)
            return set(connection.execute(query).scalars())

    def page_layouts(self, doc_id: str) -> list[bytes]:
        """The checkpoints in page order."""
        with self.database.read() as connection:
            query = (
                sa.select(db.page_layouts.c.data)
                .where(db.page_layouts.c.doc_id == doc_id)
                .order_by(db.page_layouts.c.page)
            )
            return list(connection.execute(query).scalars())

    # Documents

    def put_document(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        *,
        recipe: str,
        figures: ModelReport | None = None,
        context: ModelReport | None = None,
    ) -> None:
        """Store a built document with its chunks in one transaction, in place of an earlier build.

        A chunk whose index text did not change keeps its vectors.
        """
        kept = {chunk.chunk_id: chunk.index_text for chunk in self.chunks(document.doc_id)}
        gone = set(kept) - {chunk.chunk_id for chunk in chunks if kept.get(chunk.chunk_id) == chunk.index_text}
        pages = [document.first_and_last_page(chunk.start, chunk.end) for chunk in chunks]
        with self.database.write() as connection:
            connection.execute(
                sa.update(db.documents)
                .where(db.documents.c.doc_id == document.doc_id)
                .values(
                    status="ready",
                    held=0,
                    error=None,
                    title=document.title,
                    pages=len(document.pages),
                    counts=json.dumps(_counts(document, chunks)),
                    text=document.text,
                    body_end=document.body_end,
                    words=document.words.to_bytes(),
                    page_data=pack(document.pages, tuple[Page, ...]),
                    elements=pack(tuple(document.elements), tuple[Element, ...]),
                    recipe=recipe,
                    built=time.time(),
                    figures=json.dumps(asdict(figures)) if figures is not None else None,
                    context=json.dumps(asdict(context)) if context is not None else None,
                    chunk_count=len(chunks),
                    fingerprint=fingerprint(chunks, pages),
                )
            )
            for part in batches(sorted(gone)):
                connection.execute(sa.delete(db.chunks).where(db.chunks.c.chunk_id.in_(part)))
            rows = [chunk_row(chunk, of_chunk) for chunk, of_chunk in zip(chunks, pages)]
            if rows:
                statement = insert(db.chunks)
                columns = {column.name: column for column in statement.excluded if column.name != "chunk_id"}
                connection.execute(statement.on_conflict_do_update(index_elements=["chunk_id"], set_=columns), rows)
            embedders = sa.select(db.embedded.c.embedder).where(db.embedded.c.doc_id == document.doc_id)
            for embedder in connection.execute(embedders).scalars().all():
                settle(connection, embedder, [document.doc_id])
            bump_revision(connection)
        self.opened.drop(document.doc_id)

    def require(self, doc_ids: Sequence[str]) -> None:
        """Raise `UnknownDocument` unless each of these has been read."""
        for doc_id in doc_ids:
            row = self._row(doc_id, db.documents.c.name, db.documents.c.body_end)
            if row.body_end is None:
                raise _unread(row.name)

    def document(self, doc_id: str) -> Document:
        """A ready document; those used last are kept in memory. Raises `UnknownDocument`."""
        state = self._row(doc_id, db.documents.c.recipe, db.documents.c.built, db.documents.c.given)
        # Another process may have built it anew, with other settings or with more figures described, or renamed it.
        held = self.opened.get(doc_id, (state.recipe, state.built, state.given))
        if held is not None:
            return held
        row = self._row(doc_id)
        if row.text is None:
            raise _unread(row.name)
        elements = StoredElements(row.elements)
        document = Document(
            doc_id=doc_id,
            sha256=row.sha256,
            name=row.name,
            title=row.given or row.title,
            text=row.text,
            body_end=row.body_end,
            words=WordMap.from_bytes(row.words),
            pages=unpack(row.page_data, tuple[Page, ...]),
            elements=elements,
        )
        self.opened.put(document, (row.recipe, row.built, row.given), weight(document, elements.characters))
        return document

    def build(self, doc_id: str) -> str:
        """Which build of a document there is, and under which name."""
        row = self._row(doc_id, db.documents.c.recipe, db.documents.c.built, db.documents.c.given)
        return f"{row.recipe} {row.built} {row.given or ''}"

    def documents(self, embedder: str = "", doc_id: str | None = None) -> list[DocumentInfo]:
        """Every document (or only ``doc_id``) in the order in which it came. ``indexed`` refers to ``embedder``."""
        table = db.documents.c
        done = sa.select(sa.func.count()).where(db.page_layouts.c.doc_id == table.doc_id).scalar_subquery()
        marked = (
            sa.select(sa.literal(1))
            .where(
                db.embedded.c.embedder == embedder,
                db.embedded.c.doc_id == table.doc_id,
                db.embedded.c.fingerprint == table.fingerprint,
            )
            .exists()
        )
        query = sa.select(
            table.doc_id,
            table.sha256,
            table.name,
            table.bytes,
            table.status,
            table.created,
            table.seconds,
            db.TITLE.label("title"),
            table.pages,
            table.counts,
            table.error,
            table.figures,
            table.context,
            table.folder,
            table.held,
            done.label("pages_done"),
            marked.label("embedded"),
        ).where(table.removed.is_(None))
        tagged = sa.select(db.tags).order_by(sa.func.lower(db.tags.c.tag))
        if doc_id is not None:
            query, tagged = query.where(table.doc_id == doc_id), tagged.where(db.tags.c.doc_id == doc_id)
        tags: dict[str, tuple[str, ...]] = {}
        with self.database.read() as connection:
            rows = connection.execute(query.order_by(table.created, table.doc_id)).all()
            for row in connection.execute(tagged):
                tags[row.doc_id] = (*tags.get(row.doc_id, ()), row.tag)
        return [
            DocumentInfo(
                doc_id=row.doc_id,
                sha256=row.sha256,
                name=row.name,
                title=row.title or row.name,
                bytes=row.bytes,
                status=row.status,
                created=row.created,
                seconds=row.seconds,
                pages=row.pages or 0,
                pages_done=row.pages_done,
                indexed=row.status == "ready" and bool(row.embedded),
                error=json.loads(row.error) if row.error else None,
                figures=ModelReport(**_known(row.figures, ModelReport)),
                context=ModelReport(**_known(row.context, ModelReport)),
                folder=row.folder,
                held=bool(row.held),
                tags=tags.get(row.doc_id, ()),
                **_counted(row.counts),
            )
            for row in rows
        ]

    def names(self) -> list[tuple[str, str, str]]:
        """``(doc_id, title, file name)`` of each ready document, in the order in which they came."""
        table = db.documents.c
        query = sa.select(table.doc_id, db.TITLE.label("title"), table.name)
        query = query.where(table.status == "ready", table.removed.is_(None))
        with self.database.read() as connection:
            rows = connection.execute(query.order_by(table.created, table.doc_id)).all()
        return [(row.doc_id, row.title or row.name, row.name) for row in rows]

    def titles(self) -> dict[str, str]:
        """What to call each ready document: its title, with the file's name where another has the same title."""
        names = self.names()
        often = Counter(title for _, title, _ in names)
        return {doc_id: title if often[title] == 1 else f"{title} ({name})" for doc_id, title, name in names}

    def recipes(self) -> dict[str, str]:
        """For each ready document the hash of the settings that built it."""
        with self.database.read() as connection:
            query = sa.select(db.documents.c.doc_id, db.documents.c.recipe)
            query = query.where(db.documents.c.status == "ready", db.documents.c.removed.is_(None))
            return {row.doc_id: row.recipe for row in connection.execute(query)}

    def forget(self, doc_id: str) -> None:
        """Drop what is kept in memory of a document."""
        self.opened.drop(doc_id)


def _counts(document: Document, chunks: Sequence[Chunk]) -> dict[str, int | dict[str, int] | list[int]]:
    return {
        "elements": len(document.elements),
        "tables": sum(element.table is not None for element in document.elements),
        "noise": sum(element.noise is not None for element in document.elements),
        "noise_by_reason": dict(sorted(Counter(e.noise for e in document.elements if e.noise is not None).items())),
        "chunks": len(chunks),
        "ocr_pages": len(confidences := [page.ocr for page in document.pages if page.ocr is not None]),
        "ocr_confidence": int(100 * sum(confidences) / len(confidences)) if confidences else 0,
        "degraded_pages": sum(page.degraded is not None and not page.unread for page in document.pages),
        "unread_pages": [page.number for page in document.pages if page.unread],
    }


def _counted(kept: str | None) -> dict[str, Any]:
    """What `_counts` gave, as it is stored."""
    counts = _known(kept, DocumentInfo)
    return counts | {"unread_pages": tuple(counts.get("unread_pages", ()))}


def _known(text: str | None, kind: type) -> dict[str, Any]:
    """The fields of ``kind`` in a JSON object; what a newer version put beside them is passed over."""
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in json.loads(text or "{}").items() if name in names}


def _unread(name: str) -> UnknownDocument:
    return UnknownDocument(f"{name} has not been read yet.", hint="Add it first, or wait until it has been read.")
