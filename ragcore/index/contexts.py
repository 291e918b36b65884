"""The cache of summaries and situating sentences, by what they were written about, and what they have cost."""

from __future__ import annotations

import time

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db


class Contexts:
    """`ragcore.protocols.ContextCache` in SQLite. What is in it outlives the documents."""

    def __init__(self, database: db.Database) -> None:
        self._database = database

    def get(self, key: str, model: str, prompt: str) -> str | None:
        table = db.contexts.c
        query = sa.select(table.text).where(table.key == key, table.model == model, table.prompt == prompt)
        with self._database.read() as connection:
            text: str | None = connection.execute(query).scalar()
        return text

    def latest(self, key: str) -> str | None:
        table = db.contexts.c
        query = sa.select(table.text).where(table.key == key).order_by(table.created.desc()).limit(1)
        with self._database.read() as connection:
            text: str | None = connection.execute(query).scalar()
        return text

    def put(self, key: str, model: str, prompt: str, text: str) -> None:
        row = {"key": key, "model": model, "prompt": prompt, "text": text, "created": time.time()}
        with self._database.write() as connection:
            connection.execute(insert(db.contexts).prefix_with("OR REPLACE"), row)

    def spent(self, doc_id: str) -> float:
        query = sa.select(db.context_costs.c.usd).where(db.context_costs.c.doc_id == doc_id)
        with self._database.read() as connection:
            return float(connection.execute(query).scalar() or 0.0)

    def spend(self, doc_id: str, usd: float) -> None:
        statement = insert(db.context_costs).values(doc_id=doc_id, usd=usd)
        total = db.context_costs.c.usd + statement.excluded.usd
        with self._database.write() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["doc_id"], set_={"usd": total}))
