"""Exploring a question: what it shows is what the pipeline gives, and nothing is embedded or read anew for a slider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ragcore.answer.sources import build_sources
from ragcore.engine import Engine
from ragcore.errors import ConfigError, EmptyQuestion, UnknownDocument
from ragcore.explore.explore import Exploration
from ragcore.index.outline import outline
from ragcore.types import Scope
from tests import pdfs, prepared
from tests.matrix import standing_for

QUESTION = "What was the highest nitrate reading and how was oxygen measured?"
SETTINGS: tuple[dict[str, object], ...] = (
    {},
    {"retrieve.alpha": 0.9},
    {"retrieve.alpha": 0.0, "rse.irrelevant_chunk_penalty": 0.05},
    {"rse.decay_rate": 5.0, "rse.irrelevant_chunk_penalty": 0.4},
    {"rse.max_length": 40, "rse.overall_max_length": 200, "rse.decay_rate": 200.0, "retrieve.top_k": 5},
    {"retrieve.mode": "vector"},
    {"retrieve.mode": "bm25"},
    {"rerank.weight": 0.0, "agentic.decompose": "off"},
    {"retrieve.mode": "raptor-traversal"},
    {"retrieve.mode": "outline"},
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("exploring")) as engine:
        for name, make in {"survey.pdf": pdfs.one_column, "table.pdf": pdfs.ruled_table}.items():
            prepared.read(engine, make(), name)
        engine.index()
        yield engine


@pytest.fixture(scope="module")
def exploration(library: Engine) -> Exploration:
    return library.explore(QUESTION)


@pytest.mark.parametrize("chosen", standing_for(SETTINGS[::3], SETTINGS), ids=str)
def test_it_gives_what_the_pipeline_gives(chosen: dict[str, object], library: Engine, exploration: Exploration) -> None:
    found = exploration.under(chosen)
    given = library.with_settings(chosen).retrieve(QUESTION)
    assert found.retrieval.hits == given.hits
    assert found.retrieval.segments == given.segments
    assert found.retrieval.queries == given.queries
    assert found.retrieval.mode == given.mode
    assert found.retrieval.paths == given.paths


def test_a_slider_embeds_and_reads_nothing_anew(exploration: Exploration) -> None:
    exploration.under({})
    again = exploration.under({"rse.irrelevant_chunk_penalty": 0.11, "rse.decay_rate": 12.0})
    assert again.read == 0, "segments are cut from what was read"
    assert exploration.under({"retrieve.alpha": 0.35}).read >= 0
    assert exploration.under({"retrieve.alpha": 0.35}).read == 0


def test_what_the_searches_find_is_there_before_anything_is_read(library: Engine) -> None:
    fresh = library.explore("How deep was the oxygen probe?")
    found = fresh.under({"rerank.model": "none"})
    assert found.retrieval.hits
    assert (found.read, fresh.unread) == (0, True)
    assert fresh.under({}).read > 0
    assert not fresh.unread


def test_every_chunk_in_scope_has_a_place_and_its_scores(library: Engine, exploration: Exploration) -> None:
    outline = exploration.outline
    ids = [chunk.chunk_id for info in library.documents() for chunk in library.chunks(info.doc_id)]
    assert [outline.chunk_id(row) for row in range(len(outline))] == ids
    assert outline.rows(ids).tolist() == list(range(len(ids)))
    assert not np.isnan(exploration.cosines).any()
    assert (exploration.bm25 > 0).any()
    for info, extent in zip(library.documents(), outline.extents, strict=True):
        tiles = [chunk for chunk in library.chunks(info.doc_id) if chunk.tiles is None]
        assert (extent.doc_id, extent.tiles) == (info.doc_id, len(tiles))


def test_the_raw_scores_are_those_of_the_hits(exploration: Exploration) -> None:
    found = exploration.under({"agentic.decompose": "off"})
    for hit in found.retrieval.hits:
        if hit.chunk.tiles is None and "vector" in hit.scores:
            row = exploration.outline.rows([hit.chunk.chunk_id])[0]
            assert exploration.cosines[row] == pytest.approx(hit.scores["vector"], abs=1e-5)
            assert exploration.bm25[row] == pytest.approx(hit.scores["bm25"], abs=1e-9)


def test_points_say_what_became_of_each_hit(exploration: Exploration) -> None:
    found = exploration.under({})
    points = {point.chunk.chunk_id: point for point in found.points}
    for hit in found.retrieval.hits:
        point = points[hit.chunk.chunk_id]
        assert point.hit == hit.rank
        assert point.passage >= 0, "every hit is in a passage"
        assert point.by in ("both", "vector", "bm25", "fused")
        assert (point.fate == "given") == (point.source > 0)
    assert {point.source for point in found.points if point.source} == {source.number for source in found.sources}
    for source in found.sources:
        inside = [p for p in found.points if p.source == source.number]
        assert all(p.chunk.doc_id == source.doc_id for p in inside)


def test_what_a_tree_finds_is_found_by_it(exploration: Exploration) -> None:
    for mode in ("outline", "raptor"):
        found = exploration.under({"retrieve.mode": mode})
        hits = [point for point in found.points if point.hit]
        assert hits
        assert {point.by for point in hits} == {"structure"}
        assert all(point.ranks["structure"] and point.scores["vector"] for point in hits if not point.chunk.tiles)


def test_a_segment_is_worth_the_sum_of_its_points(library: Engine, exploration: Exploration) -> None:
    """The values shown for chunks are those that segments are made of."""
    found = exploration.under({"agentic.decompose": "off", "rse.minimum_value": 0.0})
    values = {point.chunk.chunk_id: point.value for point in found.points if point.hit}
    penalty = found.settings.rse.irrelevant_chunk_penalty
    segments = [segment for segment in found.retrieval.segments if segment.via == "rse"]
    assert segments
    for segment in segments:
        ids = [f"{segment.doc_id}:{index}" for index in range(segment.first_chunk, segment.last_chunk + 1)]
        assert sum(values.get(i, -penalty) for i in ids) == pytest.approx(segment.value)


def test_sources_are_those_that_the_writer_would_get(library: Engine, exploration: Exploration) -> None:
    for chosen in SETTINGS[:5]:
        found = exploration.under(chosen)
        assert found.sources == build_sources(found.retrieval, library.document, library.settings.answer)


def test_the_chunks_places_are_read_once_for_all_questions(library: Engine, exploration: Exploration) -> None:
    assert library.explore("Another question").outline is exploration.outline
    doc_id = library.documents()[1].doc_id
    cut = library.explore(QUESTION, Scope((doc_id,))).outline
    alone = outline(library.store, [doc_id])
    assert cut.extents == alone.extents
    for name in ("doc", "position", "first_page", "tiles", "x"):
        assert (getattr(cut, name) == getattr(alone, name)).all(), name


def test_within_a_scope_nothing_else_has_scores(library: Engine) -> None:
    doc_id = library.documents()[0].doc_id
    inside = library.explore(QUESTION, Scope((doc_id,)))
    assert [extent.doc_id for extent in inside.outline.extents] == [doc_id]
    first = library.explore(QUESTION, Scope((doc_id,), pages=((1, 1),)))
    touches = first.outline.first_page == 1
    assert (~np.isnan(first.cosines) == touches).all()


def test_the_map_keeps_most_of_what_two_axes_can(library: Engine, exploration: Exploration) -> None:
    projection = exploration.projection()
    assert projection.xy.shape == (len(exploration.outline), 2)
    assert not np.isnan(projection.xy).any()
    _, matrix = library.store.vectors(library.settings.index.embedder, [d.doc_id for d in library.documents()])
    matrix = matrix.astype(np.float64)
    singular = np.linalg.svd(matrix - matrix.mean(axis=0), compute_uv=False) ** 2
    assert projection.share == pytest.approx(tuple(singular[:2] / singular.sum()), abs=1e-3)
    holders = exploration.outline.holders
    np.testing.assert_array_equal(projection.xy, projection.xy[holders])
    assert projection.xy[np.unique(holders)].mean(axis=0) == pytest.approx(0.0, abs=1e-4)


def test_it_is_over_when_the_library_changes(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        doc_id = prepared.read(engine, pdfs.one_column(), "a.pdf")
        engine.index()
        exploration = engine.explore("nitrate")
        assert exploration.current()
        engine.remove(doc_id)
        assert not exploration.current()


def test_a_document_that_is_embedded_later_is_there(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        prepared.read(engine, pdfs.one_column(), "a.pdf")
        engine.index()
        later = prepared.read(engine, pdfs.ruled_table(), "b.pdf")
        before = engine.explore("nitrate")
        assert later not in [extent.doc_id for extent in before.outline.extents]
        engine.index()
        assert not before.current(), "although no chunk came or went"
        assert later in [extent.doc_id for extent in engine.explore("nitrate").outline.extents]


def test_what_cannot_be_explored_is_said(library: Engine, exploration: Exploration) -> None:
    with pytest.raises(EmptyQuestion):
        library.explore("  ")
    with pytest.raises(UnknownDocument):
        library.explore(QUESTION, Scope(("nowhere",)))
    with pytest.raises(ConfigError):
        exploration.under({"retrieve.alpha": 2.0})
