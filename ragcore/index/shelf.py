"""Library organisation: tags (a document may have several), folders, given titles, and the trash.

Tags ignore case; the first spelling is kept. A folder is a path of names joined by ``/`` and exists as long as a
document is in it.

One mark in its row puts a document into the trash: from then on it is not listed, searched or opened, and none of its
data is lost, whatever happens to the process. When its time is over the mark is set to `FINAL` (it can then not be
restored), and its rows, vectors and files are deleted, the files within the transaction that deletes the rows: a
process killed in between leaves the mark, from which `Trash.empty` continues.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ragcore.errors import InputError, StoreBusy, UnknownDocument
from ragcore.index.database import IN, Connection, Database
from ragcore.index.store import Store
from ragcore.index.versions import line
from ragcore.text.short_titles import plain_title

TAG_LENGTH = 40
FOLDER_LENGTH = 200
TITLE_LENGTH = 200
FINAL = 0.0


class Shelf:
    """Tags and folders of one library. Safe for threads and processes; documents in the trash are excluded."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tag(self, doc_ids: Sequence[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Add tags to documents and remove others. Raises `InputError`, `UnknownDocument`."""
        more, less = [clean_tag(text) for text in add], {clean_tag(text).casefold() for text in remove}
        with self._database.write() as connection:
            _require(connection, doc_ids)
            known = _spelled(connection)
            for tag in more:
                rows = [{"doc_id": doc_id, "tag": known.setdefault(tag.casefold(), tag)} for doc_id in doc_ids]
                connection.insert("tags", *rows, clash="NOTHING")
            gone = [known[key] for key in less if key in known]
            connection.execute(f"DELETE FROM tags WHERE doc_id {IN} AND tag {IN}", (list(doc_ids), gone))

    def rename_tag(self, tag: str, name: str) -> None:
        """Rename a tag on all its documents; if another tag has that name, the two are merged. Raises `InputError`."""
        name = clean_tag(name)
        with self._database.write() as connection:
            known = _spelled(connection)
            old = known.get(tag.casefold())
            if old is None:
                raise InputError(f"The tag “{tag}” no longer exists.", hint="Reload the Library.")
            # A new spelling of the same tag is kept as written.
            new = name if name.casefold() == old.casefold() else known.get(name.casefold(), name)
            if new != old:
                again = "INSERT INTO tags (doc_id, tag) SELECT doc_id, CAST(? AS TEXT) FROM tags WHERE tag = ?"
                connection.execute(f"{again} ON CONFLICT DO NOTHING", (new, old))
                connection.execute("DELETE FROM tags WHERE tag = ?", (old,))

    def delete_tag(self, tag: str) -> None:
        """Remove a tag from all its documents."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM tags WHERE tag = ?", (_spelled(connection).get(tag.casefold()),))

    def put(self, doc_ids: Sequence[str], folder: str) -> None:
        """Move documents into a folder, "" for none. Raises `InputError`, `UnknownDocument`."""
        path = clean_folder(folder)
        with self._database.write() as connection:
            _require(connection, doc_ids)
            connection.update("documents", f"doc_id {IN}", list(doc_ids), folder=path)

    def rename(self, doc_id: str, title: str) -> None:
        """Set a document's ``title``, which stays when it is read again and shows in stored answers that cite it; ""
        restores the title read from the document. Raises `InputError`, `UnknownDocument`."""
        given = plain_title(title)
        if len(given) > TITLE_LENGTH:
            raise InputError("This title is too long.", hint=f"Use at most {TITLE_LENGTH} characters.")
        with self._database.write() as connection:
            _require(connection, [doc_id])
            connection.update("documents", "doc_id = ?", doc_id, given=given or None)


def clean_tag(text: str) -> str:
    """Normalised tag: single blanks. Raises `InputError` for one that is empty, too long or holds a comma."""
    tag = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if not tag:
        raise InputError("A tag needs a name.", hint="Enter one.")
    if len(tag) > TAG_LENGTH or "," in tag:
        raise InputError(
            f"“{tag[:TAG_LENGTH]}” cannot be a tag.", hint=f"Use at most {TAG_LENGTH} characters and no comma."
        )
    return tag


def clean_folder(path: str) -> str:
    """Normalised folder path: names with single blanks, joined by ``/``; "" for none. Raises `InputError` for one that
    is too long."""
    printable = "".join(c if c.isprintable() else " " for c in path.replace("\\", "/"))
    names = [" ".join(name.split()) for name in printable.split("/")]
    folder = "/".join(name for name in names if name not in ("", ".", ".."))
    if len(folder) > FOLDER_LENGTH:
        raise InputError(f"The folder “{folder[:40]}…” is too long.", hint=f"Use at most {FOLDER_LENGTH} characters.")
    return folder


def _spelled(connection: Connection) -> dict[str, str]:
    """Spelling of each tag, by its case-folded form."""
    return {tag.casefold(): tag for tag in connection.column("SELECT DISTINCT tag FROM tags")}


def _require(connection: Connection, doc_ids: Sequence[str]) -> None:
    query = f"SELECT doc_id FROM documents WHERE doc_id {IN} AND removed IS NULL"
    known = set(connection.column(query, list(doc_ids)))
    missing = [doc_id for doc_id in doc_ids if doc_id not in known]
    if missing:
        raise UnknownDocument(f"There is no document {missing[0]} in this library.")


@dataclass(frozen=True, slots=True)
class Trashed:
    """Document in the trash; ``left`` seconds until it is deleted for good."""

    doc_id: str
    title: str
    left: float


class Trash:
    """Trash of one library; documents can be restored for ``undo_seconds``. Safe for threads and processes."""

    def __init__(self, store: Store, undo_seconds: float) -> None:
        self._store = store
        self._database = store.database
        self._seconds = undo_seconds

    def put(self, doc_ids: Sequence[str]) -> None:
        """Put documents into the trash with their earlier versions, all or none. Raises `UnknownDocument`."""
        self._mark(doc_ids, time.time())

    def restore(self, doc_ids: Sequence[str]) -> None:
        """Restore documents with their earlier versions, all or none. Raises `InputError` if one is deleted for
        good."""
        with self._database.write() as connection:
            for doc_id in doc_ids:
                kept = connection.row("SELECT removed FROM documents WHERE doc_id = ?", doc_id)
                if kept is not None and kept["removed"] is None:
                    continue  # another tab was first
                if not connection.update("documents", "doc_id = ? AND removed > ?", doc_id, FINAL, removed=None):
                    raise InputError("It's too late to undo this removal.", hint="Add the file again.")
            connection.update(
                "documents", f"doc_id {IN} AND removed > ?", line(connection, doc_ids), FINAL, removed=None
            )

    def finish(self, doc_ids: Sequence[str]) -> None:
        """End the undo time of documents in the trash: the next `empty` deletes them for good. Documents not (or no
        longer) in it are skipped."""
        with self._database.write() as connection:
            ids = line(connection, doc_ids)
            connection.update("documents", f"doc_id {IN} AND removed > ?", ids, FINAL, removed=FINAL)

    def items(self) -> list[Trashed]:
        """Documents that can be restored now, last removed first; earlier versions come back with them."""
        since = (now := time.time()) - self._seconds
        rows = self._database.rows(
            "SELECT doc_id, called, removed FROM documents d WHERE removed > ?1 AND NOT EXISTS"
            " (SELECT 1 FROM documents n WHERE n.doc_id = d.successor AND n.removed > ?1)"
            " ORDER BY removed DESC, doc_id",
            since,
        )
        return [Trashed(doc_id, title, removed + self._seconds - now) for doc_id, title, removed in rows]

    def empty(self) -> list[str]:
        """Delete for good the documents whose undo time is over; returns them. One that another task still reads is
        left for the next time."""
        due = self._database.column("SELECT doc_id FROM documents WHERE removed <= ?", time.time() - self._seconds)
        gone = []
        for doc_id in due:
            try:
                if self._end(doc_id):
                    gone.append(doc_id)
            except StoreBusy:
                continue
        return gone

    def remove(self, doc_id: str) -> None:
        """Delete a document for good, at once, with its earlier versions. Raises `UnknownDocument`, `StoreBusy`."""
        self._store.files.reach()  # before it is final
        with self._store.document_lock(doc_id):
            marked = self._mark([doc_id], FINAL)
            self._delete(doc_id)
        for earlier in marked:
            with suppress(StoreBusy):  # it is read right now: the next `empty` deletes it
                self._end(earlier)

    def _mark(self, doc_ids: Sequence[str], when: float) -> list[str]:
        with self._database.write() as connection:
            _require(connection, doc_ids)
            ids = line(connection, doc_ids)
            connection.update("documents", f"doc_id {IN} AND removed IS NULL", ids, removed=when)
        return ids

    def _end(self, doc_id: str) -> bool:
        with self._store.document_lock(doc_id):
            with self._database.write() as connection:
                due = time.time() - self._seconds
                if not connection.update("documents", "doc_id = ? AND removed <= ?", doc_id, due, removed=FINAL):
                    return False  # it was restored
            self._delete(doc_id)
        return True

    def _delete(self, doc_id: str) -> None:
        """Delete rows, vectors and files of a document marked `FINAL`. Stored answers that cite it keep their
        quotes."""
        store = self._store
        with self._database.write() as connection:
            query = "DELETE FROM documents WHERE doc_id = ? AND removed = ? RETURNING sha256"
            gone = connection.rows(query, doc_id, FINAL)
            if not gone:
                return  # added again in the meantime
            store.delete_files(gone[0]["sha256"])
        self._database.checkpoint()
        store.opened.drop(doc_id)
        shutil.rmtree(store.pictures / doc_id, ignore_errors=True)
