"""Signing in elsewhere: at a provider of OpenID Connect, and by what a proxy says."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from oidc_provider_mock import User, run_server_in_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import BaseRoute

from ragcore.accounts.accounts import Accounts, Device
from ragcore.config.settings import AuthSettings
from ragcore.errors import ConfigError
from tests.ui.asgi import ask
from ui.gate import access as access_module
from ui.gate import front
from ui.gate.access import FORWARDED, SECRET, Access
from ui.gate.gate import Gate
from ui.gate.oidc import MOST_FLOWS, Provider
from ui.gate.pages import Pages
from ui.server import frame, web

HOST = {"host": "localhost:8501", "origin": "http://localhost:8501", "accept": "text/html"}
GOOD = "four words to remember"
MARA, JONAS, EVE = "mara@fernhill.example", "jonas@fernhill.example", "eve@else.example"


def person(sub: str, email: str, verified: bool = True) -> User:
    return User(sub=sub, claims={"email": email, "email_verified": verified, "name": sub.title()})


PEOPLE = (
    person("mara", MARA),
    person("jonas", JONAS),
    person("eve", EVE),
    person("liar", MARA, verified=False),
    person("renamed", EVE),
)


class Site:
    def __init__(self, home: Path, **auth: str) -> None:
        given = {"url": "", "issuer": "", "client_id": "", "domains": "", "header": "", "proxies": ""} | auth
        self.accounts = Accounts(home)
        self.access = Access(AuthSettings.model_validate(given), self.accounts)
        access_module._settled[:] = [self.access]
        _, doors = front.built()
        self.routes: list[BaseRoute] = [*web.routes([page.path for page in frame.PAGES]), *doors]

    def ask(self, path: str, query: str = "", body: object = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        given = HOST | {name.replace("_", "-"): value for name, value in headers.items()}
        return ask(self.routes, path, query, headers=given, body=body, behind=self.behind)

    def behind(self, app: Any) -> Any:
        return Gate(app, self.access, self.accounts)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    made: list[Site] = []

    def make(**auth: str) -> Site:
        made.append(Site(tmp_path, **auth))
        return made[-1]

    yield make
    access_module._settled.clear()
    for each in made:
        each.accounts.close()


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with run_server_in_thread(user_claims=PEOPLE, require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def authorised(address: str, sub: str) -> str:
    """Query with which the provider sends the browser back."""
    with pytest.raises(urllib.error.HTTPError) as sent:
        urllib.request.build_opener(_Stays).open(address, urlencode({"sub": sub}).encode(), timeout=10)
    assert sent.value.code in (302, 303)
    return urlsplit(sent.value.headers["location"]).query


def begun(site: Site, back: str = "/library") -> tuple[str, str]:
    """Address at the provider, and the flow's cookie."""
    status, headers, _ = site.ask("/gw/auth/provider", urlencode({"next": back}))
    assert status == 302
    return headers["location"], headers["set-cookie"].partition(";")[0]


def signed_in(site: Site, sub: str) -> tuple[int, dict[str, str], bytes]:
    address, cookie = begun(site)
    return site.ask("/gw/auth/provider/back", authorised(address, sub), cookie=cookie)


def session_of(headers: dict[str, str]) -> str:
    return headers["set-cookie"].partition("=")[2].partition(";")[0]


