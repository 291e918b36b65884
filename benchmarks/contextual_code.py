"""Are the passages of code found that answer a question? Pass@5/10/20 on the set of the Contextual Retrieval cookbook.

    python -m benchmarks contextual_code --home DIR [--limit N] [--no-rerank]

90 source files of 9 repositories in 737 chunks, 124 questions with 1 to 7 golden chunks each; pass@k is the mean share
of them among the first k hits. DIR keeps two libraries, so that a second run does not embed again: ``plain`` has the
chunks alone, ``headed`` the repository and path as title in front of each and, as its context, a summary taken from the
file: the first sentence of its first comment and the names that it defines.

Published for all 248 questions with a hosted embedder and a language model that situates each chunk: embeddings
.809/.872/.901, contextual embeddings .864/.928/.938, with contextual BM25 .864/.932/.950, with a reranker
.912/.948/.963.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import data, table
from ragcore.config.settings import Settings, load
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.offline.question import RuleAnalyser
from ragcore.protocols import Embedder, Nearest, Reranker, SparseIndex
from ragcore.providers import registry as providers
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.text.sentences import sentence_spans
from ragcore.types import Chunk, Document, Element, Page, WordMap

READ = RuleAnalyser().read

AT = (5, 10, 20)
NAMES = 20  # names in a summary, at most
_DEFINED = re.compile(r"\b(?:class|struct|enum|trait|interface|fn|def|namespace)\s+([A-Za-z_]\w+)")
_COMMENT = re.compile(r"(?://[/!]?|/\*+!?|\*+/?|#(?!include|define|if|end|pragma|\[)+|\"\"\")\s?(.*)")
_PREAMBLE = re.compile(r"#|package\b|import\b|from\b|use\b")
_LICENCE = re.compile(r"licen[sc]e|copyright", re.IGNORECASE)


@dataclass(frozen=True)
class Library:
    """An indexed library, with the golden set's name of each of its chunks."""

    store: Store
    vectors: Nearest
    sparse: SparseIndex
    names: Mapping[str, str]


def lines(name: str) -> list[dict[str, Any]]:
    with (data("contextual-code") / name).open(encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


def summary(content: str) -> str:
    """What a file is about, in its own words: one sentence of its first comment, and the names that it defines."""
    said = _first_comment(content)
    spans = sentence_spans(said)
    sentence = said[spans[0][0] : spans[0][1]] if spans else ""
    names = list(dict.fromkeys(_DEFINED.findall(content)))[:NAMES]
    return " ".join(part for part in (sentence, f"Defines {', '.join(names)}." if names else "") if part)


def _first_comment(content: str) -> str:
    """The first run of comment lines, "" where it is a licence or code comes before it."""
    said: list[str] = []
    for line in content.splitlines():
        comment = _COMMENT.match(line.strip())
        if comment is not None:
            said.append(comment.group(1).removesuffix("*/").removesuffix('"""').strip())
        elif said or (line.strip() and not _PREAMBLE.match(line.strip())):
            break
    text = " ".join(said).strip()
    return "" if _LICENCE.search(text) else text


def fill(store: Store, *, headed: bool) -> dict[str, str]:
    """Every file as a document whose tiles are the set's chunks; the name of each chunk in the set, by chunk id."""
    held = {info.name: info.doc_id for info in store.documents()}
    names: dict[str, str] = {}
    for file in lines("docs.jsonl"):
        title, text = f"{file['repo']}{file['path']}", file["content"]
        doc_id = held.get(title) or store.add_file(title.encode(), title)[0]
        names.update({f"{doc_id}:{index}": part["id"] for index, part in enumerate(file["chunks"])})
        if title in held:
            continue
        context = summary(text) if headed else ""
        chunks, at = [], 0
        for index, part in enumerate(file["chunks"]):
            end = at + len(part["content"])
            chunks.append(
                Chunk(
                    chunk_id=f"{doc_id}:{index}",
                    doc_id=doc_id,
                    index=index,
                    kind="text",
                    start=at,
                    end=end,
                    text=text[at:end],
                    header=title if headed else "",
                    context=context,
                )
            )
            at = end
        words = WordMap([0], [len(text)], [1], [(0.0, 0.0, 1.0, 1.0)], [False])
        elements = (Element(0, "paragraph", 0, len(text), 1),)
        document = Document(
            doc_id, doc_id * 4, title, title, text, len(text), words, (Page(1, "1", 1.0, 1.0),), elements
        )
        store.put_document(document, chunks, recipe="contextual-code")
    return names


def library(home: Path, embedder: Embedder, settings: Settings, *, headed: bool) -> Library:
    store = Store(home)
    names = fill(store, headed=headed)
    indexer = Indexer(store, embedder, settings.index)
    indexer.update(on_progress=lambda done, total: print(f"\rembedded {done}/{total}", end="", file=sys.stderr))
    print(file=sys.stderr)
    vectors, sparse = indexer.open()
    return Library(store, vectors, sparse, names)


def passed(found: Sequence[str], golden: Sequence[str]) -> list[float]:
    """The share of ``golden`` among the first k, for each k."""
    return [len(set(golden) & set(found[:k])) / len(golden) for k in AT]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--limit", type=int, help="the first questions only")
    parser.add_argument("--no-rerank", action="store_true", help="without the rows that rerank (slow)")
    options = parser.parse_args()

    settings, _ = load(overrides={"route.weight": 0.0})
    embedder = providers.embedder(settings.index.embedder, threads=settings.index.threads)
    plain = library(options.home / "plain", embedder, settings, headed=False)
    headed = library(options.home / "headed", embedder, settings, headed=True)
    threads = settings.index.threads
    model = None if options.no_rerank else providers.reranker(settings.rerank.model, threads=threads)
    ways: list[tuple[str, Library, str, Settings, Reranker | None]] = []
    for name, held in (("", plain), ("header: ", headed)):
        ways += [
            (f"{name}BM25", held, "bm25", settings, None),
            (f"{name}vector", held, "vector", settings, None),
            (f"{name}hybrid", held, "hybrid", settings, None),
        ]
        if model is not None:
            ways += [(f"{name}hybrid + rerank", held, "hybrid", settings, model)]

    asked = lines("questions.jsonl")[: options.limit]
    rows: list[list[object]] = []
    for name, held, mode, given, reranker in ways:
        retriever = HybridRetriever(
            embedder, held.vectors, held.sparse, reranker, held.store.chunks_by_id, given, mode=mode, read=READ
        )
        shares, spent = [], []
        for number, question in enumerate(asked, start=1):
            started = time.perf_counter()
            hits = retriever.retrieve(question["question"], top_k=max(AT)).hits
            spent.append((time.perf_counter() - started) * 1000)
            shares.append(passed([held.names[hit.chunk.chunk_id] for hit in hits], question["golden"]))
            print(f"\r{name} {number}/{len(asked)}", end="", file=sys.stderr)
        rows.append([name, *(statistics.fmean(column) for column in zip(*shares)), f"{statistics.median(spent):.0f}"])
    print(file=sys.stderr)
    print(table(rows, [f"{len(asked)} questions", *(f"pass@{k}" for k in AT), "ms"]))


if __name__ == "__main__":
    main()
