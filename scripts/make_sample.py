"""Draws ui/sample/sample.pdf, the document that a first visitor can try: `python scripts/make_sample.py`.

The company is invented, and so is every figure; they agree with one another (rows add up, changes are computed).
The cover is page i and the report starts at page 1, so that page labels and page numbers differ, as in real reports.
"""

from __future__ import annotations

from pathlib import Path

import pymupdf

TARGET = Path(__file__).resolve().parent.parent / "ui" / "sample" / "sample.pdf"
WIDTH, HEIGHT, MARGIN = 612.0, 792.0, 64.0
INK, GREY, TEAL, RULE = (0.1, 0.11, 0.11), (0.4, 0.42, 0.4), (0.05, 0.35, 0.4), (0.72, 0.74, 0.72)
BODY, BOLD, SANS, HEAVY = "tiro", "tibo", "helv", "hebo"


class Sheet:
    """One page and how far down it is filled."""

    def __init__(self, pdf: pymupdf.Document, label: str) -> None:
        self.page = pdf.new_page(width=WIDTH, height=HEIGHT)
        self.y = 76.0
        if label:
            self.put(MARGIN, 44, "Larkfield Instruments plc", SANS, 8, GREY)
            self.right(WIDTH - MARGIN, 44, "Annual report 2025", SANS, 8, GREY)
            self.page.draw_line((MARGIN, 50), (WIDTH - MARGIN, 50), color=RULE, width=0.5)
            self.right(WIDTH - MARGIN, HEIGHT - 36, label, SANS, 8, GREY)

    def put(self, x: float, y: float, text: str, font: str, size: float, color: tuple[float, ...] = INK) -> None:
        self.page.insert_text((x, y), text, fontname=font, fontsize=size, color=color)

    def right(self, x: float, y: float, text: str, font: str, size: float, color: tuple[float, ...] = INK) -> None:
        self.put(x - pymupdf.get_text_length(text, font, size), y, text, font, size, color)

    def heading(self, text: str, size: float = 15.0) -> None:
        self.y += 10
        self.put(MARGIN, self.y, text, HEAVY, size, TEAL if size > 12 else INK)
        self.y += 12

    def text(self, text: str, x0: float = MARGIN, x1: float = WIDTH - MARGIN, size: float = 10.5) -> None:
        """A paragraph between ``x0`` and ``x1``."""
        box = pymupdf.Rect(x0, self.y, x1, HEIGHT - 60)
        left = self.page.insert_textbox(box, text, fontname=BODY, fontsize=size, lineheight=1.32, color=INK)
        if left < 0:
            raise ValueError(f"does not fit on its page: {text[:40]}")
        self.y = box.y1 - left + 7

    def bullets(self, items: list[str]) -> None:
        for item in items:
            # A drawn dot: a character would be read as a word of the item.
            self.page.draw_circle((MARGIN + 9, self.y + 9), 1.6, color=None, fill=INK)
            self.text(item, x0=MARGIN + 20)

    def table(self, title: str, unit: str, header: list[str], rows: list[list[str]], edges: list[float]) -> None:
        """``edges`` are the right edges of the number columns; a row whose label starts with ``=`` is a total."""
        self.y += 4
        self.put(MARGIN, self.y + 8, title, HEAVY, 9.5)
        self.put(MARGIN, self.y + 21, unit, "heit", 8.5, GREY)
        for edge, words in zip(edges, header):
            self.right(edge, self.y + 21, words, HEAVY, 8.5)
        self.y += 27
        self.page.draw_line((MARGIN, self.y), (WIDTH - MARGIN, self.y), color=TEAL, width=1)
        for label, *values in rows:
            total = label.startswith("=")
            font = HEAVY if total else SANS
            self.y += 15
            self.put(MARGIN, self.y, label.lstrip("="), font, 9)
            for edge, value in zip(edges, values):
                self.right(edge, self.y, value, font, 9)
            line = self.y + 5
            self.page.draw_line((MARGIN, line), (WIDTH - MARGIN, line), color=INK if total else RULE, width=0.5)
        self.y += 20


