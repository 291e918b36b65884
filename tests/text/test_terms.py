"""What a question's words are also called."""

from __future__ import annotations

from ragcore.retrieve.synonyms import Synonyms
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems

CAPEX = Term("capex", ("capital expenditures", "purchases of property, plant and equipment"))


def stems(text: str) -> frozenset[str]:
    return frozenset(content_stems(text))


def test_a_word_is_there_by_another_name_of_its_term() -> None:
    wanted = Wanted("What was the capex of Acme?", (CAPEX,))
    assert wanted.held(stems("Capital expenditure was $9.7 million.")) == stems("capex")
    assert wanted.held(stems("Capital was raised.")) == frozenset()
    assert wanted.cover(stems("Acme: purchases of property, plant and equipment")) == 1.0
    assert wanted.cover(stems("Acme makes plants.")) == 0.5


def test_only_the_words_of_the_term_are_excused() -> None:
    wanted = Wanted("What was the capex of Boeing?", (CAPEX,))
    assert not wanted.has("boe", stems("Capital expenditures"))


def test_a_number_of_things_is_named_by_the_things() -> None:
    wanted = Wanted("What was the headcount?", (Term("headcount", ("number of employees",)),))
    assert wanted.cover(stems("Employees by site")) == 1.0


def test_nothing_wanted_is_all_there() -> None:
    assert Wanted("Why?").cover(frozenset()) == 1.0


def test_synonyms_say_which_term_they_are_of() -> None:
    shipped = Synonyms.load().terms("What was the capex, and the quick ratio, of 3M in 2018?")
    assert [term.said for term in shipped] == ["capex", "quick ratio"]
    assert "purchases of property, plant and equipment" in shipped[0].same
    assert shipped[0].parts == ()
    assert shipped[1].same == ()
    assert "total current liabilities" in shipped[1].parts


def test_a_size_that_is_asked_for_is_no_word_of_the_answer() -> None:
    assert Wanted("How high was operating profit?").words == Wanted("What was operating profit?").words
    assert "high" in Wanted("How many loans are of high risk?").words
