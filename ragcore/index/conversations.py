"""Conversations and their answers, as they were given: reopening one shows the same words and highlights. With what
people thought of answers, and full-text search.

The turns of a conversation are a tree. A question goes after the turn that its asker saw; an edited question, or the
same one again, stands beside the first as another version with the same turns before it. One path through the tree is
shown: the one that ends at the turn that the conversation names. Nothing is ever taken out of the tree but with the
whole conversation.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragcore.errors import InputError, UnknownConversation, UnknownTurn
from ragcore.index.database import IN, Connection, Database, Row, listed
from ragcore.index.packing import fields, pack, unpack
from ragcore.text.markdown import plain
from ragcore.text.words import stem
from ragcore.types import EVERYTHING, Answer, Scope, Turn
from ragcore.types.library import REASONS, Feedback, FeedbackRecord

TITLE_LENGTH = 60  # of a title that is made from a question
LONGEST_TITLE = 200  # of one that a person gives
LONGEST_WORDS = 2000  # of feedback


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

    def __init__(self, database: Database) -> None:
        self.database = database

    def new(self, scope: Scope = EVERYTHING) -> str:
        """An empty conversation; it takes its title from the first question."""
        conversation_id, now = uuid.uuid4().hex[:12], time.time()
        row = {"conversation_id": conversation_id, "title": "", "doc_ids": _scope_json(scope)}
        with self.database.write() as connection:
            connection.insert("conversations", row | {"created": now, "updated": now})
        return conversation_id

    def all(self, search: str = "") -> list[ConversationInfo]:
        """Conversations with at least one question, the last used first; with ``search`` those that have all of its
        words in their title, questions and answers, those of branches that are not shown included."""
        rows = self.database.rows(
            "SELECT c.*, depth FROM conversations c JOIN turns ON turn_id = shown ORDER BY updated DESC, c.created DESC"
        )
        infos = [_info(row, row["depth"]) for row in rows]
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
            path = tree.path(row["shown"])
            end = path.index(before) if before in path else len(path)
            begin = 0 if newest is None else max(end - newest, 0)
            if since in path:
                begin = path.index(since)
            turns = tree.stored(connection, path[begin:end])
        return Conversation(info=_info(row, len(path)), scope=_scope(row["doc_ids"]), turns=turns, earlier=begin)

    def shown_turn(self, conversation_id: str, turn_id: str) -> StoredTurn | None:
        """A turn of the shown path; None where it is not on it (any more)."""
        with self.database.read() as connection:
            row = _conversation(connection, conversation_id)
            tree = _Tree(connection, conversation_id)
            return tree.stored(connection, [turn_id])[0] if turn_id in tree.path(row["shown"]) else None

    def place(self, conversation_id: str, *, after: str | None = None, instead_of: str | None = None) -> Place:
        """Where a question goes that is asked now: after the turn ``after`` ("": it is a first question; None: the end
        of the shown path), or as another version of the turn ``instead_of``, which takes ``after``'s place."""
        with self.database.read() as connection:
            row = _conversation(connection, conversation_id)
            tree = _Tree(connection, conversation_id)
            if instead_of is not None:
                parent = tree.parent(instead_of)
            elif after is None:
                parent = row["shown"]
            else:
                parent = after or None
            path = tree.path(parent)
            query = f"SELECT turn_id, question, answer FROM turns WHERE turn_id {IN} AND answer IS NOT NULL"
            stored = {turn_id: (question, answer) for turn_id, question, answer in connection.rows(query, listed(path))}
        answered = (stored[turn_id] for turn_id in path if turn_id in stored)
        return Place(parent, tuple(_answered(question, fields(answer)) for question, answer in answered))

    def scope(self, conversation_id: str) -> Scope:
        """What its next questions search."""
        with self.database.read() as connection:
            return _scope(_conversation(connection, conversation_id)["doc_ids"])

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
            connection.execute("DELETE FROM conversations WHERE conversation_id = ?", (conversation_id,))

    def add_turn(self, conversation_id: str, question: str, place: Place | None = None) -> str:
        """Store a question at once, before anything is looked up, so that nothing is lost; its turn id. It goes to
        ``place`` (None: after the shown path) and the path down to it becomes the shown one."""
        turn_id, now = uuid.uuid4().hex[:16], time.time()
        with self.database.write() as connection:
            row = _conversation(connection, conversation_id)
            parent = row["shown"] if place is None else place.parent
            tree = _Tree(connection, conversation_id)
            connection.insert(
                "turns",
                {
                    "turn_id": turn_id,
                    "conversation_id": conversation_id,
                    "position": tree.next_position,
                    "question": question,
                    "created": now,
                    "parent": parent,
                    "depth": len(tree.path(parent)) + 1,
                },
            )
            title = row["title"] or _title(question)
            remember(connection, conversation_id, turn_id, question)
            remember(connection, conversation_id, conversation_id, title)
            _change(connection, conversation_id, title=title, updated=now, shown=turn_id)
        return turn_id

    def show_turn(self, conversation_id: str, turn_id: str) -> None:
        """Show the path through a turn, on to the newest turn that follows from it."""
        with self.database.write() as connection:
            _conversation(connection, conversation_id)
            _change(connection, conversation_id, shown=_Tree(connection, conversation_id).newest_below(turn_id))

    def cost(self, conversation_id: str) -> float:
        """US dollars that the answers of all its branches have cost, as far as their models had a price."""
        with self.database.read() as connection:
            _conversation(connection, conversation_id)
            query = "SELECT answer FROM turns WHERE conversation_id = ? AND answer IS NOT NULL"
            answers = connection.column(query, conversation_id)
        return sum(float(fields(answer).get("cost_usd") or 0.0) for answer in answers)

    def put_answer(self, turn_id: str, answer: Answer) -> None:
        """Store the finished, stopped or failed answer of a turn; a turn deleted meanwhile stays deleted."""
        packed = pack(answer, Answer)
        with self.database.write() as connection:
            row = connection.row("SELECT conversation_id, question FROM turns WHERE turn_id = ?", turn_id)
            if row is not None:
                connection.update("turns", "turn_id = ?", turn_id, answer=packed)
                remember(connection, row["conversation_id"], turn_id, row["question"], answer.text)

    def _update(self, conversation_id: str, **values: str | None) -> None:
        with self.database.write() as connection:
            _change(connection, conversation_id, **values)
            if values.get("title") is not None:
                remember(connection, conversation_id, conversation_id, str(values["title"]))


