"""Are citations exact, and do they bring the reader to what answers the question?

    python -m benchmarks citations --home HOME [--set financebench-dev] [--scope library] [--sample 30] [--seed 1]

Every question is asked (offline, unless a model is in force), of the whole library or within its document, and every
citation is checked against the document and the page.

*valid*: the quote equals the canonical text at its span, and every box lies on its page. *exact*: for a random sample,
the words that PyMuPDF itself finds inside the boxes are the quote's words (as multisets; a column header that the row
repeats counts once). PyMuPDF reads the file afresh, so this is an oracle independent of the word map.

*gold page*: a page of the set's evidence is among the cited pages. *gold number*: a number of the answer, other than a
year, that is printed in the evidence stands in the quotes; answers worked out from printed numbers are not counted.
Both beside a plain baseline: the five best passages quoted whole, and the first of them up to as many characters as
the answer quotes.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf

from benchmarks.common import data, questions, table, words
from ragcore.engine import Engine
from ragcore.types import Answer, Citation, Found, Hit

BASELINE = 5
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Quoted:
    """What was quoted for a question: the pages of its document, and the words of all documents."""

    pages: frozenset[int]
    text: str


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True, help="a home into which the set was ingested and indexed")
    parser.add_argument("--set", default="financebench-dev")
    parser.add_argument("--scope", choices=("library", "document"), default="library")
    parser.add_argument("--sample", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    engine = Engine.open(home=options.home)
    ids = {info.name: info.doc_id for info in engine.documents() if info.indexed}
    data(options.set)
    cited: list[Citation] = []
    invalid: list[str] = []
    refused = 0
    asked = [q for q in questions(options.set) if q["doc"] in ids and q.get("answerable", True)]
    numeric = [question for question in asked if gold_numbers(question)]
    ways: dict[str, list[Quoted]] = {"answer": [], "top 5": [], "as many characters": []}
    for question in asked:
        doc_id = ids[question["doc"]]
        answer, hits = ask(engine, question["question"], [doc_id] if options.scope == "document" else None)
        refused += answer.refused
        text = " ".join(citation.quote for citation in answer.citations)
        ways["answer"].append(
            Quoted(pages([(c.doc_id, c.start, c.end) for c in answer.citations], engine, doc_id), text)
        )
        whole = [(hit.chunk.doc_id, hit.chunk.start, hit.chunk.end) for hit in hits[:BASELINE]]
        ways["top 5"].append(quoted(engine, whole, doc_id))
        ways["as many characters"].append(quoted(engine, first_of(whole, len(text)), doc_id))
        invalid += [fault for citation in answer.citations for fault in faults(engine, citation)]
        cited += answer.citations

    sample = random.Random(options.seed).sample(cited, min(options.sample, len(cited)))
    wrong = [(citation, *found) for citation in sample if (found := compare(engine, citation)) is not None]
    print(
        table(
            [
                ("questions (of documents in this home)", len(asked)),
                ("refused", refused),
                ("citations", len(cited)),
                ("valid citations", f"{len(cited) - len(invalid)} of {len(cited)}"),
                (f"exact, of {len(sample)} at random", f"{len(sample) - len(wrong)} of {len(sample)}"),
            ],
            ("measure", "value"),
        )
    )
    rows = []
    for way, found in ways.items():
        on_page = sum(bool(gold_pages(question) & one.pages) for question, one in zip(asked, found))
        of = {question["id"]: one.text for question, one in zip(asked, found)}
        number = sum(any(has_number(of[q["id"]], n) for n in gold_numbers(q)) for q in numeric)
        length = sum(len(one.text) for one in found) // max(len(found), 1)
        rows.append((way, f"{on_page} of {len(asked)}", f"{number} of {len(numeric)}", length))
    print()
    print(table(rows, ("quoted", "gold page", "gold number", "characters a question")))
    for fault in invalid[:10]:
        print("invalid:", fault)
    for citation, missing, extra in wrong:
        where = f"{citation.title}, p. {citation.page}"
        print(json.dumps({"where": where, "quote": citation.quote[:200], "missing": missing, "extra": extra}))


def ask(engine: Engine, question: str, doc_ids: list[str] | None) -> tuple[Answer, tuple[Hit, ...]]:
    """The answer and the hits that it rests on."""
    hits: tuple[Hit, ...] = ()
    run = engine.ask(question, doc_ids=doc_ids)
    for event in run:
        if isinstance(event, Found):
            hits = event.retrieval.hits
    assert run.answer is not None
    return run.answer, hits


def quoted(engine: Engine, spans: Sequence[tuple[str, int, int]], doc_id: str) -> Quoted:
    text = " ".join(engine.document(owner).text[start:end] for owner, start, end in spans)
    return Quoted(pages(spans, engine, doc_id), text)


def pages(spans: Sequence[tuple[str, int, int]], engine: Engine, doc_id: str) -> frozenset[int]:
    """The pages of ``doc_id`` on which spans of it stand."""
    own = [(start, end) for owner, start, end in spans if owner == doc_id]
    return frozenset(box.page for start, end in own for box in engine.document(doc_id).boxes(start, end))


def first_of(spans: Sequence[tuple[str, int, int]], length: int) -> list[tuple[str, int, int]]:
    """The first ``length`` characters of ``spans``."""
    taken = []
    for doc_id, start, end in spans:
        end = min(end, start + length)
        if end > start:
            taken.append((doc_id, start, end))
            length -= end - start
    return taken


def gold_pages(question: dict[str, Any]) -> set[int]:
    return {item["page"] + 1 for item in question["evidence"]}


def gold_numbers(question: dict[str, Any]) -> list[str]:
    """The numbers of the answer, but years, that are printed in the evidence."""
    evidence = " ".join(item["text"] or "" for item in question["evidence"])
    found = (re.sub(r"\.0+$", "", number.replace(",", "")) for number in _NUMBER.findall(str(question["answer"])))
    return [number for number in found if not _YEAR.fullmatch(number) and has_number(evidence, number)]


def has_number(text: str, number: str) -> bool:
    return re.search(rf"(?<![\d.]){re.escape(number)}(?!\d|\.\d)", text.replace(",", "")) is not None


def faults(engine: Engine, citation: Citation) -> list[str]:
    """What is wrong with a citation's quote or boxes."""
    document = engine.document(citation.doc_id)
    found = []
    if citation.quote != document.text[citation.start : citation.end]:
        found.append(f"quote differs: {citation.quote[:60]!r}")
    for box in citation.boxes:
        page = document.pages[box.page - 1]
        if not (-1 <= box.x0 < box.x1 <= page.width + 1 and -1 <= box.y0 < box.y1 <= page.height + 1):
            found.append(f"box off its page: {box}")
    return found


def compare(engine: Engine, citation: Citation) -> tuple[list[str], list[str]] | None:
    """None when the boxes hold the quote's words; else the words missing in them and the words too many."""
    found: Counter[str] = Counter()
    with pymupdf.open(engine.file(citation.doc_id)) as pdf:
        for number in {box.page for box in citation.boxes}:
            page = pdf[number - 1]
            boxes = [box for box in citation.boxes if box.page == number]
            for x0, y0, x1, y1, text, *_ in page.get_text("words"):
                place = pymupdf.Rect(x0, y0, x1, y1) * page.rotation_matrix
                x, y = (place.x0 + place.x1) / 2, (place.y0 + place.y1) / 2
                if any(box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1 for box in boxes):
                    found.update(words(text))
    quote = Counter(words(citation.quote))
    missing, extra = quote - found, found - quote
    # A header repeated in a row, and a word hyphenated over two lines, differ in count or form only.
    repeated = all(found[word] for word in missing)
    joined = "".join(sorted("".join(missing.elements()))) == "".join(sorted("".join(extra.elements())))
    if (repeated and not extra) or joined:
        return None
    return sorted(missing), sorted(extra)


if __name__ == "__main__":
    main()
