"""Explore's questions: those it offers, and those it has open with their computed results."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from ragcore.engine import Engine
from ragcore.errors import EmptyQuestion, IndexEmpty, InputError, QuestionTooShort, UnknownConversation
from ragcore.explore.explore import Exploration, Explored
from ragcore.index.outline import Projection
from ragcore.types import Scope, SubQuery
from ragcore.types.json import Json
from ragcore.types.library import DocumentInfo
from ui.chat import first_run
from ui.library.samples import NAME

RECENT = 8  # questions asked before that are offered
SHOWN = 3  # examples, where none was asked
# Headings of what a document has beside its subject.
BESIDE = {
    "contents",
    "table of contents",
    "references",
    "bibliography",
    "acknowledgements",
    "acknowledgments",
    "abstract",
}
LOOKED = 5  # documents whose headings are read for them: a large library may have none with any
KEPT = 8  # questions and maps whose arrays are kept (about 2 MB each for 50,000 chunks); the least recent goes first


def answered(engine: Engine, open_conversation: str | None) -> list[Json]:
    """Answered questions without repeats, newest first, those of the open conversation before all others, as ``{"c":
    its conversation, "turn": …, "question": …}``."""
    known = [info.conversation_id for info in engine.conversations.all()]
    here = [open_conversation] if open_conversation in known else []
    found: dict[str, Json] = {}
    for conversation_id in dict.fromkeys([*here, *known]):
        if len(found) >= RECENT:
            break
        try:
            turns = engine.conversations.get(conversation_id, newest=RECENT).turns
        except UnknownConversation:
            continue  # another tab deleted it
        for turn in reversed(turns):
            if turn.answer is not None:
                shown = {"c": conversation_id, "turn": turn.turn_id, "question": turn.question}
                found.setdefault(turn.question, shown)
    return list(found.values())[:RECENT]


def examples(engine: Engine, readable: Sequence[DocumentInfo]) -> list[str]:
    """Example questions from the headings of documents."""
    found = [*first_run.QUESTIONS] if any(info.name == NAME for info in readable) else []
    for info in readable[:LOOKED] if len(found) < SHOWN else ():
        document = engine.document(info.doc_id)
        headings = (document.text[e.start : e.end] for e in document.elements if e.kind == "heading" and not e.noise)
        words = [" ".join(text.split()) for text in headings]
        telling = [text for text in words if 8 <= len(text) <= 60 and text != document.title and text[0].isalpha()]
        telling = [text for text in telling if text.lower() not in BESIDE]
        telling.sort(key=str.isupper)  # capitals are mostly those of a cover
        found += [f"What is said about {text.rstrip('.:?')}?" for text in telling[: SHOWN - len(found)]]
        if len(found) >= SHOWN:
            break
    return list(dict.fromkeys(found))[:SHOWN]


class Explorations:
    """In-memory cache of recently explored questions and of their maps; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Any, ...], tuple[threading.Lock, list[Any]]] = OrderedDict()

    def get(self, engine: Engine, question: str, scope: Scope, parts: tuple[SubQuery, ...] | None) -> Exploration:
        """Cached exploration, made on first use and again after the library or the settings change."""
        asked = None if parts is None else tuple(part.text for part in parts)
        # Other settings in force and another key may plan another search.
        key = (
            engine.home,
            engine.owner,  # what others asked is nobody's to learn, not even by how soon it is answered
            engine.settings.hash(),
            engine.models.writer_name,
            engine.store.revision(),
            question,
            scope,
            asked,
        )
        making, made = self._slot(key)
        with making:
            # The revision stays the same when a document's last vector is stored, after which it can be found.
            if not made or not made[0].current():
                made[:] = [engine.explore(question, scope, parts=parts)]
            return made[0]

    def projection(self, engine: Engine, exploration: Exploration) -> Projection:
        """Cached map of the documents in scope, the same for every question."""
        making, made = self._slot(
            (engine.home, engine.models.embedder.name, engine.store.revision(), exploration.outline.extents)
        )
        with making:
            if not made:
                made.append(exploration.projection())
            return made[0]

    def _slot(self, key: tuple[Any, ...]) -> tuple[threading.Lock, list[Any]]:
        with self._lock:
            slot = self._kept.setdefault(key, (threading.Lock(), []))
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return slot


EXPLORATIONS = Explorations()


def asked(body: Json) -> str:
    question = body.get("question")
    if not isinstance(question, str) or not question.strip():
        raise EmptyQuestion("The question is empty.", hint="Type a question, or choose an example.")
    if sum(character.isalnum() for character in question) < 3:
        raise QuestionTooShort("The question is too short to search for.", hint="Type at least one word.")
    if len(question) > 4000:
        raise InputError("The question is too long.", hint="Shorten it to 4,000 characters.")
    return question.strip()


def explored(exploration: Exploration, chosen: Mapping[str, Any]) -> Explored:
    """Exploration of a question. Raises `IndexEmpty` if no document in scope is indexed."""
    if not len(exploration.outline):
        raise IndexEmpty("No document in scope is indexed.", hint="Choose another, or wait until it has been read.")
    return exploration.under(chosen)
