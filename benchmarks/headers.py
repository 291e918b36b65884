"""What should stand in front of a chunk? Combinations of context headers over one indexed library.

    python -m benchmarks headers --home DIR [--set financebench-dev] [--documents N] [--tables N] [--vectors FILE]

Each combination is indexed anew in memory (`--vectors` keeps what was embedded for the next run); nothing in DIR is
changed. Recall@k as in `benchmarks.retrieval`: the share of questions with an evidence page among the first k pages,
within the question's document and over all documents chosen, by BM25, vectors, both fused, and reranked. With
``--tables`` the questions are made from N tables of each document, as in `benchmarks.table_questions`, and recall is
that of the table or row asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.common import questions, table
from benchmarks.table_questions import made_questions
from ragcore.engine import Engine
from ragcore.index.bm25 import Bm25Index, Postings
from ragcore.offline.question import RuleAnalyser
from ragcore.protocols import Embedder, Vector
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.types import EVERYTHING, Chunk, Entry, Hit, Scope

READ = RuleAnalyser().read

AT = (1, 5, 10, 20)
BATCH = 256


@dataclass(frozen=True)
class Way:
    """One combination; ``rows`` is how many headings stand in front of a single table row."""

    name: str
    headings: int
    rows: int
    title: bool = True


WAYS = (
    Way("nothing", 0, 0, title=False),
    Way("title", 0, 0),
    Way("title, 1 heading", 1, 1),
    Way("title, 2 headings", 2, 2),
    Way("title, path", 9, 9),
    Way("title, path; rows 2 headings", 9, 2),
)


Mode = tuple[str, str, bool]  # name, retrieval mode, whether reranked
MODES: tuple[Mode, ...] = (
    ("BM25", "bm25", False),
    ("vector", "vector", False),
    ("hybrid", "hybrid", False),
    ("hybrid + rerank", "hybrid", True),
)


def headed(chunk: Chunk, title: str, way: Way) -> Chunk:
    headings = way.rows if chunk.kind == "table" and chunk.tiles is None else way.headings
    path = chunk.section[len(chunk.section) - min(headings, len(chunk.section)) :]
    header = " › ".join(part for part in ((title if way.title else ""), *path) if part)
    return replace(chunk, header=header, context="")


class Kept:
    """Vectors by the text that they are of, and a file for them."""

    def __init__(self, embedder: Embedder, file: Path | None) -> None:
        self._embedder, self._file = embedder, file
        self._known: dict[str, Vector] = {}
        if file is not None and file.is_file():
            with np.load(file) as arrays:
                self._known = dict(zip(arrays["keys"].tolist(), arrays["vectors"]))

    def learn(self, text: str, vector: Vector) -> None:
        self._known[_key(text)] = vector

    def of(self, texts: Sequence[str]) -> Vector:
        new = [text for text in dict.fromkeys(texts) if _key(text) not in self._known]
        for at in range(0, len(new), BATCH):
            part = new[at : at + BATCH]
            self._known.update(zip(map(_key, part), self._embedder.embed_documents(part)))
            print(f"\rembedded {at + len(part)} of {len(new)}   ", end="", file=sys.stderr, flush=True)
        if new and self._file is not None:
            np.savez(self._file, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
        return np.stack([self._known[_key(text)] for text in texts])


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class InMemory:
    """`Nearest` over the chunks of one wording."""

    def __init__(self, chunks: Sequence[Chunk], vectors: Vector) -> None:
        self._ids = [chunk.chunk_id for chunk in chunks]
        self._owners = np.array([chunk.doc_id for chunk in chunks])
        self._vectors = vectors

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        scores = self._vectors @ vector
        if scope.doc_ids is not None:
            scores = np.where(np.isin(self._owners, list(scope.doc_ids)), scores, -2.0)
        best = np.argsort(-scores, kind="stable")[:k]
        return [(self._ids[i], float(scores[i])) for i in best if scores[i] > -2.0]


@dataclass(frozen=True)
class Asked:
    text: str
    doc_id: str
    found: Callable[[Sequence[Hit]], int | None]  # the rank of the first right page or chunk


def measure(
    engine: Engine,
    doc_ids: Sequence[str],
    asked: Sequence[Asked],
    ways: Iterable[Way],
    kept: Kept,
    modes: Sequence[Mode],
) -> None:
    documents = {doc_id: engine.document(doc_id) for doc_id in doc_ids}
    chunks = {doc_id: engine.chunks(doc_id) for doc_id in doc_ids}
    by_id = {chunk.chunk_id: chunk for part in chunks.values() for chunk in part}
    entries, vectors = engine.store.vectors(engine.models.embedder.name, doc_ids)
    for chunk_id, vector in zip(entries.ids, vectors):
        kept.learn(by_id[chunk_id].index_text, vector)
    head = ["", "tokens", "", *(f"{scope} @{k}" for scope in ("doc", "corpus") for k in AT)]
    rows: list[list[object]] = []
    for way in ways:
        made = {i: [headed(chunk, documents[i].title, way) for chunk in chunks[i]] for i in doc_ids}
        rows += _rows(engine, way, made, asked, kept, modes)
        print("\n" + table(rows, head), flush=True)


def _rows(
    engine: Engine,
    way: Way,
    made: Mapping[str, Sequence[Chunk]],
    asked: Sequence[Asked],
    kept: Kept,
    modes: Sequence[Mode],
) -> list[list[object]]:
    from ragcore.text.sentences import count_tokens

    flat = [chunk for part in made.values() for chunk in part]
    embeds = any(mode != "bm25" for _name, mode, _reranked in modes)
    store = InMemory(flat, kept.of([chunk.index_text for chunk in flat]) if embeds else np.zeros((len(flat), 1)))
    index = engine.settings.index
    counted = {
        doc_id: Postings.of((Entry(c.chunk_id, c.doc_id, c.kind), c.index_text) for c in chunks)
        for doc_id, chunks in made.items()
    }
    sparse = Bm25Index(k1=index.bm25_k1, b=index.bm25_b).updated(dict.fromkeys(made, way.name), lambda _: counted)
    by_id = {chunk.chunk_id: chunk for chunk in flat}
    head = sum(count_tokens(f"{chunk.header}\n{chunk.context}") for chunk in flat[::7]) / len(flat[::7])
    out: list[list[object]] = []
    for place, (name, mode, reranked) in enumerate(modes):
        retriever = HybridRetriever(
            engine.models.embedder,
            store,  # type: ignore[arg-type]
            sparse,
            engine.models.reranker if reranked else None,
            lambda ids: [by_id[i] for i in ids],
            engine.settings,
            mode=mode,
            read=READ,
        )
        row: list[object] = [way.name if not place else "", f"{head:.0f}" if not place else "", name]
        for scope in ("document", "corpus"):
            ranks = [
                question.found(
                    retriever.retrieve(
                        question.text,
                        top_k=max(AT),
                        scope=Scope((question.doc_id,) if scope == "document" else tuple(made)),
                    ).hits
                )
                for question in asked
            ]
            row += [sum(rank is not None and rank <= k for rank in ranks) / len(ranks) for k in AT]
        out.append(row)
    return out


def page_questions(
    engine: Engine, name: str, most: int | None, names: tuple[str, ...]
) -> tuple[list[str], list[Asked]]:
    """The questions of the set about the ``most`` documents with most of them, of those in the library whose file name
    starts with one of ``names``."""
    named = {info.name: info.doc_id for info in engine.documents() if info.indexed and info.name.startswith(names)}
    usable = [item for item in questions(name) if item["evidence"] and item["doc"] in named]
    docs = [doc for doc, _count in Counter(item["doc"] for item in usable).most_common(most)]

    def finder(doc_id: str, pages: set[int]) -> Callable[[Sequence[Hit]], int | None]:
        def found(hits: Sequence[Hit]) -> int | None:
            ranked = dict.fromkeys(
                (hit.chunk.doc_id, page)
                for hit in hits
                for page in engine.document(hit.chunk.doc_id).pages_of(hit.chunk.start, hit.chunk.end)
            )
            right = (rank for rank, (owner, page) in enumerate(ranked, 1) if owner == doc_id and page in pages)
            return next(right, None)

        return found

    asked = [
        Asked(
            item["question"],
            named[item["doc"]],
            finder(named[item["doc"]], {evidence["page"] + 1 for evidence in item["evidence"]}),
        )
        for item in usable
        if item["doc"] in docs
    ]
    return [named[doc] for doc in docs], asked


def table_questions(engine: Engine, doc_ids: Sequence[str], count: int) -> list[Asked]:
    return [
        Asked(
            question.text,
            question.doc_id,
            lambda hits, question=question: next((hit.rank for hit in hits if question.is_hit(hit.chunk)), None),
        )
        for doc_id in doc_ids
        for question in made_questions(engine.document(doc_id), count, seed=7)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="an indexed library that holds the set's documents")
    parser.add_argument("--set", default="financebench-dev", choices=["financebench-dev", "mmlongbench-dev"])
    parser.add_argument("--documents", type=int, help="only so many documents, those with most questions")
    parser.add_argument("--names", nargs="+", default=[""], help="only documents whose file name starts so")
    parser.add_argument("--tables", type=int, help="ask about so many tables of each document instead")
    parser.add_argument("--ways", default="", help="only these combinations: their places, from 0, with commas")
    parser.add_argument("--modes", type=int, help="only so many: BM25, vector, hybrid, hybrid + rerank")
    parser.add_argument("--vectors", type=Path, help="a .npz file that keeps what was embedded")
    options = parser.parse_args()
    ways = [WAYS[int(place)] for place in options.ways.split(",")] if options.ways else list(WAYS)
    with Engine.open(options.home) as engine:
        doc_ids, asked = page_questions(engine, options.set, options.documents, tuple(options.names))
        if options.tables:
            asked = table_questions(engine, doc_ids, options.tables)
        if not asked:
            sys.exit(f"None of the set's documents is indexed in {options.home}: ingest them with `--index` first.")
        print(f"{len(asked)} questions, {len(doc_ids)} documents", file=sys.stderr)
        measure(engine, doc_ids, asked, ways, Kept(engine.models.embedder, options.vectors), MODES[: options.modes])


if __name__ == "__main__":
    main()
