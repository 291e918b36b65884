"""More reports as they are filed, written before the rules that find values in statements: for `benchmarks.reports`."""

from __future__ import annotations

from tests.report.drawn import filed, notes, statement, table
from tests.report.filings import FIELDS
from tests.report.truths import Truth


def software() -> Truth:
    """Total revenue under products and services, in thousands; days as heads of columns; parts of debt."""
    pdf = filed(
        "# Adelin Systems Incorporated. Form 10-K for the fiscal year ended November 27, 2015",
        "Adelin sells software for designers. As of November 27, 2015, we employed 13,893 people.",
        "## Selected financial data",
        table("(In thousands, except per share data and employee data)", "Fiscal Years", "2015|2014|2013|2012|2011",
              """Revenue|4,795,511|4,147,065|4,055,240|4,403,677|4,216,258
              Net income|629,551|268,395|289,985|832,775|832,847
              Total assets|11,726,472|10,785,829|10,380,298|9,974,523|8,991,183
              Worldwide employees|13,893|12,499|11,847|11,144|9,925"""),
        *notes(5, 11),
        statement("ADELIN SYSTEMS INCORPORATED|CONSOLIDATED STATEMENTS OF INCOME|(In thousands, except per share data)",
                  "Years Ended", "November 27,/2015|November 28,/2014|November 29,/2013",
                  """Revenue:
                  Subscription|3,223,904|2,076,584|1,137,856
                  Product|1,125,146|1,627,803|2,470,098
                  Services and support|446,461|442,678|447,286
                  Total revenue|4,795,511|4,147,065|4,055,240
                  Cost of revenue:
                  Subscription|409,194|335,432|278,077
                  Total cost of revenue|744,317|622,080|586,557
                  Gross profit|4,051,194|3,524,985|3,468,683
                  Operating income|903,095|412,685|422,723
                  Provision for income taxes|244,230|92,981|66,156
                  Net income|629,551|268,395|289,985"""),
        statement("ADELIN SYSTEMS INCORPORATED|CONSOLIDATED BALANCE SHEETS|(In thousands, except par value)", "",
                  "November 27,/2015|November 28,/2014",
                  """Cash and cash equivalents|876,560|1,117,400
                  Total current assets|4,812,413|4,595,521
                  Goodwill|5,366,881|4,721,962
                  Total assets|11,726,472|10,785,829
                  Debt and capital lease obligations|1,907,231|911,086
                  Total liabilities|4,724,892|4,009,924"""),
        statement("ADELIN SYSTEMS INCORPORATED|CONSOLIDATED STATEMENTS OF CASH FLOWS|(In thousands)", "Years Ended",
                  "November 27,/2015|November 28,/2014|November 29,/2013",
                  """Cash flows from operating activities:
                  Net income|629,551|268,395|289,985
                  Cash flows from investing activities:
                  Purchases of property and equipment|(184,936)|(148,332)|(188,358)
                  Acquisitions, net of cash acquired|(826,004)|(29,802)|(704,589)"""),
        *notes(9, 12),
    )  # fmt: skip
    return Truth("adelin.pdf", pdf, FIELDS, {
        "Fiscal year": ("November 27, 2015",), "Revenue": ("4,795,511",), "Net income": ("629,551",),
        "Capital expenditure": ("(184,936)",), "Total assets": ("11,726,472",), "Long-term debt": None,
        "Employees": ("13,893",),
    })  # fmt: skip


def airline() -> Truth:
    """A total under operating revenues, a net loss, combined notes, plans for next year, a quarter apart."""
    pdf = filed(
        "# Solenne Air Group. Annual report on Form 10-K for the year ended December 31, 2020",
        "Solenne flies to ninety places. At the end of 2020 the group had 21,640 employees, of whom 18,000 on leave.",
        "We expect capital expenditures of about $120 million in 2021.",
        table("Quarterly financial data (unaudited, in thousands)", "2020", "First|Second|Third|Fourth",
              """Operating revenues|1,636,410|421,330|701,060|808,200
              Net loss|(231,010)|(214,302)|(431,210)|(429,478)"""),
        *notes(5, 13),
        statement("SOLENNE AIR GROUP|CONSOLIDATED STATEMENTS OF OPERATIONS|(In thousands)", "Year Ended December 31,",
                  "2020|2019|2018",
                  """Operating Revenues
                  Passenger|3,019,000|8,095,117|7,632,000
                  Cargo and other|548,000|686,010|632,000
                  Total Operating Revenues|3,567,000|8,781,127|8,264,000
                  Operating Expenses
                  Wages and benefits|2,053,000|2,370,000|2,190,000
                  Total Operating Expenses|5,342,000|7,718,000|7,621,000
                  Operating Income (Loss)|(1,775,000)|1,063,127|643,000
                  Income tax benefit (expense)|469,000|(247,000)|(148,000)
                  Net Income (Loss)|(1,306,000)|769,127|437,000"""),
        statement("SOLENNE AIR GROUP|CONSOLIDATED BALANCE SHEETS|(In thousands)", "As of December 31,", "2020|2019",
                  """Total Current Assets|4,004,000|2,037,000
                  Total Assets|14,046,000|12,993,000
                  Current portion of long-term debt|1,138,000|235,000
                  Long-Term Debt, Net of Current Portion|2,357,000|1,264,000
                  Total liabilities|11,058,000|8,662,000"""),
        statement("SOLENNE AIR GROUP|CONSOLIDATED STATEMENTS OF CASH FLOWS|(In thousands)", "Year Ended December 31,",
                  "2020|2019|2018",
                  """Cash Flows from Operating Activities:
                  Net Income (Loss)|(1,306,000)|769,127|437,000
                  Cash Flows from Investing Activities:
                  Property and equipment additions|(206,000)|(696,000)|(960,000)
                  Net Cash Used in Investing Activities|(589,000)|(791,000)|(644,000)"""),
        *notes(9, 14),
    )  # fmt: skip
    return Truth("solenne.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 31, 2020",), "Revenue": ("3,567,000",), "Net income": ("(1,306,000)",),
        "Capital expenditure": ("(206,000)",), "Total assets": ("14,046,000",), "Long-term debt": ("2,357,000",),
        "Employees": ("21,640",),
    })  # fmt: skip


