"""Conversations and their answers, as they were given: reopening one shows the same words and highlights."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from ragcore.errors import UnknownConversation
from ragcore.index import database as db
from ragcore.index.packing import pack, unpack
from ragcore.types import EVERYTHING, Answer, Scope

TITLE_LENGTH = 60


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """A line of the conversation list; ``turns`` counts questions, times are seconds since the epoch."""

    conversation_id: str
    title: str
    created: float
    updated: float
    turns: int


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A question with its answer; ``answer`` is None while it is being written (or was when a process was killed)."""

    turn_id: str
    question: str
    answer: Answer | None
    created: float


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation; ``scope`` is what its next questions search."""

    info: ConversationInfo
    scope: Scope
    turns: tuple[StoredTurn, ...]


class Conversations:
    """The tables ``conversations`` and ``turns``. Raises `UnknownConversation` for an id that is gone."""

    def __init__(self, database: db.Database) -> None:
        self.database = database

    def new(self, scope: Scope = EVERYTHING) -> str:
        """An empty conversation; it takes its title from the first question."""
        conversation_id = uuid.uuid4().hex[:12]
        now = time.time()
        with self.database.write() as connection:
            connection.execute(
                sa.insert(db.conversations).values(
                    conversation_id=conversation_id,
                    title="",
                    doc_ids=_scope_json(scope),
                    created=now,
                    updated=now,
                )
            )
        return conversation_id

    def all(self) -> list[ConversationInfo]:
        """Conversations with at least one question, the last used first."""
        counted = (
            sa.select(db.conversations, sa.func.count(db.turns.c.turn_id).label("n"))
            .join(db.turns, db.turns.c.conversation_id == db.conversations.c.conversation_id)
            .group_by(db.conversations.c.conversation_id)
            .order_by(db.conversations.c.updated.desc())
        )
        with self.database.read() as connection:
            return [_info(row, row.n) for row in connection.execute(counted)]

    def get(self, conversation_id: str) -> Conversation:
        with self.database.read() as connection:
            row = connection.execute(
                sa.select(db.conversations).where(db.conversations.c.conversation_id == conversation_id)
            ).one_or_none()
            if row is None:
                raise UnknownConversation("This conversation is not in the library.")
            turns = connection.execute(
                sa.select(db.turns).where(db.turns.c.conversation_id == conversation_id).order_by(db.turns.c.position)
            ).all()
        return Conversation(
            info=_info(row, len(turns)),
            scope=_scope(row.doc_ids),
            turns=tuple(
                StoredTurn(
                    turn.turn_id, turn.question, unpack(turn.answer, Answer) if turn.answer else None, turn.created
                )
                for turn in turns
            ),
        )

    def scope(self, conversation_id: str) -> Scope:
        """What its next questions search."""
        column = db.conversations.c.doc_ids
        with self.database.read() as connection:
            row = connection.execute(
                sa.select(column).where(db.conversations.c.conversation_id == conversation_id)
            ).one_or_none()
        if row is None:
            raise UnknownConversation("This conversation is not in the library.")
        return _scope(row.doc_ids)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        self._update(conversation_id, doc_ids=_scope_json(scope))

    def rename(self, conversation_id: str, title: str) -> None:
        self._update(conversation_id, title=title.strip())

    def delete(self, conversation_id: str) -> None:
        with self.database.write() as connection:
            table = db.conversations
            connection.execute(sa.delete(table).where(table.c.conversation_id == conversation_id))

    def add_turn(self, conversation_id: str, question: str) -> str:
        """Store a question at once, before anything is looked up, so that nothing is lost; its turn id."""
        turn_id = uuid.uuid4().hex[:16]
        now = time.time()
        with self.database.write() as connection:
            row = connection.execute(
                sa.select(db.conversations.c.title).where(db.conversations.c.conversation_id == conversation_id)
            ).one_or_none()
            if row is None:
                raise UnknownConversation("This conversation is not in the library.")
            last = connection.execute(
                sa.select(sa.func.max(db.turns.c.position)).where(db.turns.c.conversation_id == conversation_id)
            ).scalar()
            connection.execute(
                sa.insert(db.turns).values(
                    turn_id=turn_id,
                    conversation_id=conversation_id,
                    position=0 if last is None else last + 1,
                    question=question,
                    created=now,
                )
            )
            title = row.title or _title(question)
            connection.execute(
                sa.update(db.conversations)
                .where(db.conversations.c.conversation_id == conversation_id)
                .values(title=title, updated=now)
            )
        return turn_id

    def put_answer(self, turn_id: str, answer: Answer) -> None:
        """Store the finished, stopped or failed answer of a turn; a turn deleted meanwhile stays deleted."""
        with self.database.write() as connection:
            connection.execute(
                sa.update(db.turns).where(db.turns.c.turn_id == turn_id).values(answer=pack(answer, Answer))
            )

    def _update(self, conversation_id: str, **values: str | None) -> None:
        with self.database.write() as connection:
            done = connection.execute(
                sa.update(db.conversations)
                .where(db.conversations.c.conversation_id == conversation_id)
                .values(**values)
            )
            if done.rowcount == 0:
                raise UnknownConversation("This conversation is not in the library.")


def _title(question: str) -> str:
    words = " ".join(question.split())
    if len(words) <= TITLE_LENGTH:
        return words
    return words[: TITLE_LENGTH + 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _scope_json(scope: Scope) -> str | None:
    return None if scope == EVERYTHING else json.dumps(asdict(scope))


def _scope(stored: str | None) -> Scope:
    """The column ``doc_ids`` → scope. Before there were pages and kinds it held only a list of documents."""
    found = json.loads(stored) if stored else {}
    if isinstance(found, list):
        return Scope(tuple(found))
    doc_ids = found.get("doc_ids")
    return Scope(
        None if doc_ids is None else tuple(doc_ids),
        tuple((first, last) for first, last in found.get("pages", ())),
        tuple(found.get("kinds", ())),
    )


def _info(row: sa.Row[tuple[object, ...]], turns: int) -> ConversationInfo:
    return ConversationInfo(row.conversation_id, row.title, row.created, row.updated, turns)
