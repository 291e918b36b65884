"""What a document tells at first sight, and the questions that are offered on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.offline import wording
from ragcore.suggest.overview import LINES, made
from ragcore.suggest.questions import Starter
from tests import pdfs, prepared
from tests.documents import Heading, make_document
from tests.libraries import HashEmbedder


@pytest.fixture(scope="module")
def library(sampled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, str]]:
    home = prepared.copied(sampled, tmp_path_factory.mktemp("overview") / "home")
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        yield engine, engine.documents()[0].doc_id


def test_each_line_is_a_sentence_of_its_page_with_the_words_that_tell(library: tuple[Engine, str]) -> None:
    engine, doc_id = library
    found, document = engine.overview(doc_id), engine.document(doc_id)
    assert len(found.lines) == LINES
    for line in found.lines:
        cited = line.citation
        assert cited.quote == document.text[cited.start : cited.end]
        assert cited.boxes == document.boxes(cited.start, cited.end)
        assert 0 <= line.lit[0] <= line.lit[1] <= len(line.text)
    assert len({line.citation.section for line in found.lines}) >= 4, "of as many sections as there are"
    starts = [line.citation.start for line in found.lines]
    assert starts == sorted(starts)


def test_it_is_kept_until_the_document_changes(library: tuple[Engine, str]) -> None:
    engine, doc_id = library
    first = engine.overview(doc_id)
    began = time.process_time()
    assert engine.overview(doc_id) == first
    assert time.process_time() - began < 0.5
    engine.shelf.rename(doc_id, "Yearly")
    assert {line.citation.title for line in engine.overview(doc_id).lines} == {"Yearly"}
    engine.shelf.rename(doc_id, "")


def test_what_a_sentence_tells_is_lit() -> None:
    told = {
        "Larkfield supplied about 1.84 million homes in three counties during the year.": "1.84 million",
        "Larkfield was fined £3.2 million for two spills at the works by the river.": "£3.2 million",
        "The crew closed the pump on the lane for good on 25 March 2031 after the spill.": "25 March 2031",
        "Agenda papers are sent out seven working days before a meeting of the board.": "seven working days",
        "The board had employed 265,790 people at the works by the end of the year.": "265,790",
        # A number that is part of a name, of an item or of an example counts nothing.
        "A submission for Phase 1 studies is required to have the sections that are listed below.": "",
        "Numbers of few digits are preceded by zeros (for Lot 12345 enter 012345).": "",
        "Protocols should tell in detail what matters to safety, such as 1) the monitoring and 2) the rules.": "",
        "The wells along the railway are looked after by the Orchard Lane Trust alone.": "",
    }
    found = [made(make_document(said), HashEmbedder(), wording).lines for said in told]
    assert {line.text: line.text[slice(*line.lit)] for lines in found for line in lines} == told


def test_a_unit_is_lit_as_it_is_printed() -> None:
    said = "The extract was given to each of the animals at 5 \u03bcg/mL before the trial began."  # Greek mu
    (line,) = made(make_document(said), HashEmbedder(), wording).lines
    assert line.text[slice(*line.lit)] == "5 \u03bcg/mL"


def test_reference_entries_repeats_and_fragments_are_no_lines() -> None:
    document = make_document(
        Heading("Wells"),
        "This rose to 61.4 milligrams per litre in the month that followed the first of them.",
        "and 40 wells were sampled twice by the crew that had been sent out there in the spring.",
        "Printed on 100 pages for all of the members who asked for it by letter or by telephone.",
        "Printed on 100 pages for all of the members who asked for it by letter or by telephone.",
        "24 Aldous R, Brandt WY, Corley M, et al. Outcomes of pumping in a phase 2 trial of three wells by the river.",
        "Nitrate stood above the limit in seven wells, all of them south of the railway.",
    )
    assert [line.text for line in made(document, HashEmbedder(), wording).lines] == [
        "Nitrate stood above the limit in seven wells, all of them south of the railway."
    ]


def test_what_a_paper_found_comes_before_what_it_cites() -> None:
    cited = [f"Nitrate was above the limit in {n} wells of the county of Okafor by then [{n}]." for n in range(11, 19)]
    background = "Some 40 million people drink the water of wells such as these."
    findings = [
        "Seven of the wells held 61.4 milligrams per litre of nitrate in the spring of the survey.",
        "Closing the pumps by the railway lowered the load of the whole valley by 12% within a season.",
        "Farms that spread less manure paid $4.2 million less in charges to the water board.",
        "Rain washed out most of what was left, so that 31 wells were clean again before winter.",
        "Households used 18% more water from bottles while the works were closed to them.",
    ]
    document = make_document(Heading("Background"), *cited, background, Heading("Findings"), *findings)
    lines = [line.text for line in made(document, HashEmbedder(), wording).lines]
    assert sum(line in findings for line in lines) >= LINES - 1
    assert not set(lines) & set(cited)


def test_without_a_sentence_worth_quoting_the_chapters_stand_there() -> None:
    document = make_document(
        Heading("Handbook"), Heading("Wells", 2), "Seven.", Heading("Pumps", 2), "Two.", Heading("Mains", 2), "One."
    )
    found = made(document, HashEmbedder(), wording)
    assert not found.lines
    assert [item.quote for item in found.chapters] == ["Handbook", "Wells", "Pumps", "Mains"]


@pytest.mark.slow
def test_each_first_question_is_answered_from_where_it_says(library: tuple[Engine, str]) -> None:
    engine, doc_id = library
    told: list[Starter] = []
    found = engine.starters([doc_id], tell=told.append)
    assert tuple(told) == found
    assert len(found) == 4
    for one in found:
        answer = engine.ask(one.question).run()
        assert not answer.refused, one.question
        assert one.page_label in {item.page_label for item in answer.citations}, one.question
    assert engine.starters([doc_id], go_on=lambda: False) == found, "kept"


@pytest.mark.slow
def test_first_questions_are_looked_for_anew_where_the_library_changed(library: tuple[Engine, str]) -> None:
    engine, doc_id = library
    engine.starters([doc_id])
    engine.add(pdfs.note(), "note.pdf")
    engine.shelf.rename(doc_id, "Yearly")
    assert engine.starters([doc_id], go_on=lambda: False) == (), "given up at once, and nothing kept"
    engine.shelf.rename(doc_id, "")
