"""What of a question stands nowhere in the passages found."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragcore.offline.question import names_in
from ragcore.text.names import named, unnamed, words_lacking
from ragcore.text.periods import years
from ragcore.text.terms import Term
from tests.answer.samples import PROSE, sources
from tests.documents import make_document
from tests.offline.test_offline import whole


def names_of(question: str, terms: Sequence[Term] = ()) -> list[str]:
    return [name.text for name in named(names_in(question), terms)]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What was the revenue of Apple in 2022?", ["Apple"]),
        ("What did the University of Oslo pay to Lockheed Martin?", ["University of Oslo", "Lockheed Martin"]),
        ("Is BMS-986158 safe?", ["BMS-986158"]),
        ("What was Adobe's margin in Q2 of FY2022?", ["Adobe"]),
        ("What was it in Q22023, FY20 and FY21, or in March?", []),
        ("What were total assets at Dec 31 2017, or in Sept. 2016?", []),
        ("Volcanoes are what?", []),
        ("What was IBM's income, or that of AMD?", ["IBM", "AMD"]),
        ("Compare 3M with eBay and 7-Eleven", ["3M", "eBay", "7-Eleven"]),
        ("What is its cash conversion cycle (CCC)? CCC is defined as DIO + DSO.", []),
        ("Apple's revenue in 2021?", ["Apple"]),
        ("Foot Locker revenue in 2022?", ["Foot Locker"]),
        ("How many units did Ms. Hardwick get?", ["Hardwick"]),
        ("What does Mr Jan Brandt owe Dr. Lund?", ["Jan Brandt", "Lund"]),
        ("What's the EBITDA, in USD, of the 10-K, more than $3M?", []),
        ("Wie hoch war der Umsatz der Firma im Jahr 2021?", []),
    ],
)
def test_what_is_written_like_a_name(question: str, names: list[str]) -> None:
    assert names_of(question) == names


def test_a_term_of_the_trade_is_no_name() -> None:
    question = "Is its Free cashflow better?"
    assert names_of(question) == ["Free"]
    assert names_of(question, (Term("Free cashflow", ()),)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FY2018 and FY19", {2018, 2019}),
        ("Q2'2023, 2021Q1, Q22024", {2023, 2021, 2024}),
        ("$2,018 or 2019% or 12018", set()),
        ("2021-2022", {2021, 2022}),
    ],
)
def test_years(text: str, said: set[int]) -> None:
    assert years(text) == said


@pytest.mark.parametrize("name", ["Best Buy", "BestBuy", "Bestbuy’s", "Larkfeild"])
def test_another_spelling_is_the_same_name(name: str) -> None:
    source = whole(make_document("Revenues of Best Buy and Larkfield rose 10% a year."))
    assert not unnamed(names_in(f"What were the revenues of {name} then?"), (source,))


def test_words_that_no_source_has_as_the_question_writes_them() -> None:
    given = sources(PROSE)
    question = "How did Volcanoes affect revenues and headcount?"
    assert words_lacking(question, given) == ["Volcanoes", "affect", "headcount"]
    assert "headcount" not in words_lacking(question, given, (Term("headcount", ("shares",)),))
    assert words_lacking("Wie hoch war der Umsatz von Siemens?", given) == ["Umsatz", "Siemens"]
