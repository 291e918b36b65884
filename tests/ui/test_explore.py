"""Explore's plots and words."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragcore.engine import Engine
from ragcore.errors import EmptyQuestion, IndexEmpty, InputError, QuestionTooShort
from ragcore.explore.explore import Exploration
from ragcore.types import Scope
from tests import pdfs, prepared
from ui.explore import connections, figure_marks, figure_points, figures
from ui.explore import payload as explore_payload
from ui.explore import questions as explore
from ui.explore import settings as explore_settings
from ui.explore.figure_axis import Axis
from ui.explore.paths import path

QUESTION = "What was the highest nitrate reading?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("explored")) as engine:
        for name, make in {"survey.pdf": pdfs.one_column, "table.pdf": pdfs.ruled_table}.items():
            prepared.read(engine, make(), name)
        engine.index()
        yield engine


@pytest.fixture(scope="module")
def exploration(library: Engine) -> Exploration:
    return library.explore(QUESTION)


def titles(engine: Engine) -> dict[str, str]:
    return {info.doc_id: info.title for info in engine.documents()}


def column(given: Any) -> list[float]:
    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), dtype=given["dtype"]).tolist()
    return list(given)


def rows(figure: dict[str, Any]) -> set[int]:
    return {int(row) for trace in figure["data"][:2] for row in column(trace["customdata"])}


@pytest.mark.parametrize("measure", figures.MEASURES)
def test_every_chunk_is_a_point_of_the_plot(measure: str, library: Engine, exploration: Exploration) -> None:
    found = explore.explored(exploration, {})
    figure = figures.relevance(found, exploration, titles(library), measure=measure, kinds=True)
    drawn = rows(figure)
    if measure == "rerank":
        assert drawn == {point.row for point in found.points if "rerank" in point.scores}
    else:
        assert drawn == set(range(len(exploration.outline)))
    lines = [shape for shape in figure["layout"]["shapes"] if shape.get("line", {}).get("dash")]
    assert len(lines) == (measure == "relevance"), "the penalty is on the scale of relevance alone"


def test_filled_points_are_those_that_the_writer_gets(library: Engine, exploration: Exploration) -> None:
    found = explore.explored(exploration, {})
    figure = figures.relevance(found, exploration, titles(library), kinds=True)
    trace = figure["data"][1]
    filled = {
        int(row)
        for row, symbol in zip(column(trace["customdata"]), trace["marker"]["symbol"])
        if not symbol.endswith("-open")
    }
    assert filled == {point.row for point in found.points if point.fate == "given"}
    assert all(colour.startswith("var(--step-") for colour in trace["marker"]["color"]), "the theme gives the colours"


def test_unasked_a_plot_tells_only_what_was_cited_used_and_found(library: Engine, exploration: Exploration) -> None:
    found = explore.explored(exploration, {})
    conversation = library.conversations.new()
    cited = explore_payload.cited(library.chat(conversation, QUESTION).run().citations, found)
    assert cited
    figure = figures.relevance(found, exploration, titles(library), cited=cited)
    trace = figure["data"][1]
    looks = dict(zip(map(int, column(trace["customdata"])), trace["marker"]["size"]))
    for point in found.points:
        use = explore_payload.use(point, cited)
        assert (use == "cited") == (point.row in cited)
        assert looks[point.row] == figure_points.USES[use][-1]
    assert not [shape for shape in figure["layout"]["shapes"] if shape.get("line", {}).get("dash")], "no penalty"
    asked = explore.answered(library, conversation)
    assert (asked[0]["c"], asked[0]["question"]) == (conversation, QUESTION)
    again = library.conversations.new()
    library.chat(again, QUESTION).run()
    assert [(one["c"], one["question"]) for one in explore.answered(library, None)] == [(again, QUESTION)]


def test_bands_are_the_segments_and_the_line_the_penalty(library: Engine, exploration: Exploration) -> None:
    found = explore.explored(exploration, {"rse.irrelevant_chunk_penalty": 0.12, "rse.minimum_value": 0.1})
    layout = figures.relevance(found, exploration, titles(library), kinds=True)["layout"]
    bands = [shape for shape in layout["shapes"] if shape["type"] == "rect"]
    chosen = [segment for segment in found.retrieval.segments if segment.via in ("rse", "table")]
    assert [band["x1"] - band["x0"] for band in bands] == [s.last_chunk - s.first_chunk + 1 for s in chosen]
    assert any(shape.get("y0") == 0.12 for shape in layout["shapes"])


def test_many_points_are_thinned_but_none_that_was_found() -> None:
    generator = np.random.default_rng(0)
    count = 100_000
    x, y = np.arange(count, dtype=np.float64), generator.random(count) * 0.05
    kept = figure_points.thinned(np.arange(count), x, y, (0.0, float(count)), (0.0, 1.0), 1000, 400)
    assert 0 < len(kept) <= figure_points.MOST_DOTS
    cells = {int(at) // 4 for at in x[kept] / count * 1000}
    assert len(cells) == 250, "no part of the plot is left empty"


def test_only_what_is_around_passages_is_side_by_side(library: Engine, exploration: Exploration) -> None:
    found = explore.explored(exploration, {})
    axis = Axis.around([found], exploration.outline)
    places = axis.of(exploration.outline.x[[point.row for point in found.points]])
    assert not np.isnan(places).any()
    assert axis.kept is not None
    assert (np.diff(axis.places) >= 1).all()
    figure = figures.relevance(found, exploration, titles(library), axis=axis)
    assert {point.row for point in found.points} <= rows(figure)


def test_each_document_begins_and_ends_where_its_chunks_do(exploration: Exploration) -> None:
    outline = exploration.outline
    around = Axis.around([explore.explored(exploration, {})], outline)
    for axis, view in (
        (Axis.whole(), (-1.0, 1e9)),
        (Axis.whole(), (1.0, 3.5)),
        (around, (-1.0, 1e9)),
        (around, (2, 5)),
    ):
        low, high = axis.ends(outline, view)
        for extent, first, last in zip(outline.extents, low, high, strict=True):
            places = axis.of(np.arange(extent.first, extent.first + extent.tiles, dtype=np.float64))
            inside = places[~np.isnan(places) & (places >= view[0]) & (places <= view[1])]
            if len(inside):
                assert (first, last) == (inside[0], inside[-1])
            else:
                assert np.isnan([first, last]).all()


def test_borders_of_documents_are_drawn_where_they_can_be_told_apart(exploration: Exploration) -> None:
    outline, axis = exploration.outline, Axis.whole()
    assert len(figure_marks.borders(outline, axis, (-1.0, 1e9), 800)) == len(outline.extents) - 1
    assert not figure_marks.borders(outline, axis, (-1.0, 1e9), 4), "one line every four pixels"
    assert not figure_marks.borders(outline, axis, (0.0, 0.5), 800), "out of sight"


def test_the_map_has_the_question_and_every_chunk(library: Engine, exploration: Exploration) -> None:
    found = explore.explored(exploration, {})
    projection = explore.EXPLORATIONS.projection(library, exploration)
    assert explore.EXPLORATIONS.projection(library, library.explore("Which wells are deep?")) is projection
    for colour in ("documents", "relevance"):
        figure = figures.chart_map(found, exploration, projection, titles(library), colour=colour)
        assert rows(figure) == set(range(len(exploration.outline)))
        assert figure["data"][2]["text"] == ["the question"]
    view = (*figure["layout"]["xaxis"]["range"], *figure["layout"]["yaxis"]["range"])
    assert view[0] < projection.place(exploration.vector)[0] < view[1]
    found.points = ()
    low = figures.chart_map(
        found, exploration, projection, {}, colour=colour, view=(*view[:3], (view[2] + view[3]) / 2)
    )
    assert rows(low) == set(np.flatnonzero(projection.xy[:, 1] <= (view[2] + view[3]) / 2))


def test_the_colour_of_each_document_is_named_on_the_map(
    library: Engine, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, projection = explore.explored(exploration, {}), exploration.projection()
    found.points = ()
    largest, other = sorted(exploration.outline.extents, key=lambda extent: -extent.chunks)
    for hues, said in ((figures.HUES, other.title), (figures.HUES[:1], "other documents")):
        monkeypatch.setattr(figures, "HUES", hues)
        figure = figures.chart_map(found, exploration, projection, {}, colour="documents")
        legend = dict(figure["layout"]["meta"]["documents"])
        assert list(legend) == [largest.title, said]
        dots = figure["data"][0]
        for text, hue in zip(dots["text"], dots["marker"]["color"], strict=True):
            assert hue == legend[largest.title if text.startswith(f"{largest.title}<br>") else said]


def test_plotly_takes_every_figure(library: Engine, exploration: Exploration) -> None:
    import plotly.graph_objects as go

    found = explore.explored(exploration, {})
    axis = Axis.around([found], exploration.outline)
    for measure in figures.MEASURES:
        go.Figure(plain(figures.relevance(found, exploration, titles(library), measure=measure, axis=axis)))
    for colour in ("documents", "relevance"):
        go.Figure(plain(figures.chart_map(found, exploration, exploration.projection(), {}, colour=colour)))


def plain(figure: dict[str, Any]) -> Any:
    """Without the colours of the theme, which only the browser knows."""
    return json.loads(re.sub(r"var\(--[\w-]+\)", "#888888", json.dumps(figure)))


def test_differences_name_what_only_one_has(library: Engine, exploration: Exploration) -> None:
    names = titles(library)
    one, other = explore.explored(exploration, {}), explore.explored(exploration, {"retrieve.top_k": 1})
    same = explore_payload.differences(one, one, exploration, names)
    assert (same["only_a"], same["only_b"], same["lines"]) == (0, 0, [])
    given = explore_payload.differences(one, other, exploration, names)
    assert given["only_a"] == sum(line["where"] == "a" for line in given["lines"])
    assert explore_payload.differences(other, one, exploration, names)["only_b"] == given["only_a"]


def test_a_passage_says_why_and_where(library: Engine, exploration: Exploration) -> None:
    found = explore.explored(exploration, {})
    best = found.points[0]
    shown = explore_payload.passage(best, found, exploration)
    document = library.document(best.chunk.doc_id)
    assert shown["quote"] == document.text[best.chunk.start : best.chunk.end]
    assert len(shown["boxes"]) == len(document.boxes(best.chunk.start, best.chunk.end))
    assert shown["why"].startswith("Chosen ")
    assert [line["name"] for line in shown["scores"]][:2] == ["Meaning", "Words (BM25)"]
    beyond = next((p for p in map(found.point, range(len(exploration.outline))) if p and p.passage < 0), None)
    if beyond is not None:
        assert explore_payload.why(beyond, found)


def test_the_map_of_connections_has_a_sentence_for_each_link(tmp_path: Path) -> None:
    lines = {"song.pdf": 'The song "Hello Love" was written by Graham Parker.', "man.pdf": "Then Graham Parker left."}
    with Engine.open(tmp_path) as engine:
        for name, line in lines.items():
            prepared.read(engine, pdfs.lines_pdf(["Nothing else is said.", line]), name)
        engine.index()
        exploration = engine.explore("Who wrote Hello Love?")
        found = explore.explored(exploration, {"retrieve.mode": "graph"})
        shown = connections.drawn(found, exploration, titles(engine))
        assert connections.drawn(found, exploration, titles(engine)) == shown
        kinds = {node["key"]: node["kind"] for node in shown["nodes"]}
        assert (kinds["hello love"], kinds["graham parker"]) == ("asked", "name")
        assert sorted(kinds.values()) == ["asked", "name", "used", "used"]
        assert max(node["size"] for node in shown["nodes"]) == 1.0
        for one, other, at, _ in shown["links"]:
            said = shown["sentences"][at]
            assert said["quote"] in lines.values()
            assert shown["nodes"][one]["name"] in said["quote"]
            assert shown["nodes"][other].get("row", 0) in range(len(exploration.outline))
        hybrid = explore.explored(exploration, {"retrieve.mode": "hybrid"})
        assert connections.drawn(hybrid, exploration, {}) == {"nodes": [], "links": [], "sentences": []}


@pytest.mark.parametrize("mode", ["outline", "raptor", "raptor-traversal"])
def test_a_search_by_a_tree_is_plotted_and_told(mode: str, library: Engine, exploration: Exploration) -> None:
    found = explore.explored(exploration, {"retrieve.mode": mode})
    assert rows(figures.relevance(found, exploration, titles(library), kinds=True)) == set(
        range(len(exploration.outline))
    )
    point = next(point for point in found.points if point.hit == 1)
    shown = explore_payload.passage(point, found, exploration)
    assert (shown["by"], shown["use"]) == ("through a tree or graph", "used")
    assert "Tree or graph" in [line["name"] for line in shown["scores"]]
    for reached in found.retrieval.paths:
        first, *_, last = path(reached, {}, library.document)["steps"]
        assert (first["how"], last["how"], last["name"]) == ("at the top", "in it", "this passage")
    (offered,) = [one for one in explore_settings.known()["modes"] if one["value"] == mode]
    assert not offered["alpha"], "it makes no difference there"
    assert explore_settings.named({"retrieve.mode": mode}).casefold() == offered["name"].casefold()


def test_a_set_of_values_for_segments_moves_sliders_and_is_recognised(library: Engine) -> None:
    known = explore_settings.known()
    sliders = {slider["key"] for slider in known["sliders"]}
    for values in known["segments"].values():
        assert set(values) <= sliders
        under = library.with_settings(explore_settings.overrides({"a": values}, "a"))
        assert explore_settings.controls(under.settings).items() >= values.items()
    assert explore_settings.controls(library.settings).items() >= known["segments"]["default"].items()


def test_what_is_wrong_with_a_request_is_said(library: Engine) -> None:
    with pytest.raises(EmptyQuestion):
        explore.asked({"question": " "})
    with pytest.raises(QuestionTooShort):
        explore.asked({"question": "a?"})
    with pytest.raises(InputError):
        explore_settings.overrides({"a": {"llm.base_url": "http://elsewhere"}}, "a")
    with pytest.raises(InputError):
        explore_settings.overrides({"a": {"retrieve.alpha": "much"}}, "a")
    assert explore_settings.overrides({"a": {"retrieve.top_k": "5", "retrieve.alpha": 1}}, "a") == {
        "retrieve.top_k": 5,
        "retrieve.alpha": 1.0,
    }
    with pytest.raises(IndexEmpty):
        explore.explored(library.explore(QUESTION, Scope(())), {})


def test_a_question_is_kept_until_the_library_changes(library: Engine) -> None:
    kept = explore.Explorations()
    first = kept.get(library, QUESTION, Scope(), None)
    assert kept.get(library, QUESTION, Scope(), None) is first
    assert kept.get(library, QUESTION + " really?", Scope(), None) is not first
    other = library.with_settings({"wording.synonyms": False})
    assert kept.get(other, QUESTION, Scope(), None) is not first, "other settings in force search otherwise"


def test_examples_are_three_questions(library: Engine) -> None:
    offered = explore.examples(library, library.documents())
    assert len(offered) <= explore.SHOWN
    assert all(text.endswith("?") for text in offered)


def test_the_words_of_a_line_end_with_a_word() -> None:
    assert explore_payload._beginning("one  two\nthree", 40) == "one two three"
    assert explore_payload._beginning("one two three", 10) == "one two …"
    assert explore_payload._beginning("数" * 40, 10) == "数" * 10 + " …"
