"""A document that was removed for good leaves nothing of itself behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet
from ragcore.evaluate.own import NAME
from ragcore.evaluate.runs import Configuration
from ragcore.grid.columns import given_columns
from ragcore.index.own_cases import OwnCase, OwnEvidence
from ragcore.retrieve.hybrid import STRUCTURES
from ragcore.types import EVERYTHING
from tests import pdfs

QUESTION = "What did the Zorblax Company sell to Zorblax Manor?"


def with_word(home: Path, word: str) -> list[str]:
    """Files under ``home`` that contain a word."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return [path.name for path in files if word.encode() in path.read_bytes().lower()]


@pytest.mark.sqlite
def test_no_file_has_a_word_of_a_removed_document(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        for word in ("Zorblax", "Quimbert"):
            said = (
                f"In May the {word} Company sold pumps to {word} Manor near Northtown, and Jane {word} signed for them."
            )
            file = tmp_path / f"{word}.pdf"
            file.write_bytes(pdfs.report(f"{word} report", {f"Of {word} Manor": [said]}))
            engine.ingest_path(file)
        engine.index()
        (removed,) = [info for info in engine.documents() if "Zorblax" in info.title]
        searches = [engine.with_settings({"retrieve.mode": mode}) for mode in ("overview", "graph", *STRUCTURES)]
        for one in searches:
            one.ask(QUESTION).run()
        engine.groups()
        asked = CaseSet("own", (Case("1", QUESTION, "The Zorblax Company sold pumps to Zorblax Manor."),))
        judged = engine.evaluation.run(engine.evaluation.put(asked).set_id, Configuration.parsed("default")).info.run_id
        engine.evaluation.judge(judged)
        assert with_word(home, "zorblax"), "there is something to be found"
        engine.remove(removed.doc_id)
        for one in searches:
            one.retrieve(QUESTION)
        kept = engine.evaluation.evaluated(judged)
        assert "Zorblax" in str(kept.judged["support"]["1"]), "verdicts stay, as answers do"
    assert with_word(home, "zorblax") == []
    assert with_word(home, "quimbert")


@pytest.mark.sqlite
def test_a_test_question_loses_the_words_of_a_removed_document(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        file = tmp_path / "sales.pdf"
        said = "In May the company sold quimbert pumps to the manor near Northtown."
        file.write_bytes(pdfs.report("Sales report", {"Of the manor": [said]}))
        doc_id = engine.ingest_path(file).info.doc_id
        engine.index()
        quote = engine.ask("What was sold to the manor?").run().citations[0].quote
        assert "quimbert" in quote
        evaluation = engine.evaluation
        place = OwnEvidence("sales.pdf", doc_id, 1, quote)
        evaluation.own.keep(OwnCase("one", "What was sold to the manor?", "Pumps", evidence=(place,)))
        evaluation.run(evaluation.find(NAME).set_id, Configuration.parsed("default"))
        assert "quimbert" in evaluation.read(NAME).to_jsonl()
        assert with_word(home, "quimbert")
        engine.remove(doc_id)
        assert "quimbert" not in evaluation.read(NAME).to_jsonl()
        assert [case.answer for case in evaluation.own.all()] == ["Pumps"]
    assert with_word(home, "quimbert") == []


@contextmanager
def of_the_manor(folder: Path) -> Iterator[Engine]:
    """Engine whose home in ``folder`` has one report."""
    with Engine.open(folder / "home", overrides={"llm.model": "offline"}) as engine:
        file = folder / "report.pdf"
        file.write_bytes(pdfs.report("Report", {"Of the manor": ["In May the company sold pumps to the manor."]}))
        engine.ingest_path(file)
        engine.index()
        yield engine


@pytest.mark.sqlite
def test_no_file_has_a_word_of_a_deleted_conversation(tmp_path: Path) -> None:
    with of_the_manor(tmp_path) as engine:
        gone, kept = engine.conversations.new(), engine.conversations.new()
        engine.chat(gone, "What was sold to Zorblax?").run()
        engine.chat(kept, "What was sold to the manor?").run()
        assert with_word(tmp_path, "zorblax")
        engine.conversations.delete(gone)
        assert len(engine.conversations.all("manor")) == 1
    assert with_word(tmp_path, "zorblax") == []


@pytest.mark.sqlite
def test_no_file_has_a_word_of_a_deleted_check(tmp_path: Path) -> None:
    with of_the_manor(tmp_path) as engine:
        checks = engine.checks
        check_id = checks.add("memo.md", b"In May the company sold pumps to Zorblax.", EVERYTHING).check_id
        checks.run(check_id)
        assert with_word(tmp_path, "zorblax")
        checks.remove(check_id)
        assert with_word(tmp_path, "zorblax") == []


@pytest.mark.sqlite
def test_no_file_has_a_word_of_a_deleted_grid(tmp_path: Path) -> None:
    with of_the_manor(tmp_path) as engine:
        grids = engine.grids
        columns = given_columns([{"name": "Sold", "question": "What was sold to Zorblax?", "type": "quote"}])
        grid_id = grids.add("Zorblax", columns, EVERYTHING).grid_id
        grids.run(grid_id)
        assert with_word(tmp_path, "zorblax")
        grids.remove(grid_id)
        assert with_word(tmp_path, "zorblax") == []
