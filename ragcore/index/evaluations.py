"""Evaluation store: sets of cases, runs of a configuration over a set, and the outcome of each case of a run.

An outcome is stored as soon as it is there: a killed run goes on after it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragcore.errors import UnknownRun
from ragcore.index.database import Database, Row, made
from ragcore.index.packing import pack, unpack
from ragcore.types import Answer

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SetInfo:
    """Stored set: its ``set_id`` is the digest of its cases."""

    set_id: str
    name: str
    cases: int
    created: float


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Run of a set under the dotted settings ``config`` called ``name``; ``within``: each question was asked of its
    case's documents only. ``writer`` is the model that wrote ("": it was only searched); ``done`` counts stored
    outcomes, ``usd`` their cost; ``ended`` is None until all are there."""

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
    """Tables ``eval_sets``, ``eval_runs`` and ``eval_outcomes``."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def put_set(self, set_id: str, name: str, cases: int, data: bytes) -> None:
        """Store a set, or rename an equal one."""
        with self.database.write() as connection:
            row = {"set_id": set_id, "name": name, "cases": cases, "data": data, "created": time.time()}
            connection.insert("eval_sets", row, clash="NOTHING")
            connection.update("eval_sets", "set_id = ?", set_id, name=name)

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
            SELECT r.*, s.name AS set_name, s.cases, count(o.case_id) AS done, coalesce(sum(o.usd), 0.0) AS usd
            FROM eval_runs r JOIN eval_sets s USING (set_id) LEFT JOIN eval_outcomes o USING (run_id)
            WHERE ?1 IN ('', set_id) GROUP BY run_id ORDER BY r.created DESC, run_id
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
        """Store the outcome of a case; an earlier one is replaced."""
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
            connection.insert("eval_outcomes", row, clash="REPLACE")

    def done(self, run_id: str) -> set[str]:
        """Cases that didn't fail."""
        return set(self.database.column("SELECT case_id FROM eval_outcomes WHERE run_id = ? AND error IS NULL", run_id))

    def outcomes(self, run_id: str, case_id: str = "") -> dict[str, Outcome]:
        """Stored outcomes by case; of one case, or of all."""
        rows = self.database.rows(
            "SELECT * FROM eval_outcomes WHERE run_id = ?1 AND ?2 IN ('', case_id)", run_id, case_id
        )
        return {row["case_id"]: _outcome(row) for row in rows}


def _outcome(row: Row) -> Outcome:
    answer = None if row["answer"] is None else unpack(row["answer"], Answer)
    pages = tuple((doc_id, page) for doc_id, page in json.loads(row["pages"]))
    return made(Outcome, row, answer=answer, pages=pages)
