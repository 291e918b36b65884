"""Many people at several servers over one library: ``python -m benchmarks load --people 50 --seconds 120``.

The tests' PostgreSQL with pgvector, a folder as object storage, and servers of the real app where people sign in, each
with an empty home folder, without a balancer: each person keeps to one of them. Everybody asks the sample's document by
the HTTP API, with their own token, thinks for a while (exponential), and asks again. Beside that stand the same people
at one server on SQLite. Then tabs are opened in Chromium: what each takes of a server's memory.
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
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2 as httpx
import numpy as np

from benchmarks.common import table

QUESTIONS = (
    "By how much did revenue grow in fiscal 2025?",
    "What was net cash from operations?",
    "When does the credit facility mature?",
    "How many people are employed?",
    "What was capital expenditure?",
)
MARA = "mara@fernhill.example"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--think", type=float, default=45.0, help="mean seconds from answer to question")
    parser.add_argument("--tabs", type=int, default=10)
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    rows = []
    for servers in options.servers:
        with team(servers) as (urls, pids, tokens):
            before = [resident(pid) for pid in pids]
            took, failed = crowd(urls, tokens, options.people, options.seconds, options.think)
            after = [resident(pid) for pid in pids]
            tab = opened(urls[0], pids[0], options.tabs)
        rows.append(
            [
                f"{servers} on PostgreSQL" if servers > 1 else "1 on SQLite",
                len(took),
                sum(failed.values()),
                *(float(np.percentile(took, share)) for share in (50, 95)),
                f"{max(before):.0f} → {max(after):.0f}",
                tab,
            ]
        )
        print(rows[-1], dict(failed), flush=True)
    print(table(rows, ["servers", "answers", "errors", "p50 s", "p95 s", "MB of a server", "MB of a tab"]))


@contextmanager
def team(servers: int) -> Iterator[tuple[list[str], list[int], list[str]]]:
    """Addresses and processes of servers over one library with the sample, and tokens of a person."""
    from ragcore.accounts.accounts import Accounts, Device
    from ragcore.accounts.libraries import Grants
    from ragcore.accounts.tokens import Tokens
    from ragcore.engine import Engine
    from ragcore.index.database import URL
    from ragcore.index.objects import URL as FILES
    from tests.browser.conftest import serve
    from tests.postgres import empty, started
    from ui.library.samples import NAME, SAMPLE

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        given = {"GROUNDWORK_AUTH__MODE": "local"}
        if servers > 1:
            (folder / "storage").mkdir()
            given |= {URL: empty(started(folder / "data"), vectors=True), FILES: f"file://{folder / 'storage'}"}
            given["GROUNDWORK_INDEX__VECTOR_STORE"] = "pgvector"
        os.environ.update(given)
        stack.callback(lambda: [os.environ.pop(name) for name in given])
        home = folder / "server1"
        accounts = Accounts(home)
        accounts.accept(accounts.invite(MARA, "benchmark", admin=True), "", "", "four words to remember", Device())
        grants = Grants(accounts)
        with Engine.open(home) as engine:
            grants.begin(engine.adopt)
            engine.ingest_and_index(engine.add(SAMPLE.read_bytes(), NAME).doc_id)
        made = Tokens(accounts)
        tokens = [made.make(f"p{n}", ("ask",), "benchmark", MARA, library_id=grants.first) for n in range(4)]
        apps = [stack.enter_context(serve(folder / f"server{n + 1}")) for n in range(servers)]
        for app in apps:
            while httpx.get(f"{app.url}/readyz", timeout=60).status_code != 200:
                time.sleep(0.5)
        yield [app.url for app in apps], [app.pid for app in apps], tokens
        accounts.close()


def crowd(
    urls: Sequence[str], tokens: Sequence[str], people: int, seconds: float, think: float
) -> tuple[list[float], Counter[str]]:
    """Seconds of each answer, and what went wrong."""
    took: list[float] = []
    failed: Counter[str] = Counter()
    end = time.monotonic() + seconds

    def person(number: int) -> None:
        chosen = random.Random(number)
        headers = {"Authorization": f"Bearer {tokens[number % len(tokens)]}"}
        with httpx.Client(base_url=urls[number % len(urls)], headers=headers, timeout=120) as api:
            time.sleep(chosen.uniform(0, think))
            while time.monotonic() < end:
                began = time.monotonic()
                answer = api.post("/api/v1/ask", json={"question": chosen.choice(QUESTIONS)})
                if answer.status_code == 200 and answer.json()["citations"]:
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


def opened(url: str, pid: int, tabs: int) -> str:
    """Megabytes that a tab takes of a server: of a browser that is somebody's, on the first page."""
    from playwright.sync_api import sync_playwright

    from ragcore.accounts.accounts import Accounts, Device
    from tests.browser.conftest import FLAGS, chromium

    home = Path(re.findall(rb"GROUNDWORK_HOME=([^\0]+)", Path(f"/proc/{pid}/environ").read_bytes())[0].decode())
    accounts = Accounts(home)
    token = accounts.sign_in(MARA, "four words to remember", Device())
    accounts.close()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        context = browser.new_context()
        name = f"gw_session_{url.rpartition(':')[2]}"
        context.add_cookies([{"name": name, "value": token, "url": url}])
        sizes = []
        for _ in range(tabs + 1):  # the first one loads what all share
            page = context.new_page()
            page.goto(url)
            page.get_by_label("Ask your documents").wait_for()
            page.wait_for_timeout(1000)
            sizes.append(resident(pid))
        browser.close()
    return f"{(sizes[-1] - sizes[0]) / tabs:.1f}"


def resident(pid: int) -> float:
    """Megabytes of memory that a process has."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


if __name__ == "__main__":
    main()
