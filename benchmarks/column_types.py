"""Is the type that a grid proposes for a column the one that a person chose?

    python -m benchmarks column_types

Columns of the grid's two sets (`grid.jsonl`, `grid_b.jsonl`), each with a name, mostly a question, and the type by
which its values were written down from the pages. *right*: columns whose proposed type it is; *value*: those that
have the type that a form without a proposal begins with. No document is read.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import chain

from benchmarks.common import table
from benchmarks.grid import FILE, read
from ragcore.grid.columns import type_of
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.sections import RuleFields

SETS = (FILE, FILE.with_name("grid_b.jsonl"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    rows: list[list[object]] = []
    for file in SETS:
        columns = set(chain.from_iterable(read(file)[0].values()))
        analyser, reader = RuleAnalyser(), RuleFields()
        pairs = Counter((one.type, type_of(one.name, one.question, analyser, reader)) for one in columns)
        right = sum(n for (chosen, given), n in pairs.items() if chosen == given)
        value = sum(n for (chosen, _), n in pairs.items() if chosen == "value")
        rows.append([file.stem, len(columns), f"{right / len(columns):.2f}", f"{value / len(columns):.2f}"])
        for (chosen, given), n in pairs.most_common():
            print(f"{file.stem}: {n} of type {chosen} were proposed as {given}")
    print(table(rows, ("set", "columns", "right", "value")))


if __name__ == "__main__":
    main()
