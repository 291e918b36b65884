"""Measures of one answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragcore.config.settings import load
from ragcore.evaluate.cases import Case
from ragcore.evaluate.measures import FIRST, Outcome, measures, of_search
from ragcore.types import Answer, Document, Mark
from tests.documents import make_document

SETTINGS = load(environ={})[0].verify


def nowhere(doc_id: str) -> Document:
    return make_document("A pump.")


def of(case: Case, outcome: Outcome, places: set[tuple[str, int]] | None = None) -> dict[str, float]:
    return measures(case, outcome, places or set(), nowhere, SETTINGS)


def test_the_number_of_a_citation_is_no_figure_of_the_answer() -> None:
    case = Case("1", "How many plants?", "3")
    marked = Answer("How many plants?", text="There were several plants [3].", marks=(Mark(26, 29, 3),))
    assert of(case, Outcome("1", marked))["value"] == 0.0
    assert of(case, Outcome("1", Answer("How many?", text="There were 3 plants.")))["value"] == 1.0


def test_a_failed_answer_is_no_answer() -> None:
    failed = Answer("Why?", text="Because", status="failed", error={"message": "It broke.", "hint": ""})
    found = of(Case("1", "Why?", "Because"), Outcome("1", failed, error={"message": "It broke."}))
    assert found == {"answered": 0.0}


def test_ranks_count_distinct_pages_or_documents() -> None:
    pages = (("a", 1), ("a", 2), ("b", 7))
    paged = of(Case("1", "Why?"), Outcome("1", Answer("Why?", refused=True), pages), {("b", 7)})
    assert (paged["evidence_at_1"], paged["evidence_at_5"], paged["mrr"]) == (0.0, 1.0, 1 / 3)
    whole = of(Case("1", "Why?"), Outcome("1", Answer("Why?", refused=True), pages), {("b", 0)})
    assert whole["mrr"] == 1 / 2


@given(st.lists(st.integers(0, 9), max_size=24, unique=True), st.sets(st.integers(0, 12), min_size=1, max_size=4))
def test_ranks_of_a_search_are_those_of_an_answer_and_its_recall_lies_between_any_and_all(
    found: list[int], wanted: set[int]
) -> None:
    pages = tuple((f"d{number}", 1) for number in found)
    places = {(f"d{number}", 0) for number in wanted}
    search = of_search(Outcome("1", None, pages, None, 0.5), places)
    answer = of(Case("1", "Why?"), Outcome("1", Answer("Why?", refused=True), pages, None, 0.5), places)
    assert search == {name: value for name, value in answer.items() if name in search}
    for k in FIRST[1:]:
        recall = search[f"recall_at_{k}"]
        assert recall == len(wanted & set(found[:k])) / len(wanted)
        assert search[f"all_evidence_at_{k}"] == (recall == 1.0)
        assert search[f"evidence_at_{k}"] == (recall > 0.0)


def test_a_failed_search_has_no_time() -> None:
    assert of_search(Outcome("1", error={"message": "It isn't here."}), set()) == {}
