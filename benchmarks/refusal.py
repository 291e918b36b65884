"""How often is an answer refused that the documents hold, and how often is one given that they do not?

    python -m benchmarks refusal --home HOME [--mixed HOME] [--limit N]

``--home`` is a home into which financebench-dev was ingested and indexed, ``--mixed`` one with mmlongbench-dev. Asked
offline, of the whole library unless said otherwise:

* *answerable*: the questions as they are; *in its document*: the same within the document that answers them;
* *another document*: the same within a document of another company, and *unnamed* without the company's name, so that
  only what is asked for can tell; *another company*, *another year*: with the name
  of one that has no filing here, with years 12 later or 14 earlier; *foreign*: what no filing holds.

*asked*: share refused before a model that writes is asked; *answer*: share of offline answers that are refusals, once
each for the questions of even and of odd place. Beside them that of never refusing is 0.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import questions, table
from ragcore.answer.refuse import reason_to_refuse
from ragcore.engine import Engine
from ragcore.offline.question import RuleAnalyser
from ragcore.types import Found

ANALYSER = RuleAnalyser()

# Companies whose filings are not among those of the set.
ABSENT = ("Boeing", "Lockheed Martin", "Nike", "Kraft Heinz", "Oracle", "Caterpillar", "Lululemon", "Etsy", "Tesla")
# As the questions call the companies of the set.
CALLED = (
    r"American\s+Express|American\s+Water\s+Works|Coca[\s-]Cola|CVS\s+Health|Foot\s?[Ll]ocker|General\s+Mills|Ulta\s+Beauty|"
    "Adobe|AMD|AMEX|Corning|JPM|Microsoft|Netflix|Pfizer|Verizon"
)
FOREIGN = """
Which volcano buried the city of Pompeii?
What is the boiling point of ethanol?
How many moons does Jupiter have?
What is the recipe for sourdough bread?
How do I reset my home router?
What is the half-life of caesium-137?
How many bones are there in a human hand?
When was the Treaty of Westphalia signed?
What is the speed of light in water?
What was the rainfall in Nairobi in 2019?
How many students enrolled at the University of Oslo in 2020?
Who is the mayor of Springfield?
What is the maximum tolerated dose of BMS-986158 in the phase 1 study?
Which patients were excluded from the trial because of hepatitis?
What does the user have to do when the washing machine shows error E18?
What is the governing law of the lease with Harborview Estates?
How is the torque wrench calibrated?
What is the p-value of the primary endpoint of the ORION-11 trial?
What is the favourite colour of Adobe's chief executive?
How many dogs live at Microsoft's headquarters?
What did Netflix's board have for lunch at its last meeting?
What is the home address of Corning's chairman?
How many cups of coffee does General Mills serve its employees each day?
What is the shoe size of the new Foot Locker CEO?
What is the price of tea in China?
What is the capital of France?
How many people live in Japan?
What is the speed limit in Germany?
When was the first moon landing?
What is the weather like in Texas?
"""


@dataclass(frozen=True)
class Asked:
    """A question of a set, within one document or (None) in the whole library."""

    kind: str
    text: str
    doc: str | None = None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--mixed", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="so many questions of each kind, at most (0: all)")
    options = parser.parse_args()
    rows = measure(options.home, filings(questions("financebench-dev")), options.limit)
    if options.mixed:
        rows += measure(options.mixed, mixed(questions("mmlongbench-dev")), options.limit)
    head = ("questions", "n", "refused: asked", "answer", "answer, even", "answer, odd")
    print(table(rows, head))


def filings(given: Sequence[dict[str, Any]]) -> Iterator[Asked]:
    named = [one for one in given if re.search(CALLED, one["question"])]
    documents = sorted({one["doc"] for one in given})
    company = {one["doc"]: one["company"] for one in given}
    for one in given:
        yield Asked("answerable", one["question"])
    for one in given:
        yield Asked("answerable, in its document", one["question"], one["doc"])
    for place, one in enumerate(named):
        others = [doc for doc in documents if company[doc] != one["company"]]
        yield Asked("another document", one["question"], others[(7 * place) % len(others)])
    for place, one in enumerate(given):
        others = [doc for doc in documents if company[doc] != one["company"]]
        unnamed = re.sub(CALLED, "the company", one["question"])
        yield Asked("another document, unnamed", unnamed, others[(5 * place) % len(others)])
    for place, one in enumerate(named):
        yield Asked("another company", re.sub(CALLED, ABSENT[place % len(ABSENT)], one["question"]))
    for place, one in enumerate(given):
        text = moved(one["question"], 12 if place % 2 else -14)
        if text != one["question"]:
            yield Asked("another year", text)
    for line in FOREIGN.strip().splitlines():
        yield Asked("foreign", line)


def mixed(given: Sequence[dict[str, Any]]) -> Iterator[Asked]:
    documents = sorted({one["doc"] for one in given})
    for one in given:
        yield Asked("mixed: answerable" if one["answerable"] else "mixed: not answerable", one["question"], one["doc"])
    for place, one in enumerate(one for one in given if one["answerable"]):
        others = [doc for doc in documents if doc != one["doc"]]
        yield Asked("mixed: another document", one["question"], others[place % len(others)])


def moved(text: str, years: int) -> str:
    """``text`` with every year that many later."""
    text = re.sub(r"(?<!\d)((?:19|20)\d\d)(?!\d)", lambda match: str(int(match.group()) + years), text)
    return re.sub(r"\bFY(\d\d)\b", lambda match: f"FY{(int(match.group(1)) + years) % 100:02}", text)


def measure(home: Path, asked: Iterator[Asked], limit: int) -> list[list[object]]:
    rows: list[list[object]] = []
    with Engine.open(home) as engine:
        ids = {info.name: info.doc_id for info in engine.documents() if info.indexed}
        kinds: dict[str, list[Asked]] = {}
        for one in asked:
            if one.doc is None or one.doc in ids:
                kinds.setdefault(one.kind, []).append(one)
        for kind, of_kind in kinds.items():
            chosen = of_kind[:limit] if limit else of_kind
            refused = [decisions(engine, one, ids) for one in chosen]
            print(f"{kind}: {len(chosen)}", file=sys.stderr, flush=True)
            rule, answer = (list(column) for column in zip(*refused))
            rows.append([kind, len(chosen), *map(share, (rule, answer, answer[::2], answer[1::2]))])
    return rows


def decisions(engine: Engine, one: Asked, ids: dict[str, str]) -> tuple[bool, bool]:
    """Whether a model would not be asked, and whether the offline answer refuses."""
    run = engine.ask(one.text, doc_ids=[ids[one.doc]] if one.doc else None)
    refused = False
    for event in run:
        if isinstance(event, Found):
            reason = reason_to_refuse(
                ANALYSER.read(one.text),
                event.retrieval,
                event.sources,
                terms=engine.search.terms(one.text),
                mentions=engine.search.sparse().mentions,
                fit=ANALYSER.fit,
            )
            refused = bool(reason)
    assert run.answer is not None
    return refused, run.answer.refused


def share(refused: Sequence[bool]) -> str:
    return f"{sum(refused)} of {len(refused)}"


if __name__ == "__main__":
    main()
