"""What AI writes of a figure, in the canonical text: wrapped, spanned, lit as the figure's region, its own chunk."""

from __future__ import annotations

from ragcore.config.settings import ChunkSettings, Settings
from ragcore.ingest.chunk import chunk_document
from ragcore.types import Box, Document, Element
from tests.ingest import sheets
from tests.ingest.sheets import Part, caption, picture, text

SAID = "A bar chart of nitrate by well. Orchard Lane stands highest, at 61.4."
REGION = Box(1, 60, 100, 300, 200)
PROSE = "The survey began in April and ran for nine weeks. Forty wells were sampled twice."


def described(settings: Settings, *parts: Part, said: str = SAID) -> tuple[Document, Element]:
    document = sheets.document([parts], settings, {REGION: said})
    (figure,) = (element for element in document.elements if element.generated)
    return document, figure


def sheet(words: str = "") -> list[Part]:
    return [
        text(60, 40, PROSE),
        picture(60, 100, 300, 200, words),
        caption(60, 206, "Figure 1. Wells."),
        text(60, 240, PROSE),
    ]


def test_the_description_stands_wrapped_after_the_figures_own_words(settings: Settings) -> None:
    document, figure = described(settings, *sheet("Orchard Lane 61.4"))
    assert document.text[figure.start : figure.end] == f"Orchard Lane 61.4\n<::{SAID}::>"
    assert figure.generated is not None
    start, end = figure.generated
    assert document.text[start:end] == f"<::{SAID}::>"
    # Any part of it is the figure's region; the figure's own words keep their places.
    at = document.text.index("stands")
    assert document.boxes(at, at + 6) == (REGION,)
    own = document.boxes(figure.start, start)
    assert len(own) == 1
    assert own[0].y0 == 101
    assert REGION in document.element_boxes(figure)
    assert document.pages_of(start, end) == (1,)
    assert document.page_at(start, end) == 1


def test_nothing_of_it_counts_as_printed(settings: Settings) -> None:
    document, figure = described(settings, *sheet())
    printed = [
        document.text[a:b]
        for a, b, repeated in zip(document.words.starts, document.words.ends, document.words.repeated)
        if not repeated
    ]
    assert "chart" not in " ".join(printed)
    assert "Wells." in printed
    assert document.text[figure.start : figure.end] == f"<::{SAID}::>"


def test_marks_inside_a_description_cannot_end_it(settings: Settings) -> None:
    document, figure = described(settings, *sheet(), said="One ::> two\n\n<:: three.")
    assert document.text[figure.start : figure.end] == "<::One :: > two < :: three.::>"


def test_the_rest_of_the_document_stays_as_it_is(settings: Settings) -> None:
    plain = sheets.document([sheet()], settings)
    document, figure = described(settings, *sheet())
    assert document.text.replace(f"<::{SAID}::>\n\n", "") == plain.text
    assert [(e.id, e.kind, e.caption, e.caption_of) for e in document.elements] == [
        (e.id, e.kind, e.caption, e.caption_of) for e in plain.elements
    ]
    assert figure.caption is not None


def cut(document: Document, settings: ChunkSettings) -> list[tuple[str, str]]:
    chunks = chunk_document(document, settings)
    assert "".join(chunk.text for chunk in chunks if chunk.tiles is None) == document.text[: document.body_end]
    return [(chunk.kind, chunk.text.strip()) for chunk in chunks]


def test_a_description_is_a_chunk_with_its_caption_and_nothing_else(settings: Settings) -> None:
    document, _figure = described(settings, *sheet("Orchard Lane 61.4"))
    assert cut(document, settings.chunk) == [
        ("text", PROSE),
        ("figure", f"Orchard Lane 61.4\n<::{SAID}::>\n\nFigure 1. Wells."),
        ("text", PROSE),
    ]


def test_a_caption_above_goes_with_the_figure(settings: Settings) -> None:
    parts = [text(60, 40, PROSE), caption(60, 86, "Chart 1. Wells."), picture(60, 100, 300, 200), text(60, 240, PROSE)]
    document, _figure = described(settings, *parts)
    assert cut(document, settings.chunk) == [
        ("text", PROSE),
        ("figure", f"Chart 1. Wells.\n\n<::{SAID}::>"),
        ("text", PROSE),
    ]


def test_a_figures_own_words_stay_with_its_caption(settings: Settings) -> None:
    small = settings.chunk.model_copy(update={"max_tokens": 60, "target_tokens": 20})
    document = sheets.document([sheet("Orchard Lane 61.4 Mill Bridge 12.9 Station Road 3.1")], settings)
    (chunk,) = (text for kind, text in cut(document, small) if "Orchard" in text)
    assert chunk.endswith("Figure 1. Wells.")


def test_a_long_description_is_cut_at_sentences(settings: Settings) -> None:
    said = " ".join(f"Bar number {n} stands at about {n} milligrams per litre of water." for n in range(60))
    document, _figure = described(settings, *sheet(), said=said)
    kinds = [(kind, text) for kind, text in cut(document, settings.chunk) if "Bar number" in text]
    assert len(kinds) > 1
    assert {kind for kind, _text in kinds} == {"figure"}
    assert all(text.removesuffix("\n\nFigure 1. Wells.").removesuffix("::>").endswith(".") for _kind, text in kinds)
