"""Reports of companies as they are filed, with the value fields of a profile of which every right value is known.

They differ in what the statements and their rows are called, in scale and in years, and each holds tables in which rows
of the same names say something else: of a segment, a quarter, the parent, five years.
"""

from __future__ import annotations

from tests.report.drawn import filed, notes, statement, table
from tests.report.truths import PROFILE, Truth

FIELDS = {"title": "Profile", "sections": [field for field in PROFILE if field.get("kind") == "value"]}


def utility() -> Truth:
    """Operating revenues, thousands; net income only as that of the shareholders; segments, five years, the parent."""
    pdf = filed(
        "# Belford Water Holdings, Inc. Annual report on Form 10-K for the fiscal year ended December 31, 2021",
        "Belford provides water and wastewater services to households in nine states through regulated utilities.",
        "The company has approximately 6,400 employees. As of December 31, 2021, 2,900 employees belong to unions.",
        "## Selected financial data",
        table("Five-year summary (in thousands)", "For the years ended December 31,", "2021|2020|2019|2018|2017",
              """Operating revenues|3,930,114|3,777,402|3,610,208|3,440,917|3,357,006
              Net income attributable to common shareholders|1,263,310|709,110|621,004|567,822|426,500
              Total assets|26,075,400|24,766,102|22,682,300|21,223,000|19,482,000
              Long-term debt|10,341,000|9,329,200|8,644,000|7,569,000|6,490,000"""),
        *notes(4, 1),
        statement("Belford Water Holdings, Inc. and Subsidiary Companies|Consolidated Statements of Operations|"
                  "(In thousands, except per share data)", "For the Years Ended December 31,", "2021|2020|2019",
                  """Operating revenues|3,930,114|3,777,402|3,610,208
                  Operating expenses:
                  Operation and maintenance|1,777,201|1,622,300|1,544,080
                  Depreciation and amortization|636,004|604,125|582,010
                  Total operating expenses, net|2,734,300|2,529,800|2,398,117
                  Operating income|1,195,814|1,247,602|1,212,091
                  Income before income taxes|1,640,150|924,310|833,220
                  Provision for income taxes|376,840|215,200|212,216
                  Net income attributable to common shareholders|1,263,310|709,110|621,004"""),
        statement("Consolidated Balance Sheets|(In thousands)", "", "December 31,/2021|December 31,/2020",
                  """Property, plant and equipment, net|21,176,200|19,710,300
                  Cash and cash equivalents|116,004|547,110
                  Total current assets|1,554,900|1,906,080
                  Total assets|26,075,400|24,766,102
                  Long-term debt|10,341,000|9,329,200
                  Current portion of long-term debt|57,100|329,400
                  Total liabilities|18,777,300|18,312,044"""),
        statement("Consolidated Statements of Cash Flows|(In thousands)", "For the Years Ended December 31,",
                  "2021|2020|2019",
                  """CASH FLOWS FROM INVESTING ACTIVITIES
                  Capital expenditures|(1,764,200)|(1,822,040)|(1,654,118)
                  Acquisitions, net of cash acquired|(135,000)|(135,200)|(235,040)
                  Net cash used in investing activities|(1,036,002)|(2,060,300)|(1,944,117)"""),
        *notes(10, 2),
        "## 21. Segment information",
        table("For the year ended December 31, 2021 (in thousands)", "", "Regulated/Businesses|Other|Consolidated",
              """Operating revenues|3,384,000|546,114|3,930,114
              Net income attributable to common shareholders|789,100|474,210|1,263,310
              Total assets|23,365,000|2,710,400|26,075,400
              Capital expenditures|1,747,020|17,180|1,764,200"""),
        "## Schedule I. Condensed financial information of the parent",
        table("Belford Water Holdings, Inc. (Parent Company Only)|Condensed Statements of Operations|(In thousands)",
              "", "2021|2020", """Operating revenues|0|0
              Net income attributable to common shareholders|1,263,310|709,110
              Total assets|9,120,400|8,004,100"""),
    )  # fmt: skip
    return Truth("belford.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 31, 2021",), "Revenue": ("3,930,114",), "Net income": ("1,263,310",),
        "Capital expenditure": ("1,764,200",), "Total assets": ("26,075,400",), "Long-term debt": ("10,341,000",),
        "Employees": ("6,400",),
    })  # fmt: skip


