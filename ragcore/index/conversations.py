"""Conversations and their answers, as they were given: reopening one shows the same words and highlights.

The turns of a conversation are a tree. A question goes after the turn that its asker saw; an edited question, or the
same one again, stands beside the first as another version with the same turns before it. One path through the tree is
shown: the one that ends at the turn that the conversation names. Nothing is ever taken out of the tree but with the
whole conversation.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import sqlalchemy as sa

from ragcore.errors import InputError, UnknownConversation, UnknownTurn
from ragcore.index import database as db
from ragcore.index.conversation_search import find, remember
from ragcore.index.packing import fields, number, pack, unpack
from ragcore.index.renamed import given_titles, renamed
from ragcore.types import EVERYTHING, Answer, Scope, Turn

TITLE_LENGTH = 60  # of a title that is made from a question
LONGEST_TITLE = 200  # of one that a person gives


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """A line of the conversation list; ``turns`` counts the questions of the shown path, times are seconds since the
    epoch. ``shown`` is the last turn of that path, "" where there is none; ``found`` are the words around the first
    that was searched for, "" where nothing was searched for or only the title has it."""

    conversation_id: str
    title: str
    created: float
    updated: float
    turns: int
    shown: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A question with its answer; ``answer`` is None while it is being written (or was when a process was killed).
    ``versions`` are the ids of this turn and of those that stand beside it, in order of creation."""

    turn_id: str
    question: str
    answer: Answer | None
    created: float
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as it is shown; ``scope`` is what its next questions search, ``turns`` the shown path or a part of
    it, before which stand ``earlier`` turns."""

    info: ConversationInfo
    scope: Scope
    turns: tuple[StoredTurn, ...]
    earlier: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a new question goes: after the turn ``parent`` (None: it is a first question), whose path from the first
    question on is ``history``, as far as it has answers."""

    parent: str | None
    history: tuple[Turn, ...]


