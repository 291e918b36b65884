"""How often does retrieval find the page that holds the answer? Every row over one ingested and indexed library.

    groundwork --home DIR ingest ../shared/data/financebench-dev/pdfs --index
    python -m benchmarks retrieval --home DIR [--set financebench-dev] [--limit N]

A row ranks pages: those of its first hit, of its second, and so on, each page once. Recall@k is the share of questions
with an evidence page among the first k; once within the question's document, once over all documents of the set that
the library holds. "sources" is the share with an evidence page in the numbered sources that the writer would get, "all"
the share with every evidence page there: a ratio of two statements needs both; those rows rank the pages of the
passages (segments, tables, neighbours) instead of the hits. Each row after "hybrid" has one step more than that before.
The baseline is BM25 as rank-bm25 ships it over whole pages of plain text, in the same run.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymupdf
from rank_bm25 import BM25Okapi

from benchmarks.common import questions, table
from ragcore.answer.sources import build_sources
from ragcore.engine import Engine
from ragcore.types import Retrieval

AT = (1, 5, 10, 20)
QUIET: dict[str, Any] = {"llm.model": "offline"}
UNLED: dict[str, Any] = {"retrieve.mode": "hybrid"}
ALONE: dict[str, Any] = {**UNLED, "agentic.decompose": "off"}
UNROUTED: dict[str, Any] = {**ALONE, "route.weight": 0.0}
FUSED: dict[str, Any] = {**UNROUTED, "rerank.model": "none"}
# What is added step by step, until nothing is left out.
STEPS: tuple[dict[str, Any], ...] = (
    {**FUSED, "wording.focus": False, "wording.synonyms": False},
    FUSED,
    UNROUTED,
    ALONE,
    UNLED,
    {},
)
Page = tuple[str, int]


@dataclass
class Row:
    """One way of retrieving: for each question and scope whether the evidence was among the first k pages."""

    name: str
    found: dict[str, list[list[bool]]] = field(default_factory=dict)
    in_sources: dict[str, list[tuple[bool, bool]]] = field(default_factory=dict)  # any, all
    spent_ms: list[float] = field(default_factory=list)

    def add(self, scope: str, pages: Iterable[Page], gold: set[Page]) -> None:
        ranked = list(dict.fromkeys(pages))
        self.found.setdefault(scope, []).append([bool(gold & set(ranked[:k])) for k in AT])

    def cells(self) -> list[object]:
        out: list[object] = [self.name]
        for scope in ("document", "corpus"):
            found = self.found[scope]
            out += [sum(column) / len(found) for column in zip(*found)]
            sources = self.in_sources.get(scope)
            out += [sum(column) / len(sources) for column in zip(*sources)] if sources else ["", ""]
        return [*out, f"{statistics.median(self.spent_ms):.0f}"]


class PlainPages:
    """BM25 with rank-bm25's defaults over whole pages of plain text; terms are lower-case runs of letters."""

    def __init__(self, files: dict[str, Path]) -> None:
        self._pages: list[Page] = []
        corpus = []
        for doc_id, path in files.items():
            with pymupdf.open(path) as pdf:
                for number, page in enumerate(pdf, start=1):
                    self._pages.append((doc_id, number))
                    corpus.append(_plain_terms(page.get_text()))
        self._all = BM25Okapi(corpus)
        self._by_document = {
            doc_id: BM25Okapi([terms for terms, page in zip(corpus, self._pages) if page[0] == doc_id])
            for doc_id in files
        }

    def ranked(self, question: str, doc_id: str | None) -> list[Page]:
        index = self._all if doc_id is None else self._by_document[doc_id]
        pages = self._pages if doc_id is None else [page for page in self._pages if page[0] == doc_id]
        scores = index.get_scores(_plain_terms(question))
        return [pages[row] for row in sorted(range(len(pages)), key=lambda row: -scores[row])[: max(AT)]]


