"""Libraries of a team: what is not open to somebody is as if it were not there, on every route and for every id."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from dis import get_instructions
from functools import cache
from hashlib import sha256
from inspect import signature, unwrap
from pathlib import Path
from statistics import median
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from ragcore.accounts.accounts import Accounts, Device, User
from ragcore.accounts.libraries import ROLES, Role
from ragcore.accounts.tokens import SCOPES, Tokens
from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet
from ragcore.grid.columns import ColumnSpec
from ragcore.index.database import Database
from ragcore.index.evaluations import EvaluationStore, Outcome
from ragcore.index.own_cases import OwnEvidence
from ragcore.report.template import read_template
from ragcore.serve import rights
from ragcore.serve.http import EVENTS
from ragcore.serve.verbs import VERBS, Verb
from ragcore.types import EVERYTHING, Answer, Citation, Scope
from ragcore.types.library import Feedback
from ragcore.types.report import Field, FilledSection
from tests import pdfs
from tests.conftest import elsewhere
from tests.index.broken_moves import held
from tests.libraries import put_passages
from tests.ui.asgi import ask
from tests.ui.test_gate import GOOD, HOST, local
from tests.ui.test_jobs import until
from ui.api import routes as api_routes
from ui.chat import conversation_routes
from ui.chat.runs import LiveAnswer
from ui.evaluate.own_routes import _place_id
from ui.gate import access as access_module
from ui.gate import front
from ui.gate.access import Access
from ui.gate.gate import Gate
from ui.server import roles, routes, visits
from ui.server.guard import TOKEN_HEADER
from ui.server.libraries import KNOWN, NotAllowed, UnknownLibrary
from ui.server.services import HERE, Services, libraries, signer

own_database = pytest.fixture(elsewhere, scope="module", autouse=True)  # whoever has accounts in one, has all of it

MARA, JONAS, PRIYA = "mara@fernhill.example", "jonas@fernhill.example", "priya@fernhill.example"
# A GET or POST of these changes nothing that is compared; an answer that streams does not end by itself.
UNKNOWN = {
    "doc": "d0" * 8,
    "conversation": "c0" * 6,
    "turn": "70" * 8,
    "report": "4e" * 6,
    "section": "5e" * 6,
    "version": "7e" * 8,
    "check": "ce" * 6,
    "grid": "64" * 6,
    "column": "c1" * 4,
    "row": "d0" * 8,
    "set": "5e" * 8,
    "run": "40" * 8,
    "case": "ca5e" * 4,
    "evidence": "e0" * 8,
    "folder": "/nowhere",
    "tag": "no-such-tag",
    "team": "No such team",
}
OTHERS = {"page": "1", "number": "1", "width": "2560", "row": "0", "kind": "md", "form": "csv"}
# What routes look for in bodies and queries and is an id, by the first word of their paths if that matters, and of
# what; all else that they look for is `PLAIN`.
FIELDS = {
    **dict.fromkeys(("docs", "doc", "scope", "documents.before"), "doc"),
    **dict.fromkeys(("conversations.before", "conversations.since", "conversations.turn", "explore.turn"), "turn"),
    **dict.fromkeys(("conversations.after", "conversations.instead_of"), "turn"),
    **dict.fromkeys(("reports.sections", "reports.after"), "section"),
    **dict.fromkeys(("grids.sections", "grids.row"), "row"),
    **dict.fromkeys(("evaluate.a", "evaluate.b", "evaluate.run", "evaluate.runs"), "run"),
    "explore.c": "conversation",
    "grids.column": "column",
    "reports.version": "version",
    "evaluate.set": "set",
    "evaluate.case": "case",
    "evaluate.evidence": "evidence",
    "library.path": "folder",
    "library.tag": "tag",
    "members.to": "team",
}
NO_IDS = """
    answer answerable around axis below blank changes colour columns compare conflict data draft edit file folder gap
    guidance height instruction job key kind kinds l last late left library measure note own password rival search shape
    subject summed usd value view width within year
