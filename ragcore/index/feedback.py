"""What people thought of answers, and the questions suggested under them: beside the turns, in this library alone."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.errors import InputError, UnknownTurn
from ragcore.index import database as db
from ragcore.index.packing import unpack
from ragcore.types import Answer
from ragcore.types.library import REASONS, Feedback, FeedbackRecord

LONGEST_WORDS = 2000


class FeedbackStore:
    """The tables ``feedback`` and ``suggestions``."""

    def __init__(self, database: db.Database) -> None:
        self._database = database

    def put(self, turn_id: str, given: Feedback | None) -> None:
        """Keep what is thought of a turn's answer in place of what was; None takes it back. Raises `UnknownTurn`, and
        `InputError` for too many words."""
        if given is not None and (given.reason not in REASONS or len(given.words) > LONGEST_WORDS):
            raise InputError(
                f"Feedback needs a known reason and at most {LONGEST_WORDS:,} characters.", hint="Shorten it."
            )
        with self._database.write() as connection:
            _require(connection, turn_id)
            connection.execute(sa.delete(db.feedback).where(db.feedback.c.turn_id == turn_id))
            if given is not None:
                connection.execute(
                    sa.insert(db.feedback).values(
                        turn_id=turn_id,
                        helpful=given.helpful,
                        reason=given.reason,
                        words=given.words,
                        created=time.time(),
                    )
                )

    def of(self, turn_ids: Sequence[str]) -> dict[str, Feedback]:
        """What is thought of these turns; those of which nothing is are left out."""
        with self._database.read() as connection:
            rows = connection.execute(sa.select(db.feedback).where(db.feedback.c.turn_id.in_(turn_ids))).all()
        return {row.turn_id: Feedback(bool(row.helpful), row.reason, row.words) for row in rows}

    def all(self) -> list[FeedbackRecord]:
        """All of it, oldest first."""
        asked = (
            sa.select(db.feedback, db.turns.c.conversation_id, db.turns.c.question, db.turns.c.answer)
            .join(db.turns, db.turns.c.turn_id == db.feedback.c.turn_id)
            .order_by(db.feedback.c.created)
        )
        with self._database.read() as connection:
            rows = connection.execute(asked).all()
        told = []
        for row in rows:
            answer = unpack(row.answer, Answer) if row.answer else None
            told.append(
                FeedbackRecord(
                    row.conversation_id,
                    row.turn_id,
                    row.question,
                    answer.text if answer else "",
                    answer.model if answer else "",
                    bool(answer and answer.refused),
                    answer.settings_hash if answer else "",
                    Feedback(bool(row.helpful), row.reason, row.words),
                    row.created,
                )
            )
        return told

    def suggestions(self, turn_id: str) -> tuple[str, ...] | None:
        """What was found that could be asked after a turn; None where nobody has looked yet."""
        with self._database.read() as connection:
            found = connection.execute(
                sa.select(db.suggestions.c.questions).where(db.suggestions.c.turn_id == turn_id)
            ).scalar_one_or_none()
        return None if found is None else tuple(json.loads(found))

    def keep_suggestions(self, turn_id: str, questions: Sequence[str]) -> None:
        """Raises `UnknownTurn`."""
        with self._database.write() as connection:
            _require(connection, turn_id)
            statement = insert(db.suggestions).values(turn_id=turn_id, questions=json.dumps(list(questions)))
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["turn_id"], set_={"questions": statement.excluded.questions}
                )
            )


def _require(connection: sa.Connection, turn_id: str) -> None:
    known = connection.execute(sa.select(db.turns.c.turn_id).where(db.turns.c.turn_id == turn_id)).one_or_none()
    if known is None:
        raise UnknownTurn(f"There is no turn {turn_id!r} in this library.")
