"""What a page on screen asks of a document that another window has removed: it is told so, and nothing fails."""

from __future__ import annotations

import json

import pytest

from tests.ui.asgi import ask, token
from ui.server import routes
from ui.server.services import Services


@pytest.mark.parametrize(
    "asked",
    ["", "/pages/1.png", "/pages/1/words", "/pages/1/tiles/2560/0-0.png", "/outline", "/find", "/pages/1/found"],
)
def test_a_removed_document_is_no_error(opened: Services, asked: str) -> None:
    status, _, body = ask(routes.routes(), f"/gw/documents/gone{asked}", f"{token(opened)}&w=640&q=it")
    assert (status, json.loads(body)) == (200, {"removed": True})


def test_only_who_has_a_token_is_told(opened: Services) -> None:
    assert ask(routes.routes(), "/gw/documents/gone", "t=forged")[0] == 403
