"""Own cases: questions that a person keeps from answers, with the answer to expect and its evidence.

A case outlives its conversation. The words of a removed document are deleted with it; file name and page stay.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

from ragcore.index.database import Database, Row, made


@dataclass(frozen=True, slots=True)
class OwnEvidence:
    """Place of an answer: the file name and id of a document, the page (from 1), and the words there, "" once the
    document is removed."""

    document: str
    doc_id: str
    page: int
    quote: str


@dataclass(frozen=True, slots=True)
class OwnCase:
    """Question kept from the answer of turn ``case_id``, asked of the files ``documents`` (none: of all); ``answer`` is
    the one to expect, "" if not ``answerable``."""

    case_id: str
    question: str
    answer: str
    answerable: bool = True
    documents: tuple[str, ...] = ()
    evidence: tuple[OwnEvidence, ...] = ()
    created: float = 0.0


class OwnCases:
    """Tables ``eval_own`` and ``eval_own_evidence``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, case: OwnCase) -> None:
        """Store a case, or change it: its place among the others stays."""
        columns = {"question": case.question, "answer": case.answer, "answerable": case.answerable}
        columns["documents"] = case.documents
        with self._database.write() as connection:
            if not connection.update("eval_own", "case_id = ?", case.case_id, **columns):
                connection.insert("eval_own", {"case_id": case.case_id, **columns, "created": time.time()})
            connection.execute("DELETE FROM eval_own_evidence WHERE case_id = ?", (case.case_id,))
            places = enumerate(map(asdict, case.evidence))
            rows = [{"case_id": case.case_id, "position": position, **place} for position, place in places]
            connection.insert("eval_own_evidence", *rows)

    def remove(self, case_id: str) -> None:
        with self._database.write() as connection:
            connection.execute("DELETE FROM eval_own WHERE case_id = ?", (case_id,))

    def get(self, case_id: str) -> OwnCase | None:
        return next((case for case in self.all(case_id)), None)

    def all(self, case_id: str = "") -> list[OwnCase]:
        """All cases, in the order in which they were kept; or one."""
        with self._database.read() as connection:
            cases = connection.rows("SELECT * FROM eval_own WHERE ?1 IN ('', case_id) ORDER BY created", case_id)
            places = connection.rows(
                "SELECT * FROM eval_own_evidence WHERE ?1 IN ('', case_id) ORDER BY case_id, position", case_id
            )
        return [_case(row, places) for row in cases]


def _case(row: Row, places: list[Row]) -> OwnCase:
    own = [made(OwnEvidence, place) for place in places if place["case_id"] == row["case_id"]]
    return made(OwnCase, row, evidence=tuple(own))
