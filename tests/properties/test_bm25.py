"""The sparse BM25 gives rank-bm25's scores, whatever documents came and went before."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ragcore.index.bm25 import Bm25Index, Load, Postings, terms
from ragcore.types import Entry, Scope

WORDS = ["revenue", "cash", "10-K", "growth", "BMS-986158", "1,200", "tax", "notes", "the", "segment", "running"]
passages = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
libraries = st.lists(st.lists(passages, min_size=1, max_size=5), min_size=1, max_size=6)
k1s = st.sampled_from([0.9, 1.2, 1.5, 2.0])
bs = st.sampled_from([0.0, 0.4, 0.75, 1.0])


def empty(k1: float = 1.5, b: float = 0.75) -> Bm25Index:
    return Bm25Index(k1=k1, b=b)


def loader(library: dict[str, list[str]]) -> Load:
    """The postings of documents as SQLite keeps them."""

    def load(wanted: Mapping[str, str]) -> dict[str, Postings]:
        return {
            doc_id: Postings.from_bytes(
                Postings.of((Entry(f"{doc_id}-{i}", doc_id), text) for i, text in enumerate(library[doc_id])).to_bytes()
            )
            for doc_id in wanted
        }

    return load


def index_of(library: dict[str, list[str]], k1: float = 1.5, b: float = 0.75) -> Bm25Index:
    return empty(k1, b).updated({doc_id: doc_id for doc_id in library}, loader(library))


def expected_scores(library: dict[str, list[str]], query: str, k1: float = 1.5, b: float = 0.75) -> dict[str, float]:
    ids = [f"{doc_id}-{i}" for doc_id, texts in library.items() for i in range(len(texts))]
    corpus = [terms(text) for texts in library.values() for text in texts]
    if not any(corpus):
        return dict.fromkeys(ids, 0.0)  # rank-bm25 divides by zero here
    with np.errstate(invalid="ignore"):
        scores = BM25Okapi(corpus, k1=k1, b=b).get_scores(terms(query))
    # With b = 1 rank-bm25 divides 0 by 0 for a chunk without terms.
    return dict(zip(ids, np.nan_to_num(scores).tolist(), strict=True))


@given(libraries, passages, k1s, bs)
def test_scores_equal_rank_bm25(library: list[list[str]], query: str, k1: float, b: float) -> None:
    documents = {f"d{i}": texts for i, texts in enumerate(library)}
    expected = expected_scores(documents, query, k1, b)
    actual = index_of(documents, k1, b).scores(query, list(expected))
    np.testing.assert_allclose(actual, list(expected.values()), rtol=1e-9, atol=1e-9)


@given(libraries, libraries, passages, st.data())
def test_an_updated_index_equals_one_made_at_once(
    before: list[list[str]], after: list[list[str]], query: str, data: st.DataObject
) -> None:
    old = {f"d{i}": texts for i, texts in enumerate(before)}
    new = {f"d{i}": texts for i, texts in enumerate(after)}
    for doc_id in data.draw(st.sets(st.sampled_from(sorted(old)))):
        new[doc_id] = old[doc_id]
    new = {doc_id: new[doc_id] for doc_id in data.draw(st.permutations(sorted(new)))}
    wanted = {doc_id: repr(texts) for doc_id, texts in new.items()}
    first = empty().updated({doc_id: repr(texts) for doc_id, texts in old.items()}, loader(old))
    updated = first.updated(wanted, loader(new))
    expected = expected_scores(new, query)
    np.testing.assert_allclose(updated.scores(query, list(expected)), list(expected.values()), rtol=1e-9, atol=1e-9)
    assert list(updated.documents) == list(wanted)
    assert updated.query(query, 100) == empty().updated(wanted, loader(new)).query(query, 100)


changes = st.lists(st.tuples(st.sampled_from([f"d{i}" for i in range(5)]), st.lists(passages, max_size=4)), max_size=12)


@given(changes, passages, passages)
def test_adding_removing_and_putting_again_gives_what_a_fresh_build_gives(
    steps: list[tuple[str, list[str]]], one: str, two: str
) -> None:
    """Each step puts a document with these chunks, or removes it where there are none: bit for bit the same scores."""
    library: dict[str, list[str]] = {}
    index = empty()
    for doc_id, texts in steps:
        library.pop(doc_id, None)
        if texts:
            library[doc_id] = texts
        wanted = {i: f"{i} {library[i]}" for i in library}
        index = index.updated(wanted, loader(library))
    fresh = index_of(library)
    for query in (one, two):
        assert index.query(query, 100) == fresh.query(query, 100)
        assert index.mentions(query) == fresh.mentions(query)


@given(libraries, passages, st.integers(1, 8))
def test_the_best_k_are_the_best_k(library: list[list[str]], query: str, k: int) -> None:
    index = index_of({f"d{i}": texts for i, texts in enumerate(library)})
    everything = index.query(query, 10_000)
    assert index.query(query, k) == everything[:k]
    assert [score for _, score in everything] == sorted((score for _, score in everything), reverse=True)
    only = {f"d{i}" for i in range(0, len(library), 2)}
    assert index.query(query, 10_000, Scope(tuple(sorted(only)))) == [
        hit for hit in everything if hit[0].split("-")[0] in only
    ]
