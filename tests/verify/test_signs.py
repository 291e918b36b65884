"""The sign of a figure is that of its cell: a loss is no income, and what was used was not provided."""

# ruff: noqa: E501 (claims are kept whole)
from __future__ import annotations

import pytest

from tests.answer.pairs.material import Material
from tests.documents import Grid

ACCOUNTS = Material(
    "held",
    "accounts",
    "Orrin Gearworks annual report 2023",
    (
        Grid(
            "Consolidated statements of operations (In millions, except per share data)",
            [
                ["", "2023", "2022"],
                ["Revenues", "9,410", "9,120"],
                ["Cost of goods sold", "(6,230)", "(6,011)"],
                ["Marketing expense", "(415)", "(388)"],
                ["Gain on acquisition of Dray Bearings", "(37)", "52"],
                ["Investment income", "(18)", "24"],
                ["Interest expense, net", "(96)", "(88)"],
                ["Income before taxes", "(1,081)", "966"],
                ["Income taxes", "(44)", "(203)"],
                ["Income tax benefit (expense)", "61", "(203)"],
                ["Net income (loss)", "(1,125)", "763"],
                ["Earnings per share", "(2.31)", "1.57"],
                ["Loss from discontinued operations", "(12)", "(9)"],
            ],
        ),
        Grid(
            "Ratios",
            [["", "2023", "2022"], ["Return on capital employed", "(12.5)%", "9.8%"], ["Operating margin", "(8.1)%", "11.2%"]],
        ),
        Grid(
            "Statements of cash flows (In millions)",
            [
                ["", "2023", "2022"],
                ["Net cash provided by (used in) operating activities", "(318)", "720"],
                ["Net cash used in investing activities", "(255)", "(410)"],
                ["Purchases of property and equipment", "(240)", "(301)"],
                ["Dividends paid", "(130)", "(125)"],
                ["Acquisitions, net of cash acquired", "(77)", "—"],
                ["Effect of exchange rates on cash", "(13)", "6"],
                ["Change in receivables", "(58)", "33"],
            ],
        ),
        Grid(
            "Business units",
            [["Unit", "Operating profit", "Net loss"], ["Gears", "(71)", "64"], ["Shafts", "205", "8"]],
        ),
    ),
    (),
)  # fmt: skip

RIGHT = [
    ("Income before taxes · 2023", "The loss before taxes was $1,081 million in 2023."),
    ("Income before taxes · 2023", "Orrin Gearworks lost $1,081 million before taxes in 2023."),
    ("Income before taxes · 2023", "Income before taxes was $(1,081) million in 2023."),
    ("Income before taxes · 2023", "Income before taxes was -$1,081 million in 2023."),
    ("Income before taxes · 2022", "Income before taxes was $966 million in 2022."),
    ("Income before taxes · *", "Income before taxes of $966 million in 2022 turned into a loss of $1,081 million in 2023."),
    ("Net income (loss) · 2023", "The net loss was $1,125 million in 2023."),
    ("Net income (loss) · 2023", "Orrin Gearworks reported a net loss of $1,125 million in 2023."),
    ("Net income (loss) · 2022", "Net income was $763 million in 2022."),
    ("Net income (loss) · 2022", "Net income (loss), 2022: 763 (in millions)"),
    ("Net income (loss) · 2023", "Net income (loss), 2023: (1,125) (in millions)"),
    ("Earnings per share · 2023", "The loss per share was $2.31 in 2023."),
    ("Investment income · 2023", "The investment loss was $18 million in 2023."),
    ("Gain on acquisition of Dray Bearings · 2023", "The loss on the acquisition of Dray Bearings was $37 million in 2023."),
    ("Gain on acquisition of Dray Bearings · 2022", "The gain on the acquisition of Dray Bearings was $52 million in 2022."),
    ("Return on capital employed · 2023", "Return on capital employed was -12.5% in 2023."),
    ("Return on capital employed · 2023", "Return on capital employed was negative, at 12.5%, in 2023."),
    ("Return on capital employed · 2022", "Return on capital employed was 9.8% in 2022."),
    ("Return on capital employed · 2022", "Capital employed brought its return (9.8%) in 2022."),
    ("Cost of goods sold · 2023", "Cost of goods sold was $6,230 million in 2023."),
    ("Marketing expense · 2023", "Marketing expense came to $415 million in 2023."),
    ("Interest expense, net · 2023", "Net interest expense was $96 million in 2023."),
    ("Income taxes · 2023", "Income taxes were $44 million in 2023."),
    ("Income tax benefit (expense) · 2022", "Income tax expense was $203 million in 2022."),
    ("Income tax benefit (expense) · 2023", "The income tax benefit was $61 million in 2023."),
    ("Loss from discontinued operations · 2023", "The loss from discontinued operations was $12 million in 2023."),
    ("Net cash provided by (used in) operating activities · 2023", "Operating activities used $318 million of net cash in 2023."),
    ("Net cash provided by (used in) operating activities · 2022", "Net cash provided by operating activities was $720 million in 2022."),
    ("Net cash provided by (used in) operating activities · 2022", "Net cash provided by (used in) operating activities, dollars in millions, 2022: 720"),
    ("Net cash used in investing activities · 2023", "Net cash used in investing activities was $255 million in 2023."),
    ("Purchases of property and equipment · 2023", "Purchases of property and equipment were $240 million in 2023."),
    ("Dividends paid · 2023", "Dividends of $130 million were paid in 2023."),
    ("Acquisitions, net of cash acquired · 2023", "Acquisitions, net of cash acquired, were $77 million in 2023."),
    ("Effect of exchange rates on cash · 2023", "Exchange rates lowered cash by $13 million in 2023."),
    ("Effect of exchange rates on cash · 2022", "Exchange rates raised cash by $6 million in 2022."),
    ("Gears · Net loss", "The net loss of Gears was 64."),
    ("Shafts · Operating profit", "The operating profit of Shafts was 205."),
]  # fmt: skip

