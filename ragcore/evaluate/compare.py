"""Paired comparison of two runs of one set: differences by question, with intervals, and what can't be chance.

Questions about one document are drawn together (cluster bootstrap; Field and Welsh 2007): they share its layout and its
words. P-values come of sign flips of whole clusters; several measures at once are corrected by Holm's method (1979).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import InputError
from ragcore.evaluate.cases import Case
from ragcore.evaluate.measures import MEASURES
from ragcore.evaluate.runs import Evaluated
from ragcore.text.numbers import plural

DRAWS, SEED = 10_000, 0
INTERVAL = (2.5, 97.5)  # percentiles
SURE = 0.05  # corrected p-value under which a difference is clear
_POWER = 2.8  # standard errors of the least difference that a set shows, at 5% and a power of .8

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of the second run from the first in one ``measure``, over the ``n`` questions that define it: its
    mean, the ``low`` and ``high`` end of its 95% interval, its p-value (corrected, if it is one of several), the
    numbers of questions that the second does ``better`` and ``worse``, and the ``least`` difference that such a set
    could show."""

    measure: str
    n: int
    first: float
    second: float
    low: float
    high: float
    p: float
    better: int
    worse: int
    least: float

    @property
    def mean(self) -> float:
        return self.second - self.first

    def signed(self, value: float) -> str:
        """Difference in its measure as printed: in points for shares."""
        return f"{100.0 * value:+.1f}" if MEASURES[self.measure].share else f"{value:+.3f}"

    @property
    def clear(self) -> bool:
        return self.p < SURE and self.mean != 0.0

    @property
    def improved(self) -> bool:
        return self.mean * (-1.0 if MEASURES[self.measure].better == "lower" else 1.0) > 0.0


def compared(first: Evaluated, second: Evaluated, wanted: Collection[str] = ()) -> list[Difference]:
    """Differences of the measures that both runs have, or of those ``wanted``, in the order of `MEASURES`. Chance is
    corrected for their number, for those of each judge apart. Raises `InputError` for runs of different sets, an
    answered one beside a search, or without a question in common."""
    cases = in_both(first, second)
    shared = [case for case in cases if case.case_id in first.measures and case.case_id in second.measures]
    if not shared:
        raise InputError("The runs have no question in common.", hint="Let both run on.")
    names = [name for name in MEASURES if (not wanted or name in wanted) and together(name, first, second)]
    found = [one for name in names if (one := _difference(name, shared, first.measures, second.measures))]
    for judge in {MEASURES[one.measure].judge for one in found}:
        family = [place for place, one in enumerate(found) if MEASURES[one.measure].judge == judge]
        least = 0.0
        for rank, place in enumerate(sorted(family, key=lambda place: found[place].p)):
            least = max(least, min(1.0, found[place].p * (len(family) - rank)))
            found[place] = replace(found[place], p=least)
    return found


def together(name: str, *runs: Evaluated) -> bool:
    """Whether these runs can stand side by side in a measure: all, or those of a judge, if one judge judged all."""
    kind = MEASURES[name].judge
    return not kind or len({run.judges.get(kind) for run in runs}) == 1


def in_both(first: Evaluated, second: Evaluated) -> list[Case]:
    """Cases that two runs share: one's own set may have grown or changed between them. Raises `InputError` as
    `compared`."""
    if first.info.group != second.info.group:
        raise InputError("The runs are of different sets.", hint="Compare two runs of one set.")
    if first.info.searched != second.info.searched:
        raise InputError("One of the runs only searched, the other wrote answers.", hint="Compare two of one kind.")
    others = {case.case_id: case for case in second.cases}
    return [case for case in first.cases if others.get(case.case_id) == case]


def _difference(
    name: str,
    cases: Sequence[Case],
    first: Mapping[str, Mapping[str, float]],
    second: Mapping[str, Mapping[str, float]],
) -> Difference | None:
    both = [case for case in cases if name in first[case.case_id] and name in second[case.case_id]]
    if not both:
        return None
    one, other = (np.array([of[case.case_id][name] for case in both]) for of in (first, second))
    steps = other - one
    cluster = np.unique([_cluster(case) for case in both], return_inverse=True)[1]
    low, high = interval(steps, cluster)
    sign = -1.0 if MEASURES[name].better == "lower" else 1.0
    sums = np.bincount(cluster, steps - steps.mean())
    error = float(np.sqrt((sums**2).sum()) / len(steps))
    return Difference(
        name,
        len(both),
        float(one.mean()),
        float(other.mean()),
        low,
        high,
        chance(steps, cluster),
        int((sign * steps > 0).sum()),
        int((sign * steps < 0).sum()),
        _POWER * error,
    )


