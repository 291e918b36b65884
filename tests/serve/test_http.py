"""The HTTP API without a server: each call, scopes, errors, limits, its OpenAPI document, and streams that end."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult
from openapi_spec_validator import validate
from PIL import Image
from starlette.testclient import TestClient

from ragcore.accounts.accounts import Accounts
from ragcore.accounts.tokens import SCOPES, Token, Tokens, TokenScope
from ragcore.engine import Engine
from ragcore.index.versions import supersede
from ragcore.progress import Added
from ragcore.serve import rights
from ragcore.serve.http import LARGEST_BODY, Api
from ragcore.serve.models import DocumentList, Doing, Listing, OfDocument, Told
from ragcore.serve.verbs import VERBS, Verb, list_documents, read_document
from ragcore.serve.work import Task
from tests import pdfs, prepared
from tests.matrix import standing_for
from tests.messages_server import MessagesServer, Reply
from tests.serve.tools import Call, asks, reports, valid

CALLS = [
    ("GET", "/documents", None, "read"),
    ("GET", "/documents/harbour.pdf", None, "read"),
    ("GET", "/documents/harbour.pdf/outline", None, "read"),
    ("GET", "/documents/harbour.pdf/pages/1", None, "read"),
    ("GET", "/documents/harbour.pdf/picture?width=200", None, "read"),
    ("POST", "/search", {"question": "corrosion on the hangers", "limit": 2}, "read"),
    ("POST", "/locate", {"quotation": "17 of 96 hangers"}, "read"),
    ("POST", "/ask", {"question": "How long is the bridge?"}, "ask"),
    ("POST", "/verify", {"claim": "The bridge is 612 metres long."}, "ask"),
]


class Door:
    """The API over a library, with a token of each scope and one of all."""

    def __init__(self, home: Path, engine: Engine) -> None:
        self.engine, self.tokens = engine, Tokens(Accounts(home))
        self.secrets = {scope: self.tokens.make(scope, (scope,), "test") for scope in SCOPES}
        self.every = self.tokens.make("all", SCOPES, "test")
        self.queued: list[str] = []
        self.client = self.served(VERBS)

    def served(self, verbs: tuple[Verb[Any, Any], ...]) -> TestClient:
        api = Api(lambda _: self.engine, self.allowed, self.take, verbs=verbs, looked_up=0.0)
        return TestClient(api, headers=self.bearer(self.every))

    def allowed(self, secret: str) -> Token | None:
        return self.tokens.of(secret, owned=False)

    def take(self, _: Token, file: Path, name: str) -> Added:
        added = self.engine.add(file, name)
        self.queued.append(added.doc_id)
        return added

    @staticmethod
    def bearer(secret: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {secret}"}

    def problem(self, status: int, method: str, path: str, **given: Any) -> dict[str, Any]:
        """An error, which says what happened and what to do next."""
        found = self.client.request(method, path, **given)
        assert found.status_code == status, found.text
        assert found.headers["content-type"] == "application/problem+json"
        told: dict[str, Any] = found.json()
        assert told["status"] == status
        assert told["title"]
        assert told["detail"]
        assert told["hint"]
        return told


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Door]:
    home = tmp_path_factory.mktemp("http") / "home"
    prepared.copied(prepared.home(shared / "reports", reports()), home)
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        yield Door(home, engine)


def events(text: str) -> list[tuple[str, Any]]:
    parts = [part.split("\n", 1) for part in text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in parts]


@pytest.mark.parametrize(("method", "path", "body", "scope"), CALLS)
def test_a_call_needs_its_scope_and_gives_places_that_are_valid(
    door: Door, method: str, path: str, body: Any, scope: TokenScope
) -> None:
    for other in set(SCOPES) - {scope}:
        told = door.problem(403, method, path, json=body, headers=door.bearer(door.secrets[other]))
        assert told["code"] == "scope_missing"
    found = door.client.request(method, path, json=body, headers=door.bearer(door.secrets[scope]))
    assert found.status_code == 200, found.text
    if "picture" in path:
        assert Image.open(io.BytesIO(found.content)).width == pytest.approx(200, abs=2)
    elif "pages" in path or body is not None:
        assert valid(door.engine, found.json())


@pytest.mark.parametrize("questions", standing_for([4], [4, 20]))
def test_a_program_asks_questions_and_every_place_is_what_it_says(door: Door, questions: int) -> None:
    def call(path: str) -> Call:
        return lambda **given: door.client.post(path, json=given).raise_for_status().json()

    print("\n" + asks(call("/ask"), call("/locate"), door.engine, questions))


def test_every_verb_is_called_here(door: Door) -> None:
    named = [
        path.replace("harbour.pdf", "{document}").replace("/1", "/{page}").partition("?")[0] for _, path, *_ in CALLS
    ]
    assert {f"{method} {path}" for (method, *_), path in zip(CALLS, named)} == {verb.path for verb in VERBS}


def test_nothing_answers_without_a_token(door: Door) -> None:
    bare = TestClient(Api(lambda _: door.engine, door.allowed, door.take))
    for method, path, body, _ in [*CALLS, ("GET", "/openapi.json", None, ""), ("GET", "/nothing", None, "")]:
        for headers in ({}, door.bearer("gw_pat_x"), {"Authorization": f"Basic {door.every}"}, {"Cookie": door.every}):
            found = bare.request(method, f"{path}", json=body, headers=headers)
            assert (found.status_code, found.json()["status"]) == (401, 401), path
            assert found.headers["www-authenticate"].startswith("Bearer")
        by_query = bare.request(method, path, json=body, params={"token": door.every, "access_token": door.every})
        assert by_query.status_code == 401


def test_a_revoked_token_is_refused(door: Door) -> None:
    secret = door.tokens.make("short", ("read",), "test")
    assert door.client.get("/documents", headers=door.bearer(secret)).status_code == 200
    door.tokens.revoke(next(one.token_id for one in door.tokens.all() if one.name == "short"), "test")
    assert door.problem(401, "GET", "/documents", headers=door.bearer(secret))["code"] == "token_refused"


def test_faults_are_told_with_what_to_do_next(door: Door) -> None:
    for status, method, path, sent, code in (
        (404, "GET", "/nothing", {}, "no_route"),
        (405, "DELETE", "/documents", {}, "no_route"),
        (404, "GET", "/documents/none.pdf", {}, "unknown_document"),
        (404, "POST", "/ask", {"json": {"question": "How long is it?", "documents": ["none"]}}, "unknown_document"),
        (422, "POST", "/ask", {"json": {}}, "input_error"),
        (422, "POST", "/ask", {"json": []}, "input_error"),
        (422, "POST", "/ask", {"content": b"{"}, "input_error"),
        (422, "POST", "/ask", {"content": b'{"question": "\\ud800"}'}, "input_error"),
        (422, "POST", "/ask", {"content": b'{"\\ud800": 1}'}, "input_error"),
        (422, "POST", "/ask", {"json": {"question": ""}}, "empty_question"),
        (422, "GET", "/documents?limit=x", {}, "input_error"),
        (422, "GET", "/documents?colour=blue", {}, "input_error"),
        (422, "GET", "/documents/harbour.pdf/pages/99", {}, "input_error"),
        (422, "GET", "/documents/harbour.pdf/picture?start=3", {}, "input_error"),
        (413, "POST", "/search", {"content": b"x" * (LARGEST_BODY + 1)}, "file_too_large"),
        (422, "POST", "/documents", {"content": b"x"}, "input_error"),
        (422, "POST", "/documents?name=a.pdf", {"content": b""}, "empty_file"),
        (415, "POST", "/documents?name=a.xyz", {"content": bytes(range(256))}, "unknown_kind"),
    ):
        assert door.problem(status, method, path, **sent)["code"] == code, (path, sent)


def test_a_file_that_is_too_large_is_not_read_to_its_end(door: Door, tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(6):
            yield bytes(2**20)

    most = door.engine.settings.ingest.max_bytes
    headers = {"Content-Length": str(most + 1)}
    assert door.problem(413, "POST", "/documents?name=a.pdf", content=b"x", headers=headers)["code"] == "file_too_large"
    with Engine.open(tmp_path, overrides={"ingest.max_bytes": 4 * 2**20}) as small:
        api = TestClient(Api(lambda _: small, door.allowed, door.take), headers=door.bearer(door.every))
        found = api.post("/documents?name=a.pdf", content=pieces())
    assert (found.status_code, found.json()["code"]) == (413, "file_too_large")
    assert "4 MiB" in found.json()["detail"]


def test_a_file_is_added_by_its_name_and_read_later(door: Door) -> None:
    data = pdfs.report("Old mill", {"Wheel": ["The wheel has 48 paddles."]})
    found = door.client.post("/documents", params={"name": "../../mill.pdf"}, content=data)
    assert found.status_code == 202, found.text
    told = found.json()
    assert (told["already"], told["document"]["name"], told["document"]["status"]) == (False, "mill.pdf", "new")
    assert found.headers["location"] == f"/api/v1/documents/{told['document']['doc_id']}"
    assert door.queued == [told["document"]["doc_id"]]
    assert door.client.post("/documents?name=mill.pdf", content=data).json()["already"] is True
    noted = door.client.post("/search", json={"question": "paddles of the wheel"}).json()["notes"]
    assert any("mill.pdf" in note for note in noted)
    door.engine.remove(told["document"]["doc_id"])


def test_documents_come_in_pages(door: Door) -> None:
    seen: list[str] = []
    more, after = True, ""
    while more:
        page = door.client.get("/documents", params={"limit": 3, "after": after}).json()
        seen += [one["doc_id"] for one in page["documents"]]
        more, after = page["more"], seen[-1]
    assert seen == [info.doc_id for info in door.engine.documents()]


def test_an_answer_streams_as_it_is_written(door: Door) -> None:
    headers = {"Accept": "text/event-stream"}
    found = door.client.post("/ask", json={"question": "How long is the bridge?"}, headers=headers)
    assert found.headers["content-type"].startswith("text/event-stream")
    told = events(found.text)
    names = [name for name, _ in told]
    assert names[0] == "doing"
    assert names[-1] == "done"
    assert names.index("found") < names.index("wrote") < names.index("cited") < names.index("checked")
    assert all(valid(door.engine, data) for name, data in told if name in ("found", "cited", "done"))
    answer = told[-1][1]
    written = "".join(
        data["text"] if name == "wrote" else f"[{data['n']}]" for name, data in told if name in ("wrote", "cited")
    )
    assert written == answer["answer"]
    broken = events(door.client.post("/ask", json={"question": " "}, headers=headers).text)
    assert [(name, data["code"]) for name, data in broken] == [("error", "empty_question")]


class Nothing(Told):
    pass


def endless(begun: threading.Event, stopped: threading.Event) -> Verb[Any, Any]:
    def run(_: Engine, asked: Listing, task: Task) -> Nothing:
        while not task.stop.is_set():
            task.tell(Doing(doing="Counting"))
            begun.set()
            stopped.wait(0.01)
        stopped.set()
        return Nothing()

    return Verb("count", "GET /count", "read", Listing, Nothing, run, "Count without end.")


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_work_stops_when_the_client_goes_away(door: Door, accept: str) -> None:
    begun, stopped = threading.Event(), threading.Event()
    api = Api(lambda _: door.engine, door.allowed, door.take, verbs=(endless(begun, stopped),))
    headers = [(b"authorization", f"Bearer {door.every}".encode()), (b"accept", accept.encode())]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/count",
        "query_string": b"",
        "headers": headers,
        "root_path": "",
    }
    first = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        if (message := next(first, None)) is not None:
            return message
        await asyncio.to_thread(begun.wait, 20)
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        await asyncio.sleep(0)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, asyncio.wait_for(api(scope, receive, send), 30)).result()  # type: ignore[arg-type]
    assert stopped.wait(20)


@pytest.mark.parametrize("path", ["/documents?name=late.pdf", "/search", "/mcp"])
def test_a_request_that_comes_late_needs_a_token_that_has_not_ended(
    door: Door, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "HELD", -1.0)  # every body is late
    secret = door.tokens.make("late", SCOPES, "test")
    before = [info.doc_id for info in door.engine.documents()]

    def body() -> Iterator[bytes]:
        yield b"{"
        door.tokens.revoke(next(one.token_id for one in door.tokens.all() if one.name == "late"), "test")
        yield b'"question": "corrosion"}'

    told = door.problem(401, "POST", path, content=body(), headers=door.bearer(secret))
    assert told["code"] == "token_refused"
    assert [info.doc_id for info in door.engine.documents()] == before


def test_an_answer_is_for_a_token_that_has_not_ended_meanwhile(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "HELD", -1.0)  # every answer took long
    secret = door.tokens.make("ending", ("read",), "test")

    def run(engine: Engine, asked: Listing, task: Task) -> Told:
        door.tokens.revoke(next(one.token_id for one in door.tokens.all() if one.name == "ending"), "test")
        return list_documents(engine, asked, task)

    listing = Verb("list", "GET /listing", "read", Listing, DocumentList, run, "Lists.")
    found = door.served((listing,)).get("/listing", headers=door.bearer(secret))
    assert (found.status_code, found.json()["code"]) == (401, "token_refused")


def test_a_stream_ends_with_its_token(door: Door) -> None:
    begun, stopped = threading.Event(), threading.Event()
    secret = door.tokens.make("short", ("read",), "test")
    client = door.served((endless(begun, stopped),))

    def revoke() -> None:
        begun.wait(20)
        door.tokens.revoke(next(one.token_id for one in door.tokens.all() if one.name == "short"), "test")

    with ThreadPoolExecutor(1) as thread:
        revoked = thread.submit(revoke)
        found = client.get("/count", headers={**door.bearer(secret), "Accept": "text/event-stream"})
        revoked.result()
    name, told = events(found.text)[-1]
    assert (name, told["code"], told["status"]) == ("error", "token_refused", 401)
    assert stopped.wait(20)


def test_a_fault_of_the_model_is_told_as_such(
    door: Door, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    paid = door.engine.with_settings({"llm.model": "auto", "llm.cache": False}, api_key="sk-test")
    client = TestClient(Api(lambda _: paid, door.allowed, door.take), headers=door.bearer(door.every))
    server.reply(Reply(status=401, message="no such key"))
    found = client.post("/ask", json={"question": "How long is the bridge?"})
    assert (found.status_code, found.json()["code"]) == (502, "key_refused")
    written = client.post("/ask", json={"question": "How long is the bridge?"}).json()
    assert written["extractive"] is False
    assert valid(door.engine, written)


def test_the_openapi_document_is_valid_and_names_every_call(door: Door) -> None:
    told = door.client.get("/openapi.json").json()
    validate(told)
    listed = {f"{method.upper()} {path}" for path, methods in told["paths"].items() for method in methods}
    assert listed == {verb.path for verb in VERBS} | {"POST /documents", "GET /openapi.json"}
    assert told["security"] == [{"token": []}]
    operations = [one for methods in told["paths"].values() for one in methods.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    for path, methods in told["paths"].items():
        for one in methods.values():
            in_path = {each["name"] for each in one.get("parameters", ()) if each["in"] == "path"}
            assert in_path == {part[1:-1] for part in path.split("/") if part.startswith("{")}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["question", "claim", "quotation", "documents", "limit", "x"])


@given(st.sampled_from(["/search", "/ask", "/verify", "/locate"]), st.dictionaries(FIELDS, VALUES, max_size=4))
def test_no_body_breaks_it(door: Door, path: str, body: dict[str, Any]) -> None:
    found = door.client.post(path, content=json.dumps(body), headers={"Accept": "application/json"})
    assert found.status_code in (200, 404, 422), found.text
    assert found.status_code == 200 or found.json()["hint"]


@given(st.binary(max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_no_bytes_and_no_address_break_it(door: Door, body: bytes, name: str, value: str) -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)
    assert door.client.post("/locate", content=body).status_code in (200, 422)
    for path in ("/documents", "/documents/harbour.pdf/picture"):
        assert door.client.get(path, params={name.replace("\x00", ""): value}).status_code in (200, 404, 422)


def test_tools_are_served_here_too_as_far_as_the_token_lets(door: Door) -> None:
    api = Api(lambda _: door.engine, door.allowed, door.take)
    server = uvicorn.Server(uvicorn.Config(api, port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
        for mode in ("auto", "legacy"):
            for scope in ("read", "ask"):
                lets = {"search": scope == "read", "ask": scope == "ask"}
                asked = over_http(url, door.bearer(door.secrets[scope]), mode)
                with ThreadPoolExecutor(1) as own:  # browser tests may keep a loop in this thread
                    listed, told = own.submit(asyncio.run, asked).result()
                assert {name: name in listed for name in lets} == lets
                assert {name: not found.is_error for name, found in told.items()} == lets
                assert all(valid(door.engine, one.structured_content) for one in told.values() if not one.is_error)
        assert httpx2.post(url, json={}).status_code == 401
    finally:
        server.should_exit = True
        thread.join(20)


async def over_http(url: str, headers: dict[str, str], mode: str) -> tuple[set[str], dict[str, CallToolResult]]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        listed = {tool.name for tool in (await client.list_tools()).tools}
        asked = {"question": "How long is the bridge?"}
        return listed, {name: await client.call_tool(name, asked) for name in ("search", "ask")}


def test_an_earlier_version_is_told_by_its_id_and_not_listed(tmp_path: Path) -> None:
    with Engine.open(tmp_path, overrides={"llm.model": "offline"}) as engine:
        old, new = (engine.add(f"The fee is {fee}.".encode(), "fee.txt").doc_id for fee in (4, 5))
        engine.store.set_status(new, "ready")
        with engine.store.database.write() as connection:
            supersede(connection, old, new)
        assert read_document(engine, OfDocument(document=old), Task()).doc_id == old
        for after in ("", old):
            listed = list_documents(engine, Listing(after=after), Task())
            assert [one.doc_id for one in listed.documents] == [new]
