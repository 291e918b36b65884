"""Filled sections held against `tests.report.truths`: what is right, what is wrong, what was named as missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.report.truths import Truth

_MARK = re.compile(r"\s*\[\d+\]")


@dataclass
class Scores:
    """``right`` of ``given`` values and ``cells`` were right, of ``there`` that could be; ``named`` of ``absent`` were
    said to be missing; ``quoted`` of ``told`` were quoted. ``wrong`` says what was not as it should be."""

    right: int = 0
    given: int = 0
    there: int = 0
    named: int = 0
    absent: int = 0
    quoted: int = 0
    told: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.there if self.there else 1.0

    @property
    def gaps(self) -> float:
        return self.named / self.absent if self.absent else 1.0


def add(scores: Scores, truth: Truth, texts: Mapping[str, str], empty: Mapping[str, bool]) -> None:
    """Count the sections of one document: their ``texts`` by heading, and whether they are ``empty``."""
    for heading, wanted in truth.values.items():
        told = f"{truth.name}, {heading}"
        said = texts[heading]
        if wanted is None:
            _absent(scores, told, said, empty[heading])
            continue
        scores.there += 1
        if empty[heading]:
            scores.wrong.append(f"{told}: nothing")
            continue
        scores.given += 1
        head = said.partition(" — ")[0] if said.startswith("**") else said
        if any(value in head for value in wanted):
            scores.right += 1
        else:
            scores.wrong.append(f"{told}: {said}")
    for heading, rows in truth.tables.items():
        told = f"{truth.name}, {heading}"
        if not rows:
            _absent(scores, told, texts[heading], empty[heading])
            continue
        found = cells(texts[heading])
        wanted_cells = {(row[0], place, cell) for row in rows for place, cell in enumerate(row)}
        given_cells = {(row[0], place, cell) for row in found for place, cell in enumerate(row) if cell}
        scores.there += len(wanted_cells)
        scores.given += len(given_cells)
        scores.right += len(wanted_cells & given_cells)
        if wanted_cells != given_cells:
            scores.wrong.append(f"{told}: {texts[heading]}")
    for heading, words in truth.quoted.items():
        told = f"{truth.name}, {heading}"
        if words is None:
            _absent(scores, told, texts[heading], empty[heading])
            continue
        scores.told += 1
        if words in texts[heading]:
            scores.quoted += 1
        else:
            scores.wrong.append(f"{told}: {texts[heading]}")


def _absent(scores: Scores, told: str, said: str, empty: bool) -> None:
    scores.absent += 1
    if empty:
        scores.named += 1
    else:
        scores.wrong.append(f"{told}: {said}")


def cells(text: str) -> Sequence[tuple[str, ...]]:
    """The body of the first Markdown table in ``text``, without marks."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [tuple(_MARK.sub("", cell).strip() for cell in row.strip("|").split("|")) for row in rows[2:]]
