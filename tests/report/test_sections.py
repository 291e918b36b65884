"""A section that is only quoted: what of several documents it gives, and how it is laid out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ragcore.answer.sources import build_sources
from ragcore.cancel import Stop
from ragcore.index.packing import pack, unpack
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.sections import OfflineSections, RuleFields
from ragcore.protocols import ModelRequest, WritingTask
from ragcore.report.evidence import own_units
from ragcore.report.fill import SectionFiller
from ragcore.report.template import from_data
from ragcore.text.names import companies
from ragcore.text.short_titles import short_titles
from ragcore.types import Document, Retrieval, Scope, Segment
from ragcore.types import json as wire
from ragcore.types.report import Field, FilledSection, KnownFacts, Report
from ragcore.verify.claims import split_statements
from tests.answer.samples import SETTINGS
from tests.documents import Heading, make_document


def written(question: str, form: Field, made: Sequence[Document], pinned: Sequence[str] = ()) -> str:
    """The section, with the sentences ``pinned``."""
    made = [replace(one, doc_id=f"{place:016x}") for place, one in enumerate(made)]
    known = {one.doc_id: one for one in made}
    whole = tuple(Segment(one.doc_id, 0, one.body_end, 0, 0, 1.0, "rse") for one in made)
    sources = build_sources(Retrieval(question, "hybrid", (), whole, {}), known.__getitem__, SETTINGS.answer)
    spans = [(one.doc_id, at, at + len(text)) for text in pinned for one in made if (at := one.text.find(text)) >= 0]
    held = own_units(sources, spans)
    stated = KnownFacts(
        companies={one.doc_id: companies(one) for one in made}, titles=short_titles({d.doc_id: d.title for d in made})
    )
    task = WritingTask(question, sources, form=form, own=held, pinned=held, stated=stated)
    request = ModelRequest(task=task)
    return "".join(OfflineSections(None, SETTINGS.answer).stream(request))


def test_a_company_without_a_value_is_named_where_others_have_one() -> None:
    made = [
        make_document(Heading("Staff"), "At year end we had 4,100 employees.", title="ALDERA INC. Form 10-K 2022"),
        make_document(Heading("Staff"), "Our people are our strength.", title="BORVIK CORP. Form 10-K 2022"),
    ]
    asked = "How many employees the company has"
    text = written("Employees", Field("value", (), "", (asked,)), made)
    assert "**4,100** — " in text
    assert text.count("INSUFFICIENT") == 1
    assert f"[INSUFFICIENT DATA: {asked} (BORVIK CORP. Form 10-K 2022)]" in text


def test_things_of_which_the_same_is_said_stand_together() -> None:
    made = make_document("Absorption, distribution and metabolism of the drug were studied in rats.", title="Study")
    text = written("Fate of the drug", Field("prose", (), "", ("absorption", "metabolism")), [made])
    assert text.count("were studied in rats") == 1
    assert "**Absorption; metabolism**" in text


def test_what_is_pinned_comes_first_and_not_alone() -> None:
    made = make_document(
        "The drug must be stored in a locked cabinet of the pharmacy.",
        "Samples of the drug are stored at five degrees until the end of the study.",
        title="Handling",
    )
    form = Field("prose", (), "", ("how the drug is stored",))
    text = written(
        "Storage", form, [made], pinned=["Samples of the drug are stored at five degrees until the end of the study."]
    )
    assert "five degrees" in text
    assert "locked cabinet" in text


def test_an_item_of_a_filing_goes_on_to_the_next_item() -> None:
    made = make_document(
        *(Heading("Item 1. Business"), Heading("Overview"), "We make lamps.", Heading("Item 1A. Risk Factors"), "Fire.")
    )
    ((start, end),) = RuleFields().headed(made, "Business")
    assert "We make lamps." in made.text[start:end]
    assert "Fire" not in made.text[start:end]


def test_a_heading_of_several_subjects_heads_each_of_them() -> None:
    made = make_document(
        *(Heading("9. Confidential Information and Non-Competition"), "Nothing is told to others."),
        *(Heading("10. Property and Equipment, Net"), "Lathes are of steel."),
    )
    for name in ("Confidentiality", "Equipment"):
        assert len(RuleFields().headed(made, name)) == 1
    assert not RuleFields().headed(made, "Net income")


def test_a_company_of_which_nothing_is_quoted_is_searched_alone_and_else_named() -> None:
    asked = {"heading": "Machines", "guidance": "Describe the machines that the company makes."}
    annual = make_document(
        Heading("Item 1. Business"), "Aldera makes machines of steel.", *["Valves wear out."] * 3,
        title="ALDERA INC. Form 10-K 2022",
    )  # fmt: skip
    quarterly = make_document(
        "Fans are sold.",
        "Borvik makes machines in Leeds.",
        title="BORVIK CORP. Form 10-Q July 2, 2023",
    )
    silent = make_document("Forms are filed with the office.", title="CORVANE LTD. Form 8-K May 3, 2023")
    made = [replace(one, doc_id=f"{at:016x}") for at, one in enumerate((annual, quarterly, silent))]
    known = {one.doc_id: one for one in made}
    searched = []

    def retrieve(query: str, *, scope: Scope, **_: Any) -> Retrieval:
        searched.append(scope.doc_ids or ())
        one = known[searched[-1][0]]  # of all of them the first comes before the others
        return Retrieval(
            query, "hybrid", (), (Segment(one.doc_id, 0, one.body_end, 0, 0, 1.0, "rse"),), {}, scope=scope
        )

    models: Any = SimpleNamespace(
        analyser=RuleAnalyser(),
        fields=RuleFields(),
        section_writer=OfflineSections(None, SETTINGS.answer),
        reranker=None,
        entailment=None,
    )
    filler = SectionFiller(retrieve, known.__getitem__, lambda _: (), lambda _: {}, models, SETTINGS)
    template = from_data({"title": "Profile", "sections": [asked]})
    (section,) = filler.sections(template, Scope(tuple(known)), [], Stop())
    assert searched == [tuple(known), (made[1].doc_id,), (made[2].doc_id,)]
    assert "machines of steel" in section.text
    assert "machines in Leeds" in section.text
    (gap,) = section.gaps
    assert gap.what == "the machines that the company makes (CORVANE LTD. Form 8-K May 3, 2023)"
    assert gap.doc_id == made[2].doc_id
    stored = Report("Profile", "", (section,), "offline", True, 0.0)
    assert wire.report(stored)["sections"][0]["gaps"][0]["doc_id"] == made[2].doc_id
    assert unpack(pack(section, FilledSection), FilledSection) == section
    assert section.status == "partial"
    # What is missing everywhere is of no document, though it ends as a title does.
    asked = {"heading": "Dividends", "guidance": f"The dividends ({made[1].title})."}
    (section,) = filler.sections(from_data({"title": "P", "sections": [asked]}), Scope(tuple(known)), [], Stop())
    assert [(gap.what, gap.doc_id) for gap in section.gaps] == [(f"The dividends ({made[1].title})", "")]


def test_documents_are_called_by_short_titles_that_tell_them_apart() -> None:
    of = "concerning the engagement of the members of the staff in all of the places of business"
    made = [
        make_document(Heading("Staff"), "At year end we had 4,100 employees.", title=f"Annual report of Aldera, {of}"),
        make_document(Heading("Staff"), "At year end we had 3,300 employees.", title=f"Yearly accounts, Borvik, {of}"),
    ]
    text = written("Employees", Field("value", (), "", ("How many employees the company has",)), made)
    assert "- Annual report of Aldera: **4,100** — " in text
    assert "- Yearly accounts, Borvik: **3,300** — " in text
    text = written("Staff", Field("prose", (), "", ("employees at year end", "employees we had")), made)
    assert "*Annual report of Aldera*:\n\n- “" in text
    titles = "\n\n".join(line for line in text.splitlines() if line.startswith("*"))
    assert split_statements(titles, ()) == []  # a title is no claim
    same = {"a": "Supply agreement", "b": "Supply agreement", "c": "Lease"}
    assert short_titles(same, {"a": "one.pdf", "b": "two.pdf"}) == {
        "a": "Supply agreement (one.pdf)", "b": "Supply agreement (two.pdf)", "c": "Lease"
    }  # fmt: skip


def test_customers_are_told_by_to_whom_it_is_sold_and_not_by_what_may_harm() -> None:
    made = make_document(
        Heading("Item 1. Business"),
        *["The works stand at the river and their halls are large."] * 60,
        "We market our pumps directly to water works through our own staff.",
        Heading("Item 1A. Risk Factors"),
        "Our customers are government bodies, and our revenue could decline if they spend less.",
        title="ALDERA INC. Form 10-K 2022",
    )

    def retrieve(query: str, *, scope: Scope, **_: Any) -> Retrieval:
        end = made.body_end
        return Retrieval(
            query, "hybrid", (), (Segment(made.doc_id, end - 300, end, 0, 0, 1.0, "rse"),), {}, scope=scope
        )

    models: Any = SimpleNamespace(
        analyser=RuleAnalyser(),
        fields=RuleFields(),
        section_writer=OfflineSections(None, SETTINGS.answer),
        reranker=None,
        entailment=None,
    )
    filler = SectionFiller(retrieve, lambda _: made, lambda _: (), lambda _: {}, models, SETTINGS)
    asked = {"heading": "Business", "guidance": "Describe its customers and markets."}
    (section,) = filler.sections(from_data({"title": "P", "sections": [asked]}), Scope((made.doc_id,)), [], Stop())
    assert "directly to water works" in section.text
    assert "could decline" not in section.text


def test_a_single_word_of_what_is_asked_is_not_enough_of_another_company() -> None:
    made = [
        make_document("Revenue of the pumps segment was $5 million.", title="ALDERA INC. Form 10-K 2022"),
        make_document("Revenue of the year was $7 million.", title="BORVIK CORP. Form 10-K 2022"),
    ]
    text = written("Segments", Field("prose", (), "", ("the revenue of each",)), made)
    assert "pumps segment" in text
    assert "$7 million" not in text
    assert "[INSUFFICIENT DATA: the revenue of each (BORVIK CORP. Form 10-K 2022)]" in text


def test_a_reference_to_another_place_is_no_proceeding() -> None:
    made = make_document(
        Heading("Item 3. Legal Proceedings"),
        "The section titled “Legal Proceedings” in note 9 is incorporated herein by reference.",
        "A farmer has sued us over the legal title to the mill.",
        title="ALDERA INC. Form 10-K 2022",
    )
    text = written("Legal proceedings", Field("prose", (), "", ("material legal proceedings",)), [made])
    assert "sued us" in text
    assert "incorporated" not in text
