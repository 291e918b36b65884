"""Reports filled in the background: cut off at every section and gone on with, nothing is lost or done twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.report.template import from_data
from ragcore.types import AnswerEvent
from tests import pdfs, prepared
from tests.matrix import standing_for
from tests.messages_server import MessagesServer, Reply
from ui.reports.jobs import ReportJobs

HEADINGS = ("Wells sampled", "Nitrate readings", "Wells and nitrate")
TEMPLATE = from_data({"title": "Survey", "sections": [{"heading": heading} for heading in HEADINGS]})
REPLY = Reply(text="Wells were sampled, and nitrate readings taken <<SOURCE 1.1>>.", chunks=20, delay=0.01)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
    return home


@pytest.fixture
def home(shelf: Path, tmp_path: Path) -> Path:
    prepared.copied(shelf, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def server(server: MessagesServer, key: None, monkeypatch: pytest.MonkeyPatch) -> MessagesServer:
    return server


def wait(until: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


def written(engine: Engine, report_id: str) -> list[int]:
    return [section.versions for section in engine.reports.get(report_id).sections]


@pytest.mark.parametrize("place", standing_for([1], range(len(HEADINGS))))
def test_a_server_that_ends_at_any_section_goes_on_after_a_restart(
    place: int, home: Path, server: MessagesServer
) -> None:
    server.reply(*[REPLY] * 4)
    with Engine.open(home=home) as engine:
        report_id = engine.reports.new(TEMPLATE)
        ids = [section.section_id for section in engine.reports.get(report_id).sections]
        jobs = ReportJobs(lambda: engine)
        jobs.fill(report_id)

        def writes() -> bool:
            live = jobs.live(report_id)
            return live is not None and live.section_id == ids[place] and live.text != ""

        wait(writes)
        jobs.close()
        assert written(engine, report_id) == [1] * place + [0] * (len(ids) - place)
        assert [task.section_id for task in engine.reports.store.tasks()] == ids[place:]
    with Engine.open(home=home) as engine:
        jobs = ReportJobs(lambda: engine)
        jobs.resume()
        wait(lambda: not engine.reports.store.tasks() and jobs.live(report_id) is None)
        jobs.close()
        report = engine.reports.report(report_id)
        assert [section.status for section in report.sections] == ["filled"] * len(ids)
        assert written(engine, report_id) == [1] * len(ids)


@pytest.mark.parametrize("place", standing_for([1], range(len(HEADINGS))))
def test_a_process_that_is_killed_at_any_section_loses_nothing(place: int, home: Path) -> None:
    class Killed(BaseException):
        pass

    def killed(_: AnswerEvent) -> None:
        raise Killed

    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        workspace = engine.reports
        report_id = workspace.new(TEMPLATE)
        workspace.queue(report_id)
        for number, task in enumerate(workspace.store.tasks()):
            if number == place:
                with pytest.raises(Killed):
                    workspace.write(task, killed, Stop())
                break
            workspace.write(task, lambda _: None, Stop())
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        jobs = ReportJobs(lambda: engine)
        jobs.resume()
        wait(lambda: not engine.reports.store.tasks() and jobs.live(report_id) is None)
        jobs.close()
        assert written(engine, report_id) == [1] * len(HEADINGS)


def test_stop_keeps_what_is_written_and_the_rest_can_be_filled(home: Path, server: MessagesServer) -> None:
    server.reply(REPLY, Reply(text=REPLY.text, chunks=60, delay=0.05), *[REPLY] * 2)
    with Engine.open(home=home) as engine:
        report_id = engine.reports.new(TEMPLATE)
        jobs = ReportJobs(lambda: engine)
        jobs.fill(report_id)
        second = engine.reports.get(report_id).sections[1].section_id
        wait(lambda: bool((live := jobs.live(report_id)) and live.section_id == second and live.text))
        jobs.stop(report_id)
        wait(lambda: not engine.reports.store.tasks() and jobs.live(report_id) is None)
        sections = engine.reports.get(report_id).sections
        assert [section.content and section.content.status for section in sections] == ["filled", "stopped", None]
        jobs.fill(report_id)
        wait(lambda: not engine.reports.store.tasks() and jobs.live(report_id) is None)
        jobs.close()
        assert [section.status for section in engine.reports.report(report_id).sections] == ["filled"] * 3
        assert written(engine, report_id) == [1, 2, 1]


@pytest.mark.parametrize("stopped_again", [False, True])
def test_a_section_that_is_just_being_stopped_is_filled_again_when_that_is_asked(
    home: Path, server: MessagesServer, stopped_again: bool
) -> None:
    server.reply(*[REPLY] * 4)
    with Engine.open(home=home) as engine:
        report_id = engine.reports.new(TEMPLATE)
        jobs = ReportJobs(lambda: engine)
        jobs.fill(report_id)
        wait(lambda: bool((live := jobs.live(report_id)) and live.stage == "write"))
        jobs.stop(report_id)
        jobs.fill(report_id)
        if stopped_again:
            jobs.stop(report_id)
        wait(lambda: not engine.reports.store.tasks() and jobs.live(report_id) is None)
        jobs.close()
        sections = engine.reports.get(report_id).sections
        filled = [section.content is not None and section.content.status == "filled" for section in sections]
        assert filled == [not stopped_again] * 3


def test_a_refused_key_ends_the_filling_and_says_so(home: Path, server: MessagesServer) -> None:
    server.reply(REPLY, *[Reply(status=401, message="no")] * 3)
    with Engine.open(home=home) as engine:
        report_id = engine.reports.new(TEMPLATE)
        jobs = ReportJobs(lambda: engine)
        jobs.fill(report_id)
        wait(lambda: not engine.reports.store.tasks() and jobs.live(report_id) is None)
        jobs.close()
        stored = engine.reports.get(report_id)
        assert stored.info.trouble is not None
        assert stored.info.trouble["code"] == "key_refused"
        assert written(engine, report_id) == [1, 1, 0]


def test_nothing_stands_in_for_the_writer_that_was_asked(home: Path, server: MessagesServer) -> None:
    with Engine.open(home=home) as engine:
        report_id = engine.reports.new(TEMPLATE)
        engine.reports.queue(report_id)
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        jobs = ReportJobs(lambda: engine)
        jobs.resume()
        wait(lambda: not engine.reports.store.tasks())
        jobs.close()
        trouble = engine.reports.store.info(report_id).trouble
        assert trouble is not None
        assert "Claude" in trouble["message"]
        assert written(engine, report_id) == [0, 0, 0]


def with_key(engine: Engine, key: str, **changes: object) -> Engine:
    """The engine of a visit with a key of its own."""
    return engine.with_settings({"llm.model": "claude", **changes}, key)


def sent_keys(server: MessagesServer) -> list[str]:
    return [request["headers"]["Authorization"].removeprefix("Bearer ") for request in server.requests]


def test_each_section_is_written_with_the_key_of_who_queued_it(home: Path, server: MessagesServer) -> None:
    server.reply(*[REPLY] * 3)
    with Engine.open(home=home) as engine:
        report_id = engine.reports.new(TEMPLATE)
        ids = [section.section_id for section in engine.reports.get(report_id).sections]
        jobs = ReportJobs(lambda: engine)
        jobs.fill(report_id, ids[:2], engine=with_key(engine, "sk-of-one"))
        jobs.fill(report_id, ids[1:], engine=with_key(engine, "sk-of-another"))  # the second waits already
        wait(lambda: not engine.reports.store.tasks() and jobs.live(report_id) is None)
        jobs.close()
        assert written(engine, report_id) == [1, 1, 1]
        assert sent_keys(server) == ["sk-of-one", "sk-of-one", "sk-of-another"]


def test_after_a_restart_the_machine_s_key_does_not_stand_in_for_that_of_a_visit(
    home: Path, server: MessagesServer
) -> None:
    server.reply(Reply(text=REPLY.text, chunks=60, delay=0.05))
    with Engine.open(home=home) as engine:
        report_id = engine.reports.new(TEMPLATE)
        jobs = ReportJobs(lambda: engine)
        jobs.fill(report_id, engine=with_key(engine, "sk-of-a-visit"))
        wait(lambda: bool((live := jobs.live(report_id)) and live.text))
        jobs.close()
        assert len(engine.reports.store.tasks()) == 3
    with Engine.open(home=home) as engine:
        assert engine.models.writer_name == with_key(engine, "sk-of-a-visit").models.writer_name
        jobs = ReportJobs(lambda: engine)
        jobs.resume()
        wait(lambda: not engine.reports.store.tasks())
        jobs.close()
        trouble = engine.reports.store.info(report_id).trouble
        assert trouble is not None
        assert trouble["code"] == "other_writer"
    assert set(sent_keys(server)) == {"sk-of-a-visit"}


def test_a_server_that_hangs_holds_up_no_other_writer(home: Path, server: MessagesServer) -> None:
    server.reply(Reply(text="late", first_delay=240))
    with Engine.open(home=home) as engine, MessagesServer() as quick:
        quick.reply(*[REPLY] * 3)
        jobs = ReportJobs(lambda: engine)
        hung, offline, other = (engine.reports.new(TEMPLATE) for _ in range(3))
        jobs.fill(hung)
        wait(server.asked.is_set)
        jobs.fill(offline, engine=engine.with_settings({"llm.model": "offline"}))
        jobs.fill(other, engine=with_key(engine, "sk-own", **{"llm.base_url": quick.url}))
        wait(lambda: written(engine, offline) == written(engine, other) == [1, 1, 1], seconds=180)
        assert jobs.live(hung) is not None
        jobs.close()


def test_a_refused_key_ends_only_what_was_queued_with_it(home: Path, server: MessagesServer) -> None:
    server.reply(Reply(status=401, message="no"), REPLY)
    with Engine.open(home=home) as engine:
        report_id = engine.reports.new(TEMPLATE)
        ids = [section.section_id for section in engine.reports.get(report_id).sections]
        jobs = ReportJobs(lambda: engine)
        jobs.fill(report_id, ids[:2], engine=with_key(engine, "sk-refused"))
        jobs.fill(report_id, ids[2:], engine=with_key(engine, "sk-good"))
        wait(lambda: not engine.reports.store.tasks() and jobs.live(report_id) is None)
        jobs.close()
        assert sent_keys(server) == ["sk-refused", "sk-good"]
        assert written(engine, report_id) == [1, 0, 1]
