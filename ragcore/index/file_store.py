"""The files of the library: PDFs as given, and ADE JSON with or without its PDF, each kept under its SHA-256."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore import files
from ragcore.errors import UnknownDocument
from ragcore.index import database as db
from ragcore.index.chunk_store import ChunkStore, bump_revision


class FileStore(ChunkStore):
    """``files/`` under the home folder, and the rows that list what is in it.

    A document's files stand side by side under the hash that names it: ``.pdf`` as given, ``.unlocked.pdf`` the
    readable copy of an encrypted one; and for an ADE import ``.ade.json``, with ``.drawn.pdf`` for pages drawn from it
    where no PDF was given. The hash is that of the PDF, or of the JSON followed by its PDF if there is one.
    """

    def __init__(self, home: Path) -> None:
        super().__init__(db.Database(home / "groundwork.sqlite"))
        self.home = home

    def add_file(self, data: bytes, name: str) -> tuple[str, bool]:
        """Keep a PDF under its SHA-256 and list it; ``(doc_id, True)`` if it is new, ``(doc_id, False)`` if the
        same bytes are in the library already. What was put into the trash comes back as new."""
        sha256 = hashlib.sha256(data).hexdigest()
        self._keep(self._file(sha256), data)
        listed = self._list(sha256, name, len(data))
        self._keep(self._file(sha256), data)  # the end of a removal may have taken it away before it was listed
        return listed

    def add_ade(self, json: bytes, name: str, pdf: bytes | None) -> tuple[str, bool]:
        """Keep an ADE JSON, with its PDF if that was given, as one document; returns what `add_file` does."""
        sha256 = hashlib.sha256(json + (pdf or b"")).hexdigest()
        kept = {".ade.json": json} | ({".pdf": pdf} if pdf is not None else {})
        for suffix, data in kept.items():
            self._keep(self._file(sha256, suffix), data)
        listed = self._list(sha256, name, len(json) + len(pdf or b""))
        for suffix, data in kept.items():
            self._keep(self._file(sha256, suffix), data)
        return listed

    def find_ade(self, json: bytes) -> str | None:
        """The document to which this very ADE JSON belongs, with a PDF or without; None where there is none."""
        with self.database.read() as connection:
            query = sa.select(db.documents.c.doc_id, db.documents.c.sha256).where(db.documents.c.removed.is_(None))
            hashes = connection.execute(query).all()
        for row in hashes:
            path = self._file(row.sha256, ".ade.json")
            if path.is_file() and path.stat().st_size == len(json) and path.read_bytes() == json:
                return str(row.doc_id)
        return None

    def file(self, doc_id: str) -> Path:
        """The PDF as it can be read: the unlocked copy of an encrypted one, the pages drawn from an ADE JSON without
        its PDF, else the file as given."""
        for path in (self.unlocked_path(doc_id), self.drawn_path(doc_id)):
            if path.is_file():
                return path
        return self.original(doc_id)

    def original(self, doc_id: str) -> Path:
        """The PDF as given; there is none where an ADE JSON came without."""
        return self._path(doc_id, ".pdf")

    def unlocked_path(self, doc_id: str) -> Path:
        """Where the decrypted copy of an encrypted file is kept once its password was given."""
        return self._path(doc_id, ".unlocked.pdf")

    def drawn_path(self, doc_id: str) -> Path:
        """Where the pages are kept that were drawn from an ADE JSON without its PDF."""
        return self._path(doc_id, ".drawn.pdf")

    def ade_file(self, doc_id: str) -> Path | None:
        """The ADE JSON that the document was imported from; None for a PDF."""
        path = self._path(doc_id, ".ade.json")
        return path if path.is_file() else None

    def files(self, sha256: str) -> list[Path]:
        """Every file that the document of this hash may have."""
        return [self._file(sha256, suffix) for suffix in (".pdf", ".unlocked.pdf", ".drawn.pdf", ".ade.json")]

    @property
    def pictures(self) -> Path:
        """Where pictures of pages are kept that were drawn to be looked at, a folder for each document."""
        return self.home / "cache" / "pages"

    def sha256(self, doc_id: str) -> str:
        """The hash, in hex, under which the document's files are kept."""
        return str(self._row(doc_id, db.documents.c.sha256).sha256)

    def _path(self, doc_id: str, suffix: str) -> Path:
        return self._file(self.sha256(doc_id), suffix)

    def _file(self, sha256: str, suffix: str = ".pdf") -> Path:
        return self.home / "files" / sha256[:2] / f"{sha256}{suffix}"

    def _keep(self, path: Path, data: bytes) -> None:
        with files.reported(path.parent):
            if not path.is_file():
                with files.replacing(path) as stream:
                    stream.write(data)

    def _list(self, sha256: str, name: str, size: int) -> tuple[str, bool]:
        doc_id = sha256[:16]
        row = {
            "doc_id": doc_id,
            "sha256": sha256,
            "name": name,
            "bytes": size,
            "status": "new",
            "seconds": 0.0,
            "created": time.time(),
        }
        with self.database.write() as connection:
            statement = insert(db.documents).values(row).on_conflict_do_nothing()
            if connection.execute(statement).rowcount == 1:
                return doc_id, True
            back = sa.update(db.documents).where(db.documents.c.doc_id == doc_id, db.documents.c.removed.is_not(None))
            if connection.execute(back.values(removed=None)).rowcount == 1:
                bump_revision(connection)
                return doc_id, True
            return doc_id, False

    def _row(self, doc_id: str, *columns: sa.Column[Any]) -> sa.Row[Any]:
        with self.database.read() as connection:
            query = sa.select(*(columns or (db.documents,)))
            query = query.where(db.documents.c.doc_id == doc_id, db.documents.c.removed.is_(None))
            row = connection.execute(query).one_or_none()
        if row is None:
            raise UnknownDocument(f"There is no document {doc_id} in this library.")
        return row
