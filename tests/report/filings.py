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
        "The company has approximately 6,868 employees. As of December 31, 2021, 3,112 employees belong to unions.",
        "## Selected financial data",
        table("Five-year summary (in thousands)", "For the years ended December 31,", "2021|2020|2019|2018|2017",
              """Operating revenues|4,217,405|4,053,530|3,874,114|3,692,448|3,602,403
              Net income attributable to common shareholders|1,355,658|760,946|666,399|609,330|457,677
              Total assets|27,981,512|26,576,504|24,340,376|22,774,401|20,906,134
              Long-term debt|11,096,927|10,011,165|9,275,876|8,122,294|6,964,419"""),
        *notes(4, 1),
        statement("Belford Water Holdings, Inc. and Subsidiary Companies|Consolidated Statements of Operations|"
                  "(In thousands, except per share data)", "For the Years Ended December 31,", "2021|2020|2019",
                  """Operating revenues|4,217,405|4,053,530|3,874,114
                  Operating expenses:
                  Operation and maintenance|1,907,114|1,740,890|1,656,952
                  Depreciation and amortization|682,496|648,287|624,555
                  Total operating expenses, net|2,934,177|2,714,728|2,573,419
                  Operating income|1,283,228|1,338,802|1,300,695
                  Income before income taxes|1,760,045|991,877|894,128
                  Provision for income taxes|404,387|230,931|227,729
                  Net income attributable to common shareholders|1,355,658|760,946|666,399"""),
        statement("Consolidated Balance Sheets|(In thousands)", "", "December 31,/2021|December 31,/2020",
                  """Property, plant and equipment, net|22,724,180|21,151,123
                  Cash and cash equivalents|124,484|587,104
                  Total current assets|1,668,563|2,045,414
                  Total assets|27,981,512|26,576,504
                  Long-term debt|11,096,927|10,011,165
                  Current portion of long-term debt|61,274|353,479
                  Total liabilities|20,149,921|19,650,654"""),
        statement("Consolidated Statements of Cash Flows|(In thousands)", "For the Years Ended December 31,",
                  "2021|2020|2019",
                  """CASH FLOWS FROM INVESTING ACTIVITIES
                  Capital expenditures|(1,893,163)|(1,955,231)|(1,775,034)
                  Acquisitions, net of cash acquired|(144,868)|(145,083)|(252,221)
                  Net cash used in investing activities|(1,111,734)|(2,210,908)|(2,086,232)"""),
        *notes(10, 2),
        "## 21. Segment information",
        table("For the year ended December 31, 2021 (in thousands)", "", "Regulated/Businesses|Other|Consolidated",
              """Operating revenues|3,631,370|586,035|4,217,405
              Net income attributable to common shareholders|846,783|508,875|1,355,658
              Total assets|25,072,982|2,908,530|27,981,512
              Capital expenditures|1,874,727|18,436|1,893,163"""),
        "## Schedule I. Condensed financial information of the parent",
        table("Belford Water Holdings, Inc. (Parent Company Only)|Condensed Statements of Operations|(In thousands)",
              "", "2021|2020", """Operating revenues|0|0
              Net income attributable to common shareholders|1,355,658|760,946
              Total assets|9,787,101|8,589,200"""),
    )  # fmt: skip
    return Truth("belford.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 31, 2021",), "Revenue": ("4,217,405",), "Net income": ("1,355,658",),
        "Capital expenditure": ("1,893,163",), "Total assets": ("27,981,512",), "Long-term debt": ("11,096,927",),
        "Employees": ("6,868",),
    })  # fmt: skip


