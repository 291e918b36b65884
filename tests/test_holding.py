"""What holds up under kills, crowds and two apps at once. Slow: run by `pytest -m slow`."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.types import Answer
from tests import pdfs, prepared
from tests.browser.conftest import serve
from tests.web_client import answered

pytestmark = pytest.mark.slow

QUESTION = "What was the highest nitrate reading?"
OFFLINE = {"llm.model": "offline"}
KILLS = 6
WORK = """
import sys
from pathlib import Path
from ragcore.engine import Engine
home, files = Path(sys.argv[1]), sys.argv[2:]
def step(*_):
    print("step", flush=True)
with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
    step()
    for file in files:
        added = engine.add(Path(file).read_bytes(), Path(file).name)
        step()
        engine.ingest(added.doc_id, on_progress=step)
    engine.index(on_progress=step)
    run = engine.chat(engine.conversations.new(), "What was the highest nitrate reading?")
    step()
    run.run()
    step()
"""


def work(home: Path, files: list[Path], steps: int = 0) -> int:
    """How many steps a process takes that reads ``files``, indexes them and answers; it is killed after ``steps``,
    where any are given."""
    command = [sys.executable, "-c", WORK, str(home), *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        taken = 0
        while process.stdout.readline():
            taken += 1
            if taken == steps:
                process.kill()
                return taken
        assert process.wait(120) == 0
    return taken


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
def undisturbed(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Answer, int]:
    """What is answered where nothing is killed, and in how many steps."""
    home = tmp_path_factory.mktemp("undisturbed") / "home"
    steps = work(home, files)
    return finished(home, files), steps


@pytest.mark.parametrize("part", range(2))
def test_a_process_that_is_killed_at_any_moment_loses_nothing(
    part: int, files: list[Path], undisturbed: tuple[Answer, int], tmp_path: Path
) -> None:
    expected, steps = undisturbed
    assert steps >= KILLS
    for kill in range(part, KILLS, 2):
        after = 1 + round(kill * (steps - 2) / (KILLS - 1))  # each a moment of its own, from the first step on
        home = tmp_path / str(after)
        assert work(home, files, after) == after
        assert said(finished(home, files)) == said(expected), f"killed after step {after} of {steps}"
        shutil.rmtree(home)


def test_fifty_answers_at_twenty_five_at_once_and_two_apps_on_one_home_see_each_other_s_work(
    surveyed: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    prepared.copied(surveyed, home)
    with (
        serve(home, kept=False) as one,
        serve(home, kept=False) as other,
        Engine.open(home, overrides=OFFLINE) as engine,
        ThreadPoolExecutor(25) as crowd,
    ):
        talks = [engine.conversations.new() for _ in range(50)]
        turns = list(crowd.map(lambda talk: answered(one.url, home, talk, QUESTION), talks))
        stored = [engine.conversations.get(talk).turns[-1].answer for talk in talks]
        assert {turn["state"] for turn in turns} == {"complete"}
        assert {answer and answer.text for answer in stored} == {turns[0]["text"]}

        talks = [engine.conversations.new() for _ in range(8)]
        coming = crowd.map(lambda talk, app: answered(app.url, home, talk, QUESTION), talks, [one, other] * 4)
        assert engine.ingest(engine.add(pdfs.with_bookmarks(), "later.pdf").doc_id).status == "ready"
        engine.index()
        turns = list(coming)
        # What one began goes on in the other, with what came meanwhile.
        turns += [answered(app.url, home, talks[0], QUESTION) for app in (other, one)]
        assert {turn["state"] for turn in turns} == {"complete"}
        assert len(engine.conversations.get(talks[0]).turns) == 3
