"""Evaluation store: sets of cases, runs of a configuration over a set, and the outcome of each case of a run.

An outcome is stored as soon as it is there: a killed run goes on after it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragcore.errors import UnknownRun
from ragcore.index.database import IN, Connection, Database, Row, made
from ragcore.index.packing import pack, unpack
from ragcore.types import Answer

Json = dict[str, Any]
OWN = "mine"  # id of one's own set, whatever it was when it was run


@dataclass(frozen=True, slots=True)
class SetInfo:
    """Stored set: its ``set_id`` is the digest of its cases. ``own``: what one's own set was when it was run."""

    set_id: str
    name: str
    cases: int
    created: float
    own: bool = False


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Run of a set under the dotted settings ``config`` called ``name``; ``within``: each question was asked of its
    case's documents only. ``writer`` is the model that wrote ("": it was only searched); ``done`` counts stored
    outcomes, ``usd`` their cost, ``verdicts`` how often judges judged one; ``ended`` is None until all are there."""

    run_id: str
    set_id: str
    set_name: str
    name: str
    config: Json
    settings_hash: str
    within: bool
    writer: str
    created: float
    ended: float | None
    cases: int
    done: int
    usd: float
    verdicts: int = 0
    own: bool = False

    @property
    def group(self) -> str:
        """Set that it is listed under: runs of one's own set stay together while the set grows."""
        return OWN if self.own else self.set_id

    @property
    def searched(self) -> bool:
        """Whether no answer was written."""
        return not self.writer


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of the case ``case_id`` of a run: the ``answer`` (None in a search; None, or unfinished: it failed, with
    ``error``, as `GroundworkError.as_dict`), the distinct ``pages`` (document, page) of the hits, best first, and its
    time."""

    case_id: str
    answer: Answer | None = None
    pages: tuple[tuple[str, int], ...] = ()
    error: Json | None = None
    seconds: float = 0.0


class EvaluationStore:
    """Tables ``eval_sets``, ``eval_runs``, ``eval_outcomes`` and ``eval_verdicts``."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def put_set(self, set_id: str, name: str, cases: int, data: bytes, *, own: bool = False) -> None:
        """Store a set, or rename an equal one."""
        with self.database.write() as connection:
            row = {"set_id": set_id, "name": name, "cases": cases, "data": data, "created": time.time(), "own": own}
            connection.insert("eval_sets", row, clash="NOTHING")
            connection.update("eval_sets", "set_id = ? AND own = ?", set_id, own, name=name)

    def sets(self) -> list[SetInfo]:
        """Sets, newest first."""
        rows = self.database.rows("SELECT * FROM eval_sets ORDER BY created DESC, set_id")
        return [made(SetInfo, row) for row in rows]

    def cases(self, set_id: str) -> bytes:
        data: bytes = self.database.value("SELECT data FROM eval_sets WHERE set_id = ?", set_id)
        return data

    def put_run(self, run_id: str, set_id: str, columns: Mapping[str, object]) -> None:
        """Store a run, or rename one that is there."""
        row = {"run_id": run_id, "set_id": set_id, "created": time.time(), **columns}
        with self.database.write() as connection:
            connection.insert("eval_runs", row, clash="NOTHING")
            connection.update("eval_runs", "run_id = ?", run_id, name=columns["name"])

    def end(self, run_id: str) -> None:
        with self.database.write() as connection:
            connection.update("eval_runs", "run_id = ? AND ended IS NULL", run_id, ended=time.time())

    def runs(self, set_id: str = "") -> list[RunInfo]:
        """Runs, newest first; of one set, or of all."""
        rows = self.database.rows(
            """
            SELECT r.*, s.name AS set_name, s.cases, s.own,
                (SELECT count(*) FROM eval_outcomes o WHERE o.run_id = r.run_id) AS done,
                (SELECT coalesce(sum(usd), 0.0) FROM eval_outcomes o WHERE o.run_id = r.run_id) AS usd,
                (SELECT count(judged) FROM eval_verdicts v WHERE v.run_id = r.run_id) AS verdicts
            FROM eval_runs r JOIN eval_sets s USING (set_id)
            WHERE ?1 IN ('', set_id) ORDER BY r.created DESC, run_id
            """,
            set_id,
        )
        return [made(RunInfo, row) for row in rows]

    def run(self, run_id: str) -> RunInfo:
        """Run by its id or the beginning of it. Raises `UnknownRun`."""
        found = [one for one in self.runs() if run_id and one.run_id.startswith(run_id)]
        if len(found) != 1:
            raise UnknownRun(f"{'Several runs begin' if found else 'No run begins'} with {run_id!r}.")
        return found[0]

    def put(self, run_id: str, outcome: Outcome) -> None:
        """Store the outcome of a case; an earlier one is replaced if it failed, else kept with its verdicts."""
        answer = outcome.answer
        row = {
            "run_id": run_id,
            "case_id": outcome.case_id,
            "answer": None if answer is None else pack(answer, Answer),
            "pages": json.dumps(outcome.pages),
            "error": outcome.error,
            "seconds": outcome.seconds,
            "usd": 0.0 if answer is None else answer.cost_usd or 0.0,
        }
        with self.database.write() as connection:
            given = ", ".join(f"{column} = excluded.{column}" for column in row)
            failed = "WHERE eval_outcomes.error IS NOT NULL"
            connection.insert("eval_outcomes", row, key="run_id, case_id", clash=f"UPDATE SET {given} {failed}")

    def take_over(self, run_id: str, other: str, case_ids: Sequence[str]) -> None:
        """Copy answers of run ``other`` to cases that have no outcome yet."""
        with self.database.write() as connection:
            connection.execute(_TAKE_OVER, (run_id, other, list(case_ids)))

    def done(self, run_id: str) -> set[str]:
        """Cases that didn't fail."""
        return set(self.database.column("SELECT case_id FROM eval_outcomes WHERE run_id = ? AND error IS NULL", run_id))

    def outcomes(self, run_id: str, case_id: str = "") -> dict[str, Outcome]:
        """Stored outcomes by case; of one case, or of all."""
        rows = self.database.rows(
            "SELECT * FROM eval_outcomes WHERE run_id = ?1 AND ?2 IN ('', case_id)", run_id, case_id
        )
        return {row["case_id"]: _outcome(row) for row in rows}

    def put_judged(self, run_id: str, case_id: str, judge: str, judged: bytes) -> None:
        """Store what a judge says of an outcome."""
        row = {"run_id": run_id, "case_id": case_id, "judge": judge, "judged": judged}
        with self.database.write() as connection:
            _put(connection, row, "judged")

    def judged(self, run_id: str) -> dict[str, dict[str, bytes]]:
        """What judges say of a run, by judge and case; the judge that was asked last comes last."""
        query = (
            "SELECT judge, case_id, judged FROM eval_verdicts WHERE run_id = ? AND judged IS NOT NULL ORDER BY asked"
        )
        found: dict[str, dict[str, bytes]] = {}
        for judge, case_id, judged in self.database.rows(query, run_id):
            found[judge] = found.pop(judge, {}) | {case_id: judged}
        return found

    def put_last(self, run_id: str, judge: str) -> None:
        """Make a judge of a run the one that was asked last."""
        with self.database.write() as connection:
            connection.update("eval_verdicts", "run_id = ? AND judge = ?", run_id, judge, asked=time.time())

    def put_reply(self, run_id: str, case_id: str, judge: str, key: str, text: str) -> None:
        """Store a model's reply to one request about an outcome."""
        place = run_id, case_id, judge
        row = dict(zip(("run_id", "case_id", "judge"), place))
        query = "SELECT replies FROM eval_verdicts WHERE (run_id, case_id, judge) = (?, ?, ?)"
        with self.database.write() as connection:
            kept = connection.value(query, *place)
            replies = {} if kept is None else unpack(kept, dict[str, str])
            data = pack(replies | {key: text}, dict[str, str])
            _put(connection, row | {"replies": data}, "replies")

    def replies(self, judge: str) -> dict[str, str]:
        """A model's replies as a judge, of every run: equal requests are answered once."""
        query = "SELECT replies FROM eval_verdicts WHERE judge = ? AND replies IS NOT NULL"
        each = (unpack(data, dict[str, str]) for data in self.database.column(query, judge))
        return {key: text for replies in each for key, text in replies.items()}


_TAKE_OVER = f"""
    INSERT INTO eval_outcomes (run_id, case_id, answer, pages, error, seconds, usd)
    SELECT CAST(? AS TEXT), case_id, answer, pages, error, seconds, usd FROM eval_outcomes
    WHERE run_id = ? AND error IS NULL AND case_id {IN}
    ON CONFLICT DO NOTHING
"""


def _put(connection: Connection, row: Mapping[str, object], changed: str) -> None:
    """Store what a judge says of an outcome; of one that it was asked about before, only ``changed``."""
    clash = f"UPDATE SET {changed} = excluded.{changed}"
    row = {**row, "asked": time.time()}
    connection.insert("eval_verdicts", row, key="run_id, case_id, judge", clash=clash)


def _outcome(row: Row) -> Outcome:
    answer = None if row["answer"] is None else unpack(row["answer"], Answer)
    pages = tuple((doc_id, page) for doc_id, page in json.loads(row["pages"]))
    return made(Outcome, row, answer=answer, pages=pages)
