"""One person and many people at each way of running the app: ``python -m benchmarks load --people 50 --seconds 120``.

- single: one server on SQLite where nobody signs in
- team: one server on SQLite where people sign in
- cluster: two servers with empty home folders behind HAProxy with the configuration of ``deploy/``, where people sign
  in, over the tests' PostgreSQL with pgvector and a folder as object storage

All stand at once over the same document. First one person asks each in turn by the HTTP API, and opens the app's page.
Then many people ask: each with a connection and a token of their own, thinks for a while (exponential), and asks again.
At last tabs are opened in Chromium: what each takes of a server's memory.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import httpx2 as httpx
import numpy as np

from benchmarks.common import table
from ragcore.engine import Engine

ASKED = ("revenue", "net cash from operations", "capital expenditure", "operating income", "the number of employees")
QUESTIONS = [f"What was {what} in fiscal {year}?" for what, year in product(ASKED, (2023, 2024, 2025))]
MARA, PASSWORD = "mara@fernhill.example", "four words to remember"


@dataclass(frozen=True)
class Profile:
    """A way of running the app: the address that people open, the servers' processes, a token of a program, and the
    cookies of a person's browser."""

    url: str
    pids: tuple[int, ...]
    token: str
    cookies: Mapping[str, str]

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.url, headers=headers, cookies=dict(self.cookies), timeout=120)

    def megabytes(self) -> float:
        """Memory of its largest server."""
        return max(map(resident, self.pids))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--think", type=float, default=45.0, help="mean seconds from answer to question")
    parser.add_argument("--rounds", type=int, default=40, help="questions, and openings of the page, of one person")
    parser.add_argument("--tabs", type=int, default=10)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        profiles = {
            name: stack.enter_context(made(folder / name))
            for name, made in (("single", single), ("team", team), ("cluster", cluster))
        }
        alone = one_person(profiles, options.rounds)
        rows = []
        for name, profile in profiles.items():
            before = profile.megabytes()
            took, failed = crowd(profile, options.people, options.seconds, options.think)
            question, page = alone[name]
            rows.append(
                [
                    name,
                    1000 * question,
                    question / alone["single"][0],
                    1000 * page,
                    1000 * (page - alone["single"][1]),
                    len(took),
                    sum(failed.values()),
                    *(float(np.percentile(took, share)) for share in (50, 95)),
                    f"{before:.0f} → {profile.megabytes():.0f}",
                    opened(profile, options.tabs),
                ]
            )
            print(rows[-1], dict(failed), flush=True)
    many = ["answers", "errors", "p50 s", "p95 s", "MB of a server", "MB of a tab"]
    print(table(rows, ["", "question alone ms", "times single", "page ms", "more than single ms", *many]))


@contextmanager
def single(home: Path) -> Iterator[Profile]:
    from ragcore.accounts.accounts import Accounts
    from ragcore.accounts.tokens import Tokens
    from tests.browser.conftest import serve

    with Engine.open(home) as engine:
        sample(engine)
    accounts = Accounts(home)
    token = Tokens(accounts).make("load", ("ask",), "benchmark")
    accounts.close()
    with serve(home, kept=False) as app:
        ready(app.url)
        yield Profile(app.url, (app.pid,), token, {})


@contextmanager
def team(home: Path) -> Iterator[Profile]:
    from tests.browser.conftest import serve

    token, session = people(home)
    with serve(home, kept=False, GROUNDWORK_AUTH__MODE="local") as app:
        ready(app.url)
        yield Profile(app.url, (app.pid,), token, cookies(app.url, session))


@contextmanager
def cluster(folder: Path) -> Iterator[Profile]:
    from ragcore.index.database import URL
    from ragcore.index.objects import URL as FILES
    from tests.browser.conftest import balanced, free_port, serve
    from tests.postgres import empty, started

    (folder / "storage").mkdir(parents=True)
    port = free_port()
    given = {
        URL: empty(started(folder / "data"), vectors=True),
        FILES: f"file://{folder / 'storage'}",
        "GROUNDWORK_INDEX__VECTOR_STORE": "pgvector",
        "GROUNDWORK_AUTH__MODE": "local",
        "GROUNDWORK_AUTH__URL": f"http://localhost:{port}",
    }
    with patch.dict(os.environ, given):
        token, session = people(folder / "one")
    with ExitStack() as stack:
        first, second = (stack.enter_context(serve(folder / name, kept=False, **given)) for name in ("one", "two"))
        url = stack.enter_context(balanced(port, first, second))
        for address in (first.url, second.url, url):
            ready(address)
        yield Profile(url, (first.pid, second.pid), token, cookies(url, session))


