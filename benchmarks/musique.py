"""Does asking for the parts of a question find more? R@5 and AR@5 on MuSiQue's questions of several steps.

    python -m benchmarks musique --home DIR [--limit N]

The passages become a library in DIR (kept, so that a second run does not embed them again), one chunk each, with the
title as header. R@k is the mean share of a question's supporting passages among the first k, AR@k the share of
questions with all of them there. The rows: each side alone, hybrid, with names (*graph*), each with the cross-encoder
and routing, with sub-queries by rules, and, for what a model could add at best, with those of the set's own
sub-questions in its place that stand by themselves.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import data, questions, table
from ragcore.config.settings import load
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.offline.question import RuleAnalyser
from ragcore.pipelines.structures import Structures
from ragcore.protocols import Retriever
from ragcore.providers import registry as providers
from ragcore.retrieve.agentic import AgenticRetriever
from ragcore.retrieve.hybrid import STRUCTURES, HybridRetriever
from ragcore.retrieve.route import DocumentNames
from ragcore.types import Chunk, Document, Element, Page, SubQuery, WordMap

READ = RuleAnalyser().read

AT = (2, 5, 10)
_REFERENCE = re.compile(r"#(\d)")


def fill(store: Store) -> None:
    """Every passage as a document of one chunk, under the name of its id."""
    held = {info.name for info in store.documents()}
    with (data("musique-dev") / "corpus.jsonl").open(encoding="utf-8") as rows:
        passages = [json.loads(row) for row in rows]
    for passage in passages:
        if passage["id"] in held:
            continue
        text, title = passage["text"], passage["title"]
        doc_id, _ = store.add_file(json.dumps(passage).encode(), passage["id"])
        words = WordMap([0], [len(text)], [1], [(0.0, 0.0, 1.0, 1.0)], [False])
        elements = (Element(0, "paragraph", 0, len(text), 1),)
        pages = (Page(1, "1", 1, 1),)
        document = Document(doc_id, doc_id * 4, passage["id"], title, text, len(text), words, pages, elements)
        chunk = Chunk(f"{doc_id}:0", doc_id, 0, "text", 0, len(text), text, (), title)
        store.put_document(document, [chunk], recipe="musique")


def known(steps: Sequence[Mapping[str, str]]) -> list[str]:
    """The sub-questions that need no answer to another."""
    return [_spelled(step["question"]) for step in steps if not _REFERENCE.search(step["question"])]


def _spelled(question: str) -> str:
    """``Hello Love >> performer`` as a question."""
    subject, relation = (part.strip() for part in [*question.split(">>"), ""][:2])
    return f"What is the {relation} of {subject}?" if relation else subject


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="where the library is kept")
    parser.add_argument("--limit", type=int, help="the first questions only")
    options = parser.parse_args()

    settings, _ = load()
    store = Store(options.home)
    fill(store)
    embedder = providers.embedder(settings.index.embedder, threads=settings.index.threads)
    indexer = Indexer(store, embedder, settings.index)
    indexer.update(on_progress=lambda done, total: print(f"\rembedded {done}/{total}", end="", file=sys.stderr))
    print(file=sys.stderr)
    vectors, sparse = indexer.open()
    reranker = providers.reranker(settings.rerank.model, threads=settings.index.threads)
    titles = DocumentNames(store.names())
    asked = questions("musique-dev")[: options.limit]
    structures = Structures(store, indexer, embedder)

    def hybrid(mode: str, *, full: bool = False) -> HybridRetriever:
        model, names = (reranker, titles) if full else (None, None)
        return HybridRetriever(
            *(embedder, vectors, sparse, model, store.chunks_by_id, settings),
            mode=mode,
            names=names,
            read=READ,
            connections=indexer.graph,
            document=store.document,
            structure=structures.open,
        )

    def parts(question: Mapping[str, Any]) -> list[SubQuery]:
        return [SubQuery(text, "model") for text in known(question["decomposition"])[:3]]

    full, connected = hybrid("hybrid", full=True), hybrid("graph", full=True)
    rows: list[tuple[str, Callable[[Mapping[str, Any]], Retriever]]] = [
        ("BM25", lambda _: hybrid("bm25")),
        ("vector", lambda _: hybrid("vector")),
        ("hybrid", lambda _: hybrid("hybrid")),
        ("hybrid + names (auto)", lambda _: hybrid("auto")),
        ("graph", lambda _: hybrid("graph")),
        *((mode, lambda _, mode=mode: hybrid(mode)) for mode in STRUCTURES),
        ("hybrid + rerank + routing", lambda _: full),
        ("auto + rerank + routing", lambda _: hybrid("auto", full=True)),
        ("graph + rerank + routing", lambda _: connected),
        ("+ sub-queries by rules", lambda _: AgenticRetriever(full)),
        ("+ known parts", lambda question: AgenticRetriever(full, parts=parts(question))),
    ]
    names = {info.doc_id: info.name for info in store.documents()}
    cells = []
    for name, make in rows:
        found, spent, split = [], [], 0
        for question in asked:
            started = time.perf_counter()
            retrieval = make(question).retrieve(question["question"], top_k=20)
            spent.append((time.perf_counter() - started) * 1000)
            split += len(retrieval.queries) > 1
            ranked = [names[hit.chunk.doc_id] for hit in retrieval.hits]
            wanted = set(question["supporting"])
            found.append([len(wanted & set(ranked[:k])) / len(wanted) for k in AT])
        recall = [statistics.fmean(column) for column in zip(*found)]
        everything = [statistics.fmean(share == 1.0 for share in column) for column in zip(*found)]
        cells.append([name, split, *recall, *everything, f"{statistics.median(spent):.0f}"])
        print(f"{name} done", file=sys.stderr)
    head = [f"{len(asked)} questions", "with parts", *(f"R@{k}" for k in AT), *(f"AR@{k}" for k in AT), "ms"]
    print(table(cells, head))


if __name__ == "__main__":
    main()
