"""Documents of which every right value is known, and templates that ask for it, and for what is not there.

Companies differ in what their rows are called, in how many years they show, and in what lures: parts of the whole,
forecasts, last year's figures, another quantity of nearly the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pymupdf

WIDTH, HEIGHT = 612.0, 792.0
FONT, BOLD = "helv", "hebo"
Block = str | tuple[str, Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Truth:
    """``values``: what a value field must hold (any of several ways to print it), None where it is not in the document.
    ``tables``: the rows of a table field, () where no table of the document has its columns. ``quoted``: words that a
    section must quote, None where it must be named as missing."""

    name: str
    pdf: bytes
    template: dict[str, Any]
    values: dict[str, tuple[str, ...] | None]
    tables: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    quoted: dict[str, str | None] = field(default_factory=dict)


def _pdf(*blocks: Block) -> bytes:
    """``# heading``s, paragraphs, and tables ``(title, rows)`` with rules, over as many pages as they need."""
    document = pymupdf.open()
    document.set_metadata({})
    page, y = document.new_page(width=WIDTH, height=HEIGHT), 72.0
    for block in blocks:
        if isinstance(block, str):
            title = block.startswith("#")
            size = 18.0 if block.startswith("# ") else 13.0 if title else 10.5
            text = block.lstrip("# ")
            lines = -(-pymupdf.get_text_length(text, fontname=BOLD, fontsize=size) // 440)
            height = (lines + 1) * size * 1.4
        else:
            height = 30.0 + 20 * len(block[1])
        if y + height > HEIGHT - 72:
            page, y = document.new_page(width=WIDTH, height=HEIGHT), 72.0
        if isinstance(block, str):
            rest = page.insert_textbox(
                pymupdf.Rect(72, y, 540, y + height), text, fontsize=size, fontname=BOLD if title else FONT
            )
            assert rest >= 0
            y += height - rest + (4 if title else 12)
        else:
            y = _table(page, *block, y) + 18
    data: bytes = document.tobytes()
    document.close()
    return data


def _table(page: pymupdf.Page, title: str, rows: Sequence[Sequence[str]], top: float) -> float:
    page.insert_text((72, top + 10), title, fontsize=10.5, fontname=BOLD)
    first, width = 210.0, (468.0 - 210.0) / (len(rows[0]) - 1)
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            x, y = 72 + (first + (c - 1) * width if c else 0), top + 18 + r * 20
            page.draw_rect(pymupdf.Rect(x, y, x + (width if c else first), y + 20), color=(0, 0, 0), width=0.6)
            font = FONT if r else BOLD
            room = width - 8 - pymupdf.get_text_length(value, fontname=font, fontsize=9.5)
            page.insert_text((x + 4 + (room if c else 0), y + 14), value, fontsize=9.5, fontname=font)
    return top + 18 + len(rows) * 20


def _value(heading: str, guidance: str, **more: Any) -> dict[str, Any]:
    return {"heading": heading, "kind": "value", "guidance": guidance, **more}


PROFILE = (
    {"heading": "Business", "guidance": "Describe what the company makes or does."},
    _value("Fiscal year", "The day on which the fiscal year of the report ended."),
    _value("Revenue", "Total net revenue or net sales of the latest fiscal year."),
    _value("Net income", "Net income of the latest fiscal year."),
    _value("Capital expenditure", "Purchases of property, plant and equipment in the latest fiscal year."),
    _value("Total assets", "Total assets at the end of the latest fiscal year."),
    _value("Long-term debt", "Long-term debt at the end of the latest fiscal year."),
    _value("Employees", "How many employees the company has."),
    {"heading": "Risks", "kind": "list", "guidance": "The risk factors that the company names as most important."},
    {"heading": "Legal proceedings", "guidance": "Describe material legal proceedings."},
)


def companies() -> list[Truth]:
    marlow = Truth(
        "marlow.pdf",
        _pdf(
            "# Marlow Pumps, Inc. Annual report 2023",
            "This is the report for the fiscal year ended June 30, 2023. Fiscal year ending June 30, 2024: 52 weeks.",
            "## Business",
            "Marlow Pumps designs and makes centrifugal pumps for water works and breweries, sold by dealers.",
            "As of May 31, 2023 we employed approximately 2,450 people. Of these, 310 in Canada belong to a union.",
            (
                "Consolidated Statements of Income (in millions)",
                (
                    ("Years ended June 30", "2023", "2022", "2021"),
                    ("Net sales", "812.4", "774.9", "701.3"),
                    ("Cost of sales", "530.1", "512.0", "470.8"),
                    ("Income before income taxes", "96.2", "88.0", "71.5"),
                    ("Net income", "74.8", "68.3", "55.9"),
                ),
            ),
            (
                "Net sales by region (in millions)",
                (
                    ("Region", "2023", "2022"),
                    ("Americas", "498.0", "470.2"),
                    ("Europe", "314.4", "304.7"),
                    ("Total net sales", "812.4", "774.9"),
                ),
            ),
            (
                "Consolidated Balance Sheets (in millions)",
                (
                    ("At June 30", "2023", "2022"),
                    ("Total current assets", "402.7", "380.5"),
                    ("Other assets", "36.1", "33.8"),
                    ("Total assets", "991.3", "940.6"),
                    ("Current portion of long-term debt", "12.0", "12.0"),
                    ("Long-term debt", "208.5", "220.5"),
                    ("Total liabilities", "512.2", "501.9"),
                ),
            ),
            (
                "Consolidated Statements of Cash Flows (in millions)",
                (
                    ("Years ended June 30", "2023", "2022"),
                    ("Net cash provided by operating activities", "110.9", "97.4"),
                    ("Purchases of property, plant and equipment", "(41.7)", "(38.2)"),
                ),
            ),
            "We expect capital expenditure of about $55 million in fiscal 2024.",
            "## Risk factors",
            "Steel prices may rise faster than we can raise our own. A strike in our foundry would stop deliveries.",
        ),
        {"title": "Profile", "sections": [
            *PROFILE,
            {"heading": "Sales by region", "kind": "table", "columns": ["Region", "2023", "2022"],
             "guidance": "Net sales by region."},
            {"heading": "Employees by country", "kind": "table", "columns": ["Country", "Employees"],
             "guidance": "Employees in each country."},
        ]},
        {
            "Fiscal year": ("June 30, 2023",),
            "Revenue": ("812.4",),
            "Net income": ("74.8",),
            "Capital expenditure": ("(41.7)",),
            "Total assets": ("991.3",),
            "Long-term debt": ("208.5",),
            "Employees": ("2,450",),
        },
        {
            "Sales by region": (
                ("Americas", "498.0", "470.2"),
                ("Europe", "314.4", "304.7"),
                ("Total net sales", "812.4", "774.9"),
            ),
            "Employees by country": (),
        },
        {"Business": "centrifugal pumps", "Risks": "Steel prices", "Legal proceedings": None},
    )  # fmt: skip
    tessaly = Truth(
        "tessaly.pdf",
        _pdf(
            "# Tessaly Foods plc Annual report 2022",
            "For the fiscal year ended 31 December 2022.",
            "Tessaly bakes bread and frozen pastry in six plants. Customers are supermarkets and hotels.",
            "Revenue rose 8% to $1,204 million from $1,115 million in 2021.",
            "Revenue of the Frozen division was $402 million.",
            "Deferred revenue was $3 million.",
            "Capital expenditure was $66 million, of which $20 million went into ovens.",
            "Capital expenditure should fall to about $50 million in 2023.",
            "Net income should exceed $90 million in 2023.",
            (
                "Employees by site",
                (
                    ("At 31 December", "2022", "2021"),
                    ("Cork", "1,210", "1,180"),
                    ("Lille", "940", "955"),
                    ("Total", "2,150", "2,135"),
                ),
            ),
            (
                "Frozen division (in millions of dollars)",
                (("", "2022", "2021"), ("Operating income", "31.2", "29.8"),
("Segment total assets", "288.0", "270.4")),
            ),
            "## Legal proceedings",
            "A former supplier sues Tessaly in Lyon for $4 million. Tessaly holds the claim to be unfounded.",
        ),
        {"title": "Profile", "sections": [
            *PROFILE,
            _value("Frozen revenue", "Revenue of the Frozen division in 2022."),
            {"heading": "Staff", "kind": "table", "columns": ["Site", "2022"], "guidance": "Employees by site."},
        ]},
        {
            "Fiscal year": ("31 December 2022",),
            "Revenue": ("$1,204 million",),
            "Net income": None,
            "Capital expenditure": ("$66 million",),
            "Total assets": None,
            "Long-term debt": None,
            "Employees": ("2,150",),
            "Frozen revenue": ("$402 million",),
        },
        {"Staff": (("Cork", "1,210"), ("Lille", "940"), ("Total", "2,150"))},
        {"Business": "bakes bread", "Legal proceedings": "former supplier sues"},
    )  # fmt: skip
    return [marlow, tessaly, *_studies(), _contract()]


def unseen() -> list[Truth]:
    """Other documents, which nothing was set by: for `benchmarks.reports`."""
    asked = {"title": "Profile", "sections": [
        _value("Fiscal year end", "The date on which the fiscal year ended."),
        _value("Sales", "Net sales or total revenue of the latest year."),
        _value("Profit", "Net income for the year."),
        _value("R&D", "Research and development expense of the latest fiscal year."),
        _value("Inventories", "Inventories at year end."),
        _value("Cash", "Cash and cash equivalents at the end of the year."),
        _value("Goodwill", "Goodwill at the end of the latest fiscal year."),
        _value("Workforce", "Number of employees."),
        {"heading": "Revenue by product", "kind": "table", "columns": ["Product line", "2024"],
         "guidance": "Revenue of each product line."},
        {"heading": "Risk factors", "kind": "list", "guidance": "The main risks."},
        {"heading": "Cybersecurity", "guidance": "How cyber incidents are handled."},
    ]}  # fmt: skip
    trial = {"title": "Trial", "sections": [
        _value("Enrolment", "How many patients were randomized."),
        _value("Median age", "The median age of the patients.", unit="years"),
        _value("Median overall survival", "Median overall survival with placebo.", unit="months"),
        _value("Hazard ratio", "The hazard ratio for death."),
        {"heading": "Adverse events", "kind": "table", "columns": ["Event", "Drug", "Placebo"],
         "guidance": "Adverse events by arm."},
        {"heading": "Limitations", "guidance": "State the limitations that the authors name."},
        {"heading": "Funding", "guidance": "State who funded the study."},
    ]}  # fmt: skip
    return [
        Truth(
            "corvane.pdf",
            _pdf(
                "# Corvane Optics, annual report 2024",
                "Fiscal year ended September 28, 2024. At that date Corvane had 3,318 employees in eleven countries.",
                "Net sales were $646.1 million, after $601.7 million a year earlier.",
                (
                    "Statements of operations (in thousands of dollars)",
                    (
                        ("", "2024", "2023"),
                        ("Net sales", "646,120", "601,702"),
                        ("Gross profit", "270,955", "244,100"),
                        ("Research and development", "58,340", "51,915"),
                        ("Net income", "61,208", "57,433"),
                    ),
                ),
                (
                    "Balance sheets (in thousands of dollars)",
                    (
                        ("", "September 28, 2024", "September 30, 2023"),
                        ("Cash and cash equivalents", "88,410", "75,196"),
                        ("Inventories", "131,007", "127,660"),
                        ("Total current assets", "330,115", "301,884"),
                    ),
                ),
                (
                    "Revenue by product line (in thousands of dollars)",
                    (
                        ("Product line", "2024", "2023"),
                        ("Lenses", "402,800", "377,300"),
                        ("Filters", "243,320", "224,402"),
                    ),
                ),
                "## Risk factors",
                "One glass maker supplies most of our blanks. A recession would delay orders of microscopes.",
            ),
            asked,
            {
                "Fiscal year end": ("September 28, 2024",),
                "Sales": ("646,120", "$646.1 million"),
                "Profit": ("61,208",),
                "R&D": ("58,340",),
                "Inventories": ("131,007",),
                "Cash": ("88,410",),
                "Goodwill": None,
                "Workforce": ("3,318",),
            },
            {"Revenue by product": (("Lenses", "402,800"), ("Filters", "243,320"))},
            {"Risk factors": "One glass maker", "Cybersecurity": None},
        ),
        Truth(
            "ostrava.pdf",
            _pdf(
                "# Ostrava Ferries Group, report for 2024",
                "Our financial year ended on 31 March 2024. We carry cars and lorries on four lines.",
                "Total revenue amounted to $310 million; revenue in the first quarter of the new year was $70 million.",
                "Net loss was $4.2 million against net income of $9.9 million in 2023.",
                "Cash and cash equivalents stood at $27 million. Inventories of fuel are insured.",
                "We plan to cut the number of employees to 1,000 by 2026.",
                (
                    "Goodwill by line (in millions of dollars)",
                    (
                        ("Line", "2024", "2023"),
                        ("North", "11.0", "11.0"),
                        ("South", "6.5", "8.0"),
                        ("Total", "17.5", "19.0"),
                    ),
                ),
            ),
            asked,
            {
                "Fiscal year end": ("31 March 2024",),
                "Sales": ("$310 million",),
                "Profit": ("$4.2 million",),
                "R&D": None,
                "Inventories": None,
                "Cash": ("$27 million",),
                "Goodwill": ("17.5",),
                "Workforce": None,
            },
            {"Revenue by product": ()},
            {"Risk factors": None, "Cybersecurity": None},
        ),
        Truth(
            "trial.pdf",
            _pdf(
                "# Velotrine in advanced disease: a randomized trial",
                "A total of 412 patients were randomized, 206 to each. The median age was 63 years (range 29 to 84).",
                "The hazard ratio for death was 0.74 (95% CI 0.61 to 0.90). Median follow-up was 27 months.",
                (
                    "Efficacy",
                    (
                        ("Outcome", "Velotrine", "Placebo"),
                        ("Median overall survival (months)", "19.2", "14.8"),
                        ("Median progression-free survival (months)", "9.1", "6.3"),
                    ),
                ),
                (
                    "Adverse events of any grade (percent of patients)",
                    (
                        ("Event", "Drug", "Placebo"),
                        ("Nausea", "41", "17"),
                        ("Rash", "22", "6"),
                        ("Fatigue", "38", "33"),
                    ),
                ),
                "## Limitations",
                "Follow-up was short, and few patients came from outside Europe.",
            ),
            trial,
            {
                "Enrolment": ("412",),
                "Median age": ("63",),
                "Median overall survival": ("14.8",),
                "Hazard ratio": ("0.74",),
            },
            {"Adverse events": (("Nausea", "41", "17"), ("Rash", "22", "6"), ("Fatigue", "38", "33"))},
            {"Limitations": "Follow-up was short", "Funding": None},
        ),
    ]


def _studies() -> list[Truth]:
    asked = {"title": "Brochure", "sections": [
        {"heading": "Toxicology", "guidance": "Summarize the toxicological effects in animals."},
        _value("No-observed-adverse-effect level", "The NOAEL, with species, dose and duration."),
        _value("Sample size", "How many animals were studied."),
        _value("Half-life", "The half-life in dogs.", unit="hours"),
        {"heading": "Pharmacokinetics", "kind": "table", "columns": ["Species", "Cmax", "AUC"],
         "guidance": "Maximum concentration and exposure by species."},
        {"heading": "Human experience", "guidance": "Summarize effectiveness in patients in clinical trials."},
    ]}  # fmt: skip
    return [
        Truth(
            "lk-204.pdf",
            _pdf(
                "# Report on LK-204 in animals",
                "LK-204 is a small molecule. The study included 96 animals of both sexes, kept in pairs.",
                "## Toxicology",
                "At 100 mg/kg rats lost weight and their liver enzymes rose. No animal died.",
                "The NOAEL was 30 mg/kg/day in rats over a duration of 28 days; no other species took that dose.",
                "## Exposure",
                (
                    "Pharmacokinetics of LK-204 by species",
                    (
                        ("Species", "Dose", "Cmax", "AUC", "Half-life"),
                        ("Mouse", "10", "812", "2,940", "2.1"),
                        ("Rat", "10", "655", "3,310", "3.4"),
                        ("Dog", "5", "498", "4,120", "6.8"),
                    ),
                ),
            ),
            asked,
            {
                "No-observed-adverse-effect level": ("30 mg/kg",),
                "Sample size": ("96",),
                "Half-life": ("6.8",),
            },
            {"Pharmacokinetics": (("Mouse", "812", "2,940"), ("Rat", "655", "3,310"), ("Dog", "498", "4,120"))},
            {"Toxicology": "liver enzymes", "Human experience": None},
        ),
        Truth(
            "lk-377.pdf",
            _pdf(
                "# Report on LK-377 in dogs",
                "LK-377 was given to dogs for thirteen weeks. Twelve dogs had vomiting in the first week.",
                "The dose was raised after week four. Plasma was drawn before each dose and frozen at once.",
                "No conclusion on a level without adverse effects can be drawn from these data.",
            ),
            asked,
            {"No-observed-adverse-effect level": None, "Sample size": None, "Half-life": None},
            {"Pharmacokinetics": ()},
            {"Human experience": None},
        ),
    ]


def _contract() -> Truth:
    return Truth(
        "supply.pdf",
        _pdf(
            "# Supply agreement",
            "This supply agreement is made between Orrin Ltd (the Supplier) and Vela GmbH (the Customer). The "
            "effective date is 1 March 2024. It was signed on 20 February 2024.",
            "## 1. Term",
            "The agreement runs for three years and renews for one year unless a party gives six months' notice.",
            "## 2. Payment",
            "Invoices are due within 45 days. Late payments bear interest of 6% a year.",
            "## 3. Governing law",
            "This agreement is governed by the law of Ireland, and the courts of Dublin have jurisdiction.",
        ),
        {"title": "Review", "sections": [
            _value("Effective date", "The date on which the agreement takes effect."),
            _value("Governing law", "The governing law and the place of jurisdiction."),
            _value("Liability cap", "The amount to which liability is limited."),
            {"heading": "Term", "guidance": "State the initial term and its renewal."},
            {"heading": "Indemnities", "guidance": "Describe who indemnifies whom."},
        ]},
        {
"Effective date": ("1 March 2024",), "Governing law": ("governed by the law of Ireland",), "Liability cap": None,
},
        {},
        {"Term": "three years", "Indemnities": None},
    )  # fmt: skip