def glass() -> Truth:
    """Net sales in millions; net income before and after that of others; segments with net income of their own."""
    pdf = filed(
        "# Tarn Glass Incorporated. Form 10-K for the fiscal year ended December 31, 2022",
        "Tarn makes cover glass, optical fiber and laboratory vessels. It is organized in three segments.",
        "At December 31, 2022, Tarn had approximately 61,703 full-time employees. 7,726 worked in research.",
        *notes(5, 3),
        table("Optical segment (in millions)", "Year ended December 31,", "2022|2021|% change",
              """Segment net sales|5,390|4,667|15%
              Segment net income|661|553|20%"""),
        table("Segment results (in millions)", "", "Optical|Display|Life Sciences|Total",
              """Net sales|5,390|3,548|6,288|15,226
              Net income|661|769|390|1,953
              Capital expenditures|702|480|318|1,610"""),
        statement("Consolidated Statements of Income|Tarn Glass Incorporated and Subsidiary Companies",
                  "Year ended December 31,", "2022|2021|2020",
                  """(in millions, except per share amounts)
                  Net sales|15,226|15,111|12,129
                  Cost of sales|10,391|9,678|8,340
                  Gross margin|4,835|5,433|3,789
                  Operating income|1,543|2,266|509
                  Income before income taxes|1,928|2,603|623
                  Provision for income taxes|(411)|(491)|(111)
                  Net income|1,487|2,076|512
                  Net income attributable to non-controlling interest|(70)|(29)|
                  Net income attributable to Tarn Glass Incorporated|1,412|2,045|512"""),
        statement("Consolidated Balance Sheets|Tarn Glass Incorporated and Subsidiary Companies", "December 31,",
                  "2022|2021",
                  """(in millions, except per share amounts)
                  Cash and cash equivalents|1,793|2,305
                  Inventories|3,116|2,662
                  Total current assets|7,998|8,219
                  Property, plant and equipment, net|16,495|16,959
                  Total Assets|31,655|32,358
                  Current portion of long-term debt|224|55
                  Long-term debt|7,176|7,500
                  Total liabilities|18,482|19,000"""),
        statement("Consolidated Statements of Cash Flows|Tarn Glass Incorporated and Subsidiary Companies",
                  "Year ended December 31,", "2022|2021|2020",
                  """(in millions)
                  Cash Flows from Operating Activities:
                  Net income|1,487|2,076|512
                  Depreciation|1,426|1,451|1,501
                  Cash Flows from Investing Activities:
                  Capital expenditures|(1,721)|(1,757)|(1,478)
                  Net cash used in investing activities|(1,454)|(1,523)|(1,406)"""),
        *notes(10, 4),
        table("Quarterly results (unaudited, in millions)", "2022", "First/Quarter|Second/Quarter|Third/Quarter",
              """Net sales|3,949|3,879|3,743
              Net income|599|587|227"""),
    )  # fmt: skip
    return Truth("tarn.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 31, 2022",), "Revenue": ("15,226",), "Net income": ("1,487", "1,412"),
        "Capital expenditure": ("1,721",), "Total assets": ("31,655",), "Long-term debt": ("7,176",),
        "Employees": ("61,703",),
    })  # fmt: skip


def mills() -> Truth:
    """Statements of earnings, 52 or 53 weeks, net earnings in three rows."""
    pdf = filed(
        "# Graylock Mills, Inc. Annual report on Form 10-K. For the fiscal year ended May 31, 2020",
        "Graylock sells cereal, yogurt and pet food. Its customers are grocery chains.",
        "As of May 31, 2020, we had approximately 37,558 full- and part-time employees.",
        *notes(5, 5),
        table("Results of the Pet segment (dollars in millions)", "Fiscal year", "2020|2019",
              """Net sales|1,818.5|1,535.5
              Net earnings|419.3|288.0"""),
        statement("Consolidated Statements of Earnings|GRAYLOCK MILLS, INC. AND SUBSIDIARIES|"
                  "(In Millions, Except per Share Data)", "Fiscal Year", "2020|2019|2018",
                  """Net sales|18,915.1|18,098.0|16,891.0
                  Cost of sales|12,337.1|11,920.4|11,058.1
                  Operating profit|3,169.8|2,699.8|2,596.8
                  Interest, net|500.6|559.9|401.0
                  Income taxes|515.6|394.7|57.3
                  Net earnings, including earnings attributable to noncontrolling interests|2,372.4|1,916.8|2,321.1
                  Net earnings attributable to noncontrolling interests|29.6|33.5|32.0
                  Net earnings attributable to Graylock Mills|2,340.6|1,880.8|2,286.8"""),
        statement("Consolidated Balance Sheets|GRAYLOCK MILLS, INC. AND SUBSIDIARIES|(In Millions)", "",
                  "May 31, 2020|May 26, 2019",
                  """Cash and cash equivalents|1,800.4|482.9
                  Total current assets|5,495.7|4,492.5
                  Goodwill|14,941.0|15,018.9
                  Total assets|33,058.7|32,312.3
                  Notes payable|299.4|1,576.1
                  Current portion of long-term debt|2,501.9|1,498.6
                  Long-term debt|11,727.9|12,474.6
                  Total liabilities|23,814.0|23,813.5"""),
        statement("Consolidated Statements of Cash Flows|GRAYLOCK MILLS, INC. AND SUBSIDIARIES|(In Millions)",
                  "Fiscal Year", "2020|2019|2018",
                  """Cash Flows - Investing Activities
                  Purchases of land, buildings, and equipment|(494.5)|(576.9)|(668.2)
                  Proceeds from disposal of land, buildings, and equipment|1.7|14.3|1.4
                  Net cash used by investing activities|(521.7)|(597.2)|(9,320.3)"""),
        *notes(10, 6),
    )  # fmt: skip
    return Truth("graylock.pdf", pdf, FIELDS, {
        "Fiscal year": ("May 31, 2020",), "Revenue": ("18,915.1",), "Net income": ("2,372.4", "2,340.6"),
        "Capital expenditure": ("494.5",), "Total assets": ("33,058.7",), "Long-term debt": ("11,727.9",),
        "Employees": ("37,558",),
    })  # fmt: skip


