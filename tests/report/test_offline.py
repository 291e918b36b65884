"""Reports without a key, from documents of which every right value is known: no wrong value, and what is not there is
named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.report.template import from_data
from ragcore.types.report import Report
from tests import prepared
from tests.report.scores import Scores, add
from tests.report.truths import Truth, companies


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Truth, Report]]]:
    truths = companies()
    with Engine.open(home=tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"}) as engine:
        ids = {truth.name: prepared.read(engine, truth.pdf, truth.name) for truth in truths}
        engine.index()
        yield [(t, engine.fill(from_data(t.template), doc_ids=[ids[t.name]]).run()) for t in truths]


def test_values_tables_and_gaps(reports: list[tuple[Truth, Report]]) -> None:
    scores = Scores()
    for truth, report in reports:
        texts = {section.heading: section.text for section in report.sections}
        add(scores, truth, texts, {section.heading: section.status == "empty" for section in report.sections})
    said = "\n".join(scores.wrong)
    assert scores.precision == 1.0, said
    assert scores.recall >= 0.9, said
    assert scores.gaps == 1.0, said
    # "What the company makes" of a baker that "bakes": no word in common.
    assert scores.quoted >= scores.told - 1, said


def test_a_section_named_by_a_requirement_is_quoted_for_it(sampled: Path, tmp_path: Path) -> None:
    prepared.copied(sampled, tmp_path / "home")
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        template = from_data(
            {"title": "Profile", "sections": [{"heading": "Business", "guidance": "Describe what the company makes."}]}
        )
        (section,) = engine.fill(template).run().sections
    assert "Larkfield makes instruments that measure flow, pressure and mass" in section.text
