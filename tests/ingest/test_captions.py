"""Captions find their figures, by place and label."""

from __future__ import annotations

import pytest

from ragcore.config.settings import Settings
from ragcore.ingest.captions import is_labelled
from ragcore.types import Document
from tests.ingest import sheets
from tests.ingest.sheets import Part, caption, picture, text

PROSE = "The wells south of the railway were sampled twice in the spring and once more in the autumn of that year."


def tied(document: Document) -> dict[str, list[float]]:
    """Caption's text → the tops of its figures, sorted."""
    out: dict[str, list[float]] = {}
    for element in document.elements:
        if element.caption is not None:
            owner = document.elements[element.caption]
            assert owner.kind == "caption"
            assert element.id in owner.caption_of
            out.setdefault(document.text[owner.start : owner.end], []).append(element.region[0].y0)
    for element in document.elements:
        assert all(document.elements[other].caption == element.id for other in element.caption_of)
    return {words: sorted(tops) for words, tops in out.items()}


def build(settings: Settings, *parts: Part) -> Document:
    return sheets.document([parts], settings)


def order(document: Document) -> list[str]:
    return [element.kind for element in document.body]


def test_captions_below(settings: Settings) -> None:
    document = build(
        settings,
        picture(60, 100, 300, 200),
        caption(60, 206, "Figure 1. Wells."),
        picture(60, 240, 300, 340),
        caption(60, 346, "Figure 2. Pumps."),
    )
    assert tied(document) == {"Figure 1. Wells.": [100], "Figure 2. Pumps.": [240]}


def test_captions_above_though_the_next_stands_nearer(settings: Settings) -> None:
    document = build(
        settings,
        caption(60, 86, "Chart 1: Wells"),
        picture(60, 104, 300, 200),
        caption(60, 204, "Chart 2: Pumps"),
        picture(60, 222, 300, 340),
    )
    assert tied(document) == {"Chart 1: Wells": [104], "Chart 2: Pumps": [222]}


def test_a_labelled_caption_goes_before_a_nearer_note(settings: Settings) -> None:
    document = build(
        settings,
        caption(60, 80, "Exhibit 4. Nitrate by well"),
        picture(60, 104, 300, 200),
        caption(60, 202, "Source: county survey."),
    )
    assert tied(document) == {"Exhibit 4. Nitrate by well": [104]}


def test_panels_share_a_caption(settings: Settings) -> None:
    document = build(
        settings,
        picture(60, 100, 180, 200),
        picture(190, 100, 310, 200),
        picture(60, 210, 180, 310),
        caption(60, 318, "Fig. 2a–c. Three wells."),
    )
    assert tied(document) == {"Fig. 2a–c. Three wells.": [100, 100, 210]}


def test_a_caption_of_another_column_stays_there(settings: Settings) -> None:
    document = build(
        settings,
        picture(60, 100, 290, 200),
        text(60, 206, PROSE, width=230),
        caption(330, 206, "Figure 7. Elsewhere.", width=230),
    )
    assert tied(document) == {}


def test_a_caption_beside_its_figure(settings: Settings) -> None:
    document = build(settings, picture(60, 100, 300, 300), caption(310, 120, "Figure 3. Beside it.", width=120))
    assert tied(document) == {"Figure 3. Beside it.": [100]}


def test_an_axis_label_between_does_not_part_them(settings: Settings) -> None:
    document = build(
        settings,
        picture(60, 100, 300, 200),
        text(60, 203, "Days since sampling (n)"),
        caption(60, 220, "Figure 1. Wells."),
    )
    assert tied(document) == {"Figure 1. Wells.": [100]}


def test_a_note_between_does_not_part_them(settings: Settings) -> None:
    note = "This figure shows the readings of all wells, by month and by crew."
    document = build(
        settings,
        text(60, 86, "Figure A1: Readings of the Wells", "section-header"),
        text(60, 100, note),
        picture(60, 130, 300, 300),
    )
    assert tied(document) == {"Figure A1: Readings of the Wells": [130]}
    assert order(document) == ["caption", "paragraph", "figure"]


def test_text_between_keeps_them_apart(settings: Settings) -> None:
    document = build(
        settings, picture(60, 100, 300, 200), text(60, 203, "Not a caption."), caption(60, 220, "Figure 1. Wells.")
    )
    assert tied(document) == {}


def test_a_labelled_paragraph_becomes_a_caption_and_a_table_title_does_not(settings: Settings) -> None:
    document = build(
        settings,
        picture(60, 100, 300, 200),
        text(60, 206, "Figure 5. What the crews found."),
        picture(60, 300, 300, 400),
        caption(60, 406, "Table 2. Readings."),
    )
    assert tied(document) == {"Figure 5. What the crews found.": [100]}
    assert order(document)[1] == "caption"


def test_a_caption_is_brought_to_its_figure(settings: Settings) -> None:
    document = build(
        settings,
        picture(60, 100, 300, 200),
        text(330, 100, PROSE),
        caption(60, 206, "Figure 1. Wells."),
        text(60, 240, PROSE),
    )
    assert order(document) == ["figure", "caption", "paragraph", "paragraph"]


@pytest.mark.parametrize(
    "words",
    [
        "Figure 3",
        "Figure 3. Growth",
        "Fig. 2a The mill",
        "Fig. 2 (a) The mill",
        "FIGURE IV — Growth",
        "Exhibit 99.1: Growth",
        "Chart A-1 | Growth",
        "Supplementary Figure 4. Growth",
        "Abbildung 2: Wachstum",
    ],
)
def test_labels(words: str) -> None:
    assert is_labelled(words)


@pytest.mark.parametrize(
    "words",
    ["Figure 3 shows that growth", "Figures are rounded.", "Table 3. Growth", "Mapping 3", "Charter 2. Rules", "Map"],
)
def test_no_labels(words: str) -> None:
    assert not is_labelled(words)


def test_a_label_of_two_letters_makes_a_caption(settings: Settings) -> None:
    assert order(build(settings, text(60, 206, "Table CA4. | Wells by county, 2007"), text(60, 240, PROSE))) == [
        "caption",
        "paragraph",
    ]