def chips() -> Truth:
    """A net loss in brackets, net revenue, five years, quarters, segments."""
    pdf = filed(
        "# Andel Micro Devices, Inc. Form 10-K for the fiscal year ended December 26, 2015",
        "Andel designs processors and graphics chips. As of December 26, 2015, we had 9,807 employees.",
        "## ITEM 6. SELECTED FINANCIAL DATA",
        table("Five Years Ended December 26, 2015|(In millions except per share amounts)", "",
              "2015|2014|2013|2012|2011",
              """Net revenue|4,283|5,908|5,686|5,818|7,048
              Net income (loss)|(660)|(403)|(83)|(1,269)|491
              Total assets|3,336|4,042|4,654|4,292|5,316
              Long-term debt and capital lease obligations|2,181|2,184|2,144|2,186|1,639"""),
        *notes(5, 7),
        statement("Andel Micro Devices, Inc.|Consolidated Statements of Operations|Three Years Ended December 26, 2015|"
                  "(In millions, except per share amounts)", "", "2015|2014|2013",
                  """Net revenue|4,283|5,908|5,686
                  Cost of sales|3,124|3,935|3,564
                  Gross margin|1,159|1,973|2,123
                  Research and development|947|1,150|1,289
                  Operating income (loss)|(481)|(155)|103
                  Loss before income taxes|(646)|(398)|(74)
                  Provision for income taxes|14|5|9
                  Net loss|(660)|(403)|(83)"""),
        statement("Andel Micro Devices, Inc.|Consolidated Balance Sheets|(In millions, except par value amounts)", "",
                  "December 26,/2015|December 27,/2014",
                  """Cash and cash equivalents|785|805
                  Inventories, net|678|685
                  Total current assets|2,490|2,936
                  Total assets|3,336|4,042
                  Short-term debt|230|177
                  Long-term debt|2,181|2,184
                  Total stockholders' equity (deficit)|(412)|187"""),
        statement("Andel Micro Devices, Inc.|Consolidated Statements of Cash Flows|Three Years Ended December 26, 2015|"
                  "(In millions)", "", "2015|2014|2013",
                  """Cash flows from operating activities:
                  Net loss|(660)|(403)|(83)
                  Cash flows from investing activities:
                  Purchases of available-for-sale securities|(227)|(790)|(1,119)
                  Purchases of property, plant and equipment|(96)|(95)|(84)
                  Net cash provided by (used in) investing activities|147|(12)|452"""),
        *notes(9, 8),
        table("Segments (in millions)", "", "2015|2014|2013",
              """Computing and Graphics:
              Net revenue|1,937|3,361|3,992
              Operating income (loss)|(502)|(76)|(22)
              Enterprise:
              Net revenue|2,346|2,548|1,692
              Operating income|215|399|295
              Total net revenue|4,283|5,908|5,686"""),
        table("Quarterly financial information (unaudited, in millions)", "2015",
              "Dec. 26|Sep. 26|Jun. 27|Mar. 28",
              """Net revenue|958|1,139|942|1,105
              Net loss|(102)|(197)|(181)|(180)"""),
    )  # fmt: skip
    return Truth("andel.pdf", pdf, FIELDS, {
        "Fiscal year": ("December 26, 2015",), "Revenue": ("4,283",), "Net income": ("(660)",),
        "Capital expenditure": ("(96)",), "Total assets": ("3,336",), "Long-term debt": ("2,181",),
        "Employees": ("9,807",),
    })  # fmt: skip