"""  # fields that name nothing of a library, besides `PLAIN`
LISTS = ("docs", "sections", "evidence")
PLAIN: dict[str, object] = {
    "title": "x",
    "name": "x",
    "text": "x",
    "heading": "x",
    "revised": "x",
    "filename": "x",
    "template": None,
    "question": "What is it?",
    "shared": True,
    "feedback": None,
    "start": 0,
    "end": 4,
    "n": 0,
    "by": "support",
    "what": "show",
    "configuration": "default",
    "add": [],
    "remove": [],
    "role": "viewer",
    "w": "160",
    "q": "words",
}
KINDS = {"grids": "accepted", "checks": "left", "reports": "pinned"}
PRIVATE = ("conversation", "turn", "report", "section", "version")
DONE = ("accept", "open", "undo", "show", "edit", "choose", "move", "remove", "restore")  # with a section of a report
WORDS = {"first": "Quillstone", "team": "Brackmere", "own": "Thornwick"}  # in all that a library has, and in no other
SURVEY, LOCKED = pdfs.ruled_table(), pdfs.encrypted()  # the same in every library
NOT_ASKED = {  # what is named there and never looked up, with what would change
    ("conversations/{conversation:str}/questions", "turn"),
    ("reports/{report:str}/sections/{section:str}/done", "report"),
}
SCANNED = re.compile(r'"(?:scanned|seconds)": [^,}]+')
# New with each request: ids of what was made, and how far it is.
MADE = re.compile(r'"(id|column|turn|shape|state)":"(?:[0-9a-f]{8,}|running|waiting|done)"')
ADMINISTERED = {("library/folders/add", "path"), ("members/grant", "to")}  # what administrators reach by right
Ids = dict[str, str]


@dataclass
class World:
    """Three people, two teams and three libraries: the first, one of Mara's team, and one of Jonas's own. Each has the
    same files and one of its own, and something of every kind: of Mara, and in the last of Jonas."""

    accounts: Accounts
    routes: list[BaseRoute]
    users: dict[str, User]
    sessions: dict[str, str]
    ids: dict[str, Ids] = field(default_factory=dict)  # of what is in each library
    libraries: dict[str, str] = field(default_factory=dict)
    loop: Any = None

    def open(self, name: str, who: str, role: Role = "viewer") -> Services:
        return libraries().open(self.libraries[name], self.users[who], role)

    def database(self, name: str) -> Database:
        return self.open(name, JONAS).engine.store.database

    def ask(
        self, who: str, library: str, path: str, body: object = None, meanwhile: Callable[[], object] = lambda: None
    ) -> tuple[int, str]:
        """Status and body of a route of a library, asked by somebody; ``meanwhile`` happens before the body comes."""
        return self.ask_root(who, path, body, f"/l/{library}", meanwhile)

    def raw(self, path: str, query: str, headers: dict[str, str], body: object) -> str:
        """Body of what a program gets."""
        given = ask(self.routes, path, query, headers=headers, body=body, behind=self._behind, loop=self.loop)
        return given[2].decode("utf-8", "replace")

    def _behind(self, app: ASGIApp) -> ASGIApp:
        return Gate(app, Access(local(), self.accounts), self.accounts)

    def ask_root(
        self,
        who: str,
        path: str,
        body: object = None,
        within: str = "",
        meanwhile: Callable[[], object] = lambda: None,
    ) -> tuple[int, str]:
        """The same of a route outside of any library."""
        session = self.sessions.get(who, "0" * 43)
        headers = HOST | {"cookie": f"{access_module.access().cookie}={session}"}
        if body is not None:
            headers |= {TOKEN_HEADER: signer().token(visits.named(session))}
        path, _, query = path.partition("?")
        given = ask(
            self.routes,
            f"{within}/gw/{path}",
            query,
            headers=headers,
            body=body,
            behind=self._behind,
            meanwhile=meanwhile,
            loop=self.loop,
        )
        return given[0], given[2].decode("utf-8", "replace")


def belongings(engine: Engine, word: str, folder: Path) -> Ids:
    """Something of every kind, of which all that has a name has ``word`` in it."""
    for name, data in (("survey.pdf", SURVEY), ("locked.pdf", LOCKED)):
        engine.shelf.rename(engine.add(data, name).doc_id, f"{word} {name}")
    doc_id = put_passages(
        engine.store, engine.add(pdfs.lines_pdf([word]), f"{word}.pdf").doc_id, word, [f"{word} words."]
    )
    engine.store.hold(None, True)  # nobody reads the others
    engine.shelf.tag([doc_id], add=[f"{word} tag"])
    engine.shelf.put([doc_id], f"{word} folder")
    folder.mkdir()
    engine.watch.add(folder)
    conversation = engine.conversations.new()
    turn = engine.conversations.add_turn(conversation, f"What does the {word} facility cost?")
    quote = Citation(1, doc_id, word, 1, "1", word, 0, len(word), ())
    engine.conversations.put_answer(turn, Answer(word, text=f"{word} [1].", citations=(quote,), sources=()))
    engine.feedback.put(turn, Feedback(helpful=False))
    grid = engine.grids.add(word, [ColumnSpec(name=word, question="How many pages?", type="value")], Scope((doc_id,)))
    report = engine.reports.new(read_template(f"# {word}\n\n## Terms\n\nWhat are the terms?\n".encode(), "terms.md"))
    section = engine.reports.get(report).sections[0].section_id
    written = FilledSection("1", 1, word, "", Field(), False, "filled", Answer(word, text=word))
    version = engine.reports.store.keep(section, written, author="hand", change=word, usd=None)
    case = Case(f"{word} case", f"What is {word}?", word)
    kept, run = EvaluationStore(engine.store.database), sha256(word.encode()).hexdigest()[:16]
    given = engine.evaluation.put(CaseSet(word, (case,))).set_id
    kept.put_run(run, given, {"name": word, "config": {}, "settings_hash": "", "within": False, "writer": ""})
    kept.put(run, Outcome(case.case_id, Answer(word, text=word)))
    return {
        "doc": doc_id,
        "conversation": conversation,
        "turn": turn,
        "report": report,
        "section": section,
        "version": version,
        "grid": grid.grid_id,
        "set": given,
        "run": run,
        "case": case.case_id,
        "tag": f"{word} tag",
        "check": engine.checks.add("draft.md", f"The {word} had 4 wells in 2024.\n".encode(), EVERYTHING).check_id,
        "column": engine.grids.add_column(grid.grid_id, f"{word} date", "When was it made?", "date"),
        "row": doc_id,
        "evidence": _place_id(OwnEvidence(f"{word}.pdf", doc_id, 1, word)),
        "folder": str(folder),
        "team": "Audit",
    }


@pytest.fixture(scope="module")
def world(opened: Services) -> Iterator[World]:
    accounts = Accounts(opened.base.home)
    access_module._settled[:] = [Access(local(), accounts)]
    sessions = {}
    for email in (MARA, JONAS, PRIYA):
        code = accounts.invite(email, "test", admin=email == PRIYA)
        sessions[email] = accounts.accept(code, "", "", GOOD, Device())
    _, doors = front.built()
    users = {user.email: user for user in accounts.users()}
    made = World(accounts, [*routes.routes(), *api_routes.routes(), *doors], users, sessions)
    grants = libraries().grants
    first = libraries().of(made.users[PRIYA])[0].library_id
    grants.add_team("Credit", "test")
    grants.join("Credit", MARA, "test", manager=True)
    grants.join("Credit", JONAS, "test")
    grants.add_team("Audit", "test")
    grants.join("Audit", PRIYA, "test", manager=True)
    made.libraries = {
        "first": first,
        "team": grants.create("Facilities", "Credit", "test"),
        "own": grants.create("Contracts", JONAS, "test"),
    }
    for name, word in WORDS.items():
        who = JONAS if name == "own" else MARA
        engine = made.open(name, who).engine
        made.ids[name] = belongings(engine, word, accounts.home.parent / word)
    with start_blocking_portal() as made.loop:
        yield made
    access_module._settled.clear()
    accounts.close()


def every_route(world: World) -> Iterator[tuple[str, str, Route]]:
    """Method, path, and the route, of each within a library."""
    for route in world.routes:
        if isinstance(route, Route) and route.path.startswith("/l/{library:str}/gw/"):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield method, route.path.removeprefix("/l/{library:str}/gw/"), route


def code_of(handler: object, seen: set[object]) -> Iterator[tuple[CodeType, str]]:
    """Code of a handler and of what it gives a request or a body to, with its module."""
    made = unwrap(handler)  # type: ignore[arg-type]
    if not isinstance(made, FunctionType) or made in seen:
        return
    seen.add(made)
    todo = [made.__code__]
    while todo:
        code = todo.pop()
        yield code, made.__module__
        todo += [each for each in code.co_consts if isinstance(each, CodeType)]
        for used in (made.__globals__.get(one.argval) for one in get_instructions(code) if one.opname == "LOAD_GLOBAL"):
            if isinstance(used, FunctionType) and {"body", "request"} & signature(unwrap(used)).parameters.keys():
                yield from code_of(used, seen)


@cache
def fields(path: str, handler: object) -> dict[str, str]:
    """Fields of its body or query in which a route looks for an id, and the kind of each."""
    told = set[str]()
    for code, module in code_of(handler, set()):
        for each in code.co_consts if module != "ui.server.guard" or "scope" in code.co_consts else ():
            told |= {each} if isinstance(each, str) else {*each} if isinstance(each, tuple) else set()
    room = re.split(r"\W", path)[0]
    found = {name: FIELDS.get(f"{room}.{name}", FIELDS.get(name, "")) for name in told if isinstance(name, str)}
    in_path = set(re.findall(r"\{(\w+)", path))
    return {name: kind for name, kind in sorted(found.items()) if kind and name not in in_path}


def filled(path: str, ids: Ids) -> str:
    named = {**OTHERS, **ids}
    named["row"] = "0"
    if "tiles" in path:
        named["column"] = "0"
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: named[found[1]], path)


def given(name: str, value: str) -> object:
    """An id as a body has it in a field."""
    if name in LISTS:
        return [value]
    return {"doc_ids": [value]} if name == "scope" else {value: 0.0} if name == "runs" else value


def body_of(method: str, ids: Ids) -> object:
    """Body that names things in every way that a route looks for."""
    if method == "GET":
        return None
    several = {"docs": [ids["doc"]], "documents": [ids["doc"]], "sections": [ids["section"]]}
    one = {"conversation": ids["conversation"], "turn": ids["turn"], "document": ids["doc"], "doc": ids["doc"]}
    return {**several, **one, "title": "x", "name": "x", "question": "", "shared": True, "feedback": None}


def asked(
    method: str, path: str, route: Route, own: Ids, foreign: Ids, kinds: Collection[str]
) -> Iterator[tuple[str, str, object]]:
    """Place, path and body of each request in which one id, of one of some ``kinds``, is ``foreign`` and the others are
    one's ``own``: in the path, or in a field, once with all other fields that the route knows and once without."""
    room, looked = re.split(r"\W", path)[0], fields(path, route.endpoint)
    parts = ["doc"] if "tiles" in path else [name for name in re.findall(r"\{(\w+)", path) if name in own]
    plain = PLAIN | {"kind": KINDS.get(room, "x")}
    for part in (name for name in parts if name in kinds):
        fully = {at: given(at, own[kind]) for at, kind in looked.items()}
        for what in DONE if path.endswith("/done") else ("show",):
            yield part, filled(path, own | {part: foreign[part]}), plain | fully | {"what": what}
    for at, kind in ((at, kind) for at, kind in looked.items() if kind in kinds):
        others = {other: own[of] for other, of in looked.items() if other != at}
        for beside in (others, {}) if others else ({},):
            named = {name: given(name, value) for name, value in (beside | {at: foreign[kind]}).items()}
            if method == "GET":
                query = {name: value for name, value in (plain | beside | {at: foreign[kind]}).items() if value}
                yield at, f"{filled(path, own)}?{urlencode(query)}", None
            else:
                yield at, filled(path, own), plain | named
    if not parts and not looked and method == "GET":
        yield "", path, None


