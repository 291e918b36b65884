"""Whom and which year a report is about, as a person chooses before it is filled: what it does to what is found, and
what the documents cover beside what a template asks for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragcore.cancel import Stop
from ragcore.export.manuscripts import of_report
from ragcore.index.database import open_database
from ragcore.index.reports import Reports
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.sections import OfflineSections, RuleFields
from ragcore.report.fill import NOT_READ, SectionFiller, asks_of_a_year
from ragcore.report.template import from_data
from ragcore.types import Document, Retrieval, Scope, Segment
from ragcore.types.report import FilledSection, Focus, Report
from tests.answer.samples import SETTINGS
from tests.documents import Grid, Heading, make_document

REVENUE = {"heading": "Revenue", "kind": "value", "guidance": "Net sales of the latest fiscal year."}


class Reader:
    """A reranker that finds everything as relevant as it is told to."""

    name = "reader"

    def __init__(self, relevance: float) -> None:
        self.relevance = relevance

    def score(self, query: str, passages: list[str]) -> Any:
        return np.full(len(passages), self.relevance)


class Searched:
    """A search that brings everything of ``documents``, and remembers what was asked."""

    def __init__(self, *documents: Document) -> None:
        self.documents = {one.doc_id: one for one in documents}
        self.queries: list[str] = []

    def __call__(self, query: str, *, scope: Scope, **_: Any) -> Retrieval:
        self.queries.append(query)
        chosen = [one for one in self.documents.values() if scope.doc_ids is None or one.doc_id in scope.doc_ids]
        whole = tuple(Segment(one.doc_id, 0, one.body_end, 0, 0, 1.0, "rse") for one in chosen)
        return Retrieval(query, "hybrid", (), whole, {}, scope=scope)


def filled(
    found: Searched, section: dict[str, Any], focus: Focus, reader: Reader | None = None, unread: tuple[str, ...] = ()
) -> FilledSection:
    models: Any = SimpleNamespace(
        analyser=RuleAnalyser(),
        fields=RuleFields(),
        section_writer=OfflineSections(reader, SETTINGS.answer),
        reranker=reader,
        entailment=None,
    )
    filler = SectionFiller(found, found.documents.__getitem__, lambda _: (), lambda _: {}, models, SETTINGS)
    template = from_data({"title": "Profile", "sections": [section]})
    infos: Any = [
        SimpleNamespace(
            doc_id=one.doc_id,
            title=one.title,
            name=f"{one.doc_id}.pdf",
            status="reading" if one.doc_id in unread else "ready",
        )
        for one in found.documents.values()
    ]
    (one,) = filler.sections(template, Scope(), infos, Stop(), focus)
    return one


def annual(company: str, doc_id: str, *sales: str) -> Document:
    return make_document(
        Heading(company),
        "Annual report on Form 10-K for the fiscal year ended December 31, 2021.",
        Grid("Consolidated Statements of Income", [["", "2021", "2020"], ["Net sales", *sales]]),
        title=f"{company} Form 10-K 2021",
        doc_id=doc_id,
    )


def release() -> Document:
    head = ["", "13 Weeks Ended April 30, 2022", "13 Weeks Ended May 1, 2021"]
    return make_document(
        Heading("Larkfield announces results of the first quarter"),
        "Larkfield Ltd today told of its first quarter.",
        Grid("Consolidated Statements of Income", [head, ["Net sales", "2,175", "2,153"]]),
        Grid(
            "Consolidated Balance Sheets", [["", "April 30, 2022", "May 1, 2021"], ["Total assets", "8,105", "7,400"]]
        ),
        title="Larkfield announces results",
    )


@pytest.mark.parametrize(("year", "sales"), [(0, "812"), (2021, "812"), (2020, "760"), (2016, "")])
def test_the_year_that_was_chosen_chooses_the_column(year: int, sales: str) -> None:
    made = filled(Searched(annual("Larkfield Ltd", "a" * 16, "812", "760")), REVENUE, Focus("", year))
    assert made.text.startswith(f"**{sales}** — ") if sales else made.status == "empty"


@pytest.mark.parametrize(("year", "day"), [(0, "December 31, 2021"), (2021, "December 31, 2021"), (2020, "")])
def test_the_end_of_another_year_is_not_that_of_the_year_chosen(year: int, day: str) -> None:
    section = {"heading": "Fiscal year", "kind": "value", "guidance": "The day on which the fiscal year ended."}
    made = filled(Searched(annual("Larkfield Ltd", "a" * 16, "812", "760")), section, Focus("", year))
    assert made.text.startswith(f"**{day}** — ") if day else made.status == "empty"


def test_what_is_of_another_company_is_passed_over() -> None:
    found = Searched(annual("Larkfield Ltd", "a" * 16, "812", "760"), annual("Orvane AG", "b" * 16, "93", "90"))
    both = filled(found, REVENUE, Focus()).text
    assert "812" in both
    assert "93" in both
    one = filled(found, REVENUE, Focus("Orvane AG", 2021)).text
    assert one.startswith("**93** — ")
    assert "812" not in one
    assert "Orvane AG 2021" in found.queries[-1]
    # A subject that is no company of the library's leaves all.
    assert "812" in filled(found, REVENUE, Focus("Sensors")).text


def test_another_company_is_passed_over_while_a_document_is_read() -> None:
    both = annual("Larkfield Ltd", "a" * 16, "812", "760"), annual("Orvane AG", "b" * 16, "93", "90")
    found = Searched(*both, make_document("Pumps are made.", title="Pumps", doc_id="c" * 16))
    made = filled(found, REVENUE, Focus("Orvane AG", 2021), unread=("c" * 16,))
    assert made.text.startswith("**93** — ")
    assert "812" not in made.text


def test_a_report_of_a_document_that_is_being_read_says_so_and_takes_no_other() -> None:
    found = Searched(annual("Larkfield Ltd", "a" * 16, "812", "760"), annual("Orvane AG", "b" * 16, "93", "90"))
    made = filled(found, {**REVENUE, "documents": ["b" * 16]}, Focus(), unread=("b" * 16,))
    assert (made.status, made.answer) == ("empty", None)
    assert [gap.why for gap in made.gaps] == [NOT_READ]


def test_a_release_whose_columns_are_all_of_a_quarter_covers_a_part_of_a_year() -> None:
    made = release()
    covered = RuleFields().coverage(made)
    assert (covered.part, covered.end, covered.years) == (True, (2022, 4, 30), ())
    assert "13 Weeks Ended April 30, 2022" in covered.words
    whole = annual("Larkfield Ltd", "a" * 16, "812", "760")
    covered = RuleFields().coverage(whole)
    assert (covered.part, covered.end, covered.years) == (False, (2021, 12, 31), (2021, 2020))


def test_a_period_that_a_cover_defines_is_told_in_words_alone() -> None:
    opening = "Results for the fifty-two-week period (“fiscal year”) ended January 28, 2023 are announced today."
    covered = RuleFields().coverage(make_document(opening, title="Results"))
    assert covered.words == "fiscal year ended January 28, 2023"


def test_the_years_covered_are_called_as_the_document_calls_them() -> None:
    head = ["", "52 Weeks Ended January 28, 2023", "52 Weeks Ended January 29, 2022"]
    table = Grid("Consolidated Statements of Income", [head, ["Net sales", "10,208", "8,631"]])
    covered = RuleFields().coverage(make_document("Results of fiscal 2022, ended January 28, 2023.", table))
    assert (covered.end, covered.years) == ((2023, 1, 28), (2022, 2021))


def test_the_gap_of_a_year_asked_of_a_quarter_says_so() -> None:
    made = filled(Searched(release()), REVENUE, Focus())
    (gap,) = made.gaps
    assert "full year" in gap.why
    assert "13 Weeks Ended April 30, 2022" in gap.why
    (other,) = filled(Searched(release()), {**REVENUE, "guidance": "How many employees it has."}, Focus()).gaps
    assert "full year" not in other.why


def test_which_sections_ask_for_a_year() -> None:
    sections = from_data(
        {"title": "x", "sections": [REVENUE, {"heading": "Risks"}, {**REVENUE, "guidance": ""}]}
    ).sections
    assert [asks_of_a_year(RuleFields(), one) for one in sections] == [True, False, False]


@pytest.mark.parametrize(("relevance", "status"), [(0.0001, "empty"), (0.9, "filled")])
def test_words_alone_answer_nothing(relevance: float, status: str) -> None:
    said = "Statements are made within the meaning of the Private Securities Legal Proceedings Reform Act of 1995."
    section = {"heading": "Legal proceedings", "guidance": "Describe material legal proceedings."}
    made = filled(Searched(make_document(said, "Pumps are made.")), section, Focus(), Reader(relevance))
    assert made.status == status
    if status == "empty":
        assert [citation.quote for citation in made.gaps[0].nearest][:1] == [said]


def test_the_title_of_what_is_exported_names_the_subject() -> None:
    def titled(title: str, subject: str) -> str:
        focus = Focus(subject)
        report = Report(focus.titled(title), "", (), "offline", True, 0.0, focus)
        return of_report(report, {}, quote_length=200).title

    assert titled("Company profile", "Larkfield Ltd") == "Company profile: Larkfield Ltd"
    assert titled("Larkfield Ltd in 2021", "Larkfield Ltd") == "Larkfield Ltd in 2021"
    assert titled("Company profile", "") == "Company profile"


def test_the_answers_are_kept_with_the_report(tmp_path: Any) -> None:
    store = Reports(open_database(tmp_path))
    report_id = store.new("Profile", "", "", [(1, {"heading": "Revenue"})], None)
    assert store.info(report_id).focus is None, "nobody was asked yet"
    store.update(report_id, subject="Larkfield Ltd", year=2021)
    info = store.info(report_id)
    assert (info.focus, info.name) == (Focus("Larkfield Ltd", 2021), "Profile: Larkfield Ltd")