@pytest.fixture
def company(site: Callable[..., Site], issuer: str, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv(SECRET, "secret")
    return site(mode="oidc", issuer=issuer, client_id="groundwork", domains="fernhill.example, other.example")


def test_the_flow_has_a_state_a_nonce_and_a_challenge(company: Site) -> None:
    page = company.ask("/gw/auth/sign-in")[2]
    assert b"Continue with company sign-in" in page
    assert b"Password" not in page
    asked = parse_qs(urlsplit(begun(company)[0]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"{company.access.url}/gw/auth/provider/back"]
    assert all(len(asked[name][0]) >= 20 for name in ("state", "nonce", "code_challenge"))


def test_a_verified_email_of_an_allowed_domain_comes_in_and_goes_on_where_it_wanted(company: Site) -> None:
    status, headers, _ = signed_in(company, "mara")
    assert (status, headers["location"]) == (303, "/library")
    session = company.accounts.session(session_of(headers))
    assert session is not None
    assert (session.user.email, session.user.name, session.user.admin) == (MARA, "Mara", False)
    assert signed_in(company, "mara")[0] == 303
    assert len(company.accounts.users()) == 1


@pytest.mark.parametrize("sub", ["eve", "liar"])
def test_anybody_else_is_refused(company: Site, sub: str) -> None:
    signed_in(company, "mara")
    status, headers, page = signed_in(company, sub)
    assert status == 200
    assert "set-cookie" not in headers
    assert b"You have no account here." in page
    assert [one.email for one in company.accounts.users()] == [MARA]


def test_an_invitation_lets_in_and_an_email_is_no_identity(company: Site) -> None:
    company.accounts.invite(EVE, "test", admin=True)
    assert signed_in(company, "eve")[0] == 303
    assert company.accounts.has_admin()
    assert b"You have no account here." in signed_in(company, "renamed")[2]  # another person with that email
    assert signed_in(company, "eve")[0] == 303


def test_an_account_with_a_password_is_joined_only_if_an_administrator_says_so(company: Site) -> None:
    company.accounts.accept(company.accounts.invite(JONAS, "test"), "", "Jonas", GOOD, Device())
    assert b"You have no account here." in signed_in(company, "jonas")[2]
    company.accounts.reset_link(JONAS, "test")
    assert signed_in(company, "jonas")[0] == 303
    assert len(company.accounts.users()) == 1
    form = urlencode({"email": JONAS, "password": GOOD}).encode()
    assert "set-cookie" not in company.ask("/gw/auth/sign-in", body=form)[1]  # passwords are for auth.mode = local


def test_a_blocked_person_stays_out(company: Site) -> None:
    signed_in(company, "mara")
    company.accounts.block(MARA, "test")
    assert b"You have no account here." in signed_in(company, "mara")[2]


def test_a_flow_ends_where_and_once_it_began(company: Site) -> None:
    address, cookie = begun(company)
    other = begun(company)[1]
    query = authorised(address, "mara")
    state = parse_qs(query)["state"][0]
    refused = [
        company.ask("/gw/auth/provider/back", query),  # another browser
        company.ask("/gw/auth/provider/back", query, cookie="gw_flow=x"),
        company.ask("/gw/auth/provider/back", query, cookie=other),  # another flow of this one
        company.ask("/gw/auth/provider/back", query.replace(state, "x" * len(state)), cookie=cookie),
        company.ask("/gw/auth/provider/back", query, cookie=cookie),  # the flow ended with the wrong state
        company.ask("/gw/auth/provider/back", "error=access_denied&error_description=<b>", cookie=begun(company)[1]),
        company.ask("/gw/auth/provider/back", "", cookie=begun(company)[1]),
    ]
    for status, headers, page in refused:
        assert (status, "set-cookie" in headers, b"Begin again." in page) == (200, False, True)
    address, cookie = begun(company)
    query = authorised(address, "mara")
    assert company.ask("/gw/auth/provider/back", query, cookie=cookie)[0] == 303
    assert company.ask("/gw/auth/provider/back", query, cookie=cookie)[0] == 200  # replayed


def test_a_token_with_another_nonce_or_of_another_client_is_refused(company: Site) -> None:
    for changed in ({"nonce": "another"}, {"client_id": "another"}):
        address, cookie = begun(company)
        parts = urlsplit(address)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        forged = parts._replace(query=urlencode(asked | changed)).geturl()
        status, headers, page = company.ask("/gw/auth/provider/back", authorised(forged, "mara"), cookie=cookie)
        assert (status, "set-cookie" in headers, b"Begin again." in page) == (200, False, True)


def test_who_begins_often_ends_nobody_else_s_flow(company: Site) -> None:
    provider = Provider(Pages(company.access, company.accounts))

    def asked(path: str, query: str, address: str, cookie: str = "") -> Request:
        headers = [(b"cookie", cookie.encode())]
        scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "client": (address, 1)}
        return Request(scope | {"query_string": query.encode()})

    async def many() -> int:
        began = await provider.begin(asked("/gw/auth/provider", "", "192.0.2.1"))
        for _ in range(MOST_FLOWS + 1):
            await provider.begin(asked("/gw/auth/provider", "", "198.51.100.1"))
        query = await run_in_threadpool(authorised, began.headers["location"], "mara")
        cookie = began.headers["set-cookie"].partition(";")[0]
        return (await provider.back(asked("/gw/auth/provider/back", query, "192.0.2.1", cookie))).status_code

    with ThreadPoolExecutor(1) as thread:  # after a browser test, Playwright's loop is the running one of this thread
        assert thread.submit(asyncio.run, many()).result() == 303
    assert len(provider.flows) <= MOST_FLOWS


def test_a_provider_that_cannot_be_reached_is_said(site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, "secret")
    gone = site(mode="oidc", issuer="http://localhost:1", client_id="groundwork")
    status, _, page = gone.ask("/gw/auth/provider")
    assert status == 200
    assert b"Signing in at the provider failed." in page


class Forger:
    """Provider that describes itself as ``metadata`` says, and gives tokens with ``claims``."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "1"})
        self.metadata: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        self.signed = True
        forger = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                return None

            def do_GET(self) -> None:
                keys = {"keys": [forger.key.as_dict(private=False)]}
                self.say(keys if self.path == "/keys" else forger.described())

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.say({"access_token": "x", "token_type": "bearer", "id_token": forger.token()})

            def say(self, told: dict[str, Any]) -> None:
                data = json.dumps(told).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def described(self) -> dict[str, Any]:
        at = {"authorization_endpoint": "authorise", "token_endpoint": "token", "jwks_uri": "keys"}
        told = {"issuer": self.issuer} | {name: f"{self.issuer}/{path}" for name, path in at.items()} | self.metadata
        return {name: value for name, value in told.items() if value is not None}

    def token(self) -> str:
        if self.signed:
            return jwt.encode({"alg": "RS256", "kid": "1"}, self.claims, self.key)
        parts = [json.dumps(part).encode() for part in ({"alg": "none"}, self.claims)]
        return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."


@pytest.fixture
def forger() -> Iterator[Forger]:
    made = Forger()
    yield made
    made.server.shutdown()
    made.server.server_close()


ELSE = "https://else.example"


@pytest.mark.parametrize(
    ("metadata", "claims", "signed", "enters"),
    [
        ({}, {}, True, True),
        ({}, {"iss": ELSE}, True, False),
        ({"issuer": ELSE}, {"iss": ELSE}, True, False),
        ({"issuer": None}, {"iss": ELSE}, True, False),
        ({}, {"sub": ""}, True, False),
        ({}, {"exp": 1}, True, False),
        ({}, {}, False, False),
        ({"id_token_signing_alg_values_supported": ["RS256", "none"]}, {}, False, False),
        ({"jwks_uri": None}, {}, True, False),
        ({"authorization_endpoint": None}, {}, True, False),
    ],
)
def test_what_a_provider_says_of_itself_and_signs_is_checked(
    site: Callable[..., Site],
    forger: Forger,
    monkeypatch: pytest.MonkeyPatch,
    metadata: dict[str, Any],
    claims: dict[str, Any],
    signed: bool,
    enters: bool,
) -> None:
    monkeypatch.setenv(SECRET, "secret")
    company = site(mode="oidc", issuer=forger.issuer, client_id="groundwork", domains="fernhill.example")
    forger.metadata, forger.signed = metadata, signed
    status, headers, page = company.ask("/gw/auth/provider")
    if status == 302:
        asked, now = parse_qs(urlsplit(headers["location"]).query), int(time.time())
        own = {"iss": forger.issuer, "aud": "groundwork", "sub": "mara", "exp": now + 60, "iat": now}
        own |= {"nonce": asked["nonce"][0], "email": MARA, "email_verified": True}
        forger.claims = own | claims
        query, cookie = urlencode({"code": "x", "state": asked["state"][0]}), headers["set-cookie"].partition(";")[0]
        status, headers, page = company.ask("/gw/auth/provider/back", query, cookie=cookie)
    assert status == (303 if enters else 200)
    assert enters == ("set-cookie" in headers) == bool(company.accounts.users())
    assert enters or b"Signing in at the provider failed." in page


@pytest.fixture
def proxied(site: Callable[..., Site]) -> Site:
    # The requests of these tests come from no address.
    return site(mode="proxy", proxies="10.0.0.5, 10.0.0.6", header="X-Forwarded-Email", domains="fernhill.example")


def at(site: Site, address: str, path: str, cookie: str = "", **headers: str) -> tuple[int, dict[str, str], bytes]:
    def from_there(app: Any) -> Any:
        gated = site.behind(app)

        async def asked(scope: Any, receive: Any, send: Any) -> None:
            await gated(scope | {"client": (address, 4711)}, receive, send)

        return asked

    given = HOST | ({"cookie": cookie} if cookie else {}) | {name.replace("_", "-"): v for name, v in headers.items()}
    return ask(site.routes, path, headers=given, behind=from_there)


def test_a_listed_proxy_says_who_is_there_and_nobody_else_does(proxied: Site) -> None:
    for address, email in (("10.0.0.5", ""), ("10.0.0.5", EVE), ("192.0.2.1", MARA), ("", MARA), ("10.0.0.50", MARA)):
        status, headers, page = at(proxied, address, "/gw/auth/sign-in", x_forwarded_email=email)
        assert (status, "set-cookie" in headers, b"You can" in page) == (200, False, True)
    status, headers, _ = at(proxied, "10.0.0.5", "/gw/auth/sign-in", x_forwarded_email=MARA)
    assert status == 303
    cookie = f"gw_session_8501={session_of(headers)}"
    assert at(proxied, "10.0.0.6", "/library", cookie, x_forwarded_email=MARA)[0] == 200
    for address, email in (("192.0.2.1", MARA), ("10.0.0.5", JONAS), ("10.0.0.5", "")):
        assert at(proxied, address, "/library", cookie, x_forwarded_email=email)[0] == 303


@pytest.mark.parametrize(
    ("auth", "environment", "said"),
    [
        ({"mode": "oidc", "issuer": "https://login.example"}, {SECRET: "x"}, "a client id and a secret"),
        ({"mode": "oidc", "issuer": "https://login.example", "client_id": "x"}, {}, "a client id and a secret"),
        ({"mode": "oidc", "issuer": "http://login.example", "client_id": "x"}, {SECRET: "x"}, "needs an https address"),
        ({"mode": "oidc", "issuer": "http://localhost:9", "client_id": "x"}, {SECRET: "x"}, ""),
        ({"mode": "proxy", "header": "X-Forwarded-Email"}, {FORWARDED: ""}, "which proxy"),
        ({"mode": "proxy", "header": "X-Forwarded-Email", "proxies": "10.0.0.5"}, {}, "the proxy's own address"),
        ({"mode": "proxy", "header": "X-Forwarded-Email", "proxies": "10.0.0.5"}, {FORWARDED: ""}, ""),
    ],
)
def test_what_is_missing_is_said_at_the_start(
    auth: dict[str, str], environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (SECRET, FORWARDED):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    given = {"url": "", "issuer": "", "client_id": "", "domains": "", "header": "", "proxies": ""} | auth
    checked = AuthSettings.model_validate(given)
    if not said:
        access_module._check(checked)
        return
    with pytest.raises(ConfigError, match=said):
        access_module._check(checked)