def people(home: Path) -> tuple[str, str]:
    """A program's token and a person's session, in a home folder where people sign in, with the sample."""
    from ragcore.accounts.accounts import Accounts, Device
    from ragcore.accounts.libraries import Grants
    from ragcore.accounts.tokens import Tokens

    accounts = Accounts(home)
    session = accounts.accept(accounts.invite(MARA, "benchmark", admin=True), "", "", PASSWORD, Device())
    grants = Grants(accounts)
    with Engine.open(home) as engine:
        grants.begin(engine.adopt)
        sample(engine)
    token = Tokens(accounts).make("load", ("ask",), "benchmark", MARA, library_id=grants.first)
    accounts.close()
    return token, session


def sample(engine: Engine) -> None:
    from ui.library.samples import NAME, SAMPLE

    engine.ingest_and_index(engine.add(SAMPLE.read_bytes(), NAME).doc_id)


def cookies(url: str, session: str) -> dict[str, str]:
    return {f"gw_session_{urlsplit(url).port}": session}


def ready(url: str) -> None:
    while httpx.get(f"{url}/readyz", timeout=60).status_code != 200:
        time.sleep(0.5)


def one_person(profiles: Mapping[str, Profile], rounds: int) -> dict[str, tuple[float, float]]:
    """Median seconds of a question and of the app's page, by profile; each is asked in turn."""
    took: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in profiles}
    with ExitStack() as stack:
        clients = {name: stack.enter_context(profile.client()) for name, profile in profiles.items()}
        for at in range(rounds + 5):  # the first ones warm up
            for name, client in clients.items():
                began = time.perf_counter()
                answer = client.post("/api/v1/ask", json={"question": QUESTIONS[at % len(QUESTIONS)]})
                asked = time.perf_counter()
                page = client.get("/")
                ended = time.perf_counter()
                if answer.status_code != 200 or page.status_code != 200:
                    raise SystemExit(f"{name}: {answer.status_code} {answer.text[:200]}, {page.status_code}")
                if at >= 5:
                    took[name][0].append(asked - began)
                    took[name][1].append(ended - asked)
    return {name: (float(np.median(questions)), float(np.median(pages))) for name, (questions, pages) in took.items()}


def crowd(profile: Profile, people: int, seconds: float, think: float) -> tuple[list[float], Counter[str]]:
    """Seconds of each answer, and what went wrong."""
    took: list[float] = []
    failed: Counter[str] = Counter()
    end = time.monotonic() + seconds

    def person(number: int) -> None:
        chosen = random.Random(number)
        with profile.client() as api:
            time.sleep(chosen.uniform(0, think))
            while time.monotonic() < end:
                began = time.monotonic()
                answer = api.post("/api/v1/ask", json={"question": chosen.choice(QUESTIONS)})
                if answer.status_code == 200:
                    took.append(time.monotonic() - began)
                else:
                    failed[f"{answer.status_code} {answer.text[:80]}"] += 1
                time.sleep(min(chosen.expovariate(1 / think), max(end - time.monotonic(), 0)))

    everybody = [threading.Thread(target=person, args=(number,), daemon=True) for number in range(people)]
    for one in everybody:
        one.start()
    for one in everybody:
        one.join(seconds + 150)
    return took, failed


def opened(profile: Profile, tabs: int) -> str:
    """Megabytes that a tab takes of a server: of a browser that is somebody's, on the first page."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        context = browser.new_context()
        context.add_cookies(
            [{"name": name, "value": value, "url": profile.url} for name, value in profile.cookies.items()]
        )
        sizes = []
        for _ in range(tabs + 1):  # the first one loads what all share
            page = context.new_page()
            page.goto(profile.url)
            page.get_by_label("Ask your documents").wait_for()
            page.wait_for_timeout(1000)
            sizes.append(sum(map(resident, profile.pids)))
        browser.close()
    return f"{(sizes[-1] - sizes[0]) / tabs:.1f}"


def resident(pid: int) -> float:
    """Megabytes of memory that a process has."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


if __name__ == "__main__":
    main()
