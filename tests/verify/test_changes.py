"""What becomes of cited words in a later version of their document."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from ragcore.answer.cite import cite_span
from ragcore.types import Citation, Document
from ragcore.verify.changes import Changed, Comparison, Gone, Staleness, Unchanged
from tests.documents import Grid, Heading, make_document

INTRO = "The survey began in April and ran for nine weeks. Forty wells were sampled twice."
FINDING = "Nitrate stood above the limit in seven wells, all of them south of the railway."
ADVICE = "The council should close the Orchard Lane pump until autumn."
WELLS = [["Well", "April", "May"], ["Orchard Lane", "58.2", "61.4"], ["Mill Bridge", "12.0", "11.6"]]


def paper(*blocks: object) -> Document:
    return make_document(*blocks)  # type: ignore[arg-type]


def cited(document: Document, words: str, nth: int = 0) -> Citation:
    start = -1
    for _ in range(nth + 1):
        start = document.text.index(words, start + 1)
    return cite_span(document, start, start + len(words), 1)


def became(old: Document, new: Document, words: str, nth: int = 0) -> Staleness:
    one = cited(old, words, nth)
    return Comparison(old, new).staleness(one.start, one.end)


def place(found: Staleness) -> str:
    assert not isinstance(found, Gone), found
    return found.place.quote


OLD = paper(Heading("Findings"), INTRO, FINDING, Grid("Nitrate (mg/l)", WELLS), Heading("Advice"), ADVICE)


def test_words_that_moved_stand_unchanged_at_their_new_place() -> None:
    new = paper(Heading("Advice"), ADVICE, Heading("Findings"), "A new paragraph opens it. " + FINDING, INTRO)
    for words in (FINDING, ADVICE, "Forty wells were sampled twice."):
        found = became(OLD, new, words)
        assert isinstance(found, Unchanged)
        assert place(found) == words
        assert found.place.boxes == new.boxes(found.place.start, found.place.end) != ()


def test_a_changed_sentence_is_set_against_what_it_became() -> None:
    new = paper(Heading("Findings"), INTRO, FINDING.replace("seven", "nine"), Grid("Nitrate (mg/l)", WELLS))
    found = became(OLD, new, FINDING)
    assert isinstance(found, Changed)
    assert found.old.quote == FINDING
    assert place(found) == FINDING.replace("seven", "nine")


def test_a_sentence_beside_a_changed_one_is_not_stale() -> None:
    new = paper(Heading("Findings"), INTRO.replace("nine weeks", "ten weeks"), FINDING)
    assert isinstance(became(OLD, new, "Forty wells were sampled twice."), Unchanged)
    assert isinstance(became(OLD, new, INTRO), Changed)


def test_words_without_anything_like_them_are_gone() -> None:
    new = paper(Heading("Findings"), INTRO, FINDING, "Elsewhere the weather was fine, and nobody minded.")
    found = became(OLD, new, ADVICE)
    assert isinstance(found, Gone)
    assert found.old.quote == ADVICE


def test_a_cell_is_told_by_its_row_its_column_and_its_table() -> None:
    for rows, wanted in (
        ([["Well", "April", "May"], ["Orchard Lane", "58.2", "61.9"], WELLS[2]], "61.9"),
        ([["Well", "April", "June"], WELLS[1], WELLS[2]], None),
        ([["Well", "April", "May"], ["Station Road", "58.2", "61.4"], WELLS[2]], None),
    ):
        new = paper(Heading("Findings"), INTRO, Grid("Nitrate (mg/l)", rows))
        found = became(OLD, new, "61.4")
        assert not isinstance(found, Unchanged)
        assert wanted is None or place(found) == wanted
    assert not isinstance(became(OLD, paper(Grid("Nitrate (g/l)", WELLS)), "61.4"), Unchanged)
    wider = [
        ["Well", "March", "April", "May"],
        ["Orchard Lane", "55.0", "58.2", "61.4"],
        ["Mill Bridge", "9", "12.0", "11.6"],
    ]
    found = became(OLD, paper(INTRO, Grid("Nitrate (mg/l)", wider)), "61.4")
    assert isinstance(found, Unchanged)
    assert found.place.label == "Orchard Lane · May"


def test_a_whole_row_is_stale_if_one_of_its_cells_is() -> None:
    rows = [WELLS[0], WELLS[1], ["Mill Bridge", "12.0", "11.7"]]
    new = paper(Heading("Findings"), INTRO, Grid("Nitrate (mg/l)", rows))
    start, end = OLD.elements[3].table.row_spans[1]  # type: ignore[union-attr]
    found = Comparison(OLD, new).staleness(start, end)
    assert isinstance(found, Changed)
    assert "11.7" in place(found)
    start, end = OLD.elements[3].table.row_spans[0]  # type: ignore[union-attr]
    assert isinstance(Comparison(OLD, new).staleness(start, end), Unchanged)


def test_a_short_sentence_is_told_by_the_heading_above_it() -> None:
    old = paper(Heading("Wells"), "None were found.", Heading("Pumps"), "None were found.")
    new = paper(Heading("Wells"), "Two were found.", Heading("Pumps"), "None were found.")
    assert isinstance(became(old, new, "None were found."), Changed)
    assert isinstance(became(old, new, "None were found.", nth=1), Unchanged)


def test_a_quotation_of_part_of_a_sentence_stands_if_that_part_does() -> None:
    new = paper(Heading("Findings"), INTRO, FINDING.replace("all of them", "most of them"))
    assert isinstance(became(OLD, new, "Nitrate stood above the limit in seven wells"), Unchanged)
    assert isinstance(became(OLD, new, "all of them south of the railway"), Changed)


def test_nothing_is_stale_in_a_document_that_is_the_same() -> None:
    comparison = Comparison(OLD, OLD)
    for start, end in ((0, 8), (0, OLD.body_end), (30, 60)):
        found = comparison.staleness(start, end)
        assert isinstance(found, Unchanged)


WORDS = st.lists(
    st.sampled_from(["wells", "pumps", "were", "closed", "opened", "north", "south", "seven", "nine"]),
    min_size=3,
    max_size=9,
)
SENTENCES = st.lists(WORDS.map(lambda words: " ".join(words).capitalize() + "."), min_size=1, max_size=8)


@given(SENTENCES, SENTENCES, st.data())
def test_unchanged_means_that_the_very_words_are_there_and_stale_that_they_are_not(
    before: list[str], after: list[str], data: st.DataObject
) -> None:
    old, new = paper(*before), paper(*after)
    sentence = data.draw(st.sampled_from(before))
    found = became(old, new, sentence)
    if isinstance(found, Unchanged):
        assert found.place.quote == sentence
    else:
        assert sentence not in after
        assert found.old.quote == sentence


def test_long_documents_are_compared_at_once() -> None:
    blocks = [f"Paragraph {n} says that item {n * 7} cost {n * 13} euros in year {1900 + n % 99}." for n in range(600)]
    rows = [["Item", "2022", "2023"], *([f"Item {n}", str(n), str(n * 2)] for n in range(150))]
    old = paper(*blocks, Grid("Costs", rows))
    new = paper(
        "A new start.",
        *(b.replace(" cost ", " took ") if n % 10 == 0 else b for n, b in enumerate(blocks)),
        Grid("Costs", rows),
    )
    citations = [cited(old, blocks[n]) for n in range(0, 600, 50)]
    began = time.process_time()
    comparison = Comparison(old, new)
    found = [comparison.staleness(one.start, one.end) for one in citations]
    assert time.process_time() - began < 4
    assert all(isinstance(one, Changed) for one in found)
    assert all(one.place.quote == blocks[n * 50].replace(" cost ", " took ") for n, one in enumerate(found))


def test_all_that_differs_is_told_in_order() -> None:
    new = paper(Heading("Findings"), INTRO, FINDING.replace("seven", "nine"), Heading("Costs"), "It cost 18,500 euros.")
    told = []
    for one in Comparison(OLD, new).differences():
        old, now = getattr(one, "old", None), getattr(one, "place", None)
        told.append((old.quote if old else "", now.quote if now else ""))
    assert (FINDING, FINDING.replace("seven", "nine")) in told
    assert (ADVICE, "") in told
    assert ("", "It cost 18,500 euros.") in told
    assert ("61.4", "") in told
    assert Comparison(OLD, OLD).differences() == []
