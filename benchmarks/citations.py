"""Do the boxes of citations hold the words that are cited? PyMuPDF, which reads the file afresh, says.

    python -m benchmarks citations --home HOME [--sample 30] [--seed 1]

HOME is a library of financebench-dev (`python -m benchmarks sets financebench --home HOME`). The set's questions are
answered offline, over the whole library, as a run of *Evaluate*: *valid* (the quote is the text at its span, every box
lies on its page) and *evidence cited* are its measures, beside *evidence in the first 5* pages found.

*exact*: for a random sample, the words that PyMuPDF itself finds inside the boxes are the quote's words (as multisets;
a column header that the row repeats counts once).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

import pymupdf

from benchmarks.common import table, words
from benchmarks.sets import SETS
from ragcore.engine import Engine
from ragcore.evaluate.cases import CaseSet
from ragcore.evaluate.runs import DEFAULT, Configuration
from ragcore.types import Citation

MEASURES = ("valid_citations", "evidence_cited", "evidence_at_5", "answered")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with Engine.open(options.home, overrides={"llm.model": "offline"}) as engine:
        info = engine.evaluation.put(CaseSet("financebench", tuple(SETS["financebench"].cases())))
        run = engine.evaluation.run(info.set_id, Configuration.parsed(DEFAULT))
        cited = [one for outcome in run.outcomes.values() if outcome.answer for one in outcome.answer.citations]
        sample = random.Random(options.seed).sample(cited, min(options.sample, len(cited)))
        wrong = [(one, *found) for one in sample if (found := compare(engine, one)) is not None]
    means = run.means()
    rows = [(name.replace("_at_", "@").replace("_", " "), means[name][0], means[name][1]) for name in MEASURES]
    print(
        table(
            [*rows, ("exact, of citations at random", 1 - len(wrong) / len(sample), len(sample))], ("", "share", "of")
        )
    )
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
