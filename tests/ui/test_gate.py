"""The gate: nothing without a session, no session by another way than signing in, and what is tried against that."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp
from streamlit import config

from ragcore.accounts.accounts import FREE, Accounts, Device
from ragcore.accounts.libraries import Grants
from ragcore.config.settings import AuthSettings
from ragcore.errors import ConfigError
from tests.ui.asgi import ask
from ui.gate import access as access_module
from ui.gate import front
from ui.gate.access import Access, access
from ui.gate.gate import OPEN, PROGRAMS, Gate
from ui.server import frame, routes, visits, web
from ui.server.services import Services

MARA, JONAS = "mara@fernhill.example", "jonas@fernhill.example"
GOOD = "four words to remember"
HOST = {"host": "localhost:8501", "origin": "http://localhost:8501", "accept": "text/html"}
OPENED = {"/gw/auth/sign-in", "/gw/auth/sign-out", "/gw/auth/link/{code:str}", "/readyz"}
OPENED |= {"/gw/static/{version:str}/styles.css", "/gw/static/{version:str}/{path:path}"}
Asked = tuple[int, dict[str, str], bytes]


def local(url: str = "", mode: str = "local") -> AuthSettings:
    others = dict.fromkeys(("issuer", "client_id", "domains", "header", "proxies"), "")
    return AuthSettings.model_validate(others | {"mode": mode, "url": url})


class Site:
    """The app's routes behind the gate, with two accounts."""

    def __init__(self, home: Path, url: str = "") -> None:
        self.accounts = Accounts(home)
        self.access = Access(local(url), self.accounts)
        access_module._settled[:] = [self.access]
        middleware, doors = front.built()
        assert [each.cls for each in middleware] == [Gate]
        pages = web.routes([page.path for page in frame.PAGES])
        self.routes: list[BaseRoute] = [*routes.routes(), *pages, *doors]
        if not self.accounts.users():
            for email, admin in ((MARA, True), (JONAS, False)):
                code = self.accounts.invite(email, "command line", admin=admin)
                self.accounts.accept(code, "", "", GOOD, Device())

    @property
    def within(self) -> str:
        """Path of the first library's routes."""
        grants = Grants(self.accounts)
        grants.begin(lambda _: None)
        return f"/l/{grants.all()[0].library_id}"

    def behind(self, app: ASGIApp) -> ASGIApp:
        return web.OwnOrigin(Gate(app, self.access, self.accounts))

    def ask(self, path: str, body: object = None, session: str = "", query: str = "", **headers: str) -> Asked:
        given = HOST | {name.replace("_", "-"): value for name, value in headers.items()}
        if session:
            given["cookie"] = f"{self.access.cookie}={session}"
        return ask(self.routes, path, query, headers=given, body=body, behind=self.behind)

    def sign_in(self, email: str = MARA, password: str = GOOD, query: str = "", **headers: str) -> Asked:
        form = urlencode({"email": email, "password": password}).encode()
        return self.ask("/gw/auth/sign-in", form, query=query, **headers)

    def session(self, email: str = MARA) -> str:
        return self.accounts.sign_in(email, GOOD, Device())

    def token(self, opened: Services, session: str) -> str:
        return opened.signer.token(visits.named(session))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield Site(tmp_path_factory.mktemp("accounts"))
    access_module._settled.clear()


def every_route(site: Site) -> Iterator[tuple[str, str, str]]:
    """Method, path of the table, and a path that it serves, of each route."""
    for route in site.routes:
        assert isinstance(route, Route)
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield method, route.path, re.sub(r"\{\w+:int\}", "1", re.sub(r"\{\w+(:str|:path)?\}", "x", route.path))


def written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def cookie(headers: dict[str, str]) -> str:
    return headers["set-cookie"].partition("=")[2].partition(";")[0]


def test_no_route_answers_without_a_session_or_with_one_that_ended(opened: Services, site: Site) -> None:
    ended = site.session()
    found = site.accounts.session(ended)
    assert found is not None
    site.accounts.end(found, MARA)
    walked = 0
    for method, listed, path in every_route(site):
        if listed in OPENED:
            continue
        body = {} if method == "POST" else None
        for session in ("", ended, "x" * 43):
            token = site.token(opened, session or "x")
            status, headers, said = site.ask(path, body, session, x_groundwork_token=token)
            if status == 303:
                assert not path.startswith(("/gw/", "/l/"))
                assert headers["location"].startswith("/gw/auth/sign-in?next=")
            else:
                assert (status, json.loads(said)["error"]["code"]) == (401, "signed_out"), (method, path)
        walked += 1
    assert walked > 100