def bank_quarter() -> Truth:
    """A report of a quarter holds no value of a fiscal year but those of the last balance sheet."""
    pdf = filed(
        "# Corder Bancorp. Form 10-Q. Quarterly report for the quarterly period ended June 30, 2023",
        "Corder is a financial holding company. The results of interim periods say little on the full year.",
        "Net income was $15.6 billion, up 67%. Net revenue was $45.5 billion.",
        table("Consolidated financial highlights (in millions)", "", "2Q23|1Q23|4Q22|3Q22",
              """Total net revenue|44,327|41,152|37,072|35,108
              Net income|15,530|13,545|11,813|10,449
              Total assets|4,151,008|4,018,014|3,933,709|4,049,755
              Long-term debt|390,692|317,089|317,493|308,487
              Headcount|322,001|318,579|315,194|309,561"""),
        *notes(5, 9),
        statement("Corder Bancorp|Consolidated statements of income (unaudited)|(in millions)", "",
                  "Three months ended/June 30, 2023|Three months ended/June 30, 2022|"
                  "Six months ended/June 30, 2023|Six months ended/June 30, 2022",
                  """Total net revenue|44,327|32,960|85,479|65,923
                  Provision for credit losses|3,111|1,181|5,552|2,751
                  Net income|15,530|9,281|29,075|18,169
                  Net income applicable to common stockholders|15,035|8,790|28,112|17,217"""),
        statement("Corder Bancorp|Consolidated balance sheets (unaudited)|(in millions)", "",
                  "June 30, 2023|December 31, 2022",
                  """Cash and due from banks|27,969|29,722
                  Total assets|4,151,008|3,933,709
                  Deposits|2,574,326|2,511,246
                  Long-term debt|390,692|317,493
                  Total liabilities|3,815,647|3,620,007"""),
        *notes(8, 10),
    )  # fmt: skip
    return Truth("corder.pdf", pdf, FIELDS, {
        "Revenue": None, "Net income": None, "Capital expenditure": None,
        "Total assets": ("3,933,709",), "Long-term debt": ("317,493",),
    })  # fmt: skip


def retail() -> Truth:
    """An earnings release: 14 and 53 weeks, each with a share of sales, in thousands."""
    pdf = filed(
        "# Ulmer Beauty announces fourth quarter fiscal 2023 results",
        "For the fiscal year ended February 3, 2024, net sales rose 9.8% to $12.0 billion from $10.9 billion in fiscal "
        "2022. For the fourth quarter net sales rose to $3.9 billion. Net income of the quarter was $394 million.",
        "The company had 1,486 stores at the end of the year.",
        statement("Ulmer Beauty, Inc.|Consolidated Statements of Income|(In thousands, except per share data)", "",
                  "14 Weeks Ended/February 3, 2024|% of sales|13 Weeks Ended/January 28, 2023|% of sales ",
                  """Net sales|3,814,101|100.0%|3,462,678|100.0%
                  Cost of sales|2,375,307|62.3%|2,161,352|62.4%
                  Gross profit|1,438,794|37.7%|1,301,326|37.6%
                  Net income|423,205|11.1%|365,661|10.6%"""),
        statement("Ulmer Beauty, Inc.|Consolidated Statements of Income|(In thousands, except per share data)", "",
                  "53 Weeks Ended/February 3, 2024|% of sales|52 Weeks Ended/January 28, 2023|% of sales ",
                  """Net sales|12,026,557|100.0%|10,954,827|100.0%
                  Cost of sales|7,325,198|60.9%|6,614,664|60.4%
                  Gross profit|4,701,358|39.1%|4,340,164|39.6%
                  Net income|1,385,377|11.5%|1,333,228|12.2%"""),
        statement("Ulmer Beauty, Inc.|Condensed Consolidated Balance Sheets|(In thousands)", "",
                  "February 3,/2024|January 28,/2023",
                  """Cash and cash equivalents|822,632|791,816
                  Total current assets|3,128,097|2,913,688
                  Total assets|6,124,194|5,762,988
                  Total current liabilities|1,850,134|1,836,106"""),
        statement("Ulmer Beauty, Inc.|Condensed Consolidated Statements of Cash Flows|(In thousands)", "",
                  "53 Weeks Ended/February 3, 2024|52 Weeks Ended/January 28, 2023",
                  """Net income|1,385,377|1,333,228
                  Net cash provided by operating activities|1,584,181|1,590,243
                  Capital expenditures|(467,085)|(334,942)
                  Net cash used in investing activities|(473,892)|(338,116)"""),
    )  # fmt: skip
    return Truth("ulmer.pdf", pdf, FIELDS, {
        "Fiscal year": ("February 3, 2024",), "Revenue": ("12,026,557", "$12.0 billion"), "Net income": ("1,385,377",),
        "Capital expenditure": ("(467,085)",), "Total assets": ("6,124,194",), "Long-term debt": None,
        "Employees": None,
    })  # fmt: skip


def filings() -> list[Truth]:
    """The documents that rules are set by."""
    return [utility(), glass(), mills(), chips(), bank_quarter(), retail()]
