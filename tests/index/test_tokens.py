import pytest

from ragcore.index.bm25 import terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BMS-986158", ["bms-986158", "986158"]),
        ("Form 10-K/A", ["form", "10-k/a", "10"]),
        ("3.5 mg", ["3.5", "mg"]),
        ("§ 4.2", ["§4.2", "4.2"]),
        ("1,234.5", ["1,234.5", "1234.5"]),
        ("12,345,678", ["12345678"]),
        ("FY2018", ["fy2018", "2018"]),
        ("U.S. GAAP", ["u.s", "us", "gaap"]),
        ("R&D", ["r&d"]),
        ("long-term", ["long-term", "long", "term"]),
        ("long‑term", ["long-term", "long", "term"]),
        ("the company’s own", ["company", "compani"]),
        ("inhibits", ["inhibits", "inhibit"]),
        ("café", ["café"]),
        ("ﬁnance", ["finance", "financ"]),
        ("max_tokens", ["max_tokens", "max", "tokens", "token"]),
    ],
)
def test_a_text_gives_these_terms_among_others(text: str, expected: list[str]) -> None:
    assert set(expected) <= set(terms(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DiffExecutor", ["diffexecutor", "diffexecutor", "diff", "executor"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("run_TestCases", ["run_testcases", "run", "test", "cases"]),
        ("std::mapOfWeights", ["std", "mapofweights", "map", "weights"]),
        ("mRNA's", ["mrna", "rna"]),
        ("PDFs", ["pdfs"]),
        ("PepsiCo", ["pepsico", "pepsi", "co"]),
    ],
)
def test_a_name_in_mixed_case_gives_its_words_too(text: str, expected: list[str]) -> None:
    given = terms(text)
    assert set(expected) <= set(given)
    assert given[0] == expected[0]
    assert set(terms(text.lower())) <= set(given)
    assert "d" not in given


def test_a_list_separated_by_commas_is_not_one_number() -> None:
    assert terms("1,23,456") == ["1", "23,456", "23456"] or "1,23,456" not in terms("1,23,456")
    assert "2019,2020" not in terms("2019,2020")


def test_function_words_are_left_out() -> None:
    assert terms("What was the of and is it?") == []


def test_a_repeated_word_counts_each_time() -> None:
    assert terms("cash and cash") == ["cash", "cash"]


def test_an_exact_form_shares_more_terms_than_a_related_one() -> None:
    asked = set(terms("acquisitions"))
    assert len(asked & set(terms("acquisitions"))) > len(asked & set(terms("acquisition"))) > 0


def test_no_text_gives_no_terms() -> None:
    assert terms("") == []
    assert terms(" …—() ") == []


def test_scripts_without_blanks_give_pairs_of_characters() -> None:
    assert terms("水质调查") == ["水质", "质调", "调查"]
    assert terms("2023年 COVID-19关联") == ["2023", "年", "covid-19", "covid", "19", "关联"]
    assert set(terms("감염병을")) >= set(terms("감염"))
