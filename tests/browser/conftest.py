"""The real app in a real browser: servers on temporary homes, a Chromium page that fails on any console error."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error as PlaywrightError

from ragcore.engine import Engine
from ragcore.types import Answer, Scope
from tests import pdfs, prepared
from tests.messages_server import MessagesServer
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
FAILURES = Path(__file__).resolve().parent / "failures"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Tabs of one visit share a process, in which the front end is compiled already.
SHARED = "--process-per-site"
START_SECONDS = 90
SECONDS = 60  # for all that is waited for
STOPPED: set[str] = set()  # addresses of servers that are gone, of which a page that is still open may complain
QUESTION = "What was the highest nitrate reading?"
# Questions that are suggested are each tried before, which takes the server as long as many answers. A journey that is
# not about them asks for none.
NONE_SUGGESTED = """(() => {
    const real = window.fetch, about = /\\/suggestions\\?|\\/start\\/questions$/;
    const none = async () => Response.json({ questions: [], done: true });
    window.fetch = (asked, ...rest) => (about.test(asked) ? none() : real(asked, ...rest));
})()"""
DOCUMENTS: dict[str, Callable[[], bytes]] = {
    "survey.pdf": pdfs.one_column,
    "turned.pdf": lambda: pdfs.rotated(90),
    "cropped.pdf": pdfs.cropped,
    "cropped and turned.pdf": lambda: pdfs.cropped(270),
    "table.pdf": pdfs.ruled_table,
}


def chromium() -> str | None:
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def shell() -> str | None:
    """Chromium without windows and tool bars, where it is installed, else with them: it draws the same pages, for half
    of what a visit takes."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or chromium()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).resolve().parent
    reason = "Chromium is not installed: install it (Debian: apt-get install chromium) or name it in CHROMIUM"
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if shell() is None:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


FAILED = pytest.StashKey[bool]()


@dataclass(frozen=True)
class App:
    url: str
    home: Path
    log: Path
    pid: int = 0


@dataclass(frozen=True)
class Shelf:
    """A home with documents that are read and indexed, and one stored answer for each, asked of it alone."""

    home: Path
    files: dict[str, Path]
    conversations: dict[str, str]
    answers: dict[str, Answer]
    turns: dict[str, str]


@contextmanager
def serve(home: Path, port: int = 0, *, kept: bool = True, **environment: str) -> Iterator[App]:
    """`streamlit run app.py` on ``home`` until the block ends, at a free port unless one is given. Its models read a
    text once on this machine unless ``kept`` is false."""
    port = port or free_port()
    log = home.parent / f"{home.name}-{port}.log"
    unset = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GROUNDWORK_HOME")
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    program = ["tests.kept", "streamlit"] if kept else ["streamlit"]
    command = [sys.executable, "-m", *program, "run", "app.py", "--server.headless", "true"]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "--server.port", str(port)],
            cwd=ROOT,
            env=inherited | {"GROUNDWORK_HOME": str(home)} | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            url = f"http://localhost:{port}"
            _await(f"{url}/_stcore/health", process, log)
            yield App(url, home, log, process.pid)
        finally:
            STOPPED.add(f"localhost:{port}/")
            process.terminate()
            process.wait(30)


