"""Benchmarks: sets over their own libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import sets
from benchmarks.sets import Published
from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet, Evidence
from ragcore.evaluate.runs import Configuration

PASSAGES = (
    ("p.1", "Larkfield Mill", "Larkfield Mill is owned by the firm Harrow and Sons, which makes paper."),
    ("p.2", "Harrow and Sons", "The founder of Harrow and Sons was born in Dunmore and kept bees."),
    ("p.3", "Dunmore", "Dunmore lies on the river Orr and has a bridge of nine arches."),
)
ASKED = (
    Case("1", "How many arches has the bridge of Dunmore?", "nine", (Evidence("p.3"),)),
    Case("2", "Who owns Larkfield Mill, and where was its founder born?", "", (Evidence("p.1"), Evidence("p.2"))),
)
PUBLISHED = Published(
    lambda: ASKED, {"BM25": sets.SIDES["BM25"], "the default": {}}, sets.SHARES, passages=lambda: PASSAGES
)


def test_a_set_of_passages_is_searched_in_its_own_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ways = [Configuration(name, overrides) for name, overrides in PUBLISHED.configurations.items()]
    with Engine.open(tmp_path, overrides={"llm.model": "offline"}) as engine:
        for _ in range(2):
            sets.filled(engine, PUBLISHED)
        assert len(engine.documents()) == len(PASSAGES)
        sets.measured(engine, PUBLISHED, CaseSet("made", ASKED), ways, search=True)
        found = engine.evaluation.evaluated(engine.evaluation.runs()[0].run_id)
    assert (found.info.searched, found.means()["recall_at_5"]) == (True, (1.0, 2))
    head, _, *rows = [line.strip("| ").split("|") for line in capsys.readouterr().out.splitlines()]
    assert [head[1].strip(), rows[1][0].strip(), rows[1][1].strip()] == ["recall@5", "the default", "1.000"]


def test_a_year_is_moved_wherever_it_stands() -> None:
    assert sets.moved("FY2015 or FY15, not 120150", 12) == "FY2027 or FY27, not 120150"
