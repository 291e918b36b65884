from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieve.fuse import by_names, convex, ranking, stretched
from ragcore.types import Chunk

SIDE = st.dictionaries(st.sampled_from([f"d:{n}" for n in range(12)]), st.sampled_from([0.0, 0.1, 0.5, 0.7, 3.0, 9.5]))
ALPHA = st.floats(0.0, 1.0)


def test_each_side_counts_on_its_own_scale() -> None:
    # .6 · .5 + .4 · 10 / 20 = .5, .6 · .5 = .3 and .6 · .4 + .4 · 10 / 20 = .44, stretched
    fused = convex({"a": 0.5, "b": 0.5, "c": 0.4}, {"a": 10.0, "c": 10.0}, most=20.0, alpha=0.6)
    assert fused == pytest.approx({"a": 1.0, "b": 0.0, "c": 0.7})


def test_a_candidate_without_a_cosine_counts_as_the_farthest() -> None:
    fused = convex({"a": 0.7, "b": 0.5}, {"c": 5.0}, most=10.0, alpha=0.5)
    assert fused == pytest.approx({"a": 0.4, "b": 0.0, "c": 1.0})


def test_words_that_no_passage_holds_together_count_little() -> None:
    vector, bm25 = {"near": 0.8, "far": 0.6}, {"far": 2.0, "near": 0.0}
    assert ranking(convex(vector, bm25, most=40.0, alpha=0.6)) == ["near", "far"]
    assert ranking(convex(vector, bm25, most=4.0, alpha=0.6)) == ["far", "near"]


def test_one_side_may_be_empty() -> None:
    assert convex({"a": 0.9, "b": 0.5}, {}, most=0.0, alpha=0.5) == pytest.approx({"a": 1.0, "b": 0.0})
    assert convex({}, {"a": 1.0, "b": 2.0}, most=9.0, alpha=0.5) == pytest.approx({"a": 0.0, "b": 1.0})
    assert convex({}, {}, most=0.0, alpha=0.5) == {}


@given(SIDE, SIDE, ALPHA)
def test_the_order_of_those_with_both_scores_does_not_depend_on_the_others(
    vector: dict[str, float], bm25: dict[str, float], alpha: float
) -> None:
    whole = convex(vector, bm25, most=12.0, alpha=alpha)
    both = vector.keys() & bm25.keys()
    alone = convex({i: vector[i] for i in both}, {i: bm25[i] for i in both}, most=12.0, alpha=alpha)
    pairs = [(i, j) for i in both for j in both if alone[i] > alone[j] + 1e-9]
    assert all(whole[i] > whole[j] for i, j in pairs)


def test_a_single_candidate_is_the_best_there_is() -> None:
    assert stretched({"a": 0.2}) == {"a": 1.0}
    assert stretched({}) == {}


def test_a_row_gains_by_its_own_name_or_its_tables() -> None:
    texts = {
        "own": "BALANCE SHEETS — ASSETS / Current assets: / Inventories | May 31, 2023: $ 8,454",
        "other": "BALANCE SHEETS — ASSETS / Current assets: / Prepaid inventory insurance | May 31, 2023: $ 12",
        "table": "INVENTORIES AT YEAR END — ASSETS / Land | May 31, 2023: $ 4",
        "group": "BALANCE SHEETS — INVENTORIES AT YEAR END / Land | May 31, 2023: $ 4",
        "prose": "Inventories | and more at year end",
    }
    chunks = {
        name: Chunk(name, "d", n, "text" if name == "prose" else "table", n, n + 1, text)
        for n, (name, text) in enumerate(texts.items())
    }
    fused = by_names(dict.fromkeys(texts, 0.4), chunks, {"inventori", "year", "end"}, set(), weight=0.3)
    assert fused["own"] > fused["other"] > fused["group"] == fused["prose"]
    assert fused["table"] == fused["own"] <= 1.0


def test_of_rows_with_all_words_asked_for_the_central_tables_gains_most() -> None:
    rent = "INCOME — Rent | 2023: $ 3,501"
    texts = {
        "part": "FERRIES — Total ferry revenue | 2023: $ 8,454",
        "row": "INCOME — Total operating revenue | 2023: $ 61,204",
        "rent": rent,
        "statement": f"INCOME — Total operating revenue | 2023: $ 61,204\n{rent}",
        "note": "RENT — Piers | 2023: $ 3,501\nRENT — Sheds | 2023: $ 12",
        "other": "INCOME — Wages | 2023: $ 7,118",
    }
    tiles = {"statement": (1, 2), "note": (7, 8)}
    chunks = {
        name: Chunk(name, "d", n, "table", n, n + 1, text, tiles=tiles.get(name))
        for n, (name, text) in enumerate(texts.items())
    }
    asked, level = {"total", "revenu"}, dict.fromkeys(texts, 0.4)
    fused = by_names(level, chunks, asked, {*asked, "2023"}, weight=0.3)
    assert fused["row"] > fused["part"] > fused["note"] == fused["other"]
    assert fused["statement"] > fused["note"]
    unnamed = by_names(level, chunks, asked, {*asked, "gross"}, weight=0.3)
    assert unnamed["row"] == unnamed["part"]


def test_ties_have_a_fixed_order() -> None:
    assert ranking({"b": 1.0, "c": 2.0, "a": 1.0}) == ["c", "a", "b"]


@given(SIDE, SIDE, ALPHA, st.randoms())
def test_the_order_of_the_candidates_as_given_does_not_matter(
    vector: dict[str, float], bm25: dict[str, float], alpha: float, random: Random
) -> None:
    def shuffled(side: dict[str, float]) -> dict[str, float]:
        items = list(side.items())
        random.shuffle(items)
        return dict(items)

    mixed = convex(shuffled(vector), shuffled(bm25), most=12.0, alpha=alpha)
    assert mixed == convex(vector, bm25, most=12.0, alpha=alpha)