def quiet(here: Services) -> bool:
    """Whether nothing is being done in a library."""
    queues = (here.evaluations, here.checks, here.grids)
    return here.answers.idle() and not here.reports.busy() and not any(each.jobs for each in queues)


def walk(world: World, who: str, role: Role) -> tuple[int, int]:
    """Number of routes, and of requests with one id of another library, or of somebody else's in the same one, by
    somebody with a ``role`` in a library, who has something of every kind there. They are answered as those with ids of
    nothing are, as soon, without a word of what the ids are of, and nothing of that changes."""
    them = PRIYA if who == MARA else MARA
    library = libraries().grants.create("Walked", them, "test")
    libraries().grants.grant(library, who, role, "test")
    here, theirs = (libraries().open(library, world.users[one], "viewer") for one in (who, them))
    own, beside = (
        belongings(each.engine, word, world.accounts.home.parent / f"{library} {word}")
        for each, word in ((here, "Walked"), (theirs, "Hazelmoor"))
    )
    routes_asked, count, told_apart, before = set[tuple[str, str]](), 0, list[object](), kept(world, theirs, beside)
    later = list[float]()  # than a request with ids of nothing
    for method, path, route in every_route(world):
        for others, kinds in (([world.ids[name] for name in WORDS], UNKNOWN.keys()), ([beside], PRIVATE)):
            ids_of = [*others, UNKNOWN]
            for each in zip(*(asked(method, path, route, own, ids, kinds) for ids in ids_of), strict=True):
                if (path, place := each[0][0]) in NOT_ASKED | (ADMINISTERED if who == PRIYA else set()):
                    continue
                said, took = [], []
                for ids, (_, at, body) in zip(ids_of, each, strict=True):
                    began = time.perf_counter()
                    given = world.ask(who, library, at, None if method == "GET" else body)
                    took.append(time.perf_counter() - began)
                    said.append(told(given, ids))
                    until(lambda: quiet(here))  # what it began is done
                later += [one - took[-1] for one in took[:-1]]
                if (place and len(set(said)) > 1) or any(word in said[0][1] for word in WORDS.values()):
                    told_apart.append((method, path, place, each, said))
                routes_asked.add((method, path))
                count += len(others) if place else 0
    assert told_apart == []
    assert abs(median(later)) < 0.005
    assert {name: (before[name], now) for name, now in kept(world, theirs, beside).items() if now != before[name]} == {}
    libraries().grants.remove(library, "test")
    libraries().changed()
    return len(routes_asked), count


