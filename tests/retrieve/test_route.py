"""Which documents a question names, and what that does to the ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.index.indexer import Indexer
from ragcore.index.store import Store
from ragcore.retrieve.agentic import AgenticRetriever
from ragcore.retrieve.hybrid import HybridRetriever
from ragcore.retrieve.route import DocumentNames, chosen, discounted
from ragcore.text.periods import Period, period_fit, period_of, period_of_title
from ragcore.types import Retrieval, Route
from tests.libraries import HashEmbedder, OverlapReranker, add_document

FILINGS = [
    ("3m18", "3M COMPANY Form 10-K 2018", "3M_2018_10K.pdf"),
    ("3m22", "3M COMPANY Form 10-K 2022", "3M_2022_10K.pdf"),
    ("amd", "ADVANCED MICRO DEVICES, INC. Form 10-K 2018", "filing-1.pdf"),
    ("amex", "American Express Company Form 10-K 2018", "AMERICANEXPRESS_2018_10K.pdf"),
    ("water", "AMERICAN WATER WORKS COMPANY, INC. Form 10-K 2018", "AMERICANWATERWORKS_2018_10K.pdf"),
    ("jnj", "JOHNSON & JOHNSON Form 10-K 2018", "0000200406-19-000009.pdf"),
    ("jpm1", "JPMORGAN CHASE & CO. Form 10-Q March 31, 2021", "q.pdf"),
    ("jpm2", "JPMORGAN CHASE & CO. Form 10-Q June 30, 2021", "r.pdf"),
    ("foot", "0001437749-22-003123", "FOOTLOCKER_2022_8K.pdf"),
    ("mills", "GENERAL MILLS, INC. Form 10-K 2018", "GENERALMILLS_2018_10K.pdf"),
    ("moody", "Moody’s Corporation Annual Report 2018", "annual_report.pdf"),
    ("nestle", "Nestlé Annual Report 2018", "report.pdf"),
]
NAMES = DocumentNames(FILINGS)


def best(question: str, names: DocumentNames = NAMES, **scope: Any) -> list[str]:
    """The documents with the highest prior."""
    routes = names.routes(question, **scope)
    return [route.doc_id for route in routes if route.prior == routes[0].prior]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was 3M's 2018 capex?", "3m18"),
        ("what was 3m's capex in FY22?", "3m22"),
        ("What did Advanced Micro Devices spend on R&D?", "amd"),
        ("How much D&A did AMD report?", "amd"),
        ("Does AMEX have an improving margin?", "amex"),
        ("What is American Express's tax rate?", "amex"),
        ("dividends of american water works", "water"),
        ("What did J&J sell?", "jnj"),
        ("What did Johnson & Johnson sell?", "jnj"),
        ("What did Johnson and Johnson sell?", "jnj"),
        ("Which of JPM's segments lost in Q2 2021?", "jpm2"),
        ("Which of JP Morgan's segments lost in the first quarter of 2021?", "jpm1"),
        ("Who is Foot Locker's new CEO?", "foot"),
        ("Who is the CEO of Footlocker?", "foot"),
        ("Is General Mills' cash enough?", "mills"),
        ("Did Moody's pay dividends?", "moody"),
        ("Did Nestle pay dividends?", "nestle"),
    ],
)
def test_the_document_named_comes_first(question: str, expected: str) -> None:
    assert best(question) == [expected]


@pytest.mark.parametrize(
    "question",
    [
        "What is the general trend of expenses?",
        "What does the annual report say about the form of the company?",
        "What were EBITDA, COGS and PP&E?",
        "How does the water run in American rivers?",
        "Were there board nominees with more votes against them?",
        "",
    ],
)
def test_a_question_that_names_none_has_no_routes(question: str) -> None:
    assert NAMES.routes(question) == []


@pytest.mark.parametrize("behind", ["Inc.", "Company", "Group", "Corp", "10-K", "FY2020", "Q2", "Annual Report", "CEO"])
def test_what_stands_behind_any_company_s_name_begins_no_other(behind: str) -> None:
    names = DocumentNames([("foot", "Acme Locker, Inc. Form 8-K 2021", "x.pdf"), ("b", "Other", "y.pdf")])
    assert best(f"What does the Acme {behind} say?", names) == ["foot"]


def test_two_documents_named_are_both_raised() -> None:
    routes = {route.doc_id: route for route in NAMES.routes("Compare the 2018 margins of 3M and General Mills")}
    assert routes["3m18"].prior == routes["mills"].prior == 1.0
    assert set(routes) == {"3m18", "3m22", "mills"}


def test_each_name_has_its_best_document_where_the_year_asked_about_is_missing() -> None:
    years = DocumentNames(
        [
            ("a22", "Acme Form 10-K 2022", "a"),
            ("b20", "Globex Form 10-K 2020", "b"),
            ("b21", "Globex Form 10-K 2021", "c"),
            *((str(i), f"Other {i}", str(i)) for i in range(4)),
        ]
    )
    found = {route.doc_id: route.prior for route in years.routes("How do Acme and Globex compare in 2022?")}
    assert found["a22"] == found["b21"] == 1.0 > found["b20"]


def test_near_years_get_part_and_the_reason_says_so() -> None:
    names = DocumentNames(
        [(str(year), f"ACME INC. Form 10-K {year}", f"{year}.pdf") for year in range(2015, 2021)]
        + [("x", "Other", "x")]
    )
    routes = names.routes("What was Acme's capex in fiscal year 2018?")
    assert [route.doc_id for route in routes[:3]] == ["2018", "2019", "2017"]
    assert routes[0].reason == "named: Acme; year: 2018"
    assert routes[1].reason == "named: Acme; near year: 2019"
    assert "named: Acme; other year: 2015" in {route.reason for route in routes}


def test_a_change_between_two_years_is_in_the_later_report() -> None:
    names = DocumentNames(
        [(str(year), f"Acme Form 10-K {year}", f"{year}.pdf") for year in (2015, 2016, 2017)] + [("x", "Other", "x")]
    )
    assert best("How did Acme's income change from FY2015 to FY2016?", names) == ["2016"]


def test_what_all_documents_are_called_distinguishes_nothing() -> None:
    same = DocumentNames([("a", "Acme manual", "acme_a.pdf"), ("b", "Acme manual", "acme_b.pdf")])
    assert same.routes("How do I start my Acme?") == []
    years = DocumentNames([(str(y), f"Acme report {y}", f"acme_{y}.pdf") for y in (2018, 2019, 2022)])
    assert best("What did Acme earn in 2022?", years) == ["2022"]
    assert years.routes("What did Acme earn in 2022?")[0].reason == "named: Acme; year: 2022"


SERIES = DocumentNames(
    [
        ("a15", "ACME SYSTEMS INC. Form 10-K 2015", "1.pdf"),
        ("a22", "ACME INC. Form 10-K 2022", "2.pdf"),
        ("q1", "ACME INC. Form 10-Q March 31, 2023", "3.pdf"),
        ("b20", "Globex Form 10-K 2020", "globex_2020_10K.pdf"),
        ("b21", "Globex Form 10-K 2021", "globex_2021_10K.pdf"),
        ("guide", "Guide to oysters", "guide.pdf"),
    ]
)


@pytest.mark.parametrize(
    ("question", "scope", "expected"),
    [
        ("Who runs Acme?", None, ["a22", "q1"]),
        ("Who runs the company?", ["a15", "a22"], ["a22"]),
        ("Who runs each company?", ["a15", "a22", "b20", "b21", "guide"], ["a22", "b21", "guide"]),
        ("Who ran Acme in fy15?", None, ["a15"]),
        ("Who runs it?", ["a15", "q1", "guide"], []),
    ],
)
def test_without_a_period_the_latest_of_a_series_is_meant(
    question: str, scope: list[str] | None, expected: list[str]
) -> None:
    routes = SERIES.routes(question, scope, latest=True)
    assert [route.doc_id for route in routes if route.prior == routes[0].prior] == expected


def test_what_comes_before_the_latest_loses_part_of_its_prior_and_says_so() -> None:
    reasons = {route.doc_id: route.reason for route in SERIES.routes("Who runs Globex?", latest=True)}
    assert reasons == {"b21": "named: Globex; latest: 2021", "b20": "named: Globex; earlier: 2020"}
    assert {route.prior for route in SERIES.routes("Who runs Globex?")} == {1.0}


def test_a_year_alone_says_nothing_where_few_documents_are_dated() -> None:
    names = DocumentNames([("a", "Acme 2018", "a"), ("b", "Census", "b"), ("c", "Atlas", "c"), ("d", "Guide", "d")])
    assert names.routes("How many people lived there in 2018?") == []


def test_a_scope_of_one_document_is_not_routed() -> None:
    assert NAMES.routes("What was 3M's 2018 capex?", ["3m22"]) == []
    assert best("What was 3M's 2018 capex?", doc_ids=["3m22", "amd"]) == ["3m22"]


def test_a_topic_of_many_documents_is_no_name() -> None:
    names = DocumentNames(
        [("a", "Interferons: success in therapy", "a"), ("b", "A study of mice", "b"), ("c", "Cells", "c")]
    )

    def everywhere(_: str) -> dict[str, int]:
        return {"a": 1, "b": 9, "c": 9}

    assert best("Do mice lack Interferon?", names) == ["a"]
    assert names.routes("Do mice lack Interferon?", mentions=everywhere) == []
    assert best("Do mice lack Interferon?", names, mentions=lambda _: {"a": 5}) == ["a"]


def test_a_name_that_all_documents_say_as_often_tells_none_apart() -> None:
    names = DocumentNames([("form", "Form FDA 1571", "a"), ("rule", "Title 21", "b"), ("guide", "Guidance", "c")])
    everywhere = {"form": 29, "rule": 40, "guide": 30}
    assert names.routes("When does FDA receive it?", mentions=lambda _: everywhere) == []
    assert best("When does FDA receive it?", names, mentions=lambda _: {"form": 29, "rule": 2, "guide": 1}) == ["form"]
    found = names.routes("When does FDA receive it?", mentions=lambda _: {"form": 29, "rule": 40})
    assert {(route.doc_id, route.prior) for route in found} == {("form", found[0].prior), ("rule", found[0].prior)}


def test_a_word_of_a_long_title_names_no_other_document_that_says_it() -> None:
    long = "Guidance on Content and Format of Investigational Applications for Phase 1 Studies of Drugs and Biologics"
    names = DocumentNames([("guide", long, "a"), ("form", "Instructions", "b"), ("rule", "Title 21", "c")])
    said = {"guide": 30, "form": 6, "rule": 40}
    assert names.routes("When may a Phase 1 study begin?", mentions=lambda _: said) == []


def test_chinese_names_are_found_within_a_sentence() -> None:
    names = DocumentNames([("a", "小米集团 2018", "a.pdf"), ("b", "腾讯控股 2018", "b.pdf"), ("c", "Other", "c.pdf")])
    assert best("小米集团2018年的收入是多少", names) == ["a"]


@pytest.mark.parametrize(
    ("text", "years", "quarters"),
    [
        ("FY2018 and FY19", {2018, 2019}, set()),
        ("fiscal year 2018", {2018}, set()),
        ("FY 2018-2020", {2018, 2020}, set()),
        ("As of Q2'2023", {2023}, {2}),
        ("drop in Q22023", {2023}, {2}),
        ("in 2021 Q1", {2021}, {1}),
        ("JPMORGAN_2021Q1_10Q", {2021}, {1}),
        ("1Q21 results", {2021}, {1}),
        ("the second fiscal quarter of 2023", {2023}, {2}),
        ("$2,018 or $2018 or 2018.5 or 2018%", set(), set()),
        ("in mid-2026, or 10-2026", {2026}, set()),
        ("in 12018 units", set(), set()),
    ],
)
def test_periods(text: str, years: set[int], quarters: set[int]) -> None:
    found = period_of(text)
    assert (set(found.years), set(found.quarters)) == (years, quarters)


def test_a_quarterly_report_s_date_gives_its_quarter() -> None:
    assert period_of_title("ACME Form 10-Q June 30, 2022").quarters == {2}
    assert period_of_title("ACME Form 10-K June 30, 2022").quarters == set()


def test_fit_is_one_without_a_question_and_never_more() -> None:
    document = period_of_title("Acme Form 10-K 2018")
    assert period_fit(Period(), document) == 1.0
    assert period_fit(period_of("2018"), document) == 1.0
    assert (
        period_fit(period_of("2017"), document)
        > period_fit(period_of("2016"), document)
        > period_fit(period_of("2010"), document)
        == 0.0
    )
    assert period_fit(period_of("2018"), Period()) == 0.5


def test_the_discount_leaves_the_best_named_alone() -> None:
    scores = {"a:0": 0.6, "b:0": 0.8, "c:0": 1.0}
    owners = {"a:0": "a", "b:0": "b", "c:0": "c"}
    assert discounted(scores, owners, {}, 0.5) == scores
    found = discounted(scores, owners, {"a": 0.8, "b": 0.4}, 0.5)
    assert found == pytest.approx({"a:0": 0.6, "b:0": 0.64, "c:0": 0.6})


def test_only_well_named_documents_are_searched_by_themselves() -> None:
    routes = [Route("a", 1.0), Route("b", 0.5), Route("c", 0.4)]
    assert chosen(routes, 8) == ["a", "b"]
    assert chosen(routes, 1) == ["a"]
    assert chosen([], 8) == []
    assert chosen([Route(str(i), 0.5) for i in range(9)], 8) == []


# In the pipeline

PASSAGES = ["Capital expenditures were 100 million.", "The auditor found no weakness.", "Dividends were paid."]
Make = Callable[..., AgenticRetriever]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    store = Store(tmp_path)
    for company in ("acme", "globex", "initech", "umbrella"):
        add_document(store, f"{company.upper()}_2018_10K.pdf", [f"{p} Site {company[::-1]}." for p in PASSAGES])
    embedder = HashEmbedder()
    indexer = Indexer(store, embedder, load(environ={})[0].index)
    indexer.update()
    vectors, sparse = indexer.open()

    def make(*, routed: bool = True, mode: str = "hybrid", rerank: bool = True, **overrides: Any) -> AgenticRetriever:
        settings, _ = load(environ={}, overrides={k.replace("__", "."): v for k, v in overrides.items()})
        names = DocumentNames(store.names()) if routed else None
        reranker = OverlapReranker() if rerank else None
        parts = (embedder, vectors, sparse, reranker, store.chunks_by_id, settings)
        return AgenticRetriever(HybridRetriever(*parts, mode=mode, names=names), parts=())

    return make


def owners(found: Retrieval) -> Sequence[str]:
    return [hit.chunk.header.split("_")[0] for hit in found.hits]


QUESTION = "What were Globex's capital expenditures?"


@pytest.mark.parametrize("mode", ["hybrid", "vector", "bm25"])
def test_chunks_of_the_named_document_come_first_and_say_so(make: Make, mode: str) -> None:
    found = make(mode=mode).retrieve(QUESTION, top_k=12)
    assert owners(found)[0] == "GLOBEX"
    assert found.hits[0].scores["prior"] == found.routes[0].prior == 1.0
    assert found.hits[0].via.endswith("+named")
    assert found.routes[0].reason == "named: Globex"
    assert "route" in found.timings_ms
    other = next(hit for hit in found.hits if "GLOBEX" not in hit.chunk.header)
    assert other.scores["prior"] == 0.0
    assert "named" not in other.via


def test_a_document_not_named_can_win_with_a_much_better_chunk(make: Make) -> None:
    found = make(route__weight=0.1).retrieve("Globex: dividends were paid at site hcetini", top_k=12)
    assert found.routes[0].reason == "named: Globex"
    assert owners(found)[0] == "INITECH"
    assert owners(make(route__weight=1.0).retrieve(QUESTION, top_k=3)) == ["GLOBEX"] * 3


def test_a_question_that_names_none_is_answered_as_without_routing(make: Make) -> None:
    for rerank in (True, False):
        plain = make(routed=False, rerank=rerank).retrieve("capital expenditures and dividends", top_k=12)
        routed = make(rerank=rerank).retrieve("capital expenditures and dividends", top_k=12)
        assert routed.routes == ()
        assert (routed.hits, routed.segments) == (plain.hits, plain.segments)
        assert all("prior" not in hit.scores for hit in routed.hits)


def test_a_weight_of_zero_is_without_routing(make: Make) -> None:
    assert (
        make(route__weight=0.0).retrieve(QUESTION, top_k=12).hits
        == make(routed=False).retrieve(QUESTION, top_k=12).hits
    )


def test_the_named_document_is_searched_even_where_it_is_not_among_the_first(make: Make) -> None:
    narrow = {"retrieve__candidates": 2, "rerank__candidates": 1, "route__weight": 0.9, "rerank": False}
    question = "Globex: site emca, emca and emca, capital expenditures"
    assert {hit.chunk.header for hit in make(routed=False, **narrow).retrieve(question, top_k=1).hits} == {
        "ACME_2018_10K.pdf"
    }
    found = make(**narrow).retrieve(question, top_k=1)
    assert owners(found) == ["GLOBEX"]


def test_a_new_document_is_known_at_the_next_question(tmp_path: Path) -> None:
    with Engine.open(tmp_path, overrides={"rerank.model": "none"}) as engine:
        add_document(engine.store, "ACME_2018.pdf", PASSAGES)
        add_document(engine.store, "GLOBEX_2018.pdf", PASSAGES)
        first = engine.search.names()
        assert engine.search.names() is first
        add_document(engine.store, "INITECH_2018.pdf", PASSAGES)
        assert [route.reason for route in engine.search.names().routes("Initech's dividends")] == ["named: Initech"]
