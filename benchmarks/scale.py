"""How the index behaves as the library grows: ``python -m benchmarks scale --sizes 1000,10000,100000``.

A library of synthetic documents of 300 chunks goes through the real store, indexer and retriever. Words follow Zipf's
law over 200,000 made-up ones; vectors are clustered as those of texts are (a direction common to all, topics of very
different sizes, a spectrum that falls off), made from the chunk's number and not by a model, which would take hours. A
query pays for the bundled embedder as any question does, and is then given the vector of a chunk with noise.

Building and querying are processes of their own, so that the memory of each is seen. Reranking is left out. Beside the
time of a query on the clock stands that of the processor (all threads together), which other work on the machine does
not change.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ROOT, table
from ragcore.config.settings import Settings, load
from ragcore.index.bm25 import terms
from ragcore.index.database import URL
from ragcore.index.indexer import Indexer
from ragcore.index.shelf import Trash
from ragcore.index.store import Store
from ragcore.protocols import Embedder, Vector
from ragcore.providers.registry import embedder
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.retrieve.route import DocumentNames
from ragcore.types import EVERYTHING, Chunk, Document, Element, Page, Scope, WordMap

PER_DOCUMENT = 300
CHUNK_WORDS = 100
VOCABULARY = 200_000
DIMENSIONS = 384
TOPICS = 2000
QUERIES = 100
TOP_K = 20
RANK_BM25_UP_TO = 100_000


class Made:
    """`Embedder` whose vectors are drawn from the number that a text begins with; ``model`` is run for its time."""

    name = "scale:made"
    dimensions = DIMENSIONS

    def __init__(self, model: Embedder | None = None) -> None:
        self._model = model
        drawn = np.random.default_rng(1)
        self._spectrum = (1 / np.sqrt(1 + np.arange(DIMENSIONS) / 8)).astype(np.float32)
        self._common = _unit(drawn.standard_normal(DIMENSIONS, dtype=np.float32))
        self._topics = _unit(drawn.standard_normal((TOPICS, DIMENSIONS), dtype=np.float32) * self._spectrum)
        self._weights = np.cumsum(1 / np.arange(1, TOPICS + 1) ** 0.8)

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        return np.stack([self._of(int(text.split(" ", 1)[0])) for text in texts])

    def embed_query(self, text: str) -> Vector:
        if self._model is not None:
            self._model.embed_query(text)
        drawn = np.random.default_rng(zlib.crc32(text.encode()))
        noise = _unit(drawn.standard_normal(DIMENSIONS, dtype=np.float32) * self._spectrum)
        return _unit(self._of(int(text.split(" ", 1)[0])) + 0.5 * noise)

    def _of(self, number: int) -> Vector:
        drawn = np.random.default_rng(number)
        topic = int(np.searchsorted(self._weights, drawn.random() * self._weights[-1]))
        own = _unit(drawn.standard_normal(DIMENSIONS, dtype=np.float32) * self._spectrum)
        return _unit(self._common + 0.7 * self._topics[topic] + 0.55 * own)


def _unit(vectors: Vector) -> Vector:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


class Words:
    """Made-up words by Zipf's law."""

    def __init__(self) -> None:
        syllables = [a + b for a in "bcdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "il", "or")]
        chosen = random.Random(2)
        self._words = np.array(["".join(chosen.choices(syllables, k=chosen.randint(2, 4))) for _ in range(VOCABULARY)])
        self._share = np.cumsum(1 / np.arange(1, VOCABULARY + 1))

    def of(self, number: int, count: int = CHUNK_WORDS) -> list[str]:
        """The words of a chunk, from its number."""
        drawn = np.random.default_rng([7, number]).random(count) * self._share[-1]
        words: list[str] = self._words[np.searchsorted(self._share, drawn)].tolist()
        return words


def put(store: Store, words: Words, number: int) -> str:
    """Put the document ``number`` into the library."""
    name = f"Report {number}"
    doc_id, _ = store.add_file(f"%PDF {number}".encode(), f"{name}.pdf")
    chunks: list[Chunk] = []
    at = 0
    for index in range(PER_DOCUMENT):
        text = " ".join([str(number * PER_DOCUMENT + index), *words.of(number * PER_DOCUMENT + index)]) + "\n"
        kind = "table" if index % 10 == 0 else "text"
        chunks.append(Chunk(f"{doc_id}:{index}", doc_id, index, kind, at, at + len(text), text))
        at += len(text)
    starts = [chunk.start for chunk in chunks]
    pages = [index // 6 + 1 for index in range(PER_DOCUMENT)]
    places = WordMap(starts, [s + 1 for s in starts], pages, [(0, 0, 9, 9)] * len(starts), [False] * len(starts))
    document = Document(
        doc_id,
        store.sha256(doc_id),
        f"{name}.pdf",
        name,
        "".join(chunk.text for chunk in chunks),
        at,
        places,
        tuple(Page(page, str(page), 600, 800) for page in range(1, pages[-1] + 1)),
        (Element(0, "paragraph", 0, at, 1),),
    )
    store.put_document(document, chunks, recipe="scale")
    return doc_id


def opened(home: Path, kind: str, model: Embedder | None = None) -> tuple[Store, Indexer, Made, Settings]:
    settings, _ = load(environ={}, overrides={"index.batch": 2000, "index.vector_store": kind})
    store, made = Store(home), Made(model)
    return store, Indexer(store, made, settings.index), made, settings


def build(home: Path, size: int, kind: str) -> dict[str, float]:
    """Put the documents and index them; then add and remove one."""
    store, indexer, _, _ = opened(home, kind)
    words = Words()
    documents = max(1, size // PER_DOCUMENT)
    out: dict[str, float] = {}
    with timed(out, "stored s"):
        for number in range(documents):
            put(store, words, number)
            if number % 500 == 499:
                print(f"{number + 1} of {documents} documents stored", file=sys.stderr, flush=True)
    with timed(out, "vectors s"):  # what embedding costs without the model: reading, drawing and storing
        chunks = store.waiting(Made.name)
        made = Made()
        for doc_id in chunks:
            waiting = store.unembedded(Made.name, doc_id)
            store.put_vectors(Made.name, waiting, made.embed_documents([chunk.index_text for chunk in waiting]))
    with timed(out, "caches s"):
        indexer.update()
    times: dict[str, list[float]] = {"put ms": [], "add ms": [], "remove ms": []}
    for number in range(documents, documents + 7):
        with timed(times, "put ms"):
            doc_id = put(store, words, number)
        with timed(times, "add ms"):
            indexer.update()
        if number % 2:
            Trash(store, 0).remove(doc_id)
            with timed(times, "remove ms"):
                indexer.open()
    for name, values in times.items():
        out[name] = float(np.median(values)) * 1000
    out["worst change ms"] = max(times["add ms"] + times["remove ms"]) * 1000
    out["build MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    out["database MB"] = store.database.size() / 2**20
    out["postings MB"] = (
        sum(len(data) for _, _, data in store.derived("postings", [doc_id for doc_id, _, _ in store.names()])) / 2**20
    )
    return out


def query(home: Path, size: int, kind: str) -> dict[str, float]:
    """Ask, in a process that knows nothing yet."""
    started = time.perf_counter()
    store, indexer, made, settings = opened(home, kind, embedder(load(environ={})[0].index.embedder))
    out: dict[str, float] = {"models s": time.perf_counter() - started}
    words, chosen = Words(), random.Random(3)
    names = DocumentNames(store.names())

    def ask(number: int, scope: Scope = EVERYTHING) -> tuple[dict[str, float], list[str]]:
        question = " ".join([str(number), *words.of(number)[: chosen.randint(8, 16)]])
        timings: dict[str, float] = {}
        begun, used = time.perf_counter(), time.process_time()
        vectors, sparse = indexer.open()
        retriever = HybridRetriever(made, vectors, sparse, None, store.chunks_by_id, settings, names=names)
        found = retriever.search(question, top_k=TOP_K, scope=scope, timings=timings)
        timings["total"] = (time.perf_counter() - begun) * 1000
        timings["cpu"] = (time.process_time() - used) * 1000
        return timings, [hit.chunk.chunk_id for hit in found.hits]

    out["first query ms"] = ask(0)[0]["total"]
    doc_ids = [doc_id for doc_id, _, _ in store.names()]
    total = len(doc_ids) * PER_DOCUMENT
    scopes = {
        "": EVERYTHING,
        "one document ": Scope((doc_ids[len(doc_ids) // 2],)),
        "tables p. 1-10 ": Scope(None, ((1, 10),), ("table",)),
    }
    for label, scope in scopes.items():
        asked = [ask(chosen.randrange(total), scope)[0] for _ in range(QUERIES)]
        for share in (50, 95):
            for clock, of in (("", "total"), (" CPU", "cpu")):
                out[f"{label}p{share} ms{clock}"] = float(np.percentile([timings[of] for timings in asked], share))
        if not label:
            for step in ("embed", "vector", "bm25", "fuse"):
                out[f"{step} ms"] = float(np.median([timings[step] for timings in asked]))
    out["recall"] = recall(store, indexer, made, [chosen.randrange(total) for _ in range(20)])
    out["query MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if size <= RANK_BM25_UP_TO:
        out["rank-bm25 p50 ms"], out["rank-bm25 p95 ms"] = rank_bm25(store, words, total)
    return out


def recall(store: Store, indexer: Indexer, made: Made, numbers: Sequence[int]) -> float:
    """The share of the 200 nearest vectors of all that the index finds."""
    vectors, _ = indexer.open()
    entries, matrix = store.vectors(Made.name, [doc_id for doc_id, _, _ in store.names()])
    shares = []
    for number in numbers:
        vector = made.embed_query(str(number))
        best = {entries.ids[row] for row in np.argsort(-(matrix @ vector))[:200].tolist()}
        shares.append(len(best & {chunk_id for chunk_id, _ in vectors.query(vector, 200)}) / len(best))
    return float(np.mean(shares))


def rank_bm25(store: Store, words: Words, total: int) -> tuple[float, float]:
    """p50 and p95 of rank-bm25's `get_scores` over the same chunks and questions, in ms."""
    from rank_bm25 import BM25Okapi

    corpus = [terms(chunk.index_text) for doc_id, _, _ in store.names() for chunk in store.chunks(doc_id)]
    okapi, chosen = BM25Okapi(corpus), random.Random(3)
    times = []
    for _ in range(20):
        question = " ".join(words.of(chosen.randrange(total))[: chosen.randint(8, 16)])
        begun = time.perf_counter()
        okapi.get_scores(terms(question))
        times.append((time.perf_counter() - begun) * 1000)
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))


class timed:  # noqa: N801 - used like a function
    """Add the seconds that a block takes to ``out[name]``, a number or a list of them."""

    def __init__(self, out: dict[str, Any], name: str) -> None:
        self._out, self._name = out, name

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        seconds = time.perf_counter() - self._begun
        if isinstance(self._out.get(self._name), list):
            self._out[self._name].append(seconds)
        else:
            self._out[self._name] = seconds


def _phase(call: str, home: Path, size: int, url: str, kind: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks", "scale", "--phase", call, "--home", str(home), "--vectors", kind]
    env = {name: value for name, value in os.environ.items() if name != URL} | ({URL: url} if url else {})
    done = subprocess.run([*command, "--sizes", str(size)], check=True, stdout=subprocess.PIPE, cwd=ROOT, env=env)
    out: dict[str, float] = json.loads(done.stdout)
    return out


def sizes(text: str) -> Iterator[int]:
    return (int(part.replace("_", "")) for part in text.split(","))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="chunks, with commas between")
    parser.add_argument("--home", type=Path, help="folder for the libraries (default: a temporary one); kept if given")
    parser.add_argument("--postgres", default="", metavar="URL", help="a database to do the same in, beside SQLite")
    parser.add_argument("--vectors", default="memory", help="stores of vectors for it, with commas between (pgvector)")
    parser.add_argument("--phase", choices=("build", "query"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phase:
        call: Callable[[Path, int, str], dict[str, float]] = {"build": build, "query": query}[options.phase]
        print(json.dumps(call(options.home, int(options.sizes), options.vectors)))
        return
    folder = options.home or Path(tempfile.mkdtemp(prefix="scale-"))
    results: dict[str, dict[str, float]] = {}
    databases = {"": ("", "memory")}
    if options.postgres:
        for kind in options.vectors.split(","):
            databases[" in PostgreSQL" if kind == "memory" else f" with {kind}"] = (options.postgres, kind)
    try:
        for size, (label, where) in product(sizes(options.sizes), databases.items()):
            home, name = folder / f"{size}{label.replace(' ', '-')}", f"{size:,} chunks{label}"
            if not (home / "built.json").is_file():
                home.mkdir(parents=True)
                (home / "built.json").write_text(json.dumps(_phase("build", home, size, *where)), "utf-8")
            results[name] = json.loads((home / "built.json").read_text("utf-8"))
            results[name] |= _phase("query", home, size, *where)
            print(json.dumps({"library": name, **results[name]}), file=sys.stderr, flush=True)
    finally:
        if options.home is None:
            shutil.rmtree(folder)
    measures = list(dict.fromkeys(name for result in results.values() for name in result))
    rows = [[name, *(f"{r[name]:,.2f}" if name in r else "" for r in results.values())] for name in measures]
    print(f"{PER_DOCUMENT} chunks a document; reranking left out.\n")
    print(table(rows, ["", *results]))