class Conversations:
    """The tables ``conversations`` and ``turns``. Raises `UnknownConversation` for an id that is gone, and
    `UnknownTurn` for a turn that is not in the conversation."""

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

    def all(self, search: str = "") -> list[ConversationInfo]:
        """Conversations with at least one question, the last used first; with ``search`` those that have all of its
        words in their title, questions and answers, those of branches that are not shown included."""
        table = db.conversations
        listed = (
            sa.select(table, db.turns.c.depth)
            .join(db.turns, db.turns.c.turn_id == table.c.shown)
            .order_by(table.c.updated.desc(), table.c.created.desc())
        )
        with self.database.read() as connection:
            infos = [_info(row, row.depth) for row in connection.execute(listed)]
        if not search.strip():
            return infos
        found = find(self.database, search)
        return [replace(info, found=found[info.conversation_id]) for info in infos if info.conversation_id in found]

    def get(
        self, conversation_id: str, *, newest: int | None = None, before: str = "", since: str = ""
    ) -> Conversation:
        """The conversation with all turns of its shown path, or with a part of them, since unpacking an answer takes
        about a millisecond: those from the turn ``since`` on, or else the ``newest`` ones of those before the turn
        ``before`` ("": of all). A turn that is not on the path (any more) is as none given."""
        with self.database.read() as connection:
            row = _conversation(connection, conversation_id)
            tree = _Tree(connection, conversation_id)
            path = tree.path(row.shown)
            end = path.index(before) if before in path else len(path)
            begin = 0 if newest is None else max(end - newest, 0)
            if since in path:
                begin = path.index(since)
            wanted = path[begin:end]
            stored = {
                turn.turn_id: turn
                for turn in connection.execute(sa.select(db.turns).where(db.turns.c.turn_id.in_(wanted)))
            }
            given = given_titles(connection)
        return Conversation(
            info=_info(row, len(path)),
            scope=_scope(row.doc_ids),
            turns=tuple(_stored(stored[turn_id], tree, given) for turn_id in wanted),
            earlier=begin,
        )

    def shown_turn(self, conversation_id: str, turn_id: str) -> StoredTurn | None:
        """A turn of the shown path; None where it is not on it (any more)."""
        with self.database.read() as connection:
            row = _conversation(connection, conversation_id)
            tree = _Tree(connection, conversation_id)
            if turn_id not in tree.path(row.shown):
                return None
            turn = connection.execute(sa.select(db.turns).where(db.turns.c.turn_id == turn_id)).one()
            given = given_titles(connection)
        return _stored(turn, tree, given)

    def place(self, conversation_id: str, *, after: str | None = None, instead_of: str | None = None) -> Place:
        """Where a question goes that is asked now: after the turn ``after`` ("": it is a first question; None: the end
        of the shown path), or as another version of the turn ``instead_of``, which takes ``after``'s place."""
        with self.database.read() as connection:
            row = _conversation(connection, conversation_id)
            tree = _Tree(connection, conversation_id)
            if instead_of is not None:
                parent = tree.parent(instead_of)
            elif after is None:
                parent = row.shown
            else:
                parent = after or None
            path = tree.path(parent)
            stored = {
                turn.turn_id: turn
                for turn in connection.execute(
                    sa.select(db.turns.c.turn_id, db.turns.c.question, db.turns.c.answer).where(
                        db.turns.c.turn_id.in_(path), db.turns.c.answer.is_not(None)
                    )
                )
            }
        answered = (stored[turn_id] for turn_id in path if turn_id in stored)
        return Place(parent, tuple(_answered(turn.question, fields(turn.answer)) for turn in answered))

    def scope(self, conversation_id: str) -> Scope:
        """What its next questions search."""
        with self.database.read() as connection:
            return _scope(_conversation(connection, conversation_id).doc_ids)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        self._update(conversation_id, doc_ids=_scope_json(scope))

    def rename(self, conversation_id: str, title: str) -> None:
        """Raises `InputError` for a title that is too long."""
        title = title.strip()
        if len(title) > LONGEST_TITLE:
            raise InputError(
                f"A title can have at most {LONGEST_TITLE} characters; this one has {len(title)}.", hint="Shorten it."
            )
        self._update(conversation_id, title=title)

    def delete(self, conversation_id: str) -> None:
        """Delete it with all its branches."""
        with self.database.write() as connection:
            table = db.conversations
            connection.execute(sa.delete(table).where(table.c.conversation_id == conversation_id))

    def add_turn(self, conversation_id: str, question: str, place: Place | None = None) -> str:
        """Store a question at once, before anything is looked up, so that nothing is lost; its turn id. It goes to
        ``place`` (None: after the shown path) and the path down to it becomes the shown one."""
        turn_id = uuid.uuid4().hex[:16]
        now = time.time()
        with self.database.write() as connection:
            row = _conversation(connection, conversation_id)
            parent = row.shown if place is None else place.parent
            tree = _Tree(connection, conversation_id)
            connection.execute(
                sa.insert(db.turns).values(
                    turn_id=turn_id,
                    conversation_id=conversation_id,
                    position=tree.next_position,
                    question=question,
                    created=now,
                    parent=parent,
                    depth=len(tree.path(parent)) + 1,
                )
            )
            remember(connection, conversation_id, turn_id, question)
            title = row.title or _title(question)
            remember(connection, conversation_id, conversation_id, title)
            connection.execute(
                sa.update(db.conversations)
                .where(db.conversations.c.conversation_id == conversation_id)
                .values(title=title, updated=now, shown=turn_id)
            )
        return turn_id

    def show_turn(self, conversation_id: str, turn_id: str) -> None:
        """Show the path through a turn, on to the newest turn that follows from it."""
        with self.database.write() as connection:
            _conversation(connection, conversation_id)
            last = _Tree(connection, conversation_id).newest_below(turn_id)
            connection.execute(
                sa.update(db.conversations)
                .where(db.conversations.c.conversation_id == conversation_id)
                .values(shown=last)
            )

    def cost(self, conversation_id: str) -> float:
        """US dollars that the answers of all its branches have cost, as far as their models had a price."""
        with self.database.read() as connection:
            _conversation(connection, conversation_id)
            answers = connection.execute(
                sa.select(db.turns.c.answer).where(
                    db.turns.c.conversation_id == conversation_id, db.turns.c.answer.is_not(None)
                )
            ).scalars()
            return sum(number(answer, "cost_usd") or 0.0 for answer in answers)

    def put_answer(self, turn_id: str, answer: Answer) -> None:
        """Store the finished, stopped or failed answer of a turn; a turn deleted meanwhile stays deleted."""
        packed = pack(answer, Answer)
        with self.database.write() as connection:
            row = connection.execute(
                sa.select(db.turns.c.conversation_id, db.turns.c.question).where(db.turns.c.turn_id == turn_id)
            ).one_or_none()
            if row is not None:
                connection.execute(sa.update(db.turns).where(db.turns.c.turn_id == turn_id).values(answer=packed))
                remember(connection, row.conversation_id, turn_id, row.question, answer.text)

    def _update(self, conversation_id: str, **values: str | None) -> None:
        with self.database.write() as connection:
            done = connection.execute(
                sa.update(db.conversations)
                .where(db.conversations.c.conversation_id == conversation_id)
                .values(**values)
            )
            if done.rowcount == 0:
                raise UnknownConversation("This conversation isn't in the library.")
            if values.get("title") is not None:
                remember(connection, conversation_id, conversation_id, str(values["title"]))


