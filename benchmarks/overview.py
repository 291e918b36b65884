"""Does an overview stand for the documents? Its passages beside the nearest, random and greedily chosen ones.

    python -m benchmarks overview --home LIBRARY [--kind PREFIX]

LIBRARY is a home folder that is read and embedded; PREFIX limits it to files whose names begin so. As many passages are
chosen in each way as the overview quotes. *coverage*: mean cosine of every passage with the nearest chosen one, which
*greedy* is made to raise (over a sample of `SAMPLE`); *documents*: share of the documents with a chosen passage;
*alike*: mean cosine of a chosen passage with its nearest other. Random ones are drawn `DRAWS` times; *communities* are
the passages that GraphRAG's global search gives first.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import table
from ragcore.engine import Engine
from ragcore.protocols import Asked, Vector
from ragcore.retrieve.themes import SAMPLE, Pool, covering
from ragcore.types import Scope

QUESTION = "What are the main themes over these documents?"
DRAWS = 20


def measured(rows: Sequence[int], pool: Pool) -> list[float]:
    """Coverage, documents and likeness of the chosen ``rows``."""
    chosen: Vector = pool.vectors[list(rows)]
    near = pool.vectors @ chosen.T
    between = chosen @ chosen.T - 2 * np.eye(len(chosen), dtype=np.float32)
    return [
        float(near.max(axis=1).mean()),
        len({pool.doc_ids[row] for row in rows}) / len(set(pool.doc_ids)),
        float(between.max(axis=1).mean()),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, metavar="LIBRARY")
    parser.add_argument("--kind", default="", metavar="PREFIX")
    options = parser.parse_args()
    with Engine.open(options.home, overrides={"llm.model": "offline", "retrieve.mode": "overview"}) as engine:
        doc_ids = tuple(info.doc_id for info in engine.documents() if info.name.startswith(options.kind))
        scope = Scope(doc_ids)
        found = engine.search.overview(QUESTION, scope)
        assert found is not None
        assert found.overview is not None
        pool = engine.search.pool(scope)
        at = {chunk_id: row for row, chunk_id in enumerate(pool.ids)}
        quoted = [span for theme in found.overview.themes for span in theme.digest]
        holding = ((hit.chunk, at[hit.chunk.chunk_id]) for hit in found.hits)
        own = {
            row
            for one, row in holding
            for doc_id, start, _ in quoted
            if one.doc_id == doc_id and one.start <= start < one.end
        }
        count = len(own)
        asked = Asked(QUESTION, engine.models.embedder.embed_query(QUESTION))
        nearest = np.argsort(-(pool.vectors @ asked.vector))[:count].tolist()
        draw = np.random.default_rng(0)
        some = draw.permutation(len(pool.ids))[:SAMPLE]
        communities = engine.search.structures.open("graphrag-global").leaves(asked, count, scope)
        greedy = some[covering(pool.vectors[some], [""] * len(some), pool.vectors[some], count)].tolist()
        drawn = [draw.choice(len(pool.ids), count, replace=False).tolist() for _ in range(DRAWS)]
        random = np.mean([measured(rows, pool) for rows in drawn], axis=0).tolist()
        rows = [
            ["overview", *measured(sorted(own), pool)],
            ["nearest to the question", *measured(nearest, pool)],
            ["communities", *measured([at[chunk_id] for chunk_id, _ in communities if chunk_id in at], pool)],
            ["random", *random],
            ["greedy coverage", *measured(greedy, pool)],
        ]
        print(
            f"{len(doc_ids)} documents, {len(pool.ids):,} passages, {len(found.overview.themes)} themes, {count} chosen"
        )
        print(table(rows, ["passages", "coverage", "documents", "alike"]))


if __name__ == "__main__":
    main()
