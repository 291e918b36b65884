"""Does retrieval bring a whole table for a question across its rows, and the one cell for a look-up?

    python -m benchmarks table_questions --home DIR [--per-document N] [--seed S]

The questions are made from the tables of the indexed library themselves, so any library will do: for tables with a
title and at least five rows, drawn at random with a fixed seed, "Which item in TITLE had the largest amount in
COLUMN?" (*across*: all values of that column are wanted) and "What was ROW in COLUMN according to TITLE?" (*look-up*).
@k: share of questions with the table (*across*) or the row (*look-up*) among the first k hits. *cells*: mean share of
the wanted cells that the numbered sources hold; *whole*: share of questions for which they hold all of them. Once
within the question's document, once over the whole library. Compare two homes whose `[chunk]` settings differ.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import table
from ragcore.answer.sources import build_sources
from ragcore.engine import Engine
from ragcore.types import Cell, Chunk, Document, Retrieval, Table

AT = (1, 5, 20)
MIN_ROWS, MIN_VALUES = 5, 4
_NUMBER = re.compile(r"[($€£\s-]*\d[\d,.]*[)%\s]*")
_NAME = re.compile("[a-z]{4}")
_RUNNING_HEAD = re.compile(r"NOTES? TO|PART|ITEM|Item")  # stands above many tables and names none


@dataclass(frozen=True)
class Question:
    kind: str
    doc_id: str
    text: str
    span: tuple[int, int]  # the table
    wanted: tuple[tuple[int, int], ...]  # cells

    def is_hit(self, chunk: Chunk) -> bool:
        """Whether ``chunk`` has a part of the table, for a look-up the cell."""
        if chunk.doc_id != self.doc_id:
            return False
        start, end = self.span if self.kind == "across" else self.wanted[0]
        return chunk.start < end and start < chunk.end


def made_questions(document: Document, count: int, seed: int) -> Iterator[Question]:
    """A question of each kind for ``count`` tables of ``document``, drawn at random."""
    draw = random.Random(f"{seed}{document.name}")

    def text(cell: Cell) -> str:
        return " ".join(re.sub(r"\.{3,}", "", document.text[cell.start : cell.end]).split())

    able = []
    for element in document.body:
        given = element.table
        if given is None or len(given.row_spans) < MIN_ROWS or _RUNNING_HEAD.match(given.title):
            continue
        columns = _columns(given, text)
        names = {c.row: text(c) for c in given.cells if c.col == 0 and not c.header and _NAME.search(text(c))}
        if len(given.title.split()) > 2 and len(names) >= MIN_ROWS and columns:
            able.append((element, " ".join(re.sub(r"\(.*?\)", "", given.title).split()), columns, names))
    draw.shuffle(able)
    for element, title, columns, names in able[:count]:
        head, cells = draw.choice(columns)
        span = (element.start, element.end)
        wanted = tuple((cell.start, cell.end) for cell in cells)
        yield Question(
            "across", document.doc_id, f"Which item in {title} had the largest amount in {head}?", span, wanted
        )
        cell = draw.choice([cell for cell in cells if cell.row in names] or cells)
        if cell.row in names:
            asked = f"What was {names[cell.row]} in {head} according to {title}?"
            yield Question("look-up", document.doc_id, asked, span, ((cell.start, cell.end),))


def _columns(given: Table, text: Callable[[Cell], str]) -> list[tuple[str, list[Cell]]]:
    """The words above each column, outermost first, and its cells that hold a number, where these are many."""
    heads: dict[int, list[str]] = defaultdict(list)
    columns: dict[int, list[Cell]] = defaultdict(list)
    for cell in given.cells:
        if cell.header:
            for column in range(cell.col, cell.col + cell.col_span):
                heads[column].append(text(cell))
        elif cell.col > 0 and _NUMBER.fullmatch(text(cell)):
            columns[cell.col].append(cell)
    return [
        (" ".join(dict.fromkeys(heads[column])), cells)
        for column, cells in columns.items()
        if heads[column] and len(cells) >= MIN_VALUES
    ]


def measure(engine: Engine, asked: Sequence[Question], scopes: Sequence[str]) -> list[list[object]]:
    rows: list[list[object]] = []
    for kind in ("across", "look-up"):
        row: list[object] = [kind, sum(question.kind == kind for question in asked)]
        spent = []
        for scope in scopes:
            found, shares = [], []
            for question in (question for question in asked if question.kind == kind):
                started = time.perf_counter()
                retrieval = engine.retrieve(question.text, doc_ids=[question.doc_id] if scope == "document" else None)
                spent.append((time.perf_counter() - started) * 1000)
                rank = next((hit.rank for hit in retrieval.hits if question.is_hit(hit.chunk)), max(AT) + 1)
                found.append([rank <= k for k in AT])
                shares.append(in_sources(engine, retrieval, question))
                print(".", end="", file=sys.stderr, flush=True)
            row += [sum(column) / len(found) for column in zip(*found)]
            row += [statistics.mean(shares), sum(share == 1.0 for share in shares) / len(shares)]
        rows.append([*row, f"{statistics.median(spent):.0f}"])
    print(file=sys.stderr)
    return rows


def in_sources(engine: Engine, retrieval: Retrieval, question: Question) -> float:
    """The share of the wanted cells that stand in the sources which the writer would get."""
    sources = build_sources(retrieval, engine.document, engine.settings.answer)
    spans = [(source.start, source.end) for source in sources if source.doc_id == question.doc_id]
    return statistics.mean(any(a <= start and end <= b for a, b in spans) for start, end in question.wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="an indexed library")
    parser.add_argument("--per-document", type=int, default=4, help="tables asked about in each document")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with Engine.open(options.home, overrides={"retrieve.top_k": max(AT)}) as engine:
        ready = [info.doc_id for info in engine.documents() if info.indexed]
        asked = [
            question
            for doc_id in ready
            for question in made_questions(engine.document(doc_id), options.per_document, options.seed)
        ]
        if not asked:
            sys.exit(f"No table in {options.home} can be asked about.")
        print(f"{len(asked)} questions, {len(ready)} documents", file=sys.stderr)
        engine.warm()
        scopes = ("document", "library")
        rows = measure(engine, asked, scopes)
    head = ["", "questions"]
    head += [f"{scope} {what}" for scope in scopes for what in (*(f"@{k}" for k in AT), "cells", "whole")]
    print(table(rows, [*head, "ms"]))


if __name__ == "__main__":
    main()