class _Tree:
    """The turns of one conversation without their words, as they stand in one transaction."""

    def __init__(self, connection: Connection, conversation_id: str) -> None:
        query = "SELECT turn_id, parent, position FROM turns WHERE conversation_id = ? ORDER BY position"
        rows = connection.rows(query, conversation_id)
        self.next_position: int = rows[-1]["position"] + 1 if rows else 0
        # In order of creation: a turn comes after the one that it follows.
        self._parents: dict[str, str | None] = {turn_id: parent for turn_id, parent, _ in rows}

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

    def stored(self, connection: Connection, turn_ids: Sequence[str]) -> tuple[StoredTurn, ...]:
        """These turns with their answers, in this order."""
        query = f"SELECT turn_id, question, answer, created FROM turns WHERE turn_id {IN}"
        rows = {row["turn_id"]: row for row in connection.rows(query, listed(turn_ids))}
        given = given_titles(connection)
        return tuple(self._stored(rows[turn_id], given) for turn_id in turn_ids)

    def _stored(self, row: Row, given: Mapping[str, str]) -> StoredTurn:
        answer = renamed(unpack(row["answer"], Answer), given) if row["answer"] else None
        return StoredTurn(row["turn_id"], row["question"], answer, row["created"], self.versions(row["turn_id"]))

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


def _conversation(connection: Connection, conversation_id: str) -> Row:
    row = connection.row("SELECT * FROM conversations WHERE conversation_id = ?", conversation_id)
    if row is None:
        raise UnknownConversation("This conversation isn't in the library.")
    return row


def _change(connection: Connection, conversation_id: str, **values: object) -> None:
    if not connection.update("conversations", "conversation_id = ?", conversation_id, **values):
        raise UnknownConversation("This conversation isn't in the library.")


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


def _info(row: Row, turns: int) -> ConversationInfo:
    own = (row["conversation_id"], row["title"], row["created"], row["updated"])
    return ConversationInfo(*own, turns, row["shown"] or "")


# Stored answers under the titles that their documents were given since


def given_titles(connection: Connection) -> dict[str, str]:
    """What a person called documents, by id."""
    return dict(map(tuple, connection.rows("SELECT doc_id, given FROM documents WHERE given IS NOT NULL")))


def renamed(answer: Answer, given: Mapping[str, str]) -> Answer:
    """``answer`` with the ``given`` titles in place of those that it was stored with; its text stays."""
    used = {item.doc_id for item in answer.citations} | {item.doc_id for item in answer.sources}
    if not used & given.keys():
        return answer
    trace = answer.trace
    return replace(
        answer,
        citations=tuple(replace(item, title=given.get(item.doc_id, item.title)) for item in answer.citations),
        sources=tuple(replace(item, title=given.get(item.doc_id, item.title)) for item in answer.sources),
        trace=trace and replace(trace, titles={key: given.get(key, title) for key, title in trace.titles.items()}),
    )


# What people thought of answers, and the questions suggested under them


