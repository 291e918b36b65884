"""Links in the head of every page: the app's style sheets as one bundle, and preloads of Streamlit's scripts that
would otherwise be requested only when drawn."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

import streamlit

UI = Path(__file__).resolve().parents[1]
STYLES = (
    "assets/tokens.css",
    "assets/icons/icons.css",
    "assets/parts.css",
    "assets/opening.css",
    "assets/gone.css",
    "assets/streamlit.css",
    "components/switcher/switcher.css",
    "components/thread/thread.css",
    "components/thread/start.css",
    "components/topic/topic.css",
    "components/history/history.css",
    "components/pane/pane.css",
    "components/reader/reader.css",
    "components/library/library.css",
    "components/library/document.css",
    "components/scope/scope.css",
    "components/filters/filters.css",
    "components/checks/checks.css",
    "components/check/check.css",
    "components/grids/grids.css",
    "components/grid/grid.css",
    "components/reports/reports.css",
    "components/report/report.css",
    "components/settings/settings.css",
    "components/explore/explore.css",
    "components/evaluate/evaluate.css",
    "gate/sign_in.css",
    "assets/first_run.css",
)
TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".png": "image/png",
}
# Streamlit's elements on a first page, whose scripts it would fetch only when the page's script names them.
ELEMENTS = ("Html", "Button", "BidiComponent", "FileUploader", "ChatInput")
STREAMLIT = Path(streamlit.__file__).parent / "static"
FOR_GOOD = {"Cache-Control": "public, max-age=31536000, immutable"}

_IMPORT = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
_ADDRESS = re.compile(r'url\("(?!data:|#)([^"]+)"\)')


@cache
def stylesheet() -> bytes:
    """All of `STYLES` as one sheet for a URL in `UI`: one request before the first paint instead of one each."""
    return "\n".join(_moved(style) for style in STYLES).encode()


def _moved(style: str) -> str:
    """Style sheet with its URLs rewritten relative to `UI`."""
    folder = posixpath.dirname(style)
    text = (UI / style).read_text(encoding="utf-8")
    return _ADDRESS.sub(lambda found: f'url("{posixpath.normpath(posixpath.join(folder, found[1]))}")', text)


@cache
def later() -> tuple[str, ...]:
    """Names of the scripts of `ELEMENTS` and their imports, less those that Streamlit's page already names."""
    folder = STREAMLIT / "static" / "js"
    known = set(re.findall(r"static/js/([\w.-]+\.js)", (STREAMLIT / "index.html").read_text(encoding="utf-8")))
    found: list[str] = []
    wanted = [path.name for name in ELEMENTS for path in folder.glob(f"{name}.*.js")]
    for name in wanted:
        if name not in known:
            known.add(name)
            found.append(name)
            wanted += _IMPORT.findall((folder / name).read_text(encoding="utf-8"))
    return tuple(found)
