"""Structures on the command line: their table, what they would cost, building and forgetting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from ragcore.answer.sources import build_sources
from ragcore.config.settings import SearchMode
from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.command_line import Ran, run
from tests.messages_server import MessagesServer

STATE = {"name", "documents", "nodes", "edges", "seconds", "usd", "state", "missing"}


def ran(home: Path, *arguments: str, code: int = 0) -> Ran:
    done = run(["--home", str(home), "structure", *arguments])
    assert done.returncode == code, done.stderr
    return done


def told(home: Path, *arguments: str, code: int = 0) -> Any:
    return json.loads(ran(home, "--json", *arguments, code=code).stdout)


def states(home: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    found = told(home, *arguments, code=code)["structures"]
    assert all(set(one) == STATE for one in found)
    return {one["name"]: one for one in found}


@pytest.fixture
def home(surveyed: Path, tmp_path: Path) -> Path:
    return prepared.copied(surveyed, tmp_path / "home")


def test_the_graph_of_names_comes_with_the_index(home: Path) -> None:
    found = states(home)
    assert set(found) >= {"graph", "relations"}
    graph = found["graph"]
    assert (graph["state"], graph["documents"], graph["usd"]) == ("ready", 2, 0.0)
    assert graph["nodes"] > 0
    assert graph["edges"] > 0
    assert (found["relations"]["state"], found["relations"]["nodes"]) == ("not built", 0)
    shown = ran(home).stdout.splitlines()
    assert shown[0].split() == ["name", "state", "documents", "nodes", "edges", "seconds", "cost"]
    assert {line.split()[0] for line in shown[1:]} == set(found)
    with Engine.open(home.parent / "empty") as engine:
        assert {one.state for one in engine.structures.state()} == {"not built"}


def test_relations_are_estimated_built_and_forgotten(home: Path, key: None, server: MessagesServer) -> None:
    estimate = told(home, "--estimate")["estimate"]
    assert set(estimate) == {"model", "max_usd", "documents", "total"}
    for name in ("calls", "usd", "input_tokens", "output_tokens", "minutes"):
        assert estimate["total"][name] == pytest.approx(sum(one[name] for one in estimate["documents"]))
    calls = estimate["total"]["calls"]
    assert calls > 0
    *_, total, by, _ = ran(home, "--estimate").stdout.splitlines()
    assert total.endswith("in all")
    assert "By claude" in by
    assert server.requests == []
    done = ran(home, "--build", "graph", "relations")
    assert "relations: build" in done.stderr
    # Names that were missed are asked for again, once.
    assert calls <= len(server.requests) <= 2 * calls
    found = states(home)["relations"]
    assert (found["state"], found["documents"]) == ("ready", 2)
    assert found["usd"] > 0.0
    assert found["seconds"] > 0.0
    assert told(home, "--estimate")["estimate"]["documents"] == []
    spent = run(["--home", str(home), "spending"]).stdout
    assert "structure" in spent
    assert states(home, "--forget", "relations")["relations"]["state"] == "not built"
    assert states(home, "--forget")["graph"]["state"] == "ready"


def test_errors_are_one_line_with_what_to_do(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for arguments, said in (
        (("--build", "forest"), "Choose one of"),
        (("--build", "graph", "forest"), "Choose one of"),
        (("--forget", "forest"), "Choose one of"),
        (("--forget", "graph"), "part of the index"),
        (("--build", "relations"), "ANTHROPIC_API_KEY"),
    ):
        (line,) = ran(home, *arguments, code=1).stderr.splitlines()[-1:]
        assert said in line
        assert "hint" in told(home, *arguments, code=1)["error"]
    for arguments in (("--build",), ("--build", "graph", "--forget"), ("--estimate", "--forget")):
        ran(home, *arguments, code=2)


def test_a_limit_that_ends_it_is_said_and_fails(home: Path, key: None, server: MessagesServer) -> None:
    (home / "config.toml").write_text("[structure]\nmax_usd = 0.0\n")
    assert "structure.max_usd" in ran(home, "--build", "relations", code=1).stderr
    assert server.requests == []


def test_words_of_a_model_are_no_passage_and_no_source(home: Path, key: None, server: MessagesServer) -> None:
    with Engine.open(home, overrides={"agentic.decompose": "rules"}) as engine:
        engine.structures.build(["relations"])
        (doc_id, *_) = [info.doc_id for info in engine.documents() if info.name == "survey.pdf"]
        facts = engine.search.structures.facts({doc_id: engine.store.searchable()[doc_id]})[doc_id]
        said = [words for words in (*facts.about, *facts.words) if words]
        assert said
        text = "".join(engine.document(info.doc_id).text for info in engine.documents())
        assert not any(words in text for words in said)
        for mode in get_args(SearchMode):
            asking = engine.with_settings({"retrieve.mode": mode, "llm.model": "offline"})
            answer = asking.ask(f"What is told of {facts.shown[0]}?").run()
            shown = [answer.text, *(one.quote for one in answer.citations)]
            for question in (said[0], answer.question):
                found = asking.retrieve(question)
                shown += [hit.chunk.index_text for hit in found.hits]
                shown += [one.text for one in build_sources(found, engine.document, engine.settings.answer)]
            assert not any(words in one for words in said for one in shown)


def test_what_was_built_is_kept_in_step_and_nothing_is_paid_for_by_itself(
    home: Path, key: None, server: MessagesServer
) -> None:
    ran(home, "--build", "relations")
    asked = len(server.requests)
    with Engine.open(home) as engine:
        prepared.read(engine, pdfs.with_bookmarks(), "guide.pdf")
        engine.index()
        found = {one.name: one for one in engine.structures.state()}
    assert (found["graph"].state, found["graph"].documents) == ("ready", 3)
    assert (found["relations"].state, found["relations"].missing) == ("partly", "documents not in it: 1")
    assert len(server.requests) == asked
