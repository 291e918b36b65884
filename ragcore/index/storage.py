"""What a library takes on the disk, by kind and by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from ragcore.index import database as db

if TYPE_CHECKING:
    from ragcore.index.store import Store


@dataclass(frozen=True, slots=True)
class DocumentStorage:
    """Bytes of one document: its file as given (and a readable copy), its rows in the database (pages as read, text,
    chunks, vectors), and the pictures of its pages that were drawn so far."""

    file: int = 0
    rows: int = 0
    pictures: int = 0

    @property
    def total(self) -> int:
        return self.file + self.rows + self.pictures


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes of a library: ``files`` as given, the ``database``, the ``index`` beside it (which can be made again from
    the database), ``pictures`` of pages (drawn again when they are looked at), and each document's part of them."""

    files: int
    database: int
    index: int
    pictures: int
    documents: Mapping[str, DocumentStorage]

    @property
    def total(self) -> int:
        return self.files + self.database + self.index + self.pictures


def measure(store: Store) -> Storage:
    """What ``store`` takes now; what is in the trash counts in all, and has no part of its own. Raises `StoreError`."""
    home = store.home
    drawn = store.pictures
    pictures = {folder.name: size(folder) for folder in _entries(drawn)}
    rows = _rows(store)
    documents = {
        info.doc_id: DocumentStorage(
            file=sum(size(path) for path in store.files(info.sha256)),
            rows=rows.get(info.doc_id, 0),
            pictures=pictures.get(info.doc_id, 0),
        )
        for info in store.documents()
    }
    return Storage(
        files=size(home / "files"),
        database=sum(size(path) for path in _entries(home) if path.name.startswith(store.database.path.name)),
        index=sum(size(path) for path in _entries(home / "cache") if path != drawn),
        pictures=sum(pictures.values()),
        documents=documents,
    )


def _rows(store: Store) -> dict[str, int]:
    """Bytes of the values that each document has in the database, without what its pages and indexes add."""
    document, chunk, layout = db.documents.c, db.chunks.c, db.page_layouts.c
    columns = (document.text, document.words, document.page_data, document.elements, document.info)
    parts = [
        sa.select(document.doc_id, _lengths(columns)),
        sa.select(layout.doc_id, sa.func.sum(sa.func.length(layout.data))).group_by(layout.doc_id),
    ]
    long = (chunk.text, chunk.header, chunk.lead_in, chunk.grid, chunk.context)
    parts.append(sa.select(chunk.doc_id, sa.func.sum(_lengths(long))).group_by(chunk.doc_id))
    vectors = sa.select(chunk.doc_id, sa.func.sum(sa.func.length(db.vectors.c.vector)))
    parts.append(vectors.join(db.vectors, db.vectors.c.chunk_id == chunk.chunk_id).group_by(chunk.doc_id))
    sizes: dict[str, int] = {}
    with store.database.read() as connection:
        for part in parts:
            for doc_id, length in connection.execute(part):
                sizes[doc_id] = sizes.get(doc_id, 0) + int(length or 0)
    return sizes


def _lengths(columns: Iterable[sa.Column[Any]]) -> sa.ColumnElement[int]:
    found: sa.ColumnElement[int] = sa.literal(0)
    for column in columns:
        found = found + sa.func.coalesce(sa.func.length(column), 0)
    return found


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; 0 where there is none, for files come and go."""
    try:
        if path.is_dir():
            return sum(size(item) for item in path.iterdir())
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _entries(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from folder.iterdir()