def test_a_session_does_nothing_with_the_token_of_another(opened: Services, site: Site) -> None:
    mara, jonas = site.session(), site.session(JONAS)
    theirs = site.token(opened, jonas)
    for method, listed, path in every_route(site):
        if listed in OPENED or not path.startswith(("/gw/", "/l/")) or "/plotly/" in path:  # as it is on the web
            continue
        path = path.replace("/l/x", site.within)
        body = {} if method == "POST" else None
        assert site.ask(path, body, mara, x_groundwork_token=theirs)[0] == 403, (method, path)
        if method == "POST":
            assert site.ask(path, body, mara)[0] == 403, path


def test_what_the_browser_fetches_by_itself_is_authorised_by_the_cookie_only(opened: Services, site: Site) -> None:
    mara = site.session()
    assert site.ask(f"{site.within}/gw/documents/gone", session=mara)[0] == 200
    assert site.ask(f"{site.within}/gw/documents/gone", session=mara, sec_fetch_site="same-site")[0] == 403
    assert site.ask(f"{site.within}/gw/documents/gone", query=f"t={site.token(opened, mara)}")[0] == 401
    assert site.ask("/", session=mara)[0] == 200


@given(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(["/gw/static/", "/gw/auth/", "/api/v1", "/"]).flatmap(
            lambda start: st.text("./\\%abgwin-_", max_size=30).map(lambda end: start + end)
        ),
    ),
    st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]),
)
def test_whatever_is_asked_for_is_refused_unless_it_is_listed(path: str, method: str) -> None:
    reached: list[str] = []

    async def app(scope: object, receive: object, send: object) -> None:
        reached.append(path)

    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    gate = Gate(app, Access(local(), None), None)  # type: ignore[arg-type]
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": [(b"origin", b"x")]}
    running = gate(scope | {"scheme": "http", "server": ("localhost", 80)}, None, send)  # type: ignore[arg-type]
    with pytest.raises(StopIteration):
        running.send(None)
    assert bool(reached) == bool((OPEN.fullmatch(path) or path.startswith(f"{PROGRAMS}/")) and ".." not in path)
    assert reached or sent[0]["status"] in (303, 401)


def test_what_a_person_gets_is_kept_by_nobody_in_between(opened: Services, site: Site) -> None:
    mara = site.session()
    inside = [f"{site.within}/gw/{one}" for one in ("library", "documents/gone", "conversations")]
    for path in ("/gw/account", *inside):
        behind = partial(ask, site.routes, path, headers=HOST | {"cookie": f"{site.access.cookie}={mara}"})
        status, headers, _ = behind(behind=lambda app: web.Headers(site.behind(app)))
        assert (status, headers["cache-control"]) == (200, "no-store"), path


def test_signing_in_sets_a_cookie_that_no_script_and_no_other_site_gets(site: Site) -> None:
    status, headers, _ = site.sign_in()
    assert (status, headers["location"]) == (303, "/")
    given = headers["set-cookie"].lower()
    assert given.startswith("gw_session_8501=")
    assert all(part in given for part in ("; httponly", "; samesite=lax", "; path=/", "; max-age=604800"))
    assert "; secure" not in given  # on this machine, over http
    assert site.ask("/", session=cookie(headers))[0] == 200


def test_over_https_the_cookie_is_bound_to_the_host(tmp_path: Path, site: Site) -> None:
    https = Site(tmp_path, "https://library.fernhill.example")
    here = {"host": "library.fernhill.example", "origin": "https://library.fernhill.example"}
    given = https.sign_in(**here)[1]["set-cookie"]
    assert given.startswith("__Host-gw_session=")
    assert "; Secure" in given
    assert "domain" not in given.lower()
    host = here["host"]
    for origin in (f"http://{host}", f"https://{host}:8443", "null", "https://evil.example"):
        assert https.sign_in(**here | {"origin": origin})[0] == 403, origin
    access_module._settled[:] = [site.access]


