"""Value fields out of reports as they are filed, read from PDFs, where a search brings only the first page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.report.fill import SectionFiller
from ragcore.report.template import from_data
from ragcore.types import Retrieval, Scope, Segment
from tests import prepared
from tests.answer.samples import SETTINGS
from tests.report.filings import bank_quarter, retail
from tests.report.scores import Scores, add
from tests.report.test_statements import MODELS
from tests.report.truths import Truth


# A report on a quarter gives nothing of a year, not even how the last one ended.
@pytest.mark.parametrize(("made", "recall"), [(retail, 1.0), (bank_quarter, 0.0)])
def test_every_value_is_right_and_every_gap_is_named(made: Callable[[], Truth], recall: float, tmp_path: Path) -> None:
    truth = made()
    with Engine.open(home=tmp_path, overrides={"llm.model": "offline"}) as engine:
        doc_id = prepared.read(engine, truth.pdf, truth.name)
        document = engine.document(doc_id)
        first = max(element.end for element in document.body if element.page == 1)

        def retrieve(query: str, **_: Any) -> Retrieval:
            return Retrieval(query, "hybrid", (), (Segment(doc_id, 0, first, 0, 0, 1.0, "rse"),), {})

        filler = SectionFiller(retrieve, engine.document, engine.search.terms, lambda _: {}, MODELS, SETTINGS)
        template = from_data(truth.template)
        sections = list(filler.sections(template, Scope((doc_id,)), [], Stop()))
    scores = Scores()
    texts = {section.heading: section.text for section in sections}
    add(scores, truth, texts, {section.heading: section.status == "empty" for section in sections})
    assert (scores.precision, scores.recall, scores.gaps) == (1.0, recall, 1.0), "\n".join(scores.wrong)