WRONG = [
    ("Income before taxes · 2023", "Income before taxes was $1,081 million in 2023."),
    ("Income before taxes · 2023", "Orrin Gearworks earned $1,081 million before taxes in 2023."),
    ("Income before taxes · 2023", "Income before taxes was $1,081 million in 2023, and no dividend was paid."),
    ("Income before taxes · *", "Income before taxes was $966 million in 2022 and $1,081 million in 2023."),
    ("Income before taxes · 2022", "The loss before taxes was $966 million in 2022."),
    ("Income before taxes · 2022", "Orrin Gearworks lost $966 million before taxes in 2022."),
    ("Net income (loss) · 2023", "Net income was $1,125 million in 2023."),
    ("Net income (loss) · 2022", "Net income (loss), 2022: (763) (in millions)"),
    ("Net income (loss) · 2022", "The net loss was $763 million in 2022."),
    ("Earnings per share · 2023", "Earnings per share were $2.31 in 2023."),
    ("Investment income · 2023", "Investment income was $18 million in 2023."),
    ("Investment income · 2022", "The investment loss was $24 million in 2022."),
    ("Gain on acquisition of Dray Bearings · 2023", "The gain on the acquisition of Dray Bearings was $37 million in 2023."),
    ("Gain on acquisition of Dray Bearings · 2022", "The loss on the acquisition of Dray Bearings was $52 million in 2022."),
    ("Return on capital employed · 2023", "Return on capital employed was 12.5% in 2023."),
    ("Operating margin · 2023", "Operating margin was 8.1% in 2023."),
    ("Return on capital employed · 2022", "Return on capital employed was -9.8% in 2022."),
    ("Income tax benefit (expense) · 2022", "The income tax benefit was $203 million in 2022."),
    ("Income tax benefit (expense) · 2023", "Income tax expense was $61 million in 2023."),
    ("Loss from discontinued operations · 2023", "Income from discontinued operations was $12 million in 2023."),
    ("Net cash provided by (used in) operating activities · 2023", "Net cash provided by operating activities was $318 million in 2023."),
    ("Net cash provided by (used in) operating activities · 2022", "Net cash used in operating activities was $720 million in 2022."),
    ("Net cash used in investing activities · 2023", "Net cash provided by investing activities was $255 million in 2023."),
    ("Effect of exchange rates on cash · 2023", "Exchange rates raised cash by $13 million in 2023."),
    ("Effect of exchange rates on cash · 2023", "The effect of exchange rates on cash was $13 million in 2023."),
    ("Change in receivables · 2023", "The change in receivables was $58 million in 2023."),
    ("Gears · Operating profit", "The operating profit of Gears was 71."),
    ("Gears · Net loss", "The net profit of Gears was 64."),
]  # fmt: skip


