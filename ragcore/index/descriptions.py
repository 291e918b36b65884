"""The cache of figure descriptions, by picture, and what they have cost, by document."""

from __future__ import annotations

import time

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db


class Descriptions:
    """`ragcore.protocols.DescriptionCache` in SQLite. What is in it outlives the documents."""

    def __init__(self, database: db.Database) -> None:
        self._database = database

    def get(self, image: str, model: str, prompt: str) -> str | None:
        table = db.descriptions.c
        query = sa.select(table.text).where(table.image == image, table.model == model, table.prompt == prompt)
        with self._database.read() as connection:
            text: str | None = connection.execute(query).scalar()
        return text

    def latest(self, image: str) -> str | None:
        table = db.descriptions.c
        query = sa.select(table.text).where(table.image == image).order_by(table.created.desc()).limit(1)
        with self._database.read() as connection:
            text: str | None = connection.execute(query).scalar()
        return text

    def put(self, image: str, model: str, prompt: str, text: str) -> None:
        row = {"image": image, "model": model, "prompt": prompt, "text": text, "created": time.time()}
        with self._database.write() as connection:
            connection.execute(insert(db.descriptions).prefix_with("OR REPLACE"), row)

    def spent(self, doc_id: str) -> float:
        query = sa.select(db.figure_costs.c.usd).where(db.figure_costs.c.doc_id == doc_id)
        with self._database.read() as connection:
            return float(connection.execute(query).scalar() or 0.0)

    def spend(self, doc_id: str, usd: float) -> None:
        statement = insert(db.figure_costs).values(doc_id=doc_id, usd=usd)
        total = db.figure_costs.c.usd + statement.excluded.usd
        with self._database.write() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["doc_id"], set_={"usd": total}))

    def images(self, doc_id: str) -> dict[str, str]:
        table = db.figure_images.c
        with self._database.read() as connection:
            rows = connection.execute(sa.select(table.place, table.image).where(table.doc_id == doc_id))
            return {row.place: row.image for row in rows}

    def put_image(self, doc_id: str, place: str, image: str) -> None:
        row = {"doc_id": doc_id, "place": place, "image": image}
        with self._database.write() as connection:
            connection.execute(insert(db.figure_images).prefix_with("OR REPLACE"), row)
