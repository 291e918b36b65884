"""What is in force, what it cost and what people thought of it: ``config``, ``spending``, ``feedback``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragcore.cli import output as printing
from ragcore.cli.common import print_json
from ragcore.types import json as wire

if TYPE_CHECKING:
    from ragcore.engine import Engine


def spending(engine: Engine, _options: argparse.Namespace, as_json: bool) -> int:
    found = engine.spending()
    if as_json:
        print_json(wire.spending(found))
    else:
        printing.spending(found)
    return 0


def feedback(engine: Engine, _options: argparse.Namespace, as_json: bool) -> int:
    told = engine.feedback.all()
    if as_json:
        print_json(wire.feedback(told))
    else:
        printing.feedback(told)
    return 0


def settings(engine: Engine, _options: argparse.Namespace, as_json: bool) -> int:
    settings = engine.settings.model_dump(mode="json")
    if as_json:
        print_json(
            {
                "home": str(engine.home),
                "settings": settings,
                "origins": engine.origins,
                "hash": engine.settings.hash(),
            }
        )
    else:
        printing.settings(settings, engine.origins)
    return 0
