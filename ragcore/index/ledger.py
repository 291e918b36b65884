"""The ledger of what models were paid for: sums by day, model and purpose."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db
from ragcore.types import Usage
from ragcore.types.spending import PURPOSES, DaySpent, Prices, Purpose, Spending, Spent, cost, dollars

_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


class Ledger:
    """`ragcore.protocols.SpendLedger` in SQLite. It outlives documents and conversations, and knows nothing of them.
    What cannot be booked now is booked with the next call, or by `settle`. Safe for threads."""

    def __init__(self, database: db.Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._unbooked: list[dict[str, Any]] = []

    def add(self, model: str, purpose: Purpose, usage: Usage, usd: float | None) -> None:
        entry = {"day": time.strftime("%Y-%m-%d"), "model": model, "purpose": purpose, "priced": usd is not None}
        counts = {name: getattr(usage, name) for name in _TOKENS}
        with self._lock:
            self._unbooked.append({**entry, "calls": 1, "usd": usd or 0.0, **counts})
        self.settle()

    def settle(self) -> None:
        """Book what could not be booked before. Raises `StoreError`."""
        statement = insert(db.spent)
        sums = {name: db.spent.c[name] + statement.excluded[name] for name in ("calls", "usd", *_TOKENS)}
        statement = statement.on_conflict_do_update(index_elements=["day", "model", "purpose", "priced"], set_=sums)
        with self._lock:
            if self._unbooked:
                with self._database.write() as connection:
                    for entry in self._unbooked:
                        connection.execute(statement, entry)
                self._unbooked = []

    def spending(self, prices: Prices) -> Spending:
        """All of it. ``prices`` stand in where a model had none when it was asked."""
        with self._database.read() as connection:
            rows = list(connection.execute(sa.select(db.spent).order_by(db.spent.c.day)))
        by_use: dict[tuple[str, Purpose, bool], list[_Row]] = defaultdict(list)
        by_day: dict[str, list[_Row]] = defaultdict(list)
        for row in rows:
            usage = Usage(*(getattr(row, name) for name in _TOKENS))
            usd = row.usd if row.priced else cost(usage, row.model, prices)
            by_use[row.model, row.purpose, usd is not None].append((row.calls, usage, usd))
            by_day[row.day].append((row.calls, usage, usd))
        entries = [Spent(model, purpose, *_sum(each)) for (model, purpose, _), each in by_use.items()]
        entries.sort(key=lambda entry: (-(entry.usd or 0.0), entry.model, PURPOSES.index(entry.purpose)))
        return Spending(tuple(entries), tuple(DaySpent(day, *_sum(each)) for day, each in by_day.items()))


_Row = tuple[int, Usage, float | None]


def _sum(rows: Iterable[_Row]) -> _Row:
    calls, usages, usds = zip(*rows)
    return sum(calls), sum(usages, Usage()), dollars(list(usds))