@contextmanager
def balanced(port: int, first: App, second: App) -> Iterator[str]:
    """Address of HAProxy with the configuration of `deploy/`, and two servers behind it, until the block ends."""
    places = {f"SERVER_{name}": urlsplit(app.url).netloc for name, app in (("ONE", first), ("TWO", second))}
    environment = os.environ | {"BIND": f"127.0.0.1:{port}", "GROUNDWORK_HOST": "localhost"} | places
    with subprocess.Popen(["haproxy", "-db", "-f", str(ROOT / "deploy" / "haproxy.cfg")], env=environment) as balancer:
        try:
            yield f"http://localhost:{port}"
        finally:
            STOPPED.add(f"localhost:{port}/")
            balancer.terminate()


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the app did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def shelf(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Made by the first process of this test run that asks for it; each has a copy."""
    kept = prepared.home(shared / "shelf", {name: make() for name, make in DOCUMENTS.items()}, ask=QUESTION)
    home = prepared.copied(kept, tmp_path_factory.mktemp("shelf") / "home")
    made = Shelf(home, {}, {}, {}, {})
    with Engine.open(home) as engine:
        names = {info.doc_id: info.name for info in engine.documents()}
        for info in engine.conversations.all():
            conversation = engine.conversations.get(info.conversation_id)
            (doc_id,), (turn,) = conversation.scope.doc_ids or (), conversation.turns
            assert turn.answer is not None
            name = names[doc_id]
            made.files[name] = engine.file(doc_id)
            made.conversations[name] = info.conversation_id
            made.answers[name] = turn.answer
            made.turns[name] = turn.turn_id
    assert set(made.conversations) == set(DOCUMENTS)
    return made


@pytest.fixture(scope="session")
def app(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on a copy of the shelf, with no key."""
    home = tmp_path_factory.mktemp("offline") / "home"
    prepared.copied(shelf.home, home)
    with serve(home) as served:
        yield served


@pytest.fixture(scope="session")
def claude(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, MessagesServer]]:
    """The app on a copy of the shelf, with a key and a server that speaks the Messages API."""
    home = tmp_path_factory.mktemp("claude") / "home"
    prepared.copied(shelf.home, home)
    with (
        MessagesServer() as server,
        serve(home, ANTHROPIC_API_KEY="test", ANTHROPIC_BASE_URL=server.url) as served,
    ):
        yield served, server


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=shell(), args=[*FLAGS, SHARED])
        yield launched
        launched.close()


class Tab:
    """A tab of a browser that knows nobody, and what it complains of. It is used by one test after another, since a new
    one would load and compile the whole front end again, which is most of what a short test takes."""

    def __init__(self, browser: Any, suggestions: bool = False, **options: Any) -> None:
        self.lasting = not options and not suggestions
        self.complaints: list[str] = []
        self.context = browser.new_context(**options)
        if not suggestions:
            self.context.add_init_script(NONE_SUGGESTED)
        self.context.set_default_timeout(SECONDS * 1000)
        self.page = self.context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda asked: self.complaints.append(asked.url) if _away(asked.url) else None)

    def open(self, url: str, width: int, height: int, theme: str) -> Any:
        self.complaints.clear()
        self.context.grant_permissions(["clipboard-write"])  # which Chromium gives to a tab in sight, its shell to none
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        self.page.goto(url)
        return self.page

    def forget(self) -> bool:
        """Leave the app and whatever was kept for it; False where this tab cannot be used again."""
        if not self.lasting or self.page.is_closed() or _away(self.page.url):
            return False
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        self.page.unroute_all(behavior="ignoreErrors")
        self.context.clear_permissions()
        self.context.clear_cookies()
        self.page.evaluate("window.stop(); localStorage.clear(); sessionStorage.clear()")
        for _ in range(3):
            try:
                self.page.goto("about:blank")
            except PlaywrightError:
                time.sleep(1.0)  # the page was on its way elsewhere
            else:
                return True
        return False

    def _heard(self, message: Any) -> None:
        told = f"{message.text} {message.location.get('url', '')}"
        if message.type == "error" and not any(address in told for address in STOPPED):
            self.complaints.append(told)


@pytest.fixture(scope="session")
def unused() -> list[Tab]:
    """Tabs that no test uses now."""
    return []


