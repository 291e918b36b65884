"""A figure of one column is not contradicted by another column of its row, nor by other words on the same line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragcore.check.checks import Checks
from ragcore.engine import Engine
from ragcore.types import EVERYTHING
from ragcore.types.check import CheckedSentence
from tests import pdfs, prepared

RELEASE = {
    "For the Fourth Quarter of Fiscal 2031": [
        "Diluted earnings per share increased 23.5% to $5.12, compared to $4.15 in the fourth quarter of fiscal 2030.",
    ],
    "For the Full Year of Fiscal 2031": [
        "Diluted earnings per share increased 33.5% to $18.36, compared to $13.75 in fiscal 2030.",
    ],
}


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checks]:
    files = {"sorrel.pdf": pdfs.report("Sorrel Garden Centres fourth quarter results", RELEASE)}
    home = prepared.home(tmp_path_factory.mktemp("columns") / "home", files)
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        yield engine.checks


def sentence(checks: Checks, text: str) -> CheckedSentence:
    return next(checks.verdicts(text, EVERYTHING))


def test_a_figure_of_another_column_is_not_contradicted(checks: Checks) -> None:
    found = sentence(checks, "Diluted earnings per share were $18.36.")
    assert found.status in ("confirmed", "partly"), found.reason
    assert not found.corrections
    assert any("$18.36" in one.quote for one in found.citations)


def test_a_figure_of_no_column_is_contradicted(checks: Checks) -> None:
    found = sentence(checks, "In the fourth quarter of fiscal 2031, diluted earnings per share were $5.72.")
    assert found.status == "contradicted", found.reason
    assert [one.found for one in found.corrections] == ["$5.12"]