def _cluster(case: Case) -> str:
    return ";".join(case.documents) or f"{case.case_id}"


def interval(steps: Floats, cluster: NDArray[np.int64]) -> tuple[float, float]:
    """Percentile interval of the mean of ``steps`` ``(n,)`` over draws of whole clusters ``(n,)``, with a fixed
    seed."""
    sums, counts = np.bincount(cluster, steps), np.bincount(cluster)
    drawn = np.random.default_rng(SEED).integers(0, len(sums), (DRAWS, len(sums)))
    low, high = np.percentile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), INTERVAL)
    return float(low), float(high)


def chance(steps: Floats, cluster: NDArray[np.int64]) -> float:
    """Two-sided p-value of the mean of ``steps``, by flips of the signs of whole clusters: all of them up to
    `DRAWS`, else as many at random, with a fixed seed."""
    sums = np.bincount(cluster, steps)
    sums = sums[sums != 0.0]
    if not len(sums):
        return 1.0
    if 2 ** len(sums) <= DRAWS:
        flips = 1.0 - 2.0 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1)
        means = np.abs(flips @ sums)
        return float((means >= abs(sums.sum()) - 1e-12).mean())
    flips = np.random.default_rng(SEED).choice([-1.0, 1.0], (DRAWS, len(sums)))
    means = np.abs(flips @ sums)
    return float((1 + (means >= abs(sums.sum()) - 1e-12).sum()) / (1 + DRAWS))


def called(first: Evaluated, second: Evaluated) -> tuple[str, str]:
    """Names of two runs: of their settings, or their ids if these are the same."""
    names = first.info.name, second.info.name
    return names if names[0] != names[1] else (first.info.run_id, second.info.run_id)


def headline(found: Sequence[Difference]) -> str:
    """What is clear of B, the second run, in a sentence."""
    clear = [one for one in found if one.clear and MEASURES[one.measure].better]
    better, worse = (sum(one.improved is side for one in clear) for side in (True, False))
    if not clear:
        return "No clear difference. Each could be chance."
    parts = [f"B is better in {plural(better, 'measure')}"] * bool(better) + [
        f"{'' if better else 'B is '}worse in {plural(worse, 'measure')}"
    ] * bool(worse)
    return f"{' and '.join(parts)}."


def in_words(one: Difference, first: str, second: str) -> str:
    """Plain sentence: ``“Evidence first”: “alpha .6” does better than “default” for 4 of 54 questions, and worse for 1.
    This could be chance.``"""
    return f"“{MEASURES[one.measure].full}”: {told(one, f'“{first}”', f'“{second}”')}"


def told(one: Difference, first: str, second: str) -> str:
    """`in_words` without the measure, and with the runs as they are called."""
    tail = "This is unlikely to be chance" if one.clear else "This could be chance"
    if one.mean == 0.0:
        return f"{second} and {first} are equal."
    if not MEASURES[one.measure].share:
        return f"{second} has {'less' if one.mean < 0 else 'more'} than {first}. {tail}."
    better, worse = f"better than {first} for {one.better} of {one.n} questions", f"worse for {one.worse}"
    return f"{second} does {better}, and {worse}. {tail}."


def judged(found: Sequence[Difference], wanted: Sequence[str] = ()) -> list[Difference]:
    """The ``wanted`` measures; all with a direction but time and money, if none are named. Raises `InputError` for a
    measure that the runs don't have."""
    known = {one.measure: one for one in found}
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InputError(f"The runs have no measure {', '.join(missing)}.", hint=f"They have {', '.join(known)}.")
    return [known[name] for name in wanted] or [one for one in found if MEASURES[one.measure].share]


def broken(found: Sequence[Difference], *, wanted: Sequence[str] = (), loss: float = 0.0) -> list[Difference]:
    """Those of the `judged` measures in which the second run is worse by more than ``loss`` (0–1 for shares), and
    clearly so. Raises `InputError` for a measure that the runs don't have."""
    return [one for one in judged(found, wanted) if one.clear and _worse(one) > loss]


def _worse(one: Difference) -> float:
    return 0.0 if one.improved else abs(one.mean)