@pytest.fixture
def open_page(browser: Any, unused: list[Tab], request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """``open_page(url, width, height, theme)`` → a page; with ``suggestions`` it asks for suggested questions. A
    console error, an exception in the page or a request to another machine fails the test; a failed test leaves its
    pages as pictures in tests/browser/failures, and prints their words."""
    opened: list[Tab] = []

    def open_(url: str, width: int = 1440, height: int = 900, theme: str = "light", **options: Any) -> Any:
        opened.append(unused.pop() if unused and not options else Tab(browser, **options))
        return opened[-1].open(url, width, height, theme)

    yield open_
    complaints = [complaint for tab in opened for complaint in tab.complaints]
    failed = request.node.stash.get(FAILED, False) or bool(complaints)
    if failed:
        FAILURES.mkdir(exist_ok=True)
        for i, tab in enumerate(opened):
            tab.page.screenshot(path=FAILURES / f"{request.node.name}-{i}.png")
            print(f"{tab.page.url}\n{tab.page.locator('body').inner_text()}\n")
    for tab in opened:
        if not failed and tab.forget():
            unused.append(tab)
        else:
            tab.context.close()
    assert not complaints, complaints


@contextmanager
def promise(words: str) -> Iterator[None]:
    """A part of a journey: what fails in it is reported under ``words``."""
    try:
        yield
    except Exception as error:
        error.add_note(f"Broken promise: {words}")
        raise


@contextmanager
def lent(app: App, files: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Documents that the app's library has until the block ends; their ids."""
    with Engine.open(app.home, overrides={"llm.model": "offline"}) as engine:
        ids = [prepared.read(engine, data, name) for name, data in files.items()]
        engine.index()
    try:
        yield ids
    finally:
        with Engine.open(app.home, overrides={"llm.model": "offline"}) as engine:
            for doc_id in set(ids) & {info.doc_id for info in engine.documents()}:
                engine.remove(doc_id)


def conversation(app: App, question: str, *doc_ids: str) -> str:
    """The id of a new conversation about these documents (all, where none is given), in which that was asked."""
    with Engine.open(app.home, overrides={"llm.model": "offline"}) as engine:
        made = engine.conversations.new(Scope(doc_ids or None))
        engine.chat(made, question).run()
    return made


def beside(page: Any, url: str = "") -> Any:
    """Another tab of the same visit, at the same address unless one is given. It costs less than a visit of its own,
    which loads and compiles the front end anew."""
    tab = page.context.new_page()
    tab.goto(url or page.url)
    return tab


def go(page: Any, name: str) -> None:
    """To another page of the app by its link, for a fraction of what an address of its own takes, which loads and
    compiles the front end anew."""
    page.get_by_role("link", name=name, exact=True).click()


def talk_to(page: Any, conversation_id: str) -> None:
    """To another conversation by its link at the side."""
    page.locator(f'.gw-history a[data-id="{conversation_id}"]').click()
    page.locator(f'.gw-history a[data-id="{conversation_id}"][aria-current]').wait_for()


def still(page: Any, selector: str) -> None:
    """Wait until what ``selector`` finds is there and has not moved for ten frames."""
    page.wait_for_function(
        """selector => {
            const places = [...document.querySelectorAll(selector)].map((e) => e.getBoundingClientRect().toJSON());
            const now = JSON.stringify(places), before = window.gwStill;
            window.gwStill = { now, frames: before?.now === now ? before.frames + 1 : 0 };
            return places.length && window.gwStill.frames >= 10;
        }""",
        arg=selector,
    )


def idle(page: Any) -> None:
    """Wait until the page has drawn what it was told and nothing is left for it to do, or for five seconds."""
    page.evaluate(
        """() => new Promise(done => requestAnimationFrame(
            () => requestIdleCallback(() => setTimeout(done, 50), { timeout: 5000 })
        ))"""
    )


def in_scope(page: Any, words: str) -> None:
    """Wait until so many documents are in scope: ``1 of 2``."""
    page.locator(".gw-scope .count").get_by_text(words, exact=True).wait_for()


def only_way_back(page: Any, data: re.Pattern[str], name: str) -> None:
    """Reload; until ``data``, the address of what is shown, answers, the bar has the button ``name`` alone."""
    from playwright.sync_api import expect

    held: list[Any] = []
    page.route(data, lambda route: held.append(route), times=1)
    with page.expect_request(data):
        page.reload()
    expect(page.locator(".bar2").get_by_role("button")).to_have_count(1)
    page.locator(".bar2").get_by_role("button", name=name).wait_for()
    held[0].continue_()


def _away(url: str) -> bool:
    return not url.startswith(("http://localhost:", "ws://localhost:", "blob:", "data:"))
