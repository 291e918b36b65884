"""Are questions of several documents answered for each of them?

    python -m benchmarks comparisons [--half a|b|c] [--home HOME] [--counts]

``comparisons.jsonl`` has questions over three libraries of GROUNDWORK_DATA, ``a``, ``b`` and ``c``, by kind: a quantity
of two companies (``compare``), of which it is higher (``which``), of each company (``each``), what two documents say in
words (``prose``), and which documents have a term (``mention``). ``answers`` has, for each document that a whole answer
covers, its ``values``, of which one must stand in a citation of one of ``pages``. ``--counts`` prints no text.

*Covered*: the documents with such a citation of an answer, of all that are to be; *whole*: questions with all of them;
*others*: other documents that are cited; *winner first*: the first citation is of the document whose value is the
higher or lower one that is asked for.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.answers import holds, in_order, opened
from benchmarks.common import table
from benchmarks.two_hop import filled
from ragcore.engine import Engine

_SET = Path(__file__).with_name("comparisons.jsonl")
Item = dict[str, Any]


@dataclass(frozen=True)
class Row:
    kind: str
    asked: int
    covered: int
    others: int
    refused: bool
    first: bool | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", default="a", choices=("a", "b", "c"))
    parser.add_argument("--home", type=Path, help="a library to keep the documents in")
    parser.add_argument("--counts", action="store_true", help="print no question and no answer")
    options = parser.parse_args()
    head, *every = map(json.loads, _SET.read_text("utf-8").splitlines())
    items = [item for item in every if item["half"] == options.half]
    with opened(options.home) as engine:
        ids = filled(engine, head[options.half])
        rows = [asked(engine, ids, item, show=not options.counts) for item in items]
    print(table(summary(rows), ("kind", "questions", "covered", "whole", "others", "winner first", "refused")))


def asked(engine: Engine, ids: dict[str, str], item: Item, *, show: bool) -> Row:
    answer = engine.ask(item["question"], doc_ids=list(ids.values())).run()
    cited = in_order(answer) if not answer.refused else []
    right = {
        of["document"]: [
            one
            for one in cited
            if one.doc_id == ids[of["document"]]
            and one.page in of["pages"]
            and any(holds(one, value) for value in of["values"])
        ]
        for of in item["answers"]
    }
    others = {one.doc_id for one in cited} - {ids[name] for name in right}
    winner = item.get("winner")
    first = bool(cited and cited[0] in right[winner]) if winner else None
    covered = sum(bool(found) for found in right.values())
    if show and (covered < len(right) or others or first is False):
        missing = [name for name, found in right.items() if not found]
        print(f"[{item['kind']}] {item['question']}\n    missing {missing}, first {first}\n    {answer.text[:700]!r}\n")
    return Row(item["kind"], len(right), covered, len(others), answer.refused, first)


def summary(rows: Sequence[Row]) -> Iterator[list[object]]:
    groups = defaultdict[str, list[Row]](list)
    for row in rows:
        groups[row.kind].append(row)
    for name, group in [*sorted(groups.items()), ("**all**", list(rows))]:
        asked, covered = sum(row.asked for row in group), sum(row.covered for row in group)
        first = [row.first for row in group if row.first is not None]
        yield [
            name,
            len(group),
            f"{covered} of {asked}",
            sum(row.covered == row.asked for row in group),
            sum(row.others for row in group),
            f"{sum(first)} of {len(first)}" if first else "",
            sum(row.refused for row in group),
        ]


if __name__ == "__main__":
    main()
