"""Conversation store: conversations with their answers as given (reopening one shows the same words and highlights),
feedback on answers, and full-text search.

The turns of a conversation are a tree. A question follows the turn that its asker saw; an edited or repeated question
is a sibling of the first, another version with the same turns before it. One path through the tree is shown, ending at
the turn that the conversation names. Turns are deleted only with the whole conversation.
"""

from __future__ import annotations

import re
import time
import unicodedata
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragcore.errors import InputError, UnknownConversation, UnknownTurn
from ragcore.index.database import IN, Connection, Database, Row, made
from ragcore.index.packing import adapter, fields, pack, unpack
from ragcore.index.versions import followed, newest_versions
from ragcore.text.markdown import plain
from ragcore.text.words import LEXEME, lexemes
from ragcore.types import EVERYTHING, Answer, Scope, Turn
from ragcore.types.library import REASONS, Feedback, FeedbackRecord

TITLE_LENGTH = 60  # of a title made from a question
LONGEST_TITLE = 200  # of a title given by a person
LONGEST_WORDS = 2000  # of feedback


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """Line of the conversation list; ``turns`` counts the questions of the shown path, times are seconds since the
    epoch. ``shown`` is the last turn of that path, "" if there is none; ``found`` is a snippet around the first match,
    "" without a search or if only the title matches. ``own`` is False for one that somebody else shared."""

    conversation_id: str
    title: str
    created: float
    updated: float
    turns: int
    shown: str = ""
    found: str = ""
    shared: bool = False
    own: bool = True


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """Question with its answer; ``answer`` is None while it is being written (or if a process was killed then).
    ``versions`` are the ids of this turn and its siblings, in order of creation."""

    turn_id: str
    question: str
    answer: Answer | None
    created: float
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """Conversation as shown; ``scope`` is the scope of its next questions, ``turns`` the shown path or a part of it,
    preceded by ``earlier`` turns."""

    info: ConversationInfo
    scope: Scope
    turns: tuple[StoredTurn, ...]
    earlier: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a new question: after the turn ``parent`` (None: it is a first question), whose path from the first
    question on is ``history``, as far as it has answers."""

    parent: str | None
    history: tuple[Turn, ...]


OWN = "owner = coalesce(?, owner)"  # of a conversation; the question mark is the owner, None for everybody


class Conversations:
    """Tables ``conversations`` and ``turns``, as ``owner`` has them: their own to read and change, those that others
    share to read; None has all. Raises `UnknownConversation` for an id that no longer exists or is somebody else's, and
    `UnknownTurn` for a turn that is not in the conversation."""

    def __init__(self, database: Database, owner: str | None = None) -> None:
        self.database = database
        self.owner = owner

    def new(self, scope: Scope = EVERYTHING) -> str:
        """Create an empty conversation; its title comes from the first question."""
        conversation_id, now = uuid.uuid4().hex[:12], time.time()
        row = {"conversation_id": conversation_id, "title": "", "doc_ids": _stored(scope), "owner": self.owner or ""}
        with self.database.write() as connection:
            connection.insert("conversations", row | {"created": now, "updated": now})
        return conversation_id

    def all(self, search: str = "") -> list[ConversationInfo]:
        """Conversations with at least one question, most recently used first; with ``search``, those that have all its
        words in their title, questions and answers: of one's own, hidden branches included."""
        rows = self.database.rows(
            f"SELECT c.*, depth, {OWN} AS own FROM conversations c JOIN turns ON turn_id = shown WHERE shared OR {OWN} "
            "ORDER BY updated DESC, c.created DESC",
            self.owner,
            self.owner,
        )
        infos = [_info(row, row["depth"], own=bool(row["own"])) for row in rows]
        if not search.strip():
            return infos
        others = {row["conversation_id"]: row for row in rows if not row["own"]}
        with self.database.read() as connection:
            shown = {one: {one, *_path(connection, one, row["shown"])} for one, row in others.items()}
        found = find(self.database, search, shown)
        return [replace(info, found=found[info.conversation_id]) for info in infos if info.conversation_id in found]

    def get(
        self, conversation_id: str, *, newest: int | None = None, before: str = "", since: str = ""
    ) -> Conversation:
        """Conversation with all turns of its shown path, or a part of them, since unpacking an answer takes about a
        millisecond: those from turn ``since`` on, or else the ``newest`` ones of those before turn ``before`` ("": of
        all). A turn that is not (or no longer) on the path is ignored."""
        with self.database.read() as connection:
            row = self._row(connection, conversation_id, shared=True)
            path = _path(connection, conversation_id, row["shown"])
            end = path.index(before) if before in path else len(path)
            begin = 0 if newest is None else max(end - newest, 0)
            if since in path:
                begin = path.index(since)
            turns = _stored_turns(connection, path[begin:end])
            scope = _scope(connection, row)
        info = _info(row, len(path), own=self.owner in (None, row["owner"]))
        return Conversation(info=info, scope=scope, turns=turns, earlier=begin)

    def shown_turn(self, conversation_id: str, turn_id: str) -> StoredTurn | None:
        """Turn of the shown path; None if it is not (or no longer) on it."""
        with self.database.read() as connection:
            row = self._row(connection, conversation_id, shared=True)
            shown = _path(connection, conversation_id, row["shown"])
            return _stored_turns(connection, [turn_id])[0] if turn_id in shown else None

    def turn(self, turn_id: str) -> StoredTurn:
        """Turn of any own conversation, on its shown path or not. Raises `UnknownTurn`."""
        with self.database.read() as connection:
            _require(connection, turn_id, self.owner)
            return _stored_turns(connection, [turn_id])[0]

    def place(self, conversation_id: str, *, after: str | None = None, instead_of: str | None = None) -> Place:
        """Place of a question asked now: after turn ``after`` ("": it is a first question; None: the end of the shown
        path), or as another version of turn ``instead_of``, which overrides ``after``."""
        with self.database.read() as connection:
            row = self._row(connection, conversation_id)
            if instead_of is not None:
                path = _path(connection, conversation_id, instead_of)[:-1]
            else:
                path = _path(connection, conversation_id, row["shown"] if after is None else after or None)
            query = f"SELECT question, answer FROM turns WHERE turn_id {IN} AND answer IS NOT NULL ORDER BY depth"
            history = tuple(_answered(question, fields(answer)) for question, answer in connection.rows(query, path))
        return Place(path[-1] if path else None, history)

    def of_turn(self, turn_id: str) -> str:
        """Conversation of a turn. Raises `UnknownTurn`, and `UnknownConversation` for one that is not open to who
        asks."""
        with self.database.read() as connection:
            found = connection.value("SELECT conversation_id FROM turns WHERE turn_id = ?", turn_id)
            if found is None:
                raise UnknownTurn(turn_id)
            self._row(connection, found, shared=True)
            return str(found)

    def scope(self, conversation_id: str) -> Scope:
        """Scope of its next questions."""
        with self.database.read() as connection:
            return _scope(connection, self._row(connection, conversation_id, shared=True))

    def require(self, conversation_id: str) -> None:
        """Raises `UnknownConversation` for one that is not there, or is not one's own."""
        with self.database.read() as connection:
            self._row(connection, conversation_id)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        self._update(conversation_id, doc_ids=_stored(scope))

    def rename(self, conversation_id: str, title: str) -> None:
        """Rename it. Raises `InputError` for a title that is too long."""
        title = title.strip()
        if len(title) > LONGEST_TITLE:
            raise InputError(
                f"A title can have at most {LONGEST_TITLE} characters; this one has {len(title)}.", hint="Shorten it."
            )
        self._update(conversation_id, title=title)

    def delete(self, conversation_id: str) -> None:
        """Delete it with all its branches; none of its words stay on the disk."""
        with self.database.write() as connection:
            query = f"DELETE FROM conversations WHERE conversation_id = ? AND {OWN}"
            if not connection.execute(query, (conversation_id, self.owner)).rowcount:
                return
        self.database.checkpoint()

    def add_turn(self, conversation_id: str, question: str, place: Place | None = None) -> str:
        """Store a question at once, before any search, so that nothing is lost; returns its turn id. It goes to
        ``place`` (None: after the shown path), and the path down to it becomes the shown one."""
        turn_id, now = uuid.uuid4().hex[:16], time.time()
        with self.database.write() as connection:
            row = self._row(connection, conversation_id)
            parent = row["shown"] if place is None else place.parent
            depth = len(_path(connection, conversation_id, parent)) + 1
            connection.insert(
                "turns",
                {
                    "turn_id": turn_id,
                    "conversation_id": conversation_id,
                    "question": question,
                    "created": now,
                    "parent": parent,
                    "depth": depth,
                },
            )
            title = row["title"] or _title(question)
            remember(connection, conversation_id, turn_id, question)
            remember(connection, conversation_id, conversation_id, title)
            self._change(connection, conversation_id, title=title, updated=now, shown=turn_id)
        return turn_id

    def show_turn(self, conversation_id: str, turn_id: str) -> None:
        """Show the path through a turn, down to its newest descendant."""
        with self.database.write() as connection:
            self._row(connection, conversation_id)
            _path(connection, conversation_id, turn_id)  # it is in this conversation
            self._change(connection, conversation_id, shown=connection.value(_NEWEST_BELOW, turn_id))

    def cost(self, conversation_id: str) -> float:
        """Cost in US dollars of the answers of all its branches, as far as their models had a price."""
        with self.database.read() as connection:
            self._row(connection, conversation_id)
            query = "SELECT answer FROM turns WHERE conversation_id = ? AND answer IS NOT NULL"
            answers = connection.column(query, conversation_id)
        return sum(float(fields(answer).get("cost_usd") or 0.0) for answer in answers)

    def put_answer(self, turn_id: str, answer: Answer) -> None:
        """Store the finished, stopped or failed answer of a turn; a turn deleted in the meantime stays deleted."""
        packed = pack(answer, Answer)
        with self.database.write() as connection:
            row = connection.row("SELECT conversation_id, question FROM turns WHERE turn_id = ?", turn_id)
            if row is not None:
                connection.update("turns", "turn_id = ?", turn_id, answer=packed)
                remember(connection, row["conversation_id"], turn_id, row["question"], answer.text)

    def share(self, conversation_id: str, shared: bool) -> None:
        """Let all who may read the library read it, or nobody else any more."""
        self._update(conversation_id, shared=shared)

    def adopt(self, owner: str) -> None:
        """Give the conversations that are nobody's to ``owner``."""
        with self.database.write() as connection:
            connection.update("conversations", "owner = ''", owner=owner)

    def _row(self, connection: Connection, conversation_id: str, *, shared: bool = False) -> Row:
        """Conversation of one's own, or one that is ``shared``."""
        query = f"SELECT * FROM conversations WHERE conversation_id = ? AND ({OWN} OR (shared AND ?))"
        row = connection.row(query, conversation_id, self.owner, shared)
        if row is None:
            raise UnknownConversation("This conversation isn't in the library.")
        return row

    def _change(self, connection: Connection, conversation_id: str, **values: object) -> None:
        where = f"conversation_id = ? AND {OWN}"
        if not connection.update("conversations", where, conversation_id, self.owner, **values):
            raise UnknownConversation("This conversation isn't in the library.")

    def _update(self, conversation_id: str, **values: Any) -> None:
        with self.database.write() as connection:
            self._change(connection, conversation_id, **values)
            if values.get("title") is not None:
                remember(connection, conversation_id, conversation_id, str(values["title"]))


