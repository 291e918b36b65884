"""What an answer keeps of its retrieval."""

from __future__ import annotations

from dataclasses import replace

from ragcore.index.packing import adapter, fields, pack, unpack
from ragcore.types import NamePath, PathStep, Route, Scope, Trace
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


def test_it_keeps_paths_with_the_titles_of_their_documents() -> None:
    steps = (
        PathStep("Hello Love"),
        PathStep("Parker", OTHER.doc_id, 0, 2, "An"),
        PathStep("", REPORT.doc_id, 0, 2, "It"),
    )
    path = NamePath(f"{REPORT.doc_id}:0", REPORT.doc_id, 0, 9, steps)
    kept = Trace.of(replace(retrieval("What?", [BOARD]), paths=(path,)), TITLES)
    assert kept.paths == (path,)
    assert kept.titles == TITLES
    assert unpack(pack(kept, Trace), Trace) == kept


def test_a_trace_of_the_time_before_paths_has_none() -> None:
    stored = fields(pack(Trace.of(retrieval("What?", [BOARD]), TITLES), Trace))
    del stored["paths"]
    assert adapter(Trace).validate_python(stored).paths == ()
