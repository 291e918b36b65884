"""What was found worth telling of documents at first sight: caches, each with what it was made of."""

from __future__ import annotations

import json
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db


class Overviews:
    """The tables ``overviews`` and ``starters``."""

    def __init__(self, database: db.Database) -> None:
        self._database = database

    def get(self, doc_id: str, stamp: str) -> bytes | None:
        """What was kept of a document; None where that was made of another build of it."""
        table = db.overviews.c
        query = sa.select(table.data).where(table.doc_id == doc_id, table.stamp == stamp)
        with self._database.read() as connection:
            found: bytes | None = connection.execute(query).scalar_one_or_none()
        return found

    def put(self, doc_id: str, stamp: str, data: bytes) -> None:
        """Keep it, unless the document was removed meanwhile."""
        here = sa.select(db.documents.c.doc_id).where(db.documents.c.doc_id == doc_id)
        with self._database.write() as connection:
            if connection.execute(here).first() is not None:
                made = {"stamp": stamp, "data": data}
                statement = insert(db.overviews).values(doc_id=doc_id, **made)
                connection.execute(statement.on_conflict_do_update(index_elements=["doc_id"], set_=made))

    def starters(self, scope: str, stamp: str) -> list[dict[str, object]] | None:
        """The questions that were found for a scope; None where the library has changed since."""
        table = db.starters.c
        query = sa.select(table.questions).where(table.scope == scope, table.stamp == stamp)
        with self._database.read() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else list(json.loads(found))

    def keep_starters(self, scope: str, stamp: str, questions: Sequence[object]) -> None:
        """Keep them, and forget all that were found before the library changed."""
        values = {"stamp": stamp, "questions": json.dumps(list(questions))}
        statement = insert(db.starters).values(scope=scope, **values)
        with self._database.write() as connection:
            connection.execute(sa.delete(db.starters).where(db.starters.c.stamp != stamp))
            connection.execute(statement.on_conflict_do_update(index_elements=["scope"], set_=values))