def _plain_terms(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def hit_pages(engine: Engine, retrieval: Retrieval) -> Iterator[Page]:
    for hit in retrieval.hits:
        for page in engine.document(hit.chunk.doc_id).pages_of(hit.chunk.start, hit.chunk.end):
            yield hit.chunk.doc_id, page


def segment_pages(engine: Engine, retrieval: Retrieval) -> Iterator[Page]:
    for segment in retrieval.segments:
        for page in engine.document(segment.doc_id).pages_of(segment.start, segment.end):
            yield segment.doc_id, page


def source_pages(engine: Engine, retrieval: Retrieval) -> set[Page]:
    sources = build_sources(retrieval, engine.document, engine.settings.answer)
    return {(source.doc_id, page) for source in sources for page in source.pages}


PagesOf = Callable[[Engine, Retrieval], Iterator[Page]]


def measure(home: Path, asked: Sequence[dict[str, Any]], scopes: Sequence[str]) -> list[Row]:
    """The rows for the questions whose document is in the library."""
    plain, worded, reranked, routed, parts, led = (
        Engine.open(home, overrides=QUIET | {"retrieve.top_k": max(AT)} | step) for step in STEPS
    )
    engines = (plain, worded, reranked, routed, parts, led)
    named = {info.name: info.doc_id for info in plain.documents() if info.indexed}
    asked = [question for question in asked if question["doc"] in named]
    used = sorted({named[question["doc"]] for question in asked})
    if not asked:
        sys.exit(f"None of the set's documents is indexed in {home}: ingest them with `--index` first.")
    print(f"{len(asked)} questions, {len(used)} documents", file=sys.stderr)

    baseline, pages = Row("BM25, whole pages"), PlainPages({doc_id: plain.file(doc_id) for doc_id in used})
    ways: list[tuple[Row, Engine]] = [
        (Row("BM25"), plain.with_settings({"retrieve.mode": "bm25"})),
        (Row("vector"), plain.with_settings({"retrieve.mode": "vector"})),
        (Row("hybrid"), plain),
        (Row("+ wording"), worded),
        (Row("+ rerank"), reranked),
        (Row("+ routing"), routed),
        (Row("+ parts by rules"), parts),
        (Row("+ names (the default)"), led),
    ]
    segmented = {
        row.name: Row(f"{row.name}, passages")
        for row, engine in ways
        if engine.settings.retrieve.mode in ("auto", "hybrid")
    }
    for engine in engines:
        engine.warm()
    for number, question in enumerate(asked, start=1):
        doc_id = named[question["doc"]]
        gold = {(doc_id, item["page"] + 1) for item in question["evidence"]}
        for scope in scopes:
            started = time.perf_counter()
            ranked = pages.ranked(question["question"], doc_id if scope == "document" else None)
            baseline.spent_ms.append((time.perf_counter() - started) * 1000)
            baseline.add(scope, ranked, gold)
            for row, engine in ways:
                started = time.perf_counter()
                retrieval = engine.retrieve(question["question"], doc_ids=[doc_id] if scope == "document" else used)
                spent = (time.perf_counter() - started) * 1000
                row.spent_ms.append(spent)
                row.add(scope, hit_pages(engine, retrieval), gold)
                segments = segmented.get(row.name)
                if segments is not None:
                    segments.spent_ms.append(spent)
                    segments.add(scope, segment_pages(engine, retrieval), gold)
                    given = source_pages(engine, retrieval)
                    segments.in_sources.setdefault(scope, []).append((bool(gold & given), gold <= given))
        print(f"\r{number}/{len(asked)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return [baseline, *(row for row, *_ in ways), *segmented.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="an indexed library that holds the set's documents")
    parser.add_argument("--set", default="financebench-dev", choices=["financebench-dev", "mmlongbench-dev"])
    parser.add_argument("--limit", type=int, help="the first questions only")
    options = parser.parse_args()
    asked = [question for question in questions(options.set) if question["evidence"]][: options.limit]
    rows = measure(options.home, asked, ("document", "corpus"))
    head = [""]
    head += [f"{scope} {what}" for scope in ("doc", "corpus") for what in (*(f"@{k}" for k in AT), "sources", "all")]
    print(table([row.cells() for row in rows], [*head, "ms"]))


if __name__ == "__main__":
    main()
