"""What a conversation's manuscript holds: notes in order, verdicts, marks, the documents cited."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.export.characters import clean, one_line, right_to_left, shortened
from ragcore.export.tree import plain, references
from ragcore.index.conversations import StoredTurn
from ragcore.types import GENERATED_MARKS, Mark
from tests.export.samples import answer, citation, claim, exchange, made


def lines(*exchanges: StoredTurn) -> list[str]:
    """The words of all paragraphs and headings outside of lists."""
    return [plain(block) for block in made(*exchanges).blocks if block["t"] in ("Header", "Para", "Div")]


def test_notes_are_numbered_through_in_order_of_first_reference() -> None:
    first = answer("A [1]. B [2]. A [1].", (citation(1, "one"), citation(2, "two")))
    second = answer("C [1].", (citation(1, "three"),))
    document = made(exchange("a", first), exchange("b", second))
    assert [(note.number, note.citation.quote) for note in document.notes] == [(1, "one"), (2, "two"), (3, "three")]
    assert references(document.blocks) == [1, 2, 1, 3]
    assert [block["c"] for block in document.blocks if block["t"] == "Notes"] == [[1, 2], [3]]


def test_numbers_follow_what_stands_not_what_was_written() -> None:
    # The second mark stands in a cell too many, which Markdown drops: its note comes last.
    text = "| a |\n|---|\n| b | c [1] |\n\nd [2]"
    document = made(exchange("q", answer(text, (citation(1, "one"), citation(2, "two")))))
    assert [note.citation.quote for note in document.notes] == ["two", "one"]
    assert references(document.blocks) == [1, 2]


def test_a_citation_without_a_mark_is_not_lost() -> None:
    document = made(exchange("q", answer("No mark.", (citation(1, "kept"),))))
    assert [note.citation.quote for note in document.notes] == ["kept"]
    assert references(document.blocks) == [1]


def test_a_doubtful_claim_is_marked_where_it_ends_and_its_note_says_why() -> None:
    text = "It was 5 [1]. It was 6 [1]. It was 7. It was 8."
    given = answer(
        text,
        (citation(1),),
        claims=(
            claim(text, "It was 5 [1].", "supported", "fine", 1),
            claim(text, "It was 6 [1].", "unsupported", "6 is not there.", 1),
            claim(text, "It was 7.", "weak", "7 is not there."),
            claim(text, "It was 8.", "uncited", "No citation."),
        ),
    )
    document = made(exchange("q", given))
    assert [(claim.status, claim.reason) for claim in document.notes[0].doubts] == [("unsupported", "6 is not there.")]
    [body] = [plain(b) for b in document.blocks if "It was 5" in plain(b)]
    assert body == "It was 5. It was 6. [unsupported] It was 7. [weak: 7 is not there.] It was 8."
    assert any(
        "[weak]: the cited words back only part" in line and "[unsupported]: the cited" in line
        for line in lines(exchange("q", given))
    )
    assert not any("[weak]" in line for line in lines(exchange("q", answer("Fine."))))


def test_a_citation_that_checking_added_is_said_so() -> None:
    given = answer("A [1]. B [2]. C [2].", (citation(1), citation(2)))
    first, second, third = given.marks
    added = replace(given, marks=(replace(first, added=True), replace(second, added=True), third))
    assert [note.added for note in made(exchange("q", added)).notes] == [True, False], "the second was given as well"


def test_a_description_by_ai_has_no_marks_of_ours_in_it() -> None:
    quote = f"Figure 1. {GENERATED_MARKS[0]}A bar chart.{GENERATED_MARKS[1]}"
    [note] = made(exchange("q", answer("A [1].", (citation(1, quote, generated=True),)))).notes
    assert (note.citation.quote, note.citation.generated) == ("Figure 1. A bar chart.", True)


def test_documents_are_listed_with_file_and_pages_in_order() -> None:
    cited = (
        citation(1, page=9, page_label="ix"),
        citation(2, page=3, page_label="iii"),
        citation(3, page=3, page_label="iii"),
        citation(4, doc_id="gone", title="Gone", page=1, page_label="1"),
    )
    document = made(exchange("q", answer("A [1] [2] [3] [4].", cited)))
    [listed] = [block for block in document.blocks if block["t"] == "BulletList"]
    assert [plain(item) for item in listed["c"]] == [
        "3M 2018 Annual Report (3M_2018_10K.pdf), pp. iii, ix",
        "Gone (no longer in the library), p. 1",
    ]


def test_ways_of_not_answering_are_said() -> None:
    assert "Stopped before the end." in lines(exchange("q", answer("x", status="stopped")))
    assert "Failed before the end." in lines(exchange("q", answer("x", status="failed", error=None)))
    assert "No answer found in your documents." in lines(exchange("q", answer("x", refused=True, extractive=True)))
    assert "Quotes from your documents." in lines(exchange("q", answer("x", extractive=True)))
    assert any(line.startswith("No answer:") for line in lines(exchange("q", None)))


def test_a_long_question_stands_whole_below_its_heading() -> None:
    question = "What " + "about this " * 30 + "?\nAnd that?"
    said = lines(exchange(question, None))
    assert said[1].startswith("1. What about")
    assert len(said[1]) < 130
    assert said[2:4] == [" ".join(question.split("\n")[0].split()), "And that?"]


def test_marks_and_claims_may_come_in_any_order() -> None:
    given = answer("A [1]. B [2].", (citation(1, "one"), citation(2, "two")))
    turned = replace(given, marks=tuple(reversed(given.marks)))
    assert made(exchange("q", turned)) == made(exchange("q", given))
    assert Mark(2, 5, 1) in turned.marks


@pytest.mark.parametrize(
    ("text", "longest", "short"),
    [
        ("short", 400, "short"),
        ("one two three four five six seven eight nine ten", 30, "one two […] nine ten"),
        ("a" * 100, 40, "a" * 17 + " […] " + "a" * 17),
    ],
)
def test_a_quote_is_shortened_in_its_middle_at_whole_words(text: str, longest: int, short: str) -> None:
    assert shortened(text, longest) == short


@given(st.text(), st.integers(40, 80))
def test_what_is_shortened_fits_and_what_fits_stays(text: str, longest: int) -> None:
    line = one_line(text)
    short = shortened(line, longest)
    assert len(short) <= longest
    if len(line) <= longest:
        assert short == line
    else:
        head, _, tail = short.partition(" […] ")
        assert line.startswith(head)
        assert line.endswith(tail)


@given(st.text(st.characters(codec=None)))  # type: ignore[arg-type]
def test_cleaned_text_can_stand_in_xml(text: str) -> None:
    for character in clean(text):
        assert (
            character in "\t\n"
            or " " <= character <= "\ud7ff"
            or "\ue000" <= character <= "\ufffd"
            or character > "\uffff"
        )
        assert not "\x7f" <= character <= "\x9f"


@pytest.mark.parametrize(
    ("text", "expected"), [("", False), ("5% של", True), ("“العربية”", True), ("A שלום", False), ("123", False)]
)
def test_the_first_strong_character_gives_the_direction(text: str, expected: bool) -> None:
    assert right_to_left(text) is expected
