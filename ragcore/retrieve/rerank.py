"""The cross-encoder as one vote beside the fused score, and the time that it may take.

Ranked by a web-search cross-encoder alone, filings come out no better than by fusion; as one vote it helps on filings
and on abstracts alike (`benchmarks/retrieval.py`, `benchmarks/scifact.py`). Its probabilities are `tempered` first.

A budget is kept by reading fewer candidates, the best fused ones. How many must not depend on how busy the machine is
at the moment, or the same question would be ordered in another way each time. So they are planned ahead, from how much
there is to read and a pace that is only corrected when it was clearly wrong, and the plan is rounded down to a few
steps. Only where a plan takes longer than the whole budget is it cut short, and only where reading turns out clearly
faster than the pace (it was measured in a busy moment) is a new plan made from the speed just seen and read on to.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ragcore.protocols import Reranker

STEPS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100)  # how many are read when not all can be
PLANNED = 0.75  # share of the budget that is planned for: the machine may be that much slower for a moment
MEMORY = 5  # questions whose median says how fast it is
MOST = 400  # words and signs of a pair that count: the usual cross-encoders read 512 word pieces
# What a pair of n words costs, in words: of its own, for each word, and for each word to attend to each other. Fitted
# to the bundled model from 22 to 409 words: within 6 %, where a constant for each word is off by a quarter.
CALL = 45
ATTENTION = 1 / 240
SLICE = 4  # least pairs scored between two looks at the clock
SUREST = 1e-9  # distance from 0 and 1 of a probability, at least, for its log-odds
CALIBRATION = "net sales of the segment were 1,577 million in fiscal 2018, up from 1,373 million a year before. " * 3

_WORD = re.compile(r"\w+|[^\w\s]")


def vote(fused: Mapping[str, float], relevance: Mapping[str, float], *, weight: float) -> dict[str, float]:
    """``(fused + weight * probability) / (1 + weight)`` for every candidate of ``fused``, in 0–1.

    ``relevance`` holds the cross-encoder's probabilities; a candidate that was not reranked gets no vote, so it can
    only fall behind those that were.
    """
    return {i: (score + weight * relevance.get(i, 0.0)) / (1.0 + weight) for i, score in fused.items()}


def tempered(probabilities: Mapping[str, float], kinds: Mapping[str, str], *, temperature: float) -> dict[str, float]:
    """``probabilities`` with their log-odds divided by ``temperature`` (Guo, Pleiss, Sun, Weinberger: On Calibration of
    Modern Neural Networks, ICML 2017) and moved, for each of the ``kinds``, so that its mean is that of all; in 0–1.

    A cross-encoder that learned from web pages is far too sure of what it says about other texts, and takes a row or a
    grid of figures for less relevant than a sentence, whatever was asked. So passages are compared with those of their
    own kind; which kind is wanted is left to fusion. What all passages are worth together stays.
    """
    if not probabilities:
        return {}
    ids = list(probabilities)
    held = np.clip([probabilities[i] for i in ids], SUREST, 1.0 - SUREST)
    odds = np.log(held / (1.0 - held)) / temperature
    of = np.array([kinds[i] for i in ids])
    mean = odds.mean()
    for kind in np.unique(of):
        odds[of == kind] += mean - odds[of == kind].mean()
    return dict(zip(ids, (1.0 / (1.0 + np.exp(-odds))).tolist(), strict=True))


class Pace:
    """How fast a reranker reads on this machine, in milliseconds for each word's worth of `costs`.

    Measured once with passages of its own, then kept while questions are read about as fast. Other work can only slow
    a machine down: so one question that was read clearly faster (`outrun`) replaces it at once, but a slower speed only
    where the median of the last five questions is so slow that plans would take longer than the budget. One pace serves
    all questions of a library; safe for threads. ``clock`` gives seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._in_force: float | None = None
        self._last: deque[float] = deque(maxlen=MEMORY)

    def of(self, reranker: Reranker) -> float:
        """Milliseconds a word. The first call scores nine passages."""
        with self._lock:
            if self._in_force is None:
                self._in_force = self._calibrated(reranker)
            return self._in_force

    def learn(self, cost: float, spent_ms: float) -> None:
        """A question of ``cost`` took ``spent_ms``."""
        with self._lock:
            if self._in_force is None:
                return
            seen = speed(cost, spent_ms)
            if outrun(self._in_force, seen):
                self._in_force = seen
                self._last.clear()  # or the slow questions before would bring the slow pace back
            self._last.append(seen)
            usual = median(self._last)
            if len(self._last) == MEMORY and usual > self._in_force / PLANNED:
                self._in_force = usual

    def _calibrated(self, reranker: Reranker) -> float:
        passages = [CALIBRATION] * SLICE
        reranker.score("warm", passages[:1])  # the first call of a session sets up its memory
        spent = []
        for _ in range(2):
            started = self.clock()
            reranker.score(CALIBRATION[:60], passages)
            spent.append((self.clock() - started) * 1000.0)
        return speed(sum(costs(CALIBRATION[:60], passages)), min(spent))


def speed(cost: float, spent_ms: float) -> float:
    """Milliseconds a word, above 0 also where the clock saw no time pass."""
    return max(spent_ms, 1e-6) / cost


def outrun(expected: float, seen: float) -> bool:
    """Whether ``seen`` (milliseconds a word) is clearly faster than ``expected``, more than a moment's difference."""
    return seen < expected * PLANNED


def relevance(
    reranker: Reranker, query: str, passages: Sequence[str], *, max_ms: float, pace: Pace
) -> NDArray[np.float64]:
    """The probabilities of the first of ``passages`` (best fused first), float64 ``(count,)``: of as many as ``max_ms``
    allows (at least one), or of all where it is 0.

    Where the plan was read to its end and candidates are left, reading on to the next of `STEPS` would have taken more
    than ``PLANNED²`` (0.56) of the budget at the speed seen, however slow the pace in force was.
    """
    if not max_ms or not passages:
        return reranker.score(query, passages)
    cost = costs(query, passages)
    expected = pace.of(reranker)
    count = planned(cost, PLANNED * max_ms / expected)
    started = pace.clock()
    scores: list[NDArray[np.float64]] = []
    done = 0
    while done < count:
        spent_ms = (pace.clock() - started) * 1000.0
        # Pairs are scored side by side: few and large slices keep every core busy.
        size = min(max(SLICE, math.ceil((count - done) / 4)), count - done)
        part = slice(done, done + size)
        # Were the next slice as slow as those before, it would end behind the budget.
        if done and spent_ms * (1.0 + sum(cost[part]) / sum(cost[:done])) > max_ms:
            break
        scores.append(reranker.score(query, passages[part]))
        done += size
        seen = speed(sum(cost[:done]), (pace.clock() - started) * 1000.0)
        if done == count and outrun(expected, seen):
            expected = seen
            count = planned(cost, PLANNED * max_ms / expected)
    pace.learn(sum(cost[:done]), (pace.clock() - started) * 1000.0)
    return np.concatenate(scores)


def planned(cost: Sequence[float], most: float) -> int:
    """How many of the first can be read at a cost of ``most``: all, or the last of `STEPS` that fits; at least one."""
    fitting = sum(total <= most for total in accumulate(cost))
    if fitting == len(cost):
        return fitting
    return max((step for step in STEPS if step <= fitting), default=1)


def costs(query: str, passages: Sequence[str]) -> list[float]:
    """What reading each pair costs, in words."""
    asked = len(_WORD.findall(query))
    words = [min(asked + len(_WORD.findall(passage)), MOST) for passage in passages]
    return [CALL + n + ATTENTION * n * n for n in words]
