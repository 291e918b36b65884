"""Drafts checked in the background: verdicts as they come, what is cut off goes on, decisions are kept."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.types.check import STATUSES
from tests import prepared
from tests.ui.asgi import ask
from ui.chat.runs import Answers
from ui.check import routes as check_routes
from ui.library.jobs import Ingestion
from ui.library.samples import sample_id
from ui.server import services as services_module
from ui.server.guard import TOKEN_HEADER
from ui.server.services import Services
from ui.server.tokens import Signer
from ui.viewer.render import Renderer

Json = dict[str, Any]
DRAFT = "The facility matures on 30 June 2028. At year end $18 million was drawn. We see little risk 🌍 in it."


def services_on(home: Path, model: str = "offline") -> Services:
    engine = Engine.open(home, overrides={"llm.model": model})
    renderer = Renderer(home / "pages")
    made = Services(engine, Ingestion(engine, removed=renderer.forget), Answers(engine), renderer, Signer())
    services_module._opened.append(made)
    return made


@pytest.fixture
def opened(sampled: Path, tmp_path: Path) -> Iterator[Services]:
    yield services_on(prepared.copied(sampled, tmp_path / "home"))
    services_module.close()


def call(made: Services, path: str, body: Json | None = None, query: str = "") -> Json:
    """JSON of a request: a GET, or a POST where there is a body."""
    headers = {TOKEN_HEADER: made.signer.token("one")}
    status, _, answer = ask(check_routes.routes(), f"/gw/checks{path}", query, headers=headers, body=body)
    found: Json = json.loads(answer)
    assert status in (200, 404), found
    return found | {"status": status}


def begun(made: Services, text: str = DRAFT, **more: Any) -> str:
    found: str = call(made, "/new", {"text": text, "docs": [sample_id()]} | more)["id"]
    return found


def until(made: Services, check_id: str, *states: str) -> Json:
    end = time.monotonic() + 120.0
    while (found := call(made, f"/{check_id}"))["state"] not in states:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def test_a_pasted_draft_is_checked_decided_on_and_kept_where_its_document_is_removed(opened: Services) -> None:
    check_id = begun(opened)
    parts: dict[int, Json] = {}
    done = -1
    while len(parts) < 3:
        since = next((n for n in range(3) if n not in parts), 3)
        found = call(opened, f"/{check_id}", query=f"from={since}&done={done}")
        assert "text" not in found
        parts |= {one["n"]: one for one in found.get("sentences", [])}
        done = found["done"]
    whole = until(opened, check_id, "done")
    assert whole["name"] == "The facility matures on 30 June 2028. At year end $18…"
    assert [parts[n] for n in range(3)] == whole["sentences"]
    assert [one["text"] for one in whole["sentences"]] == [whole["text"][a:b] for a, b in whole["spans"]]
    assert sum(whole["counts"][status] for status in STATUSES) == whole["total"] == 3
    assert "sentences" not in call(opened, f"/{check_id}", query="from=3&done=3")

    # A decision is kept, and changed words are checked at once.
    words = "The facility matures on 30 June 2029."
    changed = call(opened, f"/{check_id}/decide", {"n": 0, "kind": "replaced", "revised": words, "note": "Asked."})
    (sentence,) = changed["sentences"]
    assert (sentence["text"], sentence["status"]) == (words, "confirmed")
    assert changed["state"] == "done"
    kept = call(opened, f"/{check_id}")
    assert kept["sentences"][0] == sentence
    assert kept["text"].startswith("The facility matures on 30 June 2028.")
    undone = call(opened, f"/{check_id}/decide", {"n": 0, "kind": "", "revised": "", "note": ""})
    assert undone["sentences"] == [whole["sentences"][0]]
    assert "no words" in call(opened, f"/{check_id}/decide", {"n": 0, "kind": "replaced"})["refused"]["message"]
    for wrong in ({"n": 3, "kind": "left"}, {"n": True, "kind": "left"}, {"n": 0, "kind": "burnt"}):
        assert "refused" in call(opened, f"/{check_id}/decide", wrong)

    # Nothing is lost where it is to be checked against what is not in the library, or its document was removed.
    chosen = {"docs": [sample_id(), "0" * 16]}
    for path, body in ((f"/{check_id}/again", chosen), ("/new", {"text": "It has 4 wells.", **chosen})):
        assert "was removed" in call(opened, path, body)["refused"]["message"]
    assert [one["id"] for one in call(opened, "")["checks"]] == [check_id]
    opened.engine.remove(sample_id())
    replaced = {"n": 0, "kind": "replaced", "revised": "It matures."}
    for path, body in (("again", {}), ("run", {}), ("decide", replaced)):
        assert "was removed" in call(opened, f"/{check_id}/{path}", body)["refused"]["message"]
    assert call(opened, f"/{check_id}")["sentences"] == whole["sentences"]
    assert "refused" not in call(opened, f"/{check_id}/decide", {"n": 0, "kind": "noted", "note": "Gone."})


@pytest.mark.usefixtures("key")
def test_claude_reads_what_is_checked_where_a_person_asks_for_it(sampled: Path, tmp_path: Path) -> None:
    made = services_on(prepared.copied(sampled, tmp_path / "home"), "auto")
    try:
        check_id = begun(made)
        found = until(made, check_id, "done")
        asking = found["asking"]
        assert (asking["sections"], asking["model"]) == (3, "Claude Sonnet 4.6")
        assert asking["words"].startswith("At most $")
        assert {one["opinion"] for one in found["sentences"]} == {None}
        call(made, f"/{check_id}/ask", {})
        found = until(made, check_id, "done")
        assert (found["asking"], found["asked"], found["error"]) == (None, None, None)
        assert {one["opinion"]["model"] for one in found["sentences"]} == {"Claude Sonnet 4.6"}
        assert [one["status"] for one in found["sentences"]][:1] == ["contradicted"], "its figure differs"
    finally:
        services_module.close()


@pytest.mark.slow
def test_what_was_cut_off_is_stopped_and_goes_on(opened: Services, tmp_path: Path) -> None:
    many = begun(opened, "\n\n".join(f"Larkfield had {n} sites in that year." for n in range(30)))
    waiting = begun(opened)
    assert call(opened, f"/{waiting}")["state"] == "waiting"
    assert call(opened, f"/{waiting}/stop", {})["state"] == "stopped"
    assert call(opened, f"/{many}")["state"] == "running"
    assert "being checked" in call(opened, f"/{many}/again", {})["refused"]["message"]
    services_module.close()
    again = services_on(tmp_path / "home")
    (found,) = (one for one in call(again, "")["checks"] if one["id"] == many)
    assert found["state"] == "stopped"
    kept = call(again, f"/{many}")["sentences"]
    call(again, f"/{many}/run", {})
    whole = until(again, many, "done")
    assert whole["done"] == whole["total"] == 30
    assert whole["sentences"][: len(kept)] == kept


def test_a_figure_that_does_not_add_up_is_decided_on_like_any_other_finding(opened: Services, tmp_path: Path) -> None:
    check_id = begun(opened, "| Site | Rings |\n|---|---|\n| Leuven | 70.2 |\n| Bergen | 2.8 |\n| Total | 75.0 |\n")
    (fault,) = until(opened, check_id, "done")["faults"]
    n = fault["n"]
    assert fault["write"] == "73.0"
    for kind, revised, note in (
        ("left", "", "Rounded."),
        ("", "", ""),
        ("noted", "", "Ask."),
        ("replaced", "73.0", ""),
    ):
        decided = call(opened, f"/{check_id}/decide", {"n": n, "kind": kind, "revised": revised, "note": note})
        assert decided["sentences"][0]["decision"] == {"kind": kind, "revised": revised, "note": note}
        assert kind == "replaced" or (n in opened.engine.checks.get(check_id).open_problems) == (not kind)
    services_module.close()
    kept = call(services_on(tmp_path / "home"), f"/{check_id}")
    assert kept["faults"] == []
    (sentence,) = [one for one in kept["sentences"] if one["n"] == n]
    assert (sentence["text"], sentence["decision"]["kind"]) == ("73.0", "replaced")


def test_what_cannot_be_checked_is_said(opened: Services) -> None:
    docs = [sample_id()]
    for body, words in (
        ({"text": " \n", "docs": docs}, "empty"),
        ({"text": DRAFT, "docs": []}, "No document is chosen"),
        ({"name": "a.docx", "file": "?", "docs": docs}, "didn’t arrive whole"),
        ({"name": "a.md", "file": base64.b64encode(b"---").decode(), "docs": docs}, ""),
    ):
        assert words in call(opened, "/new", body)["refused"]["message"]
    assert call(opened, "")["checks"] == []
    assert call(opened, "/0123")["gone"]["code"] == "unknown_check"
    assert call(opened, "/0123/run", {})["refused"]["code"] == "unknown_check"


def test_a_check_is_deleted_even_while_it_runs(opened: Services) -> None:
    check_id = begun(opened)
    assert "refused" not in call(opened, f"/{check_id}/delete", {})
    assert call(opened, "")["checks"] == []


def test_the_sample_draft_has_three_errors(opened: Services) -> None:
    found = until(opened, call(opened, "/sample", {})["id"], "done")
    wrong = [one["text"] for one in found["sentences"] if one["status"] == "contradicted"]
    assert [next(word for word in ("2028", "$28 million", "hedges") if word in text) for text in wrong] == [
        "2028",
        "$28 million",
        "hedges",
    ]
    assert [one for one in found["sentences"] if one["status"] in ("partly", "not_found")] == []


def test_the_sample_document_is_read_first_where_it_is_missing(opened: Services) -> None:
    opened.engine.remove(sample_id())
    for _ in range(2):
        assert call(opened, "/sample", {})["words"].startswith("Reading")
    assert set(opened.ingestion.jobs()) == {sample_id()}
    assert call(opened, "")["checks"] == []
