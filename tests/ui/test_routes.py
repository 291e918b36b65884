"""What a page on screen asks of what another window has removed: it is told so, and nothing fails."""

from __future__ import annotations

import json

import pytest

from ragcore.report.template import from_data
from tests.ui.asgi import ask, token
from ui.server import routes
from ui.server.guard import TOKEN_HEADER
from ui.server.services import Services


@pytest.mark.parametrize(
    "asked",
    ["", "/pages/1.png", "/pages/1/words", "/pages/1/tiles/2560/0-0.png", "/sections", "/find", "/pages/1/found"],
)
def test_a_removed_document_is_no_error(opened: Services, asked: str) -> None:
    status, _, body = ask(routes.routes(), f"/gw/documents/gone{asked}", "w=640&q=it", headers=token(opened))
    assert (status, json.loads(body)) == (200, {"removed": True})


def test_only_who_has_a_token_is_told(opened: Services) -> None:
    assert ask(routes.routes(), "/gw/documents/gone", "t=forged")[0] == 403


@pytest.mark.parametrize("what", ["about", "expense", "sections/{section}/versions", "export.md", "export.template"])
def test_a_report_that_another_tab_deleted_is_not_found(opened: Services, what: str) -> None:
    desk = opened.engine.reports
    report = desk.new(from_data({"title": "Survey", "sections": [{"heading": "Wells"}]}))
    section = desk.get(report).sections[0].section_id
    path = f"/gw/reports/{report}/{what.format(section=section)}"
    if what in ("about", "sections/{section}/versions", "export.template"):
        assert ask(routes.routes(), path, headers=token(opened))[0] == 200
    desk.store.delete(report)
    status, _, body = ask(routes.routes(), path, headers=token(opened))
    error = json.loads(body)["error"]
    assert (status, error["code"]) == (404, "unknown_section" if "section" in what else "unknown_report")
    assert error["message"].startswith("This ")


def test_a_place_in_a_removed_document_is_refused_without_a_command(opened: Services) -> None:
    desk = opened.engine.reports
    report = desk.new(from_data({"title": "Survey", "sections": [{"heading": "Wells"}]}))
    section = desk.get(report).sections[0].section_id
    body = {"pinned": True, "doc": "gone", "start": 0, "end": 1, "around": True}
    path = f"/gw/reports/{report}/sections/{section}/places"
    status, _, said = ask(routes.routes(), path, headers={TOKEN_HEADER: opened.signer.token("s")}, body=body)
    assert status == 200
    assert "groundwork" not in json.loads(said)["refused"]["hint"]


def test_who_follows_an_answer_that_nobody_writes_any_more_is_told_so(opened: Services) -> None:
    turn = opened.engine.conversations.add_turn(opened.engine.conversations.new(), "Which crew sampled the wells?")
    for which in (turn, "unknown"):
        status, headers, body = ask(routes.routes(), f"/gw/answers/{which}/events", headers=token(opened))
        assert (status, headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
        assert body.startswith(b"event: gone")