_PATH = """
    WITH RECURSIVE path AS (
        SELECT turn_id, parent, depth FROM turns WHERE turn_id = ? AND conversation_id = ?
        UNION ALL
        SELECT above.turn_id, above.parent, above.depth FROM turns above JOIN path ON above.turn_id = path.parent
    ) SELECT turn_id FROM path ORDER BY depth
"""
_NEWEST_BELOW = """
    WITH RECURSIVE below AS (
        SELECT turn_id, position FROM turns WHERE turn_id = ?
        UNION ALL SELECT next.turn_id, next.position FROM turns next JOIN below ON next.parent = below.turn_id
    ) SELECT turn_id FROM below ORDER BY position DESC LIMIT 1
"""
_STORED = f"""
    SELECT turn_id, question, answer, created FROM turns WHERE turn_id {IN} ORDER BY depth
"""
_VERSIONS = f"""
    SELECT turns.turn_id, version.turn_id FROM turns JOIN turns version
    ON version.conversation_id = turns.conversation_id AND (
        version.parent = turns.parent OR (version.parent IS NULL AND turns.parent IS NULL)
    ) WHERE turns.turn_id {IN} ORDER BY version.position
"""


def _path(connection: Connection, conversation_id: str, turn_id: str | None) -> list[str]:
    """Path from a first question down to ``turn_id``; empty for None. Raises `UnknownTurn`."""
    path = [] if turn_id is None else connection.column(_PATH, turn_id, conversation_id)
    if turn_id is not None and not path:
        raise UnknownTurn(f"There is no turn {turn_id!r} in this conversation.")
    return path


