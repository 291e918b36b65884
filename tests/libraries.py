"""Small libraries for tests of index and retrieval: documents from plain passages, and models that need no files."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragcore.index.bm25 import terms
from ragcore.index.store import Store
from ragcore.protocols import Vector
from ragcore.types import Chunk, Document, Element, Page, WordMap


class HashEmbedder:
    """Terms hashed into ``dimensions`` buckets: texts that share words are near. ``calls`` counts embedded texts."""

    def __init__(self, dimensions: int = 64, name: str = "test:hash") -> None:
        self.name = name
        self.dimensions = dimensions
        self.calls = 0

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        self.calls += len(texts)
        return np.stack([self.embed_query(text) for text in texts]) if texts else np.empty((0, self.dimensions), "f4")

    def embed_query(self, text: str) -> Vector:
        vector = np.full(self.dimensions, 1e-3, dtype=np.float32)
        for term in terms(text):
            vector[zlib.crc32(term.encode()) % self.dimensions] += 1.0
        return vector / np.linalg.norm(vector)


def askable(store: Store) -> list[str]:
    """Documents that can be asked, in order of addition."""
    return [doc_id for doc_id, _, _ in store.names()]


class OverlapReranker:
    """The share of the query's terms that the passage has."""

    name = "test:overlap"

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        asked = set(terms(query))
        return np.array([len(asked & set(terms(passage))) / max(len(asked), 1) for passage in passages])


def add_document(
    store: Store,
    name: str,
    passages: Sequence[str],
    sections: Sequence[str] = (),
    tables: Sequence[tuple[int, int]] = (),
) -> str:
    """Put a one-page document into ``store`` whose tiles are ``passages``, each in the section of the same place, with
    a composite over each of ``tables`` (first and last tile)."""
    doc_id, _ = store.add_file(f"{name}\n".encode() + "\n".join(passages).encode(), name)
    return put_passages(store, doc_id, name, passages, sections, tables)


def put_passages(
    store: Store,
    doc_id: str,
    name: str,
    passages: Sequence[str],
    sections: Sequence[str] = (),
    tables: Sequence[tuple[int, int]] = (),
) -> str:
    """Build the document anew with these chunks."""
    text = "".join(f"{passage}\n" for passage in passages)
    words = WordMap([0], [1], [1], [(10.0, 10.0, 20.0, 20.0)], [False])
    elements = (Element(0, "paragraph", 0, len(text), 1),)
    document = Document(doc_id, doc_id * 4, name, name, text, len(text), words, (Page(1, "1", 600.0, 800.0),), elements)
    chunks, at = [], 0
    for index, passage in enumerate(passages):
        end = at + len(passage) + 1
        section = (sections[index],) if sections else ()
        chunks.append(
            Chunk(
                f"{doc_id}:{index}", doc_id, index, "text", at, end, text[at:end], section, " › ".join((name, *section))
            )
        )
        at = end
    for first, last in tables:
        start, end, index = chunks[first].start, chunks[last].end, len(chunks)
        chunks.append(
            replace(
                chunks[first],
                chunk_id=f"{doc_id}:{index}",
                index=index,
                kind="table",
                start=start,
                end=end,
                text=text[start:end],
                tiles=(first, last),
                grid="Grid of " + " / ".join(passages[first : last + 1]),
            )
        )
    store.put_document(document, chunks, recipe="test")
    return doc_id
