"""Complete answers of models, by a hash of the whole request: the same request need not be paid for twice."""

from __future__ import annotations

import time
import zlib

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db
from ragcore.index.packing import pack, unpack
from ragcore.protocols import Response


class Responses:
    """`ragcore.protocols.ResponseCache` in SQLite, of at most ``most_bytes``; the oldest go first."""

    def __init__(self, database: db.Database, most_bytes: int) -> None:
        self._database = database
        self._most = most_bytes

    def get(self, fingerprint: str) -> Response | None:
        table = db.responses.c
        query = sa.select(table.model, table.pieces).where(table.fingerprint == fingerprint)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        try:
            return Response(row.model, unpack(row.pieces, tuple[str, ...]))
        except (zlib.error, ValueError):
            # Damaged: it is asked for again, and that answer takes its place.
            return None

    def put(self, fingerprint: str, response: Response) -> None:
        pieces = pack(response.pieces, tuple[str, ...])
        row = {
            "fingerprint": fingerprint,
            "model": response.model,
            "pieces": pieces,
            "bytes": len(pieces),
            "created": time.time(),
        }
        with self._database.write() as connection:
            connection.execute(insert(db.responses).prefix_with("OR REPLACE"), row)
            self._trim(connection)

    def _trim(self, connection: sa.Connection) -> None:
        table = db.responses.c
        total = connection.execute(sa.select(sa.func.sum(table.bytes))).scalar() or 0
        if total <= self._most:
            return
        newer = sa.func.sum(table.bytes).over(order_by=(table.created.desc(), table.fingerprint))
        sums = sa.select(table.fingerprint, newer.label("sum")).subquery()
        over = sa.select(sums.c.fingerprint).where(sums.c.sum > self._most)
        connection.execute(sa.delete(db.responses).where(table.fingerprint.in_(over)))