class FeedbackStore:
    """The tables ``feedback`` and ``suggestions``."""

    def __init__(self, database: Database) -> None:
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
            connection.execute("DELETE FROM feedback WHERE turn_id = ?", (turn_id,))
            if given is not None:
                connection.insert("feedback", {"turn_id": turn_id, **asdict(given), "created": time.time()})

    def of(self, turn_ids: Sequence[str]) -> dict[str, Feedback]:
        """What is thought of these turns; those of which nothing is are left out."""
        rows = self._database.rows(f"SELECT * FROM feedback WHERE turn_id {IN}", listed(turn_ids))
        return {row["turn_id"]: _feedback(row) for row in rows}

    def all(self) -> list[FeedbackRecord]:
        """All of it, oldest first."""
        rows = self._database.rows(
            "SELECT feedback.*, conversation_id, question, answer FROM feedback JOIN turns USING (turn_id) "
            "ORDER BY feedback.created"
        )
        told = []
        for row in rows:
            answer = unpack(row["answer"], Answer) if row["answer"] else None
            told.append(
                FeedbackRecord(
                    conversation_id=row["conversation_id"],
                    turn_id=row["turn_id"],
                    question=row["question"],
                    answer=answer.text if answer else "",
                    model=answer.model if answer else "",
                    refused=bool(answer and answer.refused),
                    settings_hash=answer.settings_hash if answer else "",
                    feedback=_feedback(row),
                    created=row["created"],
                )
            )
        return told

    def suggestions(self, turn_id: str) -> tuple[str, ...] | None:
        """What was found that could be asked after a turn; None where nobody has looked yet."""
        found = self._database.value("SELECT questions FROM suggestions WHERE turn_id = ?", turn_id)
        return None if found is None else tuple(json.loads(found))

    def keep_suggestions(self, turn_id: str, questions: Sequence[str]) -> None:
        """Raises `UnknownTurn`."""
        row = {"turn_id": turn_id, "questions": json.dumps(list(questions))}
        with self._database.write() as connection:
            _require(connection, turn_id)
            connection.insert("suggestions", row, clash="REPLACE")


def _feedback(row: Row) -> Feedback:
    return Feedback(bool(row["helpful"]), row["reason"], row["words"])


def _require(connection: Connection, turn_id: str) -> None:
    if connection.value("SELECT 1 FROM turns WHERE turn_id = ?", turn_id) is None:
        raise UnknownTurn(f"There is no turn {turn_id!r} in this library.")


# Full-text search: SQLite's FTS5 over the table ``turn_words``

SNIPPET = 24  # words around what was found
_BREAK = "\u200b"  # a blank of no width: FTS5 ends a word there
# Chinese, Japanese and Thai characters stand for themselves; a number keeps its separators.
_SINGLE = re.compile(r"(?=[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_MARK = re.compile(r" ?\[\d{1,3}\]")


def remember(connection: Connection, conversation_id: str, turn_id: str, question: str, answer: str = "") -> None:
    """Keep what a turn is found by, in place of what was kept of it before; under the conversation's own id its
    title."""
    text = _SINGLE.sub(_BREAK, f"{question}\n{plain(_MARK.sub('', answer))}".strip())
    row = {"turn_id": turn_id, "conversation_id": conversation_id, "text": text}
    connection.insert("turn_words", row | {"forms": " ".join(sorted(_forms(text)))}, key="turn_id")


def find(database: Database, search: str) -> dict[str, str]:
    """The conversations that have every word of ``search`` in their title and their turns together, with a snippet of
    the turn that has most of them ("" where only the title has any). A search without a letter or digit finds
    nothing.

    A word is found where one of the text begins with it, accents and case aside, or has its Porter stem: ``expense``
    finds ``expenses``, ``2018`` finds ``2018Q4``. Scripts that put no blanks between words are searched character by
    character."""
    asked = list(dict.fromkeys(_query(word) for word in search.split() if any(map(str.isalnum, word))))
    if not asked:
        return {}
    held: dict[str, set[str]] = defaultdict(set)
    turns: dict[str, Counter[int]] = defaultdict(Counter)
    with database.read() as connection:
        for query in asked:
            for turn, turn_id, conversation_id in connection.rows(_HITS, query):
                held[conversation_id].add(query)
                turns[conversation_id][turn] += turn_id != conversation_id
        best = {one: turns[one].most_common(1)[0] for one, words in held.items() if len(words) == len(asked)}
        shown = json.dumps([turn for turn, words in best.values() if words])
        snippets = connection.rows(_SNIPPETS, " OR ".join(asked), shown)
    texts = {turn: " ".join(text.replace(_BREAK, "").split()) for turn, text in snippets}
    return {one: texts.get(turn, "") for one, (turn, _) in best.items()}


_HITS = (
    "SELECT id, turn_id, conversation_id FROM turn_search JOIN turn_words ON id = turn_search.rowid "
    "WHERE turn_search MATCH ? ORDER BY id"
)
# The plus has SQLite go through what matches once, not once for each id.
_SNIPPETS = (
    f"SELECT rowid AS id, snippet(turn_search, 0, '', '', ' … ', {SNIPPET}) AS text FROM turn_search "
    f"WHERE turn_search MATCH ? AND +rowid {IN}"
)


def _query(word: str) -> str:
    """What FTS5 is asked for a word: its beginning in the text, or its one form."""
    quoted = _SINGLE.sub(_BREAK, word).replace("\0", "").replace('"', '""')
    forms = _forms(word) if len(_WORD.findall(word)) == 1 else ()
    return " OR ".join([f'text : "{quoted}" *', *(f'forms : "{form}"' for form in forms)])


def _forms(text: str) -> set[str]:
    """The stem of each word without case and accents, and each number without separators of thousands."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    words = _WORD.findall("".join(char for char in folded if not unicodedata.combining(char)))
    return {
        stem(word) if len(word) > 2 and word.isascii() and word.isalpha() else word.replace(",", "") for word in words
    }
