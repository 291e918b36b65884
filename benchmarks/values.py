"""Does the offline answerer hand out the right cell for a simple question about a table, and none in doubt?

    python -m benchmarks values --home DIR [--per-document N] [--seed S]

The questions are made from the tables of the indexed library, so any library will do: "What was ROW in YEAR?", asked
within the document, for rows drawn at random with a fixed seed from tables that have a column for that year. The answer
is *right* when its first line gives a cell of a row of that name and a column of that year (of whichever table of the
document), *wrong* when it gives another cell, *none* when it gives quotes only or all cells of a row. *quoted*: share
of the others whose quotes hold such a cell. Beside it the plain top hit: whether the best passage holds such a cell,
which a reader must then find among the other *numbers* in it (median).
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import table
from ragcore.engine import Engine
from ragcore.types import Answer, Cell, Citation, Document, Found, Mark, Retrieval

_NUMBER = re.compile(r"[($€£\s-]*\d[\d,.]*[)%\s]*")
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_PART = re.compile(r"quarter|months|weeks|change|%|Q[1-4]", re.IGNORECASE)
_NAME = re.compile("[A-Za-z]{4}")


@dataclass(frozen=True)
class Question:
    doc_id: str
    text: str
    right: tuple[tuple[int, int], ...]  # the cells of rows of that name and columns of that year

    def is_right(self, start: int, end: int) -> bool:
        return any(start <= a and b <= end for a, b in self.right)


def made_questions(document: Document, count: int, seed: int) -> Iterator[Question]:
    """Questions for ``count`` cells of ``document``, drawn at random."""
    cells: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    said: dict[tuple[str, str], str] = {}

    def text(cell: Cell) -> str:
        return " ".join(document.text[cell.start : cell.end].split())

    for element in document.body:
        if element.table is None:
            continue
        heads: dict[int, list[str]] = defaultdict(list)
        for cell in element.table.cells:
            if cell.header:
                for column in range(cell.col, cell.col + cell.col_span):
                    heads[column].append(text(cell))
        names = {c.row: text(c) for c in element.table.cells if c.col == 0 and not c.header and _NAME.search(text(c))}
        for cell in element.table.cells:
            head = " ".join(heads[cell.col])
            years = set(_YEAR.findall(head))
            name = re.sub(r"\([^()]*\)", "", names.get(cell.row, "")).strip(" :.,")
            plain = len(years) == 1 and not _PART.search(f"{head} {element.table.title}")
            if plain and cell.col > 0 and 1 < len(name.split()) < 9 and _NUMBER.fullmatch(text(cell)):
                key = (name.casefold(), years.pop())
                cells[key].append((cell.start, cell.end))
                said[key] = name
    keys = sorted(cells)
    for key in random.Random(f"{seed}{document.name}").sample(keys, min(count, len(keys))):
        yield Question(document.doc_id, f"What was {said[key]} in {key[1]}?", tuple(cells[key]))


def judged(question: Question, answer: Answer) -> str:
    """``right``, ``wrong``, ``quoted`` or ``none``."""
    value = given(answer)
    if value is not None:
        return "right" if question.is_right(value.start, value.end) else "wrong"
    return "quoted" if any(question.is_right(c.start, c.end) for c in answer.citations) else "none"


def given(answer: Answer) -> Citation | None:
    """The citation of the one figure that the first line gives, in bold or as the first of the table under it."""
    if answer.refused or not answer.marks:
        return None
    lead, *others = answer.marks
    line = answer.text[: lead.start].rstrip()
    if "\n" in line:
        return None
    if "**" not in line:  # the line cites the whole row, the table under it the cell
        figure = re.sub(r" \([^()\d]*\)$", "", line)  # without its unit
        cell = next((mark for mark in others if figure.endswith(f": {before(answer.text, mark)}")), None)
        if cell is None:
            return None
        lead = cell
    return next(citation for citation in answer.citations if citation.n == lead.n)


def before(text: str, mark: Mark) -> str:
    """What the cell of a table holds before ``mark``."""
    return text[: mark.start].rpartition("|")[2].strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="an indexed library")
    parser.add_argument("--per-document", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", action="store_true", help="print the wrong ones")
    options = parser.parse_args()
    verdicts: list[str] = []
    top: list[bool] = []
    numbers: list[int] = []
    with Engine.open(options.home, overrides={"llm.model": "offline"}) as engine:
        ready = [info.doc_id for info in engine.documents() if info.indexed]
        asked = [q for i in ready for q in made_questions(engine.document(i), options.per_document, options.seed)]
        if not asked:
            sys.exit(f"No table in {options.home} can be asked about.")
        for question in asked:
            run = engine.ask(question.text, doc_ids=[question.doc_id])
            retrieval: Retrieval | None = None
            for event in run:
                if isinstance(event, Found):
                    retrieval = event.retrieval
            assert retrieval is not None
            assert run.answer is not None
            verdicts.append(judged(question, run.answer))
            best = retrieval.hits[0].chunk if retrieval.hits else None
            top.append(best is not None and question.is_right(best.start, best.end))
            if best is not None:
                numbers.append(len(re.findall(r"\d[\d,.]*", best.text)))
            if options.show and verdicts[-1] != "right":
                print(verdicts[-1], "|", question.text, "|", run.answer.text[:300].replace("\n", " "), file=sys.stderr)
    of = len(verdicts)
    rows = [(verdict, f"{verdicts.count(verdict)} of {of}") for verdict in ("right", "wrong", "quoted", "none")]
    rows += [("top hit holds the cell", f"{sum(top)} of {of}"), ("numbers in the top hit", statistics.median(numbers))]
    print(table(rows, ("first line", "questions")))


if __name__ == "__main__":
    main()