def bank() -> Truth:
    """A year's report of a bank with the parent's own statements and columns of one consolidation."""
    pdf = filed(
        "# Harrow National Corporation. Form 10-K for the fiscal year ended December 31, 2023",
        "Harrow takes deposits and lends. As of December 31, 2023, the company had 7,815 employees.",
        table("Earnings by line of business (in millions)", "Year ended December 31,", "2023|2022",
              """Consumer banking net income|402|377
              Commercial banking net income|518|466
              Net income|944|871"""),
        *notes(6, 15),
        statement("Harrow National Corporation|Consolidated Statements of Income|(Dollars in millions)",
                  "Year ended December 31,", "2023|2022|2021",
                  """Total interest income|4,911|3,302|2,618
                  Net interest income|3,214|2,870|2,402
                  Noninterest income|1,108|1,151|1,203
                  Total net revenue|4,322|4,021|3,605
                  Provision for credit losses|244|128|(71)
                  Income before income taxes|1,216|1,130|1,297
                  Net income|944|871|1,001
                  Preferred stock dividends|41|41|38
                  Net income available to common shareholders|903|830|963"""),
        statement("Harrow National Corporation|Consolidated Balance Sheets|(Dollars in millions)", "",
                  "December 31, 2023|December 31, 2022",
                  """Cash and due from banks|1,204|1,377
                  Loans, net|48,117|46,020
                  Total assets|77,204|74,918
                  Deposits|60,114|59,602
                  Short-term borrowings|2,010|1,877
                  Long-term debt|5,302|4,718
                  Total liabilities|69,905|68,277"""),
        statement("Harrow National Corporation|Consolidated Statements of Cash Flows|(Dollars in millions)",
                  "Year ended December 31,", "2023|2022|2021",
                  """Net income|944|871|1,001
                  Purchases of premises and equipment|(97)|(88)|(81)
                  Net cash used in investing activities|(2,388)|(3,011)|(1,740)"""),
        *notes(8, 16),
        "## Note 24. Parent company",
        table("Condensed Balance Sheets, Harrow National Corporation (parent)|(Dollars in millions)", "",
              "2023|2022", """Total assets|9,402|8,611
              Long-term debt|2,103|1,970"""),
        table("Condensed consolidating statement of operations (in millions), year 2023", "",
              "Parent|Subsidiaries|Eliminations|Consolidated",
              """Total net revenue|702|4,322|(702)|4,322
              Net income|944|951|(951)|944"""),
    )  # fmt: skip
    return Truth("harrow.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 31, 2023",), "Revenue": ("4,322",), "Net income": ("944",),
        "Capital expenditure": ("(97)",), "Total assets": ("77,204",), "Long-term debt": ("5,302",),
        "Employees": ("7,815",),
    })  # fmt: skip


