"""More reports as they are filed, written before the rules that find values in statements: for `benchmarks.reports`."""

from __future__ import annotations

from tests.report.drawn import filed, notes, statement, table
from tests.report.filings import FIELDS
from tests.report.truths import Truth


def software() -> Truth:
    """Total revenue under products and services, in thousands; days as heads of columns; parts of debt."""
    pdf = filed(
        "# Adelin Systems Incorporated. Form 10-K for the fiscal year ended November 27, 2015",
        "Adelin sells software for designers. As of November 27, 2015, we employed 13,027 people.",
        "## Selected financial data",
        table("(In thousands, except per share data and employee data)", "Fiscal Years", "2015|2014|2013|2012|2011",
              """Revenue|4,496,751|3,888,703|3,802,599|4,129,328|3,953,585
              Net income|590,330|251,674|271,919|780,893|780,961
              Total assets|10,995,913|10,113,872|9,733,605|9,353,110|8,431,032
              Worldwide employees|13,027|11,720|11,109|10,450|9,307"""),
        *notes(5, 11),
        statement("ADELIN SYSTEMS INCORPORATED|CONSOLIDATED STATEMENTS OF INCOME|(In thousands, except per share data)",
                  "Years Ended", "November 27,/2015|November 28,/2014|November 29,/2013",
                  """Revenue:
                  Subscription|3,023,055|1,947,213|1,066,968
                  Product|1,055,049|1,526,391|2,316,211
                  Services and support|418,646|415,099|419,420
                  Total revenue|4,496,751|3,888,703|3,802,599
                  Cost of revenue:
                  Subscription|383,701|314,535|260,753
                  Total cost of revenue|697,946|583,324|550,014
                  Gross profit|3,798,805|3,305,378|3,252,584
                  Operating income|846,832|386,975|396,387
                  Provision for income taxes|229,014|87,188|62,034
                  Net income|590,330|251,674|271,919"""),
        statement("ADELIN SYSTEMS INCORPORATED|CONSOLIDATED BALANCE SHEETS|(In thousands, except par value)", "",
                  "November 27,/2015|November 28,/2014",
                  """Cash and cash equivalents|821,950|1,047,786
                  Total current assets|4,512,600|4,309,220
                  Goodwill|5,032,524|4,427,784
                  Total assets|10,995,913|10,113,872
                  Debt and capital lease obligations|1,788,411|854,325
                  Total liabilities|4,430,531|3,760,106"""),
        statement("ADELIN SYSTEMS INCORPORATED|CONSOLIDATED STATEMENTS OF CASH FLOWS|(In thousands)", "Years Ended",
                  "November 27,/2015|November 28,/2014|November 29,/2013",
                  """Cash flows from operating activities:
                  Net income|590,330|251,674|271,919
                  Cash flows from investing activities:
                  Purchases of property and equipment|(173,414)|(139,091)|(176,623)
                  Acquisitions, net of cash acquired|(774,544)|(27,945)|(660,693)"""),
        *notes(9, 12),
    )  # fmt: skip
    return Truth("adelin.pdf", pdf, FIELDS, {
        "Fiscal year": ("November 27, 2015",), "Revenue": ("4,496,751",), "Net income": ("590,330",),
        "Capital expenditure": ("(173,414)",), "Total assets": ("10,995,913",), "Long-term debt": None,
        "Employees": ("13,027",),
    })  # fmt: skip


