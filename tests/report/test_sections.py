"""A section that is only quoted: what of several documents it gives, and how it is laid out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ragcore.answer.sources import build_sources
from ragcore.cancel import Stop
from ragcore.index.packing import pack, unpack
from ragcore.offline.formed import formed
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.sections import OfflineSections
from ragcore.protocols import ModelRequest, WritingTask
from ragcore.report.fill import SectionFiller
from ragcore.report.headed import headed, own_units
from ragcore.report.template import from_data
from ragcore.text.companies import companies
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


def test_a_contract_is_told_by_the_forms_of_its_clauses() -> None:
    made = make_document(
        "This agreement is made by and between Larkfield Ltd (the “Supplier”) and Orvane AG (the “Customer”).",
        Heading("Limitation of Liability"),
        "Neither party is liable for lost profit. The limit does not apply to fraud.",
        title="Agreement",
    )
    parties = written("Parties", Field("prose", (), "", ("the parties",)), [made])
    assert "Larkfield Ltd" in parties
    assert "Neither party" not in parties
    asked = ("the limitation of liability", "what is excluded from it")
    assert "to fraud" in written("Liability limitation", Field("prose", (), "", asked), [made]).partition("excluded")[2]


def test_an_item_of_a_filing_goes_on_to_the_next_item() -> None:
    made = make_document(
        *(Heading("Item 1. Business"), Heading("Overview"), "We make lamps.", Heading("Item 1A. Risk Factors"), "Fire.")
    )
    ((start, end),) = headed(made, "Business")
    assert "We make lamps." in made.text[start:end]
    assert "Fire" not in made.text[start:end]


def test_what_a_company_does_is_told_by_the_sentence_that_says_it() -> None:
    made = make_document(
        Heading("Item 1. Business"),
        "Founded in 1982, Belford Water is one of the largest makers of pumps in the world. "
        "Each operating segment has a head of its own business.",
        "Business customers increasingly expect that what a company makes does good. "
        "The products are marketed through dealers to farms and water works.",
        Heading("Business Innovation"),
        "Belford Labs is a maker of ideas for business.",
        title="Belford",
    )
    assert len(headed(made, "Business")) == 1
    pieces = ("what the company makes or does", "its customers and markets (what the company makes or does)")
    text = written("Business", Field("prose", (), "", pieces), [made])
    does, _, sells = text.partition("Its customers")
    assert "one of the largest makers of pumps" in does
    assert "operating segment" not in does
    assert "through dealers to farms" in sells
    assert "increasingly expect" not in sells


def test_a_company_of_which_nothing_is_quoted_is_searched_alone_and_else_named() -> None:
    asked = {"heading": "Business", "guidance": "Describe what the company makes or does."}
    annual = make_document(
        Heading("Item 1. Business"), "Aldera is a maker of pumps.", *["Valves wear out with use."] * 3,
        title="ALDERA INC. Form 10-K 2022",
    )  # fmt: skip
    quarterly = make_document(
        "Larkfield is a maker of fans.",
        "Strategy––We are one of the largest makers of lamps in the world.",
        title="BORVIK CORP. Form 10-Q July 2, 2023",
    )
    deep = make_document(
        *["Terms are defined in the notes to the statements of the year."] * 9,
        "Penhallow Inc. is a brewer of ale.",
        title="PENHALLOW INC. Form 10-Q June 30, 2023",
    )
    silent = make_document("Forms are filed with the office.", title="CORVANE LTD. Form 8-K May 3, 2023")
    made = [replace(one, doc_id=f"{at:016x}") for at, one in enumerate((annual, quarterly, silent, deep))]
    known = {one.doc_id: one for one in made}
    searched = []

    def retrieve(query: str, *, scope: Scope, **_: Any) -> Retrieval:
        searched.append(scope.doc_ids or ())
        one = known[searched[-1][0]]  # of all of them the first comes before the others
        return Retrieval(
            query, "hybrid", (), (Segment(one.doc_id, 0, one.body_end, 0, 0, 1.0, "rse"),), {}, scope=scope
        )

    models: Any = SimpleNamespace(
        analyser=RuleAnalyser(), section_writer=OfflineSections(None, SETTINGS.answer), reranker=None
    )
    filler = SectionFiller(retrieve, known.__getitem__, lambda _: (), lambda _: {}, models, SETTINGS)
    template = from_data({"title": "Profile", "sections": [asked]})
    (section,) = filler.sections(template, Scope(tuple(known)), [], Stop())
    assert searched == [tuple(known), (made[1].doc_id,), (made[2].doc_id,)]
    assert "maker of pumps" in section.text
    assert "largest makers of lamps" in section.text
    assert "brewer of ale" in section.text
    assert "fans" not in section.text
    (gap,) = section.gaps
    assert gap.what == "what the company makes or does (CORVANE LTD. Form 8-K May 3, 2023)"
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
        analyser=RuleAnalyser(), section_writer=OfflineSections(None, SETTINGS.answer), reranker=None
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


def test_what_was_done_with_shares_is_not_told_by_what_was_paid_on_them() -> None:
    dividend = "During fiscal 2022, total dividends paid to the holders of shares were $9 million."
    quarter = "In the fourth quarter of fiscal 2022, the Company repurchased 700 shares for $1 million."
    year = "During fiscal 2022, the Company repurchased 2,200 shares for $3 million."
    elects = "If Aldera elects not to repurchase the shares, it will pay for them."
    made = make_document(Heading("Dividends"), dividend, elects, quarter, year, title="ALDERA INC. Form 10-K 2022")
    form = Field("prose", (), "", ("dividends declared or paid", "shares repurchased in the latest fiscal year"))
    text = written("Dividends and buybacks", form, [made])
    paid, _, bought = text.partition("**Shares repurchased")
    assert dividend in paid
    assert year in bought
    assert dividend not in bought
    assert elects not in bought
    made = replace(made, doc_id="f" * 16)
    form = replace(form, requirements=form.requirements[1:])
    known = KnownFacts(companies={made.doc_id: companies(made)})
    (first, *_) = formed(made, form, [], known)
    assert made.text[first.start : first.end] == year


def test_a_risk_is_what_may_harm_and_a_reference_is_no_proceeding() -> None:
    risk = "A fire in our only mill could disrupt the supply of flour."
    opening = "The following discussion of risk factors is not complete, and other factors may harm our business."
    made = make_document(
        Heading("Item 1A. Risk Factors"), opening, *["Mills are old and the river is wide."] * 30, Heading(risk),
        "We insure it.", Heading("Item 3. Legal Proceedings"),
        "The section titled “Legal Proceedings” in note 9 is incorporated herein by reference.",
        "A farmer has sued us over the legal title to the mill.",
        title="ALDERA INC. Form 10-K 2022",
    )  # fmt: skip
    filler = SectionFiller(
        lambda query, **_: Retrieval(query, "hybrid", (), (Segment(made.doc_id, 0, 200, 0, 0, 1.0, "rse"),), {}),
        lambda _: made, lambda _: (), lambda _: {},
        SimpleNamespace(analyser=RuleAnalyser(), section_writer=OfflineSections(None, SETTINGS.answer), reranker=None),
        SETTINGS,  # type: ignore[arg-type]
    )  # fmt: skip
    asked = [
        {"heading": "Risks", "kind": "list", "guidance": "The risk factors that the company names."},
        {"heading": "Legal proceedings", "guidance": "Describe material legal proceedings."},
    ]
    risks, legal = filler.sections(from_data({"title": "P", "sections": asked}), Scope((made.doc_id,)), [], Stop())
    assert risk in risks.text
    assert "not complete" not in risks.text
    assert "sued us" in legal.text
    assert "incorporated" not in legal.text
