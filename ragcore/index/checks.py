"""Check store: drafts, the verdict of each of their sentences, and what a person decided.

A verdict is stored as soon as it is there: a killed check goes on after it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ragcore.errors import UnknownCheck
from ragcore.index.database import Database, Row, made
from ragcore.index.packing import adapter, pack, unpack
from ragcore.index.versions import followed, newest_versions
from ragcore.types import Scope
from ragcore.types.check import STATUSES, CheckedSentence, CheckInfo, Decision, Draft

_ONE_OR_ALL = "check_id = coalesce(?, check_id)"
_LISTED = f"""
    SELECT check_id, name, kind, scope, created, error, coalesce(total, 0) AS total, coalesce(done, 0) AS done,
        coalesce(seconds, 0.0) AS seconds
    FROM checks LEFT JOIN (
        SELECT check_id, count(*) AS total, count(status) AS done, sum(seconds) AS seconds
        FROM check_sentences GROUP BY check_id
    ) counted USING (check_id)
    WHERE {_ONE_OR_ALL} ORDER BY created DESC, check_id
"""
_COUNTED = f"""
    SELECT check_id, status, count(*) AS n FROM check_sentences WHERE status IS NOT NULL AND {_ONE_OR_ALL}
    GROUP BY 1, 2
"""
# Sentence with a text, in a run.
_AS_ASKED = (
    "check_id = ? AND n = ? AND revised = ?"
    " AND ? = (SELECT run FROM checks c WHERE c.check_id = check_sentences.check_id)"
)


class CheckStore:
    """Tables ``checks`` and ``check_sentences``."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(
        self,
        check_id: str,
        draft: Draft,
        original: bytes,
        spans: Sequence[tuple[int, int]],
        scope: Scope,
        settings_hash: str,
    ) -> None:
        """Store a draft with its sentences, none of them checked."""
        row = {
            "check_id": check_id,
            "name": draft.name,
            "kind": draft.kind,
            "original": original,
            "draft": pack(draft, Draft),
            "scope": adapter(Scope).dump_python(scope, mode="json"),
            "settings_hash": settings_hash,
            "created": time.time(),
        }
        with self.database.write() as connection:
            connection.insert("checks", row)
            each = ({"check_id": check_id, "n": n, "start": a, "end": b} for n, (a, b) in enumerate(spans))
            connection.insert("check_sentences", *each)

    def all(self, check_id: str | None = None) -> list[CheckInfo]:
        """Checks, newest first; with ``check_id`` that one, if it is there."""
        with self.database.read() as connection:
            versions = newest_versions(connection)
            infos = {row["check_id"]: _info(row, versions) for row in connection.rows(_LISTED, check_id)}
            for row in connection.rows(_COUNTED, check_id):
                infos[row["check_id"]].counts[row["status"]] = row["n"]
        return list(infos.values())

    def info(self, check_id: str) -> CheckInfo:
        """Raises `UnknownCheck`."""
        found = self.all(check_id)
        if not found:
            raise UnknownCheck(f"There is no check {check_id!r}.")
        return found[0]

    def draft(self, check_id: str) -> Draft:
        return unpack(self.database.value("SELECT draft FROM checks WHERE check_id = ?", check_id), Draft)

    def original(self, check_id: str) -> bytes:
        """The draft's file."""
        data: bytes = self.database.value("SELECT original FROM checks WHERE check_id = ?", check_id)
        return data

    def sentences(self, check_id: str) -> list[tuple[tuple[int, int], CheckedSentence | None, Decision]]:
        """Span, verdict and decision of each sentence, in order."""
        rows = self.database.rows("SELECT * FROM check_sentences WHERE check_id = ? ORDER BY n", check_id)
        return [((row["start"], row["end"]), *_judged(row)) for row in rows]

    def sentence(self, check_id: str, n: int) -> tuple[CheckedSentence | None, Decision]:
        """Verdict and decision of sentence ``n``. Raises `UnknownCheck`."""
        rows = self.database.rows("SELECT * FROM check_sentences WHERE check_id = ? AND n = ?", check_id, n)
        if not rows:
            raise UnknownCheck(f"The check has no sentence {n}.")
        return _judged(rows[0])

    def left(self, check_id: str) -> list[int]:
        """Sentences that are not checked yet."""
        query = "SELECT n FROM check_sentences WHERE check_id = ? AND status IS NULL ORDER BY n"
        return self.database.column(query, check_id)

    def run(self, check_id: str) -> int | None:
        """Times that its verdicts were forgotten; None for no check."""
        times: int | None = self.database.value("SELECT run FROM checks WHERE check_id = ?", check_id)
        return times

    def put(
        self, check_id: str, run: int | None, n: int, revised: str, verdict: CheckedSentence, seconds: float
    ) -> bool:
        """Store the verdict of a sentence, unless it has one by now, the check is in another `run`, or its text has
        changed from ``revised`` ("": as in the draft). Returns whether it was stored."""
        return self._put("status IS NULL", (check_id, n, revised, run), verdict, seconds=seconds)

    def replace(self, check_id: str, run: int | None, n: int, revised: str, verdict: CheckedSentence) -> None:
        """Store another verdict in place of that of a sentence, unless it has none by now, or as in `put`."""
        self._put("status IS NOT NULL", (check_id, n, revised, run), verdict)

    def _put(self, where: str, asked: Sequence[object], verdict: CheckedSentence, **more: object) -> bool:
        row = {"status": verdict.status, "verdict": pack(verdict, CheckedSentence), **more}
        with self.database.write() as connection:
            return connection.update("check_sentences", f"{_AS_ASKED} AND {where}", *asked, **row) > 0

    def decide(self, check_id: str, n: int, decision: Decision) -> None:
        """Store a decision. A text that it changes is to be checked anew."""
        place = "check_id = ? AND n = ?"
        given = {"decision": decision.kind, "revised": decision.revised, "note": decision.note}
        with self.database.write() as connection:
            connection.update(
                "check_sentences",
                f"{place} AND revised <> ?",
                *(check_id, n, decision.revised),
                status=None,
                verdict=None,
            )
            connection.update("check_sentences", place, check_id, n, **given)

    def forget_verdicts(self, check_id: str, scope: Scope, settings_hash: str) -> None:
        """Make all sentences unchecked, to be checked against ``scope``. Decisions stay."""
        given = adapter(Scope).dump_python(scope, mode="json")
        with self.database.write() as connection:
            connection.update("checks", "check_id = ?", check_id, scope=given, settings_hash=settings_hash, error=None)
            connection.execute("UPDATE checks SET run = run + 1 WHERE check_id = ?", (check_id,))
            connection.update("check_sentences", "check_id = ?", check_id, status=None, verdict=None, seconds=0.0)

    def put_error(self, check_id: str, error: Mapping[str, Any] | None) -> None:
        """Store why a run ended early; None: it did not."""
        with self.database.write() as connection:
            connection.update("checks", "check_id = ?", check_id, error=error)

    def remove(self, check_id: str) -> None:
        """Delete it; none of its words stay on the disk."""
        with self.database.write() as connection:
            connection.execute("DELETE FROM checks WHERE check_id = ?", (check_id,))
        self.database.checkpoint()


def _info(row: Row, newest: Mapping[str, str]) -> CheckInfo:
    scope = followed(adapter(Scope).validate_python(row["scope"]), newest)
    return made(CheckInfo, row, scope=scope, counts=dict.fromkeys(STATUSES, 0))


def _judged(row: Row) -> tuple[CheckedSentence | None, Decision]:
    verdict = None if row["verdict"] is None else unpack(row["verdict"], CheckedSentence)
    return verdict, Decision(row["decision"], row["revised"], row["note"])