INTERIM = Material(
    "held",
    "accounts",
    "Velda Shipping interim report 2024",
    (
        Grid(
            "Income statement (USD in thousands)",
            [
                ["", "H1 2024", "H1 2023"],
                ["Operating revenue", "410,200", "395,800"],
                ["Voyage expenses", "(120,300)", "(118,000)"],
                ["Depreciation and amortization", "(44,900)", "(43,100)"],
                ["Impairment of vessels", "(9,000)", "—"],
                ["Share of profit (loss) of associates", "(2,750)", "1,900"],
                ["Gain (loss) on sale of vessels", "(6,400)", "3,300"],
                ["Operating profit", "(21,500)", "50,400"],
                ["Finance income", "1,200", "900"],
                ["Finance costs", "(30,700)", "(28,200)"],
                ["Foreign exchange gain", "(810)", "640"],
                ["Profit/(loss) before tax", "(51,810)", "23,740"],
                ["Tax credit/(charge)", "3,100", "(4,200)"],
                ["Profit for the period", "(48,710)", "19,540"],
                ["Total comprehensive income", "(50,020)", "18,870"],
                ["Basic earnings per share (USD)", "(0.42)", "0.17"],
            ],
        ),
        Grid(
            "Cash flow (USD in thousands)",
            [
                ["", "H1 2024", "H1 2023"],
                ["Cash flow from operating activities", "(12,600)", "61,000"],
                ["Cash flow from investing activities", "(33,000)", "(47,500)"],
                ["Capital expenditures", "(35,200)", "(49,100)"],
                ["Proceeds from borrowings", "80,000", "20,000"],
                ["Repayment of borrowings", "(25,000)", "(31,000)"],
                ["Repurchase of shares", "(4,000)", "—"],
                ["Net change in cash", "(3,600)", "2,400"],
                ["Free cash flow", "(47,800)", "11,900"],
            ],
        ),
        Grid(
            "Equity (USD in thousands)",
            [
                ["", "30 June 2024"],
                ["Share capital", "90,000"],
                ["Accumulated deficit", "(140,300)"],
                ["Treasury shares", "(8,200)"],
            ],
        ),
        Grid(
            "Key figures",
            [
                ["", "H1 2024", "Change"],
                ["Return on equity", "(6.3)%", "(8.9) points"],
                ["EBITDA margin", "14.1%", "(7.2)%"],
                ["Revenue growth", "3.6%", "(1.1)%"],
            ],
        ),
    ),
    (),
)

RIGHT_INTERIM = [
    ("Operating profit · H1 2024", "The operating loss was $21.5 million in H1 2024."),
    ("Operating profit · H1 2024", "Velda Shipping made an operating loss of $21,500 thousand in H1 2024."),
    ("Profit/(loss) before tax · H1 2024", "The loss before tax was $51,810 thousand in H1 2024."),
    ("Profit/(loss) before tax · H1 2023", "Profit before tax was $23,740 thousand in H1 2023."),
    ("Profit for the period · H1 2024", "The loss for the period was $48,710 thousand in H1 2024."),
    ("Tax credit/(charge) · H1 2023", "The tax charge was $4,200 thousand in H1 2023."),
    ("Tax credit/(charge) · H1 2024", "The tax credit was $3,100 thousand in H1 2024."),
    ("Foreign exchange gain · H1 2024", "The foreign exchange loss was $810 thousand in H1 2024."),
    (
        "Share of profit (loss) of associates · H1 2024",
        "The share of the loss of associates was $2,750 thousand in H1 2024.",
    ),
    (
        "Gain (loss) on sale of vessels · H1 2024",
        "Velda Shipping lost $6,400 thousand on the sale of vessels in H1 2024.",
    ),
    ("Basic earnings per share (USD) · H1 2024", "The basic loss per share was $0.42 in H1 2024."),
    ("Voyage expenses · H1 2024", "Voyage expenses were $120.3 million in H1 2024."),
    ("Depreciation and amortization · H1 2024", "Depreciation and amortization came to $44.9 million in H1 2024."),
    ("Impairment of vessels · H1 2024", "Vessels were impaired by $9.0 million in H1 2024."),
    ("Finance costs · H1 2024", "Finance costs were $30,700 thousand in H1 2024."),
    ("Cash flow from operating activities · H1 2024", "Operating activities used cash of $12,600 thousand in H1 2024."),
    (
        "Cash flow from operating activities · H1 2024",
        "Cash flow from operating activities was negative at $12.6 million in H1 2024.",
    ),
    ("Cash flow from investing activities · H1 2024", "Investing activities used $33.0 million in H1 2024."),
    ("Capital expenditures · H1 2024", "Capital expenditures were $35.2 million in H1 2024."),
    ("Repayment of borrowings · H1 2024", "Borrowings of $25.0 million were repaid in H1 2024."),
    ("Repurchase of shares · H1 2024", "Velda Shipping spent $4.0 million on the repurchase of shares in H1 2024."),
    ("Net change in cash · H1 2024", "Cash decreased by $3.6 million in H1 2024."),
    ("Free cash flow · H1 2024", "Free cash flow was -$47.8 million in H1 2024."),
    ("Accumulated deficit · 30 June 2024", "The accumulated deficit was $140.3 million at 30 June 2024."),
    ("Treasury shares · 30 June 2024", "Treasury shares were $8.2 million at 30 June 2024."),
    ("EBITDA margin · Change", "The EBITDA margin fell by 7.2%."),
    ("Return on equity · H1 2024", "The return on equity was negative 6.3% in H1 2024."),
    (
        "Operating profit · *",
        "Operating profit of $50.4 million in H1 2023 became an operating loss of $21.5 million in H1 2024.",
    ),
    (
        "Profit/(loss) before tax · *",
        "The result swung from a profit before tax of $23.7 million in H1 2023 to a loss before tax of $51.8 million in H1 2024.",
    ),
    ("Total comprehensive income · H1 2024", "The total comprehensive loss was $50,020 thousand in H1 2024."),
]

