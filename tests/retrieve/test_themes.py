"""Themes: groups over documents, what marks them, and sentences that cover them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.offline import wording
from ragcore.protocols import Vector
from ragcore.retrieve.themes import LABELS, MOST, SAMPLE, Pool, covering, grouped, labels
from ragcore.types import Chunk
from tests.libraries import HashEmbedder

WIDTH = 24


def unit(vectors: np.ndarray) -> Vector:
    out: Vector = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return out


def library(documents: int, matters: int, own: float, *, each: int = 12, seed: int = 0) -> tuple[Pool, list[int]]:
    """Passages on ``matters`` in every document, moved by ``own`` in a direction of the document's; and the matter of
    each."""
    random = np.random.default_rng(seed)
    matter = random.normal(size=(matters, WIDTH))
    all_share, document = 3 * random.normal(size=WIDTH), random.normal(size=(documents, WIDTH))
    ids, doc_ids, vectors, of = list[str](), list[str](), [], []
    for one in range(documents):
        for place in range(each * matters):
            ids.append(f"d{one:03}:{place}")
            doc_ids.append(f"d{one:03}")
            of.append(place % matters)
            noise = 0.2 * random.normal(size=WIDTH)
            vectors.append(all_share + own * document[one] + matter[place % matters] + noise)
    return Pool(ids, doc_ids, unit(np.array(vectors))), of


def test_documents_of_one_kind_are_grouped_by_what_they_say_and_not_by_whose_they_are() -> None:
    pool, matter = library(documents=8, matters=4, own=1.2)
    groups = grouped(pool, 4)
    for group in groups:
        assert len({pool.doc_ids[row] for row in group.rows}) == 8
        assert Counter(matter[row] for row in group.rows).most_common(1)[0][1] == len(group.rows)


def test_documents_of_different_kinds_are_not_mixed() -> None:
    random = np.random.default_rng(1)
    centres = np.eye(WIDTH)[:4] * 5
    vectors = unit(np.concatenate([centre + 0.3 * random.normal(size=(30, WIDTH)) for centre in centres]))
    pool = Pool([f"{n}" for n in range(120)], [f"d{n // 30}" for n in range(120)], vectors)
    for group in grouped(pool, 4):
        assert len({pool.doc_ids[row] for row in group.rows}) == 1


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 99))
def test_every_passage_is_in_one_group(sizes: list[int], seed: int) -> None:
    owners = [f"d{n}" for n, size in enumerate(sizes) for _ in range(size)]
    vectors = unit(np.random.default_rng(seed).normal(size=(len(owners), 8)))
    groups = grouped(Pool([f"c{n}" for n in range(len(owners))], owners, vectors))
    assert sorted(row for group in groups for row in group.rows.tolist()) == list(range(len(owners)))
    assert len(groups) <= min(MOST, max(1, int(len(owners) ** 0.5)))
    assert all(set(group.seen.tolist()) <= set(group.rows.tolist()) for group in groups)


def test_equal_passages_and_a_single_one_are_groups_too() -> None:
    same = unit(np.ones((30, 8)))
    assert sum(len(group.rows) for group in grouped(Pool([str(n) for n in range(30)], ["d"] * 30, same))) == 30
    assert [len(group.rows) for group in grouped(Pool(["one"], ["d"], same[:1]))] == [1]
    assert grouped(Pool([], [], same[:0])) == []


def test_a_long_document_does_not_outweigh_short_ones() -> None:
    random = np.random.default_rng(2)
    long, short = unit(random.normal(size=(3 * SAMPLE, 8))), unit(random.normal(size=(50, 8)))
    pool = Pool(
        [str(n) for n in range(3 * SAMPLE + 50)], ["long"] * 3 * SAMPLE + ["short"] * 50, np.concatenate([long, short])
    )
    seen = [row for group in grouped(pool) for row in group.seen.tolist()]
    assert len(seen) <= SAMPLE
    assert sum(row >= 3 * SAMPLE for row in seen) == 50


def chunk(chunk_id: str, section: str, text: str) -> Chunk:
    doc_id = chunk_id.partition(":")[0]
    return Chunk(chunk_id, doc_id, 0, "text", 0, len(text), text, (section,) if section else ())


def test_a_theme_is_marked_by_headings_of_its_own_without_their_numbers() -> None:
    pool, matter = library(documents=6, matters=2, own=1.0)
    heads = ["7. Income Taxes", "LEGAL PROCEEDINGS"]
    chunks = {
        chunk_id: chunk(chunk_id, heads[matter[row]] if row % 3 else "General", "It is so.")
        for row, chunk_id in enumerate(pool.ids)
    }
    marks = labels(grouped(pool, 2), pool, chunks, wording, HashEmbedder(WIDTH))
    assert {one[0] for one in marks} == {"Income Taxes", "Legal Proceedings"}
    assert all("General" not in one and len(one) <= LABELS for one in marks)


def test_phrases_mark_a_theme_without_headings() -> None:
    pool, matter = library(documents=6, matters=2, own=1.0)
    said = ["The water quality was tested again.", "Bank loans were repaid early this year."]
    chunks = {i: chunk(i, "", said[matter[row]]) for row, i in enumerate(pool.ids)}
    marks = labels(grouped(pool, 2), pool, chunks, wording, HashEmbedder(WIDTH))
    assert {"water quality", "bank loans"} == {
        one for mark in marks for one in mark if one in ("water quality", "bank loans")
    }


@given(st.integers(2, 7), st.integers(1, 6), st.integers(1, 3), st.integers(0, 999))
def test_sentences_cover_nearly_as_well_as_the_best_choice(many: int, passages: int, most: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    sentences, held = unit(random.normal(size=(many, 6))), unit(random.normal(size=(passages, 6)))
    near = np.maximum(sentences @ held.T, 0.0)
    best = max(
        near[list(some)].max(axis=0).sum()
        for size in range(1, most + 1)
        for some in combinations(range(many), min(size, many))
    )
    chosen = covering(sentences, ["d"] * many, held, most)
    assert 1 <= len(chosen) == len(set(chosen)) <= most
    # Nemhauser, Wolsey, Fisher 1978; a choice that repeats another is none of ours.
    if (sentences @ sentences.T - np.eye(many)).max() < 0.95:
        assert near[chosen].max(axis=0).sum() >= (1 - 1 / np.e) * best - 1e-5


def test_another_document_speaks_before_one_speaks_twice_and_nothing_is_said_twice() -> None:
    sentences = unit(np.array([[1.0, 0, 0], [0.9, 0.5, 0], [0.2, 0.1, 1.0], [1.0, 0, 0]]))
    passages = unit(np.array([[1.0, 0.2, 0]] * 3))
    assert covering(sentences, ["a", "a", "b", "c"], passages, 2) == [0, 2] or covering(
        sentences, ["a", "a", "b", "c"], passages, 2
    ) == [1, 0]
    assert 3 not in covering(sentences, ["a", "a", "b", "c"], passages, 4) or 0 not in covering(
        sentences, ["a", "a", "b", "c"], passages, 4
    )
    assert covering(sentences, ["a"] * 4, passages, 0) == []
    assert covering(sentences[:0], [], passages, 3) == []


@pytest.mark.parametrize("at", range(3))
def test_a_topic_decides_which_sentences_count(at: int) -> None:
    sentences, passages = unit(np.eye(3) + 0.01), unit(np.ones((5, 3)))
    assert covering(sentences, ["a"] * 3, passages, 1, sentences[at]) == [at]
