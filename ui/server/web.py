"""ASGI layer around Streamlit: the page's head, static files, and headers that block foreign requests."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragcore import telemetry
from ragcore.errors import GroundworkError
from ui.gate.access import access, from_here, hosts
from ui.server import visits
from ui.server.bundles import FOR_GOOD, STREAMLIT, TYPES, UI, later, stylesheet
from ui.server.services import whole
from ui.server.warming import warming

PRELOADED = ("inter-latin-wght-normal.woff2", "source-serif-4-latin-wght-normal.woff2")
PATIENCE = 3.0  # seconds
_log = logging.getLogger(__name__)
_asking = threading.Semaphore()  # one look at what may be missing at a time
_reached = ThreadPoolExecutor(1, thread_name_prefix="ready")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BLOCKED = ("/_stcore/metrics",)
# What stands there until the page's script has drawn something; opening.js, which waits for no other script (async),
# takes it away.
OPENING = """<div class="gw-opening"><p class="gw-opening-top"><img src="{root}/assets/mark.svg" alt="" width="20"
height="20"><b>Groundwork</b></p><p class="gw-opening-said" role="status"><span class="gw-spin"></span><span>Opening
Groundwork</span></p></div><script type="module" async src="{root}/assets/opening.js"></script>"""
# What is known before the first paint, so that nothing jumps: whether the page pane is hidden (shared/layout.js), how
# wide it was made (pane/splitter.js), and the theme that was chosen (where Streamlit keeps it).
EARLY = """if(sessionStorage.getItem("gw.pane"))document.documentElement.dataset.gwPane="hidden";
for(const page of["chat","report","grid","check","explore"]){const wide=localStorage.getItem(`gw.pane.${page}`);
if(wide)document.documentElement.style.setProperty(`--pane-${page}`,`${wide}px`)}
document.documentElement.dataset.gwTheme=localStorage.getItem(`stActiveTheme-${location.pathname}-v2`)??"" """


@cache
def _static_files() -> dict[str, Path]:
    """Servable files by URL path."""
    return {p.relative_to(UI).as_posix(): p for p in sorted(UI.rglob("*")) if p.suffix in TYPES and p.is_file()}


@cache
def static_root() -> str:
    """Path below which `static_file` serves, containing a hash of all files so that browsers may cache them."""
    digest = hashlib.sha256(stylesheet())
    for name, path in _static_files().items():
        digest.update(name.encode() + path.read_bytes())
    return f"/gw/static/{digest.hexdigest()[:12]}"


def static_file(request: Request) -> Response:
    path = _static_files().get(request.path_params["path"])
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, media_type=TYPES[path.suffix], headers=FOR_GOOD)


def styles(_: Request) -> Response:
    return Response(stylesheet(), media_type="text/css", headers=FOR_GOOD)


@cache
def index_html(prefix: str) -> str:
    """Streamlit's page with the app's title, fonts and styles in its head, so that the first paint is already ours."""
    html = (STREAMLIT / "index.html").read_text(encoding="utf-8")
    html = re.sub(r"<link\s+rel=\"preload\"[^>]*as=\"font\"[^>]*/?>", "", html)
    html = re.sub(r"<link rel=\"shortcut icon\"[^>]*/>", "", html)
    html = re.sub(r"<link rel=\"service-desc\"[^>]*/>", "", html)
    html = html.replace("<title>Streamlit</title>", "<title>Groundwork</title>")
    root = prefix + static_root()
    # One address for Streamlit's client, which would otherwise try every part of the page's path and log each failure.
    head = [f'<script>window.__streamlit={{BACKEND_BASE_URL:location.origin+"{prefix}/"}}</script>']
    head += [f"<script>{EARLY}</script>"]
    head += [f'<link rel="icon" type="image/svg+xml" href="{root}/assets/mark.svg">']
    head += [
        f'<link rel="preload" as="font" type="font/woff2" crossorigin href="{root}/assets/fonts/{name}">'
        for name in PRELOADED
    ]
    head += [f'<link rel="stylesheet" href="{root}/styles.css">']
    head += [f'<link rel="modulepreload" fetchpriority="low" href="{prefix}/static/js/{name}">' for name in later()]
    head += [f'<script type="module" async src="{root}/assets/gone.js"></script>']
    html = html.replace("</head>", "\n".join(head) + "\n</head>")
    return html.replace('<div id="root">', OPENING.format(root=root) + '\n    <div id="root">')


@cache
def content_security_policy(prefix: str) -> str:
    """Policy that allows this server only; the page's inline scripts are named by hash."""
    scripts = re.findall(r"<script>(.*?)</script>", index_html(prefix), re.S)
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob: {hashes}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'self'",
        )
    )