def kept(world: World, theirs: Services, ids: Ids) -> dict[str, object]:
    """Rows of each table of all libraries, but for when folders were looked through, and what is somebody's own in
    another."""
    engine = theirs.engine
    own = {"conversation": engine.conversations.get(ids["conversation"]), "report": engine.reports.get(ids["report"])}
    rows = {
        f"{name} {table}": [SCANNED.sub("", row) for row in rows]
        for name in WORDS
        for table, rows in held(world.database(name)).items()
    }
    return {**own, "versions": engine.reports.versions(ids["section"]), **rows}


def stored(engine: Engine) -> list[list[tuple[object, ...]]]:
    """Rows of what people have of their own."""
    names = ("conversations", "reports", "report_sections", "report_tasks")
    return [list(map(tuple, engine.store.database.rows(f"SELECT * FROM {name}"))) for name in names]


def told(said: tuple[int, str], ids: Ids) -> tuple[int, str]:
    """What was answered, without the ids that were asked for, and what is new with each request."""
    status, body = said
    for name, value in sorted(ids.items(), key=lambda one: -len(one[1])):
        body = body.replace(value, name)
    return status, MADE.sub(r'"\1":"…"', body)


def test_every_route_has_a_role_and_every_role_a_route(world: World) -> None:
    listed = {(method, re.sub(r":\w+\}", "}", path)) for method, path, _ in every_route(world)}
    assert listed == set(roles.NEEDED)
    assert len(listed) > 100
    with pytest.raises(LookupError, match="has no role"):
        roles.needed(Route("/l/{library:str}/gw/new", lambda _: None), "/l/{library:str}")  # type: ignore[arg-type, return-value]