def change(now: int, before: int) -> str:
    share = (now - before) / before * 100
    return f"{share:.1f}%" if share >= 0 else f"({-share:.1f})%"


def money(value: int) -> str:
    return f"{value:,}" if value >= 0 else f"({-value:,})"


def compared(rows: list[tuple[str, int, int]], total: str) -> list[list[str]]:
    """Rows with their change, and their sum."""
    summed = (total, sum(r[1] for r in rows), sum(r[2] for r in rows))
    return [[name, money(a), money(b), change(a, b)] for name, a, b in [*rows, summed]]


REVENUE = [
    ("Field Sensors", 71_340, 61_905),
    ("Laboratory Balances", 48_215, 46_880),
    ("Service and Calibration", 29_055, 23_425),
]
INCOME = [
    ("Field Sensors", 14_268, 11_143),
    ("Laboratory Balances", 6_027, 7_033),
    ("Service and Calibration", 7_845, 5_856),
]
CASH = [
    ("Net income", 18_942, 15_310),
    ("Depreciation and amortisation", 7_164, 6_688),
    ("Change in inventories", -4_385, 2_140),
    ("Change in receivables and payables", -1_206, -2_975),
]
PEOPLE = [
    ("Aberfeld (head office and sensors)", 312, 288),
    ("Leuven (balances)", 196, 204),
    ("Field service, 14 countries", 141, 117),
]


def cover(pdf: pymupdf.Document) -> None:
    sheet = Sheet(pdf, "")
    sheet.page.draw_rect(pymupdf.Rect(0, 0, WIDTH, 300), color=None, fill=TEAL)
    sheet.put(MARGIN, 190, "Larkfield Instruments plc", HEAVY, 30, (1, 1, 1))
    sheet.put(MARGIN, 224, "Annual report for the fiscal year ended 30 September 2025", SANS, 13, (1, 1, 1))
    sheet.y = 348
    sheet.text(
        "This report describes an invented company. It comes with Groundwork so that questions can be tried on it."
    )
    sheet.heading("The year at a glance", 12)
    sheet.bullets(
        [
            "Revenue of $148.6 million, up 12.4% from $132.2 million in fiscal 2024.",
            "Operating income of $28.1 million, or 18.9% of revenue.",
            "Net cash from operations of $20.5 million after a planned build-up of inventories.",
            "A dividend of $0.42 per share, the ninth yearly increase in a row.",
        ]
    )


def letter(pdf: pymupdf.Document) -> None:
    sheet = Sheet(pdf, "1")
    sheet.heading("Letter to shareholders")
    sheet.text(
        "Fiscal 2025 was the year in which the work of the last three came together. Revenue grew 12.4% to $148.6 "
        "million, mainly because utilities in northern Europe replaced mechanical flow meters with our FS-40 sensor, "
        "of "
        "which we shipped 61,200 units. Prices contributed about two points of the growth; the rest was volume."
    )
    sheet.text(
        "Not everything went to plan. Orders for laboratory balances were slow in the first half while universities "
        "waited for their budgets, and the move of the weighing-cell line from Leuven to a larger hall cost us six "
        "weeks "
        "of production. Operating income of that segment fell by $1.0 million. The line has run at its planned rate "
        "since August, and the order book at year end was 9% above the year before."
    )
    sheet.text(
        "We opened calibration laboratories in Porto and Gdansk, which brings the number to eleven. Service and "
        "Calibration is now a fifth of the company and its most profitable part. In March we bought the remaining "
        "40% of "
        "Calibra Nord for $6.3 million in cash."
    )
    sheet.text(
        "The board proposes a dividend of $0.42 per share (2024: $0.39), payable on 12 December 2025 to holders of "
        "record "
        "on 28 November 2025. We thank the 649 people of Larkfield, whose names are on the last page of the printed "
        "edition."
    )
    sheet.put(MARGIN, sheet.y + 22, "Ingrid Solheim, Chief Executive", BOLD, 10.5)
    sheet.put(MARGIN, sheet.y + 37, "Aberfeld, 14 November 2025", BODY, 10.5)


