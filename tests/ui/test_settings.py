"""The Settings page's routes and the visits behind them: what is kept, for whom, and where a key does not go."""

from __future__ import annotations

import json
import logging
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.errors import ConfigError, InputError
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply
from tests.ui.asgi import ask
from ui.chat.runs import Answers
from ui.library.advice import advice
from ui.library.jobs import Ingestion
from ui.server import services as services_module
from ui.server.guard import TOKEN_HEADER
from ui.server.services import Services
from ui.server.tokens import Signer
from ui.server.visits import ORIGIN, Visits
from ui.settings import presets
from ui.settings import routes as settings_routes
from ui.viewer.render import Renderer

KEY = "sk-ant-visit-0123456789-do-not-tell"
Json = dict[str, Any]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    engine = Engine.open(home=tmp_path / "home", overrides={"llm.retries": 0})
    renderer = Renderer(tmp_path / "pages")
    made = Services(engine, Ingestion(engine, removed=renderer.forget), Answers(engine), renderer, Signer())
    services_module._opened.append(made)
    yield made
    services_module.close()


def call(made: Services, path: str, body: Json | None = None, visit: str = "one") -> tuple[int, Json]:
    """Status and JSON of a request: a GET, or a POST where there is a body."""
    headers = {TOKEN_HEADER: made.signer.token(visit)}
    status, _, answer = ask(settings_routes.routes(), f"/gw/settings{path}", headers=headers, body=body)
    return status, json.loads(answer)


def row(page: Json, key: str) -> Json:
    found: Json = next(item for item in page["settings"] if item["key"] == key)
    return found


def test_a_change_holds_for_one_visit_until_it_is_kept(opened: Services) -> None:
    status, page = call(opened, "/change", {"changes": {"retrieve.top_k": "30"}})
    assert (status, page["changes"]) == (200, 1)
    assert (row(page, "retrieve.top_k")["value"], row(page, "retrieve.top_k")["origin"]) == ("30", ORIGIN)
    assert row(call(opened, "", visit="other")[1], "retrieve.top_k")["value"] == "20"
    assert opened.visits.engine("one").settings.retrieve.top_k == 30
    assert opened.engine.settings.retrieve.top_k == 20
    status, page = call(opened, "/keep", {})
    assert (status, page["changes"], row(page, "retrieve.top_k")["origin"]) == (200, 0, "config.toml")
    assert tomllib.loads((opened.engine.home / "config.toml").read_text()) == {"retrieve": {"top_k": 30}}
    assert row(call(opened, "", visit="other")[1], "retrieve.top_k")["value"] == "30"
    assert Engine.open(opened.engine.home).settings.retrieve.top_k == 30, "after a restart too"


def test_back_to_what_is_kept_and_all_undone(opened: Services) -> None:
    call(opened, "/change", {"changes": {"retrieve.top_k": "30", "verify.add_citations": "off"}})
    assert call(opened, "/change", {"changes": {"retrieve.top_k": None}})[1]["changes"] == 1
    assert call(opened, "/change", {"changes": {"verify.add_citations": "on"}})[1]["changes"] == 0, "as it was"
    call(opened, "/preset", {"name": "find_all"})
    assert call(opened, "/undo", {})[1]["changes"] == 0
    assert opened.visits.engine("one") is opened.engine


def test_a_preset_is_recognised_by_its_values(opened: Services) -> None:
    assert call(opened, "")[1]["presets"]["on"] == "balanced"
    call(opened, "/key", {"key": KEY})
    for preset in presets.PRESETS:
        page = call(opened, "/preset", {"name": preset.name})[1]
        assert page["presets"]["on"] == preset.name
    assert call(opened, "/preset", {"name": "find_all"})[1]["changes"] == 9
    assert row(call(opened, "")[1], "rse.max_length")["value"] == "40"
    assert call(opened, "/change", {"changes": {"retrieve.top_k": "33"}})[1]["presets"]["on"] == ""
    assert call(opened, "/preset", {"name": "magic"})[0] == 400


def test_what_needs_a_model_is_off_while_there_is_none(opened: Services) -> None:
    assert "needs a model" in call(opened, "/preset", {"name": "stepwise"})[1]["refused"]["message"]
    call(opened, "/key", {"key": KEY})
    assert call(opened, "/preset", {"name": "stepwise"})[1]["presets"]["on"] == "stepwise"
    assert row(call(opened, "")[1], "agentic.gaps")["value"] is True
    call(opened, "/change", {"changes": {"llm.model": "offline"}})
    prepared.read(opened.engine, pdfs.one_column(), "survey.pdf")
    opened.engine.index()
    assert opened.visits.engine("one").retrieve("nitrate").hits
    assert call(opened, "/change", {"changes": {"llm.model": None}})[1]["presets"]["on"] == "stepwise"


