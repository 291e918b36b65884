"""Web app launcher: ``groundwork`` without a command."""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import sys
from pathlib import Path

import ragcore
from ragcore.errors import ConfigError


def start(options: argparse.Namespace) -> int:
    """Run the app until it is stopped; returns the exit code. ``options`` may hold ``home``, ``port`` and ``browser``
    (False: do not open one). Raises `ConfigError` if the app is not installed."""
    script = app_script()
    if importlib.util.find_spec("streamlit") is None:
        raise ConfigError("The app needs the package `streamlit`.", hint="Install it with `pip install streamlit`.")
    home: Path | None = getattr(options, "home", None)
    if home is not None:
        os.environ["GROUNDWORK_HOME"] = str(home.expanduser().resolve())
    port: int | None = getattr(options, "port", None)
    arguments = ["run", str(script)]
    arguments += [] if port is None else ["--server.port", str(port)]
    arguments += [] if getattr(options, "browser", True) else ["--server.headless", "true"]
    sys.argv = ["streamlit", *arguments]
    try:
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def app_script() -> Path:
    """Path of ``app.py``: in the folder ``groundwork`` beside an installed `ragcore`, or in the checkout. Raises
    `ConfigError`."""
    beside = Path(ragcore.__file__).resolve().parent.parent
    for folder in (beside / "groundwork", beside):
        if (folder / "app.py").is_file() and (folder / "ui").is_dir():
            return folder / "app.py"
    raise ConfigError(
        "This installation lacks the app's files.",
        hint="Reinstall Groundwork, or run `streamlit run app.py` in a clone.",
    )
