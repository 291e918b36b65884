"""Benchmarks: sets over their own libraries, records of figures, and the page that is made of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pymupdf
import pytest
from pydantic import ValidationError

from benchmarks import check, measured, records, sets
from benchmarks.__main__ import NAMES
from benchmarks.common import ROOT, data_root, words
from benchmarks.records import Record
from benchmarks.sets import Published
from benchmarks.two_hop import FOLDERS
from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet, Evidence
from ragcore.evaluate.runs import Configuration
from tests.documents import Grid, make_document

PASSAGES = (
    ("p.1", "Larkfield Mill", "Larkfield Mill is owned by the firm Harrow and Sons, which makes paper."),
    ("p.2", "Harrow and Sons", "The founder of Harrow and Sons was born in Dunmore and kept bees."),
    ("p.3", "Dunmore", "Dunmore lies on the river Orr and has a bridge of nine arches."),
)
ASKED = (
    Case("1", "How many arches has the bridge of Dunmore?", "nine", (Evidence("p.3"),)),
    Case("2", "Who owns Larkfield Mill, and where was its founder born?", "", (Evidence("p.1"), Evidence("p.2"))),
)
PUBLISHED = Published(
    lambda: ASKED, {"BM25": sets.SIDES["BM25"], "the default": {}}, sets.SHARES, passages=lambda: PASSAGES
)


def test_a_set_of_passages_is_searched_in_its_own_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ways = [Configuration(name, overrides) for name, overrides in PUBLISHED.configurations.items()]
    with Engine.open(tmp_path, overrides={"llm.model": "offline"}) as engine:
        for _ in range(2):
            sets.filled(engine, PUBLISHED)
        assert len(engine.documents()) == len(PASSAGES)
        sets.measured(engine, PUBLISHED, CaseSet("made", ASKED), ways, search=True)
        found = engine.evaluation.evaluated(engine.evaluation.runs()[0].run_id)
    assert (found.info.searched, found.means()["recall_at_5"]) == (True, (1.0, 2))
    head, _, *rows = [line.strip("| ").split("|") for line in capsys.readouterr().out.splitlines()]
    assert [head[1].strip(), rows[1][0].strip(), rows[1][1].strip()] == ["recall@5", "the default", "1.000"]


SENTENCES = check.sentences()
DRAFTS = {doc: [one for one in SENTENCES if one.doc == doc] for doc in {one.doc for one in SENTENCES}}


def test_drafts_are_of_one_half_and_both_halves_have_every_kind_of_error() -> None:
    assert len({one.id for one in SENTENCES}) == len({one.text for one in SENTENCES}) == len(SENTENCES)
    assert Counter(of_one[0].half for of_one in DRAFTS.values()) == {
        "dev": 6,
        "held": 6,
        "dev-2": 2,
        "held-2": 2,
        "held-3": 2,
        "dev-3": 6,
        "held-4": 6,
        "dev-4": 4,
        "held-5": 4,
        "held-6": 5,
        "held-7": 5,
    }
    for of_one in DRAFTS.values():
        assert len({(one.half, one.title) for one in of_one}) == 1
        assert {one.label for one in of_one} >= {"true", "error"}
        for one in of_one:
            assert one.places or one.label == "opinion" or one.kind in ("invented", "cause"), one.id
            assert all(page > 0 and 1 <= len(said.split()) <= 8 for page, said in one.places), one.id
    dev, held = ({one.kind for one in SENTENCES if (one.half, one.label) == (h, "error")} for h in check.HALVES[:2])
    assert dev == held


@pytest.mark.parametrize("doc", sorted(DRAFTS), ids=lambda doc: Path(doc).name)
def test_the_evidence_of_a_draft_stands_on_its_page(doc: str) -> None:
    file = next(data_root() / part / f"{Path(doc).name}.pdf" for part in FOLDERS if part.startswith(Path(doc).parts[0]))
    if not file.is_file():
        pytest.skip(f"the measuring data is not here: {file}")
    with pymupdf.open(file) as pdf:
        printed = {page: f" {' '.join(words(pdf[page - 1].get_text()))} " for s in DRAFTS[doc] for page, _ in s.places}
    missing = [
        (s.id, said)
        for s in DRAFTS[doc]
        for page, said in s.places
        if f" {' '.join(words(said))} " not in printed[page]
    ]
    assert not missing


def test_evidence_is_found_as_whole_words_and_along_a_row_whatever_is_repeated_in_it() -> None:
    document = make_document(
        "Sales were $1,884 million, not 11,884.", Grid("", [["", "2023", "2022"], ["Net", "5", "7"]])
    )
    assert [document.text[a:b] for a, b in check.standing(document, 1, "1,884")] == ["$1,884"]
    ((start, end),) = check.standing(document, 1, "Net 5 7")
    assert document.text[start:end].startswith("Net")
    assert document.text[start:end].endswith("7")
    assert check.standing(document, 1, "884") == check.standing(document, 2, "1,884") == []


def test_verdicts_on_drafts_are_counted_by_what_the_sentences_are(capsys: pytest.CaptureFixture[str]) -> None:
    true, error, opinion = (next(s for s in SENTENCES if s.label == la) for la in ("true", "error", "opinion"))
    given = [
        (true, "confirmed", True),
        (true, "confirmed", False),
        (true, "contradicted", True),
        (true, "partly", True),
    ]
    given += [(error, "confirmed", True), (error, "partly", False), (opinion, "no_claim", False)]
    verdicts = [check.Judged(of, status, "", (), right, 0.5) for of, status, right in given]
    check.report("dev", {("its document", "checked"): verdicts})
    rows = [line.strip("| ").split("|") for line in capsys.readouterr().out.splitlines()]
    cells = dict(zip((one.strip() for one in rows[0]), (one.strip() for one in rows[2])))
    assert [cells[name] for name in ("errors flagged", "contradicted", "opinions")] == ["0.500", "0.000", "1.000"]
    truths = ("truths, right place", "truths confirmed", "false contradictions")
    assert [cells[name] for name in truths] == ["0.250", "0.500", "0.250"]
    assert (cells["s a sentence"], cells["s a page"]) == ("0.50", "10.0")


def test_a_year_is_moved_wherever_it_stands() -> None:
    assert sets.moved("FY2015 or FY15, not 120150", 12) == "FY2027 or FY27, not 120150"


def record(**changes: object) -> dict[str, object]:
    rows = [{"what": "found", "now": "–", "cells": {"row": "ours / held", "columns": ["first", "all"]}}]
    return {"subject": "Retrieval", "about": "made.", "script": "sets", "date": "2026-01-01", "rows": rows} | changes


def test_a_record_takes_its_figures_from_what_is_printed_and_says_what_is_missing() -> None:
    known = Record.model_validate(record())
    printed = (["", "", "first", "all"], [["theirs", "held", "0.1", "0.2"], ["ours", "held", "0.250", "12"]])
    (row,) = known.taken([printed]).rows
    assert row.now == ".250/12"
    for wrong in ([], [(printed[0], printed[1][:1])], [(["", "", "first"], printed[1])]):
        with pytest.raises(LookupError):
            known.taken(wrong)


def test_a_record_that_can_be_run_names_its_script_and_cells() -> None:
    bare = [{"what": "found", "now": "1"}]
    for wrong in ({"script": ""}, {"rows": bare}, {"rows": []}, {"subject": "Else"}, {"colour": "red"}):
        with pytest.raises(ValidationError):
            Record.model_validate(record(**wrong))
    assert Record.model_validate(record(rows=bare, needs="documents that aren't published")).command == "sets"


def test_the_page_is_what_the_records_say() -> None:
    known = records.everything()
    assert records.DOCUMENT.read_text("utf-8") == records.rendered(known)
    for name, one in known.items():
        assert not one.script or one.script in NAMES, name
        assert all(row.what in records.rendered({name: one}) for row in one.rows)


def test_a_script_that_fails_is_named_and_leaves_its_record(capsys: pytest.CaptureFixture[str]) -> None:
    broken = Record.model_validate(record(arguments=["no such set"]))
    left = Record.model_validate(record(needs="more"))
    assert measured.run({"broken": broken, "left": left}, Path("nowhere")) == ["broken"]
    said = capsys.readouterr().out
    assert "left: left as it is; it needs more." in said
    assert "broken: failed, its record is as it was: " in said


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_links_lead_to_files_and_headings(path: Path) -> None:
    text = path.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            assert file.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
                assert anchor in {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}, target