def business(pdf: pymupdf.Document) -> None:
    sheet = Sheet(pdf, "2")
    sheet.heading("What we make")
    sheet.text("Larkfield makes instruments that measure flow, pressure and mass, and keeps them accurate in use.")
    top, middle = sheet.y, WIDTH / 2
    columns = (
        (
            MARGIN,
            middle - 12,
            "Field Sensors",
            "Ultrasonic and magnetic sensors for water and heat networks. The FS-40, launched in 2023, runs for "
            "fifteen "
            "years on one battery and reports by radio every quarter of an hour. Its accuracy is 0.5% of the reading "
            "between 0.02 and 4 metres per second. Customers are some 340 utilities in 22 countries; the largest "
            "accounts "
            "for 8% of group revenue.",
            "Sensors are assembled in Aberfeld. We make the transducers ourselves and buy circuit boards from two "
            "suppliers, either of which can cover our whole need within ten weeks.",
        ),
        (
            middle + 12,
            WIDTH - MARGIN,
            "Laboratory Balances",
            "Analytical and micro-balances with a resolution down to 0.1 microgram, sold under the name Librex. Four "
            "in "
            "ten go to makers of medicines, who must show that each balance is checked every day; the balances keep "
            "that "
            "record themselves.",
            "Service and Calibration checks instruments of any make against standards that are traceable to national "
            "institutes. A visit takes 50 minutes on average. Contracts run for three years, and 94% of those that "
            "ended "
            "in fiscal 2025 were renewed.",
        ),
    )
    bottom = top
    for x0, x1, title, first, second in columns:
        sheet.y = top + 14
        sheet.put(x0, sheet.y, title, HEAVY, 11)
        sheet.y += 6
        sheet.text(first, x0, x1, 10)
        sheet.text(second, x0, x1, 10)
        bottom = max(bottom, sheet.y)
    sheet.y = bottom + 6
    sheet.heading("How we sell", 12)
    sheet.bullets(
        [
            "Field sensors: framework contracts of two to five years, won by tender; 71% of segment revenue in "
            "fiscal 2025.",
            "Balances: our own sales people in nine countries, distributors in 37 more.",
            "Service: sold with the instrument or by the calibration laboratories themselves.",
        ]
    )
    sheet.table(
        "Employees by site", "At 30 September", ["2025", "2024", "Change"], compared(PEOPLE, "=Total"), [400, 470, 548]
    )


def results(pdf: pymupdf.Document) -> None:
    sheet = Sheet(pdf, "3")
    sheet.heading("Results of operations")
    edges = [400.0, 474.0, 548.0]
    sheet.table(
        "Revenue by segment",
        "(in thousands of US dollars)",
        ["2025", "2024", "Change"],
        compared(REVENUE, "=Total revenue"),
        edges,
    )
    sheet.text(
        "Field Sensors grew 15.2%. Volume added 12.9 points and prices 2.3. The FS-40 made up 58% of segment revenue, "
        "against 41% a year earlier. Revenue of Laboratory Balances rose 2.8%, all of it in the second half."
    )
    sheet.table(
        "Operating income by segment",
        "(in thousands of US dollars)",
        ["2025", "2024", "Change"],
        compared(INCOME, "=Total operating income"),
        edges,
    )
    sheet.text(
        "The operating margin was 18.9%, after 18.2% in fiscal 2024. Field Sensors gained from longer production runs. "
        "The margin of Laboratory Balances fell to 12.5% from 15.0%, because the move of the weighing-cell line left "
        "fixed "
        "costs uncovered for six weeks and cost $0.7 million in freight and overtime. Research and development "
        "expense was "
        "$11.9 million, or 8.0% of revenue, most of it for the successor of the FS-40, which is due in fiscal 2027."
    )
    sheet.text("Income tax expense was $6.8 million, an effective rate of 26.4% (2024: 27.1%).")


