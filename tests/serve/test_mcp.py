"""``groundwork mcp`` through the client of the protocol's own package, over a process of its own."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from PIL import Image

from ragcore.cli.main import _parser
from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.ingest.mail import message
from tests.messages_server import MessagesServer, Reply
from tests.serve.tools import FACTS, OFFLINE, Tools, asks, connected, reports, valid

ROOT = Path(__file__).resolve().parents[2]
LIT = (255, 212, 59)


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inbox")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Path:
    copied = tmp_path_factory.mktemp("mcp") / "home"
    prepared.copied(prepared.home(shared / "reports", reports()), copied)
    return copied


@pytest.fixture(scope="module")
def engine(home: Path) -> Iterator[Engine]:
    with Engine.open(home) as opened:
        yield opened


@pytest.fixture(scope="module")
def tools(home: Path, inbox: Path) -> Iterator[Tools]:
    heard = inbox.parent / "heard.jsonl"
    with connected(home, "--allow", str(inbox), heard=heard) as client:
        yield client
    lines = heard.read_text("utf-8").splitlines()
    assert len(lines) > 20
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines), "only the protocol is on standard output"


def test_tools_say_what_they_take_and_give(tools: Tools, home: Path) -> None:
    listed = {tool.name: tool for tool in tools.portal.call(tools.client.list_tools).tools}
    assert {"list_documents", "read_outline", "read_page", "search", "ask", "verify_claim"} <= set(listed)
    assert {"locate_quotation", "page_picture", "add_document"} <= set(listed)
    for name, tool in listed.items():
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name != "add_document")
        assert (tool.output_schema is None) is (name == "page_picture")
    assert "question" in listed["ask"].input_schema["required"]


def test_a_program_asks_questions_and_every_place_is_what_it_says(tools: Tools, engine: Engine) -> None:
    assert len(tools.call("list_documents")["documents"]) == len(FACTS)
    print("\n" + asks(partial(tools.call, "ask"), partial(tools.call, "locate_quotation"), engine, 4))


def test_an_answer_tells_how_far_it_is(tools: Tools) -> None:
    tools.call("ask", question="How long is the bridge?")
    assert any(said.startswith("Searching") for said in tools.progress)
    assert any(said.startswith("Writing from ") for said in tools.progress)


def test_passages_pages_and_sections_are_places(tools: Tools, engine: Engine) -> None:
    found = tools.call("search", question="corrosion on the hangers", limit=3)
    assert 1 <= valid(engine, found) <= 3
    assert "corrosion" in found["passages"][0]["quote"]
    outline = tools.call("read_outline", document="harbour.pdf")
    read = engine.document(outline["doc_id"])
    assert [one["label"] for one in outline["sections"]][-1] == "Part 5"
    for section in outline["sections"]:
        assert read.text[section["start"] : section["end"]].startswith(section["label"])
    page = tools.call("read_page", document="harbour.pdf", page=1)
    assert valid(engine, page) == len(page["parts"]) > 2
    assert any("612 metres" in part["quote"] for part in page["parts"])


def test_a_claim_is_confirmed_or_contradicted_by_words_on_a_page(tools: Tools, engine: Engine) -> None:
    true = tools.call("verify_claim", claim="The trial enrolled 480 patients in nine hospitals.")
    assert true["status"] == "confirmed"
    false = tools.call("verify_claim", claim="The trial enrolled 640 patients in nine hospitals.")
    assert false["status"] == "contradicted"
    assert [(one["said"], one["found"]) for one in false["sentences"][0]["corrections"]] == [("640", "480")]
    assert valid(engine, true)
    assert "480" in false["sentences"][0]["places"][0]["quote"]
    elsewhere = tools.call("verify_claim", claim="The trial enrolled 480 patients.", documents="harbour.pdf")
    assert elsewhere["status"] == "not_found"


def test_a_quotation_is_found_without_opening_every_document(tools: Tools, engine: Engine) -> None:
    found = tools.call("locate_quotation", quotation="“Mara Voss has led the bakery”")
    assert valid(engine, found) == 1
    assert found["places"][0]["page"] == 3
    assert (found["searched"], found["documents"]) == (1, len(FACTS))
    none = tools.call("locate_quotation", quotation="Mara Voss has left the bakery")
    assert (none["places"], none["searched"], none["note"]) == ([], len(FACTS), "")
    several = tools.call("locate_quotation", quotation="This is told in more detail below.", limit=7)
    assert valid(engine, several) == 7


def test_a_picture_has_exactly_the_words_lit(tools: Tools, engine: Engine) -> None:
    place = tools.call("locate_quotation", quotation="17 of 96 hangers")["places"][0]
    shown = tools.result("page_picture", document=place["doc_id"], start=place["start"], end=place["end"], width=900)
    picture, words = shown.content
    assert picture.type == "image"
    assert words.type == "text"
    assert "page 2 of 5" in words.text
    drawn = Image.open(io.BytesIO(base64.b64decode(picture.data))).convert("RGB")
    page = engine.document(place["doc_id"]).pages[1]
    assert abs(drawn.width - 900) <= 2
    scale = drawn.width / page.width
    (box,) = place["boxes"]
    inside = tuple(round(box[side] * scale) for side in ("x0", "y0", "x1", "y1"))
    yellow = [(x, y) for x in range(drawn.width) for y in range(drawn.height) if drawn.getpixel((x, y)) == LIT]
    assert len(yellow) > 0.4 * (inside[2] - inside[0]) * (inside[3] - inside[1])
    assert all(inside[0] - 1 <= x <= inside[2] + 1 and inside[1] - 1 <= y <= inside[3] + 1 for x, y in yellow)


def test_what_is_attached_to_a_message_is_read_too(tools: Tools, engine: Engine, inbox: Path) -> None:
    sent = message("The plan is attached.", attached=[("plan.txt", b"The weir will be rebuilt in 2031.")])
    (inbox / "plan.eml").write_bytes(sent.as_bytes())
    tools.call("add_document", path="plan.eml")
    attached = next(one for one in tools.call("list_documents")["documents"] if one["name"] == "plan.txt")
    assert (attached["status"], attached["askable"]) == ("ready", True)
    for info in engine.documents():
        if info.name in ("plan.txt", "plan.eml"):
            engine.remove(info.doc_id)


def test_a_file_in_an_allowed_folder_is_added_and_asked(tools: Tools, engine: Engine, inbox: Path) -> None:
    (inbox / "mill.pdf").write_bytes(pdfs.report("Old mill", {"Wheel": ["The wheel of the old mill has 48 paddles."]}))
    added = tools.call("add_document", path="mill.pdf")
    assert (added["already"], added["document"]["status"]) == (False, "ready")
    assert any(said.startswith("Reading pages") for said in tools.progress)
    assert tools.call("add_document", path=str(inbox / "mill.pdf"))["already"] is True
    answer = tools.call("ask", question="How many paddles has the wheel of the old mill?")
    assert "48" in answer["answer"]
    assert valid(engine, answer)
    engine.remove(added["document"]["doc_id"])


def test_every_fault_is_told_with_what_to_do_next(tools: Tools, inbox: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.pdf"
    outside.write_bytes(pdfs.one_column())
    (inbox / "link.pdf").symlink_to(outside)
    (inbox / "empty.pdf").write_bytes(b"")
    (inbox / "notes.xyz").write_bytes(bytes(range(256)))
    (inbox / "locked.pdf").write_bytes(pdfs.encrypted())
    for name, arguments, code in (
        ("fly", {}, "input_error"),
        ("ask", {}, "input_error"),
        ("ask", {"question": "  "}, "empty_question"),
        ("ask", {"question": "What?" * 2000}, "input_error"),
        ("ask", {"question": "How long is the bridge?", "documents": ["nothing.pdf"]}, "unknown_document"),
        ("ask", {"question": "How long is it?", "colour": "blue"}, "input_error"),
        ("search", {"question": "bridge", "limit": 0}, "input_error"),
        ("search", {"question": 7}, "input_error"),
        ("read_page", {"document": "harbour.pdf", "page": 99}, "input_error"),
        ("read_outline", {"document": "0123456789abcdef"}, "unknown_document"),
        ("page_picture", {"document": "harbour.pdf", "start": 5}, "input_error"),
        ("page_picture", {"document": "harbour.pdf", "start": 0, "end": 10**6}, "input_error"),
        ("page_picture", {"document": "harbour.pdf", "start": 0, "end": 5, "page": 3}, "input_error"),
        ("locate_quotation", {"quotation": " — "}, "input_error"),
        ("verify_claim", {"claim": "!"}, "input_error"),
        ("list_documents", {"after": "nothing"}, "unknown_document"),
        ("add_document", {"path": str(outside)}, "input_error"),
        ("add_document", {"path": "../home/groundwork.sqlite"}, "input_error"),
        ("add_document", {"path": "link.pdf"}, "input_error"),
        ("add_document", {"path": "missing.pdf"}, "file_missing"),
        ("add_document", {"path": "empty.pdf"}, "empty_file"),
        ("add_document", {"path": "notes.xyz"}, "unknown_kind"),
        ("add_document", {"path": "locked.pdf"}, "password_required"),
    ):
        assert tools.error(name, **arguments)["code"] == code, (name, arguments)


def test_without_an_allowed_folder_nothing_can_be_added(tmp_path: Path) -> None:
    with connected(tmp_path / "home") as tools:
        assert "add_document" not in tools.names()
        assert tools.error("search", question="bridge")["code"] == "index_empty"
        assert tools.error("ask", question="How long is the bridge?")["code"] == "index_empty"
        assert tools.call("list_documents") == {"documents": [], "more": False}


@pytest.mark.slow
def test_a_cancelled_question_is_written_no_further(home: Path, server: MessagesServer) -> None:
    env = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": server.url}
    server.reply(Reply(text="The bridge is long. " * 200, chunks=400, delay=0.25))
    with connected(home, env=env) as tools:

        async def cancelled() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(tools.client.call_tool, "ask", {"question": "How long is the bridge?"})
                assert await anyio.to_thread.run_sync(server.asked.wait, 60)
                group.cancel_scope.cancel()

        tools.portal.call(cancelled)
        assert server.hung_up.wait(20), "the connection to the model is cut"
        server.reply(Reply(status=401, message="no such key"))
        assert tools.error("ask", question="How long is the bridge?")["code"] == "key_refused"


@pytest.mark.slow
def test_reading_that_is_cancelled_ends_and_is_resumed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "long.pdf").write_bytes(pdfs.running_headers(12))
    with connected(home, "--allow", str(tmp_path), env=OFFLINE) as tools:

        async def cancelled() -> None:
            with anyio.CancelScope() as scope:

                async def told(_done: float, _total: float | None, message: str | None) -> None:
                    if (message or "").startswith("Reading pages"):
                        scope.cancel()

                await tools.client.call_tool("add_document", {"path": "long.pdf"}, progress_callback=told)
            assert scope.cancelled_caught

        tools.portal.call(cancelled)
        told, began = tools.result("add_document", path="long.pdf"), time.monotonic()
        while told.is_error and time.monotonic() - began < 60:  # until the page at hand is read
            assert told.structured_content["error"]["code"] == "store_busy"
            told = tools.result("add_document", path="long.pdf")
        assert told.structured_content["document"]["pages"] == 12
        assert "Reading pages 12 of 12" in tools.progress, "the first call had left some"


@pytest.mark.slow
def test_the_example_of_the_docs_runs(home: Path) -> None:
    text = (ROOT / "docs" / "mcp.md").read_text("utf-8")
    settings = json.loads(text.split("```json\n")[1].split("```")[0])["mcpServers"]["groundwork"]
    parsed = _parser().parse_args(settings["args"])
    assert (parsed.home, parsed.allow) == (Path("/srv/library"), [Path("/srv/inbox")])
    example = text.split("<!-- run -->\n```python\n")[1].split("```")[0]
    assert "/srv/library" in example
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    code = example.replace("/srv/library", str(home))
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "61.4 milligrams per litre" in done.stdout
    assert "[1] Larkfield water survey, p. 2: The highest nitrate reading" in done.stdout