def test_a_library_that_is_not_open_is_as_one_that_is_not_there(world: World) -> None:
    # Priya is the administrator, and nobody signs in with a session that has ended.
    for who, name, status, code in (
        *((who, "own", 404, "unknown_library") for who in (MARA, PRIYA)),
        *(("", name, 401, "signed_out") for name in WORDS),
    ):
        for method, path, _ in every_route(world):
            at, body = filled(path, world.ids[name]), body_of(method, world.ids[name])
            said = [world.ask(who, library, at, body) for library in (world.libraries[name], "0" * 32)]
            assert said[0] == said[1], (method, path)
            assert said[0][0] == status
            assert json.loads(said[0][1])["error"]["code"] == code


def test_what_is_in_another_library_or_somebody_elses_is_not_there(world: World) -> None:
    routes_asked, count = walk(world, MARA, "manager")
    print(f"\n{routes_asked} routes, {count} requests with an id of others", end=" ")
    assert routes_asked > 100
    assert count > 600


@pytest.mark.slow
@pytest.mark.parametrize(("who", "role"), zip((MARA, JONAS, PRIYA), ROLES, strict=True))
def test_what_is_in_another_library_is_not_there_for_anybody(world: World, who: str, role: Role) -> None:
    print(f"\n{walk(world, who, role)}", end=" ")


def test_a_field_that_a_route_looks_for_is_known_here_as_an_id_or_as_none() -> None:
    looked = r"""(?:body|query_params|query)(?:\.get\(|\[|, )"(\w+)"|"(\w+)" in (?:body|query)"""
    found = {
        name
        for path in Path(routes.__file__).parents[1].rglob("*.py")
        if path.parent.name not in ("gate", "components") or path.stem == "libraries"
        for pair in re.findall(looked, path.read_text("utf-8"))
        for name in pair
        if name
    }
    ids = {name.rpartition(".")[2] for name in FIELDS}
    assert found - ids - PLAIN.keys() - set(NO_IDS.split()) == set()


def test_what_is_somebody_elses_in_the_same_library_is_not_there(world: World) -> None:
    library, theirs = world.libraries["team"], world.ids["team"]
    unknown = theirs | {name: UNKNOWN[name] for name in ("conversation", "turn", "report", "section")}
    live = LiveAnswer(
        theirs["conversation"],
        lambda _: SimpleNamespace(turn_id=theirs["turn"], question="x", stop=lambda: stopped.append(1)),  # type: ignore[arg-type, return-value]
        EVERYTHING,
        {},
    )
    stopped: list[int] = []
    opened = libraries().open(library, world.users[JONAS], "viewer")
    opened.answers._live[live.turn_id] = live
    before = stored(opened.engine)
    compared = 0
    for method, path, _ in every_route(world):
        if re.search(r"\{(conversation|turn|report)", path) or path.startswith(("explore", "start")):
            bodies = [body_of(method, ids) for ids in (theirs, unknown)]
            if path == "explore":
                bodies = [{"conversation": ids["conversation"], "turn": ids["turn"]} for ids in (theirs, unknown)]
            said = [
                told(world.ask(JONAS, library, filled(path, ids), body), ids)
                for ids, body in zip((theirs, unknown), bodies)
            ]
            assert said[0] == said[1], (method, path)
            compared += 1
    assert compared > 20
    assert stopped == []
    assert stored(opened.engine) == before
    listed = json.loads(world.ask(JONAS, library, "conversations")[1])
    assert listed["total"] == 0
    assert json.loads(world.ask(JONAS, library, "evaluate/mine")[1])["candidates"] == []
    assert json.loads(world.ask(JONAS, library, "reports")[1])["reports"] == []
    assert json.loads(world.ask(MARA, library, "conversations")[1])["total"] == 1
    del opened.answers._live[live.turn_id]


def test_a_shared_conversation_is_read_and_not_changed(world: World) -> None:
    library, theirs = world.libraries["team"], world.ids["team"]
    talk = f"conversations/{theirs['conversation']}"
    assert world.ask(MARA, library, f"{talk}/share", {"shared": True})[0] == 200
    shown = json.loads(world.ask(JONAS, library, talk)[1])
    assert shown["turns"][0]["question"] == "What does the Brackmere facility cost?"
    assert json.loads(world.ask(JONAS, library, "conversations")[1])["days"][0]["day"] == "Shared"
    for path, body in (("title", {"title": "Mine"}), ("delete", {}), ("share", {"shared": False})):
        assert "gone" in json.loads(world.ask(JONAS, library, f"{talk}/{path}", body)[1]), path
    asked = json.loads(world.ask(JONAS, library, f"{talk}/questions", {"question": "What else does it say?"})[1])
    assert "gone" in asked
    assert world.ask(MARA, library, f"{talk}/share", {"shared": False})[0] == 200
    assert "gone" in json.loads(world.ask(JONAS, library, talk)[1])