def liquidity(pdf: pymupdf.Document) -> None:
    sheet = Sheet(pdf, "4")
    sheet.heading("Cash and borrowing")
    sheet.table(
        "Cash flow from operations",
        "(in thousands of US dollars)",
        ["2025", "2024"],
        [row[:3] for row in compared(CASH, "=Net cash from operations")],
        [474.0, 548.0],
    )
    sheet.text(
        "Inventories rose by $4.4 million because we built up a stock of transducers before the supplier of their "
        "ceramic "
        "rings closed for three months. We expect most of this to be used by March 2026. Capital expenditure was $9.7 "
        "million, of which $5.2 million went into the hall in Leuven."
    )
    sheet.text(
        "In June 2025 we replaced our two bank loans with a revolving credit facility of $60 million from a group of "
        "four "
        "banks. The facility matures on 30 June 2029 and can be extended by one year. Interest is 1.35 percentage "
        "points "
        "over the reference rate. At year end $18 million was drawn."
    )
    sheet.text(
        "The facility requires that net debt stays below 2.5 times earnings before interest, tax, depreciation and "
        "amortisation. At 30 September 2025 the ratio was 0.3."
    )
    sheet.text(
        "Cash at year end was $7.4 million (2024: $9.0 million). We do not hedge sales in euros and Norwegian kroner "
        "that "
        "are due within 90 days; a fall of 10% in both would have lowered operating income by about $1.6 million."
    )


def risks(pdf: pymupdf.Document) -> None:
    sheet = Sheet(pdf, "5")
    sheet.heading("Risks")
    sheet.bullets(
        [
            "Tenders. A few tenders decide each year. In fiscal 2026 contracts worth $21 million a year end and will "
            "be "
            "tendered again.",
            "Supply. The ceramic rings of our transducers come from one supplier. A second one is being qualified and "
            "should deliver from mid-2026.",
            "Radio rules. From January 2027 sensors sold in the European Union must accept signed software updates. "
            "The "
            "FS-40 does so since version 3.2; about 9,000 older units in the field must be exchanged, for which $1.1 "
            "million "
            "is provided.",
            "People. Calibration needs technicians who take 18 months to train. Eleven posts were open at year end.",
        ]
    )
    sheet.heading("Outlook for fiscal 2026", 12)
    sheet.text(
        "We expect revenue between $158 million and $164 million and an operating margin between 19% and 20%. The "
        "forecast "
        "assumes exchange rates as at the end of October 2025 and no acquisition. Capital expenditure should fall to "
        "about "
        "$7 million, as the hall in Leuven is finished."
    )
    sheet.heading("Auditor", 12)
    sheet.text(
        "Brandt & Oyelaran LLP have audited the accounts from which these figures are taken and gave an unqualified "
        "opinion "
        "on 7 November 2025. They have been our auditor since fiscal 2021."
    )


def proof(pdf: pymupdf.Document) -> None:
    """The picture beside the promise on the first page: the sentence on the facility, lit."""
    page = pdf[4]
    for box in page.search_for("The facility matures on 30 June 2029 and can be extended by one year."):
        page.draw_rect(box, color=None, fill=(1, 0.83, 0.23), overlay=False)
    # Whole paragraphs: from the one before to the one after.
    top = page.search_for("Inventories rose by")[0].y0
    bottom = page.search_for("the ratio was 0.3.")[0].y1
    area = pymupdf.Rect(MARGIN - 22, top - 5, WIDTH - MARGIN + 12, bottom + 5)
    page.get_pixmap(clip=area, matrix=pymupdf.Matrix(2.2, 2.2), alpha=False).save(TARGET.with_name("proof.png"))


def main() -> None:
    pdf = pymupdf.open()
    for draw in (cover, letter, business, results, liquidity, risks):
        draw(pdf)
    pdf.set_page_labels(
        [{"startpage": 0, "style": "r", "firstpagenum": 1}, {"startpage": 1, "style": "D", "firstpagenum": 1}]
    )
    pdf.set_metadata(
        {
            "title": "Larkfield Instruments, annual report 2025",
            "author": "Groundwork",
            "creationDate": "",
            "modDate": "",
        }
    )
    pdf.set_toc(
        [
            [1, "Letter to shareholders", 2],
            [1, "What we make", 3],
            [1, "Results of operations", 4],
            [1, "Cash and borrowing", 5],
            [1, "Risks", 6],
        ]
    )
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    pdf.save(TARGET, deflate=True, garbage=3, no_new_id=True)
    proof(pdf)
    print(f"{TARGET.name}: {len(pdf)} pages, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
