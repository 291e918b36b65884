"""How fast is the search for segments, beside the published double loop? Equal results are checked in the same run.

    python -m benchmarks rse [--sizes 1000 10000 100000] [--seconds S]

The double loop is dsRAG's as its description has it (D-Star-AI/dsRAG, MIT): for every pick it goes over every start and
every end, tests each window against every segment taken and every document border, and sums its values anew. It gets
plain Python floats, which it reads faster than NumPy's.

Values come from the presets: 200 ranked chunks of 100-chunk documents, in clumps as neighbours are found together, with
scores that lie at both ends of 0–1 as a calibrated reranker's do. "found" is the usual case: all other chunks are worth
the penalty. "every chunk scored" is the dense one: each chunk has a value, about a third of them positive. Where the
loop would take longer than ``--seconds`` (240), it is timed over the first pick, and the whole is that times the picks,
marked "≈"; equality is then shown for the pick that it made.
"""

from __future__ import annotations

import argparse
import operator
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import table
from ragcore.config.settings import RseSettings, load
from ragcore.retrieve.rse import best_segments, chunk_values
from ui.settings.presets import SEGMENTS

SIZES = (1_000, 10_000, 100_000)
PRESETS = ("balanced", "find all")
DOCUMENT = 100  # chunks of each document
FOUND = 200  # chunks that a query returns
Segment = tuple[int, int, float]

# From Python 3.12 on, sum() over floats is compensated; the published one, over NumPy's, is not.
plain_sum = sum if sys.version_info < (3, 12) else partial(reduce, operator.add)


def double_loop(
    values: Sequence[float],
    bounds: Sequence[int],
    *,
    max_length: int,
    overall_max_length: int,
    minimum_value: float,
    picks: int | None = None,
) -> list[Segment]:
    """The published search for one query; at most ``picks`` segments."""
    taken: list[tuple[int, int]] = []
    chosen: list[Segment] = []
    left = overall_max_length
    n = len(values)
    while left > 0 and (picks is None or len(chosen) < picks):
        best: tuple[int, int] | None = None
        best_value = -1000.0
        for start in range(n):
            if values[start] < 0:
                continue
            for end in range(start + 1, min(start + max_length, n) + 1):
                if values[end - 1] < 0:
                    continue
                if any(start < other_end and end > other_start for other_start, other_end in taken):
                    continue
                if any(start < bound < end for bound in bounds):
                    continue
                if end - start > left:
                    continue
                value = plain_sum(values[start:end])
                if value > best_value:
                    best, best_value = (start, end), value
        if best is None or best_value < minimum_value:
            break
        taken.append(best)
        chosen.append((*best, best_value))
        left -= best[1] - best[0]
    return chosen


def found_values(n: int, settings: RseSettings, rng: np.random.Generator) -> NDArray[np.float64]:
    """The usual case: ``FOUND`` chunks in clumps of up to eight places, each best in its middle."""
    scores = np.zeros(n)
    while np.count_nonzero(scores) < FOUND:
        centre, strength = rng.integers(n), rng.beta(0.4, 0.4)
        for place in range(max(0, centre - 4), min(n, centre + 4)):
            if rng.random() < 0.5:
                scores[place] = max(scores[place], strength * rng.uniform(0.5, 1.0))
    order = np.argsort(-scores, kind="stable")[:FOUND]
    values = np.full(n, -settings.irrelevant_chunk_penalty)
    values[order] = chunk_values(
        np.arange(FOUND),
        scores[order],
        decay_rate=settings.decay_rate,
        irrelevant_chunk_penalty=settings.irrelevant_chunk_penalty,
    )
    return values


def scored_values(n: int, settings: RseSettings, rng: np.random.Generator) -> NDArray[np.float64]:
    """The dense case: every chunk has a score."""
    return chunk_values(
        np.zeros(n),
        rng.beta(0.4, 0.9, n) * 0.6,
        decay_rate=settings.decay_rate,
        irrelevant_chunk_penalty=settings.irrelevant_chunk_penalty,
    )


@dataclass(frozen=True)
class Result:
    ours_ms: float
    loop_ms: float
    whole: bool  # the loop ran to its end
    segments: int
    positive: int

    def cells(self) -> list[object]:
        sign = "" if self.whole else "≈ "
        ratio = self.loop_ms / self.ours_ms
        return [
            self.positive,
            self.segments,
            f"{self.ours_ms:.2f}",
            f"{sign}{self.loop_ms:,.1f}",
            f"{sign}{ratio:,.0f} ×",
        ]


def _timed(run: Callable[[], list[Segment]], times: int = 1) -> tuple[list[Segment], float]:
    """What it gives and the shortest time that it took, in seconds of this process (both searches use one core)."""
    spent = []
    for _ in range(times):
        started = time.process_time()
        result = run()
        spent.append(time.process_time() - started)
    return result, min(spent)


def compare(values: NDArray[np.float64], settings: RseSettings, seconds: float) -> Result:
    """Both searches over the same values. Exits where they differ."""
    lengths = [DOCUMENT] * (len(values) // DOCUMENT)
    bounds = np.cumsum(lengths).tolist()
    limits = (settings.max_length, settings.overall_max_length, settings.minimum_value)
    keys = dict(zip(("max_length", "overall_max_length", "minimum_value"), limits))
    ours, ours_s = _timed(lambda: best_segments([values], lengths, **keys), times=5)
    plain = values.tolist()
    loop, first_s = _timed(lambda: double_loop(plain, bounds, picks=1, **keys))
    # The last round is the one that finds nothing more, unless there is no room left.
    loop_s = first_s * (len(ours) + (sum(end - start for start, end, _ in ours) < limits[1]))
    whole = loop_s <= seconds
    if whole:
        loop, loop_s = _timed(lambda: double_loop(plain, bounds, **keys), times=5 if loop_s < 1.0 else 1)
    if loop != (ours if whole else ours[: len(loop)]):
        sys.exit(f"The two searches differ: {ours} and {loop}")
    return Result(ours_s * 1000, loop_s * 1000, whole, len(ours), int((values >= 0).sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="CHUNKS")
    parser.add_argument("--seconds", type=float, default=240.0, help="longest time for one run of the double loop")
    options = parser.parse_args()
    rows: list[list[object]] = []
    for case, make in (("found", found_values), ("every chunk scored", scored_values)):
        for size in options.sizes:
            for preset in PRESETS:
                settings = load(environ={}, overrides=SEGMENTS[preset])[0].rse
                values = make(size, settings, np.random.default_rng(size))
                rows.append([case, f"{size:,}", preset, *compare(values, settings, options.seconds).cells()])
                print(*rows[-1], file=sys.stderr)
    head = ["values", "chunks", "preset", "of value ≥ 0", "segments", "ours, ms", "double loop, ms", "ratio"]
    print(table(rows, head))


if __name__ == "__main__":
    main()
