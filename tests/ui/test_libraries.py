"""Libraries of a team: what is not open to somebody is as if it were not there, on every route and for every id."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.routing import BaseRoute, Route

from ragcore.accounts.accounts import Accounts, Device, User
from ragcore.accounts.libraries import ROLES, Role
from ragcore.engine import Engine
from ragcore.grid.columns import ColumnSpec
from ragcore.report.template import read_template
from ragcore.serve import rights
from ragcore.types import EVERYTHING
from ragcore.types.library import Feedback
from tests import pdfs
from tests.ui.asgi import ask
from tests.ui.test_gate import GOOD, HOST, local
from ui.chat import conversation_routes
from ui.chat.runs import LiveAnswer
from ui.gate import access as access_module
from ui.gate import front
from ui.gate.access import Access
from ui.gate.gate import Gate
from ui.server import roles, routes, visits
from ui.server.guard import TOKEN_HEADER
from ui.server.libraries import KNOWN, NotAllowed, UnknownLibrary
from ui.server.services import HERE, Services, libraries, signer

MARA, JONAS, PRIYA = "mara@fernhill.example", "jonas@fernhill.example", "priya@fernhill.example"
# A GET or POST of these changes nothing that is compared; an answer that streams does not end by itself.
UNKNOWN = {
    "doc": "d0" * 8,
    "conversation": "c0" * 6,
    "turn": "70" * 8,
    "report": "4e" * 6,
    "section": "5e" * 6,
    "check": "ce" * 6,
    "grid": "64" * 6,
    "column": "c1" * 4,
}
OTHERS = {"page": "1", "number": "1", "width": "2560", "row": "0", "kind": "md", "form": "csv"}
Ids = dict[str, str]


@dataclass
class World:
    """Three people, one team and three libraries: the first, one of Mara's team, and one of Jonas's own."""

    accounts: Accounts
    routes: list[BaseRoute]
    users: dict[str, User]
    sessions: dict[str, str]
    ids: dict[str, Ids] = field(default_factory=dict)  # of what Mara has in each library
    libraries: dict[str, str] = field(default_factory=dict)

    def ask(
        self, who: str, library: str, path: str, body: object = None, meanwhile: Callable[[], object] = lambda: None
    ) -> tuple[int, str]:
        """Status and body of a route of a library, asked by somebody; ``meanwhile`` happens before the body comes."""
        return self.ask_root(who, path, body, f"/l/{library}", meanwhile)

    def ask_root(
        self,
        who: str,
        path: str,
        body: object = None,
        within: str = "",
        meanwhile: Callable[[], object] = lambda: None,
    ) -> tuple[int, str]:
        """The same of a route outside of any library."""
        session = self.sessions[who]
        headers = HOST | {"cookie": f"{access_module.access().cookie}={session}"}
        if body is not None:
            headers |= {TOKEN_HEADER: signer().token(visits.named(session))}
        at = Access(local(), self.accounts)
        path, _, query = path.partition("?")
        given = ask(
            self.routes,
            f"{within}/gw/{path}",
            query,
            headers=headers,
            body=body,
            behind=lambda app: Gate(app, at, self.accounts),
            meanwhile=meanwhile,
        )
        return given[0], given[2].decode("utf-8", "replace")


def belongings(engine: Engine, data: bytes) -> Ids:
    """Something of every kind."""
    conversation = engine.conversations.new()
    turn = engine.conversations.add_turn(conversation, "What does the facility cost?")
    engine.feedback.put(turn, Feedback(helpful=False))
    grid = engine.grids.add("Grid", [ColumnSpec(name="Pages", question="How many pages?", type="value")], EVERYTHING)
    report = engine.reports.new(read_template(b"# Report\n\n## Terms\n\nWhat are the terms?\n", "terms.md"))
    return {
        "doc": engine.add(data, "a.pdf").doc_id,
        "conversation": conversation,
        "turn": turn,
        "report": report,
        "section": engine.reports.get(report).sections[0].section_id,
        "check": engine.checks.add("draft.md", b"Revenue was $4 million in 2024.\n", EVERYTHING).check_id,
        "grid": grid.grid_id,
        "column": engine.grids.add_column(grid.grid_id, "Date", "When was it made?", "date"),
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
    made = World(accounts, [*routes.routes(), *doors], {user.email: user for user in accounts.users()}, sessions)
    grants = libraries().grants
    first = libraries().of(made.users[PRIYA])[0].library_id
    grants.add_team("Credit", "test")
    grants.join("Credit", MARA, "test", manager=True)
    grants.join("Credit", JONAS, "test")
    made.libraries = {
        "first": first,
        "team": grants.create("Facilities", "Credit", "test"),
        "own": grants.create("Contracts", JONAS, "test"),
    }
    for name, data in (("first", pdfs.ruled_table()), ("team", pdfs.one_column())):
        found = libraries().open(made.libraries[name], made.users[MARA], "contributor")
        made.ids[name] = belongings(found.engine, data)
    yield made
    access_module._settled.clear()
    accounts.close()


def every_route(world: World) -> Iterator[tuple[str, str]]:
    """Method and path of each route within a library."""
    for route in world.routes:
        if isinstance(route, Route) and route.path.startswith("/l/{library:str}/gw/"):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield method, route.path.removeprefix("/l/{library:str}/gw/")


def filled(path: str, ids: Ids) -> str:
    named = {**OTHERS, **ids}
    if "tiles" in path:
        named["column"] = "0"
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: named[found[1]], path)


def body_of(method: str, ids: Ids) -> object:
    """Body that names things in every way that a route looks for."""
    if method == "GET":
        return None
    several = {"docs": [ids["doc"]], "documents": [ids["doc"]], "sections": [ids["section"]]}
    one = {"conversation": ids["conversation"], "turn": ids["turn"], "document": ids["doc"], "doc": ids["doc"]}
    return {**several, **one, "title": "x", "name": "x", "question": "", "shared": True, "feedback": None}


def stored(engine: Engine) -> list[list[tuple[object, ...]]]:
    """Rows of what people have of their own."""
    names = ("conversations", "reports", "report_sections", "report_tasks")
    return [list(map(tuple, engine.store.database.rows(f"SELECT * FROM {name}"))) for name in names]


def told(said: tuple[int, str], ids: Ids) -> tuple[int, str]:
    """What was answered, without the ids that were asked for."""
    status, body = said
    for name, value in ids.items():
        body = body.replace(value, name)
    return status, body


def test_every_route_has_a_role_and_every_role_a_route(world: World) -> None:
    listed = {(method, re.sub(r":\w+\}", "}", path)) for method, path in every_route(world)}
    assert listed == set(roles.NEEDED)
    assert len(listed) > 100
    with pytest.raises(LookupError, match="has no role"):
        roles.needed(Route("/l/{library:str}/gw/new", lambda _: None), "/l/{library:str}")  # type: ignore[arg-type, return-value]


def test_a_library_that_is_not_open_is_as_one_that_is_not_there(world: World) -> None:
    shut, none = world.libraries["own"], "0" * 32
    for method, path in every_route(world):
        for who in (MARA, PRIYA):  # Priya is the administrator
            asked = filled(path, UNKNOWN)
            said = [world.ask(who, library, asked, body_of(method, UNKNOWN)) for library in (shut, none)]
            assert said[0] == said[1], (method, path)
            assert said[0][0] == 404
            assert json.loads(said[0][1])["error"]["code"] == "unknown_library"


def test_what_is_in_another_library_is_not_there(world: World) -> None:
    foreign, own = world.ids["first"], world.libraries["team"]
    for method, path in every_route(world):
        if ("{" not in path and method == "GET") or path.endswith("/sample") or path.startswith("members"):
            continue
        said = [told(world.ask(MARA, own, filled(path, ids), body_of(method, ids)), ids) for ids in (foreign, UNKNOWN)]
        assert said[0] == said[1] or path.startswith("settings"), (method, path)


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
    for method, path in every_route(world):
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
    assert shown["turns"][0]["question"] == "What does the facility cost?"
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
    for method, path in every_route(world):
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


def test_nothing_is_kept_for_two_libraries_at_once(world: World) -> None:
    mara, jonas = world.users[MARA], world.users[JONAS]
    one, other = (libraries().open(world.libraries[name], jonas, "viewer") for name in ("team", "own"))
    assert one.engine.home != other.engine.home
    assert one.renderer.folder != other.renderer.folder
    assert libraries().open(world.libraries["team"], mara, "viewer").engine.models is one.engine.models
    doc_id = world.ids["team"]["doc"]
    assert [info.doc_id for info in one.engine.documents()] == [doc_id]
    assert other.engine.documents() == []
    # The same file is new in another library, as if nobody had it.
    added = other.engine.add(one.engine.original(doc_id).read_bytes(), "a.pdf")
    assert (added.doc_id, added.status) == (doc_id, "new")


@pytest.mark.slow
def test_a_password_opens_a_file_in_its_library_only(world: World) -> None:
    jonas, data = world.users[JONAS], pdfs.encrypted()
    one, other = (libraries().open(world.libraries[name], jonas, "viewer") for name in ("team", "own"))
    doc_id = one.engine.add(data, "locked.pdf").doc_id
    assert one.engine.ingest(doc_id, password=pdfs.PASSWORD).status == "ready"
    assert other.engine.add(data, "locked.pdf").doc_id == doc_id
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
