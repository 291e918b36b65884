"""The pictures of pages, as a browser asks for them: drawn, refused, and given up when it has gone."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from PIL import Image
from starlette.applications import Starlette

from ragcore.errors import ParseTimeout
from tests import pdfs
from tests.ui.asgi import ask, token
from ui.server import routes
from ui.server.services import Services


@pytest.fixture(scope="module")
def doc_id(opened: Services) -> str:
    return opened.engine.add(pdfs.one_column(), "survey.pdf").doc_id


def test_a_page_comes_as_a_picture_that_may_be_kept(opened: Services, doc_id: str) -> None:
    status, headers, body = ask(routes.routes(), f"/gw/documents/{doc_id}/pages/1.png", "w=600", headers=token(opened))
    assert (status, headers["content-type"]) == (200, "image/png")
    assert "immutable" in headers["cache-control"]
    with Image.open(io.BytesIO(body)) as picture:
        assert picture.width == 640


@pytest.mark.parametrize("query", ["w=", "w=-1", "w=many", "w=1000000"])
def test_there_is_no_picture_of_any_other_width(query: str, opened: Services, doc_id: str) -> None:
    status, _, body = ask(routes.routes(), f"/gw/documents/{doc_id}/pages/1.png", query, headers=token(opened))
    assert status == 400
    assert "This picture doesn’t exist.".encode() in body


def test_what_cannot_be_drawn_is_said(opened: Services, doc_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: Future[bytes] = Future()
    failed.set_exception(ParseTimeout("Page 1 took longer than 20 s to draw.", hint="Open it elsewhere."))
    monkeypatch.setattr(opened.renderer, "page", lambda *_: failed)
    status, _, body = ask(routes.routes(), f"/gw/documents/{doc_id}/pages/1.png", "w=640", headers=token(opened))
    assert status == 500
    assert b"took longer" in body


def test_a_picture_of_a_document_removed_meanwhile_says_so(opened: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = opened.engine.add(pdfs.ruled_table(), "table.pdf").doc_id
    draw = opened.renderer.page

    def page(*given: Any) -> Future[bytes]:
        opened.engine.remove(removed)  # by another process, after this one has looked the file up
        return draw(*given)

    monkeypatch.setattr(opened.renderer, "page", page)
    status, headers, body = ask(routes.routes(), f"/gw/documents/{removed}/pages/1.png", "w=640", headers=token(opened))
    assert (status, headers["content-type"], json.loads(body)) == (200, "application/json", {"removed": True})


def test_a_browser_that_leaves_takes_its_wish_back(
    opened: Services, doc_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: Future[bytes] = Future()
    asked = threading.Event()

    def page(*_: Any) -> Future[bytes]:
        asked.set()
        return waiting

    monkeypatch.setattr(opened.renderer, "page", page)
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}])
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/gw/documents/{doc_id}/pages/1.png",
        "raw_path": b"",
        "query_string": b"w=640",
        "headers": [(name.encode(), value.encode()) for name, value in token(opened).items()],
        "root_path": "",
    }

    async def receive() -> dict[str, Any]:
        while not asked.is_set():
            await asyncio.sleep(0.01)
        return next(messages)

    async def send(_: Any) -> None:
        pass

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, Starlette(routes=routes.routes())(scope, receive, send)).result(30)
    assert waiting.cancelled()
