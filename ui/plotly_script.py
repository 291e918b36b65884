"""Plotly's own script, served from where the package has it: no request leaves the machine for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response


@cache
def plotly_path() -> tuple[str, Path]:
    """Below which path Plotly's script is served, and where it lies: it comes with the package."""
    import plotly

    return f"/gw/plotly/{plotly.__version__}/plotly.min.js", Path(plotly.__file__).parent / "package_data/plotly.min.js"


def plotly_script(_: Request) -> Response:
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return FileResponse(plotly_path()[1], media_type="text/javascript", headers=headers)
