"""How Explore follows as the library grows: ``python -m benchmarks explore [--sizes 1000,10000,100000] [--home DIR]``.

Synthetic documents, as for ``scale``, whose vectors are made from the chunk's number; the question is embedded and
reranked by the bundled models. ``--home`` measures a library that is there instead (it is only read). Told are: the
raw arrays of the first question and of the next one, which finds the chunks' places known; the first fusion, which
reads passages, and what is shown until it is there; a move of each slider to values it had not before, and to the same
again; the figures as they are sent, their size and points; the map.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common import table
from benchmarks.scale import PER_DOCUMENT, Made, Words, put
from ragcore.engine import Engine
from ragcore.explore.explore import Exploration
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.types import Scope
from ui.explore import figures
from ui.explore.figure_axis import Axis

MOVES: tuple[tuple[str, str, list[float]], ...] = (
    ("penalty", "rse.irrelevant_chunk_penalty", [0.1, 0.15, 0.2, 0.3, 0.35]),
    ("decay", "rse.decay_rate", [10.0, 20.0, 40.0, 80.0, 120.0]),
    ("alpha", "retrieve.alpha", [0.2, 0.3, 0.5, 0.6, 0.7]),
)


class Named(Made):
    """`Made` under the name of the embedder in force, so that an engine takes its vectors."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def build(home: Path, size: int) -> None:
    with Engine.open(home) as engine:
        settings = engine.settings
    store, made = Store(home), Named(settings.index.embedder)
    words = Words()
    for number in range(max(1, size // PER_DOCUMENT)):
        put(store, words, number)
    Indexer(store, made, settings.index).update()
    store.database.close()


def measure(home: Path, question: str) -> dict[str, Any]:
    with Engine.open(home) as engine:
        engine.warm()
        titles = {info.doc_id: info.title for info in engine.documents()}
        # Synthetic documents have no recipe of the settings in force, which `Engine.explore` asks for.
        arrays, exploration = timed(lambda: Exploration(engine, question, Scope()))
        first, found = timed(lambda: exploration.under({}))
        out: dict[str, Any] = {"chunks": len(exploration.outline), "arrays": arrays, "first": first, "read": found.read}
        after = f"{question} b"
        out["arrays, next question"], other = timed(lambda: Exploration(engine, after, Scope()))
        out["its searches alone"], _ = timed(lambda: other.under({"rerank.model": "none"}))
        for name, key, values in MOVES:
            new = [timed(lambda key=key, value=value: exploration.under({key: value})) for value in values]
            again = [timed(lambda key=key, value=value: exploration.under({key: value}))[0] for value in values]
            out[f"{name}, new"] = Took(*(statistics.median(column) for column in zip(*(took for took, _ in new))))
            out[f"{name}, again"] = Took(*(statistics.median(column) for column in zip(*again)))
            out[f"{name} read"] = sum(moved.read for _, moved in new)
        axis = Axis.around([found], exploration.outline)
        for name, of in (("documents", None), ("passages", axis)):
            written = [timed(lambda of=of: json.dumps(figures.relevance(found, exploration, titles, axis=of)))]
            written += [timed(lambda of=of: json.dumps(figures.relevance(found, exploration, titles, axis=of)))]
            out[f"figure of {name}"], figure = written[-1]
            out[f"its KB, {name}"] = len(figure) / 1024
        out["points"] = len(found.points)
        out["map"], projection = timed(exploration.projection)
        out["figure of the map"], shown = timed(
            lambda: json.dumps(figures.chart_map(found, exploration, projection, titles, colour="documents"))
        )
        out["its KB, map"] = len(shown) / 1024
        return out


class Took(NamedTuple):
    """Milliseconds on the clock, and of the processor (all threads), which other work does not change."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:,.0f} ({self.processor:,.0f})"


def timed(work: Callable[[], Any]) -> tuple[Took, Any]:
    """What it took, and what came out."""
    clock, processor = time.perf_counter(), time.process_time()
    made = work()
    return Took((time.perf_counter() - clock) * 1000.0, (time.process_time() - processor) * 1000.0), made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--question", default="")
    given = parser.parse_args()
    results = []
    if given.home:
        results.append(measure(given.home, given.question or "How did revenue change?"))
    for size in [] if given.home else [int(part) for part in given.sizes.split(",")]:
        with tempfile.TemporaryDirectory() as folder:
            build(Path(folder), size)
            results.append(measure(Path(folder), given.question or " ".join(Words().of(7, 12))))
    names = list(results[0])
    rows = [
        [name, *(str(of[name]) if isinstance(of[name], Took) else f"{of[name]:,.0f}" for of in results)]
        for name in names
    ]
    print(table(rows, ["ms on the clock (of the processor)", *(f"{result['chunks']:,} chunks" for result in results)]))


if __name__ == "__main__":
    main()
