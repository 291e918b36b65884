"""What captions, notes and parts that continue open with."""

from __future__ import annotations

import pytest

from ragcore.text.captions import is_continued, is_note, label_of
from ragcore.text.short_titles import is_unnamed, names_part


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Figure 3. Growth", ("figure", "3", ". Growth")),
        ("[Fig. 2a, b] The mill", ("figure", "2a, b", "] The mill")),
        ("Figure 4 “The mill”", ("figure", "4", " “The mill”")),
        ("Table CA4. | Wells", ("table", "CA4", ". | Wells")),
        ("Supplementary Table II", ("table", "II", "")),
        ("Exhibit 99.1", ("exhibit", "99.1", "")),
        ("Table of wells", ("table", "", " of wells")),
        ("Graphic 3", ("", "", "Graphic 3")),
        ("Graphics", ("", "", "Graphics")),
    ],
)
def test_labels(text: str, label: tuple[str, str, str]) -> None:
    assert label_of(text) == label


@pytest.mark.parametrize(
    "text",
    ["Table 3 (continued)", "Table 3: Continued.", "Wells, cont'd", "Wells (cont.)", "Table 3 continued", "Continued"],
)
def test_marks_of_a_continuation(text: str) -> None:
    assert is_continued(text)


def test_what_only_says_that_something_continues_is_no_mark() -> None:
    assert not is_continued("Sales of 3 wells continued to fall")
    assert not is_continued("Non-contiguous wells")


def test_notes() -> None:
    assert all(
        map(is_note, ("Source: the county", "Notes to the wells", "This chart shows wells", "The panels are maps"))
    )
    assert not any(map(is_note, ("Noted wells", "The wells", "• Notes to the wells", "")))


def test_titles_of_programs_and_of_parts() -> None:
    unnamed = (
        "Microsoft Word - wells.doc",
        "(anonymous)",
        "Wells.indd",
        "Report 3",
        "Slide 3: Wells",
        "Draft",
        "a_1.2",
    )
    assert all(map(is_unnamed, unnamed))
    assert not any(
        map(is_unnamed, ("Printing in Larkfield", "None of the Wells", "Report 3 of the Board", "The Wells"))
    )
    parts = (
        "3.2 Wells",
        "iv. Wells",
        "Item 1A. Risks",
        "Item 5.02. Wells",
        "PART II",
        "Table of Contents",
        "Summary of it",
    )
    assert all(map(names_part, parts))
    assert not any(map(names_part, ("Abstraction of Water", "2023 Wells", "Items", "Part of the Wells", "Invitation")))
