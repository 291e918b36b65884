"""Sets of questions, as people and published sets write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from ragcore.errors import InputError
from ragcore.evaluate.cases import Case, CaseSet, Evidence, read_cases


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_ones_own_table_is_read_whatever_its_columns_are_called(tmp_path: Path) -> None:
    rows = [
        ["ID", "Question", "Answer", "Documents", "Pages", "Answerable"],
        ["a", "How long is the bridge?", "92 m", "bridge.pdf", "3; 4", "yes"],
        [],
        ["", "Who built it?", "", "bridge.pdf; roads.pdf", "1;7", ""],
        ["", "What does it weigh?", None, "", "", "no"],
    ]
    sheet = Workbook()
    assert sheet.active is not None
    for row in rows:
        sheet.active.append(row)
    sheet.save(tmp_path / "own.xlsx")
    text = "\n".join(",".join("" if cell is None else cell for cell in row) for row in rows)
    found = read_cases(tmp_path / "own.xlsx")
    assert found.cases == read_cases(written(tmp_path / "own.csv", text)).cases
    first, second, third = found.cases
    assert first.evidence == (Evidence("bridge.pdf", 3), Evidence("bridge.pdf", 4))
    assert (first.case_id, first.documents, first.answer) == ("a", ("bridge.pdf",), "92 m")
    assert second.evidence == (Evidence("bridge.pdf", 1), Evidence("roads.pdf", 7))
    assert (second.case_id, third.answerable, third.evidence) == ("4", False, ())


PUBLISHED = {
    "financebench": {
        "financebench_id": "f1",
        "doc_name": "MARSH_2030_10K",
        "question": "q?",
        "answer": "$4",
        "evidence": [{"evidence_text": "four", "doc_name": "MARSH_2030_10K", "evidence_page_num": 8}],
    },
    "mmlongbench": {"doc_id": "d.pdf", "question": "q?", "answer": "Not answerable", "evidence_pages": "[]"},
    "musique": {
        "id": "m1",
        "question": "q?",
        "answer": "a",
        "paragraphs": [
            {"title": "One", "paragraph_text": "x", "is_supporting": True},
            {"title": "Two", "paragraph_text": "y", "is_supporting": False},
        ],
    },
    "hotpotqa": {
        "_id": "h1",
        "question": "q?",
        "answer": "a",
        "supporting_facts": [["One", 0], ["One", 2], ["Two", 1]],
    },
    "scifact": {"id": 7, "claim": "q?", "cited_doc_ids": [11]},
    "kite": {"query": "q?", "gt_answer": "a", "rubric": "names both"},
    "ragchecker": {"query_id": "3", "query": "q?", "gt_answer": "a"},
}


@pytest.mark.parametrize("form", PUBLISHED)
def test_published_sets_are_told_by_their_keys(form: str, tmp_path: Path) -> None:
    file = written(tmp_path / "set.jsonl", json.dumps(PUBLISHED[form]) + "\n")
    (case,) = read_cases(file).cases
    assert case == read_cases(file, form).cases[0]
    assert case.question == "q?"
    expected = {
        "financebench": (Evidence("MARSH_2030_10K", 9, "four"),),
        "musique": (Evidence("One", 0, "x"),),
        "hotpotqa": (Evidence("One"), Evidence("Two")),
        "scifact": (Evidence("11"),),
    }
    assert case.evidence == expected.get(form, ())
    assert case.answerable == (form != "mmlongbench")
    assert case.rubric == ("names both" if form == "kite" else "")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "question,page\nWhy?,0", "line 2: '0' is no page"),
        ("a.csv", "question,page\nWhy?,3", "line 2: a page has no document"),
        ("a.csv", "question,document,page\nWhy?,a.pdf; b.pdf,3", "line 2: 2 documents have 1 pages"),
        ("a.csv", "question,answerable\nWhy?,perhaps", "line 2: answerable is 'perhaps'"),
        ("a.csv", "id,question\n1,Why?\n1,How?", "line 3: '1' is on line 2 too"),
        ("a.csv", "id,question\n1, ", "line 2: the question is empty"),
        ("a.csv", 'question,answerable\n"Why\nnow?",yes\nHow?,perhaps', "line 4: answerable is 'perhaps'"),
        ("a.csv", "frage\nWarum?", 'no column "question"'),
        ("a.csv", "", "has no questions"),
        ("a.jsonl", '{"question": "Why?"}\n{"question"', "line 2: not valid JSON"),
        ("a.jsonl", '{"question": "Why?"}\n[]', "line 2: not a JSON object"),
        ("a.jsonl", '{"what": "Why?"}', "in no known format"),
        ("a.jsonl", '{"question": "Why?", "paragraphs": []}', "line 1: “id” is missing"),
        ("a.json", '{"a": 1}', "has no list of questions"),
        ("a.txt", "Why?", "is no CSV, XLSX, JSON or JSONL file"),
        ("a.xlsx", "no workbook", "can't be opened as a workbook"),
    ],
)
def test_a_faulty_set_is_told_by_its_line(name: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read_cases(written(tmp_path / name, text))
    assert said in raised.value.message
    assert "\n" not in raised.value.message


def test_bytes_that_are_no_text_and_an_unknown_format(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"question\n\xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        read_cases(tmp_path / "a.csv")
    with pytest.raises(InputError, match="no format"):
        read_cases(written(tmp_path / "b.csv", "question\nWhy?"), "other")
    with pytest.raises(InputError, match="can't be read"):
        read_cases(tmp_path / "none.csv")


texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
cases = st.builds(
    Case,
    case_id=st.integers(1, 10_000).map(str),
    question=texts.map(lambda text: f"Why {text}?"),
    answer=texts,
    evidence=st.lists(st.builds(Evidence, texts, st.integers(0, 99), texts), max_size=3).map(tuple),
    answerable=st.booleans(),
    documents=st.lists(texts, max_size=2).map(tuple),
    rubric=texts,
    tag=texts,
)


words = st.text(
    st.characters(whitelist_categories=["L", "N", "P", "S"], blacklist_characters="'"), min_size=1, max_size=9
)
lines = st.lists(words, min_size=1, max_size=3).map(" ".join)
places = st.builds(Evidence, words.map(lambda name: f"{name.replace(';', '')}.pdf"), st.integers(1, 99), lines)


@given(st.lists(places, max_size=3), lines, lines, st.sampled_from(["", "=1+1", "-x", "5"]), st.lists(st.just("x.pdf")))
def test_a_set_in_a_table_is_read_back_as_it_was(
    given: list[Evidence], question: str, answer: str, tag: str, asked: list[str]
) -> None:
    import tempfile

    documents = tuple(dict.fromkeys(asked))  # those that it was asked of, wherever its evidence stands
    made = CaseSet("made", (Case("a", question, answer, tuple(given), documents=documents, tag=tag), Case("b", "Why?")))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made.csv"
        file.write_text(made.to_csv(), "utf-8", newline="")
        assert read_cases(file) == made


def test_what_fits_no_table_is_told() -> None:
    for evidence in ([Evidence("a;b.pdf", 1)], [Evidence("a.pdf", 1), Evidence("a.pdf")]):
        with pytest.raises(InputError, match="fits no table"):
            CaseSet("made", (Case("a", "Why?", evidence=tuple(evidence)),)).to_csv()


@given(st.lists(cases, min_size=1, max_size=4, unique_by=lambda case: case.case_id))
def test_an_exported_set_is_read_back_as_it_was(given: list[Case]) -> None:
    import tempfile

    made = CaseSet("made", tuple(given))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made.jsonl"
        file.write_bytes(made.to_jsonl().encode())
        again = read_cases(file)
    assert (again, again.digest) == (made, made.digest)
