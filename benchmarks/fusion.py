"""Do the weights of fusion hold on questions that they were not chosen on? Each set left out in turn.

    python -m benchmarks fusion --home DIR [--limit N]

DIR/filings and DIR/manuals are libraries of financebench-dev and mmlongbench-dev (`groundwork --home DIR/filings ingest
… --index`); those of musique-dev, scifact and contextual-code are made when missing. For each set, every pair of
`alpha` and the reranker's vote is tried; the pair that is best on all other sets, each counting the same, is then
measured on the one left out, beside the pair in force and each side alone. A set's figure is the mean of its recall at
three depths (pages @1/5/10, passages @2/5/10, chunks of code @1/5/10), of scifact nDCG@10.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import contextual_code, musique, scifact
from benchmarks.common import questions, table
from benchmarks.retrieval import QUIET, hit_pages
from ragcore.config.settings import Settings, load
from ragcore.engine import Engine
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.offline.question import RuleAnalyser
from ragcore.protocols import Embedder, RememberedReranker, Reranker
from ragcore.providers import registry as providers
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.retrieve.route import DocumentNames
from ragcore.types import EVERYTHING, Retrieval, Scope

ALPHAS = (0.5, 0.6, 0.65, 0.7, 0.8)
VOTES = (0.0, 0.1, 0.2, 0.4)
READ = RuleAnalyser().read
Pair = tuple[float, float]
BM25, VECTORS = (0.0, 0.0), (1.0, 0.0)
PAIRS = (BM25, VECTORS, *((alpha, vote) for alpha in ALPHAS for vote in VOTES))


@dataclass(frozen=True)
class RememberedEmbedder:
    """Embedder of questions that reads none twice."""

    model: Any
    known: dict[str, Any] = field(default_factory=dict)

    def embed_query(self, text: str) -> Any:
        if text not in self.known:
            self.known[text] = self.model.embed_query(text)
        return self.known[text]


@dataclass(frozen=True)
class Case:
    question: str
    gold: frozenset[Hashable]
    scope: Scope = EVERYTHING


@dataclass(frozen=True)
class Asked:
    """A set: its questions, how what was found is named, and the depths or (none) nDCG@10 that it is measured by."""

    retriever: HybridRetriever
    cases: Sequence[Case]
    named: Callable[[Retrieval], Iterable[Hashable]]
    depths: tuple[int, ...] = ()
    any: bool = False  # one piece of evidence is enough

    def value(self, alpha: float, vote: float) -> float:
        kept = self.retriever.settings
        weights = {
            "retrieve": kept.retrieve.model_copy(update={"alpha": alpha}),
            "rerank": kept.rerank.model_copy(update={"weight": vote}),
        }
        settings = kept.model_copy(update=weights)
        retriever = replace(self.retriever, settings=settings)
        return statistics.fmean(self._of(case, retriever) for case in self.cases)

    def _of(self, case: Case, retriever: HybridRetriever) -> float:
        found = retriever.retrieve(case.question, top_k=20, scope=case.scope)
        ranked = list(dict.fromkeys(self.named(found)))
        if not self.depths:
            return scifact.ndcg([str(name) for name in ranked], {str(name) for name in case.gold})
        held = [len(case.gold & set(ranked[:k])) for k in self.depths]
        return statistics.fmean(min(1, n) if self.any else n / len(case.gold) for n in held)


def pages(home: Path, name: str, reranker: Reranker) -> Asked:
    """Questions over the documents of a library, each over all of them and in its own."""
    engine = Engine.open(home, overrides=QUIET)
    ids = {info.name: info.doc_id for info in engine.documents() if info.indexed}
    asked = [one for one in questions(name) if one["evidence"] and one["doc"] in ids]
    used = tuple(sorted({ids[one["doc"]] for one in asked}))
    cases = [
        Case(one["question"], frozenset((ids[one["doc"]], item["page"] + 1) for item in one["evidence"]), Scope(scope))
        for one in asked
        for scope in (used, (ids[one["doc"]],))
    ]
    retriever = engine.search.hybrid()
    retriever = replace(retriever, mode="hybrid", reranker=reranker, embedder=RememberedEmbedder(retriever.embedder))
    return Asked(retriever, cases, partial(hit_pages, engine), (1, 5, 10), any=True)


def passages(
    store: Store,
    cases: Sequence[Case],
    depths: tuple[int, ...],
    embedder: Embedder,
    reranker: Reranker,
    settings: Settings,
) -> Asked:
    indexer = Indexer(store, embedder, settings.index)
    indexer.update()
    names = {info.doc_id: info.name for info in store.documents()}
    parts = (RememberedEmbedder(embedder), *indexer.open(), reranker, store.chunks_by_id, settings)
    retriever = HybridRetriever(*parts, names=DocumentNames(store.names()), read=READ)
    return Asked(retriever, cases, lambda found: [names[hit.chunk.doc_id] for hit in found.hits], depths)


def sets(home: Path, limit: int | None) -> dict[str, Asked]:
    settings, _ = load()
    embedder = providers.embedder(settings.index.embedder, threads=settings.index.threads)
    model = providers.reranker(settings.rerank.model, threads=settings.index.threads)
    assert model is not None  # "none" has no vote to choose
    reranker = RememberedReranker(model)
    steps, abstracts = Store(home / "musique"), Store(home / "scifact")
    musique.fill(steps)
    scifact.fill(abstracts)
    code = contextual_code.library(home / "code", embedder, settings, headed=True)
    relevant = scifact.judgements()
    of_steps = [Case(one["question"], frozenset(one["supporting"])) for one in questions("musique-dev")[:limit]]
    claims = scifact.lines("queries.jsonl")[:limit]
    of_abstracts = [Case(one["text"], frozenset(relevant[str(one["id"])])) for one in claims]
    of_code = [
        Case(one["question"], frozenset(one["golden"])) for one in contextual_code.lines("questions.jsonl")[:limit]
    ]
    over_code = HybridRetriever(
        *(RememberedEmbedder(embedder), code.vectors, code.sparse, reranker, code.store.chunks_by_id, settings),
        read=READ,
    )
    return {
        "filings": pages(home / "filings", "financebench-dev", reranker),
        "manuals": pages(home / "manuals", "mmlongbench-dev", reranker),
        "several steps": passages(steps, of_steps, (2, 5, 10), embedder, reranker, settings),
        "abstracts": passages(abstracts, of_abstracts, (), embedder, reranker, settings),
        "code": Asked(
            over_code, of_code, lambda found: [code.names[hit.chunk.chunk_id] for hit in found.hits], (1, 5, 10)
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--limit", type=int, help="the first questions only, of the sets of short texts")
    options = parser.parse_args()
    settings, _ = load()
    force: Pair = (settings.retrieve.alpha, settings.rerank.weight)
    values: dict[str, dict[Pair, float]] = {}
    for name, asked in sets(options.home, options.limit).items():
        values[name] = {}
        for pair in dict.fromkeys((force, *PAIRS)):
            values[name][pair] = asked.value(*pair)
            print(f"\r{name} {len(values[name])}", end="", file=sys.stderr)
    print(file=sys.stderr)
    rows = []
    for name, own in values.items():
        others = [other for other in values if other != name]
        best = max(own, key=lambda pair: sum(values[other][pair] for other in others))
        rows.append([name, f"{best[0]}, {best[1]}", own[best], own[force], own[VECTORS], own[BM25]])
    head = ["left out", "chosen on the others", "there", f"in force ({force[0]}, {force[1]})", "vectors", "BM25"]
    print(table(rows, head))


if __name__ == "__main__":
    main()
