"""Fits `ragcore.offline.likely.FIGURE` and `VALUE`, and shows how sure and how right they are on documents that they
were not fitted on.

    python -m benchmarks likely --home DIR

Cells of the grid's known values (`grid.jsonl`, both halves), figures for `FIGURE`, dates and names for `VALUE`; for
figures also the look-ups (`look_ups_a.json` to `look_ups_g.json`) of the library's documents, each as a column that is
headed by its question. The model chooses between the different values of a document and none (a conditional logit,
McFadden 1974), fitted by L-BFGS with a little ridge. *right of likeliest*: for each eighth of the documents by a model
that was fitted on the others, the cells whose likeliest value has at least that probability, and how many of those are
right; *stand out*: those that may be certain. *by rank alone*: as many cells, those with the greatest log odds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.common import table
from benchmarks.grid import FILE, is_right, read, stem
from benchmarks.two_hop import filled
from ragcore.answer.cite import cite_span
from ragcore.engine import Engine
from ragcore.grid.cells import CellFiller, _read
from ragcore.offline import likely
from ragcore.offline.certain import Given
from ragcore.offline.fields import FIGURES, Wish
from ragcore.types import Scope
from ragcore.types.grid import CellValue, Column
from ragcore.types.library import DocumentInfo
from ragcore.types.report import StatedValue

FOLDS = 8
RIDGE, RIDGE_OF_FIGURES = 0.05, 0.1
LEAST = (0.9, 0.8, likely.CERTAIN, 0.5, 0.3, likely.LIKELY)


@dataclass(frozen=True, slots=True)
class Choice:
    """One cell: the ``signs`` of each candidate, which different value it gives (``group``), whether that is ``right``,
    and whether it ``stands_out``."""

    document: str
    signs: NDArray[np.float64]
    group: NDArray[np.int64]
    right: NDArray[np.bool_]
    stands_out: NDArray[np.bool_]


def chances(weights: NDArray[np.float64], choice: Choice) -> NDArray[np.float64]:
    """Probability of each different value, and of none as the last."""
    scores = weights[0] + choice.signs @ weights[1:]
    best = np.full(choice.group.max(initial=-1) + 2, -np.inf)
    np.maximum.at(best, choice.group, scores)
    best[-1] = 0.0
    odds = np.exp(best - best.max())
    return odds / odds.sum()


def fit(choices: Sequence[Choice], ridge: float) -> NDArray[np.float64]:
    def loss(weights: NDArray[np.float64]) -> float:
        total = ridge * float((weights[1:] ** 2).sum())
        for one in choices:
            right = sorted(set(one.group[one.right])) or [-1]
            total -= float(np.log(max(chances(weights, one)[right].sum(), 1e-9)))
        return total

    start = np.array([-3.0, *[0.3] * choices[0].signs.shape[1]])
    return minimize(loss, start, method="L-BFGS-B").x


Judge = Callable[[CellValue], bool]


def asked(engine: Engine) -> Iterator[tuple[str, Column, Judge]]:
    """Document, column and judge of each known cell, and of each look-up in the library's documents."""
    sets = [read(file) for file in (FILE, *sorted(FILE.parent.glob("look_ups_*.json")))]
    ids = filled(engine, [stem(row) for row in sets[0][1]])
    for columns, documents in sets:
        for row in (row for row in documents if stem(row) in ids):
            for spec in columns[row["kind"]]:
                if spec.type in ("value", "date", "name") and spec.name in row["cells"]:
                    column, truth = spec.column(""), row["cells"][spec.name]
                    yield ids[stem(row)], column, partial(judged, truth, column)


def judged(truth: dict[str, Any] | None, column: Column, value: CellValue) -> bool:
    return truth is not None and is_right(truth, column, value)