class Headers:
    """ASGI middleware: security headers on every response, and 404 for paths that are not public."""

    def __init__(self, app: ASGIApp, prefix: str = "") -> None:
        self.app = app
        self.policy = content_security_policy(prefix).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"].endswith(BLOCKED):
            await Response("Not found", 404)(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    (b"content-security-policy", self.policy),
                    (b"cross-origin-opener-policy", b"same-origin"),
                    (b"cross-origin-resource-policy", b"same-origin"),
                    (b"referrer-policy", b"same-origin"),
                    (b"x-content-type-options", b"nosniff"),
                ]
                if not any(name.lower() == b"cache-control" for name, _ in message["headers"]):
                    message["headers"].append((b"cache-control", b"no-store"))  # documents are nobody's to keep
            await send(message)

        await self.app(scope, receive, with_headers)


class Measured:
    """ASGI middleware that measures how long each request takes, by the pattern of its route, one of ``routes``: what
    stands for its parameters is not told."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self.app = app
        self.routes = [route for route in routes if isinstance(route, Route)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        route = next((one.path for one in self.routes if one.path_regex.match(scope["path"])), "others")
        began, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "_OTHER"
            said = {"http.request.method": method, "http.route": route, "http.response.status_code": status}
            telemetry.took("http.server.request", time.perf_counter() - began, **said)


class OwnOrigin:
    """ASGI middleware that refuses requests and WebSockets from other sites.

    A site may point its own name at this machine (DNS rebinding), so ``Host`` must be one of ``server.allowedHosts``. A
    page of another origin, including another port, may open a WebSocket, so ``Origin`` must match the host where the
    browser sends it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
        if not from_here(asked):
            said = "Without sign-in, the app answers this machine only. See docs/team.md."
        elif not _answers_to(host):
            said = f"{host[:100]!r} isn't an allowed host. Add it to server.allowedHosts in .streamlit/config.toml."
        elif origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
            said = "Another web site sent this request."
        else:
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
        else:
            await Response(said, 403)(scope, receive, send)


def _answers_to(host: str) -> bool:
    """Whether ``host`` (any port) is a name of the app."""
    try:
        parts = urlsplit(f"//{host}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not name or parts.netloc != host or "@" in host:
        return False
    name = name.rstrip(".")
    return any(one in ("*", name) or (one.startswith("*.") and name.endswith(one[1:])) for one in hosts())


def ready(_: Request) -> Response:
    """For a balancer: 200 once questions can be answered, else 503 with what is missing, within `PATIENCE`."""
    if not _asking.acquire(timeout=PATIENCE):
        return PlainTextResponse("database\n", 503)  # it does not answer the question before
    asked = _reached.submit(_lacking)
    asked.add_done_callback(lambda _: _asking.release())
    try:
        lacks = asked.result(PATIENCE)
    except TimeoutError:
        lacks = "database"
    return PlainTextResponse(f"{lacks or 'ready'}\n", 503 if lacks else 200)


def _lacking() -> str:
    """What is missing: ``library``, ``models``, ``database``, ``files``, "" for nothing."""
    lacks = "library"
    try:
        store = whole().base.store
        lacks = "database"
        store.revision()
        lacks = "files"
        store.files.reach()
    except GroundworkError as error:
        _log.error("Not ready: %s %s", error.message, error.hint)
        return lacks
    return "models" if warming.loading else ""


def routes(pages: Sequence[str], prefix: str = "") -> list[BaseRoute]:
    """The app's pages (paths from the root, ``""`` for the first) and static files."""

    def index(request: Request) -> Response:
        page = HTMLResponse(index_html(prefix), headers={"Cache-Control": "no-cache"})
        if access().accounts is None:
            visits.greet(request, page, prefix)
        warming.asked()
        return page

    return [
        *(Route(f"{prefix}/{page}", index) for page in pages),
        Route(f"{prefix}/readyz", ready),
        Route(f"{prefix}/gw/static/{{version:str}}/styles.css", styles),
        Route(f"{prefix}/gw/static/{{version:str}}/{{path:path}}", static_file),
    ]
