"""Value fields out of statements of a company: which tables those are, what rows are called, which column is a year."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ragcore.cancel import Stop
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.sections import OfflineSections, RuleFields
from ragcore.offline.statements import statements
from ragcore.providers.bundled import BundledReranker
from ragcore.report.fill import SectionFiller
from ragcore.report.template import from_data
from ragcore.types import Document, Retrieval, Scope, Segment
from ragcore.types.report import FilledSection
from tests.answer.samples import SETTINGS
from tests.documents import Break, Grid, Heading, make_document

RERANKER = BundledReranker("ms-marco-MiniLM-L-12-v2", threads=1)
MODELS: Any = SimpleNamespace(
    analyser=RuleAnalyser(),
    fields=RuleFields(),
    section_writer=OfflineSections(RERANKER, SETTINGS.answer),
    reranker=RERANKER,
    entailment=None,
)
NET_INCOME = "Net income of the latest fiscal year."
REVENUE = "Total net revenue or net sales of the latest fiscal year."
ASSETS = "Total assets at the end of the latest fiscal year."
DEBT = "Long-term debt at the end of the latest fiscal year."
SPENT = "Purchases of property, plant and equipment in the latest fiscal year."
YEARS = ["", "2021", "2020"]


def filled(made: Document, heading: str, guidance: str, **more: Any) -> FilledSection:
    """A section filled from ``made``, of which a search brings its first paragraph and no more."""
    paragraph = next(element for element in made.body if element.kind == "paragraph")
    first = Segment(made.doc_id, paragraph.start, paragraph.end, 0, 0, 1.0, "rse")

    def retrieve(query: str, *, scope: Scope, **_: Any) -> Retrieval:
        return Retrieval(query, "hybrid", (), (first,), {}, scope=scope)

    filler = SectionFiller(retrieve, lambda _: made, lambda _: (), lambda _: {}, MODELS, SETTINGS)
    section = {"heading": heading, "kind": "value", "guidance": guidance, **more}
    template = from_data({"title": "Profile", "sections": [section]})
    (one,) = filler.sections(template, Scope((made.doc_id,)), [], Stop())
    return one


def value(made: Document, heading: str, guidance: str) -> str:
    """The figure that is given, "" for a gap."""
    text = filled(made, heading, guidance).text
    return text.split("**")[1] if text.startswith("**") else ""


ANNUAL = "Annual report on Form 10-K for the fiscal year ended December 31, 2021."


def report(*parts: Any, about: str = ANNUAL) -> Document:
    return make_document(Heading("Belford Water"), about, *parts, title="Belford Water")


def table(title: str, *rows: list[str], head: list[str] = YEARS) -> Grid:
    return Grid(title, [head, *rows])


@pytest.mark.parametrize(
    ("heading", "guidance", "title", "row"),
    [
        ("Revenue", REVENUE, "Consolidated Statements of Operations", "Operating revenues"),
        ("Revenue", REVENUE, "Consolidated income statement", "Turnover"),
        ("Net income", NET_INCOME, "Consolidated Statements of Earnings", "Net loss"),
        ("Net income", NET_INCOME, "Consolidated income statement", "Profit for the year"),
        (
            "Net income",
            NET_INCOME,
            "Statements of Earnings",
            "Net earnings, including earnings attributable to redeemable and noncontrolling interests",
        ),
        ("Capital expenditure", SPENT, "Statements of Cash Flows", "Additions to property and equipment"),
        ("Capital expenditure", SPENT, "Statements of Cash Flows", "Purchases of premises and equipment"),
        ("Long-term debt", DEBT, "Consolidated Balance Sheets", "Long-term debt, less current portion"),
    ],
)
def test_a_statement_is_looked_through_by_the_names_of_its_rows(
    heading: str, guidance: str, title: str, row: str
) -> None:
    made = report("Prose on pumps.", table(f"{title} (In thousands)", ["Other", "5", "4"], [row, "1,316", "709"]))
    text = filled(made, heading, guidance).text
    assert text.startswith("**1,316** — ")
    assert f"{row}, 2021: 1,316" in text


@pytest.mark.parametrize(
    "title",
    [
        "Selected income statement data",
        "Segment statements of income",
        "Condensed Statements of Operations (Parent Company Only)",
        "Pro forma statement of income",
        "Statements of income of the registrant",
        "Location of gains in the consolidated statements of income",
        "Summary financial information of the joint ventures",
        "Consolidated average balance sheets",
        "Net deferred taxes on the consolidated balance sheets consisted of the following",
    ],
)
def test_what_only_speaks_of_a_statement_is_none(title: str) -> None:
    made = report(table(title, ["Sales", "812", "700"], ["Turnover", "9", "8"]))
    assert list(statements(made)) == []
    assert value(made, "Revenue", REVENUE) == ""


def test_a_statement_may_be_called_by_the_heading_above_the_company() -> None:
    rows = [["Net sales", "846.3", "807.2"]]
    made = report(
        Heading("Item 8. Financial Statements and Supplementary Data"),
        Heading("Consolidated Statements of Earnings"),
        Heading("GRAYLOCK MILLS, INC."),
        "(In Millions, Except per Share Data)",
        table("GRAYLOCK MILLS, INC. (In Millions)", *rows),
        "The following table shows assets of entities that are consolidated.",
        table("(In Millions)", ["Net sales", "37.1", "30.0"]),
    )
    (one,) = statements(made)
    assert one.name == "Consolidated Statements of Earnings GRAYLOCK MILLS, INC. (In Millions)"
    assert value(made, "Revenue", REVENUE) == "846.3"


def test_a_statement_may_be_called_by_what_stands_over_its_rows_names() -> None:
    grid = Grid(
        "(in millions)",
        [["Consolidated Statements of Income", "Tarn Glass", "Tarn Glass"], YEARS, ["Net sales", "14,781", "14,669"]],
        header_rows=2,
    )
    made = report("Text that parts the two.", grid)
    # What stands over the rows' names is no column, of which the figure would not be.
    over = Grid(
        "Taxes on income",
        [["Consolidated Statements of Income (in millions)", "2021", "2020"], ["Net sales", "14,781", "1"]],
    )
    answer = filled(report("Text that parts the two.", over), "Revenue", REVENUE).answer
    assert answer is not None
    assert [claim.status for claim in answer.claims] == ["supported"]
    assert [one.name for one in statements(made)] == ["Consolidated Statements of Income (in millions)"]
    assert value(made, "Revenue", REVENUE) == "14,781"


def test_the_property_is_not_what_is_spent_on_it() -> None:
    made = report(table("Consolidated Balance Sheets", ["Property, plant and equipment", "28,556", "26,682"]))
    assert value(made, "Capital expenditure", SPENT) == ""


def test_a_row_that_is_called_word_by_word_comes_before_a_total() -> None:
    rows = [["Long-term debt", "10,772", "9,718"], ["Total long-term debt", "10,775", "9,722"]]
    made = report(table("Consolidated Balance Sheets (In millions)", *rows))
    section = filled(made, "Long-term debt", DEBT)
    assert section.text.startswith("**10,772** — ")
    assert section.conflicts == ()


def test_what_was_given_up_is_no_part_of_the_whole() -> None:
    rows = [["Discontinued operations:"], ["Capital expenditures", "(17)", "(15)"]]
    assert value(report(table("Statements of cash flows", *rows)), "Capital expenditure", SPENT) == ""


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("We had 59,898 full-time employees in 44 countries.", "59,898"),
        ("Of our 59,898 employees, 310 belong to a union.", "59,898"),
        ("Each of our 310 Canadian employees belongs to a union.", ""),
        ("Each of our 310 employees in Canada belongs to a union.", ""),
    ],
)
def test_our_employees_are_counted_where_all_are_meant(said: str, count: str) -> None:
    assert value(report(about=said), "Employees", "How many employees the company has.") == count


def test_a_total_comes_before_one_of_its_parts() -> None:
    rows = [["Sales", "700", "650"], ["Services", "112", "110"], ["Total revenue", "812", "760"]]
    assert value(report(table("Statements of income", *rows)), "Revenue", REVENUE) == "812"


def test_the_share_of_sales_beside_an_amount_is_passed_over() -> None:
    head = ["", *["52 Weeks Ended January 28, 2023"] * 2, *["52 Weeks Ended January 29, 2022"] * 2]
    made = report(table("Statements of income", ["Net sales", "10,634", "100.0%", "8,990", "100.0%"], head=head))
    assert value(made, "Revenue", REVENUE) == "10,634"


def test_fourteen_weeks_are_no_year() -> None:
    quarter = ["", "14 Weeks Ended February 3, 2024", "13 Weeks Ended January 28, 2023"]
    year = ["", "53 Weeks Ended February 3, 2024", "52 Weeks Ended January 28, 2023"]
    made = report(
        table("Consolidated Statements of Income (Unaudited)", ["Net sales", "3,702", "3,361"], head=quarter),
        table("Consolidated Statements of Income (Unaudited)", ["Net sales", "11,674", "10,634"], head=year),
    )
    assert value(made, "Revenue", REVENUE) == "11,674"


def test_leaders_between_a_row_and_its_figures_are_no_table_of_contents() -> None:
    made = report(table("Consolidated Balance Sheets", [f"Total assets{'.' * 40}", "12,215", "11,235"]))
    text = filled(made, "Total assets", ASSETS).text
    assert "“Total assets, 2021: 12,215”" in text


QUARTER = "Form 10-Q. Quarterly report for the quarterly period ended June 30, 2023. Net income was $15.1 billion."


def quarterly() -> Document:
    parts = ["", "Three months ended June 30, 2023", "Three months ended June 30, 2022"]
    return report(
        table("Consolidated statements of income (unaudited)", ["Net income", "15,075", "9,010"], head=parts),
        table(
            "Consolidated balance sheets (unaudited)",
            ["Total assets", "4,029", "3,818"],
            head=["", "June 30, 2023", "December 31, 2022"],
        ),
        about=QUARTER,
    )


def test_a_report_on_a_quarter_has_nothing_of_a_year() -> None:
    made = quarterly()
    covered = RuleFields().coverage(made)
    assert (covered.part, covered.end, covered.years) == (True, (2023, 6, 30), ())
    assert value(quarterly(), "Net income", NET_INCOME) == ""
    assert value(quarterly(), "Total assets", ASSETS) == ""
    # Asked of no year it is what the report ends with.
    assert value(quarterly(), "Total assets", "The amount of total assets.") == "4,029"


def test_an_annual_report_that_names_the_quarterly_one_reports_on_the_year() -> None:
    made = report(about="Annual report. Our quarterly reports on Form 10-Q are on our site.")
    assert not RuleFields().coverage(made).part


def test_the_year_that_another_report_is_on_is_not_this_ones() -> None:
    said = "Risks are in our Annual Report on Form 10-K for the fiscal year ended January 29, 2022."
    head = ["", "January 28, 2023", "January 29, 2022"]
    made = report(table("Consolidated Balance Sheets", ["Total assets", "5,594", "4,963"], head=head), about=said)
    assert value(made, "Fiscal year", "The day on which the fiscal year of the report ended.") == ""


def test_the_day_of_the_year_is_looked_for_on_the_cover() -> None:
    made = make_document(
        Heading("Form 10-K"),
        Heading("For the fiscal year ended May 31, 2020"),
        Break(),
        "Pumps are made.",
        title="Mills",
    )
    asked = "The day on which the fiscal year of the report ended."
    assert value(made, "Fiscal year", asked) == "May 31, 2020"


def test_the_year_may_be_called_the_year() -> None:
    made = report(about="Annual report for the year ended December 31, 2020.")
    assert value(made, "Fiscal year", "The day on which the fiscal year of the report ended.") == "December 31, 2020"


def test_a_writer_that_is_paid_by_the_word_gets_the_rows_and_no_more() -> None:
    from ragcore.report.evidence import Gathering, SectionTask
    from ragcore.types.report import Field

    made = report("Prose.", table("Statements of income", ["Net sales", "812", "774"], ["Taxes", "31", "30"]))
    asked = {"heading": "Revenue", "kind": "value", "guidance": REVENUE}
    template = from_data({"title": "Profile", "sections": [asked]})
    task = SectionTask(next(template.places()), template, Scope())
    found = Retrieval("", "hybrid", (), (Segment(made.doc_id, 0, 10, 0, 0, 1.0),), {})
    form = Field("value", (), "", (REVENUE,))
    for extractive in (True, False):
        evidence = Gathering(RuleFields(), lambda _: made, lambda _: (), SETTINGS, extractive)
        text = " ".join(source.text for source in evidence.gather(task, form, found).sources)
        assert "812" in text
        assert ("Taxes" in text) is extractive
    narrowed = replace(found, scope=Scope((made.doc_id,), pages=((1, 1),)))
    assert "812" not in " ".join(one.text for one in evidence.gather(task, form, narrowed).sources)


@pytest.mark.parametrize("padding", range(0, 60, 7))
def test_the_opening_of_a_long_section_ends_with_a_whole_sentence(padding: int) -> None:
    from ragcore.report.evidence import Gathering, SectionTask
    from ragcore.types.report import Field

    sentence = "The customers are designers, as well as management in marketing departments and agencies."
    text = [f"{'x' * padding} is sold.", *(" ".join([sentence] * 9) for _ in range(14))]
    made = make_document(Heading("Business"), *text, title="Mills")
    template = from_data({"title": "Profile", "sections": [{"heading": "Business", "guidance": "What is sold?"}]})
    task = SectionTask(next(template.places()), template, Scope())
    found = Retrieval("", "hybrid", (), (), {})
    evidence = Gathering(RuleFields(), lambda _: made, lambda _: (), SETTINGS, True)
    [source] = evidence.gather(task, Field("prose", (), "", ()), found, (made.doc_id,)).sources
    assert source.end < made.body_end, "only the opening is read"
    assert source.text.endswith(".")
    assert all(source.words(n, n).endswith(("Business", ".")) for n in range(1, len(source.units) + 1))


GERMAN = "Nennen Sie den Umsatz und den Gewinn der Gesellschaft in dem letzten Jahr."


@pytest.mark.parametrize("kind", ["value", "prose", "yes_no"])
def test_a_section_in_another_language_says_so(kind: str) -> None:
    made = report("The company sells pumps to the water works of this state, and it has no other customers.")
    section = filled(made, "Umsatz", GERMAN, kind=kind)
    assert section.status == "empty"
    assert section.gaps
    assert all("The section is in German, and what was searched is in English." in gap.why for gap in section.gaps)
    assert "Claude can answer across languages" in section.gaps[0].why


def test_a_section_of_one_word_is_in_the_language_of_its_template() -> None:
    made = report("The company sells pumps to the water works of this state, and it has no other customers.")
    first = Segment(made.doc_id, 0, made.body_end, 0, 0, 1.0, "rse")
    filler = SectionFiller(
        lambda query, **_: Retrieval(query, "hybrid", (), (first,), {}), lambda _: made, lambda _: (), lambda _: {},
        MODELS, SETTINGS,
    )  # fmt: skip
    template = from_data({"title": "Profil", "guidance": GERMAN, "sections": [{"heading": "Umsatz", "kind": "value"}]})
    (section,) = filler.sections(template, Scope((made.doc_id,)), [], Stop())
    assert "is in German" in section.gaps[0].why


WAIT = "How many days after submission an application goes into effect."
EFFECT = "An application goes into effect thirty (30) days after the Agency receives it."
ANNIVERSARY = "A report is submitted within 60 days of the anniversary of the day on which the application took effect."


@pytest.mark.parametrize(
    ("guidance", "said", "length"),
    [
        (WAIT, [EFFECT, ANNIVERSARY], "thirty (30) days"),
        # It counts from another day than is asked for.
        (WAIT, [ANNIVERSARY], ""),
        # Two sentences that fit alike do not agree, or do.
        (WAIT, [EFFECT, "An application goes into effect 45 days after the Agency receives it."], ""),
        (WAIT, [EFFECT, "An application goes into effect 30 calendar days after receipt."], "30 calendar days"),
        (
            "How long an investigator keeps records after approval.",
            [
                "An investigator shall retain records for two years following the date of approval.",
                "He is 40 years old.",
            ],
            "two years",
        ),
        ("The notice period.", ["Rent is due monthly.", "The notice period is 90 days."], "90 days"),
        ("How long samples are stored.", ["Over the last 5 years samples were stored.", EFFECT], ""),
    ],
)
def test_a_length_of_time_is_a_value(guidance: str, said: list[str], length: str) -> None:
    assert value(make_document(Heading("Rules"), " ".join(said), title="Rules"), "Period", guidance) == length


REFERENCE = (
    "The section titled “Fees of the Auditor” in our proxy statement is incorporated by reference in this report."
)


@pytest.mark.parametrize(
    ("heading", "guidance", "said", "firm"),
    [
        (
            "Auditor",
            "Firm that audited the accounts.",
            ["Its accounts have been audited by Harrow & Pell LLP, an independent firm."],
            "Harrow & Pell LLP",
        ),
        (
            "Auditor",
            "The independent registered public accounting firm.",
            ["Harrow & Pell LLP, our independent registered public accounting firm, has issued its report."],
            "Harrow & Pell LLP",
        ),
        ("Auditor", "Who audits the company.", ["The audit committee meets with our auditors four times a year."], ""),
    ],
)
def test_an_auditor_is_a_firm_and_no_reference_to_another_document(
    heading: str, guidance: str, said: list[str], firm: str
) -> None:
    text = filled(report(Heading("Auditor"), REFERENCE, about=" ".join(said)), heading, guidance).text
    assert firm in text
    assert text.startswith("[INSUFFICIENT DATA") == (not firm)
    assert "incorporated" not in text


WHEN = "When an application goes into effect."
WIDER = "An application for export goes into effect 60 days after the Agency receives it."


@pytest.mark.parametrize(
    ("guidance", "said", "when"),
    [
        # A date is the better answer, and what is said of another thing, or in two ways, is none.
        (
            "The date on which the agreement takes effect.",
            ["This Agreement becomes effective upon signature.", "The Effective Date is March 3, 2023."],
            "March 3, 2023",
        ),
        (WHEN, [WIDER, ANNIVERSARY], ""),
        ("The day on which the fiscal year ended.", ["The fiscal year ends on the Sunday nearest to May 31."], ""),
    ],
)
def test_a_date_is_no_length_of_time(guidance: str, said: list[str], when: str) -> None:
    made = make_document(Heading("Rules"), " ".join(said), title="Rules")
    assert value(made, "Effective date" if "agreement" in guidance else "Effect", guidance) == when


def test_two_documents_may_say_one_length_in_two_ways() -> None:
    from ragcore.text.numbers import same_figure

    assert same_figure("Thirty days", "30 calendar days")
    assert not same_figure("Thirty days", "30 business days")
    assert not same_figure("30 days", "30 months")


@pytest.mark.parametrize(
    ("heading", "guidance", "said", "count"),
    [
        (
            "Shares repurchased",
            "How many shares the company repurchased.",
            "In fiscal 2021 the Company repurchased 2.2 million shares. "
            "In the fourth quarter of fiscal 2021 the Company repurchased 752,583 shares.",
            "2.2 million",
        ),
        ("Shares repurchased", "How many shares the company repurchased.", "The Company had 2,396 shares.", ""),
        ("Stores", "How many stores the company operates.", "Today, Belford operates 1,412 stores.", "1,412"),
        ("Stores", "How many stores the company operates.", "Licensees operate 31 stores.", ""),
    ],
)
def test_what_is_counted_is_what_something_was_done_with(heading: str, guidance: str, said: str, count: str) -> None:
    assert value(report(about=said), heading, guidance) == count


def test_a_section_on_two_things_is_quoted_for_what_is_asked() -> None:
    paid = "A dividend of one share for each ten was declared by the board."
    bought = "Shares were repurchased in the open market."
    made = make_document(Heading("Dividends and shares repurchased"), f"{paid} {bought}", title="Belford")
    asked = filled(made, "Shares repurchased", "Shares repurchased.")
    assert "open market" in asked.text
    assert "dividend" not in asked.text


def test_a_total_of_other_assets_is_not_the_total_of_assets() -> None:
    made = report(
        table("In millions", ["Other assets:"], ["Investments", "729.2", "677.1"], ["Total", "1,279.3", "1,320.5"])
    )
    assert value(made, "Total assets", ASSETS) == ""


def test_the_length_of_a_period_is_no_part_of_a_rows_name() -> None:
    head = ["", "Three months ended June 30, 2022", "Six months ended June 30, 2022"]
    income = table("Consolidated Statements of Income", ["Diluted earnings per share", "2.76", "5.39"], head=head)
    made = report(income, about="Quarterly report for the quarterly period ended June 30, 2022.")
    assert value(made, "Diluted earnings per share", "Diluted earnings per share of the quarter, in USD") == "2.76"


def test_the_title_of_a_statement_says_what_its_rows_are_of() -> None:
    sheet = table("Consolidated Balance Sheets (In millions, except par value)", ["Goodwill", "12,787", "12,668"])
    assert "12,787" in value(report(sheet), "Goodwill", "Goodwill on the balance sheet at year-end, in millions")


@pytest.mark.parametrize(
    ("said", "year"), [("since 1983", "1983"), ("since May 4, 1983", "May 4, 1983"), ("for long", "")]
)
def test_a_date_may_be_a_year(said: str, year: str) -> None:
    made = report(f"We have served as the Company’s auditor {said}.")
    assert value(made, "Auditor since", "Year since which the firm has been the auditor, as a date") == year
