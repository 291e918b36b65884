"""Are the fields of a report filled with what the documents hold, offline, and is what they lack named?

    python -m benchmarks reports

Documents with known values are made as the tests make them: one set that the tests hold too, a second one that its
first rules were not set by, and reports as they are filed, the last set of which was written before the rules that read
statements. *right*: share of the values and table cells given that are right; *found*: share of those in the documents
that were given; *gaps*: share of what is not there that is named as missing; *quoted*: share of the prose sections that
quote the sentence they should. Beside it the plain answerer: its first quote for "heading: guidance" as the value, and
a refusal as a gap (it makes no tables).
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import table
from ragcore.engine import Engine
from ragcore.report.template import from_data
from tests.report.filings import filings
from tests.report.filings_unseen import filings_unseen
from tests.report.scores import Scores, add
from tests.report.truths import Truth, companies, unseen


def measured(engine: Engine, truths: Sequence[Truth]) -> tuple[Scores, Scores, float]:
    """Scores of the reports, of the plain answerer, and seconds for each section."""
    ids = {}
    for truth in truths:
        ids[truth.name] = engine.add(truth.pdf, truth.name).doc_id
        engine.ingest(ids[truth.name])
    engine.index()
    filled, plain = Scores(), Scores()
    sections, seconds = 0, 0.0
    for truth in truths:
        template = from_data(truth.template)
        started = time.perf_counter()
        report = engine.fill(template, doc_ids=[ids[truth.name]]).run()
        seconds += time.perf_counter() - started
        sections += len(report.sections)
        add(
            filled,
            truth,
            {section.heading: section.text for section in report.sections},
            {section.heading: section.status == "empty" for section in report.sections},
        )
        texts, empty = {}, {}
        for place in template.places():
            answer = engine.ask(place.section.query, doc_ids=[ids[truth.name]]).run()
            first = next((line for line in answer.text.splitlines() if "“" in line or line.startswith("**")), "")
            texts[place.section.heading] = first
            empty[place.section.heading] = answer.refused or not first
        add(plain, truth, texts, empty)
    return filled, plain, seconds / sections


def main() -> None:
    rows = []
    sets = {
        "of the tests": companies(),
        "second set": unseen(),
        "filings": filings(),
        "filings, unseen": filings_unseen(),
    }
    for name, truths in sets.items():
        with (
            tempfile.TemporaryDirectory() as home,
            Engine.open(home=Path(home), overrides={"llm.model": "offline"}) as engine,
        ):
            filled, plain, seconds = measured(engine, truths)
        for who, scores in (("report", filled), ("plain answerer", plain)):
            rows.append(
                [
                    name,
                    who,
                    f"{scores.right}/{scores.given}",
                    f"{scores.right}/{scores.there}",
                    f"{scores.named}/{scores.absent}",
                    f"{scores.quoted}/{scores.told}",
                    f"{seconds:.1f}" if who == "report" else "",
                ]
            )
        for wrong in filled.wrong:
            print(f"{name}: {wrong}", file=sys.stderr)
    print(table(rows, ["documents", "", "right", "found", "gaps", "quoted", "s a section"]))


if __name__ == "__main__":
    main()