def test_a_session_that_was_planted_is_not_taken_over(site: Site) -> None:
    planted = site.session(JONAS)
    status, headers, _ = site.sign_in(cookie=f"gw_session_8501={planted}")
    assert status == 303
    assert cookie(headers) != planted
    assert site.accounts.session(planted) is None
    status, headers, _ = site.sign_in(cookie="gw_session_8501=chosen")
    assert cookie(headers) != "chosen"
    assert site.accounts.session("chosen") is None


OTHERS = [
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "\\\\evil.example",
    "/%0d%0aSet-Cookie:x",
    "",
    " /x",
]
OTHERS += ["javascript:x", "/a//evil.example", "http:evil.example", "/\t/evil.example"]


@pytest.mark.parametrize("back", OTHERS)
def test_signing_in_leads_to_no_other_site(site: Site, back: str) -> None:
    status, headers, _ = site.sign_in(query=urlencode({"next": back}))
    assert status == 303
    assert headers["location"] in ("/", "/%0d%0aSet-Cookie:x")


def test_signing_in_leads_back_to_the_page_that_was_asked_for(site: Site) -> None:
    _, headers, _ = site.ask("/library", query="x=1&y=a%20b")
    query = headers["location"].partition("?")[2]
    assert site.sign_in(query=query)[1]["location"] == "/library?x=1&y=a%20b"


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:9999", ""])
def test_forms_and_changes_are_taken_from_own_pages_only(opened: Services, site: Site, origin: str) -> None:
    mara = site.session()
    assert site.sign_in(origin=origin)[0] == 403
    for path in ("/gw/auth/sign-out", "/gw/account/password", "/gw/auth/link/x"):
        assert site.ask(path, b"", mara, origin=origin, x_groundwork_token=site.token(opened, mara))[0] == 403
    assert site.accounts.session(mara) is not None


def test_a_link_makes_one_account(site: Site) -> None:
    code = site.accounts.invite("priya@fernhill.example", MARA)
    assert b"priya@fernhill.example" in site.ask(f"/gw/auth/link/{code}")[2]
    form = urlencode({"email": "other@fernhill.example", "name": "Priya", "password": GOOD}).encode()
    status, headers, _ = site.ask(f"/gw/auth/link/{code}", form)
    assert (status, site.ask("/", session=cookie(headers))[0]) == (303, 200)
    assert [one.email for one in site.accounts.users()][-1] == "priya@fernhill.example"
    again = site.ask(f"/gw/auth/link/{code}", form)
    assert again[0] == 200
    assert "set-cookie" not in again[1]
    assert b"was used before" in again[2]


def test_tries_are_slowed_down_whoever_is_named(site: Site, tmp_path: Path) -> None:
    own = Site(tmp_path)
    said = {}
    for email in (MARA, "nobody@fernhill.example"):
        pages = [own.sign_in(email, "wrong words here", x_forwarded_for=f"198.51.100.{n}")[2] for n in range(FREE + 1)]
        said[email] = [re.sub(r"value=\"[^\"]*\"|\d+ (s|minutes)\b", "", page.decode()) for page in pages]
        with own.accounts.database.write() as connection:
            connection.execute("DELETE FROM tries WHERE whose LIKE 'address%'")
    assert said[MARA] == said["nobody@fernhill.example"]
    assert "Email or password is wrong." in said[MARA][0]
    assert "Too many tries." in said[MARA][-1]  # another forwarded address each time makes no difference
    assert "Too many tries." in own.sign_in()[2].decode()
    access_module._settled[:] = [site.access]