def choices(engine: Engine) -> tuple[list[Choice], list[Choice]]:
    """Choices of all cells as the field reader meets them: between figures, and between dates and names."""
    infos = {info.doc_id: info for info in engine.documents()}
    filler = CellFiller(engine, lambda: False)
    met: list[tuple[Wish, list[likely.Candidate]]] = []
    kept = likely.figures_asked, likely.candidates

    def recorded(reader: Callable[..., list[likely.Candidate]]) -> Callable[..., list[likely.Candidate]]:
        def read_(*task: object) -> list[likely.Candidate]:
            met.append((task[0], reader(*task)))  # type: ignore[arg-type]
            return met[-1][1]

        return read_

    out: tuple[list[Choice], list[Choice]] = [], []
    likely.figures_asked, likely.candidates = map(recorded, kept)
    for doc_id, column, judge in asked(engine):
        met.clear()
        filler.cell(column, infos[doc_id], Scope((doc_id,)))
        for wish, every in met[-1:]:
            if every:
                out[wish.sort not in FIGURES].append(_choice(engine, infos[doc_id], judge, column, wish, every))
    likely.figures_asked, likely.candidates = kept
    return out


def _choice(
    engine: Engine,
    info: DocumentInfo,
    judge: Judge,
    column: Column,
    asked: Wish,
    every: Sequence[likely.Candidate],
) -> Choice:
    given = [one for one, _ in every]
    different: list[Given] = []
    group = []
    for one in given:
        place = next((n for n, other in enumerate(different) if likely.gives_same(asked, other, one)), len(different))
        different += [one] if place == len(different) else []
        group.append(place)

    def right(one: Given) -> bool:
        value = one.value
        place = cite_span(engine.document(info.doc_id), one.quote.start, one.quote.start + 1, 1)
        stated = StatedValue(value.figure, value.words, place, value.period, value.scale)
        return judge(_read(stated, column))

    return Choice(
        info.name,
        np.array([signs for _, signs in every], np.float64),
        np.array(group, np.int64),
        np.array([right(one) for one in given], np.bool_),
        np.array([likely.stands_out(asked, one, every) for one in every], np.bool_),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    with Engine.open(parser.parse_args().home) as engine:
        of_figures, of_words = choices(engine)
    show("FIGURE", of_figures, RIDGE_OF_FIGURES)
    show("VALUE", of_words, RIDGE)


def show(name: str, cells: Sequence[Choice], ridge: float) -> None:
    weights = fit(cells, ridge)
    print(f"{name} = Logistic({weights[0]:.3f}, ({', '.join(f'{one:.3f}' for one in weights[1:])}))")
    names = sorted({one.document for one in cells})
    told = []
    for fold in range(FOLDS):
        own = fit([one for one in cells if names.index(one.document) % FOLDS != fold], ridge)
        for one in (one for one in cells if names.index(one.document) % FOLDS == fold):
            chance = chances(own, one)[:-1]
            ranked = int(one.signs[:, 0].argmax())
            best = int(chance.argmax())
            scores = np.where(one.group == best, one.signs @ own[1:], -np.inf)
            sure = bool(one.stands_out[int(scores.argmax())])
            right = bool(one.right[one.group == best].any())
            told.append((chance[best], sure, right, one.signs[ranked, 0], one.right[ranked]))
    lines = []
    for least in LEAST:
        given = [right for chance, _, right, *_ in told if chance >= least]
        sure = [right for chance, sure, right, *_ in told if chance >= least and sure]
        plain = [right for *_, right in sorted(told, key=lambda one: -one[3])[: len(sure)]]
        counts = (f"{sum(map(int, each))} of {len(each)}" for each in (given, sure, plain))
        lines.append([f"{least:.2f}", *counts])
    stated = sum(one.right.any() for one in cells)
    print(f"{len(cells)} cells, {stated} with the right value among the candidates")
    print(
        table(lines, ("probability at least", "right of likeliest", "right of those that stand out", "by rank alone"))
    )


if __name__ == "__main__":
    main()