WRONG_INTERIM = [
    ("Operating profit · H1 2024", "Operating profit was $21.5 million in H1 2024."),
    ("Operating profit · H1 2023", "The operating loss was $50.4 million in H1 2023."),
    ("Profit/(loss) before tax · H1 2024", "Profit before tax was $51,810 thousand in H1 2024."),
    ("Profit for the period · H1 2024", "The profit for the period was $48,710 thousand in H1 2024."),
    ("Tax credit/(charge) · H1 2023", "The tax credit was $4,200 thousand in H1 2023."),
    ("Tax credit/(charge) · H1 2024", "The tax charge was $3,100 thousand in H1 2024."),
    ("Foreign exchange gain · H1 2024", "The foreign exchange gain was $810 thousand in H1 2024."),
    (
        "Share of profit (loss) of associates · H1 2024",
        "The share of profit of associates was $2,750 thousand in H1 2024.",
    ),
    ("Gain (loss) on sale of vessels · H1 2024", "The gain on the sale of vessels was $6,400 thousand in H1 2024."),
    ("Basic earnings per share (USD) · H1 2024", "Basic earnings per share were $0.42 in H1 2024."),
    (
        "Cash flow from operating activities · H1 2024",
        "Cash flow from operating activities was $12.6 million in H1 2024.",
    ),
    (
        "Cash flow from operating activities · H1 2024",
        "Operating activities provided cash of $12.6 million in H1 2024.",
    ),
    ("Free cash flow · H1 2024", "Free cash flow was $47.8 million in H1 2024."),
    ("Net change in cash · H1 2024", "The net change in cash was $3.6 million in H1 2024."),
    ("Net change in cash · H1 2024", "Cash increased by $3.6 million in H1 2024."),
    ("EBITDA margin · Change", "The EBITDA margin rose by 7.2%."),
    ("Return on equity · H1 2024", "The return on equity was 6.3% in H1 2024."),
    ("Total comprehensive income · H1 2024", "Total comprehensive income was $50,020 thousand in H1 2024."),
    ("Operating profit · *", "Operating profit was $50.4 million in H1 2023 and $21.5 million in H1 2024."),
]


def status(material: Material, at: str, claim: str) -> tuple[str, str]:
    found = material.judged(claim, at)
    return found.status, found.reason


@pytest.mark.parametrize(
    ("material", "at", "claim"),
    [*((ACCOUNTS, *one) for one in RIGHT), *((INTERIM, *one) for one in RIGHT_INTERIM)],
)
def test_what_the_cell_says_in_its_sign_is_supported(material: Material, at: str, claim: str) -> None:
    found, reason = status(material, at, claim)
    assert found == "supported", reason


@pytest.mark.parametrize(
    ("material", "at", "claim"),
    [*((ACCOUNTS, *one) for one in WRONG), *((INTERIM, *one) for one in WRONG_INTERIM)],
)
def test_what_has_the_other_sign_is_unsupported(material: Material, at: str, claim: str) -> None:
    found, reason = status(material, at, claim)
    assert found == "unsupported", reason
