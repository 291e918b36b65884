"""Does hybrid search beat each of its parts on short scientific abstracts? nDCG@10 and recall@100 on SciFact.

    python -m benchmarks scifact --home DIR [--limit N] [--rerank]

The abstracts become a library in DIR (kept, so that a second run does not embed them again), one chunk each, with the
title as header. Published: BM25 nDCG@10 .665 (BEIR), bge-small-en-v1.5 .713.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.common import data, table
from ragcore.config.settings import Settings, load
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.offline.question import RuleAnalyser
from ragcore.protocols import Reranker
from ragcore.providers import registry as providers
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.retrieve.route import DocumentNames
from ragcore.types import Chunk, Document, Element, Page, WordMap

READ = RuleAnalyser().read

SIDES = (("BM25", "bm25"), ("vector", "vector"))


def lines(name: str) -> list[dict[str, Any]]:
    with (data("scifact") / name).open(encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


def fill(store: Store) -> None:
    """Every abstract as a document of one chunk, under the name of its id."""
    held = {info.name for info in store.documents()}
    for abstract in lines("corpus.jsonl"):
        if str(abstract["id"]) in held:
            continue
        text = abstract["text"]
        doc_id, _ = store.add_file(json.dumps(abstract).encode(), str(abstract["id"]))
        words = WordMap([0], [len(text)], [1], [(0.0, 0.0, 1.0, 1.0)], [False])
        elements = (Element(0, "paragraph", 0, len(text), 1),)
        document = Document(
            doc_id,
            doc_id * 4,
            str(abstract["id"]),
            abstract["title"],
            text,
            len(text),
            words,
            (Page(1, "1", 1, 1),),
            elements,
        )
        chunk = Chunk(f"{doc_id}:0", doc_id, 0, "text", 0, len(text), text, (), abstract["title"])
        store.put_document(document, [chunk], recipe="scifact")


def judgements() -> dict[str, set[str]]:
    relevant: dict[str, set[str]] = defaultdict(set)
    rows = (data("scifact") / "qrels.tsv").read_text("utf-8").splitlines()[1:]
    for row in rows:
        query, document, _ = row.split("\t")
        relevant[query].add(document)
    return relevant


def ndcg(ranked: list[str], relevant: set[str], k: int = 10) -> float:
    gain = sum(1.0 / math.log2(place + 2) for place, name in enumerate(ranked[:k]) if name in relevant)
    return gain / sum(1.0 / math.log2(place + 2) for place in range(min(k, len(relevant))))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="where the library is kept")
    parser.add_argument("--limit", type=int, help="the first claims only")
    parser.add_argument("--rerank", action="store_true", help="also hybrid with the cross-encoder (slow)")
    options = parser.parse_args()

    settings, _ = load()
    store = Store(options.home)
    fill(store)
    embedder = providers.embedder(settings.index.embedder, threads=settings.index.threads)
    indexer = Indexer(store, embedder, settings.index)
    indexer.update(on_progress=lambda done, total: print(f"\rembedded {done}/{total}", end="", file=sys.stderr))
    print(file=sys.stderr)
    vectors, sparse = indexer.open()

    names = {info.doc_id: info.name for info in store.documents()}
    relevant = judgements()
    claims = lines("queries.jsonl")[: options.limit]
    documents = DocumentNames(store.names())
    reranker = providers.reranker(settings.rerank.model, threads=settings.index.threads)
    plans: list[tuple[str, str, Settings, Reranker | None, DocumentNames | None]] = [
        *((name, mode, settings, None, None) for name, mode in SIDES),
        ("hybrid", "hybrid", settings, None, None),
        ("hybrid + names", "auto", settings, None, None),
        ("hybrid + routing", "hybrid", settings, None, documents),
    ]
    if options.rerank:
        plans += [("hybrid + rerank", "hybrid", settings, reranker, None)]
        plans += [("the default", "auto", settings, reranker, documents)]
    rows: list[list[object]] = []
    for name, mode, given, model, routing in plans:
        parts = (embedder, vectors, sparse, model, store.chunks_by_id, given)
        walked = {"connections": indexer.graph, "document": store.document}
        retriever = HybridRetriever(*parts, mode=mode, names=routing, read=READ, **walked)
        gains, recalls, spent = [], [], []
        for claim in claims:
            started = time.perf_counter()
            found = retriever.retrieve(claim["text"], top_k=100)
            spent.append((time.perf_counter() - started) * 1000)
            ranked = [names[hit.chunk.doc_id] for hit in found.hits]
            wanted = relevant[str(claim["id"])]
            gains.append(ndcg(ranked, wanted))
            recalls.append(len(wanted & set(ranked)) / len(wanted))
        rows.append([name, statistics.fmean(gains), statistics.fmean(recalls), f"{statistics.median(spent):.0f}"])
    print(table(rows, [f"{len(claims)} claims", "nDCG@10", "R@100", "ms"]))


if __name__ == "__main__":
    main()
