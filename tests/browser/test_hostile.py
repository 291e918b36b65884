"""Other web sites and hostile documents: none reads, asks or runs anything in the app."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pymupdf
import pytest

from ragcore.engine import Engine
from ragcore.report.template import from_data
from tests.browser.conftest import App, go, lent
from ui.server import web

HOSTILE = '<img src=x onerror="window.ran=1"><script>window.ran=2</script>“&amp;</b>'
ATTEMPTS = """async (app) => {
  const opened = new Promise((done) => {
    const socket = new WebSocket(`${app.replace("http", "ws")}/_stcore/stream`);
    socket.onopen = () => done("opened");
    socket.onerror = () => done("refused");
  });
  const drawn = new Promise((done) => {
    const picture = new Image();
    picture.onload = () => done("drawn");
    picture.onerror = () => done("refused");
    picture.src = `${app}MARK`;
  });
  const sent = fetch(`${app}/gw/library`, {mode: "no-cors"}).then((got) => got.type, () => "refused");
  return [await opened, await drawn, await sent];
}""".replace("MARK", f"{web.static_root()}/assets/mark.svg")


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of another program's page on this machine."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>Elsewhere</title>")

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_page_on_another_port_of_this_machine_gets_nothing(app: App, browser: Any, elsewhere: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(app.url)  # so that the browser has the visit's cookie
        page.goto(elsewhere)
        assert page.evaluate(ATTEMPTS, app.url) == ["refused"] * 3


def test_what_documents_and_people_write_is_never_run(app: App, open_page: Callable[..., Any]) -> None:
    file = pymupdf.open()
    page = file.new_page()
    page.insert_text((72, 90), "Annual report", fontsize=22)
    page.insert_text((72, 130), f"The highest reading was 12 mg {HOSTILE}.", fontsize=9)
    file.set_metadata({"title": HOSTILE})
    name = f"{HOSTILE.replace('/', '')}.pdf"
    with (
        lent(app, {name: file.tobytes()}) as (doc_id,),
        Engine.open(app.home, overrides={"llm.model": "offline"}) as engine,
    ):
        engine.shelf.tag([doc_id], add=[HOSTILE[:40]])
        engine.shelf.put([doc_id], HOSTILE.replace("/", "")[:40])
        talk = engine.conversations.new()
        engine.chat(talk, f"What was the highest reading {HOSTILE}?").run()
        engine.conversations.rename(talk, HOSTILE)
        report = engine.reports.new(from_data({"title": HOSTILE, "sections": [{"heading": HOSTILE}]}))
        shown = open_page(f"{app.url}/?c={talk}")
        for name, ready in {"": ".gw-flow", "Library": "tr[data-status]", "Reports": ".gw-reports .card"}.items():
            if name:
                go(shown, name)
            shown.locator(ready).first.wait_for()
            shown.get_by_text("onerror=").locator("visible=true").first.wait_for()
            assert shown.evaluate("[window.ran, document.querySelectorAll('img[src=x]').length]") == [None, 0]
        engine.conversations.delete(talk)
        engine.reports.store.delete(report)