def airline() -> Truth:
    """A total under operating revenues, a net loss, combined notes, plans for next year, a quarter apart."""
    pdf = filed(
        "# Solenne Air Group. Annual report on Form 10-K for the year ended December 31, 2020",
        "Solenne flies to ninety places. At the end of 2020 the group had 20,292 employees, of whom 16,879 on leave.",
        "We expect capital expenditures of about $120 million in 2021.",
        table("Quarterly financial data (unaudited, in thousands)", "2020", "First|Second|Third|Fourth",
              """Operating revenues|1,534,462|395,081|657,384|757,849
              Net loss|(216,618)|(200,951)|(404,346)|(402,722)"""),
        *notes(5, 13),
        statement("SOLENNE AIR GROUP|CONSOLIDATED STATEMENTS OF OPERATIONS|(In thousands)", "Year Ended December 31,",
                  "2020|2019|2018",
                  """Operating Revenues
                  Passenger|2,830,916|7,590,791|7,156,526
                  Cargo and other|513,860|643,272|592,626
                  Total Operating Revenues|3,344,776|8,234,063|7,749,153
                  Operating Expenses
                  Wages and benefits|1,925,098|2,222,349|2,053,563
                  Total Operating Expenses|5,009,193|7,237,169|7,146,212
                  Operating Income (Loss)|(1,664,418)|996,894|602,941
                  Income tax benefit (expense)|439,781|(231,612)|(138,780)
                  Net Income (Loss)|(1,224,636)|721,210|409,775"""),
        statement("SOLENNE AIR GROUP|CONSOLIDATED BALANCE SHEETS|(In thousands)", "As of December 31,", "2020|2019",
                  """Total Current Assets|3,754,551|1,910,095
                  Total Assets|13,170,934|12,183,536
                  Current portion of long-term debt|1,067,103|220,360
                  Long-Term Debt, Net of Current Portion|2,210,159|1,185,253
                  Total liabilities|10,369,087|8,122,357"""),
        statement("SOLENNE AIR GROUP|CONSOLIDATED STATEMENTS OF CASH FLOWS|(In thousands)", "Year Ended December 31,",
                  "2020|2019|2018",
                  """Cash Flows from Operating Activities:
                  Net Income (Loss)|(1,224,636)|721,210|409,775
                  Cash Flows from Investing Activities:
                  Property and equipment additions|(193,166)|(652,639)|(900,192)
                  Net Cash Used in Investing Activities|(552,305)|(741,721)|(603,879)"""),
        *notes(9, 14),
    )  # fmt: skip
    return Truth("solenne.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 31, 2020",), "Revenue": ("3,344,776",), "Net income": ("(1,224,636)",),
        "Capital expenditure": ("(193,166)",), "Total assets": ("13,170,934",), "Long-term debt": ("2,210,159",),
        "Employees": ("20,292",),
    })  # fmt: skip


def bank() -> Truth:
    """A year's report of a bank with the parent's own statements and columns of one consolidation."""
    pdf = filed(
        "# Harrow National Corporation. Form 10-K for the fiscal year ended December 31, 2023",
        "Harrow takes deposits and lends. As of December 31, 2023, the company had 7,328 employees.",
        table("Earnings by line of business (in millions)", "Year ended December 31,", "2023|2022",
              """Consumer banking net income|402|377
              Commercial banking net income|518|466
              Net income|944|871"""),
        *notes(6, 15),
        statement("Harrow National Corporation|Consolidated Statements of Income|(Dollars in millions)",
                  "Year ended December 31,", "2023|2022|2021",
                  """Total interest income|4,605|3,096|2,455
                  Net interest income|3,014|2,691|2,252
                  Noninterest income|1,039|1,079|1,128
                  Total net revenue|4,053|3,770|3,380
                  Provision for credit losses|244|128|(71)
                  Income before income taxes|1,140|1,060|1,216
                  Net income|944|871|939
                  Preferred stock dividends|41|41|38
                  Net income available to common shareholders|903|830|963"""),
        statement("Harrow National Corporation|Consolidated Balance Sheets|(Dollars in millions)", "",
                  "December 31, 2023|December 31, 2022",
                  """Cash and due from banks|1,129|1,291
                  Loans, net|45,119|43,153
                  Total assets|72,394|70,251
                  Deposits|56,369|55,889
                  Short-term borrowings|1,885|1,760
                  Long-term debt|4,972|4,424
                  Total liabilities|65,550|64,023"""),
        statement("Harrow National Corporation|Consolidated Statements of Cash Flows|(Dollars in millions)",
                  "Year ended December 31,", "2023|2022|2021",
                  """Net income|944|871|939
                  Purchases of premises and equipment|(97)|(88)|(81)
                  Net cash used in investing activities|(2,239)|(2,823)|(1,632)"""),
        *notes(8, 16),
        "## Note 24. Parent company",
        table("Condensed Balance Sheets, Harrow National Corporation (parent)|(Dollars in millions)", "",
              "2023|2022", """Total assets|8,816|8,075
              Long-term debt|1,972|1,847"""),
        table("Condensed consolidating statement of operations (in millions), year 2023", "",
              "Parent|Subsidiaries|Eliminations|Consolidated",
              """Total net revenue|702|4,053|(702)|4,053
              Net income|944|951|(951)|944"""),
    )  # fmt: skip
    return Truth("harrow.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 31, 2023",), "Revenue": ("4,053",), "Net income": ("944",),
        "Capital expenditure": ("(97)",), "Total assets": ("72,394",), "Long-term debt": ("4,972",),
        "Employees": ("7,328",),
    })  # fmt: skip