@pytest.mark.parametrize(
    ("key", "typed", "said"),
    [
        ("retrieve.alpha", "2", "Must be a number from 0 to 1."),
        ("retrieve.alpha", "0.4", ""),
        ("llm.base_url", "localhost", "Enter a server’s address"),
        ("llm.base_url", "http://localhost:11434", ""),
        ("llm.base_url", "file:///etc/passwd", "Enter a server’s address"),
    ],
)
def test_it_is_checked_as_it_is_typed_and_again_when_it_is_sent(
    opened: Services, key: str, typed: str, said: str
) -> None:
    status, found = call(opened, "/check", {"key": key, "value": typed})
    assert status == 200
    assert found["wrong"].startswith(said) if said else found["wrong"] == ""
    status, answer = call(opened, "/change", {"changes": {key: typed}})
    assert status == 200
    assert ("refused" in answer) == bool(said)


def test_what_the_documents_were_read_by_is_not_changed(opened: Services) -> None:
    status, page = call(opened, "/change", {"changes": {"chunk.row_tokens": "400"}})
    assert status == 200
    assert "chunk.row_tokens" in page["refused"]["message"]
    assert "ocr.mode" in call(opened, "/change", {"changes": {"ocr.mode": "off"}})[1]["refused"]["message"]
    assert row(call(opened, "")[1], "chunk.row_tokens")["fixed"]


