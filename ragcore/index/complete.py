"""Filling in what rows lack that were written before there were columns for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from ragcore.index import database as db
from ragcore.index.chunk_store import fingerprint

if TYPE_CHECKING:
    from ragcore.index.store import Store


def complete(store: Store) -> None:
    """Give the chunks of ready documents their texts and pages, and the documents their fingerprints, where migration
    0004 left them empty. Nothing is embedded again."""
    with store.database.read() as connection:
        query = sa.select(db.documents.c.doc_id).where(db.documents.c.fingerprint.is_(None))
        query = query.where(db.documents.c.status == "ready", db.documents.c.removed.is_(None))
        doc_ids = connection.execute(query).scalars().all()
    for doc_id in doc_ids:
        document, chunks = store.document(doc_id), store.chunks(doc_id)
        pages = [document.first_and_last_page(chunk.start, chunk.end) for chunk in chunks]
        with store.database.write() as connection:
            done = (
                sa.update(db.documents)
                # A document that was built anew meanwhile has one.
                .where(db.documents.c.doc_id == doc_id, db.documents.c.fingerprint.is_(None))
                .values(fingerprint=fingerprint(chunks, pages), chunk_count=len(chunks))
            )
            if connection.execute(done).rowcount and chunks:
                names = ("text", "first_page", "last_page")
                columns: Mapping[str, Any] = {name: sa.bindparam(f"new_{name}") for name in names}
                fill = sa.update(db.chunks).where(db.chunks.c.chunk_id == sa.bindparam("id")).values(columns)
                rows = [
                    {"id": chunk.chunk_id, "new_text": chunk.text, "new_first_page": first, "new_last_page": last}
                    for chunk, (first, last) in zip(chunks, pages)
                ]
                connection.execute(fill, rows)
