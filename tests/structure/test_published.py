"""HippoRAG's walks and LightRAG's orders, against values worked by hand over three passages and three names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from ragcore.index.chunks import Entries
from ragcore.protocols import Asked, Vector
from ragcore.structure.facts import Facts
from ragcore.structure.hipporag import DENSE, HippoRag
from ragcore.structure.lightrag import LightRag, near, related
from ragcore.structure.named import NamedPassages, Remembered
from ragcore.structure.passages import Passages
from ragcore.text.mentions import Mention
from ragcore.types import Chunk, Entry

# Three passages of one document: Alder beside Birch, Birch beside Cedar, Cedar alone; a sentence is a passage.
TEXTS = ("alder birch", "birch cedar", "cedar again")
NAMES = ("alder", "birch", "cedar")
ALDER, BIRCH, CEDAR = range(3)
ACROSS = np.array([1, 0, 0, 0, 0, 0], np.float32)  # the vector of every question


@dataclass(frozen=True)
class Angles:
    """Embedder: texts at their angles in one plane; each other name, and all other texts, at right angles to it."""

    angles: Mapping[str, float]
    name: str = "test:angles"
    dimensions: int = 6

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(len(texts), 6)

    def embed_query(self, text: str) -> Vector:
        vector = np.zeros(6, np.float32)
        if text in self.angles:
            vector[:2] = np.cos(self.angles[text]), np.sin(self.angles[text])
        else:
            vector[2 + (NAMES.index(text) if text in NAMES else 3)] = 1.0
        return vector


def find(text: str) -> list[Mention]:
    return [
        Mention(one.group(), one.start(), one.end(), 0, False)
        for one in re.finditer(r"alder|birch|cedar|dogwood", text)
    ]


def angle(cosine: float) -> float:
    return float(np.arccos(cosine))


def named(angles: Mapping[str, float] | None = None, passages: Sequence[float] = (0.9, 0.5, 0.1)) -> NamedPassages:
    """The three passages, at those cosines to a question at angle 0."""
    embedder = Angles(angles or {})
    starts = np.cumsum([0, *(len(text) + 1 for text in TEXTS)]).tolist()
    spans = [(start, start + len(text)) for start, text in zip(starts, TEXTS)]
    entries = Entries.of([Entry(f"d:{n}", "d", "text", 1, 1, *span) for n, span in enumerate(spans)])
    chunks = {
        f"d:{n}": Chunk(f"d:{n}", "d", n, "text", *span, text) for n, (span, text) in enumerate(zip(spans, TEXTS))
    }
    facts = Facts(
        entries,
        list(NAMES),
        list(NAMES),
        [""] * 3,
        np.array([(n, *span) for n, span in enumerate(spans)], np.int32),
        np.array([(0, ALDER), (0, BIRCH), (1, BIRCH), (1, CEDAR), (2, CEDAR)], np.int32),
        np.array([(0, ALDER, BIRCH), (1, BIRCH, CEDAR)], np.int32),
        [""] * 2,
    )
    vectors = np.array([(cosine, np.sqrt(1.0 - cosine**2), 0, 0, 0, 0) for cosine in passages], np.float32)
    return NamedPassages(
        Passages(entries, vectors),
        facts,
        embedder.embed_documents(NAMES),
        Remembered(embedder),
        lambda ids: [chunks[one] for one in ids],
        find,
    )


def asked(text: str) -> Asked:
    return Asked(text, ACROSS)


def test_hipporag_sums_the_names_of_a_passage_after_a_walk_over_names() -> None:
    """From Alder, half returning: 7/12, 1/3 and 1/12 for the names; 11/12, 5/12 and 1/12 for the passages."""
    found = HippoRag(named(), 1).leaves(asked("where is alder?"), 3)
    assert [chunk_id for chunk_id, _ in found] == ["d:0", "d:1"]  # the worst is stretched to 0
    assert [score for _, score in found] == pytest.approx([1.0, 0.4], abs=2e-3)


def test_hipporag_takes_half_of_the_cosine_where_a_name_is_not_one_of_the_library_for_sure() -> None:
    """Dogwood is nearest to Cedar (.6), so the walk begins there, and passages stand as they do by cosine too."""
    angles = {"cedar": 0.0, "dogwood": angle(0.6)}
    found = dict(HippoRag(named(angles), 1).leaves(asked("where is dogwood?"), 3))
    # From Cedar: 1/12, 1/3, 7/12 for the names, 5/12, 11/12, 7/12 for the passages: 0, 1, 1/3 stretched.
    assert found == pytest.approx({"d:0": (0.0 + 1.0) / 2, "d:1": (1.0 + 0.5) / 2, "d:2": (1 / 3 + 0.0) / 2}, abs=2e-3)


def test_hipporag_without_a_name_is_the_cosine() -> None:
    found = HippoRag(named(dict.fromkeys(NAMES, 0.0)), 1).leaves(asked("where is it?"), 3)
    assert found == [("d:0", 1.0), ("d:1", pytest.approx(0.5))]


def test_hipporag_2_weighs_names_by_their_nearest_facts_and_rarity() -> None:
    """The fact of Alder and Birch (cosine .9) is worth 1, that of Birch and Cedar (.5) 0. Alder: 1/1, and once more
    as a name of the question; Birch: the mean of 1/2 and 0; Cedar: 0."""
    angles = {"alder birch": angle(0.9), "birch cedar": angle(0.5), "cedar again": angle(0.1)}
    of = named(angles)
    one = HippoRag(of, 2)
    said, begin, (row, names) = one.seeds(of, asked("where is alder?"), np.array([1.0, 0.5, 0.0]))
    assert begin == pytest.approx([2.0, 0.25, 0.0])
    assert {NAMES[name]: (each.words, each.cosine) for name, each in said.items()} == {"alder": ("alder", 1.0)}
    assert (row, set(names)) == (0, {ALDER, BIRCH})


def test_hipporag_2_is_the_stationary_distribution_over_names_and_passages() -> None:
    """Held to a linear system: x = ½ r + ½ W x, W with columns divided by their sums."""
    angles = {"alder birch": angle(0.9), "birch cedar": angle(0.5), "cedar again": angle(0.1)}
    found = dict(HippoRag(named(angles), 2).leaves(asked("where is alder?"), 3))
    links = np.zeros((6, 6))
    for one, other in [(0, 1), (1, 2), (0, 3), (1, 3), (1, 4), (2, 4), (2, 5)]:
        links[one, other] = links[other, one] = 1.0
    reset = np.array([2.0, 0.25, 0.0, *(DENSE * np.array([1.0, 0.5, 0.0]))])
    reset /= reset.sum()
    exact = np.linalg.solve(np.eye(6) - 0.5 * links / links.sum(axis=0), 0.5 * reset)[3:]
    assert [found[f"d:{n}"] for n in range(3)] == pytest.approx(exact.tolist(), abs=2e-3)


def test_lightrag_takes_names_near_to_the_narrow_words_and_their_relations_by_degree() -> None:
    """Cosines to the words: Cedar .9, Alder .5, Birch .1, which is below the least of .2. The relation of Birch and
    Cedar and that of Alder and Birch both join 3 ends; then the smaller pair is first."""
    of = named({"cedar": angle(0.9), "alder": angle(0.5), "birch": angle(0.1)})
    names = near(of, ACROSS)
    assert names == [CEDAR, ALDER]
    assert related(of, names) == [(ALDER, BIRCH), (BIRCH, CEDAR)]


def test_lightrag_local_takes_passages_with_the_names_then_with_the_relations_in_turn() -> None:
    """One name (Cedar): its passages by cosine, at most 5/2 of them, and in turn those of its relation."""
    of = named({"cedar": 0.0, "where": 0.0}, passages=(0.9, 0.1, 0.5))
    found = LightRag(of.passages, "local", of).leaves(asked("where is cedar?"), 3)
    assert [chunk_id for chunk_id, _ in found] == ["d:2", "d:1"]


def test_lightrag_mix_begins_with_the_nearest_passage() -> None:
    of = named({"cedar": 0.0}, passages=(0.9, 0.1, 0.5))
    found = LightRag(of.passages, "mix", of).leaves(asked("where is cedar?"), 3)
    assert [chunk_id for chunk_id, _ in found] == ["d:0", "d:2", "d:1"]
    alone = LightRag(of.passages).leaves(asked("where is cedar?"), 3)
    assert [chunk_id for chunk_id, _ in alone] == ["d:0", "d:2", "d:1"]
