"""What each preset of the Settings page costs: the time of an answer, what it reads, and what it would send.

    python -m benchmarks presets --home HOME [--set financebench-dev] [--questions 20] [--repeats 3]

``--home`` is a home into which documents of the set were ingested and indexed. Each question is asked of the whole
library under each preset in turn, so that other work on the machine falls on all of them alike, and searched for and
written anew each time by the offline answerer: ``answer`` is its whole time, ``find`` what of it was retrieval.
``ratio`` is the median of each question's time beside its time under the first preset. Step by step is not
measured: its time is that of its model's calls.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from benchmarks.common import questions, table
from ragcore.engine import Engine
from ragcore.types import Retrieval
from ui.settings.presets import PRESETS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--set", default="financebench-dev")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    with Engine.open(options.home, overrides={"llm.model": "offline"}) as engine:
        engine.warm()
        names = {info.name for info in engine.documents() if info.indexed}
        asked = [one["question"] for one in questions(options.set) if one["doc"] in names][: options.questions]
        under = {preset.title: engine.with_settings(preset.values) for preset in PRESETS if not preset.model}
        took: dict[str, list[list[float]]] = {title: [[] for _ in asked] for title in under}
        find: dict[str, list[float]] = {title: [] for title in under}
        read: dict[str, list[int]] = {title: [] for title in under}
        for question in asked:  # documents are opened, models loaded
            engine.ask(question).run()
        for _ in range(options.repeats):
            for number, question in enumerate(asked):
                for title, own in under.items():
                    started = time.perf_counter()
                    found = own.retrieve(question)
                    find[title].append(time.perf_counter() - started)
                    read[title].append(_characters(found))
                    started = time.perf_counter()
                    own.ask(question).run()
                    took[title][number].append(time.perf_counter() - started)
    first = [statistics.median(times) for times in next(iter(took.values()))]
    rows = []
    for title, each in took.items():
        times = [statistics.median(one) for one in each]
        ratio = statistics.median(own / base for own, base in zip(times, first, strict=True))
        found_in = statistics.median(find[title])
        rows.append(
            (
                title,
                f"{statistics.median(times) * 1000:.0f}",
                f"{ratio:.2f}",
                f"{found_in * 1000:.0f}",
                f"{statistics.mean(read[title]):,.0f}",
            )
        )
    print(f"{len(asked)} questions, {options.repeats} times each")
    print(table(rows, ("preset", "answer, ms", "ratio", "find, ms", "characters found")))


def _characters(found: Retrieval) -> int:
    return sum(segment.end - segment.start for segment in found.segments)
