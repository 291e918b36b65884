"""The indexer over a real store: nothing is lost, nothing is done twice, nothing is stale."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ragcore.config.settings import IndexSettings, load
from ragcore.errors import Cancelled, IndexEmpty, IndexMismatch
from ragcore.index.bm25 import Bm25Index, Postings
from ragcore.index.indexer import Indexer
from ragcore.index.shelf import Trash
from ragcore.index.store import Store
from ragcore.index.vectors import VectorIndex
from ragcore.types import Scope, WordMap
from tests.libraries import HashEmbedder, add_document, askable, put_passages

ROOT = Path(__file__).resolve().parents[2]
ALPHA = ["Alpha makes pumps.", "Revenues were 1,577 million.", "Leases run to 2030.", "Alpha has no debt."]
BETA = ["Beta sells tea.", "Tea is grown in Assam.", "Prices rose in spring."]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def settings() -> IndexSettings:
    return load(environ={}, overrides={"index.batch": 2})[0].index


def make_indexer(store: Store, settings: IndexSettings, embedder: HashEmbedder | None = None) -> Indexer:
    return Indexer(store, embedder or HashEmbedder(), settings)


def found(indexer: Indexer, query: str) -> set[str]:
    """Chunk ids that both indexes give for ``query``, which must agree on what exists; documents without tables."""
    vectors, sparse = indexer.open()
    near = {chunk_id for chunk_id, _ in vectors.query(HashEmbedder().embed_query(query), 100)}
    assert len(near) == len(vectors)
    assert {chunk_id for chunk_id, _ in sparse.query(query, 100)} <= near
    assert len(sparse) == len(near)
    return near


def embedded(indexer: Indexer) -> set[str]:
    """Chunk ids in the vector index."""
    return {chunk_id for chunk_id, _ in indexer.open()[0].query(HashEmbedder().embed_query("revenues"), 100)}


def test_an_update_makes_everything_findable(store: Store, settings: IndexSettings) -> None:
    alpha = add_document(store, "alpha", ALPHA)
    indexer = make_indexer(store, settings)
    seen: list[tuple[int, int]] = []
    report = indexer.update(on_progress=lambda done, total: seen.append((done, total)))
    assert (report.chunks, report.embedded, report.embedder) == (4, 4, "test:hash")
    assert seen == [(0, 4), (2, 4), (4, 4)]
    assert found(indexer, "revenues") == {f"{alpha}:{index}" for index in range(4)}
    assert store.index_record() == {"embedder": "test:hash", "dimensions": 64}


def test_a_second_document_leaves_the_first_alone(store: Store, settings: IndexSettings) -> None:
    add_document(store, "alpha", ALPHA)
    make_indexer(store, settings).update()
    beta = add_document(store, "beta", BETA)
    embedder = HashEmbedder()
    report = make_indexer(store, settings, embedder).update()
    assert (report.chunks, report.embedded, embedder.calls) == (7, 3, 3)
    assert len(store.vectors("test:hash", [beta])[0]) == 3


def test_an_update_with_nothing_new_does_nothing(store: Store, settings: IndexSettings) -> None:
    add_document(store, "alpha", ALPHA)
    make_indexer(store, settings).update()
    embedder, before = HashEmbedder(), store.revision()
    report = make_indexer(store, settings, embedder).update()
    assert (report.chunks, report.embedded, embedder.calls, store.revision()) == (4, 0, 0, before)


def test_a_removed_document_is_gone_from_both_indexes_at_the_next_query(store: Store, settings: IndexSettings) -> None:
    alpha = add_document(store, "alpha", ALPHA)
    beta = add_document(store, "beta", BETA)
    indexer = make_indexer(store, settings)
    indexer.update()
    Trash(store, 0).remove(beta)
    assert found(indexer, "tea") == {f"{alpha}:{index}" for index in range(4)}


def test_a_document_cut_anew_is_found_with_its_new_chunks(store: Store, settings: IndexSettings) -> None:
    doc_id = add_document(store, "alpha", ALPHA)
    indexer = make_indexer(store, settings)
    indexer.update()
    # The ids stay, their texts change: an id alone does not say that a vector is the right one.
    put_passages(store, doc_id, "alpha", ["Zebras graze.", ALPHA[1], "Lions sleep."])
    vectors, sparse = indexer.open()
    assert [hit for hit, _ in sparse.query("zebras", 5)] == [f"{doc_id}:0"], "BM25 has it at once"
    assert vectors.query(HashEmbedder().embed_query("alpha\nZebras graze."), 9) == vectors.query(
        HashEmbedder().embed_query("alpha\nZebras graze."), 1
    ), "of the old vectors only that of the passage that stayed"
    indexer.update()
    vectors, sparse = indexer.open()
    assert vectors.query(HashEmbedder().embed_query("alpha\nZebras graze."), 1)[0][0] == f"{doc_id}:0"
    assert vectors.query(HashEmbedder().embed_query("alpha\nZebras graze."), 1)[0][1] == pytest.approx(1.0, abs=1e-5)
    assert [hit for hit, _ in sparse.query("zebras lions", 5)] == [f"{doc_id}:0", f"{doc_id}:2"]
    assert len(sparse) == 3


def test_a_stopped_run_goes_on_where_it_was(store: Store, settings: IndexSettings) -> None:
    add_document(store, "alpha", ALPHA)
    done: list[int] = []
    with pytest.raises(Cancelled):
        make_indexer(store, settings).update(
            on_progress=lambda count, _: done.append(count), cancelled=lambda: done[-1] == 2
        )
    vectors, sparse = make_indexer(store, settings).open()
    assert (len(vectors), len(sparse)) == (2, 4)
    embedder = HashEmbedder()
    report = make_indexer(store, settings, embedder).update()
    assert (report.embedded, embedder.calls, report.chunks) == (2, 2, 4)


def test_a_killed_run_loses_at_most_one_batch(store: Store, settings: IndexSettings) -> None:
    add_document(store, "alpha", ALPHA)
    code = f"""
