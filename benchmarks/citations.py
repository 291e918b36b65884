"""Are citations exact? Every question is answered, every citation is checked against the document and the page.

    python -m benchmarks citations --home HOME [--set financebench-dev] [--sample 30] [--seed 1]

``valid``: the quote equals the canonical text at its span, and every box lies on its page. ``exact``: for a random
sample, the words that PyMuPDF itself finds inside the boxes are the quote's words (as multisets; a column header that
the row repeats counts once). PyMuPDF reads the file afresh, so this is an oracle independent of the word map.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from pathlib import Path

import pymupdf

from benchmarks.common import data, questions, table, words
from ragcore.engine import Engine
from ragcore.types import Citation


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True, help="a home into which the set was ingested and indexed")
    parser.add_argument("--set", default="financebench-dev")
    parser.add_argument("--sample", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    engine = Engine.open(home=options.home)
    ids = {info.name: info.doc_id for info in engine.documents() if info.indexed}
    data(options.set)
    cited: list[Citation] = []
    invalid: list[str] = []
    page_hits = numbers = numeric = refused = 0
    asked = [question for question in questions(options.set) if question["doc"] in ids]
    for question in asked:
        answer = engine.ask(question["question"], doc_ids=[ids[question["doc"]]]).run()
        refused += answer.refused
        gold = {item["page"] + 1 for item in question["evidence"]}
        pages = {box.page for citation in answer.citations for box in citation.boxes}
        page_hits += bool(gold & pages)
        wanted = re.findall(r"\d[\d,.]*\d|\d", question["answer"])
        if wanted:
            numeric += 1
            quotes = re.sub(r",", "", " ".join(citation.quote for citation in answer.citations))
            numbers += any(number.replace(",", "").rstrip(".") in quotes for number in wanted)
        for citation in answer.citations:
            document = engine.document(citation.doc_id)
            if citation.quote != document.text[citation.start : citation.end]:
                invalid.append(f"quote differs: {citation.quote[:60]!r}")
            for box in citation.boxes:
                page = document.pages[box.page - 1]
                if not (-1 <= box.x0 < box.x1 <= page.width + 1 and -1 <= box.y0 < box.y1 <= page.height + 1):
                    invalid.append(f"box off its page: {box}")
            cited.append(citation)

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
                ("gold page among the cited pages", f"{page_hits} of {len(asked)}"),
                ("a gold number in the cited quotes", f"{numbers} of {numeric}"),
            ],
            ("measure", "value"),
        )
    )
    for text in invalid[:10]:
        print("invalid:", text)
    for citation, missing, extra in wrong:
        where = f"{citation.title}, p. {citation.page}"
        print(json.dumps({"where": where, "quote": citation.quote[:200], "missing": missing, "extra": extra}))


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