def glass() -> Truth:
    """Net sales in millions; net income before and after that of others; segments with net income of their own."""
    pdf = filed(
        "# Tarn Glass Incorporated. Form 10-K for the fiscal year ended December 31, 2022",
        "Tarn makes cover glass, optical fiber and laboratory vessels. It is organized in three segments.",
        "At December 31, 2022, Tarn had approximately 57,500 full-time employees. 7,200 worked in research.",
        *notes(5, 3),
        table("Optical segment (in millions)", "Year ended December 31,", "2022|2021|% change",
              """Segment net sales|5,023|4,349|15%
              Segment net income|661|553|20%"""),
        table("Segment results (in millions)", "", "Optical|Display|Life Sciences|Total",
              """Net sales|5,023|3,306|5,860|14,189
              Net income|661|769|390|1,820
              Capital expenditures|702|480|318|1,500"""),
        statement("Consolidated Statements of Income|Tarn Glass Incorporated and Subsidiary Companies",
                  "Year ended December 31,", "2022|2021|2020",
                  """(in millions, except per share amounts)
                  Net sales|14,189|14,082|11,303
                  Cost of sales|9,683|9,019|7,772
                  Gross margin|4,506|5,063|3,531
                  Operating income|1,438|2,112|509
                  Income before income taxes|1,797|2,426|623
                  Provision for income taxes|(411)|(491)|(111)
                  Net income|1,386|1,935|512
                  Net income attributable to non-controlling interest|(70)|(29)|
                  Net income attributable to Tarn Glass Incorporated|1,316|1,906|512"""),
        statement("Consolidated Balance Sheets|Tarn Glass Incorporated and Subsidiary Companies", "December 31,",
                  "2022|2021",
                  """(in millions, except per share amounts)
                  Cash and cash equivalents|1,671|2,148
                  Inventories|2,904|2,481
                  Total current assets|7,453|7,659
                  Property, plant and equipment, net|15,371|15,804
                  Total Assets|29,499|30,154
                  Current portion of long-term debt|224|55
                  Long-term debt|6,687|6,989
                  Total liabilities|17,223|17,706"""),
        statement("Consolidated Statements of Cash Flows|Tarn Glass Incorporated and Subsidiary Companies",
                  "Year ended December 31,", "2022|2021|2020",
                  """(in millions)
                  Cash Flows from Operating Activities:
                  Net income|1,386|1,935|512
                  Depreciation|1,329|1,352|1,399
                  Cash Flows from Investing Activities:
                  Capital expenditures|(1,604)|(1,637)|(1,377)
                  Net cash used in investing activities|(1,355)|(1,419)|(1,310)"""),
        *notes(10, 4),
        table("Quarterly results (unaudited, in millions)", "2022", "First/Quarter|Second/Quarter|Third/Quarter",
              """Net sales|3,680|3,615|3,488
              Net income|599|587|227"""),
    )  # fmt: skip
    return Truth("tarn.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 31, 2022",), "Revenue": ("14,189",), "Net income": ("1,386", "1,316"),
        "Capital expenditure": ("1,604",), "Total assets": ("29,499",), "Long-term debt": ("6,687",),
        "Employees": ("57,500",),
    })  # fmt: skip


def mills() -> Truth:
    """Statements of earnings, 52 or 53 weeks, net earnings in three rows."""
    pdf = filed(
        "# Graylock Mills, Inc. Annual report on Form 10-K. For the fiscal year ended May 31, 2020",
        "Graylock sells cereal, yogurt and pet food. Its customers are grocery chains.",
        "As of May 31, 2020, we had approximately 35,000 full- and part-time employees.",
        *notes(5, 5),
        table("Results of the Pet segment (dollars in millions)", "Fiscal year", "2020|2019",
              """Net sales|1,694.6|1,430.9
              Net earnings|390.7|268.4"""),
        statement("Consolidated Statements of Earnings|GRAYLOCK MILLS, INC. AND SUBSIDIARIES|"
                  "(In Millions, Except per Share Data)", "Fiscal Year", "2020|2019|2018",
                  """Net sales|17,626.6|16,865.2|15,740.4
                  Cost of sales|11,496.7|11,108.4|10,304.8
                  Operating profit|2,953.9|2,515.9|2,419.9
                  Interest, net|466.5|521.8|373.7
                  Income taxes|480.5|367.8|57.3
                  Net earnings, including earnings attributable to noncontrolling interests|2,210.8|1,786.2|2,163.0
                  Net earnings attributable to noncontrolling interests|29.6|33.5|32.0
                  Net earnings attributable to Graylock Mills|2,181.2|1,752.7|2,131.0"""),
        statement("Consolidated Balance Sheets|GRAYLOCK MILLS, INC. AND SUBSIDIARIES|(In Millions)", "",
                  "May 31, 2020|May 26, 2019",
                  """Cash and cash equivalents|1,677.8|450.0
                  Total current assets|5,121.3|4,186.5
                  Goodwill|13,923.2|13,995.8
                  Total assets|30,806.7|30,111.2
                  Notes payable|279.0|1,468.7
                  Current portion of long-term debt|2,331.5|1,396.5
                  Long-term debt|10,929.0|11,624.8
                  Total liabilities|22,191.8|22,191.3"""),
        statement("Consolidated Statements of Cash Flows|GRAYLOCK MILLS, INC. AND SUBSIDIARIES|(In Millions)",
                  "Fiscal Year", "2020|2019|2018",
                  """Cash Flows - Investing Activities
                  Purchases of land, buildings, and equipment|(460.8)|(537.6)|(622.7)
                  Proceeds from disposal of land, buildings, and equipment|1.7|14.3|1.4
                  Net cash used by investing activities|(486.2)|(556.5)|(8,685.4)"""),
        *notes(10, 6),
    )  # fmt: skip
    return Truth("graylock.pdf", pdf, FIELDS, {
        "Fiscal year": ("May 31, 2020",), "Revenue": ("17,626.6",), "Net income": ("2,210.8", "2,181.2"),
        "Capital expenditure": ("460.8",), "Total assets": ("30,806.7",), "Long-term debt": ("10,929.0",),
        "Employees": ("35,000",),
    })  # fmt: skip


