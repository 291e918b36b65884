"""RAPTOR: clusters over clusters of passages, and what a question takes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.config.settings import load
from ragcore.index.chunks import Entries
from ragcore.index.indexer import Indexer
from ragcore.index.shelf import Trash
from ragcore.index.store import Store
from ragcore.pipelines.structures import Structures
from ragcore.protocols import Asked, Vector
from ragcore.structure import raptor
from ragcore.structure.passages import Passages
from ragcore.structure.tree import Branches, Tree, TreeSearch, rows_of
from ragcore.types import Entry, Scope
from tests.libraries import HashEmbedder, add_document

LENGTH = 400  # characters of a passage: as many tokens as a summary


def passages(vectors: Vector, length: int = LENGTH, doc_ids: str = "") -> Passages:
    """Passages ``d:0``, ``d:1``, …, or each of the document of that letter."""
    owners = doc_ids or "d" * len(vectors)
    entries = [Entry(f"{doc}:{n}", doc, start=n * length, end=(n + 1) * length) for n, doc in enumerate(owners)]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return Passages(Entries.of(entries), unit.astype(np.float32))


def found(search: TreeSearch, question: Vector, k: int = 50, scope: Scope | None = None) -> dict[str, float]:
    vector = (question / np.linalg.norm(question)).astype(np.float32)
    return dict(search.leaves(Asked("", vector), k, scope or Scope()))


def beam() -> tuple[Tree, Vector]:
    """Three layers: seven pairs of passages in a cluster each, all below one top. The question is nearer to a pair the
    lower its number; of the last one, whose passages point apart, one is nearest of all."""
    axes = np.eye(9, dtype=np.float32)
    question = axes[:8].T @ np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.0, 0.0], np.float32)
    pairs = [(axes[n] + 0.1 * axes[8], axes[n] - 0.1 * axes[8]) for n in range(6)]
    pairs.append((question, 0.2 * axes[7] - question / np.linalg.norm(question)))
    rows = np.array([one for pair in pairs for one in pair])
    clusters = [np.array([2 * n, 2 * n + 1], np.int32) for n in range(7)]
    return Tree(passages(rows), [*clusters, np.arange(14, 21, dtype=np.int32)]), question


class TestChoice:
    def test_collapsed_takes_every_node_by_its_cosine(self) -> None:
        tree, question = beam()
        cosines = tree.cosines(question / np.linalg.norm(question), Scope())
        weights = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
        length = float(np.sqrt((weights**2).sum()))
        assert cosines[14:20] == pytest.approx(weights / length, abs=1e-6)  # a pair's mean is its axis
        assert cosines[:12:2] == pytest.approx(weights / length / np.sqrt(1.01), abs=1e-6)
        given = found(TreeSearch(tree, lambda *_: []), question)
        assert next(iter(given)) == "d:12", "the passage that is the question itself, below the farthest cluster"
        assert given["d:12"] == pytest.approx(1.0, abs=1e-6)
        # The first cluster gives one passage, worth its own cosine: more than the cluster's times its own, stretched.
        assert given["d:0"] == pytest.approx(0.9 / length / np.sqrt(1.01), abs=1e-6)
        assert "d:13" not in given, "it points away from the question"

    def test_a_near_cluster_lifts_its_best_passage(self) -> None:
        axes = np.eye(3, dtype=np.float32)
        rows = np.array([axes[0] + axes[1], axes[0] - axes[1], 0.1 * axes[0] + axes[2]])
        tree = Tree(passages(rows), [np.array([0, 1], np.int32)])
        given = found(TreeSearch(tree, lambda *_: []), axes[0])
        # The cluster's mean is the question; its better passage is the best of all, so that it counts in full.
        assert given["d:0"] == pytest.approx(1.0)
        assert given["d:1"] == pytest.approx(np.sqrt(0.5), abs=1e-6)
        assert given["d:2"] == pytest.approx(0.1 / np.sqrt(1.01), abs=1e-6)

    def test_short_passages_are_given_together(self) -> None:
        axes = np.eye(3, dtype=np.float32)
        rows = np.array([axes[0] + 0.9 * axes[1], axes[0] - axes[1], axes[2] + 0.1 * axes[0]])
        tree = Tree(passages(rows, LENGTH // 2), [np.array([0, 1], np.int32)])
        given = found(TreeSearch(tree, lambda *_: []), axes[0], 2)
        assert set(given) == {"d:0", "d:1"}
        assert given["d:1"] > np.sqrt(0.5), "the cluster gives both, as long as its summary would be"

    def test_traversal_goes_on_below_the_nearest_five(self) -> None:
        tree, question = beam()
        given = found(TreeSearch(tree, lambda *_: [], down=True), question)
        # Taken are the top, which gives its best passage, pairs 0 to 4, of which each gives one, and of the passages
        # below them the five nearest.
        assert given.keys() == {"d:12"} | {"d:0", "d:2", "d:4", "d:6", "d:8"} | {"d:0", "d:1", "d:2", "d:3", "d:4"}
        assert "d:10" in found(TreeSearch(tree, lambda *_: []), question)

    def test_out_of_scope_is_as_if_it_were_not_there(self) -> None:
        rows = np.array([[1.0, 0.2], [1.0, -0.3], [0.1, 1.0], [-0.2, 1.0]], np.float32)
        whole = Tree(passages(rows, doc_ids="abab"), [np.array([0, 1, 2, 3], np.int32)])
        alone = Tree(passages(rows[::2], doc_ids="aa"), [np.array([0, 1], np.int32)])
        question = np.array([1.0, 0.4], np.float32)
        for down in (False, True):
            inside = found(TreeSearch(whole, lambda *_: [], down), question, scope=Scope(("a",)))
            by_itself = found(TreeSearch(alone, lambda *_: [], down), question)
            assert list(inside) == ["a:0", "a:2"]
            assert list(inside.values()) == pytest.approx(list(by_itself.values()))


class TestClusters:
    def test_groups_are_found_and_what_is_between_them_is_in_both(self) -> None:
        random = np.random.default_rng(0)
        near, far = (random.normal(0, 0.05, (30, 6)) + centre for centre in np.eye(6)[:2])
        members = raptor.layers(passages(np.concatenate([near, far]), 40), [], range(60))
        groups = [set(rows.tolist()) for rows in rows_of(60, members)]
        assert set(range(30)) in groups
        assert set(range(30, 60)) in groups
        turned = np.linspace(0.0, 1.5, 60)  # no gap between the one end and the other
        members = raptor.layers(passages(np.stack([np.cos(turned), np.sin(turned)], axis=1), 40), [], range(60))
        assert np.bincount(np.concatenate(members), minlength=60)[:60].max() > 1

    def test_equal_passages_are_cut_by_size(self) -> None:
        own = passages(np.ones((120, 4)))
        members = raptor.layers(own, [], range(120))
        sizes = [len(rows) for rows in members]
        assert sizes == [30, 30, 30, 30]
        assert max(sizes) * LENGTH / 4 <= raptor.TOKENS

    @given(st.integers(12, 120), st.integers(2, 24), st.integers(0, 5))
    @settings(max_examples=8, deadline=None)
    def test_layers_end_and_every_passage_is_below_a_top(self, count: int, size: int, seed: int) -> None:
        own = passages(np.random.default_rng(seed).normal(size=(count, size)))
        members = raptor.layers(own, [], range(count))
        tree = Tree(own, members)
        for node, below in enumerate(members, start=count):
            assert len(below) > 1
            assert (below < node).all()
            tokens = sum(LENGTH / 4 if one < count else 100 for one in below.tolist())
            assert tokens <= raptor.TOKENS
        reached = {row for node in tree.top for row in ([node] if node < count else tree.held[node - count].tolist())}
        assert reached == set(range(count))
        again = Branches.from_bytes(Branches(own.entries.ids, members).to_bytes())
        assert (again.ids, [rows.tolist() for rows in again.members]) == (
            own.entries.ids,
            [r.tolist() for r in members],
        )


class Shelf:
    def __init__(self, home: Path) -> None:
        self.store, self.embedder = Store(home), HashEmbedder()
        self.indexer = Indexer(self.store, self.embedder, load(environ={})[0].index)
        self.structures = Structures(self.store, self.indexer, self.embedder)

    def add(self, name: str, subjects: str) -> str:
        lines = [f"{subject} number {n} is kept in place {n % 3}." for subject in subjects.split() for n in range(12)]
        doc_id = add_document(self.store, name, lines)
        self.indexer.update()
        return doc_id

    def tree(self) -> tuple[list[str], list[list[int]]]:
        found = self.structures.open("raptor")
        assert isinstance(found, TreeSearch)
        return found.tree.passages.entries.ids, [rows.tolist() for rows in found.tree.members]


DOCUMENTS = {"a.pdf": "Apples Pears", "b.pdf": "Trains Pears", "c.pdf": "Ships Apples Trains"}


def test_the_order_of_documents_makes_no_difference(tmp_path: Path) -> None:
    one, other = Shelf(tmp_path / "one"), Shelf(tmp_path / "other")
    for name, subjects in DOCUMENTS.items():
        one.add(name, subjects)
    for name, subjects in reversed(DOCUMENTS.items()):
        other.add(name, subjects)
        other.tree()  # each state has a tree of its own
    assert one.tree() == other.tree()
    assert one.tree()[1], "there are clusters"


def test_the_clusters_of_a_document_are_stored_and_go_with_it(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    ids = [shelf.add(name, subjects) for name, subjects in DOCUMENTS.items()]
    shelf.tree()
    kind = f"raptor {shelf.embedder.name}"
    assert shelf.store.derived_marks(kind).keys() == set(ids)
    Trash(shelf.store, 0.0).remove(ids[1])
    assert shelf.store.derived_marks(kind).keys() == {ids[0], ids[2]}
    assert not any(one.startswith(ids[1]) for one in shelf.tree()[0])
    vectors = shelf.store.vectors(shelf.embedder.name, [ids[0]])[1]
    ((_, _, data),) = shelf.store.derived(kind, [ids[0]])
    assert len(data) < vectors.nbytes / 2, "no vector is stored twice"
