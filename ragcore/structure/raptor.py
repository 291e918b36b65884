"""RAPTOR (Sarthi et al. 2024, arXiv 2401.18059): a tree of clusters, without a model's summaries.

The passages of a layer are clustered by Gaussian mixtures, a passage into each cluster that it is likely in; the
clusters are the next layer. Each document has a tree of its own, which goes with it; above the documents stand layers
of the library, of the tops of their trees. Instead of UMAP the vectors are reduced to their principal components, and a
cluster has the mean of its passages in place of a summary's vector. Everything is seeded: equal passages have equal
trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from ragcore.index.indexer import Derivation
from ragcore.protocols import Texts, Vector
from ragcore.structure.passages import Floats, Passages
from ragcore.structure.tree import CHARACTERS, SUMMARY, Branches, Ints, Tree, joined, last_step, rows_of, tops
from ragcore.text.phrases import phrases
from ragcore.text.sentences import sentence_spans
from ragcore.types import Chunk, NamePath, PathStep, Scope

VERSION = 1  # raise it when clusters are found otherwise: those of each document are then made again
DIMENSIONS = 10  # in which clusters are found
FEW = DIMENSIONS + 1  # nodes that are not clustered any more
MOST_LAYERS = 5  # above the passages of a document, and as many above the documents
LIKELY = 0.1  # probability from which a node is in a cluster
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)  # of clusters, from which the Bayesian information criterion chooses
PATIENCE = 2  # counts in a row that may be worse than the best before the choice ends
SAMPLE = 4000  # nodes, evenly spread, from which the clusters of a layer are found
TOKENS = 3500  # of the members of a cluster; a longer one is clustered again
LONGEST = 60  # characters of a heading that names a cluster
_SEED = 224

Numbers = NDArray[np.int64]


def derivation(embedder: str, load: Callable[[str], Passages]) -> Derivation[Branches]:
    """Clusters of each document over its passages, which ``load`` gives with their vectors by ``embedder``."""

    def made(chunks: Sequence[tuple[object, Chunk]]) -> Branches:
        if not chunks:  # another process has removed it
            return Branches([], [])
        own = load(chunks[0][1].doc_id)
        return Branches(own.entries.ids, layers(own, [], range(len(own.entries))))

    return Derivation(f"raptor {embedder}", VERSION, made, Branches.from_bytes)


def library(passages: Passages, parts: Sequence[Branches]) -> Tree:
    """Tree over ``passages`` of those of documents, with layers above their tops. Passages in no part stand beside it
    until their document is read."""
    members = joined(passages, parts)
    known = {chunk_id for part in parts for chunk_id in part.ids}
    count = len(passages.entries)
    nodes = (node for node in tops(count, members) if node >= count or passages.entries.ids[node] in known)
    return Tree(passages, members + layers(passages, members, nodes))


def layers(passages: Passages, members: Sequence[Ints], nodes: Iterable[int]) -> list[Ints]:
    """Members of the clusters above ``nodes`` of the tree ``members``, layer upon layer, numbered on from it."""
    count = len(passages.entries)
    held = rows_of(count, members)
    lengths = passages.entries.spans @ (-1, 1) / CHARACTERS
    top = np.array([node for node in nodes if node < count or len(held[node - count])], np.int32)
    made: list[Ints] = []
    for _ in range(MOST_LAYERS):
        if len(top) <= FEW:
            break
        inner = [passages.vectors[held[node - count]].mean(axis=0) for node in top[top >= count].tolist()]
        points = np.concatenate(
            [
                passages.vectors[top[top < count]],
                np.array(inner, np.float32).reshape(len(inner), passages.vectors.shape[1]),
            ]
        )
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)
        tokens = np.concatenate([lengths[top[top < count]], np.full(len(inner), SUMMARY)])
        found = _clusters(points, tokens)
        several = [top[own] for own in found if len(own) > 1]
        alone = np.setdiff1d(top, np.concatenate([np.zeros(0, np.int32), *several]))  # each is its own cluster
        if len(several) + len(alone) >= len(top):
            break
        first = count + len(held)
        made += several
        held += rows_of(count, [*members, *made])[len(held) :]
        top = np.concatenate([alone, np.arange(first, first + len(several), dtype=np.int32)])
    return made


def _clusters(points: Vector, tokens: Floats) -> list[Numbers]:
    """Clusters of a layer, rows in ascending order, each once: of all its nodes, then within each of these, then of
    what has more than `TOKENS`."""
    from threadpoolctl import threadpool_limits

    found: dict[bytes, Numbers] = {}
    with threadpool_limits(1):  # such small products take ten times as long side by side, on a busy machine
        for whole in _mixture(points):
            for part in [whole[own] for own in _mixture(points[whole])] if len(whole) > FEW else [whole]:
                for own in _fitting(part, points, tokens):
                    found[own.tobytes()] = own
    return sorted(found.values(), key=lambda own: own.tolist())


def _fitting(rows: Numbers, points: Vector, tokens: Floats) -> list[Numbers]:
    """``rows`` clustered until none has more than `TOKENS`; what does not come apart is cut along its first component
    into parts of equal size."""
    if len(rows) < 2 or tokens[rows].sum() <= TOKENS:
        return [rows]
    parts = [rows[own] for own in _mixture(points[rows])]
    if any(len(part) == len(rows) for part in parts):
        order = np.argsort(_reduced(points[rows])[:, 0], kind="stable")
        pieces = min(len(rows), int(np.ceil(tokens[rows].sum() / TOKENS)))
        return [np.sort(rows[own]) for own in np.array_split(order, pieces)]
    return [own for part in parts for own in _fitting(part, points, tokens)]


def _mixture(points: Vector) -> list[Numbers]:
    """Rows of each component of the Gaussian mixture with the least Bayesian information criterion, in which they are
    likely; a row may be in several."""
    from sklearn.mixture import GaussianMixture

    reduced = _reduced(points)
    seen = reduced[np.linspace(0, len(reduced) - 1, min(SAMPLE, len(reduced))).astype(np.int64)]
    distinct = len(np.unique(seen.round(6), axis=0))
    best, least, worse = None, np.inf, 0
    for count in COUNTS:
        if count > max(1, min(distinct, len(seen) // 2)):
            break
        mixture = GaussianMixture(count, covariance_type="diag", reg_covar=1e-5, random_state=_SEED).fit(seen)
        criterion = mixture.bic(seen)
        best, least, worse = (mixture, criterion, 0) if criterion < least else (best, least, worse + 1)
        if worse > PATIENCE:
            break
    assert best is not None
    likely = best.predict_proba(reduced) > LIKELY
    return [own for own in map(np.flatnonzero, likely.T) if len(own)]


def _reduced(points: Vector) -> Floats:
    """Principal components, float64 ``(n, at most `DIMENSIONS`)``."""
    from sklearn.decomposition import PCA

    if (points == points[0]).all():
        return np.zeros((len(points), 1))
    size = min(DIMENSIONS, len(points) - 1, points.shape[1])
    return np.asarray(PCA(size, random_state=_SEED).fit_transform(points), np.float64)


def told(tree: Tree, ways: Sequence[Sequence[int]], texts: Texts) -> list[NamePath]:
    """Paths from cluster to cluster, each named by a heading or phrase that marks it off from the others on these paths
    (c-TF-IDF; Grootendorst: BERTopic, 2022), with a sentence of its own; without clusters there is none."""
    ids = tree.passages.entries.ids
    inner = sorted({node for way in ways for node in way[:-1]})
    read = {node: [ids[row] for row in tree.central(node, texts.scope)] for node in inner}
    wanted = dict.fromkeys([*(ids[way[-1]] for way in ways), *(one for own in read.values() for one in own)])
    chunks = {chunk.chunk_id: chunk for chunk in texts.chunks(list(wanted))}
    marks = {one: dict(_marks(chunk, texts.scope)) for one, chunk in chunks.items()}
    counts = {node: Counter(mark for one in own for mark in marks.get(one, ())) for node, own in read.items()}
    total = sum(counts.values(), Counter[str]())
    mean = total.total() / max(len(counts), 1)
    steps: dict[int, PathStep] = {}
    for node, said in counts.items():
        if said:
            mark = min(said, key=lambda one: (-said[one] * log(1.0 + mean / total[one]), one))
            nearest = next(one for one in read[node] if mark in marks.get(one, ()))
            steps[node] = _step(chunks[nearest], mark, *marks[nearest][mark])
    return [
        NamePath(
            chunk.chunk_id, chunk.doc_id, chunk.start, chunk.end, (*clusters, last_step(chunk, texts.scope)), "tree"
        )
        for way in ways
        if (chunk := chunks.get(ids[way[-1]]))
        and (clusters := list({steps[node].name: steps[node] for node in way[:-1] if node in steps}.values()))
    ]


def _marks(chunk: Chunk, scope: Scope) -> Iterator[tuple[str, tuple[int, int]]]:
    """Heading and phrases of a passage in ``scope``, in small letters, each with the span of its first line there."""
    for start, end in scope.parts(chunk)[::-1]:
        at = end - chunk.start
        for line in chunk.text[start - chunk.start : at].splitlines(keepends=True)[::-1]:
            at -= len(line)
            if line.strip():
                heads = [one.lower() for one in chunk.section[-1:] if len(one) <= LONGEST]
                yield from ((mark, (at, at + len(line))) for mark in (*heads, *phrases(line)))


def _step(chunk: Chunk, mark: str, start: int, end: int) -> PathStep:
    """Heading or phrase ``mark`` as printed, with its first sentence in a line of a passage."""
    spans = sentence_spans(chunk.text[start:end], start)
    flat = [" ".join(chunk.text[low:high].split()) for low, high in spans]
    place = next((n for n, words in enumerate(flat) if mark in words.lower()), -1)
    (low, high), at = spans[max(place, 0)], flat[place].lower().find(mark)
    name = chunk.section[-1] if at < 0 else flat[place][at : at + len(mark)]
    return PathStep(name, chunk.doc_id, chunk.start + low, chunk.start + high, chunk.text[low:high])
