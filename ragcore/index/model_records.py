"""Records of models: texts about figures and passages, complete answers, spending by day, and the overviews of
documents and libraries."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from ragcore.index.database import Database
from ragcore.types import Usage
from ragcore.types.spending import PURPOSES, Prices, Purpose, Spending, Spent, cost, dollars


class ModelTexts:
    """Texts of one kind that models wrote (`ragcore.protocols.ContextCache`): descriptions of pictures, summaries and
    situating sentences, or forms about sentences. They go with the document ``owner``; without one they outlive the
    documents, as all costs do. Of ``verdicts`` only costs are kept, by run."""

    def __init__(
        self, database: Database, kind: Literal["figure", "context", "relations", "verdicts"], owner: str | None = None
    ) -> None:
        self._database = database
        self._kind = kind
        self._owner = owner

    def get(self, key: str, model: str, prompt: str) -> str | None:
        query = "SELECT text FROM model_texts WHERE kind = ? AND key = ? AND model = ? AND prompt = ?"
        text: str | None = self._database.value(query, self._kind, key, model, prompt)
        return text

    def latest(self, key: str) -> str | None:
        query = "SELECT text FROM model_texts WHERE kind = ? AND key = ? ORDER BY created DESC LIMIT 1"
        text: str | None = self._database.value(query, self._kind, key)
        return text

    def put(self, key: str, model: str, prompt: str, text: str) -> None:
        row = {"kind": self._kind, "key": key, "model": model, "prompt": prompt, "text": text, "created": time.time()}
        with self._database.write() as connection:
            connection.insert("model_texts", row | {"owner": self._owner}, key="kind, key, model, prompt")

    def forget(self) -> None:
        """Delete the texts that have an owner."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM model_texts WHERE kind = ? AND owner IS NOT NULL", (self._kind,))

    def spent(self, doc_id: str) -> float:
        query = "SELECT usd FROM model_costs WHERE kind = ? AND doc_id = ?"
        return float(self._database.value(query, self._kind, doc_id) or 0.0)

    def spent_here(self) -> float:
        """US dollars for all documents that are in the library or its trash."""
        query = "SELECT coalesce(sum(usd), 0) FROM model_costs JOIN documents USING (doc_id) WHERE kind = ?"
        return float(self._database.value(query, self._kind))

    def spend(self, doc_id: str, usd: float) -> None:
        with self._database.write() as connection:
            row = {"kind": self._kind, "doc_id": doc_id, "usd": usd}
            more = "UPDATE SET usd = model_costs.usd + excluded.usd"
            connection.insert("model_costs", row, key="kind, doc_id", clash=more)


class FigureTexts(ModelTexts):
    """Descriptions by picture (hash of its pixels), and the picture drawn at each place of a document."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, "figure")

    def images(self, doc_id: str) -> dict[str, str]:
        rows = self._database.rows("SELECT place, image FROM figure_images WHERE doc_id = ?", doc_id)
        return dict(map(tuple, rows))

    def put_image(self, doc_id: str, place: str, image: str) -> None:
        with self._database.write() as connection:
            row = {"doc_id": doc_id, "place": place, "image": image}
            connection.insert("figure_images", row, key="doc_id, place")


class Responses:
    """Complete texts of models by the hash of their request; the newest ``most`` are kept. Each is for its ``owner``
    alone ("": nobody in particular): what others asked is not to be learnt, not even by an answer that is free."""

    def __init__(self, database: Database, owner: str = "", most: int = 2000) -> None:
        self._database = database
        self._owner = owner
        self._most = most

    def get(self, key: str) -> tuple[str, str] | None:
        """``(model, text)``; None if there is none."""
        rows = self._database.rows("SELECT model, text FROM responses WHERE key = ?", self._owner + key)
        return (rows[0]["model"], rows[0]["text"]) if rows else None

    def put(self, key: str, model: str, text: str) -> None:
        row = {"key": self._owner + key, "model": model, "text": text, "created": time.time()}
        with self._database.write() as connection:
            connection.insert("responses", row, key="key")
            newest = "SELECT key FROM responses ORDER BY created DESC, key LIMIT ?"
            connection.execute(f"DELETE FROM responses WHERE key NOT IN ({newest})", (self._most,))


_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_Sum = tuple[int, Usage, float | None]  # calls, tokens, US dollars


class Ledger:
    """Paid calls; they outlive documents and conversations, and do not refer to them. ``usd`` is None if the model has
    no price. Spending that cannot be booked is booked with the next call, or by `settle`. Thread-safe."""

    def __init__(self, database: Database) -> None:
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
        """Book pending spending. Raises `StoreError`."""
        sums = ", ".join(f"{name} = spent.{name} + excluded.{name}" for name in ("calls", "usd", *_TOKENS))
        with self._lock:
            if self._unbooked:
                with self._database.write() as connection:
                    key = "day, model, purpose, priced"
                    connection.insert("spent", *self._unbooked, key=key, clash=f"UPDATE SET {sums}")
                self._unbooked = []

    def spending(self, prices: Prices) -> Spending:
        """All spending. ``prices`` are used for models that had no price when they were called."""
        by_use: dict[tuple[str, Purpose, bool], list[_Sum]] = defaultdict(list)
        since = ""
        for row in self._database.rows("SELECT * FROM spent ORDER BY day"):
            usage = Usage(*(row[name] for name in _TOKENS))
            usd = row["usd"] if row["priced"] else cost(usage, row["model"], prices)
            by_use[row["model"], row["purpose"], usd is not None].append((row["calls"], usage, usd))
            since = since or row["day"]
        entries = [Spent(model, purpose, *_sum(each)) for (model, purpose, _), each in by_use.items()]
        entries.sort(key=lambda entry: (-(entry.usd or 0.0), entry.model, PURPOSES.index(entry.purpose)))
        return Spending(tuple(entries), since)


def _sum(rows: Iterable[_Sum]) -> _Sum:
    calls, usages, usds = zip(*rows)
    return sum(calls), sum(usages, Usage()), dollars(list(usds))


class Overviews:
    """Content of an empty conversation, each entry with a ``stamp`` of its inputs: None if that changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, doc_id: str, stamp: str) -> bytes | None:
        """Stored overview of a document."""
        query = "SELECT data FROM overviews WHERE doc_id = ? AND stamp = ?"
        found: bytes | None = self._database.value(query, doc_id, stamp)
        return found

    def put(self, doc_id: str, stamp: str, data: bytes) -> None:
        """Store it, unless the document was removed in the meantime."""
        with self._database.write() as connection:
            if connection.value("SELECT count(*) FROM documents WHERE doc_id = ?", doc_id):
                connection.insert("overviews", {"doc_id": doc_id, "stamp": stamp, "data": data}, key="doc_id")

    def starters(self, scope: str, stamp: str) -> list[dict[str, object]] | None:
        """Questions found for a scope."""
        query = "SELECT questions FROM starters WHERE scope = ? AND stamp = ?"
        found = self._database.value(query, scope, stamp)
        return None if found is None else list(found)

    def keep_starters(self, scope: str, stamp: str, questions: Sequence[object]) -> None:
        """Store them, and delete all that were found before the library changed."""
        row = {"scope": scope, "stamp": stamp, "questions": list(questions)}
        with self._database.write() as connection:
            connection.execute("DELETE FROM starters WHERE stamp != ?", (stamp,))
            connection.insert("starters", row, key="scope")
