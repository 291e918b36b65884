"""Rules over hand-made pages: what is taken apart, what is joined, what each thing is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragcore.ingest.layout import BOLD, SIDEWAYS, FileInfo
from ragcore.ingest.roles import is_contents
from ragcore.types import Document
from tests.ingest.pages import Box, build, page, shown

PROSE = [f"This is line {n} of a paragraph that has words for {n}" for n in ("one", "two", "six")]
ENDED = [*PROSE[:2], "This is its last line."]


def levels(document: Document) -> list[int]:
    return [element.level for element in document.elements if element.kind == "list_item"]


def read(*lines: str) -> list[str]:
    """Texts that the ``lines`` of one box are taken apart into."""
    return [text for _kind, text in shown(build(page(Box("text", 50, 50, lines))))]


# Taken apart


def test_bold_words_within_a_sentence_are_no_heading() -> None:
    made = page(Box("text", 50, 50, ["The committee was told that it must", "*not* *open* *it*", "before the spring."]))
    assert [kind for kind, _text in shown(build(made))] == ["paragraph"]


def test_headings_of_different_type_in_one_box() -> None:
    big = Box("title", 50, 50, ["*Statistical* *analyses*", "Feasibility and pilot"])
    kinds = shown(build(page(big, Box("text", 50, 100, ENDED))))
    assert kinds[:2] == [("heading", "Statistical analyses"), ("heading", "Feasibility and pilot")]


def test_a_numbered_heading_run_into_its_paragraph() -> None:
    text = [
        "2.1. *Study* *Population.* The patients were seen in two",
        "rounds by four nurses of the county. They were",
    ]
    document = build(page(Box("section-header", 50, 30, ["*2.* *Methods*"], size=12), Box("text", 50, 50, text)))
    assert shown(document)[1] == ("heading", "2.1. Study Population.")
    assert document.elements[2].section == ("2. Methods", "2.1. Study Population.")
    assert document.text[document.elements[2].start :].startswith("The patients were seen")


def test_bold_run_in_headings_only_where_there_are_several() -> None:
    body = "Then follow the words of the paragraph one after the other until there are enough of them to make it one"
    one = Box("text", 50, 50, ["*Exchange* *control.* " + body[:40], body, body])
    two = Box("text", 50, 150, ["*Labour* *law.* " + body[:40], body, body])
    assert [k for k, _t in shown(build(page(one)))] == ["paragraph"]
    assert [t for k, t in shown(build(page(one, two))) if k == "heading"] == ["Exchange control.", "Labour law."]


BODY = "shall be as the parties have agreed in the schedule to this deed and in no other way"


def clauses(*captions: str, body: str = BODY, number: str = "{}.") -> list[Box]:
    """Items of a contract, as many lines apart as they have."""
    text = [f"{number.format(n)} {caption} The sum" for n, caption in enumerate(captions, start=1)]
    return [Box("list-item", 50, 50 + 60 * n, [one, body, body]) for n, one in enumerate(text)]


@pytest.mark.parametrize("number", ["{}.", "2.{}", "Section {}."])
def test_captions_of_clauses_are_headings(number: str) -> None:
    names = ["Rent.", "Repair of the Roof.", "Governing Law, Jurisdiction, and Venue.", "Notices."]
    document = build(page(*clauses(*names, number=number)))
    headings = [text for kind, text in shown(document) if kind == "heading"]
    assert headings == [f"{number.format(n)} {name}" for n, name in enumerate(names, start=1)]
    assert document.elements[5].section == (f"{number.format(3)} Governing Law, Jurisdiction, and Venue.",)
    assert document.text[document.elements[5].start :].startswith("The sum shall be")


def test_clauses_within_clauses_are_a_list_of_their_own() -> None:
    numbers = [text for n in range(1, 5) for text in (f"{n}. Part.", f"{n}.1 Rent.")]
    boxes = [Box("list-item", 50, 50 + 60 * n, [f"{one} The sum", BODY, BODY]) for n, one in enumerate(numbers)]
    assert [text for kind, text in shown(build(page(*boxes))) if kind == "heading"] == numbers


def test_a_caption_of_its_own_heads_the_items_below_it() -> None:
    own = Box("list-item", 50, 290, ["5. Termination."])
    below = [
        Box("list-item", 70, 320 + 30 * n, [f"({letter}) the lease ends on notice"]) for n, letter in enumerate("ab")
    ]
    document = build(page(*clauses("Rent.", "Repair.", "Law.", "Notices."), own, *below))
    assert [one.section for one in document.elements[-2:]] == [("5. Termination.",)] * 2


@pytest.mark.parametrize(
    ("captions", "body"),
    [
        (["Rent.", "Repair.", "Law."], BODY),  # too few
        (["Smith AB, Lee C.", "Kim D, Roe EF.", "Poe G.", "Doe H, Fox I."], BODY),  # references
        (["Press Menu.", "Select Settings.", "Open Network.", "Choose Other."], ""),  # steps
        (["The tenant pays.", "The roof is kept.", "English law applies.", "All is written."], BODY),  # sentences
    ],
)
def test_other_lists_have_no_captions(captions: list[str], body: str) -> None:
    assert "heading" not in {kind for kind, _ in shown(build(page(*clauses(*captions, body=body))))}


def test_terms_with_their_definitions_are_no_sections() -> None:
    body = "Then follow the words of the paragraph one after the other until there are enough of them to make it one"
    long = [Box("text", 50, 50 + 80 * n, ["*Exchange* *control:* " + body[:40], body, body]) for n in range(2)]
    short = [Box("text", 50, 300 + 40 * n, ["*Other:* Anything that does not fit", "elsewhere."]) for n in range(4)]
    assert {kind for kind, _text in shown(build(page(*long, *short)))} == {"paragraph"}


def test_list_items_in_one_box() -> None:
    lines = ["• The first item goes on over", "  a second line", "• The second item", "• The third"]
    texts = [text for kind, text in shown(build(page(Box("list-item", 50, 50, lines)))) if kind == "list_item"]
    assert texts == ["• The first item goes on over a second line", "• The second item", "• The third"]


def test_letters_of_symbol_fonts_are_bullets_where_several_items_have_them() -> None:
    items = Box("list-item", 50, 50, ["r Database performance", "r Data architecture", "r Web queries"])
    assert len(shown(build(page(items)))) == 3
    assert len(shown(build(page(Box("list-item", 50, 50, ["o One alone", "and its second line"]))))) == 1


def test_a_form_is_cut_before_each_label() -> None:
    form = ("Invoice no.: HP-20418", "Due date : 13 April 2025", "Bill to: Marlowe Hotels plc", "4 Custom House Lane")
    assert read(*form) == [*form[:2], "Bill to: Marlowe Hotels plc 4 Custom House Lane"]
    assert {kind for kind, _text in shown(build(page(Box("text", 50, 50, form))))} == {"paragraph"}


def test_dots_lead_to_a_value_or_to_a_page() -> None:
    form = ("Tenant................Pickering Ltd", "Term ends.........24 March 2035", "Yearly rent ........ £46,800")
    assert read(*form) == list(form)
    contents = (
        "Introduction.................. 1",
        "Methods and materials ........ 24",
        "Annex.................... A-3",
    )
    assert read(*contents) == [" ".join(contents)]


def test_columns_of_a_form_are_read_one_after_the_other() -> None:
    form = (
        "Marlowe Hotels plc\tUnit 2, Basin Road",
        "VAT no.: GB 28\tAttention: C. Brath",
        "Approver: R. Dela\tOpen: 7:30",
    )
    first, second = zip(*(line.split("\t") for line in form))
    assert read(*form) == [*first, *second]


def test_labels_beside_their_values_are_no_column() -> None:
    form = ("Sponsor:\tCendaril AG", "Title:\tA study in adults of", "\tthree doses", "Phase:\t2b")
    assert read(*form) == ["Sponsor: Cendaril AG", "Title: A study in adults of three doses", "Phase: 2b"]


def test_records_and_labels_beside_their_values_stay_rows() -> None:
    assert read("Name: Ann\tAge: 31", "Name: Bob\tAge: 45") == ["Name: Ann", "Age: 31", "Name: Bob", "Age: 45"]
    bare = ("Tenant:\tAcme Ltd", "Landlord: Bob Roe\tAgent: Jane Poe", "Term:\t5 years")
    assert read(*bare) == ["Tenant: Acme Ltd", "Landlord: Bob Roe", "Agent: Jane Poe", "Term: 5 years"]


def test_numbered_clauses_are_items() -> None:
    first = "1. Definitions: words in capitals have the meaning"
    clauses = [first, "given.", "2. Payment: it is due.", "3. Term: two years."]
    made = shown(build(page(Box("text", 50, 50, clauses))))
    assert [kind for kind, _text in made] == ["list_item"] * 3


def test_two_labels_on_one_line_are_two() -> None:
    engine = "Engine: four litres, six cylinders in a V, petrol, injected"
    assert read("Make: Nissan\tModel: Xterra", engine) == ["Make: Nissan", "Model: Xterra", engine]


@pytest.mark.parametrize(
    "lines",
    [
        (*PROSE[:2], "Remarks: here the text says what it wants to say of", *PROSE[:2]),
        (
            "App: Software; AR: Action Research; DIS: the Distress",
            "Thermometer; eHLQ: the Health Literacy Questionnaire",
        ),
        (
            "The parties agreed at 10:30 on the following, and they",
            "All: nobody left before the end of the day, which was",
        ),
    ],
)
def test_a_colon_at_the_head_of_a_line_of_text_opens_no_label(lines: tuple[str, ...]) -> None:
    assert read(*lines) == [" ".join(lines)]


def test_a_year_at_the_head_of_a_line_opens_no_item() -> None:
    lines = ["1. It was found in the spring of", "12. The council met", "2. Nothing was done"]
    assert len(shown(build(page(Box("list-item", 50, 50, lines))))) == 2


def test_paragraphs_in_one_box_are_cut_at_indents_and_blank_lines() -> None:
    lines = [
        "    The first begins with a blank and",
        "goes on to its end here.",
        "    The second one begins",
        "and ends.",
    ]
    assert len(shown(build(page(Box("text", 50, 50, lines))))) == 2
    apart = [Box("text", 50, 50, [*PROSE, "It ends here."])]
    assert len(shown(build(page(*apart)))) == 1


# Joined


def columns(left: list[str], right: list[str], *between: Box) -> list[tuple[str, str]]:
    first, second = Box("text", 40, 600, left), Box("text", 320, 60, right)
    return shown(build(page(first, *between, second)))


FULL = [
    "The committee looked at each of the",
    "bridges on the river and found that",
    "Nitrate stood above the line agreed",
]


def test_a_sentence_without_its_end_goes_on_in_capitals() -> None:
    (joined,) = columns(FULL, ["Larkfield was no exception to it,", "which nobody had foreseen."])
    assert joined[1].endswith("agreed Larkfield was no exception to it, which nobody had foreseen.")


def test_floats_and_footnotes_between_do_not_break_a_paragraph() -> None:
    between = (
        Box("picture", 320, 300, [], size=90, width=200),
        Box("caption", 320, 400, ["Figure 1. The wells."], size=9),
        Box("footnote", 40, 700, ["1 By the crews."], size=8),
    )
    kinds = columns(FULL, ["in the spring of that year."], *between)
    assert [kind for kind, _text in kinds] == ["paragraph", "figure", "caption", "footnote"]
    assert kinds[0][1].endswith("agreed in the spring of that year.")


def test_a_float_in_the_middle_of_a_column() -> None:
    made = page(
        Box("text", 50, 50, ["The wells were drawn by hand and", "the readings were set down in the"]),
        Box("picture", 50, 90, [], size=100, width=300),
        Box("text", 50, 210, ["book that the council keeps.", "Nothing else was done."]),
    )
    assert [kind for kind, _text in shown(build(made))] == ["paragraph", "figure"]


def test_a_formula_between_stays_between() -> None:
    made = page(
        Box("text", 50, 50, ["The flow in the pipe is then given by", "the sum of all"]),
        Box("formula", 50, 90, ["Q = A v"]),
        Box("text", 50, 110, ["where the area is that of the pipe.", "That is all."]),
    )
    assert [kind for kind, _text in shown(build(made))] == ["paragraph", "formula", "paragraph"]


def test_two_paragraphs_stay_two() -> None:
    ended = [*FULL[:2], "It ended."]
    assert len(columns(ended, ["Larkfield was no exception to it,", "and more."])) == 2
    assert len(columns(FULL, ["1. A list begins here", "and goes on."])) == 2


def test_a_box_beside_the_text_does_not_break_it() -> None:
    between = (
        Box("section-header", 320, 60, ["*What* *is* *known*"], size=8),
        Box("text", 320, 80, ["Small words in a box of their own."], size=8),
    )
    first, second = Box("text", 40, 600, FULL), Box("text", 320, 120, ["in the spring of that year."])
    kinds = shown(build(page(first, *between, second)))
    assert kinds[0][1].endswith("agreed in the spring of that year.")


def test_where_a_sentence_ends_with_the_page_the_indents_decide() -> None:
    """Paragraphs here are set in; what begins the next page is not, and the line before it is full."""
    body = [
        "    The crews of the town began in the",
        "spring and went on to the autumn of",
        "the year in which it ended.",
    ]
    boxes = [Box("text", 50, 50 + 50 * n, body) for n in range(4)]
    first = page(*boxes, Box("text", 50, 250, [*body[:2], "the year in which it was all at end."]))
    plain = page(Box("text", 50, 50, ["They then went home by the river and", "were glad of it."]), number=2)
    set_in = page(Box("text", 50, 50, ["    They then went home by the river", "and were glad of it."]), number=2)
    assert len(shown(build(first, plain))) == 5
    assert len(shown(build(first, set_in))) == 6


# Lists


def test_item_levels_by_indent_and_marker() -> None:
    rows = [("1.", 50), ("a.", 70), ("b.", 70), ("•", 90), ("c.", 70), ("2.", 50)]
    made = page(*(Box("list-item", x, 50 + 20 * n, [f"{mark} some item text"]) for n, (mark, x) in enumerate(rows)))
    assert levels(build(made)) == [1, 2, 2, 3, 2, 1]


# Roles


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Figure 3. Wells of the county", "caption"),
        ("Table 2 | Readings by well", "caption"),
        ("Fig. S1: Flow", "caption"),
        ("Table IV-2. Costs", "caption"),
        ("Figure 3 shows the wells of the county", "paragraph"),
        ("Table 8.20 shows the readings of the wells", "paragraph"),
        ("Figure 3.2. Wells of the county", "caption"),
        ("Table 1. Costs ........ 12", "paragraph"),
        ("图 3 流程", "caption"),
    ],
)
def test_captions_by_their_label(text: str, kind: str) -> None:
    made = page(Box("text", 50, 50, [text]), Box("text", 50, 80, ENDED))
    assert shown(build(made))[0][0] == kind


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["1. Aim ........ 1", "2. Rules ........ 4", "3. Findings ........ 12", "Index ........ ix"], True),
        (["Euro ........ $ 1,204 $ 98", "Yen ........ 45 66", "Other ........ 3 4"], False),
        (["Land ........ 45", "Buildings ........ 12", "Pumps ........ 39", "Other ........ 3"], False),
        (["Land 45", "Buildings 12"], False),
    ],
)
def test_dots_that_lead_to_page_numbers_and_dots_that_lead_to_values(lines: list[str], expected: bool) -> None:
    assert is_contents(lines) is expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Getting started", "Buttons 1", "Pairing with 2 devices 2", "Wearing 5", "Charging 8"], True),
        (["Getting started 1", "Charging 8", "Buttons 3", "Wearing 5"], False),
        (["Pumps 45", "Wells"], False),
    ],
)
def test_under_its_heading_a_table_of_contents_needs_no_dots(lines: list[str], expected: bool) -> None:
    assert is_contents(lines, headed=True) is expected
    assert not is_contents(lines)


@pytest.mark.parametrize(
    ("line", "flags", "kind"),
    [
        ("• Communities and towns", BOLD, "list_item"),
        ("The council closed all of its wells.", BOLD, "heading"),
        ("(c)", BOLD, "paragraph"),
        ("a2 + 8 = 12", 0, "formula"),
        ("3.2 Findings", 0, "heading"),
        ("(212) 720-3700", BOLD, "paragraph"),
        ("1-10299 13-3513936", BOLD, "paragraph"),
        ("§ 4.2", BOLD, "heading"),
        ("of Directors and coordinate with the Lead Independent Director, as appropriate;", 0, "paragraph"),
    ],
)
def test_headings_that_are_none(line: str, flags: int, kind: str) -> None:
    made = page(Box("section-header", 50, 50, [line], flags=flags), Box("text", 50, 80, ENDED))
    assert shown(build(made))[0][0] == kind


def test_large_text_is_a_heading() -> None:
    made = page(Box("text", 50, 50, ["Wells of the county"], size=20), Box("text", 50, 100, ENDED * 3))
    document = build(made)
    assert shown(document)[0] == ("heading", "Wells of the county")
    assert document.title == "Wells of the county"


# Sections


def heading(text: str, y: float, *, size: float = 12, flags: int = BOLD) -> Box:
    return Box("section-header", 50, y, [text], size=size, flags=flags)


# Noise


def test_a_numbered_heading_at_the_head_of_each_page_is_kept() -> None:
    pages = [
        page(
            Box("section-header", 50, 40, [f"*Chapter* *{n}*"]),
            Box("text", 50, 100, [f"It has {n} wells.", *ENDED]),
            number=n,
        )
        for n in range(1, 5)
    ]
    assert [e.noise for e in build(*pages).elements if e.kind == "heading"] == [None] * 4


def test_a_heading_like_a_page_header_of_another_number_is_kept() -> None:
    pages = [
        page(Box(kind, 50, 40, [f"*Exhibit* *{n}*"]), Box("text", 50, 100, [f"It has {n} wells.", *ENDED]), number=n)
        for n, kind in ((1, "page-header"), (2, "section-header"), (3, "text"))
    ]
    document = build(*pages)
    assert [e.noise for e in document.elements if "Exhibit" in document.text[e.start : e.end]] == [
        "page_header",
        None,
        "marginalia",
    ]


def test_turned_text_on_most_pages_is_furniture() -> None:
    stamp = Box("text", 200, 300, ["Larkfield Library"], size=40, flags=SIDEWAYS)
    pages = [page(Box("text", 50, 50, [f"Words of page {n}.", *ENDED]), stamp, number=n) for n in range(1, 5)]
    assert sum(e.noise == "repeated" for e in build(*pages).elements) == 4


def picture(x: float, y: float, width: float, height: float) -> Box:
    return Box("picture", x, y, [], size=height, width=width)


def test_a_small_picture_at_the_edge_is_a_logo() -> None:
    made = page(picture(500, 20, 60, 40), picture(60, 300, 60, 40), Box("text", 50, 100, ENDED))
    assert [e.noise for e in build(made).elements if e.kind == "figure"] == ["logo", None]


# Titles


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Adobe Photoshop PDF", "Wells of the county"),
        ("Scanned document", "Wells of the county"),
        ("The wells of Larkfield county", "The wells of Larkfield county"),
    ],
)
def test_titles_that_say_nothing_or_break_off(given: str, expected: str) -> None:
    made = page(heading("Wells of the county", 40, size=20), Box("text", 50, 100, ["Larkfield has wells.", *ENDED]))
    assert build(made, info=FileInfo(pages=1, title=given)).title == expected


def test_a_short_title_takes_its_subject_along() -> None:
    made = page(heading("Guidance for Industry", 40, size=24), heading("Sampling of Wells", 80, size=16))
    assert build(made).title == "Guidance for Industry Sampling of Wells"


@pytest.mark.parametrize("label", ["Research Article", "REVIEW", "Original research", "Short Communication"])
def test_what_kind_of_article_it_is_is_no_title(label: str) -> None:
    made = page(heading(label, 40, size=16), heading("Nitrate in Wells after Rain", 80, size=18))
    assert build(made).title == "Nitrate in Wells after Rain"
    made = page(heading(label, 40, size=18), heading("Nitrate in Wells after Rain", 80, size=16))
    assert build(made).title == "Nitrate in Wells after Rain"


# Scripts


def test_right_to_left_lines_keep_the_order_of_their_words() -> None:
    """Two pieces of one printed line, as MuPDF gives them: the right one is read first."""
    made = page(Box("text", 50, 50, ["العالم", "مرحبا"]))
    boxes = np.asarray([(50, 50, 90, 60), (100, 50, 140, 60)], np.float32)
    made = replace(made, boxes=boxes, lines=np.asarray([0, 1], np.int32))
    assert shown(build(made)) == [("paragraph", "مرحبا العالم")]
