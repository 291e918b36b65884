"""Quotations that stand to the letter, but elsewhere: outside the documents that a draft is checked against, or not in
the one that the sentence names."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pymupdf
import pytest

from ragcore.check.checks import Checks
from ragcore.check.files import KINDS, CheckFile
from ragcore.engine import Engine
from ragcore.text.names import titled
from ragcore.types import EVERYTHING, Scope
from ragcore.types.check import CheckedSentence
from ragcore.types.sections import section_tree, walk
from tests import pdfs, prepared

REPORTS = {
    2021: "Orders from hospitals came in late, and two halls stood empty for most of the summer.",
    2022: "Orders from hospitals came in early, and both halls worked in two shifts.",
}
AWAY = "“both halls worked in two shifts”"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, dict[int, str]]]:
    files = {
        f"orrin_{year}.pdf": pdfs.report(f"Orrin Valves Annual Report {year}", {"The year": [text] * 2})
        for year, text in REPORTS.items()
    }
    home = prepared.home(tmp_path_factory.mktemp("elsewhere") / "home", files)
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        yield engine, {int(info.name[6:10]): info.doc_id for info in engine.documents()}


def sentence(checks: Checks, text: str, scope: Scope = EVERYTHING) -> tuple[str, CheckedSentence]:
    check_id = checks.add("draft.md", text.encode(), scope).check_id
    checks.run(check_id)
    [found] = checks.get(check_id).sentences
    assert found is not None
    return check_id, found


def test_words_of_another_document_of_the_library_are_found_elsewhere(library: tuple[Engine, dict[int, str]]) -> None:
    engine, ids = library
    text = f"It says that {AWAY}."
    assert sentence(engine.checks, text, Scope((ids[2022],)))[1].status == "confirmed"
    check_id, found = sentence(engine.checks, text, Scope((ids[2021],)))
    assert found.status == "elsewhere"
    assert "2022" in found.reason
    [place] = found.citations
    assert (place.doc_id, place.quote) == (ids[2022], AWAY.strip("“”"))
    assert place.boxes
    assert engine.checks.get(check_id).open_problems == (0,)
    for kind in KINDS:
        assert _says(engine.checks, check_id, kind), kind


def _says(checks: Checks, check_id: str, kind: CheckFile) -> bool:
    """Whether a file tells that the words are elsewhere, and where."""
    data, said = checks.export(check_id, kind), ""
    if kind == "docx":
        said = " ".join(comment.text for comment in docx.Document(io.BytesIO(data)).comments)
    elif kind == "xlsx":
        cells: Any = openpyxl.load_workbook(io.BytesIO(data)).active.iter_rows(values_only=True)
        said = " ".join(str(value) for row in cells for value in row)
    elif kind == "pdf":
        with pymupdf.open("pdf", data) as made:
            said = " ".join(page.get_text() for page in made)
    else:
        said = data.decode()
        return '"status": "elsewhere"' in said and "Report 2022" in said
    return "found elsewhere" in said.lower() and "Report 2022" in " ".join(said.split())


def test_words_are_stitched_together_only_if_they_stand_nowhere_as_they_are(
    library: tuple[Engine, dict[int, str]],
) -> None:
    engine, ids = library
    stitched = "“Orders from hospitals came in late stood empty for most of the summer”"
    assert sentence(engine.checks, f"It says {stitched}.", Scope((ids[2021],)))[1].status == "partly"
    assert sentence(engine.checks, f"It says {AWAY} and {stitched}.", Scope((ids[2021],)))[1].status == "partly"


def test_words_that_are_nowhere_are_not_found_elsewhere(library: tuple[Engine, dict[int, str]]) -> None:
    engine, ids = library
    _, found = sentence(engine.checks, "It says “the moon is made of green cheese”.", Scope((ids[2021],)))
    assert found.status == "not_found"
    both = f"It says {AWAY} and “the moon is made of green cheese”."
    assert sentence(engine.checks, both, Scope((ids[2021],)))[1].status == "not_found"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("According to the 2021 annual report, {}.", "elsewhere"),
        ("{} (Orrin Valves Annual Report 2021).", "elsewhere"),
        ("According to the 2022 annual report, {}.", "confirmed"),
        ("According to the annual report, {}.", "confirmed"),
        ("Orrin Valves says that {}.", "confirmed"),
        # What is only spoken about says nothing.
        ("{}, the director said of the 2021 annual report.", "partly"),
    ],
)
def test_words_of_another_document_than_the_one_named_are_found_elsewhere(
    library: tuple[Engine, dict[int, str]], words: str, status: str
) -> None:
    engine, ids = library
    _, found = sentence(engine.checks, words.format(AWAY))
    assert found.status == status
    assert found.citations[0].doc_id == ids[2022]
    assert ("Report 2021" in found.reason) == (status == "elsewhere")


def test_of_two_quotations_one_may_be_of_another_document_than_the_one_named(
    library: tuple[Engine, dict[int, str]],
) -> None:
    engine, ids = library
    here = "“two halls stood empty for most of the summer”"
    _, found = sentence(engine.checks, f"The 2021 annual report says {here}, and the director said {AWAY}.")
    assert found.status == "confirmed"
    assert [one.doc_id for one in found.citations] == [ids[2021], ids[2022]]
    _, found = sentence(engine.checks, f"The 2021 annual report says {AWAY} and “Orders from hospitals came in early”.")
    assert found.status == "elsewhere"


def test_words_around_a_quotation_are_held_against_the_sections_in_scope_alone(tmp_path: Path) -> None:
    texts = {
        "Parties": ["Orrin Valves delivers to Tern Bank, whose guards receive what it delivers."],
        "Fees": ["No fee is ever paid twice for one delivery, and none before it."],
        "Term": ["The contract was signed in 2021, and it ends when both parties say so."],
    }
    with Engine.open(prepared.home(tmp_path / "home", {"x.pdf": pdfs.report("Contract", texts)})) as engine:
        [info] = engine.documents()
        nodes = walk(section_tree(engine.document(info.doc_id)))
        fees = Scope(sections=tuple(node.of(info.doc_id) for node in nodes if node.label == "Fees"))
        said = "In 2021 “fee is ever paid twice for one delivery” was said."
        assert sentence(engine.checks, said)[1].status == "confirmed"
        assert sentence(engine.checks, said, fees)[1].status == "partly"


TITLES = {
    "a": "Orrin Valves, Annual Report 2021 orrin 2021",
    "b": "Orrin Valves, Annual Report 2022 orrin 2022",
    "c": "Facility Agreement between Orrin Valves and Tern Bank",
    "d": "AMD 2022 10-K",
}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("According to the 2021 annual report,", "a"),
        ("As the annual report for 2021 has it,", "a"),
        ("The facility agreement says", "c"),
        ("AMD's 2022 10-K says", "d"),
        ("The annual reports say", "ab"),
        ("The 2020 annual report says", "ab"),
        # A firm, a year or a kind of document alone names no document.
        ("Orrin Valves says that in 2021", ""),
        ("In 2021, the agreement says", ""),
        ("By its nature", ""),
    ],
)
def test_a_document_is_named_by_words_of_its_title_that_stand_together(text: str, named: str) -> None:
    assert titled(text, TITLES) == set(named)


@pytest.mark.timeout(5)
def test_a_long_text_without_a_stop_is_looked_through_in_no_time() -> None:
    assert titled(f"{'much more was said ' * 1_500} in the 2021 annual report", TITLES) == {"a"}
