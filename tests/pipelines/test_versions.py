"""What rests on a document when its file changes: nothing is lost, the newest version is asked, and what changed is
told."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from openpyxl import load_workbook

from ragcore.engine import Engine
from ragcore.grid.columns import given_columns
from ragcore.pipelines.versions import Span
from ragcore.report.template import read_template
from ragcore.types import EVERYTHING, Answer, Citation, Scope
from ragcore.verify.changes import Changed, Unchanged
from tests import pdfs, prepared
from tests.command_line import run

COLUMNS = (
    {"name": "Highest reading", "question": "What was the highest nitrate reading?", "type": "value", "unit": ""},
    {"name": "Start", "question": "When did the survey begin?", "type": "quote"},
)
BEFORE = {"Findings": [pdfs.INTRO, pdfs.FINDING], "Advice": [pdfs.ADVICE]}
AFTER = {
    "Findings": [pdfs.INTRO, pdfs.FINDING.replace("seven wells", "nine wells").replace("61.4", "64.9")],
    "Advice": [pdfs.ADVICE],
}
SINCE = "Words changed since"
OFFLINE = {"llm.model": "offline", "rerank.model": "none"}


def put(engine: Engine, folder: Path, sections: dict[str, list[str]], second: int) -> str:
    """Writes the survey into the watched folder, has it seen and read; the id of its document."""
    path = folder / "survey.pdf"
    path.write_bytes(pdfs.report("Larkfield Water Survey", sections))
    os.utime(path, (1_500_000_000 + second,) * 2)
    [change] = engine.watch.scan(folder).changes
    assert prepared.read(engine, path) == change.doc_id
    engine.index()
    return change.doc_id


def span(citation: Citation) -> Span:
    return citation.doc_id, citation.start, citation.end


def one(engine: Engine, answer: Answer) -> object:
    citation = answer.citations[0]
    return engine.versions.staleness([span(citation)]).get(span(citation))


def citations(made: Any) -> Iterator[Any]:
    """Citations in a JSON file."""
    if isinstance(made, dict):
        yield from [made] if "quote" in made and "doc_id" in made else []
        made = list(made.values())
    for each in made if isinstance(made, list) else []:
        yield from citations(each)


def written(workbook: bytes) -> str:
    """All text of a workbook, notes too."""
    cells = (cell for sheet in load_workbook(io.BytesIO(workbook)) for row in sheet for cell in row)
    return "\n".join(f"{cell.value} {cell.comment.text if cell.comment else ''}" for cell in cells)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    return made


def test_what_rests_on_changed_words_says_so_and_the_newest_version_is_asked(tmp_path: Path, folder: Path) -> None:
    with Engine.open(tmp_path / "home", overrides=OFFLINE) as engine:
        engine.watch.add(folder)
        old = put(engine, folder, BEFORE, 1)
        talk = engine.conversations.new(Scope((old,)))
        wells = engine.chat(talk, "In how many wells was nitrate above the limit?").run()
        cost = engine.chat(talk, "At what cost can households be served?").run()
        grid_id = engine.grids.add("Wells", given_columns(COLUMNS), EVERYTHING).grid_id
        assert engine.grids.run(grid_id).finished
        check_id = engine.checks.add("memo.md", b"Forty wells were sampled twice.", Scope((old,))).check_id
        engine.checks.run(check_id)
        report_id = engine.reports.new(read_template(b"# Survey\n\n## Wells\n\nHow many?\n", "t.md"), doc_ids=[old])
        assert one(engine, wells) is None, "it is the newest version"

        new = put(engine, folder, AFTER, 2)
        assert [info.doc_id for info in engine.documents()] == [new]
        assert {hit.chunk.doc_id for hit in engine.retrieve("nitrate in wells").hits} == {new}

        stale = one(engine, wells)
        assert isinstance(stale, Changed)
        assert "seven wells" in stale.old.quote
        assert "nine wells" in stale.place.quote
        assert stale.place.doc_id == new
        assert stale.place.boxes == engine.document(new).boxes(stale.place.start, stale.place.end)
        same = one(engine, cost)
        assert isinstance(same, Unchanged)
        assert same.place.quote == cost.citations[0].quote

        document = engine.document(old)
        kept = engine.conversations.get(talk).turns[0].answer
        assert kept is not None
        citation = kept.citations[0]
        assert document.boxes(citation.start, citation.end) == citation.boxes, "old citations stay lit"
        assert engine.file(old).is_file()

        # Scopes that had the earlier version mean the newest.
        assert engine.conversations.scope(talk).doc_ids == (new,)
        again = engine.chat(talk, "In how many wells was nitrate above the limit?").run()
        assert {each.doc_id for each in again.citations} == {new}
        assert (
            engine.ask("In how many wells was nitrate above the limit?", doc_ids=[old]).run().citations[0].doc_id == new
        )
        assert engine.reports.store.info(report_id).doc_ids == (new,)
        assert engine.checks.info(check_id).scope.doc_ids == (new,)
        [verdict] = [each for each in engine.checks.get(check_id).sentences if each is not None]
        assert not engine.versions.stale(verdict.citations)

        # A grid keeps the cells of before beside those of the newest version.
        info = engine.grids.run(grid_id)
        assert info.finished
        grid = engine.grids.get(grid_id)
        assert [(row.doc_id, row.earlier) for row in grid.rows] == [(old, True), (new, False)]
        assert [row.doc_id for row in grid.current] == [new]
        reading, start = (column.column_id for column in grid.columns)
        assert grid.cell(old, reading).value.text.startswith("61.4")
        assert grid.cell(new, reading).value.text.startswith("64.9")
        assert engine.versions.stale(grid.cell(old, reading).value.citations)
        assert not engine.versions.stale(grid.cell(old, start).value.citations)
        assert not engine.versions.stale(grid.cell(new, reading).value.citations)

        told = engine.versions.differences(old, new)
        assert len(told) == 2
        assert all(isinstance(each, Changed) for each in told)

        # With the newest version its earlier ones go, and what they said in answers stays.
        engine.remove(new)
        assert engine.documents(earlier=True) == []
        assert engine.versions.staleness([span(citation)]) == {}


def test_files_and_the_command_line_say_what_changed(tmp_path: Path, folder: Path) -> None:
    home = tmp_path / "home"
    with Engine.open(home, overrides=OFFLINE) as engine:
        engine.watch.add(folder)
        old = put(engine, folder, BEFORE, 1)
        talk = engine.conversations.new()
        engine.chat(talk, "In how many wells was nitrate above the limit?").run()
        engine.chat(talk, "At what cost can households be served?").run()
        grid_id = engine.grids.add("Wells", given_columns(COLUMNS), EVERYTHING).grid_id
        engine.grids.run(grid_id)
        check_id = engine.checks.add("memo.md", pdfs.FINDING.encode(), EVERYTHING).check_id
        engine.checks.run(check_id)
        template = read_template(b"# Survey\n\n## Wells\n\nIn how many wells was nitrate above?\n", "t.md")
        report = engine.fill(template).run()
        before = engine.export(talk, "md").decode()
        assert SINCE not in before

        new = put(engine, folder, AFTER, 2)
        assert old != new
        made = engine.export(talk, "md").decode()
        assert made.count(SINCE) == 1, "the other answer's words still stand"
        assert "nine wells" in made
        told = [json.loads(engine.checks.export(check_id, "json")), json.loads(engine.grids.export(grid_id, "json"))]
        told.append(json.loads(engine.write_report(report, "json")))
        for each in told:
            said = [one["since"] for one in citations(each)]
            assert any(one.startswith(SINCE) for one in said), each
        assert SINCE in written(engine.grids.export(grid_id, "xlsx"))
        assert SINCE in written(engine.checks.export(check_id, "xlsx"))
        assert SINCE in engine.write_report(report, "html").decode()
        with pymupdf.open(stream=engine.write_report(report, "annex")) as annex:
            assert "words changed since" in annex[0].get_text()
    again = run(["--home", str(home), "grid", "--resume", grid_id])
    assert again.returncode == 0, again.stderr
    assert "words changed since" in again.stdout


def test_versions_are_listed_newest_first(tmp_path: Path, folder: Path) -> None:
    with Engine.open(tmp_path / "home", overrides=OFFLINE) as engine:
        engine.watch.add(folder)
        old, new = put(engine, folder, BEFORE, 1), put(engine, folder, AFTER, 2)
        for doc_id in (old, new):
            assert [info.doc_id for info in engine.versions.of(doc_id)] == [new, old]
