"""Benchmarks: sets over their own libraries, records of figures, and the page that is made of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from benchmarks import measured, records, sets
from benchmarks.__main__ import NAMES
from benchmarks.common import ROOT
from benchmarks.records import Record
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


def record(**changes: object) -> dict[str, object]:
    rows = [{"what": "found", "now": "–", "cells": {"row": "ours / held", "columns": ["first", "all"]}}]
    return {"subject": "Retrieval", "about": "made.", "script": "sets", "date": "2026-01-01", "rows": rows} | changes


def test_a_record_takes_its_figures_from_what_is_printed_and_says_what_is_missing() -> None:
    known = Record.model_validate(record())
    printed = (["", "", "first", "all"], [["theirs", "held", "0.1", "0.2"], ["ours", "held", "0.250", "12"]])
    (row,) = known.taken([printed]).rows
    assert row.now == ".250/12"
    for wrong in ([], [(printed[0], printed[1][:1])], [(["", "", "first"], printed[1])]):
        with pytest.raises(LookupError):
            known.taken(wrong)


def test_a_record_that_can_be_run_names_its_script_and_cells() -> None:
    bare = [{"what": "found", "now": "1"}]
    for wrong in ({"script": ""}, {"rows": bare}, {"rows": []}, {"subject": "Else"}, {"colour": "red"}):
        with pytest.raises(ValidationError):
            Record.model_validate(record(**wrong))
    assert Record.model_validate(record(rows=bare, needs="documents that aren't published")).command == "sets"


def test_the_page_is_what_the_records_say() -> None:
    known = records.everything()
    assert records.DOCUMENT.read_text("utf-8") == records.rendered(known)
    for name, one in known.items():
        assert not one.script or one.script in NAMES, name
        assert all(row.what in records.rendered({name: one}) for row in one.rows)


def test_a_script_that_fails_is_named_and_leaves_its_record(capsys: pytest.CaptureFixture[str]) -> None:
    broken = Record.model_validate(record(arguments=["no such set"]))
    left = Record.model_validate(record(needs="more"))
    assert measured.run({"broken": broken, "left": left}, Path("nowhere")) == ["broken"]
    said = capsys.readouterr().out
    assert "left: left as it is; it needs more." in said
    assert "broken: failed, its record is as it was: " in said


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_links_lead_to_files_and_headings(path: Path) -> None:
    text = path.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            assert file.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
                assert anchor in {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}, target
