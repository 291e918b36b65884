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
    """Run the app until it is stopped; returns the exit code. Raises `ConfigError` if the app is not installed."""
    script = app_script()
    if importlib.util.find_spec("streamlit") is None:
        raise ConfigError("The app needs the package `streamlit`.", hint="Install it with `pip install streamlit`.")
    if options.home is not None:
        os.environ["GROUNDWORK_HOME"] = str(options.home.expanduser().resolve())
    port = [] if options.port is None else ["--server.port", str(options.port)]
    headless = [] if options.browser else ["--server.headless", "true"]
    sys.argv = ["streamlit", "run", str(script), *port, *headless]
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
