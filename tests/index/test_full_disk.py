"""A disk without room, and a database that another process holds: nothing half stays, nothing finished is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.errors import DiskFull, StoreError
from ragcore.index import database as db
from ragcore.index.shared import keep
from ragcore.report import workspace as drafting
from ragcore.report.template import from_data
from ragcore.types import Checked
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply
from ui.chat import payload
from ui.chat.runs import Answers, LiveAnswer
from ui.viewer import render_child

QUESTION = "What was the highest nitrate reading?"
HALVES = ["The highest reading was found <<SOURCE 1.1>>. ", "It was measured in June."]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    if not sys.platform.startswith("linux") or os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
        pytest.skip("a file system of its own can be mounted by root on Linux only")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes what room there is."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as out:
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while out.write(bytes(size)):
                    pass
    return filler


def parts(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if ".part" in path.name or path.name.startswith("tmp")]


def until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def ask(surveyed: Path, home: Path) -> tuple[Engine, Answers, str]:
    prepared.copied(surveyed, home)
    engine = Engine.open(home, overrides={"llm.model": "claude-test", "llm.retries": 0})
    return engine, Answers(engine, save_seconds=0.2), engine.conversations.new()


@pytest.mark.sqlite
def test_nothing_half_is_left_of_what_has_no_room(disk: Path) -> None:
    with Engine.open(disk / "home") as engine:
        filler = fill(disk)
        before = sorted((disk / "home").rglob("*"))
        with pytest.raises(DiskFull) as caught:
            engine.add(pdfs.one_column() + bytes(1 << 20), "survey.pdf")
        assert "full" in caught.value.message
        assert "Free" in caught.value.hint
        with pytest.raises(DiskFull):
            keep(disk / "home" / "config.toml", {"llm.model": "m" * 5000})
        with pytest.raises(DiskFull):
            engine.conversations.rename(engine.conversations.new(), "word " * 200_000)
        assert not parts(disk)
        assert [path for path in sorted((disk / "home").rglob("*")) if path.is_file() and path not in before] == []
        filler.unlink()
        prepared.read(engine, pdfs.one_column(), "survey.pdf")


def test_a_picture_without_room_leaves_nothing(disk: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.pdf"
    source.write_bytes(pdfs.one_column())
    fill(disk)
    with pytest.raises(OSError, match="No space"):
        render_child.Artist().draw(str(source), 1, 640, None, str(disk / "1-640.png"))
    assert [path.name for path in disk.iterdir()] == ["filler"]


@pytest.mark.sqlite
@pytest.mark.usefixtures("key")
def test_an_answer_that_has_no_room_is_shown_and_stored_when_there_is(
    surveyed: Path, disk: Path, server: MessagesServer
) -> None:
    engine, answers, talk = ask(surveyed, disk / "home")
    server.reply(Reply(text=HALVES, delay=0.5))
    live = answers.ask(talk, QUESTION)
    until(lambda: bool(live.view.text))
    filler = fill(disk)
    shown_though_unsaved(engine, live, "full")
    filler.unlink()
    saved_later(engine, answers, live)


@pytest.mark.sqlite
@pytest.mark.usefixtures("key")
def test_an_answer_whose_database_is_held_is_shown_and_stored_afterwards(
    surveyed: Path, tmp_path: Path, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "BUSY_SECONDS", 0.3)
    engine, answers, talk = ask(surveyed, tmp_path / "home")
    server.reply(Reply(text=HALVES, delay=0.5))
    live = answers.ask(talk, QUESTION)
    until(lambda: bool(live.view.text))
    other = sqlite3.connect(engine.store.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    shown_though_unsaved(engine, live, "writing to")
    other.execute("ROLLBACK")
    other.close()
    saved_later(engine, answers, live)


def shown_though_unsaved(engine: Engine, live: LiveAnswer, why: str) -> None:
    until(lambda: live.finished_at is not None)
    stored = engine.conversations.get(live.conversation_id).turns[0]
    assert stored.answer is None
    shown = payload.turn(stored, live)
    assert shown["state"] == "complete"
    assert shown["citations"]
    assert any(why in note for note in shown["notes"])
    assert engine.spending().calls == 0


def saved_later(engine: Engine, answers: Answers, live: LiveAnswer) -> None:
    until(lambda: engine.conversations.get(live.conversation_id).turns[0].answer is not None)
    stored = engine.conversations.get(live.conversation_id).turns[0]
    assert stored.answer == live.view.answer
    assert not any("saved yet" in note for note in payload.turn(stored, live)["notes"])
    until(lambda: engine.spending().calls == 1)
    answers.close()
    engine.close()


@pytest.mark.sqlite
@pytest.mark.usefixtures("key")
def test_without_an_app_the_answer_is_given_out_with_what_kept_it_from_being_stored(
    surveyed: Path, tmp_path: Path, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "BUSY_SECONDS", 0.1)
    engine, answers, talk = ask(surveyed, tmp_path / "home")
    answers.close()
    server.reply(Reply(text=HALVES))
    run = engine.chat(talk, QUESTION)
    other = sqlite3.connect(engine.store.database.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    answer = run.run()
    assert answer.status == "complete"
    assert isinstance(run.unsaved, StoreError)
    with pytest.raises(StoreError):
        run.save()
    threading.Timer(0.2, lambda: other.execute("ROLLBACK")).start()
    until(lambda: not other.in_transaction)
    run.save()
    assert run.unsaved is None
    assert engine.conversations.get(talk).turns[0].answer == answer
    engine.ledger.settle()
    assert engine.spending().calls == 1
    engine.close()


@pytest.mark.sqlite
def test_a_section_that_cannot_be_stored_is_kept_until_it_can(
    surveyed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(drafting, "SAVE_SECONDS", 0.1)
    prepared.copied(surveyed, tmp_path / "home")
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        report_id = engine.reports.new(
            from_data({"title": "Survey", "sections": [{"heading": "Highest nitrate reading"}]})
        )
        engine.reports.queue(report_id)
        (task, *_) = engine.reports.store.tasks()
        other = sqlite3.connect(engine.store.database.path, isolation_level=None, check_same_thread=False)

        def heard(event: object) -> None:
            if isinstance(event, Checked):
                other.execute("BEGIN IMMEDIATE")
                threading.Timer(0.5, lambda: other.execute("ROLLBACK")).start()

        assert engine.reports.write(task, heard, Stop())
        assert engine.reports.store.section(task.section_id).versions == 1
