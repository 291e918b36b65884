"""Runs of sets over a library, by the engine and by the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.errors import Cancelled, ConfigError, InputError, UnknownRun
from ragcore.evaluate.compare import compared
from ragcore.evaluate.measures import MEASURES
from ragcore.evaluate.runs import Configuration
from tests import prepared
from tests.command_line import run

TABLE = """id,question,answer,document,page,answerable
{rows}
"""
DEFAULT = Configuration.parsed("default")
WORDS = Configuration.parsed("retrieve.mode=bm25, rerank.model=none")


@pytest.fixture
def engine(sampled: Path, tmp_path: Path) -> Iterator[Engine]:
    home = tmp_path / "home"
    prepared.copied(sampled, home)
    with Engine.open(home, overrides={"llm.model": "offline"}) as opened:
        yield opened


@pytest.fixture
def questions(engine: Engine, tmp_path: Path) -> Path:
    """Four questions: one with its answer and page, one answered nowhere, one of a document that isn't here, and one of
    which nothing is known."""
    (info,) = engine.documents()
    document = engine.document(info.doc_id)
    sentence = next(
        document.text[one.start : one.end]
        for one in document.body
        if one.kind == "paragraph" and one.end - one.start > 80
    )
    place = document.text.index(sentence)
    page = document.page_at(place, place + len(sentence))
    asked = f"What does it say about {' '.join(sentence.split()[2:8])}?".replace(",", "").replace('"', "")
    rows = [
        f'one,{asked},"{sentence[:60].replace(chr(34), "")}",{info.name},{page},yes',
        "two,Who won the chess championship of 1987?,,,,no",
        "three,What is said on the last page?,x,elsewhere.pdf,1,yes",
        f"four,{asked},,,,",
    ]
    file = tmp_path / "own.csv"
    file.write_text(TABLE.format(rows="\n".join(rows)))
    return file


def test_a_run_measures_what_each_case_defines(engine: Engine, questions: Path) -> None:
    evaluation = engine.evaluation
    info = evaluation.add(questions)
    found = evaluation.run(info.set_id, DEFAULT)
    assert (found.info.done, found.info.cases, found.info.writer) == (4, 4, "offline")
    one, two, three, four = (found.measures[case.case_id] for case in found.cases)
    assert one["evidence_at_20"] == one["evidence_given"] == 1.0
    assert 0.0 < one["mrr"] <= 1.0
    assert {"words_f1", "valid_citations"} <= one.keys()
    assert "refused" in two
    assert "answered" not in two
    assert found.outcomes["three"].error is not None
    assert "elsewhere.pdf isn't in the library" in found.outcomes["three"].error["message"]
    assert three["answered"] == 0.0
    assert not {"mrr", "words_f1"} & four.keys()
    assert set().union(one, two, three, four) <= set(MEASURES)
    assert all(0.0 <= of[name] <= 1.0 for of in found.measures.values() for name in of if MEASURES[name].share)
    answer = found.outcomes["one"].answer
    assert answer is not None
    assert all(engine.document(c.doc_id).text[c.start : c.end] == c.quote for c in answer.citations)


def test_a_run_is_gone_on_with_and_never_made_twice(engine: Engine, questions: Path) -> None:
    evaluation = engine.evaluation
    info = evaluation.add(questions)
    asked: list[int] = []

    def stop() -> bool:
        return len(asked) > 2

    with pytest.raises(Cancelled, match="after 2 of 4"):
        evaluation.run(info.set_id, DEFAULT, on_progress=lambda done, _: asked.append(done), cancelled=stop)
    (half,) = evaluation.runs()
    assert (half.done, half.ended) == (2, None)
    before = evaluation.evaluated(half.run_id).outcomes
    found = evaluation.run(info.set_id, DEFAULT)
    assert found.info.run_id == half.run_id
    assert {name: found.outcomes[name] for name in before} == before
    again = evaluation.run(info.set_id, DEFAULT)
    answered = {name: one for name, one in found.outcomes.items() if one.answer}
    assert {name: one for name, one in again.outcomes.items() if one.answer} == answered
    assert len(evaluation.runs()) == 1


def test_other_settings_or_other_documents_are_another_run(engine: Engine, questions: Path) -> None:
    evaluation = engine.evaluation
    info = evaluation.add(questions)
    first = evaluation.run(info.set_id, DEFAULT).info.run_id
    other = evaluation.run(info.set_id, WORDS).info
    within = evaluation.run(info.set_id, DEFAULT, within=True).info
    turned = Configuration.parsed("rerank.model=none,retrieve.mode=bm25")
    assert evaluation.run(info.set_id, turned).info.run_id == other.run_id
    assert len({first, other.run_id, within.run_id}) == 3
    assert evaluation.evaluated(first[:6]).info.run_id == first
    with pytest.raises(UnknownRun):
        evaluation.evaluated("nothing")
    with pytest.raises(InputError, match="no set"):
        evaluation.find("nothing")


def test_a_run_may_only_search_and_finds_what_answers_are_made_of(engine: Engine, questions: Path) -> None:
    evaluation = engine.evaluation
    info = evaluation.add(questions)
    answered, searched = evaluation.run(info.set_id, DEFAULT), evaluation.run(info.set_id, DEFAULT, search=True)
    assert searched.info.run_id != answered.info.run_id
    assert searched.info.run_id == evaluation.run_id(info.set_id, DEFAULT, search=True)
    assert (searched.info.searched, searched.info.writer, answered.info.searched) == (True, "", False)
    assert all(outcome.answer is None for outcome in searched.outcomes.values())
    for name in ("one", "two", "four"):
        assert searched.outcomes[name].pages == answered.outcomes[name].pages
        assert searched.outcomes[name].error is None
    assert searched.outcomes["three"].error is not None
    assert searched.measures["three"] == {}
    assert {"mrr", "recall_at_5", "seconds"} <= searched.measures["one"].keys()
    assert not {"answered", "refused", "words_f1"} & set(searched.means())
    assert all(
        value == answered.measures["one"][name] for name, value in searched.measures["one"].items() if name != "seconds"
    )
    with pytest.raises(InputError, match="only searched"):
        compared(searched, answered)


def test_configurations_are_parsed_or_told_to_be_wrong(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "coarse.toml").write_text("[retrieve]\nalpha = 0.6\n[rerank]\nmodel = 'none'\n")
    assert Configuration.parsed(f"@{tmp_path / 'coarse.toml'}") == Configuration(
        "coarse", {"retrieve.alpha": 0.6, "rerank.model": "none"}
    )
    assert dict(WORDS.overrides) == {"retrieve.mode": "bm25", "rerank.model": "none"}
    assert Configuration.parsed("retrieve.top_k=5").overrides == {"retrieve.top_k": 5}
    for wrong in ("what", "a=1,b", f"@{tmp_path / 'none.toml'}"):
        with pytest.raises(ConfigError):
            Configuration.parsed(wrong)
    (tmp_path / "bad.toml").write_text("[")
    with pytest.raises(ConfigError, match="not valid TOML"):
        Configuration.parsed(f"@{tmp_path / 'bad.toml'}")


def test_the_command_line_from_a_table_to_a_gate(engine: Engine, questions: Path, tmp_path: Path) -> None:
    home = ["--home", str(engine.home)]
    ran = run([*home, "evaluate", "import", str(questions), "--json"])
    assert json.loads(ran.stdout)["set"]["cases"] == 4
    ran = run([*home, "evaluate", "run", "own", "-c", "default", "-c", "retrieve.mode=bm25", "--json"])
    assert ran.returncode == 1, "a document isn't here"
    assert "elsewhere.pdf" in ran.stderr
    first, second = json.loads(ran.stdout)["runs"]
    assert first["measures"]["mrr"]["n"] == 1
    assert [case["case_id"] for case in first["cases"]] == ["one", "two", "three", "four"]
    assert "Evidence first" in run([*home, "evaluate", "run", "own"]).stdout
    listed = run([*home, "evaluate", "list"]).stdout
    assert all(one["run_id"] in listed for one in (first, second))
    both = [first["run_id"], second["run_id"]]
    compared = json.loads(run([*home, "evaluate", "compare", *both, "--json"]).stdout)
    assert {"measure", "low", "high", "p", "clear"} <= compared["differences"][0].keys()
    assert "95% intervals" in run([*home, "evaluate", "compare", *both]).stdout
    gate = run([*home, "evaluate", "gate", both[1], "--against", both[0]])
    assert (gate.returncode, gate.stdout.strip()) == (0, "The gate holds.")
    assert run([*home, "evaluate", "gate", "nothing", "--against", both[0]]).returncode == 2
    searched = [
        json.loads(run([*home, "evaluate", "run", "own", "--search", "-c", one, "--json"]).stdout)["runs"][0]["run_id"]
        for one in ("default", "retrieve.mode=bm25")
    ]
    assert "search only" in run([*home, "evaluate", "list"]).stdout
    gate = run([*home, "evaluate", "gate", searched[1], "--against", searched[0], "--measure", "mrr"])
    assert (gate.returncode, gate.stdout.strip()) == (0, "The gate holds.")
    refused = run([*home, "evaluate", "export", searched[0], "--as", "ragchecker"])
    assert (refused.returncode, "only searched" in refused.stderr) == (1, True)
    out = tmp_path / "out.csv"
    assert run([*home, "evaluate", "export", both[0], "-o", str(out)]).returncode == 0
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [row["id"] for row in rows] == ["one", "two", "three", "four"]
    inputs = json.loads(run([*home, "evaluate", "export", both[0], "--as", "ragchecker"]).stdout)
    assert {"query_id", "query", "gt_answer", "response", "retrieved_context"} == inputs["results"][0].keys()
    exported = tmp_path / "again.jsonl"
    assert run([*home, "evaluate", "export", "own", "--as", "set", "-o", str(exported)]).returncode == 0
    again = json.loads(run([*home, "evaluate", "import", str(exported), "--json"]).stdout)["set"]
    assert again["set_id"] == first["set_id"]
