"""Answer types: what a question asks for, as data, and what that does to the order of quotes."""

from __future__ import annotations

import pytest

from benchmarks.everyday import squeezed
from benchmarks.everyday_texts import HELD_OUT, MENDED
from ragcore.answer.requests import build_request
from ragcore.offline.intents import KIND_ONLY, answer_type, fit
from ragcore.offline.writer import OfflineWriter
from tests.answer.samples import SETTINGS
from tests.documents import Grid, make_document
from tests.offline.test_offline import ANSWER, WordReranker, whole


def written(question: str, *lines: str | Grid) -> str:
    doc = make_document(*lines)
    request = build_request(question, (whole(doc),), (), lambda _: doc, SETTINGS)
    return "".join(OfflineWriter(WordReranker(), ANSWER).stream(request))


def test_a_sentence_of_the_wanted_kind_comes_before_one_that_only_speaks_of_it() -> None:
    """One figure for all of the made texts; ranked by shared words alone, without the cross-encoder."""
    asked = found = 0
    for _, text, questions in (*MENDED, *HELD_OUT):
        lines = [line.lstrip("#* ") for line in text.strip().replace("\n  ", " ").splitlines()]
        for question, gold in questions:
            asked += 1
            found += squeezed(gold) in squeezed(written(question, *lines))
    assert asked == 58
    assert found >= 39


@pytest.mark.parametrize(
    ("question", "answer", "kind_only"),
    [
        ("Who is the CFO?", "Jon Aske, Chief Financial Officer, joined us in 2018.", "Jon Aske spoke."),
        ("What is the rent?", "The yearly rent is GBP 84,000.", "It cost $5."),
        ("What is the notice period?", "Either may end it by 90 days' notice.", "It takes 90 days."),
    ],
)
def test_the_kind_of_thing_counts_less_without_the_usual_words(question: str, answer: str, kind_only: str) -> None:
    asked = answer_type(question)
    assert fit(asked, answer) == 1.0
    assert fit(asked, kind_only) == KIND_ONLY
    assert fit(asked, "It is said elsewhere.") == 0.0


def test_a_question_of_no_known_kind_lifts_nothing() -> None:
    assert fit(answer_type("Did margins develop?"), "They rose by 3% because of prices.") == 0.0


@pytest.mark.parametrize("question", ["What is a clinical hold?", "What does clinical hold mean?"])
def test_the_term_whose_meaning_is_asked_for(question: str) -> None:
    asked = answer_type(question)
    assert asked.term == "clinical hold"
    assert fit(asked, "(a) General. A clinical hold is an order.") == 1.0
    assert fit(asked, "The clinical hold may apply.") == 0.0


def test_who_leads_a_market_is_no_chief_executive() -> None:
    text = written(
        "Who leads the market in insulin pumps?",
        "Brightwell Pumps leads the market in insulin pumps.",
        "Mara Velde has been our Chief Executive Officer since 2020.",
    )
    assert text.startswith("“Brightwell Pumps leads")


def test_the_sentence_of_that_form_is_quoted_first() -> None:
    doc = make_document(
        "The sponsor shall keep records of the sponsor. The sponsor signs.",
        "Sponsor: Larkfield Bio Ltd",
        "The sponsor pays.",
    )
    made = (whole(doc),)
    request = build_request("Who is the sponsor?", made, (), lambda _: doc, SETTINGS)
    text = "".join(OfflineWriter(WordReranker(), ANSWER).stream(request))
    assert "Sponsor: Larkfield Bio Ltd" in text


def test_what_a_document_is_about_is_what_it_reports_or_how_it_opens() -> None:
    def asked(*lines: str) -> str:
        doc = make_document(*lines)
        request = build_request("What is this document about?", (whole(doc),), (), lambda _: doc, SETTINGS)
        return "".join(OfflineWriter(WordReranker(), ANSWER).stream(request))

    about = "This document is filed by a document writer of the document."
    text = asked(about, "On May 3, 2022, Larkfield announced a loan of $5 million.", "It filed the document.")
    assert text.strip() == "“On May 3, 2022, Larkfield announced a loan of $5 million.” <<SOURCE 1.2>>"
    text = asked(
        "The typewriter is older than the computer.", "It was patented in 1868.", "The document ends here now."
    )
    assert text.startswith("“The typewriter is older")
    assert "document ends" not in text
    text = asked(
        "Pursuant to Section 13 or 15(d) of the Securities Exchange Act of 1934",
        "Date of report (Date of earliest event reported): May 20, 2022 (May 18, 2022)",
        "Indicate by check mark whether the registrant is a large company as it is defined in the rules.",
        "At its annual meeting, shareholders voted on the four proposals set forth below.",
        "A quorum of the holders of all shares was present in person or by proxy.",
    )
    assert text.startswith("“At its annual meeting")
    assert "check mark" not in text