def test_a_shared_report_is_changed_by_others_and_deleted_by_its_owner(world: World) -> None:
    library, theirs = world.libraries["team"], world.ids["team"]
    report = f"reports/{theirs['report']}"
    assert world.ask(MARA, library, f"{report}/share", {"shared": True}) == (200, "{}")
    shown = json.loads(world.ask(JONAS, library, report)[1])
    assert (shown["own"], shown["shared"], shown["shares"]) == (False, True, True)
    assert world.ask(JONAS, library, f"{report}/change", {"title": "Terms of the facility"}) == (200, "{}")
    for path, body in (("delete", {}), ("share", {"shared": False})):
        said = json.loads(world.ask(JONAS, library, f"{report}/{path}", body)[1])
        assert said["refused"]["code"] == "not_yours", path
    assert world.ask(MARA, library, f"{report}/share", {"shared": False}) == (200, "{}")
    assert json.loads(world.ask(JONAS, library, report)[1])["gone"]
    (kept,) = json.loads(world.ask(MARA, library, "reports")[1])["reports"]
    assert (kept["title"], kept["own"]) == ("Terms of the facility", True)


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_what_it_covers_and_nothing_else(world: World, role: Role) -> None:
    library = world.libraries["own"]
    libraries().grants.grant(library, MARA, role, "test")
    libraries().changed()
    for method, path, _ in every_route(world):
        needs = roles.NEEDED[method, re.sub(r":\w+\}", "}", path)]
        covered = ROLES.index(role) >= ROLES.index(needs)
        if covered and path.endswith(("/sample", "members/remove", "members/rename")):
            continue  # reads a document, or changes what other tests begin with
        status, said = world.ask(MARA, library, filled(path, UNKNOWN), body_of(method, UNKNOWN))
        refused = status == 403 and json.loads(said)["error"]["code"] == "not_allowed"
        assert refused != covered, (method, path, said)
    if role == "viewer":
        said = world.ask(MARA, library, "library/tags", {"docs": [], "add": ["x"]})[1]
        assert json.loads(said)["error"] | {"retryable": False} == {
            "code": "not_allowed",
            "message": "You can read this library, not change it.",
            "hint": "Ask jonas.",
            "retryable": False,
        }
    libraries().grants.revoke(library, MARA, "test")
    libraries().changed()


def test_a_role_that_is_taken_ends_within_seconds(world: World) -> None:
    library, mara = world.libraries["own"], world.users[MARA]
    libraries().grants.grant(library, MARA, "viewer", "test")
    libraries().changed()
    with pytest.raises(NotAllowed):
        libraries().open(library, mara, "contributor")
    libraries().open(library, mara, "viewer")
    libraries().grants.revoke(library, MARA, "test")
    end = time.monotonic() + KNOWN + 1
    while libraries().role(mara.user_id, library) is not None:
        assert time.monotonic() < end
        time.sleep(0.1)
    with pytest.raises(UnknownLibrary):
        libraries().open(library, mara, "viewer")


def test_an_administrator_enters_by_a_step_that_is_in_the_log(world: World) -> None:
    closed = json.loads(world.ask_root(PRIYA, "libraries")[1])["closed"]
    assert {one["name"] for one in closed} == {"Facilities", "Contracts"}
    assert "closed" not in json.loads(world.ask_root(MARA, "libraries")[1])
    refused = json.loads(world.ask_root(MARA, "libraries/enter", {"library": world.libraries["own"]})[1])
    assert "refused" in refused
    made = json.loads(world.ask_root(PRIYA, "libraries/enter", {"library": world.libraries["own"]})[1])
    assert libraries().role(world.users[PRIYA].user_id, made["id"]) == "manager"
    (event,) = world.accounts.log(1)
    assert (event.action, event.email, event.by, event.library) == ("made manager", PRIYA, PRIYA, "Contracts")
    libraries().grants.revoke(made["id"], PRIYA, "test")
    libraries().changed()


def test_who_makes_a_library_manages_it(world: World) -> None:
    made = json.loads(world.ask_root(MARA, "libraries/new", {"name": "Notes"})[1])["id"]
    told = json.loads(world.ask(MARA, made, "members")[1])
    assert [(one["name"], one["owner"]) for one in told["members"]] == [("mara", True)]
    told = json.loads(world.ask(MARA, made, "members/grant", {"to": JONAS, "role": "viewer"})[1])
    assert [one["role"] for one in told["members"]] == ["manager", "viewer"]
    assert libraries().role(world.users[JONAS].user_id, made) == "viewer"
    assert world.ask(JONAS, made, "members")[0] == 403
    assert "refused" in json.loads(world.ask(MARA, made, "members/grant", {"to": JONAS, "role": "owner"})[1])
    assert world.ask(MARA, made, "members/remove", {})[0] == 200
    assert world.ask(MARA, made, "members")[0] == 404


def test_who_manages_a_library_offers_it_to_their_own_teams(world: World) -> None:
    made = json.loads(world.ask_root(MARA, "libraries/new", {"name": "Offered"})[1])["id"]
    give = {"role": "viewer"}
    try:
        assert json.loads(world.ask(MARA, made, "members")[1])["teams"] == ["Credit"]
        refused = [world.ask(MARA, made, "members/grant", give | {"to": to})[1] for to in ("Audit", "Nobody")]
        assert refused[0].replace("Audit", "Nobody") == refused[1]
        for to in ("credit ", "Everyone", JONAS):
            assert "members" in json.loads(world.ask(MARA, made, "members/grant", give | {"to": to})[1]), to
        libraries().grants.grant(made, "Audit", "viewer", PRIYA)  # whom they then see, and may change
        assert "members" in json.loads(world.ask(MARA, made, "members/grant", {"to": "Audit", "role": "manager"})[1])
        assert json.loads(world.ask(PRIYA, made, "members")[1])["teams"] == ["Audit", "Credit"]
        assert "members" in json.loads(world.ask(MARA, made, "members/revoke", {"to": "Audit"})[1])
        told_of = [world.ask(MARA, made, "members/revoke", {"to": to})[1] for to in ("Audit", "Nobody", PRIYA, "a@b.c")]
        assert len({re.sub("Audit|Nobody|a@b.c|" + PRIYA, "…", one) for one in told_of}) == 1
    finally:
        libraries().grants.remove(made, "test")
        libraries().changed()


