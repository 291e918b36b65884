"""The command line is a contract for scripts: shapes, exit codes, one JSON object on stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.types import Scope
from tests import pdfs
from tests.command_line import Ran, process, run
from tests.messages_server import MessagesServer, Reply

QUESTION = "What was the highest nitrate reading?"


def ragcore(home: Path, *arguments: str, stdin: str = "", code: int = 0, lines: bool = False) -> Any:
    done = run(["--home", str(home), "--json", *arguments], stdin)
    assert done.returncode == code, done.stderr
    if lines:
        return [json.loads(line) for line in done.stdout.splitlines()]
    return json.loads(done.stdout) if done.stdout else None


def for_people(home: Path, *arguments: str, code: int = 0) -> Ran:
    done = run(["--home", str(home), *arguments])
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "survey.pdf").write_bytes(pdfs.one_column())
    (folder / "table.pdf").write_bytes(pdfs.ruled_table())
    report = ragcore(folder / "home", "ingest", str(folder / "survey.pdf"), str(folder / "table.pdf"), "--index")
    assert [document["status"] for document in report["documents"]] == ["ready", "ready"]
    for document in report["documents"]:
        wanted = {"doc_id", "path", "title", "pages", "elements", "chunks", "tables", "noise", "ocr_pages", "seconds"}
        assert sum(document["noise_by_reason"].values()) == document["noise"]
        assert wanted | {"status", "error"} <= set(document)
    return folder / "home"


def the_id(home: Path, name: str) -> str:
    found = [item for item in ragcore(home, "documents")["documents"] if item["name"] == name]
    return str(found[0]["doc_id"])


def test_index_reports_what_there_is(home: Path) -> None:
    report = ragcore(home, "index")
    assert set(report) == {"chunks", "embedded", "embedder", "seconds", "usd", "failed"}
    assert (report["embedded"], report["embedder"]) == (0, "bundled:bge-small-en-v1.5")


def test_a_rebuilt_index_says_what_became_of_its_chunks(home: Path) -> None:
    told = ragcore(home, "index", "--rebuild")
    assert (told["embedded"], told["failed"]) == (0, []), "their text is the same"
    said = for_people(home, "index", "--rebuild").stdout
    assert f"{told['chunks']} chunks" in said
    assert "0 embedded" in said
    assert f"{told['chunks']} unchanged" in said


def test_elements_and_cells_are_spans_with_boxes(home: Path) -> None:
    doc_id = the_id(home, "table.pdf")
    answer = ragcore(home, "elements", doc_id, "--page", "1")
    assert {"page", "label", "width", "height", "rotation"} <= set(answer["pages"][0])
    tables = [element["table"] for element in answer["elements"] if element["table"]]
    assert len(tables) == 1
    assert {"title", "rows", "columns", "cells"} == set(tables[0])
    for cell in tables[0]["cells"]:
        assert {"row", "col", "row_span", "col_span", "header", "text", "start", "end", "boxes"} <= set(cell)
        assert cell["boxes"]
    assert {element["kind"] for element in ragcore(home, "elements", doc_id, "--kind", "table")["elements"]} == {
        "table"
    }


def test_chunks_tile_the_body(home: Path) -> None:
    chunks = ragcore(home, "chunks", the_id(home, "survey.pdf"))["chunks"]
    assert chunks[0]["start"] == 0
    assert all(one["end"] == two["start"] for one, two in pairwise(chunks))
    assert not any(chunk["composite"] for chunk in chunks)
    assert {
        "chunk_id",
        "index",
        "composite",
        "tiles",
        "grid",
        "kind",
        "start",
        "end",
        "text",
        "section",
        "header",
        "lead_in",
        "context",
        "boxes",
        "tokens",
    } == set(chunks[0])


def test_a_table_has_a_chunk_for_each_row_and_one_over_all(home: Path) -> None:
    chunks = ragcore(home, "chunks", the_id(home, "table.pdf"))["chunks"]
    tiles = [chunk for chunk in chunks if not chunk["composite"]]
    assert chunks[: len(tiles)] == tiles
    assert all(one["end"] == two["start"] for one, two in pairwise(tiles))
    (composite,) = chunks[len(tiles) :]
    first, last = composite["tiles"]
    assert [tile["kind"] for tile in tiles[first : last + 1]] == ["table"] * (last - first + 1)
    assert composite["text"] == "".join(tile["text"] for tile in tiles[first : last + 1])
    assert composite["grid"].count(" | ") < composite["text"].count(" | ") + len(tiles)
    answer = ragcore(home, "retrieve", "-q", "Which well had the highest level?", "--doc", "table.pdf")
    hits = [hit for hit in answer["hits"] if hit["composite"]]
    assert [(hit["tiles"], hit["via"].split("+")[-1]) for hit in hits] == [([first, last], "table")]
    assert [s["via"] for s in answer["segments"] if s["first_chunk"] == first] == ["table"]


def test_retrieve_keeps_to_pages_and_kinds(home: Path) -> None:
    found = ragcore(home, "retrieve", "-q", QUESTION, "--pages", "1, 3-9", "--kind", "table", "--kind", "figure")
    assert found["hits"]
    assert {hit["kind"] for hit in found["hits"]} <= {"table", "figure"}
    assert all(set(hit["pages"]) & {1, *range(3, 10)} for hit in found["hits"])


def test_sections_are_listed_and_searched_alone(home: Path) -> None:
    tree = ragcore(home, "elements", "survey.pdf", "--outline")["sections"]
    nodes = [*tree, *(child for node in tree for child in node["children"])]
    (section,) = [node for node in nodes if node["label"] == "Findings"]
    assert {"level", "start", "end", "first_page", "last_page", "chunks", "children"} <= set(section)
    lines = for_people(home, "elements", "survey.pdf", "--outline").stdout.splitlines()
    assert [line.split(maxsplit=2)[2] for line in lines] == ["Larkfield Water Survey", "Findings"]
    found = ragcore(home, "retrieve", "-q", QUESTION, "--section", "findings")
    assert found["segments"]
    assert all(section["start"] <= one["start"] < one["end"] <= section["end"] for one in found["segments"])
    said = for_people(home, "ask", QUESTION, "--section", "Findigs", code=1).stderr
    assert said.startswith("There is no section “Findigs”. The nearest: “")
    assert "Findings” (p. 1, survey.pdf)" in said
    assert len(said.splitlines()) == 1
    assert "is the heading of 2 sections" in for_people(home, "ask", QUESTION, "--section", "r", code=1).stderr


def test_retrieve_says_that_nothing_was_found(home: Path) -> None:
    answer = ragcore(home, "retrieve", "-q", QUESTION, "--pages", "9000")
    said = "Nothing found on page 9000: the longest document has 1 page."
    assert (answer["hits"], answer["notes"]) == ([], [said])
    assert ragcore(home, "generate", "-q", QUESTION, "--pages", "9000")["notes"] == [said]
    assert for_people(home, "retrieve", "-q", QUESTION, "--pages", "9000").stdout == f"{said}\n"
    assert for_people(home, "retrieve", "-q", QUESTION, "--kind", "figure").stdout == "Nothing found among figures.\n"


def test_retrieve_explains_each_hit(home: Path) -> None:
    answer = ragcore(home, "retrieve", "-q", QUESTION, "--top-k", "2", "--doc", "survey.pdf")
    assert {"query", "mode", "hits", "segments", "routes", "candidates", "reranked", "timings_ms"} <= set(answer)
    assert 1 <= answer["reranked"] <= answer["candidates"]
    hit = answer["hits"][0]
    assert hit["rank"] == 1
    assert set(hit["scores"]) == {"vector", "bm25", "graph", "structure", "prior", "fused", "rerank", "question"}
    assert hit["via"]
    assert hit["pages"] == [1]
    segment = answer["segments"][0]
    assert {"doc_id", "start", "end", "first_chunk", "last_chunk", "value", "pages", "text"} <= set(segment)


def test_names_are_followed_where_they_are_asked_for(home: Path) -> None:
    answer = ragcore(home, "retrieve", "-q", QUESTION, "--mode", "graph")
    assert answer["mode"] == "graph"
    assert answer["hits"]
    assert "graph" in answer["timings_ms"]
    reached = [hit for hit in answer["hits"] if hit["scores"]["graph"] is not None]
    assert all("graph" in hit["via"] for hit in reached if "table" not in hit["via"])


def test_retrieve_tells_the_path_to_a_passage(home: Path) -> None:
    asked = ("retrieve", "-q", "What reading was there at the Orchard Lane pump?", "--mode", "graph")
    answer = ragcore(home, *asked)
    assert answer["paths"]
    for path in answer["paths"]:
        first, *others = path["steps"]
        assert first["name"]
        assert others[-1]["name"] == ""
        assert all(step["quote"] and step["boxes"] and step["page"] == 1 for step in others)
        assert path["chunk_id"] in {hit["chunk_id"] for hit in answer["hits"]}
    assert " → this passage (" in for_people(home, *asked).stdout
    assert ragcore(home, "retrieve", "-q", QUESTION)["paths"] == []


def test_a_name_is_shown_where_it_stands_and_with_those_beside_it(home: Path) -> None:
    found = ragcore(home, "graph", "--name", "the orchard lane")
    assert set(found) == {"name", "mentions", "neighbours"}
    assert found["mentions"]
    assert all("Orchard Lane" in one["quote"] and one["boxes"] and one["page"] == 1 for one in found["mentions"])
    assert "Orchard Lane" not in {one["name"] for one in found["neighbours"]}
    assert all(one["sentences"] >= 1 for one in found["neighbours"])
    shown = for_people(home, "graph", "--name", "Orchard Lane").stdout
    assert "  p. 1  " in shown
    assert for_people(home, "graph", "--name", "Nobody").stdout == "No document names Nobody.\n"


def test_generate_cites(home: Path) -> None:
    answer = ragcore(home, "generate", "-q", QUESTION)
    wanted = "question answer refused claims citations dropped_citations model usage cost_usd timings_ms settings_hash"
    assert set(wanted.split()) <= set(answer)
    assert answer["model"] == "offline"
    citation = answer["citations"][0]
    assert {"n", "doc_id", "title", "page", "page_label", "quote", "start", "end", "boxes"} <= set(citation)
    assert f"[{citation['n']}]" in answer["answer"]
    assert {"text", "citations", "added", "status", "reason", "wrong"} == set(answer["claims"][0])


def test_a_conversation_reads_a_question_a_line_and_can_be_resumed(home: Path) -> None:
    first = ragcore(home, "conversation", stdin=f"{QUESTION}\n\nAnd the lowest?\n", lines=True)
    assert [answer["question"] for answer in first] == [QUESTION, "And the lowest?"]
    resumed = ragcore(
        home, "conversation", "--resume", first[0]["conversation_id"], stdin="Where was it?\n", lines=True
    )
    assert resumed[0]["conversation_id"] == first[0]["conversation_id"]


def test_generate_and_a_conversation_keep_to_documents_pages_and_kinds(home: Path) -> None:
    only = ("--doc", "table.pdf", "--kind", "table", "--pages", "1")
    question = "Which well had the highest level?"
    with Engine.open(home=home) as engine:
        answer = ragcore(home, "generate", "-q", question, *only)
        assert {citation["doc_id"] for citation in answer["citations"]} == {the_id(home, "table.pdf")}
        (turn,) = ragcore(home, "conversation", *only, stdin=question, lines=True)
        assert {citation["doc_id"] for citation in turn["citations"]} == {the_id(home, "table.pdf")}
        scope = engine.conversations.get(turn["conversation_id"]).scope
        assert scope == Scope((the_id(home, "table.pdf"),), ((1, 1),), ("table",))
    assert ragcore(home, "generate", "-q", QUESTION, "--kind", "figure")["refused"]


def test_a_resumed_conversation_takes_the_scope_that_is_given(home: Path) -> None:
    with Engine.open(home=home) as engine:
        survey, table = the_id(home, "survey.pdf"), the_id(home, "table.pdf")
        conversation = engine.conversations.new(Scope((survey,), ((1, 1),)))
        resume = ("conversation", "--resume", conversation)
        ragcore(home, *resume, "--doc", "nowhere.pdf", code=1)
        ragcore(home, *resume)
        assert engine.conversations.get(conversation).scope == Scope((survey,), ((1, 1),)), "nothing was asked for"
        said = for_people(home, *resume, "--doc", "table.pdf", "--kind", "table").stderr
        assert "Searches 1 document, only tables." in said
        assert engine.conversations.get(conversation).scope == Scope((table,), (), ("table",))


def test_config_says_where_each_setting_came_from(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[retrieve]\ntop_k = 9\n")
    answer = ragcore(home, "config", "--config", str(file))
    assert answer["settings"]["retrieve"]["top_k"] == 9
    assert answer["origins"]["retrieve.top_k"] == str(file)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["elements", "nothing"], "unknown_document"),
        (["generate", "-q", " "], "empty_question"),
        (["conversation", "--resume", "gone"], "unknown_conversation"),
        (["conversation", "--resume", ""], "unknown_conversation"),
        (["config", "--config", "no.toml"], "config_error"),
    ],
)
def test_an_error_is_an_object_with_a_hint(home: Path, arguments: list[str], error: str) -> None:
    answer = ragcore(home, *arguments, code=1)
    assert answer["error"]["code"] == error
    assert answer["error"]["message"]
    assert answer["error"]["hint"]
    assert answer["error"]["retryable"] is False


def test_a_failed_file_fails_the_command_and_not_the_others(tmp_path: Path) -> None:
    (tmp_path / "letter.pdf").write_bytes(pdfs.not_a_pdf())
    (tmp_path / "survey.pdf").write_bytes(pdfs.one_column())
    report = ragcore(tmp_path / "home", "ingest", str(tmp_path), code=1)
    found = {Path(document["path"]).name: document for document in report["documents"]}
    assert found["survey.pdf"]["status"] == "ready"
    assert found["letter.pdf"]["error"]["code"] == "not_a_pdf"
    assert [document["name"] for document in ragcore(tmp_path / "home", "documents")["documents"]] == ["survey.pdf"]


def test_why_a_file_failed_is_said_once_and_not_with_each_answer(tmp_path: Path) -> None:
    survey, broken = pdfs.write(tmp_path, "survey.pdf", pdfs.one_column()), tmp_path / "broken.pdf"
    broken.write_bytes(pdfs.truncated())
    home = tmp_path / "home"
    said = for_people(home, "ingest", str(survey), str(broken), "--index", code=1)
    assert f"{said.stdout}{said.stderr}".count("too damaged to open") == 1
    assert "too damaged to open" in for_people(home, "documents").stdout
    assert for_people(home, "retrieve", "-q", "wells").stderr == ""
    assert "broken.pdf" in for_people(home, "retrieve", "-q", "wells", "--doc", "broken.pdf", code=1).stderr


def test_what_was_read_and_not_indexed_is_said_with_each_answer(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for data, name, more in ((pdfs.one_column(), "a.pdf", ["--index"]), (pdfs.ruled_table(), "b.pdf", [])):
        for_people(home, "ingest", str(pdfs.write(tmp_path, name, data)), *more)
    said = for_people(home, "retrieve", "-q", "What was the highest nitrate reading?").stderr
    assert "b.pdf" in said
    assert "a.pdf" not in said


def test_a_folder_without_a_file_to_read_fails_the_command(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.py").write_text("no PDF")
    (report,) = ragcore(tmp_path / "home", "ingest", str(tmp_path / "in"), code=1)["documents"]
    assert (report["status"], report["error"]["code"]) == ("failed", "file_missing")
    done = for_people(tmp_path / "home", "ingest", str(tmp_path / "in"), code=1)
    assert "in has no file that Groundwork reads." in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["retrieve"],
        ["retrieve", "-q", "x", "--mode", "magic"],
        ["retrieve", "-q", "x", "--top-k", "0"],
        ["retrieve", "-q", "x", "--pages", "7-3"],
        ["retrieve", "-q", "x", "--pages", "0"],
        ["retrieve", "-q", "x", "--pages", ""],
        ["retrieve", "-q", "x", "--kind", "picture"],
        ["generate", "-q", "x", "--pages", "7-3"],
        ["conversation", "--kind", "picture"],
        ["elements", "x", "--kind", "bogus"],
        ["template", "-t", "company-profile", "--year", "99999"],
        ["template", "-t", "company-profile", "--year", "1899"],
        ["template", "-t", "company-profile", "--year", "-1"],
        ["template", "-t", "company-profile", "--year", "last"],
    ],
)
def test_wrong_usage_is_2(tmp_path: Path, arguments: list[str]) -> None:
    ragcore(tmp_path, *arguments, code=2)


def test_a_year_that_no_report_covers_is_refused_in_a_line(tmp_path: Path) -> None:
    said = for_people(tmp_path, "template", "-t", "company-profile", "--year", "99999", code=2).stderr
    assert "--year: must be a whole number from 1900 to 2100" in said.splitlines()[-1]


def test_the_app_offers_only_what_it_takes(tmp_path: Path) -> None:
    offered = for_people(tmp_path, "app", "--help").stdout
    assert all(option in offered for option in ("--home", "--port", "--no-browser"))
    for option in ("--config", "--json"):
        assert option not in offered
        assert option in for_people(tmp_path, "documents", "--help").stdout
    for arguments in (["app", "--json"], ["app", "--config", "c.toml"], ["--json", "app"], ["--config", "c.toml"]):
        done = for_people(tmp_path, *arguments, code=2)
        assert next(word for word in arguments if word != "app") in done.stderr.splitlines()[-1]


def test_removing(tmp_path: Path) -> None:
    (tmp_path / "survey.pdf").write_bytes(pdfs.one_column())
    ragcore(tmp_path / "home", "ingest", str(tmp_path / "survey.pdf"))
    assert ragcore(tmp_path / "home", "remove", "survey.pdf") == {"documents": []}


@pytest.mark.parametrize("given", ["", "a", "abc", "survey"])
def test_removing_takes_a_whole_name_and_nothing_less(home: Path, given: str) -> None:
    before = ragcore(home, "documents")
    assert ragcore(home, "remove", given, code=1)["error"]["code"] == "unknown_document"
    assert ragcore(home, "remove", the_id(home, "survey.pdf")[:8], code=1)["error"]["code"] == "unknown_document"
    assert ragcore(home, "documents") == before


def test_the_start_of_an_id_names_a_document(home: Path) -> None:
    doc_id = the_id(home, "survey.pdf")
    assert ragcore(home, "chunks", doc_id[:6])["doc_id"] == doc_id


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux file names may be bytes that are no UTF-8")
def test_a_file_name_that_is_no_utf8_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/a\xff.pdf")).write_bytes(pdfs.one_column())
    (folder / "b.pdf").write_bytes(pdfs.not_a_pdf())
    report = ragcore(tmp_path / "home", "ingest", str(folder), code=1)
    assert [document["status"] for document in report["documents"]] == ["ready", "failed"]
    assert ragcore(tmp_path / "home", "documents")["documents"][0]["name"] == "a\ufffd.pdf"


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_read_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "long.pdf").write_bytes(pdfs.running_headers(24))
    command = [sys.executable, "-m", "ragcore.cli", "--home", str(tmp_path / "home"), "--json", "ingest"]
    process = subprocess.Popen(
        [*command, str(tmp_path / "long.pdf")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while " 5 of 24" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=280)
    assert process.returncode == 1
    assert json.loads(out)["error"]["code"] == "cancelled"
    document = ragcore(tmp_path / "home", "documents")["documents"][0]
    assert document["status"] == "new"
    assert document["pages_done"] >= 5


def test_a_page_that_is_not_there_is_said(home: Path) -> None:
    assert "has 1 page." in ragcore(home, "elements", "survey.pdf", "--page", "99", code=1)["error"]["message"]


def test_the_words_for_people(home: Path) -> None:
    done = for_people(home, "generate", "-q", QUESTION, "-p")
    assert done.stdout.startswith("Quotes from your documents:")
    assert "[1] " in done.stdout


def test_ctrl_c_stops_the_answer_and_keeps_it(home: Path) -> None:
    with MessagesServer() as server:
        server.reply(Reply(text=["It was high. ", *["More was said. "] * 600], delay=0.1))
        process = subprocess.Popen(
            [sys.executable, "-m", "ragcore.cli", "--home", str(home), "--json", "conversation"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": server.url},
        )
        assert process.stdin is not None
        process.stdin.write(f"{QUESTION}\nHow many wells were sampled?\n")
        process.stdin.flush()
        assert server.asked.wait(60)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=280)
    assert process.returncode == 1, err
    (answer,) = [json.loads(line) for line in out.splitlines()]
    assert (answer["status"], answer["question"]) == ("stopped", QUESTION)
    assert answer["answer"].startswith("It was high.")
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        (turn,) = engine.conversations.get(answer["conversation_id"]).turns
    assert turn.answer is not None
    assert (turn.answer.status, turn.answer.text) == ("stopped", answer["answer"])


@pytest.mark.parametrize("command", [["conversation", "--resume"], ["export"], ["elements"], ["remove"]])
def test_an_id_that_is_no_utf_8_is_unknown_and_nothing_worse(home: Path, command: list[str]) -> None:
    error = ragcore(home, *command, os.fsdecode(b"\xff"), code=1)["error"]
    assert error["code"].startswith("unknown_")


@pytest.mark.parametrize(
    ("given", "command"),
    [
        (["ask"], "groundwork ask"),
        (["ask", "--jsonn", QUESTION], "groundwork ask"),
        (["app", "--json", "x"], "groundwork app"),
        (["admin", "token", "add"], "groundwork admin token add"),
        (["fly"], "groundwork"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(
    capsys: pytest.CaptureFixture[str], given: list[str], command: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(f"{command}: ")
    assert f"`{command} --help`" in said


@pytest.mark.slow
def test_a_process_of_its_own_says_the_same(home: Path) -> None:
    """Arguments as bytes, a pipe to read from, and the exit code as the shell sees it."""
    at_home = ["--home", str(home), "--json"]
    asked = process([*at_home, "conversation"], f"{QUESTION}\n\nAnd the lowest?\n")
    assert asked.returncode == 0, asked.stderr
    assert [json.loads(line)["question"] for line in asked.stdout.splitlines()] == [QUESTION, "And the lowest?"]
    read = process(["--home", str(home), "conversation"], f"{QUESTION}\n\nAnd the lowest?\n").stdout.splitlines()
    assert [line for line in read if line.startswith("? ")] == [f"? {QUESTION}", "? And the lowest?"]
    unknown = process([*at_home, "export", b"\xff"])
    assert unknown.returncode == 1, unknown.stderr
    assert json.loads(unknown.stdout)["error"]["code"] == "unknown_conversation"
    wrong = process([*at_home, "fly"])
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "invalid choice: 'fly'" in wrong.stderr
