from __future__ import annotations

from dataclasses import replace

import pytest

from ragcore.answer.cite import Marker, MarkerParser
from ragcore.answer.refuse import nearest_units, reason_to_refuse, refusal_text
from tests.answer.samples import DIVIDENDS, IND, PROSE, SETTINGS, TABLE, retrieval, sources


def reason(query: str, *, rerank: float, scored: bool = True) -> str:
    found = retrieval(query, [PROSE, TABLE], rerank=rerank)
    if not scored:
        found = replace(found, hits=tuple(replace(hit, scores={}) for hit in found.hits))
    return reason_to_refuse(query, found, sources(PROSE, TABLE), SETTINGS.answer)


@pytest.mark.parametrize(
    ("query", "rerank"),
    [
        ("How much did revenues rise in fiscal 2023?", 0.9),
        ("How much did revenues rise in fiscal 2023?", 0.001),
        ("What was the gross margin?", 0.0),
        ("How did turnover develop?", 0.6),
        ("Why?", 0.0),
    ],
)
def test_what_may_be_answered_is_not_refused(query: str, rerank: float) -> None:
    assert reason(query, rerank=rerank) == ""


def test_what_is_far_by_relevance_and_words_is_refused() -> None:
    assert reason("Which volcano buried the city of Pompeii?", rerank=0.001)


def test_without_a_reranker_only_words_that_are_nowhere_refuse() -> None:
    assert reason("Which volcano buried Pompeii?", rerank=0.0, scored=False)
    assert not reason("Which volcano raised revenues?", rerank=0.0, scored=False)


def test_nothing_found_is_refused() -> None:
    assert reason_to_refuse("Anything?", retrieval("Anything?", []), (), SETTINGS.answer)
    assert refusal_text("No passage was found.", "Anything?", ()) == (
        "The documents do not answer this question. No passage was found.\n\nSearched for: “Anything?”."
    )


def test_the_refusal_names_what_was_searched_and_cites_the_nearest() -> None:
    text = refusal_text("", "Who pays dividends on shares?", sources(IND, DIVIDENDS, PROSE))
    assert "read 3 passages of 21 CFR 312, Sample 10-K." in text
    parser = MarkerParser()
    markers = [m for m in [*parser.feed(text), *parser.finish()] if isinstance(m, Marker)]
    assert len(markers) == 3
    assert all(len(marker.parts) == 1 for marker in markers)


def test_the_nearest_sentence_of_each_source() -> None:
    nearest = nearest_units("When were dividends declared by the Board?", sources(DIVIDENDS, IND))
    assert nearest[0][:2] == (1, 2)
    assert nearest[0][2].startswith("The Board of Directors declared")