def test_nothing_of_others_is_reached_outside_of_libraries(world: World) -> None:
    theirs = world.accounts.session(world.sessions[MARA])
    assert theirs is not None
    for path, name, values in (
        ("libraries/enter", "library", (*world.libraries.values(), "0" * 32)),
        ("account/end", "session", (theirs.session_id, "0" * 12)),
        *((f"account/{name}", "email", (MARA, "nobody@fernhill.example")) for name in ("invite", "reset", "block")),
    ):
        said = {world.ask_root(JONAS, path, {name: value}) for value in values}
        assert len(said) == 1, path
    assert world.accounts.session(world.sessions[MARA]) is not None


def test_nothing_is_kept_for_two_libraries_at_once(world: World) -> None:
    mara, jonas = world.users[MARA], world.users[JONAS]
    one, other = (libraries().open(world.libraries[name], jonas, "viewer") for name in ("team", "own"))
    assert one.engine.home != other.engine.home
    assert one.renderer.folder != other.renderer.folder
    assert (
        libraries().open(world.libraries["team"], mara, "viewer").engine.models.embedder is one.engine.models.embedder
    )
    titles = [{info.doc_id: info.title for info in each.engine.documents()} for each in (one, other)]
    same = titles[0].keys() & titles[1].keys()
    assert (len(same), len(titles[0]), len(titles[1])) == (2, 3, 3)
    assert all(titles[0][doc_id] != titles[1][doc_id] for doc_id in same)
    assert all(one.engine.original(doc_id) != other.engine.original(doc_id) for doc_id in same)
    # The same file is new in another library, as if nobody had it.
    doc_id = world.ids["team"]["doc"]
    added = other.engine.add(one.engine.original(doc_id).read_bytes(), "a.pdf")
    assert (added.doc_id, added.status) == (doc_id, "new")
    other.engine.remove(doc_id)


@pytest.mark.slow
def test_a_password_opens_a_file_in_its_library_only(world: World) -> None:
    one, other = (world.open(name, JONAS) for name in ("team", "own"))
    doc_id = one.engine.add(LOCKED, "locked.pdf").doc_id
    assert one.engine.ingest(doc_id, password=pdfs.PASSWORD).status == "ready"
    page, asked = f"documents/{doc_id}/pages/1.png?w=160", f"documents/{doc_id}"
    assert world.ask(JONAS, world.libraries["team"], page)[0] == 200
    assert world.ask(JONAS, world.libraries["own"], page)[0] != 200
    assert "pages" in json.loads(world.ask(JONAS, world.libraries["team"], asked)[1])
    assert "pages" not in json.loads(world.ask(JONAS, world.libraries["own"], asked)[1])
    assert other.engine.ingest(doc_id).status == "failed"


def test_of_idle_libraries_the_last_used_stay_open(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    mara = world.users[MARA]
    monkeypatch.setattr(libraries(), "_most", 2)
    monkeypatch.setattr("ui.server.services.QUIET", 0.0)
    made = [libraries().grants.create(f"Library {n}", MARA, "test") for n in range(4)]
    for library in made:
        libraries().open(library, mara, "viewer")
    assert len(libraries()._open) <= 3
    assert libraries().open(made[0], mara, "viewer").engine.documents() == []


def test_a_library_has_no_place_for_a_foreign_home(world: World) -> None:
    for library in ("..", "../x", "%2e%2e", "x" * 200, "first"):
        assert world.ask(MARA, library, "library")[0] in (401, 404)
    homes = {path.name for path in (Path(world.accounts.home) / "libraries").iterdir()}
    assert all(re.fullmatch(r"[0-9a-f]{32}", name) for name in homes)


def test_rights_that_end_while_a_request_comes_do_not_count_any_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "HELD", -1.0)  # every body is late
    grants, own = libraries().grants, world.libraries["own"]
    body = {"name": "Changed"}
    before = grants.name(own)

    def take() -> None:
        grants.revoke(own, MARA, "test")
        libraries().changed()

    grants.grant(own, MARA, "manager", "test")
    libraries().changed()
    assert world.ask(MARA, own, "members/rename", body, take)[0] == 404
    assert grants.name(own) == before
    grants.grant(own, MARA, "manager", "test")
    libraries().changed()
    assert world.ask(MARA, own, "members/rename", {"name": before})[0] == 200, "rights that stay"
    session = world.accounts.session(world.sessions[MARA])
    assert session is not None
    status, told = world.ask(MARA, own, "members/rename", body, lambda: world.accounts.end(session, MARA))
    assert (status, json.loads(told)["error"]["code"]) == (401, "signed_out")
    assert grants.name(own) == before
    world.sessions[MARA] = world.accounts.sign_in(MARA, GOOD, Device())
    take()


