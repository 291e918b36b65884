"""What holds up under kills, crowds and two apps at once. Slow: run by `pytest -m slow`."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.types import Answer
from tests import pdfs
from tests.browser.conftest import serve
from tests.web_client import answered

pytestmark = pytest.mark.slow

QUESTION = "What was the highest nitrate reading?"
OFFLINE = {"llm.model": "offline"}
KILLS = 24
WORK = """
import sys
from pathlib import Path
from ragcore.engine import Engine
home, files = Path(sys.argv[1]), sys.argv[2:]
with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
    print("begun", flush=True)
    for file in files:
        engine.ingest(engine.add(Path(file).read_bytes(), Path(file).name).doc_id)
    engine.index()
    engine.chat(engine.conversations.new(), "What was the highest nitrate reading?").run()
print("done", flush=True)
"""


def work(home: Path, files: list[Path]) -> subprocess.Popen[str]:
    """A process that reads ``files``, indexes them and answers; it has opened the library."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORK, str(home), *map(str, files)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def finished(home: Path, files: list[Path]) -> Answer:
    """What the library answers when all that was left undone is done."""
    with sqlite3.connect(home / "groundwork.sqlite") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Engine.open(home, overrides=OFFLINE) as engine:
        for file in files:
            assert engine.ingest(engine.add(file.read_bytes(), file.name).doc_id).status != "failed"
        engine.index()
        for conversation in engine.conversations.all():
            engine.conversations.get(conversation.conversation_id)
        return engine.chat(engine.conversations.new(), QUESTION).run()


def said(answer: Answer) -> tuple[Any, ...]:
    return answer.text, tuple((one.n, one.quote, one.page) for one in answer.citations)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    return [
        pdfs.write(folder, "survey.pdf", pdfs.one_column()),
        pdfs.write(folder, "table.pdf", pdfs.ruled_table()),
    ]


@pytest.fixture(scope="module")
def undisturbed(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Answer, float]:
    """What is answered where nothing is killed, and how long all of it takes."""
    home = tmp_path_factory.mktemp("undisturbed") / "home"
    with work(home, files) as process:
        begun = time.monotonic()
        assert process.wait(120) == 0
        took = time.monotonic() - begun
    return finished(home, files), took


@pytest.mark.parametrize("part", range(4))
def test_a_process_that_is_killed_at_any_moment_loses_nothing(
    part: int, files: list[Path], undisturbed: tuple[Answer, float], tmp_path: Path
) -> None:
    expected, took = undisturbed
    for moment in range(part, KILLS, 4):
        home = tmp_path / str(moment)
        with work(home, files) as process:
            time.sleep(took * moment / KILLS)
            process.kill()
        assert said(finished(home, files)) == said(expected), f"killed after {moment}/{KILLS} of {took:.1f} s"
        shutil.rmtree(home)


def test_ninety_answers_at_twenty_five_at_once_without_an_error(surveyed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(surveyed, home)
    with serve(home) as app, Engine.open(home) as engine, ThreadPoolExecutor(25) as crowd:
        talks = [engine.conversations.new() for _ in range(90)]
        turns = list(crowd.map(lambda talk: answered(app.url, home, talk, QUESTION), talks))
        stored = [engine.conversations.get(talk).turns[-1].answer for talk in talks]
    assert {turn["state"] for turn in turns} == {"complete"}
    assert {answer and answer.text for answer in stored} == {turns[0]["text"]}


def test_two_apps_on_one_home_see_each_other_s_work(surveyed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(surveyed, home)
    with serve(home) as one, serve(home) as other, Engine.open(home, overrides=OFFLINE) as engine:
        talks = [engine.conversations.new() for _ in range(8)]
        with ThreadPoolExecutor(8) as crowd:
            turns = list(crowd.map(lambda talk, app: answered(app.url, home, talk, QUESTION), talks, [one, other] * 4))
            assert engine.ingest(engine.add(pdfs.with_bookmarks(), "later.pdf").doc_id).status == "ready"
            engine.index()
        # What one began goes on in the other, with what came meanwhile.
        turns += [answered(app.url, home, talks[0], QUESTION) for app in (other, one)]
        assert {turn["state"] for turn in turns} == {"complete"}
        assert len(engine.conversations.get(talks[0]).turns) == 3
