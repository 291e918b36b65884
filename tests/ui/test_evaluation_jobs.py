"""Queue of runs: stopped, asked for again, and each by its own id."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet
from ragcore.evaluate.runs import Configuration
from tests import prepared
from ui.evaluate.jobs import EvaluationJobs

ASKED = CaseSet("own", tuple(Case(str(n), f"What does part {n} say?") for n in range(6)))
WORDS = Configuration.parsed("retrieve.mode=bm25")
MEANING = Configuration.parsed("retrieve.mode=vector")


@pytest.fixture
def engine(sampled: Path, tmp_path: Path) -> Iterator[Engine]:
    prepared.copied(sampled, tmp_path / "home")
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline", "rerank.model": "none"}) as opened:
        yield opened


def ended(jobs: EvaluationJobs) -> None:
    by = time.monotonic() + 60.0
    while jobs.jobs:
        assert time.monotonic() < by
        time.sleep(0.02)


def test_a_stopped_queue_is_empty_and_takes_runs_again(engine: Engine) -> None:
    jobs, set_id = EvaluationJobs(lambda: engine), engine.evaluation.put(ASKED).set_id
    first, second = (jobs.run(set_id, one, within=False) for one in (WORDS, MEANING))
    assert first != second
    jobs.stop()
    again = jobs.run(set_id, MEANING, within=False)
    ended(jobs)
    assert again == second
    assert engine.evaluation.info(second).done == len(ASKED.cases)
    assert second in {one.run_id for one in engine.evaluation.runs()}
    jobs.close()


def test_a_run_in_the_queue_is_not_queued_twice_and_asks_nothing_again(engine: Engine) -> None:
    jobs, set_id = EvaluationJobs(lambda: engine), engine.evaluation.put(ASKED).set_id
    ids = {jobs.run(set_id, WORDS, within=False) for _ in range(3)}
    assert len(jobs.jobs) <= 1
    ended(jobs)
    (run,) = engine.evaluation.runs(set_id)
    assert ids == {run.run_id}
    before = engine.evaluation.evaluated(run.run_id).outcomes
    jobs.run(set_id, WORDS, within=False)
    ended(jobs)
    assert engine.evaluation.evaluated(run.run_id).outcomes == before
    jobs.close()


def test_judging_waits_in_the_same_queue_and_says_what_went_wrong(engine: Engine) -> None:
    asked = CaseSet("judged", tuple(Case(str(n), f"What does part {n} say?", "It says much.") for n in range(3)))
    jobs, set_id = EvaluationJobs(lambda: engine), engine.evaluation.put(asked).set_id
    run_id = jobs.run(set_id, WORDS, within=False)
    ended(jobs)
    jobs.run(set_id, MEANING, within=False)
    for _ in range(2):
        jobs.judge(run_id, "support", 0.0, engine)
    assert [job.by for job in jobs.jobs if job.target == run_id] in (["support"], [])
    ended(jobs)
    assert jobs.trouble is None
    assert engine.evaluation.info(run_id).verdicts == 3
    jobs.judge(run_id, "claude", 1.0, engine)
    ended(jobs)
    assert jobs.trouble is not None
    assert "no Claude model is set" in jobs.trouble["message"]
    jobs.close()
