"""Labels that no mark parts from their values: told by type, by space, and by what stands over what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ingest.pages import Box, build, page, shown
from tests.ingest.test_layout_rules import PROSE


def small(text: str) -> str:
    return " ".join(f"^{word}^" for word in text.split())


def bold(text: str) -> str:
    return " ".join(f"*{word}*" for word in text.split())


def rows(*lines: str, kind: str = "text") -> list[str]:
    """Rows of the tables and other texts that the ``lines`` of one box become."""
    return [row for _kind, text in shown(build(page(Box(kind, 50, 50, lines)))) for row in text.split("\n")]


def kinds(*lines: str, kind: str = "text") -> list[str]:
    return [kind for kind, _text in shown(build(page(Box(kind, 50, 50, lines))))]


@pytest.mark.parametrize("kind", ["text", "table", "picture"])
def test_bold_labels_and_plain_values_are_rows(kind: str) -> None:
    form = (f"{bold('Patient')} Maria Holm", f"{bold('Date of birth')} 4 May 1961", f"{bold('Report no.')} 25-117")
    assert rows(*form, kind=kind) == ["Patient | Maria Holm", "Date of birth | 4 May 1961", "Report no. | 25-117"]


def test_small_labels_stand_over_their_values() -> None:
    form = (
        f"{small('Order number')}\t{small('Order date')}",
        "88317\tMarch 11, 2025",
        f"{small('Vendor')}\t{small('Ship to')}",
        "Tessaro Works\tPlant 3, Dock 7",
        "88 Foundry Street\t4410 Kettle Creek",
        "Millvale\tFairborough",
    )
    left = ["Order number | 88317", "Vendor | Tessaro Works 88 Foundry Street Millvale"]
    right = ["Order date | March 11, 2025", "Ship to | Plant 3, Dock 7 4410 Kettle Creek Fairborough"]
    assert rows(*form) == rows(*form, kind="table") == [*left, *right]


def test_a_value_goes_on_below_itself() -> None:
    form = (
        f"{bold('Batch')}\tB2207-14",
        f"{bold('Site')}\tPemdrake Works,",
        "\tHall C, Brine Lane",
        f"{bold('Storage')}\tDry",
    )
    assert rows(*form) == ["Batch | B2207-14", "Site | Pemdrake Works, Hall C, Brine Lane", "Storage | Dry"]


def test_pairs_side_by_side_are_rows() -> None:
    form = (
        "Holder\tAnn Farthing\tMeter\tE19K 44107",
        "Address\t2 Tanner’s Row\tSupply\t12 0093",
        "\tWexcombe\tEnds\t30 May 2026",
        "Tariff\tSteady Fix\tFee\t£45.00",
    )
    made = rows(*form, kind="table")
    assert {"Holder | Ann Farthing", "Address | 2 Tanner’s Row Wexcombe", "Fee | £45.00"} <= set(made)
    assert len(made) == 7


def test_amounts_beside_what_they_are_for_are_rows_in_a_picture_too() -> None:
    bill = ("Billing summary", "Previous amount\t$91.39", "Payment\t-91.39", "Taxes\t16.69", "Total\t$170.95")
    assert rows(*bill, kind="picture") == [line.replace("\t", " | ") for line in bill]


def test_a_coloured_box_of_labels_with_colons_is_text() -> None:
    box = ("Invoice: 10140", "Folio: A", "Arrival: 15 May 2025", "Room: 459")
    assert rows(*box, kind="picture") == list(box)
    assert kinds("Figure of a mill", "Wheel: left", "and its race below", kind="picture") == ["figure"]


@pytest.mark.parametrize(
    "lines",
    [
        ("Ann Miller\tJohn Smith", "University of York\tUniversity of Kent", "York\tCanterbury"),
        (f"{bold('Total')} assets rose to four millions in the year, and this was more than", *PROSE),
        (f"{bold('Note')} that this has to be", "read with what is said of it elsewhere", *PROSE),
        ("Level 1\tLevel 2", "Total assets\tOther assets"),
        ("Ann Miller\tJohn Smith", "1 York Street\t22 Kent Road", "5511 York\t33 Canterbury"),
        ("Introduction\t3", "Methods\t14", "Results\t22", "Discussion\t31"),
        ("Name\tAge\tCity\tYear", "Ann\t31\tYork\t1999", "Bob\t45\tKent\t2001", "Cy\t22\tBath\t2003"),
        (
            f"{bold('Speed')} is what we want in",
            "the north.",
            f"{bold('Safety')} comes first",
            f"{bold('Service')} is ours",
        ),
        (f"{bold('Step 1')} Open the lid", f"{bold('Step 2')} Fill the tank", f"{bold('Step 3')} Close it"),
        (f"{small('Name')}\t{small('Age')}", "Ann\t31", "Bob\t45", "Cy\t22"),
    ],
)
def test_other_text_is_no_form(lines: tuple[str, ...]) -> None:
    assert "table" not in kinds(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        (f"\t{bold('2023')}", "Revenue\t410", "Costs\t380", "Profit\t30"),
        (f"{bold('Item')}\t{bold('Amount')}", "Pens\t410", "Ink\t95", "Paper\t12"),
        (f"{small('Index')}\t{small('Page')}", "Income\t52", "Balance\t54", "Cash\t55", "Notes\t57"),
        (f"{small('Change')}", "\tFiscal 2022", "Volume\t(6) pts", "Price\t9 pts", "Rates\tFlat"),
        (f"{small('Name')}\t{small('Age')}", "Ann\t31", "Bob\t45"),
        (f"{bold('Date of first')}\t5 May", bold("delivery"), f"{bold('Place')}\tYork", f"{bold('Weight')}\t5 kg"),
        ("Ann\t31\tYork\t1999", "Bob\t45\tKent\t2001", "Cy\t22\tBath\tn/a", "Dee\tn/a\tRye\tn/a"),
    ],
)
def test_the_headers_of_a_table_are_no_labels(lines: tuple[str, ...]) -> None:
    # Without a grid a table's lines stay as they are.
    assert "table" not in kinds(*lines, kind="table")


def test_labels_that_stand_twice_are_records() -> None:
    records = (f"{bold('Name')} Ann", f"{bold('Age')} 31", f"{bold('Name')} Bob", f"{bold('Age')} 45")
    assert "table" not in kinds(*records)


def test_a_chart_stays_a_figure_and_keeps_its_description() -> None:
    shares = ("Europe\t45%", "Asia\t30%", "Africa\t15%")
    assert kinds(*shares, kind="picture") == ["figure"]
    drawn = page(Box("picture", 50, 50, ("Mill: left", "Race: right", "Wheel: 4 m")))
    described = replace(drawn, regions=(replace(drawn.regions[0], description="A mill."),))
    assert [kind for kind, _text in shown(build(described))] == ["figure"]


def test_a_sentence_below_a_value_is_not_part_of_it() -> None:
    bill = (
        f"{small('Order')}\t{small('Client number')}",
        "88317 of 3 May\t20 664",
        f"{small('Total amount')}\t{small('Due date')}",
        "$5.00\t5 May",
        "Thank you for your order.",
    )
    assert {"Total amount | $5.00", "Due date | 5 May"} <= set(rows(*bill))
    assert "Thank you for your order." in rows(*bill)


def test_what_heads_a_box_is_not_the_title_of_its_document() -> None:
    lines = (
        "Billing summary",
        *(f"{small(name)}\t^{sum}^" for name, sum in (("Fee", "$9.10"), ("Tax", "1.69"), ("Due", "$11"))),
    )
    box = Box("picture", 50, 50, lines, size=15, step=18)
    name = Box("section-header", 350, 50, ["Your energy bill"], size=16)
    document = build(page(box, name, Box("text", 50, 400, PROSE), Box("text", 50, 500, PROSE)))
    assert ("heading", "Billing summary") in shown(document)
    assert document.title == "Your energy bill"