def chips() -> Truth:
    """A net loss in brackets, net revenue, five years, quarters, segments."""
    pdf = filed(
        "# Andel Micro Devices, Inc. Form 10-K for the fiscal year ended December 26, 2015",
        "Andel designs processors and graphics chips. As of December 26, 2015, we had 9,139 employees.",
        "## ITEM 6. SELECTED FINANCIAL DATA",
        table("Five Years Ended December 26, 2015|(In millions except per share amounts)", "",
              "2015|2014|2013|2012|2011",
              """Net revenue|3,991|5,506|5,299|5,422|6,568
              Net income (loss)|(660)|(403)|(83)|(1,183)|491
              Total assets|3,109|3,767|4,337|4,000|4,954
              Long-term debt and capital lease obligations|2,032|2,035|1,998|2,037|1,527"""),
        *notes(5, 7),
        statement("Andel Micro Devices, Inc.|Consolidated Statements of Operations|Three Years Ended December 26, 2015|"
                  "(In millions, except per share amounts)", "", "2015|2014|2013",
                  """Net revenue|3,991|5,506|5,299
                  Cost of sales|2,911|3,667|3,321
                  Gross margin|1,080|1,839|1,978
                  Research and development|947|1,072|1,201
                  Operating income (loss)|(481)|(155)|103
                  Loss before income taxes|(646)|(398)|(74)
                  Provision for income taxes|14|5|9
                  Net loss|(660)|(403)|(83)"""),
        statement("Andel Micro Devices, Inc.|Consolidated Balance Sheets|(In millions, except par value amounts)", "",
                  "December 26,/2015|December 27,/2014",
                  """Cash and cash equivalents|785|805
                  Inventories, net|678|685
                  Total current assets|2,320|2,736
                  Total assets|3,109|3,767
                  Short-term debt|230|177
                  Long-term debt|2,032|2,035
                  Total stockholders' equity (deficit)|(412)|187"""),
        statement("Andel Micro Devices, Inc.|Consolidated Statements of Cash Flows|Three Years Ended December 26, 2015|"
                  "(In millions)", "", "2015|2014|2013",
                  """Cash flows from operating activities:
                  Net loss|(660)|(403)|(83)
                  Cash flows from investing activities:
                  Purchases of available-for-sale securities|(227)|(790)|(1,043)
                  Purchases of property, plant and equipment|(96)|(95)|(84)
                  Net cash provided by (used in) investing activities|147|(12)|452"""),
        *notes(9, 8),
        table("Segments (in millions)", "", "2015|2014|2013",
              """Computing and Graphics:
              Net revenue|1,805|3,132|3,720
              Operating income (loss)|(502)|(76)|(22)
              Enterprise:
              Net revenue|2,186|2,374|1,577
              Operating income|215|399|295
              Total net revenue|3,991|5,506|5,299"""),
        table("Quarterly financial information (unaudited, in millions)", "2015",
              "Dec. 26|Sep. 26|Jun. 27|Mar. 28",
              """Net revenue|958|1,061|942|1,030
              Net loss|(102)|(197)|(181)|(180)"""),
    )  # fmt: skip
    return Truth("andel.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 26, 2015",), "Revenue": ("3,991",), "Net income": ("(660)",),
        "Capital expenditure": ("(96)",), "Total assets": ("3,109",), "Long-term debt": ("2,032",),
        "Employees": ("9,139",),
    })  # fmt: skip