def test_an_answer_that_is_unshared_is_followed_no_longer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    grants, own = libraries().grants, world.libraries["own"]
    grants.grant(own, MARA, "viewer", "test")
    libraries().changed()
    made = libraries().open(own, world.users[JONAS], "viewer")
    talk = made.engine.conversations.new()
    turn = made.engine.conversations.add_turn(talk, "What does it cost?")
    made.engine.conversations.share(talk, True)
    live = SimpleNamespace(conversation_id=talk, turn_id=turn)
    before = HERE.set(libraries().open(own, world.users[MARA], "viewer"))
    try:
        assert conversation_routes._may_follow(live)
        made.engine.conversations.share(talk, False)
        assert not conversation_routes._may_follow(live)
        made.engine.conversations.share(talk, True)
        grants.revoke(own, MARA, "test")
        libraries().changed()
        assert not conversation_routes._may_follow(live)
    finally:
        HERE.reset(before)


def test_who_opens_a_library_to_somebody_does_not_choose_where_they_land(world: World) -> None:
    grants = libraries().grants
    known = [one for one in libraries().of(world.users[JONAS]) if one.own]
    made = grants.create("A", MARA, "test")
    grants.grant(made, JONAS, "contributor", "test")
    grants.revoke(world.libraries["first"], "Everyone", "test")
    libraries()._last.clear()
    try:
        assert libraries().default(world.users[JONAS]) in {one.library_id for one in known}
    finally:
        grants.grant(world.libraries["first"], "Everyone", "contributor", "test")
        grants.remove(made, "test")
        libraries().changed()


# What verbs are given, and what of it names documents.
NAMING = {"document": str, "documents": list, "after": str}
ASKING: dict[str, object] = {
    "question": "How many wells?",
    "claim": "There were 4 wells.",
    "quotation": "4 wells",
    "page": 1,
    "limit": 5,
    "start": 0,
    "end": 4,
    "width": 200,
    "name": "x",
}


def through_api(world: World, secret: str, verb: Verb[Any, Any], asked: dict[str, Any], accept: str) -> str:
    method, path = verb.path.split()
    named = {**asked}
    path = re.sub(r"\{(\w+)\}", lambda found: str(named.pop(found[1])), path)
    query = urlencode(named) if method == "GET" else ""
    headers = HOST | {"authorization": f"Bearer {secret}", "accept": accept}
    return world.raw(f"/api/v1{path}", query, headers, None if method == "GET" else named)


def through_mcp(world: World, secret: str, verb: Verb[Any, Any], asked: dict[str, Any], accept: str) -> str:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": verb.name, "arguments": asked}}
    headers = HOST | {"authorization": f"Bearer {secret}", "accept": f"application/json, {EVENTS}"}
    return world.raw("/api/v1/mcp", "", headers | {"content-type": "application/json"}, call)


def test_a_token_of_one_library_opens_nothing_of_another(world: World) -> None:
    tokens, count = Tokens(world.accounts), 0
    secret = tokens.make("report", SCOPES, "test", MARA, library_id=world.libraries["team"])
    others = [world.ids[name] | {"name": f"{WORDS[name]}.pdf"} for name in ("first", "own")]
    nothing = UNKNOWN | {"name": "no-such-file.pdf"}
    for verb in VERBS:
        known = verb.asked.model_fields.keys()
        assert known <= NAMING.keys() | ASKING.keys(), "a field that may name something"
        plain = {name: value for name, value in ASKING.items() if name in known}
        if verb.name == "page_picture":
            plain = {"page": 1}
        for at in NAMING.keys() & known:
            rest = {"document": world.ids["team"]["doc"]} if "document" in known else {}
            for kind in ("doc", "name"):
                for door, accept in ((through_api, "*/*"), (through_api, EVENTS), (through_mcp, "")):
                    said = []
                    for ids in (*others, nothing):
                        value = [ids[kind]] if NAMING[at] is list else ids[kind]
                        answer = door(world, secret, verb, plain | rest | {at: value}, accept)
                        said.append(told((0, answer), {kind: ids[kind]}))
                    assert said[0] == said[1] == said[2], (verb.name, at, said)
                    assert "no document" in said[0][1], (verb.name, at, said)
                    count += 2
        listed = through_api(world, secret, VERBS[0], {}, "*/*")
        assert WORDS["team"] in listed
        assert not [word for word in (WORDS["first"], WORDS["own"]) if word in listed]
    print(f"\n{count} requests", end=" ")
    assert count > 80
    # A file that another library has is new in this one.
    data = world.open("own", JONAS).engine.original(world.ids["own"]["doc"]).read_bytes()
    headers = HOST | {"authorization": f"Bearer {secret}"}
    assert json.loads(world.raw("/api/v1/documents", "name=a.pdf", headers, data))["already"] is False
    world.open("team", MARA).ingestion.cancel(world.ids["own"]["doc"])