import os
from pathlib import Path
from ragcore.config.settings import load
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from tests.libraries import HashEmbedder
home = Path({str(store.home)!r})
settings = load(environ={{}}, overrides={{"index.batch": 1}})[0].index
indexer = Indexer(Store(home), HashEmbedder(), settings)
indexer.update(on_progress=lambda done, total: os._exit(9) if done == 3 else None)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 9
    assert store.waiting("test:hash") == {askable(store)[0]: 1}
    assert make_indexer(store, settings).update().embedded == 1


def test_another_embedder_is_refused_until_it_rebuilds(store: Store, settings: IndexSettings) -> None:
    add_document(store, "alpha", ALPHA)
    make_indexer(store, settings).update()
    other = make_indexer(store, settings, HashEmbedder(32, "test:other"))
    for call in (other.check, other.open, other.update):
        with pytest.raises(IndexMismatch, match="test:hash"):
            call()
    assert other.update(rebuild=True).embedded == 4
    assert store.index_record() == {"embedder": "test:other", "dimensions": 32}
    assert len(other.open()[1]) == 4
    with pytest.raises(IndexMismatch, match="test:other"):
        make_indexer(store, settings).open()


def test_a_rebuild_embeds_nothing_again(store: Store, settings: IndexSettings) -> None:
    alpha = add_document(store, "alpha", ALPHA)
    make_indexer(store, settings).update()
    store.put_derived("postings", alpha, store.derived_marks("postings")[alpha], b"damaged")
    embedder = HashEmbedder()
    report = make_indexer(store, settings, embedder).update(rebuild=True)
    assert (report.embedded, embedder.calls) == (0, 0)
    assert b"damaged" not in [data for _, _, data in store.derived("postings", [alpha])]


def test_another_model_under_the_same_name_is_refused_until_it_rebuilds(store: Store, settings: IndexSettings) -> None:
    """A folder that now holds a model with vectors of another length."""
    add_document(store, "alpha", ALPHA)
    make_indexer(store, settings).update()
    other = make_indexer(store, settings, HashEmbedder(32))
    for call in (other.check, other.open, other.update):
        with pytest.raises(IndexMismatch, match="64 dimensions"):
            call()
    assert other.update(rebuild=True).embedded == 4
    assert len(other.open()[0].query(HashEmbedder(32).embed_query("revenues"), 9)) == 4
    with pytest.raises(IndexMismatch, match="32 dimensions"):
        make_indexer(store, settings).open()


def test_an_empty_library_says_so(store: Store, settings: IndexSettings) -> None:
    indexer = make_indexer(store, settings)
    for call in (indexer.check, indexer.open):
        with pytest.raises(IndexEmpty):
            call()
    assert indexer.update().chunks == 0
    with pytest.raises(IndexEmpty):
        indexer.open()


def test_lost_postings_come_back_by_themselves(store: Store, settings: IndexSettings) -> None:
    add_document(store, "alpha", ALPHA)
    indexer = make_indexer(store, settings)
    indexer.update()
    expected = found(indexer, "revenues")
    store.forget_derived(["postings", "names"])
    assert found(make_indexer(store, settings), "revenues") == expected


def test_the_changes_of_another_process_are_seen(store: Store, settings: IndexSettings) -> None:
    add_document(store, "alpha", ALPHA)
    indexer = make_indexer(store, settings)
    indexer.update()
    found(indexer, "revenues")
    code = f"""
from pathlib import Path
from ragcore.config.settings import load
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from tests.libraries import HashEmbedder, add_document
home = Path({str(store.home)!r})
store = Store(home)
add_document(store, "beta", {BETA!r})
Indexer(store, HashEmbedder(), load(environ={{}})[0].index).update()
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert len(found(indexer, "tea")) == 7


@pytest.mark.slow
def test_two_processes_may_build_the_index_at_once(store: Store, settings: IndexSettings) -> None:
    for number in range(6):
        add_document(store, f"doc{number}", [f"{text} {number}" for text in ALPHA + BETA])
    code = f"""
