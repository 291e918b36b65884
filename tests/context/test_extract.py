"""Summaries made of the document's own sentences."""

from __future__ import annotations

from ragcore.context.extract import best_sentence, prose
from tests.documents import Grid, Heading, Item, make_document

NOTICE = "The information posted to our website is not part of this Annual Report on Form 10-K and is not read with it."
CENTRAL = "Larkfield Water sells drinking water to farms and households in the valley of the Tern."
OTHERS = (
    "Drinking water is pumped from nine wells and sold by the cubic metre.",
    "Farms pay less for their water than households do in summer months.",
    "The company owns the wells, the pumps and most pipes of the valley.",
    "Two pumps were replaced in spring and one well was cleaned afterwards.",
)


def test_the_sentence_nearest_to_all_others_stands_for_them() -> None:
    sentences = [NOTICE, OTHERS[3], CENTRAL, *OTHERS[:3]]
    assert best_sentence(sentences, "Larkfield Water, Inc. Form 10-K 2023", max_tokens=60) == CENTRAL


def test_what_tells_nothing_of_the_document_is_no_summary() -> None:
    for sentence in (
        NOTICE,
        "Indicate by check mark whether the company has filed every one of its reports so far.",
        "SEE THE NOTES THAT ARE PART OF THESE STATEMENTS OF THE WHOLE COMPANY BELOW.",
        "Total 1,204 1,100 998 12.5% 14.1% (3.2)% 1,771 2,004 2,113 990 1,022 1,400.",
        "sold to farms and households in the valley of the Tern and beyond it.",
        "Larkfield Water sells water",
        "© 2023 The authors and the publisher of this article, who hold every right in it.",
    ):
        assert best_sentence([sentence], "Larkfield Water", max_tokens=60) == ""
    assert best_sentence([CENTRAL, CENTRAL], "Larkfield Water", max_tokens=60) == ""  # said again and again
    assert best_sentence([], "Larkfield Water", max_tokens=60) == ""


def test_a_sentence_that_is_too_long_is_passed_over() -> None:
    assert best_sentence([CENTRAL, OTHERS[0]], "Larkfield Water", max_tokens=15) == OTHERS[0]
    assert best_sentence([CENTRAL], "Larkfield Water", max_tokens=5) == ""


def test_text_without_blanks_between_words_has_one_too() -> None:
    sentences = ["本会社は谷の農家と家庭に飲料水を販売している。", "九つの井戸から水をくみ上げて各地に送っている。"]
    assert best_sentence(sentences, "水道会社", max_tokens=60) in sentences


def test_prose_is_running_text_only() -> None:
    document = make_document(
        Heading("Results"),
        f"{CENTRAL} {OTHERS[0]}",
        Item(OTHERS[1]),
        Grid("Sales", [["Item", "2023"], ["Water sold to farms", "1,204"]]),
    )
    assert prose(document, document.body) == [CENTRAL, *OTHERS[:2]]