def maker_quarter() -> Truth:
    """A quarterly report: three and nine months."""
    pdf = filed(
        "# Brandt Tools Company. Quarterly report on Form 10-Q for the quarterly period ended September 28, 2019",
        "Brandt makes hand tools. Net sales for the first nine months were $1,129.6 million.",
        *notes(5, 17),
        statement("Brandt Tools Company|Condensed Consolidated Statements of Earnings|(In thousands) (Unaudited)", "",
                  "Three Months Ended/September 28, 2019|Three Months Ended/September 29, 2018|"
                  "Nine Months Ended/September 28, 2019|Nine Months Ended/September 29, 2018",
                  """Net sales|373,402|353,607|1,129,563|1,068,980
                  Cost of sales|226,023|215,952|683,771|647,107
                  Net earnings|38,727|35,839|114,437|110,274"""),
        statement("Brandt Tools Company|Condensed Consolidated Balance Sheets|(In thousands) (Unaudited)", "",
                  "September 28,/2019|December 29,/2018",
                  """Total current assets|658,640|614,203
                  Total assets|1,917,315|1,838,201
                  Long-term debt|384,457|403,211"""),
        statement("Brandt Tools Company|Condensed Consolidated Statements of Cash Flows|(In thousands) (Unaudited)", "",
                  "Nine Months Ended/September 28, 2019|Nine Months Ended/September 29, 2018",
                  """Net earnings|114,437|110,274
                  Capital expenditures|(45,122)|(41,265)
                  Net cash used in investing activities|(47,073)|(44,363)"""),
        *notes(6, 18),
    )  # fmt: skip
    return Truth("brandt.pdf", pdf, FIELDS, {
        "Revenue": None, "Net income": None, "Capital expenditure": None, "Total assets": ("1,838,201",),
        "Long-term debt": ("403,211",), "Employees": None,
    })  # fmt: skip


def without_statements() -> Truth:
    """Only segments, quarters and what is expected: most of what is asked for is not there."""
    pdf = filed(
        "# Oakridge Foods Ltd. Supplement to the annual report for the year ended March 31, 2022",
        "This supplement shows segments and quarters. Statements of the whole company are in the annual report.",
        table("Bakery segment (in millions)", "Year ended March 31,", "2022|2021",
              """Net sales|377.0|353.8
              Net income|31.2|29.8
              Total assets|270.1|253.6
              Capital expenditures|14.1|12.0"""),
        table("Frozen segment (in millions)", "Year ended March 31,", "2022|2021",
              """Net sales|292.0|281.5
              Net income|19.9|20.4
              Total assets|225.3|219.3"""),
        *notes(5, 19),
        table("Fourth quarter (unaudited, in millions)", "Three months ended March 31,", "2022|2021",
              """Net sales|169.0|160.3
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
        "The group employed 3,863 people at the end of the year.",
        table("Five year record (£000)", "", "2024|2023|2022|2021|2020",
              """Revenue|574,247|551,471|506,426|467,284|487,620
              Profit for the year|45,207|42,105|36,680|20,667|34,421"""),
        *notes(5, 21),
        statement("Consolidated income statement|for the year ended 31 March 2024", "",
                  "Note|2024/£000|2023/£000",
                  """Revenue|3|574,247|551,471
                  Cost of sales||(413,713)|(401,992)
                  Operating profit|4|67,805|62,271
                  Finance costs|6|(8,449)|(6,751)
                  Profit before taxation||59,356|55,519
                  Taxation|7|(14,150)|(13,415)
                  Profit for the year||45,207|42,105"""),
        statement("Consolidated statement of financial position|at 31 March 2024", "",
                  "Note|2024/£000|2023/£000",
                  """Property, plant and equipment|11|363,846|347,994
                  Inventories|14|82,902|84,581
                  Total assets||752,345|722,985
                  Long-term debt|19|178,163|192,228
                  Total liabilities||377,066|386,257"""),
        statement("Consolidated statement of cash flows|for the year ended 31 March 2024", "",
                  "Note|2024/£000|2023/£000",
                  """Cash generated from operations|24|94,895|88,434
                  Purchase of property, plant and equipment||(48,798)|(46,763)
                  Net cash used in investing activities||(50,730)|(46,916)"""),
        *notes(8, 22),
    )  # fmt: skip
    return Truth("penhallow.pdf", pdf, FIELDS, {
        "Fiscal year": ("31 March 2024",), "Revenue": ("574,247",), "Net income": ("45,207",),
        "Capital expenditure": ("(48,798)",), "Total assets": ("752,345",), "Long-term debt": ("178,163",),
        "Employees": ("3,863",),
    })  # fmt: skip


def filings_unseen() -> list[Truth]:
    """The documents that no rule was set by."""
    return [software(), airline(), bank(), maker_quarter(), without_statements(), abroad()]