class _Tree:
    """The turns of one conversation without their words, as they stand in one transaction."""

    def __init__(self, connection: sa.Connection, conversation_id: str) -> None:
        columns = (db.turns.c.turn_id, db.turns.c.parent, db.turns.c.position)
        rows = connection.execute(
            sa.select(*columns).where(db.turns.c.conversation_id == conversation_id).order_by(db.turns.c.position)
        ).all()
        self.next_position: int = rows[-1].position + 1 if rows else 0
        # In order of creation: a turn comes after the one that it follows.
        self._parents: dict[str, str | None] = {row.turn_id: row.parent for row in rows}

    def parent(self, turn_id: str) -> str | None:
        if turn_id not in self._parents:
            raise UnknownTurn(f"There is no turn {turn_id!r} in this conversation.")
        return self._parents[turn_id]

    def path(self, turn_id: str | None) -> list[str]:
        """From a first question down to ``turn_id``; empty for None."""
        path: list[str] = []
        while turn_id is not None:
            path.append(turn_id)
            turn_id = self.parent(turn_id)
        return path[::-1]

    def versions(self, turn_id: str) -> tuple[str, ...]:
        parent = self.parent(turn_id)
        return tuple(other for other, above in self._parents.items() if above == parent)

    def newest_below(self, turn_id: str) -> str:
        """The newest of ``turn_id`` and all that follow from it, which none follows in turn."""
        self.parent(turn_id)
        below = {turn_id}
        newest = turn_id
        for other, above in self._parents.items():
            if above in below:
                below.add(other)
                newest = other
        return newest


def _conversation(connection: sa.Connection, conversation_id: str) -> sa.Row[tuple[object, ...]]:
    row = connection.execute(
        sa.select(db.conversations).where(db.conversations.c.conversation_id == conversation_id)
    ).one_or_none()
    if row is None:
        raise UnknownConversation("This conversation isn't in the library.")
    return row


def _stored(row: sa.Row[tuple[object, ...]], tree: _Tree, given: Mapping[str, str]) -> StoredTurn:
    answer = renamed(unpack(row.answer, Answer), given) if row.answer else None
    return StoredTurn(row.turn_id, row.question, answer, row.created, tree.versions(row.turn_id))


def _title(question: str) -> str:
    words = " ".join(question.split())
    if len(words) <= TITLE_LENGTH:
        return words
    return words[: TITLE_LENGTH + 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _answered(question: str, answer: Mapping[str, Any]) -> Turn:
    cited = tuple((one["doc_id"], one["start"], one["end"]) for one in answer["citations"])
    return Turn(question, answer["text"], answer.get("standalone", ""), cited)


def _scope_json(scope: Scope) -> str | None:
    return None if scope == EVERYTHING else json.dumps(asdict(scope))


def _scope(stored: str | None) -> Scope:
    """The column ``doc_ids`` → scope."""
    found = json.loads(stored) if stored else {}
    doc_ids = found.get("doc_ids")
    return Scope(
        None if doc_ids is None else tuple(doc_ids),
        tuple((first, last) for first, last in found.get("pages", ())),
        tuple(found.get("kinds", ())),
        tuple(found.get("without", ())),
    )


def _info(row: sa.Row[tuple[object, ...]], turns: int) -> ConversationInfo:
    return ConversationInfo(row.conversation_id, row.title, row.created, row.updated, turns, row.shown or "")
