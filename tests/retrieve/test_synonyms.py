"""Terms of the trade, as shipped and as a home adds to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcore.errors import ConfigError
from ragcore.retrieve.synonyms import Synonyms

SMALL = Synonyms(
    {"capital expenditures": ["capex", "purchases of property"], "P&L": ["income statement", "statement of income"]},
    {"working capital": ["total current assets", "total current liabilities"]},
)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What was capex in 2018?", ("capital expenditures", "purchases of property")),
        ("What was CAPEX?", ("capital expenditures", "purchases of property")),
        ("the capital expenditure of 2018", ("capex", "purchases of property")),
        ("Look at the P&L.", ("income statement", "statement of income")),
        ("the statements of income", ("P&L", "income statement")),
        ("Is working capital positive?", ("total current assets", "total current liabilities")),
        ("working capital: total current assets less what?", ("total current liabilities",)),
        ("capital working expenditures", ()),
        ("", ()),
    ],
)
def test_a_term_brings_the_others_that_are_not_said(question: str, terms: tuple[str, ...]) -> None:
    assert SMALL.of(question) == terms


def test_made_of_is_one_way() -> None:
    assert SMALL.of("What are total current assets?") == ()


def test_the_shipped_terms() -> None:
    shipped = Synonyms.load()
    assert "purchases of property, plant and equipment" in shipped.of("What was 3M's 2018 capex?")
    assert "total current liabilities" in shipped.of("What is the quick ratio?")
    assert "hold harmless" in shipped.of("Is there an indemnity?")
    assert shipped.of("Who wrote the report on the harbour?") == ()


@pytest.mark.parametrize(
    "question",
    [
        "What was employee turnover?",
        "What is the capacitance in pF?",
        "How many teeth does the cog have?",
        "What did the EP grant?",
        "Which nurse was assigned to the ward?",
        "How do students borrow books?",
        "What are short-term borrowings?",
        "What was non-operating income?",
        "What is deferred revenue?",
        "Which AES key length is used?",
        "What is the half-life of carbon-14?",
        "What leverage does the tenant have?",
        "Where does the roe deer live?",
    ],
)
def test_everyday_words_are_no_terms_of_the_trade(question: str) -> None:
    assert Synonyms.load().of(question) == ()


def test_the_longest_term_wins() -> None:
    shipped = Synonyms.load()
    assert "net sales" not in shipped.of("What was the cost of revenue?")
    assert "net income" not in shipped.of("What was the gross profit margin?")
    assert "cost of sales" in shipped.of("What was the gross profit margin?")
    assert shipped.of("What are the COGS?") == shipped.of("What are COGS for 2020?")
    assert "total assets" in shipped.of("What is the ROA?")


def test_a_home_adds_replaces_and_takes_away(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").write_text(
        '[same]\n"widget" = ["gadget"]\n"balance sheet" = []\n[made_of]\n"quick ratio" = ["cash"]\n', "utf-8"
    )
    own = Synonyms.load(tmp_path)
    assert own.of("a gadget") == ("widget",)
    assert own.of("the balance sheet") == ()
    assert own.of("the quick ratio") == ("cash",)
    assert own.of("our capex")
    (tmp_path / "synonyms.toml").write_text('[same]\n"Capex" = []\n[made_of]\n"EBITDA" = []\n', "utf-8")
    own = Synonyms.load(tmp_path)
    assert own.of("our capex") == own.of("the ebitda") == ()
    assert "capital spending" in own.of("the capital expenditures")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[same", "is not valid TOML"),
        ('[same]\n"a term" = "another"\n', "same.a term"),
        ("[alike]\n", "alike"),
        ('[same]\n"x" = ["longer"]\n', "same"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "synonyms.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=said) as caught:
        Synonyms.load(tmp_path)
    assert str(tmp_path) in str(caught.value)
