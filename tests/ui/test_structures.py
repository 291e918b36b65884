"""Trees and graphs on the Settings page: nothing is sent before its cost is seen; building runs in the background."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from tests import prepared
from tests.messages_server import MessagesServer, Reply
from tests.ui.asgi import ask
from ui.chat.runs import Answers
from ui.library.jobs import Ingestion
from ui.server import services as services_module
from ui.server.guard import TOKEN_HEADER
from ui.server.services import Services
from ui.server.tokens import Signer
from ui.settings import routes as settings_routes
from ui.viewer.render import Renderer

Json = dict[str, Any]


@pytest.fixture
def opened(surveyed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    engine = Engine.open(home=prepared.copied(surveyed, tmp_path / "home"), overrides={"llm.retries": 0})
    renderer = Renderer(tmp_path / "pages")
    made = Services(engine, Ingestion(engine, removed=renderer.forget), Answers(engine), renderer, Signer())
    services_module._opened.append(made)
    yield made
    services_module.close()


def call(made: Services, path: str = "", body: Json | None = None, query: str = "") -> Json:
    headers = {TOKEN_HEADER: made.signer.token("one")}
    at = f"/gw/settings/structures{path}"
    status, _, answer = ask(settings_routes.routes(), at, query, headers=headers, body=body)
    assert status == 200
    found: Json = json.loads(answer)
    return found


def relations(page: Json) -> Json:
    (found,) = [one for one in page["structures"] if one["name"] == "relations"]
    return dict(found)


def ended(made: Services) -> Json:
    until = time.monotonic() + 60
    while (page := call(made))["job"]["running"] and time.monotonic() < until:
        time.sleep(0.05)
    assert not page["job"]["running"]
    return page


def test_what_there_is_and_that_relations_need_a_key(opened: Services) -> None:
    page = call(opened)
    assert page["job"] is None
    states = {one["name"]: (one["state"], one["fixed"], one["paid"]) for one in page["structures"]}
    assert states["graph"] == ("ready", True, False)
    assert states["relations"] == ("not built", False, True)
    for path in ("/estimate", "/build"):
        assert "ANTHROPIC_API_KEY" in call(opened, path, {"name": "relations"})["refused"]["hint"]
    assert "Choose one of" in call(opened, "/build", {"name": "forest"})["refused"]["hint"]
    assert "part of the index" in call(opened, "/forget", {"name": "graph"})["refused"]["message"]
    assert call(opened)["job"] is None


def test_they_are_estimated_read_in_the_background_and_forgotten(
    opened: Services, key: None, server: MessagesServer
) -> None:
    assert call(opened, "/estimate", {})["words"].startswith("About ")
    assert server.requests == []
    page = call(opened, "/build", {"name": "relations"})
    assert (page["job"]["name"], page["job"]["error"]) == ("relations", None)
    assert relations(ended(opened))["state"] == "ready"
    assert server.requests
    assert call(opened, "/estimate", {})["words"] == "Nothing has to be sent."
    assert relations(call(opened, "/forget", {"name": "relations"}))["state"] == "not built"


def test_one_at_a_time_and_a_stop_keeps_what_is_there(opened: Services, key: None, server: MessagesServer) -> None:
    server.plan(*(Reply(tool=("list_entities", {"entities": [], "relations": []}), first_delay=5.0) for _ in range(3)))
    call(opened, "/build", {"name": "relations"})
    assert server.asked.wait(20)
    assert set(call(opened, query="job=1")) == {"job"}
    assert "Another one" in call(opened, "/build", {"name": "relations"})["refused"]["message"]
    assert "Stop it" in call(opened, "/forget", {"name": "relations"})["refused"]["hint"]
    assert call(opened, "/stop", {})["job"]["stopping"]
    assert ended(opened)["job"]["words"] == ["Stopped. What was built is kept."]


def test_a_refused_key_is_said(opened: Services, key: None, server: MessagesServer) -> None:
    server.plan(*(Reply(status=401, message="invalid x-api-key") for _ in range(3)))
    call(opened, "/build", {"name": "relations"})
    assert ended(opened)["job"]["error"]["code"] == "key_refused"
