"""Are a grid's cells right? Documents by columns, with known values.

    python -m benchmarks grid --home DIR [--half dev|held] [--kind KIND] [--baseline] [--show] [--twice]

32 real PDFs in four kinds (10-Ks, quarterly reports, papers, guidance), each kind with ten columns as somebody who does
that work would type them (`grid.jsonl`). Their values were written from the pages before any cell was filled; half of
the documents are *dev*, half *held*. Rules of the report engine's values were made on other questions over some of the
filings. Nothing is known of 17 cells, which are left out. In the same way, later: *more filings* (other years) and
*more papers* (the same, with other columns), and *mixed*, seven documents with columns of their own.

DIR is a library; PDFs that it lacks are read from the measuring data and added to it. *found*: stated cells with the
right value: a number up to the rounding of how it is printed, in its unit; a date to the day, or month if no more is
printed; a name in the value; yes or no; a list with half of its items; where a cell names several values, one of them.
*wrong*: cells with another value, or with one where the document states none. *right place*: of those found, cited on a
page that has it. A list's other items aren't judged. *likely*: of the cells that are not stated and show likely values,
those of which the first is right. ``--twice`` fills everything a second time and compares. ``--set`` names another file
of that form: ``grid_b.jsonl`` has 26 documents of eight kinds (filings, articles, bills, statistics), written by people
who read no code, its halves *a* and *b*, as has ``grid_c.jsonl`` of 27; or a set of look-ups, each question a column.

``--baseline`` adds the plain way: of the best passage by meaning, words and cross-encoder the sentence or row that the
cross-encoder scores highest; its first figure, date or name, yes, or all of it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.answers import says
from benchmarks.common import table
from benchmarks.two_hop import filled
from ragcore.answer.sources import build_sources
from ragcore.engine import Engine
from ragcore.grid.cells import iso
from ragcore.grid.columns import ColumnSpec, given_columns
from ragcore.grid.quantities import measured
from ragcore.text.numbers import numbers
from ragcore.text.periods import days_in
from ragcore.text.words import content_stems
from ragcore.types import Retrieval, Scope
from ragcore.types.grid import STATED, CellValue, Column, GridCell

FILE = Path(__file__).with_name("grid.jsonl")
CLOSE = 0.005  # share by which a rounded number may differ
HALF = 0.5  # least share of a list's items


@dataclass(frozen=True, slots=True)
class Judged:
    """Cell of one document and column: ``verdict`` is right, wrong, missed (stated, but not found) or empty (rightly
    not stated). ``placed``: it is cited on a page that has the value. ``likely``: whether the first likely value, shown
    where none is stated, is right; None without one."""

    kind: str
    document: str
    column: Column
    truth: Any
    value: CellValue
    verdict: str
    placed: bool
    likely: bool | None = None


def read(file: Path) -> tuple[dict[str, list[ColumnSpec]], list[dict[str, Any]]]:
    """Columns of a set by kind of document, and its documents with their known cells."""
    if file.suffix == ".json":
        return look_ups(file)
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    columns = {row["kind"]: given_columns(row["columns"]) for row in rows if "columns" in row}
    return columns, [row for row in rows if "cells" in row]


def look_ups(file: Path) -> tuple[dict[str, list[ColumnSpec]], list[dict[str, Any]]]:
    """The same of a set of questions for `answers`: those with one turn, of one document, each as a column."""
    golds: dict[str, dict[str, Any]] = {}
    for one in json.loads(file.read_text("utf-8"))["questions"]:
        if len(one["turns"]) == len(one["docs"]) == 1 and one.get("gold"):
            golds.setdefault(one["docs"][0], {})[one["turns"][0]] = {"gold": one["gold"]}
    columns = {
        name: given_columns([{"name": asked, "question": asked, "type": "value"} for asked in cells])
        for name, cells in golds.items()
    }
    return columns, [{"kind": name, "document": name, "split": "", "cells": cells} for name, cells in golds.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--set", type=Path, default=FILE)
    parser.add_argument("--half", default="held", help="dev or held")
    parser.add_argument("--kind", action="append", help="filings, quarters, papers, others, more filings, …")
    parser.add_argument("--baseline", action="store_true")
    parser.add_argument("--show", action="store_true", help="print each cell that is wrong, missed or misplaced")
    parser.add_argument("--twice", action="store_true")
    options = parser.parse_args()
    columns, rows = read(options.set)
    documents = [row for row in rows if row["split"] in (options.half, "")]
    with Engine.open(options.home) as engine:
        ids = filled(engine, [stem(row) for row in documents])
        documents = [row for row in documents if stem(row) in ids]
        found: dict[str, list[Judged]] = {"grid": [], "baseline": []}
        seconds = dict.fromkeys(found, 0.0)
        for kind in options.kind or dict.fromkeys(row["kind"] for row in documents):
            own = [row for row in documents if row["kind"] == kind]
            scope = Scope(tuple(ids[stem(row)] for row in own))
            info = engine.grids.add(f"{kind} ({options.half})", columns[kind], scope)
            seconds["grid"] += timed(engine, info.grid_id)
            grid = engine.grids.get(info.grid_id)
            if options.twice:
                engine.grids.again(info.grid_id)
                timed(engine, info.grid_id)
                again = engine.grids.get(info.grid_id)
                same = sum(grid.cells[key].found == again.cells[key].found for key in grid.cells)
                print(f"{kind}: {same} of {len(grid.cells)} cells identical when filled again")
            for row in own:
                for column in grid.columns:
                    if column.name in row["cells"]:
                        cell = grid.cell(ids[stem(row)], column.column_id)
                        others = cell.found.rivals if cell.found is not None else ()
                        rivals = others if cell.status == "rival" else ()
                        each = [judged(kind, row, column, one) for one in (shown(cell), *rivals)]
                        best = min(each, key=lambda one: one.verdict != "right")
                        if cell.status == "not_stated" and others:
                            first = judged(kind, row, column, others[0])
                            best = replace(best, likely=first.verdict == "right")
                        found["grid"].append(best)
                        if options.baseline:
                            began = time.perf_counter()
                            plain = nearest(engine, column, ids[stem(row)])
                            seconds["baseline"] += time.perf_counter() - began
                            found["baseline"].append(judged(kind, row, column, plain))
            engine.grids.remove(info.grid_id)
    if not options.baseline:
        del found["baseline"]
    report(options.half, found, seconds)
    if options.show:
        show(found["grid"])


def stem(row: dict[str, Any]) -> str:
    return Path(row["document"]).stem


def timed(engine: Engine, grid_id: str) -> float:
    began = time.perf_counter()
    engine.grids.run(grid_id)
    return time.perf_counter() - began


def shown(cell: GridCell) -> CellValue:
    return cell.value if cell.status in STATED else CellValue("")


def judged(kind: str, row: dict[str, Any], column: Column, value: CellValue) -> Judged:
    truth = row["cells"][column.name]
    if truth is None:
        return Judged(kind, row["document"], column, truth, value, "wrong" if value.text else "empty", False)
    pages = set(truth.get("pages", [truth.get("page")]))
    cited = {box.page for one in value.citations for box in one.boxes} | {one.page for one in value.citations}
    verdict = "missed" if not value.text else "right" if is_right(truth, column, value) else "wrong"
    return Judged(kind, row["document"], column, truth, value, verdict, bool(pages & cited))


def is_right(truth: dict[str, Any], column: Column, value: CellValue) -> bool:
    if "gold" in truth:
        return any(says(value.text, one) for one in truth["gold"])
    if column.type == "list":
        lines = [set(content_stems(line)) for line in value.text.splitlines()]
        everything = set().union(*lines)
        held = sum(set(content_stems(item)) <= everything for item in truth["values"])
        return held >= HALF * len(truth["values"])
    accepted = [truth["value"], *truth.get("also", [])]
    if column.type == "value":
        return value.number is not None and any(close(value, one, column) for one in accepted)
    if column.type == "date":
        return any(value.period and value.period.startswith(one) for one in accepted)
    if column.type == "yes_no":
        return value.text.lower() in accepted
    said = set(content_stems(value.text))
    return any(set(content_stems(one)) <= said for one in accepted)


def close(value: CellValue, truth: float, column: Column) -> bool:
    """Whether it is the number, up to rounding; one in another unit than the column's is not. Brackets may print what
    was spent."""
    known = value.unit in (column.unit, "") or not column.unit
    number = value.number or 0.0
    if value.text.startswith("(") and truth > 0:
        number = abs(number)
    return known and abs(number - truth) <= max(CLOSE * abs(truth), 1e-9)


def nearest(engine: Engine, column: Column, doc_id: str) -> CellValue:
    """Value of the plain way."""
    retrieval = engine.search.retrieve(column.asked, scope=Scope((doc_id,)))
    best = Retrieval("", "plain", retrieval.hits[:1], ())
    (source,) = build_sources(best, engine.document, engine.settings.answer)
    lines = [(first, last, source.words(first, last)) for first, last in source.lines()]
    assert engine.models.reranker is not None
    scores = engine.models.reranker.score(column.asked, [text for _, _, text in lines])
    first, last, text = lines[int(scores.argmax())]
    cited = tuple(cited_units(engine, source.doc_id, source.units[first - 1].start, source.units[last - 1].end))
    if column.type == "value":
        figures = numbers(text)
        number, unit = measured(figures[0].raw, text, column.unit) if figures else (None, "")
        return CellValue(figures[0].raw if figures else "", number, unit, citations=cited)
    if column.type == "date":
        day = (days_in(text) or [(0, 0, 0)])[0]
        return CellValue(iso(day), period=iso(day), citations=cited)
    return CellValue("Yes" if column.type == "yes_no" else text, citations=cited)


def cited_units(engine: Engine, doc_id: str, start: int, end: int) -> Iterable[Any]:
    from ragcore.answer.cite import cite_span

    yield replace(cite_span(engine.document(doc_id), start, end, 1), n=1)


def report(half: str, found: dict[str, list[Judged]], seconds: dict[str, float]) -> None:
    rows = []
    for way, cells in found.items():
        for name, own in {"all": cells, **groups(cells)}.items():
            counts = Counter(one.verdict for one in own)
            stated = sum(one.truth is not None for one in own)
            right = [one for one in own if one.verdict == "right"]
            placed = sum(one.placed for one in right)
            likely = [one.likely for one in own if one.likely is not None]
            rows.append(
                [
                    f"{half} / {name} / {way}",
                    str(len(own)),
                    f"{counts['right']} of {stated}",
                    f"{counts['right'] / max(stated, 1):.3f}",
                    f"{counts['wrong'] / max(len(own), 1):.3f}",
                    f"{placed / max(len(right), 1):.3f}",
                    f"{counts['empty']} of {len(own) - stated}",
                    f"{sum(likely)} of {len(likely)}",
                ]
            )
    print(
        table(rows, ["half / kind / way", "cells", "right", "found", "wrong", "right place", "rightly empty", "likely"])
    )
    per = {way: 60 * len(cells) / seconds[way] for way, cells in found.items() if seconds[way]}
    print("cells a minute: " + ", ".join(f"{way} {value:.0f}" for way, value in per.items()))


def groups(cells: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Cells by kind of document, and by type of column."""
    out: dict[str, list[Judged]] = {}
    for one in cells:
        out.setdefault(one.kind.rstrip(" 0123456789"), []).append(one)
    for one in cells:
        out.setdefault(one.column.type, []).append(one)
    return out


def show(cells: Sequence[Judged]) -> None:
    for one in cells:
        if one.verdict in ("wrong", "missed") or (one.verdict == "right" and not one.placed):
            given = " ".join(one.value.text.split())[:120]
            truth = None if one.truth is None else one.truth.get("value", one.truth.get("values"))
            pages = sorted({place.page for place in one.value.citations})[:4]
            number = "" if one.value.number is None else f" [{one.value.number:g} {one.value.unit}]"
            place = f"{Path(one.document).stem[:24]:24} {one.column.name}"
            print(f"{one.verdict:7} {place}: {truth!r} ← {given!r}{number} {pages}")


if __name__ == "__main__":
    main()