def test_only_administrators_see_and_change_who_may_sign_in(opened: Services, site: Site) -> None:
    jonas, mara = site.session(JONAS), site.session()
    assert "people" not in json.loads(site.ask("/gw/account", session=jonas)[2])
    for path in ("invite", "reset", "block"):
        body = {"email": "new@fernhill.example" if path == "invite" else JONAS}
        theirs = site.ask(f"/gw/account/{path}", body, jonas, x_groundwork_token=site.token(opened, jonas))
        assert json.loads(theirs[2])["refused"]["message"] == "Only administrators can do this."
    made = site.ask("/gw/account/invite", {"email": "x@y.example"}, mara, x_groundwork_token=site.token(opened, mara))
    link = json.loads(made[2])["link"]
    assert re.fullmatch(r"http://localhost:\d+/gw/auth/link/[\w-]{43}", link)
    blocked = site.ask("/gw/account/block", {"email": JONAS}, mara, x_groundwork_token=site.token(opened, mara))
    assert [one["blocked"] for one in json.loads(blocked[2])["people"] if one["email"] == JONAS] == [True]
    assert site.ask("/", session=jonas)[0] == 303
    site.accounts.block(JONAS, "command line", blocked=False)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("keep", {}),
        ("reading", {"changes": {"ocr.mode": "off"}}),
        ("change", {"changes": {"llm.base_url": "http://localhost:1"}}),
        ("change", {"changes": {"rerank.model": "sentence-transformers:/etc"}}),
    ],
)
def test_only_administrators_change_what_holds_for_everybody(
    opened: Services, site: Site, path: str, body: object
) -> None:
    jonas = site.session(JONAS)
    said = site.ask(f"{site.within}/gw/settings/{path}", body, jonas, x_groundwork_token=site.token(opened, jonas))[2]
    told = json.loads(said)
    assert (told.get("refused") or told["error"])["message"].startswith("Only ")


@pytest.mark.parametrize(
    "configuration",
    ["llm.base_url=http://localhost:1", "llm.model=x,rerank.model=sentence-transformers:/etc", "llm.base_url=''"],
)
def test_an_evaluation_reaches_no_further_than_settings_do(
    opened: Services, site: Site, configuration: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = opened.engine.evaluation.add(written(tmp_path / "q.csv", "question,answer\nWhat is it?,A sample.\n"))
    if configuration.endswith("''"):  # away from the server that an administrator chose
        monkeypatch.setattr(opened, "base", opened.base.with_settings({"llm.base_url": "http://localhost:1"}))
    jonas, body = site.session(JONAS), {"set": added.set_id, "configuration": configuration}
    said = site.ask(f"{site.within}/gw/evaluate/run", body, jonas, x_groundwork_token=site.token(opened, jonas))[2]
    assert json.loads(said)["refused"]["message"].startswith("Only administrators can")


def test_a_browser_names_no_file_of_the_server(opened: Services, site: Site, tmp_path: Path) -> None:
    added = opened.engine.evaluation.add(written(tmp_path / "q.csv", "question,answer\nWhat is it?,A sample.\n"))
    mara, there = site.session(), written(tmp_path / "there.toml", "a = 1")
    said = []
    for path in (there, tmp_path / "not there.toml"):
        body = {"set": added.set_id, "configuration": f"@{path}"}
        answer = site.ask(f"{site.within}/gw/evaluate/run", body, mara, x_groundwork_token=site.token(opened, mara))[2]
        said.append(json.loads(answer)["refused"]["message"].replace(str(path), ""))
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ["\0.csv", "q.csv\0", "q" * 5000 + ".csv", "\U0001f600" * 300 + ".csv", "../../q.csv"])
def test_a_file_of_any_name_is_read_in_its_own_folder(opened: Services, site: Site, name: str) -> None:
    mara, data = site.session(), base64.b64encode(b"question,answer\nWhat is it?,A sample.\n").decode()
    body = {"name": name, "data": data}
    status, _, said = site.ask(
        f"{site.within}/gw/evaluate/sets", body, mara, x_groundwork_token=site.token(opened, mara)
    )
    assert (status, "set" in json.loads(said)) == (200, True)


def test_a_session_ends_only_those_of_its_own_person(opened: Services, site: Site) -> None:
    mara, jonas = site.session(), site.session(JONAS)
    theirs, other = site.accounts.session(jonas), site.accounts.session(site.session())
    assert theirs is not None
    assert other is not None
    for found in (theirs, other):
        token = site.token(opened, mara)
        assert site.ask("/gw/account/end", {"session": found.session_id}, mara, x_groundwork_token=token)[0] == 200
    assert site.accounts.session(jonas) is not None
    assert site.accounts.session_of(other.session_id) is None


