"""Outline of a library: its documents, their sections, and the passages in them, as a tree."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from ragcore.errors import UnknownDocument
from ragcore.index.chunks import leaves
from ragcore.index.indexer import Derivation
from ragcore.protocols import Texts
from ragcore.structure.tree import Branches, Tree, last_step
from ragcore.types import Chunk, Entry, NamePath, PathStep

VERSION = 1  # raise it when the tree of a document is made otherwise


def sections(chunks: Sequence[tuple[Entry, Chunk]]) -> Branches:
    """Sections of a document by their headings, the document itself above them all."""
    chosen = [chunk for _, chunk in leaves(chunks)]
    below: dict[tuple[str, ...], dict[int | tuple[str, ...], None]] = {}
    for row, chunk in enumerate(chosen):
        below.setdefault(chunk.section, {})[row] = None
        for depth in range(len(chunk.section), 0, -1):
            below.setdefault(chunk.section[: depth - 1], {})[chunk.section[:depth]] = None
    order = sorted(below, key=lambda path: (-len(path), path))  # what is below comes first
    number = {path: len(chosen) + place for place, path in enumerate(order)}
    members = [[one if isinstance(one, int) else number[one] for one in below[path]] for path in order]
    return Branches([chunk.chunk_id for chunk in chosen], [np.array(sorted(own), np.int32) for own in members])


SECTIONS = Derivation("sections", VERSION, sections, Branches.from_bytes)


def told(tree: Tree, ways: Sequence[Sequence[int]], texts: Texts) -> list[NamePath]:
    """Paths from heading to heading, each where it is printed if that is in scope; without headings there is none."""
    found = []
    printed: dict[str, dict[str, list[PathStep]]] = {}
    for chunk in texts.chunks([tree.passages.entries.ids[way[-1]] for way in ways]):
        if chunk.section:
            if chunk.doc_id not in printed:
                printed[chunk.doc_id] = _headings(chunk.doc_id, texts)
            steps = [_before(chunk, name, printed[chunk.doc_id].get(name, [])) for name in chunk.section]
            steps.append(last_step(chunk, texts.scope))
            found.append(NamePath(chunk.chunk_id, chunk.doc_id, chunk.start, chunk.end, tuple(steps), "tree"))
    return found


def _headings(doc_id: str, texts: Texts) -> dict[str, list[PathStep]]:
    """Headings of a document in scope by their text on one line; none if another process has removed it."""
    found: dict[str, list[PathStep]] = {}
    scope = texts.scope
    try:
        document = texts.document(doc_id)
    except UnknownDocument:
        return found
    for one in scope.among(doc_id, document.body):
        if one.kind == "heading" and scope.on(one.page):
            quote = document.text[one.start : one.end]
            name = " ".join(quote.split())
            found.setdefault(name, []).append(PathStep(name, doc_id, one.start, one.end, quote))
    return found


def _before(chunk: Chunk, name: str, places: Sequence[PathStep]) -> PathStep:
    """Heading ``name`` above a passage: its last one that begins before the passage's end."""
    place = bisect_right(places, chunk.end - 1, key=lambda step: step.start)
    return places[place - 1] if place else PathStep(name)