def _stored_turns(connection: Connection, path: Sequence[str]) -> tuple[StoredTurn, ...]:
    """Turns of a path with their answers."""
    given = given_titles(connection)
    versions: dict[str, list[str]] = defaultdict(list)
    for turn_id, version in connection.rows(_VERSIONS, list(path)):
        versions[turn_id].append(version)
    return tuple(
        made(
            StoredTurn,
            row,
            answer=renamed(unpack(row["answer"], Answer), given) if row["answer"] else None,
            versions=tuple(versions[row["turn_id"]]),
        )
        for row in connection.rows(_STORED, list(path))
    )


def _title(question: str) -> str:
    words = " ".join(question.split())
    if len(words) <= TITLE_LENGTH:
        return words
    return words[: TITLE_LENGTH + 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _answered(question: str, answer: Mapping[str, Any]) -> Turn:
    cited = tuple((one["doc_id"], one["start"], one["end"], one["quote"]) for one in answer["citations"])
    return Turn(question, answer["text"], answer.get("standalone", ""), cited)


def _stored(scope: Scope) -> dict[str, Any] | None:
    return None if scope == EVERYTHING else asdict(scope)


def _scope(connection: Connection, row: Row) -> Scope:
    return followed(adapter(Scope).validate_python(row["doc_ids"] or {}), newest_versions(connection))


def _info(row: Row, turns: int, *, own: bool) -> ConversationInfo:
    return made(ConversationInfo, row, turns=turns, shown=row["shown"] or "", own=own)


# Stored answers under the current titles of their documents


def given_titles(connection: Connection) -> dict[str, str]:
    """Titles that a person gave to documents, by id."""
    return dict(map(tuple, connection.rows("SELECT doc_id, given FROM documents WHERE given IS NOT NULL")))


def renamed(answer: Answer, given: Mapping[str, str]) -> Answer:
    """``answer`` with the ``given`` titles in place of the stored ones; its text is unchanged."""
    used = {item.doc_id for item in answer.citations} | {item.doc_id for item in answer.sources}
    trace = answer.trace
    if not (used | set(trace.titles if trace else ())) & given.keys():
        return answer
    return replace(
        answer,
        citations=tuple(replace(item, title=given.get(item.doc_id, item.title)) for item in answer.citations),
        sources=tuple(replace(item, title=given.get(item.doc_id, item.title)) for item in answer.sources),
        trace=trace and replace(trace, titles={key: given.get(key, title) for key, title in trace.titles.items()}),
    )


# Feedback on answers, and the questions suggested under them


class FeedbackStore:
    """Tables ``feedback`` and ``suggestions``, of the answers in conversations of ``owner``; None has all."""

    def __init__(self, database: Database, owner: str | None = None) -> None:
        self._database = database
        self._owner = owner

    def put(self, turn_id: str, given: Feedback | None) -> None:
        """Replace the feedback on a turn's answer; None removes it. Raises `UnknownTurn`, or `InputError` if too
        long."""
        if given is not None and (given.reason not in REASONS or len(given.words) > LONGEST_WORDS):
            raise InputError(
                f"Feedback needs a known reason and at most {LONGEST_WORDS:,} characters.", hint="Shorten it."
            )
        with self._database.write() as connection:
            _require(connection, turn_id, self._owner)
            connection.execute("DELETE FROM feedback WHERE turn_id = ?", (turn_id,))
            if given is not None:
                connection.insert("feedback", {"turn_id": turn_id, **asdict(given), "created": time.time()})

    def of(self, turn_ids: Sequence[str]) -> dict[str, Feedback]:
        """Feedback on these turns; turns without any are left out."""
        query = f"SELECT * FROM feedback WHERE turn_id {IN} AND {_own_turn('feedback')}"
        rows = self._database.rows(query, list(turn_ids), self._owner)
        return {row["turn_id"]: made(Feedback, row) for row in rows}

    def all(self) -> list[FeedbackRecord]:
        """All feedback, oldest first."""
        rows = self._database.rows(
            "SELECT feedback.*, conversation_id, question, answer FROM feedback JOIN turns USING (turn_id) "
            f"WHERE {_own_turn('feedback')} ORDER BY feedback.created",
            self._owner,
        )
        return [_record(row) for row in rows]

    def candidates(self, limit: int) -> list[FeedbackRecord]:
        """Feedback on answers that are no test questions yet and were not passed over: unhelpful ones first, the newest
        of each first."""
        rows = self._database.rows(
            "SELECT feedback.*, conversation_id, question, answer FROM feedback JOIN turns USING (turn_id) "
            "WHERE answer IS NOT NULL AND NOT passed AND turn_id NOT IN (SELECT case_id FROM eval_own) "
            f"AND {_own_turn('feedback')} ORDER BY helpful, feedback.created DESC LIMIT ?",
            self._owner,
            limit,
        )
        return [_record(row) for row in rows]

    def pass_over(self, turn_id: str) -> None:
        """Leave an answer out of `candidates`, until new feedback is given on it."""
        with self._database.write() as connection:
            connection.update("feedback", f"turn_id = ? AND {_own_turn('feedback')}", turn_id, self._owner, passed=True)

    def suggestions(self, turn_id: str) -> tuple[str, ...] | None:
        """Suggested questions after a turn; None if they were not computed yet."""
        query = f"SELECT questions FROM suggestions WHERE turn_id = ? AND {_own_turn('suggestions')}"
        found = self._database.value(query, turn_id, self._owner)
        return None if found is None else tuple(found)

    def keep_suggestions(self, turn_id: str, questions: Sequence[str]) -> None:
        """Store suggested questions. Raises `UnknownTurn`."""
        row = {"turn_id": turn_id, "questions": list(questions)}
        with self._database.write() as connection:
            _require(connection, turn_id, self._owner)
            connection.insert("suggestions", row, key="turn_id")


def _record(row: Row) -> FeedbackRecord:
    answer = fields(row["answer"]) if row["answer"] else {}
    told = {name: answer.get(name, "") for name in ("model", "settings_hash")}
    text, refused = answer.get("text", ""), answer.get("refused", False)
    return made(FeedbackRecord, row, answer=text, refused=refused, feedback=made(Feedback, row), **told)


def _own_turn(table: str) -> str:
    """Condition on a row of ``table`` that its turn is one's own (`OWN`)."""
    own = f"SELECT 1 FROM turns own JOIN conversations USING (conversation_id) WHERE {OWN}"
    return f"EXISTS ({own} AND own.turn_id = {table}.turn_id)"


def _require(connection: Connection, turn_id: str, owner: str | None) -> None:
    query = f"SELECT 1 FROM turns JOIN conversations USING (conversation_id) WHERE turn_id = ? AND {OWN}"
    if connection.value(query, turn_id, owner) is None:
        raise UnknownTurn(f"There is no turn {turn_id!r} in this library.")


# Full-text search: the lexemes of each turn and title

SNIPPET = 24  # words around a match
_LAST = "\U0010ffff"  # after every word that begins alike
_MARK = re.compile(r" ?\[\d{1,3}\]")


def remember(connection: Connection, conversation_id: str, turn_id: str, question: str, answer: str = "") -> None:
    """Index a turn for search, in place of its earlier entry; the title is indexed under the conversation's own id."""
    text = unicodedata.normalize("NFC", f"{question}\n{plain(_MARK.sub('', answer))}".strip())
    connection.execute("DELETE FROM turn_words WHERE turn_id = ?", (turn_id,))
    connection.insert("turn_words", {"turn_id": turn_id, "conversation_id": conversation_id, "text": text})
    words = dict.fromkeys(lexemes(text))
    connection.insert("turn_lexemes", *({"turn_id": turn_id, "lexeme": word} for word in words))


def find(database: Database, search: str, only: Mapping[str, Set[str]]) -> dict[str, str]:
    """Conversations that have every word of ``search`` in their title and turns together, with a snippet of the turn
    that has most of them ("" if only the title has any). Of those in ``only`` just these turns count, and the title if
    the conversation's id is among them. A search without a letter or digit finds nothing.

    A search word matches a word whose stem begins with its own, ignoring accents and case: ``expenses`` finds
    ``expense``, ``2018`` finds ``2018Q4``. Scripts without blanks between words are searched character by character.
    """
    asked = list(dict.fromkeys(tuple(found) for word in search.split() if (found := lexemes(word))))
    if not asked:
        return {}
    held: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    turns: dict[str, Counter[str]] = defaultdict(Counter)
    with database.read() as connection:
        for words in asked:
            for turn_id, conversation_id in _having(connection, words):
                if turn_id not in only.get(conversation_id, {turn_id}):
                    continue
                held[conversation_id].add(words)
                turns[conversation_id][turn_id] += turn_id != conversation_id
        best = {one: turns[one].most_common(1)[0] for one, words in held.items() if len(words) == len(asked)}
        shown = [turn_id for turn_id, words in best.values() if words]
        texts = dict(map(tuple, connection.rows(f"SELECT turn_id, text FROM turn_words WHERE turn_id {IN}", shown)))
    return {one: _snippet(texts.get(turn_id, ""), asked) for one, (turn_id, _) in best.items()}


def _having(connection: Connection, words: Sequence[str]) -> list[tuple[str, str]]:
    """``(turn_id, conversation_id)`` of the turns and titles with these lexemes one after the other, of which the last
    may go on."""
    *first, last = words
    having = "SELECT turn_id FROM turn_lexemes WHERE lexeme"
    query = f"{f'{having} = ? INTERSECT ' * len(first)}{having} BETWEEN ? AND ?"
    columns = "turn_id, conversation_id, text" if first else "turn_id, conversation_id"
    rows = connection.rows(
        f"SELECT {columns} FROM turn_words WHERE turn_id IN ({query}) ORDER BY id", *first, last, last + _LAST
    )
    if not first:
        return [(turn_id, conversation_id) for turn_id, conversation_id in rows]
    return [(turn_id, conversation_id) for turn_id, conversation_id, text in rows if _follow(lexemes(text), words)]


def _follow(held: Sequence[str], words: Sequence[str]) -> bool:
    *first, last = words
    places = (n for n, word in enumerate(held) if word.startswith(last) and n >= len(first))
    return any(list(held[n - len(first) : n]) == first for n in places)


def _snippet(text: str, asked: Sequence[Sequence[str]]) -> str:
    """`SNIPPET` words of ``text`` around most of those that were ``asked`` for, in one line."""
    words = list(LEXEME.finditer(text))
    held = [
        {n for n, (first, *_) in enumerate(asked) if any(one.startswith(first) for one in lexemes(word.group()))}
        for word in words
    ]
    hits = [place for place, found in enumerate(held) if found]
    if not hits:
        return ""
    first = max(hits, key=lambda place: len(set[int]().union(*held[place : place + SNIPPET])))
    last = max(place for place in hits if place < first + SNIPPET)
    start = max(min(first - (SNIPPET - 1 - (last - first)) // 2, len(words) - SNIPPET), 0)
    end = min(start + SNIPPET, len(words))
    before, after = "… " if start else "", " …" if end < len(words) else ""
    cut = slice(words[start].start() if start else 0, words[end - 1].end() if after else len(text))
    return f"{before}{' '.join(text[cut].split())}{after}"
