"""What an answer keeps of its retrieval."""

from __future__ import annotations

from dataclasses import replace

from ragcore.answer.sources import build_sources
from ragcore.answer.trace import trace
from ragcore.types import Route, Scope
from tests.answer.samples import OTHER, REPORT, SETTINGS, document, retrieval, segment

TITLES = {REPORT.doc_id: "Sample 10-K", OTHER.doc_id: "21 CFR 312"}
BOARD = segment(REPORT, "The Board", "June 14, 2023.")


def test_hits_keep_where_they_stand_and_the_source_they_went_into() -> None:
    found = retrieval(
        "What was declared?",
        [BOARD, segment(OTHER, "An IND goes", "receives it.")],
    )
    sources = build_sources(found, document, SETTINGS.answer)
    kept = trace(found, sources, document, TITLES)
    first, second = kept.hits
    assert (first.doc_id, first.page_labels, first.rank) == (REPORT.doc_id, ("12",), 1)
    assert first.boxes == REPORT.boxes(first.start, first.end)
    assert [hit.source for hit in kept.hits] == [1, 2]
    assert kept.titles[second.doc_id] == "21 CFR 312"
    assert kept.searched == 2


def test_a_hit_that_became_no_source_says_so() -> None:
    found = retrieval("What?", [BOARD, segment(OTHER, "A sponsor", "clinical")])
    only = build_sources(retrieval("What?", [BOARD]), document, SETTINGS.answer)
    assert [hit.source for hit in trace(found, only, document, TITLES).hits] == [1, 0]


def test_a_document_that_is_only_preferred_is_named_without_being_read() -> None:
    found = replace(
        retrieval("What?", []), routes=(Route("gone", 0.5, period="2020", fits="same"),), scope=Scope(("gone",))
    )

    def never(doc_id: str) -> object:
        raise AssertionError(doc_id)

    kept = trace(found, (), never, {"gone": "Gone 10-K", "other": "Other"})  # type: ignore[arg-type]
    assert kept.titles == {"gone": "Gone 10-K"}
    assert kept.searched == 1
