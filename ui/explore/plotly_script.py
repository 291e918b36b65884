"""Plotly's script, served from its Python package: the browser fetches nothing from the network."""

from __future__ import annotations

from functools import cache
from importlib.metadata import distribution, version
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response


@cache
def plotly_path() -> tuple[str, Path]:
    """URL path and file of Plotly's script, taken from its package without the slow import."""
    script = Path(str(distribution("plotly").locate_file("plotly"))) / "package_data/plotly.min.js"
    return f"/gw/plotly/{version('plotly')}/plotly.min.js", script


def plotly_script(_: Request) -> Response:
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return FileResponse(plotly_path()[1], media_type="text/javascript", headers=headers)
