"""What does each rule of the offline answerer earn? A set is asked again with one rule switched off at a time.

    python -m benchmarks offline_ablation SET.json ... [--home HOME] [--only NAME ...]

SET.json as for `answers`. Embeddings and relevance are kept from the first round, so that the others take seconds. For
each rule: the questions whose first quote is right, any is, and that are refused; how many got worse or better at the
first quote without it, and how many changed at all. ``intents A-B`` are those numbered so in `intents.toml`, from 0.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.answers import asked, items, named, opened
from benchmarks.common import table
from benchmarks.two_hop import filled
from ragcore.engine import Engine
from ragcore.offline import question
from ragcore.offline.lists import data
from ragcore.providers.bundled import BundledEmbedder, BundledReranker

Told = dict[tuple[str, int], tuple[bool, bool, bool]]  # set, question → first quote right, any, refused

WEIGHTS = "NAMED FIT SPAN YEAR CHANGE HELD UNASKED SMALLER SPLIT AGREED CENTRAL ROUTE SOURCE WORDS"
# The rule → the module that has it, its name there, and what stands in for it.
RULES: dict[str, tuple[str, str, Any]] = {
    **{weight.lower(): ("ranking", f"{weight}_WEIGHT", 0.0) for weight in WEIGHTS.split()},
    "latest": ("ranking", "LATEST", 0.0),
    "certain": ("writer", "certain", lambda *_: None),
    "extreme": ("writer", "extreme", lambda *_: None),
    "holders": ("writer", "holders", lambda *_: []),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--home", type=Path, help="a library to keep the documents in")
    parser.add_argument("--only", nargs="*", help="these rules")
    options = parser.parse_args()
    rules = {name: RULES.get(name) or without_intents(name) for name in options.only or RULES}
    keep(BundledReranker, "_logit")
    keep(BundledEmbedder, "_embed")
    with opened(options.home) as engine:
        whole = answered(engine, options.sets)
        rows = [["all rules", *counts(whole), "", "", ""]]
        for name, rule in rules.items():
            with without(*rule):
                told = answered(engine, options.sets)
            worse, better = (sum(a[0] > b[0] for a, b in pairs(*two)) for two in ((whole, told), (told, whole)))
            rows.append([f"without {name}", *counts(told), worse, better, sum(a != b for a, b in pairs(whole, told))])
    print(table(rows, ("rules", "n", "right first", "anywhere", "refused", "worse", "better", "changed")))


def answered(engine: Engine, sets: list[Path]) -> Told:
    told: Told = {}
    for file in sets:
        given = json.loads(file.read_text("utf-8"))
        ids = filled(engine, named(given))
        for number, (part, kind, item, docs, there) in enumerate(items(given)):
            if not ids.keys() >= set(docs):
                continue
            row = asked(engine, ids, part, kind, item, docs, there, show=False)
            told[file.stem, number] = (row.first, row.anywhere, row.refused)
    return told


def counts(told: Told) -> list[int]:
    return [len(told), *(sum(one[n] for one in told.values()) for n in range(3))]


def pairs(one: Told, other: Told) -> Iterator[tuple[tuple[bool, bool, bool], tuple[bool, bool, bool]]]:
    return ((one[key], other[key]) for key in one)


def without_intents(name: str) -> tuple[str, str, Callable[[], Any]]:
    first, _, last = name.removeprefix("intents ").partition("-")
    given = dict(data())
    given["intent"] = [one for n, one in enumerate(given["intent"]) if not int(first) <= n <= int(last or first)]
    return "intents", "data", lambda: given


@contextmanager
def without(module: str, name: str, instead: Any) -> Iterator[None]:
    """Switch off one rule; what a question was read as is forgotten before and after."""
    question.read.cache_clear()
    try:
        with patch(f"ragcore.offline.{module}.{name}", instead):
            yield
    finally:
        question.read.cache_clear()


def keep(model: type[Any], method: str) -> None:
    """Let ``model`` keep what ``method`` gave."""
    before, given = getattr(model, method), {}

    def kept(self: Any, *asked: str) -> Any:
        if asked not in given:
            given[asked] = before(self, *asked)
        return given[asked]

    setattr(model, method, kept)


if __name__ == "__main__":
    main()
