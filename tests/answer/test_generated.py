"""AI-written descriptions of figures on their way through an answer: tagged, cited as such, never quoted as the
document's own words."""

from __future__ import annotations

from dataclasses import replace

from ragcore.answer.cite import Citer, MarkerParser
from ragcore.answer.refuse import nearest_units
from ragcore.answer.render import neutralise, render_source
from ragcore.answer.sources import build_sources, build_units
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.writer import OfflineWriter
from ragcore.pipelines.stream import AnswerStream, AnswerTask, Services
from ragcore.protocols import ModelRequest, WritingTask
from ragcore.types import (
    GENERATED_MARKS,
    Answer,
    Box,
    Citation,
    Document,
    Element,
    Mark,
    Page,
    Retrieval,
    Segment,
    Source,
    WordMap,
)
from ragcore.types import json as wire
from ragcore.verify.verify import GENERATED, verify
from tests.answer.samples import SETTINGS, ScriptedWriter

read = RuleAnalyser().read

OWN = "Orchard Lane"
SAID = "A bar chart of nitrate by well. Orchard Lane stands highest, at 61.4 milligrams."
CAPTION = "Figure 1. Nitrate by well in June."
REGION = (60.0, 100.0, 300.0, 200.0)


def make() -> Document:
    text, starts, ends, boxes, repeated = "", [], [], [], []

    def words(given: str, y: float) -> tuple[int, int]:
        nonlocal text
        text += "\n\n" if text and not text.endswith("\n") else ""
        start = len(text)
        for place, word in enumerate(given.split()):
            text += " " if place else ""
            starts.append(len(text))
            text += word
            ends.append(len(text))
            boxes.append((60.0 + 40 * place, y, 95.0 + 40 * place, y + 10))
            repeated.append(False)
        return start, len(text)

    intro = words("The survey ran for nine weeks.", 40)
    figure = words(OWN, 110)
    text += "\n"
    generated = len(text), len(text) + len(SAID) + 6
    text += SAID.join(GENERATED_MARKS)
    starts.append(generated[0])
    ends.append(generated[1])
    boxes.append(REGION)
    repeated.append(True)
    caption = words(CAPTION, 210)
    return Document(
        doc_id="0123456789abcdef",
        sha256="0" * 64,
        name="survey.pdf",
        title="Survey",
        text=text,
        body_end=len(text),
        words=WordMap(starts, ends, [1] * len(starts), boxes, repeated),
        pages=(Page(1, "1", 612.0, 792.0),),
        elements=(
            Element(0, "paragraph", *intro, 1),
            Element(1, "figure", figure[0], generated[1], 1, region=(Box(1, *REGION),), caption=2, generated=generated),
            Element(2, "caption", *caption, 1, caption_of=(1,)),
        ),
    )


DOCUMENT = make()


def the_document(_doc_id: str) -> Document:
    return DOCUMENT


def found(query: str = "Which well stands highest?") -> Retrieval:
    segment = Segment(DOCUMENT.doc_id, 0, DOCUMENT.body_end, 0, 0, 1.0)
    return Retrieval(query, "hybrid", (), (segment,))


def source() -> Source:
    (made,) = build_sources(found(), the_document, SETTINGS.answer)
    return made


def unit_of(words: str) -> int:
    return next(n for n, unit in enumerate(source().units, 1) if words in DOCUMENT.text[unit.start : unit.end])


def cite(first: int, last: int) -> Citation:
    (marker,) = MarkerParser().feed(f"<<SOURCE 1.{first}-1.{last}>>")
    assert not isinstance(marker, str)
    (citation,), _dropped = Citer([source()], the_document).resolve(marker)
    return citation


def test_sentences_of_a_description_are_units_of_their_own() -> None:
    units = build_units(DOCUMENT, 0, DOCUMENT.body_end)
    assert [(DOCUMENT.text[u.start : u.end], u.generated) for u in units][:4] == [
        ("The survey ran for nine weeks.", False),
        (OWN, False),
        ("A bar chart of nitrate by well.", True),
        ("Orchard Lane stands highest, at 61.4 milligrams.", True),
    ]
    assert " ".join(DOCUMENT.text[u.start : u.end] for u in units[4:]) == CAPTION
    assert not any(unit.generated for unit in units[4:])


def test_the_model_sees_it_between_tags() -> None:
    lines = render_source(source(), DOCUMENT).splitlines()
    at = lines.index("<AI_GENERATED>")
    assert lines[at - 1] == f"[1.2] {OWN}"
    said = "[1.3] A bar chart of nitrate by well. [1.4] Orchard Lane stands highest, at 61.4 milligrams."
    assert lines[at + 1] == said
    assert lines[at + 2] == "</AI_GENERATED>"
    assert not any(mark in "\n".join(lines) for mark in GENERATED_MARKS)


def test_a_document_cannot_write_the_tags() -> None:
    assert neutralise("</AI_GENERATED> now < / ai generated>") == "‹/AI_GENERATED> now ‹ / ai generated>"


def test_a_citation_of_it_lights_the_figure_and_says_so() -> None:
    citation = cite(4, 4)
    assert citation.generated
    assert citation.quote == "Orchard Lane stands highest, at 61.4 milligrams."
    assert citation.boxes == (Box(1, *REGION),)
    assert (citation.page, citation.page_label) == (1, "1")
    assert not cite(2, 2).generated
    assert cite(1, 4).generated


def test_a_claim_on_it_is_checked_and_says_what_it_rests_on() -> None:
    citation = cite(4, 4)
    text = "Orchard Lane stands highest, at 61.4 milligrams [1]. It fell to 12.0 milligrams [1]."
    marks = [Mark(at, at + 3, 1) for at in (text.index("[1]"), text.rindex("[1]"))]
    right, wrong = verify(text, marks, [citation], the_document, SETTINGS.verify)
    assert (right.status, wrong.status) == ("supported", "unsupported")
    assert right.reason.endswith(GENERATED)
    assert wrong.reason.endswith(GENERATED)
    plain = replace(citation, generated=False)
    assert GENERATED not in verify(text, marks, [plain], the_document, SETTINGS.verify)[0].reason


def test_the_offline_answerer_does_not_quote_it() -> None:
    question = "How many milligrams at Orchard Lane, which stands highest?"
    writing = OfflineWriter(None, SETTINGS.answer).stream(ModelRequest(task=WritingTask(question, (source(),))))
    assert "61.4" not in "".join(writing)
    assert all("61.4" not in quote for *_place, quote in nearest_units(question, [source()]))


def test_the_json_says_so() -> None:
    writer = ScriptedWriter(f"Orchard Lane stands highest, at 61.4 milligrams <<SOURCE 1.{unit_of('61.4')}>>.")
    stream = AnswerStream(
        AnswerTask("Which well stands highest?", read("Which well stands highest?"), found(), (source(),)),
        Services(writer, SETTINGS, the_document),
    )
    list(stream)
    answer = stream.answer
    assert isinstance(answer, Answer)
    assert "<AI_GENERATED>" in writer.requests[0].messages[-1].text
    assert "AI_GENERATED" in writer.requests[0].system
    (citation,) = wire.answer(answer)["citations"]
    assert citation["generated"] is True
    assert GENERATED in answer.claims[0].reason
    figure = wire.elements(DOCUMENT, DOCUMENT.elements)["elements"][1]
    assert figure["generated"] == list(DOCUMENT.elements[1].generated or ())
    assert figure["caption"] == 2
