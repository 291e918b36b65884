"""Everyday questions: the form of a sentence that answers them, and of one that only speaks of it."""

from __future__ import annotations

import pytest

from ragcore.answer.generate import build_request
from ragcore.offline.everyday import answers, form_of, names_holder
from ragcore.offline.writer import OfflineWriter
from tests.answer.samples import SETTINGS
from tests.documents import make_document
from tests.providers.test_offline import WordReranker, whole


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "How many employees does the company have?",
            "At year-end we had approximately 95,000 people worldwide.",
            "Many employees have worked for the company for years.",
        ),
        (
            "Who is the chief executive?",
            "Mara Velde has been our Chief Executive Officer since 2020.",
            "A new chief executive might change our plans.",
        ),
        (
            "Who is the CFO?",
            "Jon Aske, Chief Financial Officer, joined us in 2018.",
            "The chief financial officer reports to the board.",
        ),
        (
            "Who is the CEO of Larkfield?",
            "Ms. Velde currently serves as our Chairman and Chief Executive Officer.",
            "Our Chief Executive Officer and Chief Financial Officer do not expect it to prevent all errors.",
        ),
        (
            "Who runs Larkfield?",
            "Mara Velde became CEO in 2020.",
            "Jon Aske was Chief of Staff to the Chief Executive Officer.",
        ),
        (
            "Who's in charge of the company?",
            "The Chief Executive Officer is Mara Velde.",
            "It was signed by our Chief Executive Officer.",
        ),
        (
            "Who owns inventions?",
            "Inventions made by the Employee in the course of employment belong to the Company.",
            "The Employee shall report inventions to the Company.",
        ),
        (
            "Can the tenant end the lease early?",
            "Either party may end this Lease on 31 March 2028 by giving notice.",
            "The Tenant shall give up the Premises at the end of the Term.",
        ),
        (
            "Is there a non-compete?",
            "For nine months the Employee shall not work for a Competitor within Norway.",
            "The Employee shall not disclose what is confidential.",
        ),
        (
            "Who runs the study?",
            "The principal investigator is Dr. Mara Velde.",
            "Mara Velde, Chief Executive Officer, signed it.",
        ),
        (
            "Who audits the company?",
            "Our independent registered public accounting firm is Hollin & Marsh LLP.",
            "The audit committee met six times.",
        ),
        (
            "Where is the head office?",
            "Our principal executive offices are located at 9 Quay Street, Bergen.",
            "Office buildings count for little in our markets.",
        ),
        ("When was it founded?", "The business was founded in 1907 in Turku.", "We were founded on trust."),
        ("What is the CAS number?", "CAS: 50-78-2.", "The lot number is 22-014."),
        ("Who is the sponsor?", "Sponsor: Larkfield Bio Ltd", "The sponsor shall keep records."),
        ("What is the dose?", "Subjects receive 40 mg orally once a day.", "The dose was chosen with care."),
        (
            "When does the agreement end?",
            "This Agreement expires on 1 May 2027.",
            "When the Agreement ends, all papers are returned.",
        ),
        (
            "Which law governs?",
            "It shall be construed under the laws of Norway.",
            "Each party obeys the law that applies to it.",
        ),
        ("Who are the parties?", "It is made between Ask AS and Embla AB.", "The parties may extend it."),
        ("What is the notice period?", "Either may end it by 90 days' notice.", "Notices shall be in writing."),
        ("What is the rent?", "The yearly rent is GBP 84,000.", "The fees of counsel are at most $25,000."),
        ("What is an IND?", "IND means an application.", "An IND has a cover sheet (Form 1571)."),
        ("What is an investigator?", "Investigator means a person.", "Sponsor-Investigator means a person."),
        ("What is a clinical hold?", "(a) General. A clinical hold is an order.", "The clinical hold may apply."),
        ("What does MATRix stand for?", "We gave cytarabine and rituximab (MATRix).", "MATRix was well borne."),
        ("Who is the landlord?", 'Quay Estates Ltd (the "Landlord") lets it.', "The Landlord shall insure it."),
        (
            "What is the difference between a sponsor and an investigator?",
            "Sponsor means a person who begins a trial.",
            "The sponsor shall give each investigator a brochure.",
        ),
        (
            "What is this document about?",
            "On May 3, 2022, Larkfield announced a loan.",
            "The full text of the document is filed as Exhibit 10.",
        ),
        (
            "Why was this filed?",
            "On August 19, 2022, Larkfield issued a press release.",
            "Any document filed under seal is kept.",
        ),
        ("What is the Larkfield 8-K about?", "On May 3, 2022, Larkfield announced a loan.", "It is an 8-K."),
        ("What is this paper about?", "We aimed to assess a new drug.", "This is an open access paper."),
        ("Summarize this contract.", "This Agreement is made between Ask AS and Embla AB.", "It ends this contract."),
    ],
)
def test_the_form_of_an_answer(question: str, answer: str, other: str) -> None:
    assert answers(question, answer)
    assert not answers(question, other)


@pytest.mark.parametrize("asked", ["Who is the chief executive officer?", "Who leads Larkfield?"])
def test_a_row_of_a_list_of_officers_names_who_holds_an_office(asked: str) -> None:
    assert names_holder(asked, "Mara Velde — Age: 59; Positions: Chairman and Chief Executive Officer")
    assert not names_holder(
        asked, "Jon Aske — Age: 56; Positions: Executive Vice President and Chief Financial Officer"
    )
    assert not names_holder("What did Mara Velde earn?", "Mara Velde — Positions: Chief Executive Officer; Pay: $2")


def test_other_questions_have_no_form() -> None:
    assert form_of("How did margins develop?") is None
    assert not answers("How did margins develop?", "They rose by 3%.")


def test_the_sentence_of_that_form_is_quoted_first() -> None:
    doc = make_document(
        "The sponsor shall keep records of the sponsor. The sponsor signs.",
        "Sponsor: Larkfield Bio Ltd",
        "The sponsor pays.",
    )
    made = (whole(doc),)
    request = build_request("Who is the sponsor?", made, (), lambda _: doc, SETTINGS)
    text = "".join(OfflineWriter(WordReranker(), SETTINGS.answer).stream(request))
    assert "Sponsor: Larkfield Bio Ltd" in text


def test_what_a_document_is_about_is_what_it_reports_or_how_it_opens() -> None:
    def asked(*lines: str) -> str:
        doc = make_document(*lines)
        request = build_request("What is this document about?", (whole(doc),), (), lambda _: doc, SETTINGS)
        return "".join(OfflineWriter(WordReranker(), SETTINGS.answer).stream(request))

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