from pathlib import Path
from ragcore.config.settings import load
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from tests.libraries import HashEmbedder
home = Path({str(store.home)!r})
settings = load(environ={{}}, overrides={{"index.batch": 1}})[0].index
indexer = Indexer(Store(home), HashEmbedder(), settings)
assert indexer.update().chunks == 42
vectors, sparse = indexer.open()
assert len(vectors) == len(sparse) == 42
"""
    workers = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(2)]
    assert [worker.wait() for worker in workers] == [0, 0]
    assert len(found(make_indexer(store, settings), "tea")) == 42


def test_a_composite_has_the_vector_of_its_rows_which_come_and_go_with_it(
    store: Store, settings: IndexSettings
) -> None:
    alpha = add_document(store, "alpha", ALPHA, tables=[(1, 3)])
    beta = add_document(store, "beta", BETA)
    indexer = make_indexer(store, settings)
    assert store.waiting("test:hash") == {alpha: 2, beta: 3}
    report = indexer.update()
    assert (report.chunks, report.embedded) == (8, 5)
    assert embedded(indexer) == {f"{alpha}:0", f"{alpha}:4", *(f"{beta}:{n}" for n in range(3))}
    assert len(indexer.open()[1]) == 8
    put_passages(store, alpha, "alpha", ALPHA)
    assert indexer.update().embedded == 3
    assert found(indexer, "revenues") == {*(f"{alpha}:{n}" for n in range(4)), *(f"{beta}:{n}" for n in range(3))}
    Trash(store, 0).remove(alpha)
    assert found(indexer, "revenues") == {f"{beta}:{n}" for n in range(3)}


def test_vectors_that_earlier_versions_made_of_rows_stay_and_are_passed_over(
    store: Store, settings: IndexSettings
) -> None:
    alpha = add_document(store, "alpha", ALPHA, tables=[(1, 3)])
    chunks = store.chunks(alpha)
    embedder = HashEmbedder()
    store.put_vectors("test:hash", chunks, embedder.embed_documents([chunk.index_text for chunk in chunks]))
    store.set_index_record({"embedder": "test:hash", "dimensions": 64})
    indexer = make_indexer(store, settings)
    assert (indexer.update().embedded, len(indexer.open()[1])) == (0, 5)
    assert embedded(indexer) == {f"{alpha}:0", f"{alpha}:4"}


def test_a_composite_is_indexed_by_its_grid(store: Store, settings: IndexSettings) -> None:
    alpha = add_document(store, "alpha", ALPHA, tables=[(1, 3)])
    indexer = make_indexer(store, settings)
    indexer.update()
    _, sparse = indexer.open()
    assert [chunk_id for chunk_id, _ in sparse.query("grid", 5)] == [f"{alpha}:4"]


def test_building_again_with_more_rows_gives_the_same_index_as_building_afresh(
    store: Store, settings: IndexSettings, tmp_path: Path
) -> None:
    """Composites are numbered on after the last tile: a row more moves a composite's number onto another chunk."""
    alpha = add_document(store, "alpha", ALPHA, tables=[(0, 1), (2, 3)])
    indexer = make_indexer(store, settings)
    indexer.update()
    more = [*ALPHA[:2], "Net income was 12 million.", *ALPHA[2:]]
    put_passages(store, alpha, "alpha", more, tables=[(0, 2), (3, 4)])
    indexer.update()
    fresh = Store(tmp_path / "fresh")
    other = add_document(fresh, "alpha", more, tables=[(0, 2), (3, 4)])
    afresh = make_indexer(fresh, settings)
    afresh.update()
    for query in ("net income", "grid of revenues", "debt"):
        one, two = (
            [(i.partition(":")[2], round(s, 5)) for i, s in x.open()[1].query(query, 9)] for x in (indexer, afresh)
        )
        assert one == two
        vector = HashEmbedder().embed_query(query)
        near, far = (
            sorted((i.partition(":")[2], round(s, 4)) for i, s in x.open()[0].query(vector, 9))
            for x in (indexer, afresh)
        )
        assert near == far
    stored = [(c.index, c.tiles, c.grid, c.text) for c in store.chunks(alpha)]
    assert stored == [(c.index, c.tiles, c.grid, c.text) for c in fresh.chunks(other)]
    assert [c.tiles for c in store.chunks(alpha)][-2:] == [(0, 2), (3, 4)]


