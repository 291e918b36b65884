"""How long does the graph of names take to build, to follow the library, and to answer?

    python -m benchmarks connections --home DIR [--home DIR ...] [--passages 50000]

The documents of the libraries, and copies of them under other ids until there are so many passages, are read for names;
their graph is made; one document is removed and added again; and 200 beginnings of passages are asked. Nothing is
stored. Beside the time on the clock stands that of the processor.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import TypeVar

from benchmarks.common import table
from ragcore.index.chunks import leaves
from ragcore.index.graph import NameGraph, Names
from ragcore.index.store import Store
from ragcore.types import Chunk, Entry, Seeds

ASKED, WORDS = 200, 14
Chunks = Sequence[tuple[Entry, Chunk]]
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, action="append", required=True, help="a library; may be given again")
    parser.add_argument("--passages", type=int, default=50_000)
    options = parser.parse_args()
    documents = read(options.home, options.passages)
    marks = dict.fromkeys(documents, "as read")
    rows: list[tuple[object, ...]] = []

    def timed(what: str, do: Callable[[], T]) -> T:
        started, spent = time.perf_counter(), time.process_time()
        done = do()
        rows.append((what, f"{time.perf_counter() - started:.2f}", f"{time.process_time() - spent:.2f}"))
        return done

    parts = timed("names of all documents", lambda: {doc_id: Names.of(of) for doc_id, of in documents.items()})
    graph = timed("graph, with all links", lambda: linked(NameGraph(marks, parts)))
    fewer = dict(list(marks.items())[:-1])
    without = timed("one document removed", lambda: linked(graph.updated(fewer, lambda _: {})))
    wanted = {doc_id: documents[doc_id] for doc_id in marks.keys() - fewer.keys()}
    timed(
        "one document added",
        lambda: linked(without.updated(marks, lambda _: {doc_id: Names.of(of) for doc_id, of in wanted.items()})),
    )
    spent = [asked(graph, *one) for one in questions(documents)]
    nodes, links = graph.size
    print(f"{len(documents)} documents, {len(graph)} passages, {nodes} nodes, {links} links")
    print(table(rows, ("step", "seconds", "of processor")))
    print(f"a question: {1000 * statistics.median(spent):.0f} ms median, {1000 * max(spent):.0f} ms at most")


def read(homes: Sequence[Path], passages: int) -> dict[str, Chunks]:
    """Chunks of each document, and of copies until there are so many passages."""
    found: dict[str, Chunks] = {}
    for home in homes:
        store = Store(home)
        found |= {doc_id: store.indexed_chunks(doc_id) for doc_id in store.searchable()}
    if not found:
        sys.exit("These libraries have no documents that can be searched.")
    held = sum(len(leaves(chunks)) for chunks in found.values())
    for number, (doc_id, chunks) in enumerate(cycle(list(found.items()))):
        if held >= passages:
            return found
        found[f"{number}-{doc_id}"] = [
            (
                replace(entry, chunk_id=f"{number}-{entry.chunk_id}", doc_id=f"{number}-{doc_id}"),
                replace(chunk, chunk_id=f"{number}-{chunk.chunk_id}", doc_id=f"{number}-{doc_id}"),
            )
            for entry, chunk in chunks
        ]
        held += len(leaves(chunks))
    raise AssertionError("a cycle has no end")


def linked(graph: NameGraph) -> NameGraph:
    """The graph, after all that is made when it is first asked."""
    assert graph.size
    return graph


def questions(documents: dict[str, Chunks]) -> list[tuple[str, str]]:
    """Beginnings of passages, with their ids, drawn with a fixed seed."""
    drawn = random.Random(1)
    chosen = [drawn.choice(documents[drawn.choice(list(documents))]) for _ in range(ASKED)]
    return [(" ".join(chunk.text.split()[:WORDS]), chunk.chunk_id) for _, chunk in chosen]


def asked(graph: NameGraph, text: str, near: str) -> float:
    started = time.perf_counter()
    graph.query(Seeds(text, near), 50)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
