"""What an answer keeps of its retrieval."""

from __future__ import annotations

from dataclasses import replace

from ragcore.types import Route, Scope, Trace
from tests.answer.samples import OTHER, REPORT, retrieval, segment

TITLES = {REPORT.doc_id: "Sample 10-K", OTHER.doc_id: "21 CFR 312"}
BOARD = segment(REPORT, "The Board", "June 14, 2023.")


def test_it_names_the_documents_found_and_counts_passages() -> None:
    found = retrieval("What was declared?", [BOARD, segment(OTHER, "An IND goes", "receives it.")])
    kept = Trace.of(found, TITLES)
    assert kept.titles == TITLES
    assert (kept.found, kept.searched) == (len(found.hits), 2)


def test_a_document_that_is_only_preferred_is_named_without_being_read() -> None:
    found = replace(
        retrieval("What?", []), routes=(Route("gone", 0.5, period="2020", fits="same"),), scope=Scope(("gone",))
    )

    kept = Trace.of(found, {"gone": "Gone 10-K", "other": "Other"})
    assert kept.titles == {"gone": "Gone 10-K"}
    assert kept.searched == 1
