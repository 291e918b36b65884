"""Commands that evaluate answers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragcore.cli.common import show

if TYPE_CHECKING:
    from ragcore.engine import Engine


def score(_: Engine, options: argparse.Namespace) -> int:
    from ragcore.evaluate.ragchecker import averages, read_checked

    checked = read_checked(options.file)
    groups = averages(checked)
    lines = [f"{len(checked)} {'response' if len(checked) == 1 else 'responses'}, means in per cent:"]
    for group, metrics in groups.items():
        lines.append(group.removesuffix("_metrics").capitalize())
        lines += [f"  {name.replace('_', ' '):32}{mean:6.1f}" for name, mean in metrics.items()]
    show(options, lambda: groups, lines)
    return 0