def test_what_the_environment_sets_is_not_kept(opened: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWORK_RETRIEVE__TOP_K", "5")
    call(opened, "/change", {"changes": {"retrieve.top_k": "30"}})
    status, page = call(opened, "/keep", {})
    assert status == 200
    assert "GROUNDWORK_RETRIEVE__TOP_K" in page["refused"]["hint"]
    assert not (opened.engine.home / "config.toml").exists()


def test_a_server_s_address_is_never_kept(opened: Services) -> None:
    call(opened, "/change", {"changes": {"llm.base_url": "http://localhost:9", "llm.model": "own"}})
    status, page = call(opened, "/keep", {})
    assert status == 200
    assert "this machine’s key" in page["refused"]["message"]
    assert not (opened.engine.home / "config.toml").exists()


def test_the_key_is_of_its_visit_and_goes_nowhere_else(
    opened: Services, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        told: list[object] = [call(opened, "/key", {"key": f" {KEY}\n"})]
        page = call(opened, "")[1]
        assert page["who"]["key"]["from"] == "visit"
        assert page["who"]["choice"] == "claude"
        assert call(opened, "", visit="other")[1]["who"]["choice"] == "offline"
        server.reply(Reply(text="ready"))
        tried = call(opened, "/try", {})[1]
        assert tried["works"], tried
        assert "Claude Sonnet 4.6 answered in" in tried["words"]
        (sent,) = server.requests
        assert KEY in " ".join(sent["headers"].values())
        assert sent["body"]["max_tokens"] <= 16
        server.reply(Reply(status=401, message="invalid x-api-key"))
        refused = call(opened, "/try", {})[1]
        assert not refused["works"]
        assert refused["words"]
        assert refused["hint"]
        told += [
            page,
            tried,
            refused,
            repr(opened.visits),
            [repr(getattr(each, "__dict__", each)) for each in vars(opened).values()],
        ]
        call(opened, "/keep", {})
        call(opened, "/forget", {})
        assert call(opened, "")[1]["who"]["key"] == {"from": "", "set": 0.0}
        assert opened.visits.engine("one").models.writer_name == "offline"
    opened.engine.close()
    written = b"".join(path.read_bytes() for path in opened.engine.home.rglob("*") if path.is_file())
    assert KEY not in repr(told)
    assert KEY not in caplog.text
    assert KEY.encode() not in written


def test_the_machine_s_key_is_not_sent_to_a_server_of_the_visit(
    opened: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Gateway: {KEY}\nX-Other: {KEY}")
        assert call(opened, "")[1]["who"]["key"]["from"] == "machine"
        page = call(opened, "/change", {"changes": {"llm.base_url": server.url, "llm.model": "own"}})[1]
        assert (page["who"]["choice"], page["who"]["key"]["from"]) == ("server", "")
        server.reply(Reply(text="ready"))
        assert call(opened, "/try", {})[1]["works"]
        assert KEY not in repr(server.requests)


def test_a_key_that_was_given_for_one_server_is_sent_to_no_other(opened: Services) -> None:
    with MessagesServer() as first, MessagesServer() as second:
        for server in (first, second):
            server.reply(*[Reply(text="ready")] * 3)

        def tried_on(server: MessagesServer) -> Json:
            page = call(opened, "/change", {"changes": {"llm.base_url": server.url, "llm.model": "own"}})[1]
            assert call(opened, "/try", {})[1]["works"]
            who: Json = page["who"]
            return who

        tried_on(first)
        call(opened, "/key", {"key": KEY})
        assert tried_on(first)["key"]["from"] == "visit"
        assert tried_on(second)["key"]["from"] == ""
        assert KEY in repr(first.requests)
        assert KEY not in repr(second.requests)
        assert tried_on(first)["key"]["from"] == "visit"
        assert opened.visits.engine("one").models.writer_name == "own"


@pytest.mark.parametrize("key", ["", "  ", "two words", "naïve", "x" * 500, "a\nb"])
def test_what_is_no_key_is_refused_and_not_repeated(opened: Services, key: str) -> None:
    status, page = call(opened, "/key", {"key": key})
    assert status == 200
    assert page["refused"]["message"] == "This isn’t a key."
    assert not key.strip() or key not in json.dumps(page)
    assert call(opened, "")[1]["who"]["key"]["from"] == ""


@pytest.mark.slow
def test_how_documents_are_read_is_kept_at_once_and_holds_for_the_next_one(opened: Services) -> None:
    scan = pdfs.scanned(pdfs.note(), dpi=100)
    status, page = call(opened, "/reading", {"changes": {"ocr.mode": "off"}})
    assert (status, page["reading"]["ocr.mode"], page["changes"]) == (200, "off", 0)
    assert tomllib.loads((opened.engine.home / "config.toml").read_text()) == {"ocr": {"mode": "off"}}
    doc_id = opened.engine.add(scan, "scan.pdf").doc_id
    report = opened.ingestion.engine.ingest(doc_id)
    assert report.status == "failed"
    assert advice(report.error or {}, opened.engine.settings)["hint"].startswith("OCR is off.")
    half = opened.engine.add(pdfs.joined(pdfs.one_column(), scan), "half.pdf").doc_id
    assert opened.ingestion.engine.ingest(half).status == "ready"
    assert opened.engine.stale() == []
    call(opened, "/reading", {"changes": {"ocr.mode": "auto"}})
    assert opened.engine.stale() == [half], "its second page can be read now"
    assert opened.ingestion.engine.ingest(doc_id).status == "ready"


@pytest.mark.parametrize(
    ("key", "typed", "said"),
    [
        ("ocr.language", "de", ""),
        ("ocr.language", "klingon", "There's no OCR model"),
        ("ocr.language", "", "There's no OCR model"),
        ("ocr.mode", "sometimes", "Must be auto, off or force."),
    ],
)
def test_how_documents_are_read_is_checked(opened: Services, key: str, typed: str, said: str) -> None:
    assert call(opened, "/check", {"key": key, "value": typed})[1]["wrong"].startswith(said)
    status, answer = call(opened, "/reading", {"changes": {key: typed}})
    assert status == 200
    assert ("refused" in answer) == bool(said)
    assert (opened.engine.home / "config.toml").exists() == (not said)
    assert call(opened, "/reading", {"changes": {"ingest.max_pages": "1"}})[0] == 400


def test_what_is_kept_holds_for_what_is_read_afterwards_too(opened: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert opened.ingestion.engine.models.describes_figures
    call(opened, "/change", {"changes": {"llm.model": "offline"}})
    call(opened, "/keep", {})
    assert not opened.ingestion.engine.models.describes_figures, "offline for good: no figure is shown to Claude"


def test_a_visit_that_was_not_used_is_forgotten(tmp_path: Path) -> None:
    with Engine.open(tmp_path, overrides={"llm.model": "auto"}) as engine:
        visits = Visits(lambda: engine)
        visits.set_key("one", KEY)
        assert visits.engine("one") is not engine
        visits._visits["one"].used -= 13 * 3600
        assert visits.engine("one") is engine
        assert visits.key_set("one") == 0
        with pytest.raises(InputError):
            visits.set_key("one", "not a key")
        with pytest.raises(ConfigError):
            visits.change("one", {"retrieve.top_k": -1})
        assert visits.overrides("one") == {}


def test_who_has_no_token_gets_nothing(opened: Services) -> None:
    for path, body in (("", None), ("/key", {"key": KEY}), ("/keep", {})):
        forged = Services(opened.engine, opened.ingestion, opened.answers, opened.renderer, Signer())
        assert call(forged, path, body)[0] == 403


@pytest.mark.parametrize("name", ["bundled:no-such-model", "no-such-provider:x", "nonsense"])
def test_a_reranker_that_cannot_be_loaded_is_not_taken(opened: Services, name: str) -> None:
    call(opened, "/change", {"changes": {"retrieve.top_k": "30"}})
    status, page = call(opened, "/change", {"changes": {"rerank.model": name, "retrieve.top_k": "40"}})
    assert status == 200
    assert name.removeprefix("bundled:") in page["refused"]["message"]
    assert page["refused"]["hint"]
    assert opened.visits.overrides("one") == {"retrieve.top_k": 30}
    with pytest.raises(ConfigError):
        opened.keep({"rerank.model": name})
    assert not (opened.engine.home / "config.toml").exists()
    assert opened.engine.settings.rerank.model != name
    call(opened, "/change", {"changes": {"rerank.model": "none"}})
    assert "refused" not in call(opened, "/keep", {})[1]


def test_a_model_that_does_not_answer_is_not_kept(
    opened: Services, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    server.reply(Reply(status=404, message="no such model"))
    call(opened, "/change", {"changes": {"llm.model": "claude-none"}})
    assert "no such model" in call(opened, "/keep", {})[1]["refused"]["message"]
    assert not (opened.engine.home / "config.toml").exists()
    server.reply(Reply(text="ready"))
    assert "refused" not in call(opened, "/keep", {})[1]
