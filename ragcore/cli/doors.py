"""Command ``mcp``: a door for programs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragcore.engine import Engine


def mcp(engine: Engine, options: argparse.Namespace) -> int:
    from ragcore.serve.mcp import run

    run(engine, options.allow)
    return 0
