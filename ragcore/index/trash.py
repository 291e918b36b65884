"""Removal that can be taken back for a while.

A document is put into the trash by one mark in its row: from then on nothing lists, searches or opens it, and nothing
of it is lost, whatever happens to the process. When its time is over the mark is set to `FINAL` (from then on it does
not come back), and its rows, vectors and files go, the files within the transaction that deletes the rows: a process
killed in between leaves the mark, by which `empty` goes on.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from ragcore import files
from ragcore.errors import InputError, StoreBusy, UnknownDocument
from ragcore.index import database as db
from ragcore.index.chunk_store import bump_revision
from ragcore.index.store import Store

FINAL = 0.0


@dataclass(frozen=True, slots=True)
class Trashed:
    """A document in the trash; ``left`` seconds until it is gone for good."""

    doc_id: str
    title: str
    left: float


class Trash:
    """The trash of one library, from which a document can be taken back for ``undo_seconds``. Safe for threads and
    processes."""

    def __init__(self, store: Store, undo_seconds: float) -> None:
        self._store = store
        self._seconds = undo_seconds

    def put(self, doc_ids: Sequence[str]) -> None:
        """Put documents into the trash, all or none. Raises `UnknownDocument`."""
        self._mark(doc_ids, time.time())

    def restore(self, doc_ids: Sequence[str]) -> None:
        """Take documents out again, as they were, all or none. Raises `InputError` where one is gone for good."""
        table = db.documents.c
        with self._store.database.write() as connection:
            for doc_id in doc_ids:
                back = sa.update(db.documents).where(table.doc_id == doc_id, table.removed > FINAL)
                kept = connection.execute(sa.select(table.removed).where(table.doc_id == doc_id)).first()
                if kept is not None and kept.removed is None:
                    continue  # another tab was first
                if connection.execute(back.values(removed=None)).rowcount == 0:
                    raise InputError("It's too late to undo this removal.", hint="Add the file again.")
            bump_revision(connection)

    def finish(self, doc_ids: Sequence[str]) -> None:
        """Let the time of documents in the trash be over: the next `empty` removes them for good. Those that are not
        in it (any more) are passed over."""
        table = db.documents.c
        with self._store.database.write() as connection:
            for doc_id in doc_ids:
                over = sa.update(db.documents).where(table.doc_id == doc_id, table.removed > FINAL)
                connection.execute(over.values(removed=FINAL))

    def items(self) -> list[Trashed]:
        """What can be taken back now, the last removed first."""
        table, now = db.documents.c, time.time()
        query = sa.select(table.doc_id, db.TITLE.label("title"), table.name, table.removed)
        query = query.where(table.removed > now - self._seconds).order_by(table.removed.desc(), table.doc_id)
        with self._store.database.read() as connection:
            rows = connection.execute(query).all()
        return [Trashed(row.doc_id, row.title or row.name, row.removed + self._seconds - now) for row in rows]

    def empty(self) -> list[str]:
        """Remove for good what was in the trash for long enough; the documents that went. One that another task still
        reads stays for the next time."""
        table = db.documents.c
        with self._store.database.read() as connection:
            due = sa.select(table.doc_id).where(table.removed <= time.time() - self._seconds)
            doc_ids = connection.execute(due).scalars().all()
        gone = []
        for doc_id in doc_ids:
            try:
                if self._end(doc_id):
                    gone.append(doc_id)
            except StoreBusy:
                continue
        return gone

    def remove(self, doc_id: str) -> None:
        """Remove a document for good, at once. Raises `UnknownDocument`, `StoreBusy`."""
        with self._store.document_lock(doc_id):
            self._mark([doc_id], FINAL)
            self._delete(doc_id)

    def _mark(self, doc_ids: Sequence[str], when: float) -> None:
        table = db.documents.c
        with self._store.database.write() as connection:
            for doc_id in doc_ids:
                marked = sa.update(db.documents).where(table.doc_id == doc_id, table.removed.is_(None))
                if connection.execute(marked.values(removed=when)).rowcount == 0:
                    raise UnknownDocument(f"There is no document {doc_id} in this library.")
            bump_revision(connection)

    def _end(self, doc_id: str) -> bool:
        table = db.documents.c
        with self._store.document_lock(doc_id):
            with self._store.database.write() as connection:
                due = sa.update(db.documents).where(table.doc_id == doc_id)
                due = due.where(table.removed <= time.time() - self._seconds)  # unless it was taken back
                if connection.execute(due.values(removed=FINAL)).rowcount == 0:
                    return False
            self._delete(doc_id)
        return True

    def _delete(self, doc_id: str) -> None:
        """Delete the rows, vectors and files of a document marked `FINAL`. Stored answers that cite it keep their
        quotes."""
        table, store = db.documents.c, self._store
        with store.database.write() as connection:
            query = sa.delete(db.documents).where(table.doc_id == doc_id, table.removed == FINAL)
            sha256 = connection.execute(query.returning(table.sha256)).scalar()
            if sha256 is None:
                return  # added again meanwhile
            with files.reported(store.home / "files"):
                for path in store.files(sha256):
                    path.unlink(missing_ok=True)
        store.forget(doc_id)
        shutil.rmtree(store.pictures / doc_id, ignore_errors=True)