def test_a_key_of_a_visit_is_not_that_of_the_next_person(opened: Services, site: Site) -> None:
    mara, jonas = site.session(), site.session(JONAS)
    assert visits.named(mara) != visits.named(jonas)
    token = site.token(opened, mara)
    assert site.ask(f"{site.within}/gw/settings/key", {"key": "sk-ant-test"}, mara, x_groundwork_token=token)[0] == 200
    assert opened.visits.key_set(visits.named(mara))
    assert not opened.visits.key_set(visits.named(jonas))


def test_an_answer_that_streams_ends_with_its_session(site: Site) -> None:
    mara = site.session()
    found = site.accounts.session(mara)
    assert found is not None

    async def app(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
        for _ in range(3):
            await send({"type": "http.response.body", "body": b"words", "more_body": True})  # type: ignore[operator]
            site.accounts.end(found, MARA)

    gate = Gate(app, site.access, site.accounts, checked=0.0)  # type: ignore[arg-type]
    assert ask([], "/", headers=HOST | {"cookie": f"gw_session_8501={mara}"}, behind=lambda _: gate)[2] == b"words"


@pytest.mark.parametrize(
    ("mode", "url", "address", "hosts", "said"),
    [
        ("off", "", "localhost", [], ""),
        ("off", "", "127.0.0.1", [], ""),
        ("off", "", "::1", [], ""),
        ("off", "", "0.0.0.0", [], "listens on this machine only"),
        ("off", "", "", [], "listens on this machine only"),
        ("off", "", "192.168.1.4", [], "listens on this machine only"),
        ("local", "", "0.0.0.0", ["localhost"], ""),
        ("local", "", "0.0.0.0", ["library.example"], "must not travel in clear"),
        ("local", "http://library.example", "localhost", [], "must not travel in clear"),
        ("local", "https://library.example", "0.0.0.0", ["library.example"], ""),
    ],
)
def test_the_server_does_not_start_in_the_open(
    mode: str, url: str, address: str, hosts: list[str], said: str, request: pytest.FixtureRequest
) -> None:
    for option, value in (("server.address", address), ("server.allowedHosts", hosts)):
        request.addfinalizer(partial(config.set_option, option, config.get_option(option)))
        config.set_option(option, value or None)
    auth = local(url, mode)
    if not said:
        access_module._check(auth)
        return
    with pytest.raises(ConfigError, match=said):
        access_module._check(auth)


def test_the_gate_costs_little(site: Site) -> None:
    mara, took = site.session(), dict[bool, list[float]]()
    app = Starlette(routes=[Route("/x", lambda _: PlainTextResponse("x"))])
    headers = HOST | {"cookie": f"gw_session_8501={mara}"}
    for _ in range(60):
        for gated in (False, True):
            started = time.perf_counter()
            status = ask([], "/x", headers=headers, behind=lambda _, on=gated: site.behind(app) if on else app)[0]
            took.setdefault(gated, []).append(time.perf_counter() - started)
            assert status == 200
    cost = median(took[True]) - median(took[False])
    print(f"\ngate: {cost * 1000:.2f} ms of {median(took[True]) * 1000:.2f} ms")
    assert cost < 0.010


def test_nobody_is_asked_to_sign_in_without_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWORK_HOME", str(tmp_path))
    before = access_module._settled[:]
    access_module._settled.clear()
    try:
        assert access().accounts is None
        assert front.built() == ([], [])
        assert not (tmp_path / "accounts.sqlite").exists()
    finally:
        access_module._settled[:] = before


def test_only_administrators_have_paths_of_the_server_read(opened: Services, site: Site, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("Not for everybody.", encoding="utf-8")
    for email, may in ((JONAS, False), (MARA, True)):
        session = site.session(email)
        asked = partial(site.ask, session=session, x_groundwork_token=site.token(opened, session))
        said = json.loads(asked(f"{site.within}/gw/library/folders/add", {"path": str(tmp_path)})[2])
        assert said.keys().isdisjoint(("refused", "error")) == may
        told = json.loads(asked(f"{site.within}/gw/library/folders")[2])
        assert told["allowed"] == may
        assert [one["path"] for one in told["folders"]] == ([str(tmp_path)] if may else [])
        for action in ("look", "remove"):
            said = json.loads(asked(f"{site.within}/gw/library/folders/{action}", {"path": str(tmp_path)})[2])
            assert said.keys().isdisjoint(("refused", "error")) == may
