"""The HTTP API beside the app: the gate lets its paths through to it, and it asks each request for a token."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragcore.accounts.accounts import Accounts, Device
from ragcore.accounts.libraries import Grants
from ragcore.accounts.tokens import SCOPES, Tokens, TokenScope
from tests import pdfs
from tests.ui.asgi import ask
from tests.ui.test_gate import GOOD, JONAS, MARA, local
from ui.api import routes
from ui.gate import access as access_module
from ui.gate.access import Access
from ui.gate.gate import Gate
from ui.server import web
from ui.server.services import Services, libraries

HOST = {"host": "localhost:8501"}


class Site:
    """The API behind the gate, of a library where people sign in."""

    def __init__(self, home: Path) -> None:
        self.accounts = Accounts(home)
        self.tokens = Tokens(self.accounts)
        self.access = Access(local(), self.accounts)
        for email, admin in ((MARA, True), (JONAS, False)):
            self.accounts.accept(self.accounts.invite(email, "test", admin=admin), "", "", GOOD, Device())
        self.grants = Grants(self.accounts)
        self.grants.begin(lambda _: None)
        self.library = self.grants.all()[0].library_id

    def token(self, email: str, scopes: Sequence[TokenScope] = SCOPES, library: str = "") -> str:
        return f"Bearer {self.tokens.make('report', scopes, 'test', email, library_id=library or self.library)}"

    def ask(self, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        def behind(app: Any) -> Any:
            return web.OwnOrigin(Gate(app, self.access, self.accounts))

        given = HOST | {name.replace("_", "-"): value for name, value in headers.items()}
        status, _, said = ask(routes.routes(), f"/api/v1{path}", headers=given, body=body, behind=behind)
        return status, json.loads(said) if said.startswith(b"{") else said


@pytest.fixture(scope="module")
def site(opened: Services) -> Iterator[Site]:
    before = access_module._settled[:]
    made = Site(opened.engine.home)
    access_module._settled[:] = [made.access]
    yield made
    access_module._settled[:] = before


def test_a_token_of_a_person_is_let_in_and_nothing_else(site: Site) -> None:
    hers = site.token(JONAS)
    assert site.ask("/documents", authorization=hers) == (200, {"documents": [], "more": False})
    nobodys = f"Bearer {site.tokens.make('report', SCOPES, 'test')}"
    session = f"gw_session_8501={site.accounts.sign_in(MARA, GOOD, Device())}"
    for headers in ({}, {"authorization": nobodys}, {"cookie": session}, {"authorization": f"Bearer {session}"}):
        for path, body in (("/documents", None), ("/search", {"question": "x"}), ("/openapi.json", None), ("/x", None)):
            status, told = site.ask(path, body, **headers)
            assert (status, told["status"]) == (401, 401), (path, headers)
    status, told = site.ask("/search", {"question": "What is a well?"}, authorization=hers)
    assert (status, told["code"]) == (409, "index_empty"), "no Origin is asked of a program"
    site.accounts.block(JONAS, MARA)
    assert site.ask("/documents", authorization=hers)[0] == 401


def test_a_token_does_no_more_than_its_person_may_in_its_library(site: Site) -> None:
    site.accounts.block(JONAS, MARA, False)
    own = site.grants.create("Own", MARA, "test")
    theirs = site.token(JONAS, library=own)
    assert site.ask("/documents", authorization=theirs)[0] == 401, "Jonas has no role there"
    site.grants.grant(own, JONAS, "viewer", "test")
    libraries().changed()
    assert site.ask("/documents", authorization=theirs) == (200, {"documents": [], "more": False})
    assert site.ask("/documents", b"%PDF-1.7", authorization=theirs)[1]["code"] == "scope_missing"
    site.grants.revoke(own, JONAS, "test")
    libraries().changed()
    assert site.ask("/documents", authorization=theirs)[0] == 401


def test_a_page_of_another_site_and_another_name_are_refused(site: Site) -> None:
    token = site.token(MARA)
    assert site.ask("/documents", authorization=token, origin="https://evil.example")[0] == 403
    assert site.ask("/documents", authorization=token, host="evil.example")[0] == 403
    assert site.ask("/../../gw/settings", authorization=token)[0] == 401


def test_a_token_opens_nothing_of_the_app(site: Site) -> None:
    token = site.token(MARA)

    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError("reached")

    for path in ("/", "/gw/library", "/api/v1", "/api/v12/documents", "/api", "/_stcore/stream"):
        gate = Gate(app, site.access, site.accounts)  # type: ignore[arg-type]
        status, _, _ = ask([], path, headers=HOST | {"authorization": token}, behind=lambda _, gate=gate: gate)
        assert status == 401, path


def test_a_file_is_queued_to_be_read_in_the_app(site: Site, opened: Services) -> None:
    token = site.token(MARA, ("write",))
    given = HOST | {"authorization": token}
    status, headers, said = ask(
        routes.routes(), "/api/v1/documents", "name=survey.pdf", headers=given, body=pdfs.one_column()
    )
    told = json.loads(said)
    assert (status, told["document"]["name"]) == (202, "survey.pdf")
    assert headers["location"].endswith(told["document"]["doc_id"])
    jobs, known = opened.ingestion.jobs(), {info.doc_id: info for info in opened.engine.documents()}
    assert told["document"]["doc_id"] in jobs or known[told["document"]["doc_id"]].status == "ready"


def test_where_nobody_signs_in_a_token_is_still_asked_for(site: Site, opened: Services) -> None:
    access_module._settled[:] = [Access(local(mode="off"), None)]
    try:
        for client, status in ((("127.0.0.1", 5), 200), (("192.0.2.9", 5), 403)):
            nobodys = f"Bearer {site.tokens.make('report', SCOPES, 'test')}"
            for given, wanted in (({"authorization": nobodys}, status), ({}, 401 if status == 200 else 403)):
                found = ask(
                    routes.routes(), "/api/v1/documents", headers=HOST | given, client=client, behind=web.OwnOrigin
                )
                assert found[0] == wanted
    finally:
        access_module._settled[:] = [site.access]