def test_a_document_whose_chunks_only_moved_to_other_pages_is_filed_anew(store: Store, settings: IndexSettings) -> None:
    doc_id = add_document(store, "alpha", ALPHA)
    make_indexer(store, settings).update()
    document = store.document(doc_id)
    moved = replace(document, words=WordMap([0], [1], [7], [(10.0, 10.0, 20.0, 20.0)], [False]))
    store.put_document(moved, store.chunks(doc_id), recipe="test")
    embedder = HashEmbedder()
    vectors, sparse = make_indexer(store, settings, embedder).open()
    assert embedder.calls == 0
    query = HashEmbedder().embed_query("alpha")
    for pages, expected in (((7, 7),), {f"{doc_id}:0"}), (((1, 1),), {f"{doc_id}:{n}" for n in (1, 2, 3)}):
        assert {i for i, _ in vectors.query(query, 9, Scope(pages=pages))} == expected
        assert {i for i, _ in sparse.query("alpha", 9, Scope(pages=pages))} == expected


def counted(store: Store, wanted: Mapping[str, str]) -> dict[str, Postings]:
    """The postings of documents, counted from their chunks."""
    return {
        doc_id: Postings.of((entry, chunk.index_text) for entry, chunk in store.indexed_chunks(doc_id))
        for doc_id in wanted
    }


@pytest.mark.slow
def test_killed_at_any_moment_both_indexes_hold_what_the_library_holds(store: Store, settings: IndexSettings) -> None:
    code = f"""
import random, sys
from pathlib import Path
from ragcore.config.settings import load
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.index.shelf import Trash
from tests.libraries import HashEmbedder, add_document, askable
home = Path({str(store.home)!r})
settings = load(environ={{}}, overrides={{"index.batch": 2}})[0].index
store = Store(home)
indexer = Indexer(store, HashEmbedder(), settings)
chosen = random.Random(int(sys.argv[1]))
print("ready", flush=True)
for turn in range(10_000):
    if turn % 3 == 2:
        Trash(store, 0).remove(chosen.choice(askable(store)))
    else:
        add_document(store, f"doc{{sys.argv[1]}}-{{turn}}", [f"Word{{chosen.randrange(9)}} of tea." for _ in range(5)])
    indexer.update()
"""
    for turn in range(3):
        worker = subprocess.Popen([sys.executable, "-c", code, str(turn)], cwd=ROOT, stdout=subprocess.PIPE)
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"ready\n"
        time.sleep(0.3 + 0.37 * turn)
        assert worker.poll() is None, "it works until it is killed"
        worker.kill()
        worker.wait()
        indexer = make_indexer(store, settings)
        add_document(store, f"after {turn}", ALPHA)
        indexer.update()
        vectors, sparse = indexer.open()
        expected = {chunk.chunk_id for doc_id in askable(store) for chunk in store.chunks(doc_id)}
        assert isinstance(vectors, VectorIndex)
        assert set(vectors.entries.ids) == expected
        assert len(sparse) == len(expected)
        fresh = Bm25Index(k1=settings.bm25_k1, b=settings.bm25_b)
        fresh = fresh.updated(dict.fromkeys(askable(store), ""), lambda wanted: counted(store, wanted))
        for query in ("word1 tea", "revenues of word7", "debt"):
            assert sparse.query(query, 500) == fresh.query(query, 500)


def test_damaged_postings_are_counted_again_within_the_question(store: Store, settings: IndexSettings) -> None:
    add_document(store, "alpha", ALPHA)
    beta = add_document(store, "beta", BETA)
    make_indexer(store, settings).update()
    expected = make_indexer(store, settings).open()[1].query("revenues of tea", 9)
    ((_, mark, data),) = store.derived("postings", [beta])
    chance = random.Random(1)
    for _ in range(40):
        flipped = bytearray(data)
        place = chance.randrange(len(data) * 8)
        flipped[place // 8] ^= 1 << place % 8
        store.put_derived("postings", beta, mark, bytes(flipped))
        assert make_indexer(store, settings).open()[1].query("revenues of tea", 9) == expected
        assert list(store.derived("postings", [beta])) == [(beta, mark, data)]


def test_postings_are_of_the_document_as_it_is_now_and_go_with_it(store: Store, settings: IndexSettings) -> None:
    alpha, beta = add_document(store, "alpha", ALPHA), add_document(store, "beta", BETA)
    make_indexer(store, settings).update()
    before = store.derived_marks("postings")
    put_passages(store, alpha, "alpha", ["Zebras graze."])
    make_indexer(store, settings).update()
    after = store.derived_marks("postings")
    assert (after[alpha] != before[alpha], after[beta] == before[beta]) == (True, True)
    Trash(store, 0).remove(beta)
    assert store.derived_marks("postings") == {alpha: after[alpha]}
    store.put_derived("postings", beta, "late", b"of a process that did not know")
    assert beta not in store.derived_marks("postings")