def maker_quarter() -> Truth:
    """A quarterly report: three and nine months."""
    pdf = filed(
        "# Brandt Tools Company. Quarterly report on Form 10-Q for the quarterly period ended September 28, 2019",
        "Brandt makes hand tools. Net sales for the first nine months were $1,204.6 million.",
        *notes(5, 17),
        statement("Brandt Tools Company|Condensed Consolidated Statements of Earnings|(In thousands) (Unaudited)", "",
                  "Three Months Ended/September 28, 2019|Three Months Ended/September 29, 2018|"
                  "Nine Months Ended/September 28, 2019|Nine Months Ended/September 29, 2018",
                  """Net sales|398,210|377,100|1,204,610|1,140,002
                  Cost of sales|241,040|230,300|729,200|690,100
                  Net earnings|41,300|38,220|122,040|117,600"""),
        statement("Brandt Tools Company|Condensed Consolidated Balance Sheets|(In thousands) (Unaudited)", "",
                  "September 28,/2019|December 29,/2018",
                  """Total current assets|702,400|655,010
                  Total assets|2,044,700|1,960,330
                  Long-term debt|410,000|430,000"""),
        statement("Brandt Tools Company|Condensed Consolidated Statements of Cash Flows|(In thousands) (Unaudited)", "",
                  "Nine Months Ended/September 28, 2019|Nine Months Ended/September 29, 2018",
                  """Net earnings|122,040|117,600
                  Capital expenditures|(48,120)|(44,007)
                  Net cash used in investing activities|(50,200)|(47,310)"""),
        *notes(6, 18),
    )  # fmt: skip
    return Truth("brandt.pdf", pdf, FIELDS, {
        "Revenue": None, "Net income": None, "Capital expenditure": None, "Total assets": ("1,960,330",),
        "Long-term debt": ("430,000",), "Employees": None,
    })  # fmt: skip


def without_statements() -> Truth:
    """Only segments, quarters and what is expected: most of what is asked for is not there."""
    pdf = filed(
        "# Oakridge Foods Ltd. Supplement to the annual report for the year ended March 31, 2022",
        "This supplement shows segments and quarters. Statements of the whole company are in the annual report.",
        table("Bakery segment (in millions)", "Year ended March 31,", "2022|2021",
              """Net sales|402.0|377.3
              Net income|31.2|29.8
              Total assets|288.0|270.4
              Capital expenditures|14.1|12.0"""),
        table("Frozen segment (in millions)", "Year ended March 31,", "2022|2021",
              """Net sales|311.4|300.2
              Net income|19.9|20.4
              Total assets|240.3|233.9"""),
        *notes(5, 19),
        table("Fourth quarter (unaudited, in millions)", "Three months ended March 31,", "2022|2021",
              """Net sales|180.2|171.0
              Net income|12.9|12.2"""),
        table("Outlook (in millions)", "", "2023|2024",
              """Net sales|740|765
              Net income|55|58
              Capital expenditures|32|35"""),
        *notes(4, 20),
    )  # fmt: skip
    return Truth("oakridge.pdf", pdf, FIELDS, {
        "Fiscal year": ("March 31, 2022",), "Revenue": None, "Net income": None, "Capital expenditure": None,
        "Total assets": None, "Long-term debt": None, "Employees": None,
    })  # fmt: skip


def abroad() -> Truth:
    """A British report: profit for the year, a column of notes, a statement of financial position, in thousands."""
    pdf = filed(
        "# Penhallow plc Annual Report and Accounts 2024",
        "For the financial year ended 31 March 2024. Penhallow builds ferries and repairs trawlers.",
        "The group employed 4,120 people at the end of the year.",
        table("Five year record (£000)", "", "2024|2023|2022|2021|2020",
              """Revenue|612,400|588,110|540,072|498,330|520,017
              Profit for the year|48,210|44,902|39,117|22,040|36,708"""),
        *notes(5, 21),
        statement("Consolidated income statement|for the year ended 31 March 2024", "",
                  "Note|2024/£000|2023/£000",
                  """Revenue|3|612,400|588,110
                  Cost of sales||(441,200)|(428,700)
                  Operating profit|4|72,310|66,408
                  Finance costs|6|(9,010)|(7,200)
                  Profit before taxation||63,300|59,208
                  Taxation|7|(15,090)|(14,306)
                  Profit for the year||48,210|44,902"""),
        statement("Consolidated statement of financial position|at 31 March 2024", "",
                  "Note|2024/£000|2023/£000",
                  """Property, plant and equipment|11|388,020|371,114
                  Inventories|14|88,410|90,200
                  Total assets||802,330|771,020
                  Long-term debt|19|190,000|205,000
                  Total liabilities||402,118|411,920"""),
        statement("Consolidated statement of cash flows|for the year ended 31 March 2024", "",
                  "Note|2024/£000|2023/£000",
                  """Cash generated from operations|24|101,200|94,310
                  Purchase of property, plant and equipment||(52,040)|(49,870)
                  Net cash used in investing activities||(54,100)|(50,033)"""),
        *notes(8, 22),
    )  # fmt: skip
    return Truth("penhallow.pdf", pdf, FIELDS, {
        "Fiscal year": ("31 March 2024",), "Revenue": ("612,400",), "Net income": ("48,210",),
        "Capital expenditure": ("(52,040)",), "Total assets": ("802,330",), "Long-term debt": ("190,000",),
        "Employees": ("4,120",),
    })  # fmt: skip


def filings_unseen() -> list[Truth]:
    """The documents that no rule was set by."""
    return [software(), airline(), bank(), maker_quarter(), without_statements(), abroad()]