def bank_quarter() -> Truth:
    """A report of a quarter holds no value of a fiscal year but those of the last balance sheet."""
    pdf = filed(
        "# Corder Bancorp. Form 10-Q. Quarterly report for the quarterly period ended June 30, 2023",
        "Corder is a financial holding company. The results of interim periods say little on the full year.",
        "Net income was $14.5 billion, up 67%. Net revenue was $42.4 billion.",
        table("Consolidated financial highlights (in millions)", "", "2Q23|1Q23|4Q22|3Q22",
              """Total net revenue|41,307|38,349|34,547|32,716
              Net income|14,472|12,622|11,008|9,737
              Total assets|3,868,240|3,744,305|3,665,743|3,773,884
              Long-term debt|364,078|295,489|295,865|287,473
              Headcount|300,066|296,877|293,723|288,474"""),
        *notes(5, 9),
        statement("Corder Bancorp|Consolidated statements of income (unaudited)|(in millions)", "",
                  "Three months ended/June 30, 2023|Three months ended/June 30, 2022|"
                  "Six months ended/June 30, 2023|Six months ended/June 30, 2022",
                  """Total net revenue|41,307|30,715|79,656|61,432
                  Provision for credit losses|2,899|1,101|5,174|2,564
                  Net income|14,472|8,649|27,094|16,931
                  Net income applicable to common stockholders|14,011|8,191|26,197|16,044"""),
        statement("Corder Bancorp|Consolidated balance sheets (unaudited)|(in millions)", "",
                  "June 30, 2023|December 31, 2022",
                  """Cash and due from banks|26,064|27,697
                  Total assets|3,868,240|3,665,743
                  Deposits|2,398,962|2,340,179
                  Long-term debt|364,078|295,865
                  Total liabilities|3,555,724|3,373,411"""),
        *notes(8, 10),
    )  # fmt: skip
    return Truth("corder.pdf", pdf, FIELDS, {
        "Revenue": None, "Net income": None, "Capital expenditure": None,
        "Total assets": ("3,665,743",), "Long-term debt": ("295,865",),
    })  # fmt: skip


def retail() -> Truth:
    """An earnings release: 14 and 53 weeks, each with a share of sales, in thousands."""
    pdf = filed(
        "# Ulmer Beauty announces fourth quarter fiscal 2023 results",
        "For the fiscal year ended February 3, 2024, net sales rose 9.8% to $11.2 billion from $10.2 billion in fiscal "
        "2022. For the fourth quarter net sales rose to $3.6 billion. Net income of the quarter was $394 million.",
        "The company had 1,385 stores at the end of the year.",
        statement("Ulmer Beauty, Inc.|Consolidated Statements of Income|(In thousands, except per share data)", "",
                  "14 Weeks Ended/February 3, 2024|% of sales|13 Weeks Ended/January 28, 2023|% of sales ",
                  """Net sales|3,554,283|100.0%|3,226,799|100.0%
                  Cost of sales|2,213,500|62.3%|2,014,120|62.4%
                  Gross profit|1,340,783|37.7%|1,212,679|37.6%
                  Net income|394,376|11.1%|340,752|10.6%"""),
        statement("Ulmer Beauty, Inc.|Consolidated Statements of Income|(In thousands, except per share data)", "",
                  "53 Weeks Ended/February 3, 2024|% of sales|52 Weeks Ended/January 28, 2023|% of sales ",
                  """Net sales|11,207,303|100.0%|10,208,580|100.0%
                  Cost of sales|6,826,203|60.9%|6,164,070|60.4%
                  Gross profit|4,381,100|39.1%|4,044,510|39.6%
                  Net income|1,291,005|11.5%|1,242,408|12.2%"""),
        statement("Ulmer Beauty, Inc.|Condensed Consolidated Balance Sheets|(In thousands)", "",
                  "February 3,/2024|January 28,/2023",
                  """Cash and cash equivalents|766,594|737,877
                  Total current assets|2,915,010|2,715,206
                  Total assets|5,707,011|5,370,411
                  Total current liabilities|1,724,102|1,711,030"""),
        statement("Ulmer Beauty, Inc.|Condensed Consolidated Statements of Cash Flows|(In thousands)", "",
                  "53 Weeks Ended/February 3, 2024|52 Weeks Ended/January 28, 2023",
                  """Net income|1,291,005|1,242,408
                  Net cash provided by operating activities|1,476,266|1,481,915
                  Capital expenditures|(435,267)|(312,126)
                  Net cash used in investing activities|(441,610)|(315,083)"""),
    )  # fmt: skip
    return Truth("ulmer.pdf", pdf, FIELDS, {
        "Fiscal year": ("February 3, 2024",), "Revenue": ("11,207,303", "$11.2 billion"), "Net income": ("1,291,005",),
        "Capital expenditure": ("(435,267)",), "Total assets": ("5,707,011",), "Long-term debt": None,
        "Employees": None,
    })  # fmt: skip


def filings() -> list[Truth]:
    """The documents that rules are set by."""
    return [utility(), glass(), mills(), chips(), bank_quarter(), retail()]
