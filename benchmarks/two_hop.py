"""Does following names find more where a question goes through two facts on two pages of real PDFs?

    python -m benchmarks two_hop --home DIR [--held | --show]

Of 76 questions (`two_hop.jsonl`) each needs two places, and doesn't name what joins them: a rule and the *definition*
of a word in it, a figure of a filing and the *note* that explains it, an *entity* described in one place and told of in
another, two places of a *paper* or of two. They were written from the pages' text before any was searched for. A place
is a page, or one of several that say it equally. Every second question of each kind is held out; ``--held`` asks those.

DIR is a library; PDFs that it lacks are read from the measuring data and added to it. Every question is asked over all
of it, with the defaults, no model, and each mode in turn. *any*, *all*: share of questions with one place, with both,
among the pages of the first 5 or 10 hits, and in the numbered sources that the writer would get. The last column is the
mean of *auto* less *hybrid* over the questions, with the standard error of their differences. ``--show`` prints which
places each mode has found.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.common import data_root, table
from ragcore.answer.sources import build_sources
from ragcore.engine import Engine
from ragcore.types import Retrieval

MODES = ("vector", "hybrid", "auto", "graph")
AT = (5, 10)
MEASURES = tuple(f"{what} {where}" for where in (*(f"@{k}" for k in AT), "in sources") for what in ("any", "all"))
FOLDERS = (
    "financebench-dev/pdfs",
    "gov-pdfs",
    "mmlongbench-dev/pdfs",
    "pmc-dev/pdf",
    "docling-samples/pdf",
    "icdar2013-eu/pdf",
    "ade-samples",
    "hostile-pdfs/pdf",
    "nike",
)
Page = tuple[str, int]
Place = frozenset[Page]  # pages that say the same
Found = list[list[bool]]  # each place, among the pages of the first hits of `AT` and in the sources


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the places of its evidence; documents by file name without ``.pdf``."""

    kind: str
    question: str
    places: tuple[Place, ...]

    @property
    def documents(self) -> set[str]:
        return {name for place in self.places for name, _ in place}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="a library; PDFs that it lacks are added")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--held", action="store_true", help="ask the half that is held out")
    which.add_argument("--show", action="store_true", help="print the places found for each question")
    options = parser.parse_args()
    asked = half(held=options.held)
    with Engine.open(options.home, overrides={"llm.model": "offline"}) as engine:
        ids = filled(engine, sorted(set().union(*(one.documents for one in asked))))
        here = [one for one in asked if one.documents <= ids.keys()]
        print(f"{len(here)} of {len(asked)} questions, {len(engine.documents())} documents", file=sys.stderr)
        if not here:
            sys.exit("None of the questions' documents is here. Set GROUNDWORK_DATA to the folder of measuring data.")
        results = measured(engine, ids, here)
    if options.show:
        show(here, results)
    kinds = dict.fromkeys(one.kind for one in here)
    rows = [row for kind in (*kinds, "") for row in rows_of(kind, here, results)]
    print(table(rows, ("kind", "n", "measure", *MODES, "auto - hybrid")))


def half(*, held: bool) -> list[Asked]:
    """Every second question of each kind: the second, fourth and so on are held out."""
    with Path(__file__).with_suffix(".jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    kinds: dict[str, list[Asked]] = {}
    for row in rows:
        places = tuple(frozenset((name, page) for name, page in place) for place in row["places"])
        kinds.setdefault(row["kind"], []).append(Asked(row["kind"], row["question"], places))
    return [one for group in kinds.values() for one in group[held::2]]


def filing(name: str) -> Path | None:
    """The data's document of a name; None without one."""
    return next((path for part in FOLDERS if (path := data_root() / part / f"{name}.pdf").is_file()), None)


def filled(engine: Engine, names: Sequence[str]) -> dict[str, str]:
    """The ids of the library's documents by name, after those of ``names`` that it lacks were added."""
    held = {Path(info.name).stem for info in engine.documents()}
    for name in names:
        if name in held:
            continue
        file = filing(name)
        if file is None:
            print(f"left out: {name}.pdf is neither in the library nor in {data_root()}", file=sys.stderr)
        else:
            print(f"reading {file.name}", file=sys.stderr)
            engine.ingest(engine.add(file).doc_id)
    engine.index()
    return {Path(info.name).stem: info.doc_id for info in engine.documents() if info.indexed}


def measured(engine: Engine, ids: dict[str, str], asked: Sequence[Asked]) -> dict[str, list[Found]]:
    """For each mode and question, which places were found."""
    results: dict[str, list[Found]] = {}
    for mode in MODES:
        searching = engine.with_settings({"retrieve.mode": mode})
        for one in asked:
            retrieval = searching.retrieve(one.question)
            given = [*(first_pages(searching, retrieval, k) for k in AT), source_pages(searching, retrieval)]
            wanted = [{(ids[name], page) for name, page in place} for place in one.places]
            results.setdefault(mode, []).append([[bool(place & pages) for pages in given] for place in wanted])
        print(f"{mode} done", file=sys.stderr)
    return results


def hit_pages(engine: Engine, retrieval: Retrieval) -> Iterator[Page]:
    for hit in retrieval.hits:
        for page in engine.document(hit.chunk.doc_id).pages_of(hit.chunk.start, hit.chunk.end):
            yield hit.chunk.doc_id, page


def source_pages(engine: Engine, retrieval: Retrieval) -> set[Page]:
    sources = build_sources(retrieval, engine.document, engine.settings.answer)
    return {(source.doc_id, page) for source in sources for page in source.pages}


def first_pages(engine: Engine, retrieval: Retrieval, k: int) -> set[Page]:
    return set(hit_pages(engine, replace(retrieval, hits=retrieval.hits[:k])))


def show(asked: Sequence[Asked], results: dict[str, list[Found]]) -> None:
    for row, one in enumerate(asked):
        print(f"\n{one.kind}: {one.question}")
        for number, place in enumerate(one.places):
            marks = (f"{mode} {''.join('-+'[is_in] for is_in in results[mode][row][number])}" for mode in MODES)
            print(f"  {', '.join(f'{name}:{page}' for name, page in sorted(place))}  {', '.join(marks)}")
    print()


def rows_of(kind: str, asked: Sequence[Asked], results: dict[str, list[Found]]) -> list[list[object]]:
    """A row for each measure over the questions of ``kind``; "" for all."""
    chosen = [row for row, one in enumerate(asked) if kind in (one.kind, "")]
    rows: list[list[object]] = []
    for column, measure in enumerate(MEASURES):
        holds = (any, all)[column % 2]
        hits = {mode: [holds(found[column // 2] for found in results[mode][row]) for row in chosen] for mode in MODES}
        gain = [float(a) - float(b) for a, b in zip(hits["auto"], hits["hybrid"])]
        error = statistics.stdev(gain) / len(gain) ** 0.5 if len(gain) > 1 else 0.0
        shares = [statistics.fmean(hits[mode]) for mode in MODES]
        rows.append([kind or "all", len(chosen), measure, *shares, f"{statistics.fmean(gain):+.3f} ± {error:.3f}"])
    return rows


if __name__ == "__main__":
    main()
