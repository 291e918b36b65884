"""The sign of a figure is that of its cell: a loss is no income, and what was used was not provided."""

# ruff: noqa: E501 (claims are kept whole)
from __future__ import annotations

import pytest

from tests.answer.pairs.material import Material, Pair
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
    ("Earnings per share · 2023", "The loss per share was $2.31 in 2023."),
    ("Investment income · 2023", "The investment loss was $18 million in 2023."),
    ("Gain on acquisition of Dray Bearings · 2023", "The loss on the acquisition of Dray Bearings was $37 million in 2023."),
    ("Gain on acquisition of Dray Bearings · 2022", "The gain on the acquisition of Dray Bearings was $52 million in 2022."),
    ("Return on capital employed · 2023", "Return on capital employed was -12.5% in 2023."),
    ("Return on capital employed · 2023", "Return on capital employed was negative, at 12.5%, in 2023."),
    ("Return on capital employed · 2022", "Return on capital employed was 9.8% in 2022."),
    ("Cost of goods sold · 2023", "Cost of goods sold was $6,230 million in 2023."),
    ("Marketing expense · 2023", "Marketing expense came to $415 million in 2023."),
    ("Interest expense, net · 2023", "Net interest expense was $96 million in 2023."),
    ("Income taxes · 2023", "Income taxes were $44 million in 2023."),
    ("Income tax benefit (expense) · 2022", "Income tax expense was $203 million in 2022."),
    ("Income tax benefit (expense) · 2023", "The income tax benefit was $61 million in 2023."),
    ("Loss from discontinued operations · 2023", "The loss from discontinued operations was $12 million in 2023."),
    ("Net cash provided by (used in) operating activities · 2023", "Operating activities used $318 million of net cash in 2023."),
    ("Net cash provided by (used in) operating activities · 2022", "Net cash provided by operating activities was $720 million in 2022."),
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


def status(at: str, claim: str) -> tuple[str, str]:
    found = ACCOUNTS.verdict(Pair("held", "accounts", "sign", claim, (at,), True, claim, (at,)))
    return found.status, found.reason


@pytest.mark.parametrize(("at", "claim"), RIGHT)
def test_what_the_cell_says_in_its_sign_is_supported(at: str, claim: str) -> None:
    found, reason = status(at, claim)
    assert found == "supported", reason


@pytest.mark.parametrize(("at", "claim"), WRONG)
def test_what_has_the_other_sign_is_unsupported(at: str, claim: str) -> None:
    found, reason = status(at, claim)
    assert found == "unsupported", reason
