"""A run that is killed again and again, and started again each time, ends as one that was not."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet, Evidence
from tests import prepared
from tests.messages_server import MessagesServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

QUESTIONS = 20
SECONDS = 600  # for all that is waited for
PAID = ("seconds", "usd")
Stop = Callable[["subprocess.Popen[str]"], None]


@pytest.fixture
def questions(sampled: Path, tmp_path: Path) -> Path:
    """A question about each of eighteen sentences of the sample, and two that it doesn't answer."""
    with Engine.open(prepared.copied(sampled, tmp_path / "read")) as engine:
        (info,) = engine.documents()
        document = engine.document(info.doc_id)
        texts = [(one, document.text[one.start : one.end]) for one in document.body if one.kind == "paragraph"]
    long = [(one, " ".join(text.split()[2:9])) for one, text in texts if len(text) > 80]
    assert long
    cases = [
        Case(
            str(number),
            f"What does it say about {words.lower()} ({number})?",
            words,
            (Evidence(info.name, document.page_at(one.start, one.end)),),
        )
        for number, (one, words) in zip(range(QUESTIONS - 2), long * QUESTIONS)
    ]
    cases += [Case(name, f"Who won the chess championship of {name}?", answerable=False) for name in ("1987", "1991")]
    file = tmp_path / "questions.jsonl"
    file.write_text(CaseSet("questions", tuple(cases)).to_jsonl())
    return file


def started(home: Path, questions: Path) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "tests.kept",
        "ragcore.cli",
        "--home",
        str(home),
        "evaluate",
        "run",
        str(questions),
        "--json",
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(home: Path, questions: Path) -> dict[str, Any]:
    """The run, when a process has come to its end."""
    process = started(home, questions)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    (run,) = json.loads(out)["runs"]
    return dict(run)


def killed(home: Path, questions: Path, moments: Iterable[Stop]) -> int:
    """Start a run and kill it at each of ``moments``; how often that was done."""
    kills, stored = 0, 0
    for wait in moments:
        process = started(home, questions)
        try:
            wait(process)
        finally:
            process.kill()
            process.communicate()
        kills += 1
        with Engine.open(home) as engine:
            (run,) = engine.evaluation.runs()
        assert stored <= run.done <= QUESTIONS, "nothing that was stored is lost"
        stored = run.done
    assert 0 < stored < QUESTIONS
    return kills


def told(run: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What a run found, but for time and money."""
    return [
        (one["case_id"], one["answer"], one["error"], {k: v for k, v in one["measures"].items() if k not in PAID})
        for one in run["cases"]
    ]


@pytest.mark.usefixtures("key")
def test_killed_while_a_model_writes_it_pays_for_nothing_twice(
    sampled: Path, questions: Path, server: MessagesServer, tmp_path: Path
) -> None:
    whole = ended(prepared.copied(sampled, tmp_path / "whole"), questions)
    asked = len(server.requests)
    assert asked
    home = prepared.copied(sampled, tmp_path / "killed")

    def after_requests(count: int) -> Stop:
        def wait(process: subprocess.Popen[str]) -> None:
            until = time.monotonic() + SECONDS
            while len(server.requests) < count:
                assert process.poll() is None, "the run ended before"
                assert time.monotonic() < until
                time.sleep(0.005)

        return wait

    step = asked // 5
    kills = killed(home, questions, (after_requests(asked + n) for n in range(step, asked, step)))
    run = ended(home, questions)
    assert told(run) == told(whole)
    assert (run["run_id"], run["done"]) == (whole["run_id"], QUESTIONS)
    again = Counter(json.dumps(one["body"], sort_keys=True) for one in server.requests[asked:])
    twice = [count for count in again.values() if count > 1]
    assert len(twice) <= kills, "only what was being written when it was killed is asked again"
    assert set(twice) <= {2}
    assert len(again) == asked
    before = len(server.requests)
    assert ended(home, questions)["cases"] == run["cases"]
    assert len(server.requests) == before
