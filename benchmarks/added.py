"""Does an uncited claim get the citation of a source that says it, and none where no source does?

    python -m benchmarks added --home HOME [--rounds N]

``--home`` is a home with documents that were read. Each round gives six passages of three documents as sources, and
makes claims, each an answer of its own:

* *copied*: a sentence of a source; *shortened*: one without every twelfth of its small words; *cell*: "Row was value in
  column" of a table's cell. They are to get a citation, and of that very unit.
* *digit*, *year*, *negated*, *direction*, *scale*, *name*: a copied sentence with one thing changed, and *cell digit*,
  *cell year* likewise; *foreign*: a sentence of another document. They are to get none.

CPU time is for one claim, with the units of all sources read for it alone.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.common import table
from ragcore.answer.cite import Citer
from ragcore.answer.sources import build_sources
from ragcore.engine import Engine
from ragcore.text.sentences import sentence_spans
from ragcore.types import Document, Retrieval, Segment, Source
from ragcore.verify.added import add_citations

SEED = 7
CHUNKS = 6  # of a passage
TURNED = (("increased", "decreased"), ("decreased", "increased"), ("higher", "lower"), ("increase", "decrease"),
          ("decrease", "increase"))  # fmt: skip
TRUE = ("copied", "shortened", "cell")
Claim = tuple[str, str, tuple[str, int, int] | None]


def edits(text: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """What ``text`` becomes with one thing changed, each with its name."""
    figures = [m for m in re.finditer(r"\d+(?:[.,]\d+)*", text) if not re.fullmatch(r"(?:19|20)\d\d", m.group())]
    if figures:
        at = rng.choice([i for m in [rng.choice(figures)] for i in range(*m.span()) if text[i].isdigit()])
        yield "digit", f"{text[:at]}{(int(text[at]) + rng.randrange(1, 9)) % 10}{text[at + 1 :]}"
    years = list(re.finditer(r"\b(?:19|20)\d\d\b", text))
    if years:
        year = rng.choice(years)
        yield "year", f"{text[: year.start()]}{int(year.group()) - 3}{text[year.end() :]}"
    if verb := re.search(r"\b(?:is|are|was|were|has|have|will|may|can)\b(?! not)", text):
        yield "negated", f"{text[: verb.end()]} not{text[verb.end() :]}"
    if turned := next((pair for pair in TURNED if re.search(rf"\b{pair[0]}\b", text)), None):
        yield "direction", re.sub(rf"\b{turned[0]}\b", turned[1], text, count=1)
    if scale := re.search(r"\b(million|billion)\b", text):
        other = "billion" if scale.group() == "million" else "million"
        yield "scale", f"{text[: scale.start()]}{other}{text[scale.end() :]}"
    names = list(re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{3,}", text))
    if names:
        name = rng.choice(names)
        yield "name", f"{text[: name.start()]}Kelvaria{text[name.end() :]}"


def shortened(text: str, rng: random.Random) -> str:
    """``text`` without about every twelfth word, of those that are small and deny nothing."""
    words = text.split()
    small = [i for i, word in enumerate(words) if i and re.fullmatch(r"(?!not|nor|never|without)[a-z]{3,}", word)]
    left_out = set(rng.sample(small, min(len(small), max(1, len(words) // 12))))
    return " ".join(word for i, word in enumerate(words) if i not in left_out)


def claims(source: Source, rng: random.Random) -> Iterator[Claim]:
    """Claims made of four units of ``source``, each with what it was made of."""
    told = [(n, source.words(n, n)) for n, unit in enumerate(source.units, start=1) if not unit.generated]
    sentences = [(n, text) for n, text in told if source.units[n - 1].kind == "sentence" and is_sentence(text)]
    for number, text in rng.sample(sentences, min(2, len(sentences))):
        unit = source.units[number - 1]
        made = (source.doc_id, unit.start, unit.end)
        yield "copied", text, made
        yield "shortened", shortened(text, rng), made
        yield from ((name, edited, made) for name, edited in edits(text, rng))
    cells = [
        (n, text.replace("$", "").strip())
        for n, text in told
        if any(map(str.isdigit, text)) and has_headers(source.units[n - 1].label)
    ]
    for number, text in rng.sample(cells, min(2, len(cells))):
        unit = source.units[number - 1]
        made = (source.doc_id, unit.start, unit.end)
        row, column = unit.label.split(" · ")
        claim = f"{row} was {text} in {column}."
        yield "cell", claim, made
        yield from ((f"cell {name}", edited, made) for name, edited in edits(claim, rng) if name in ("digit", "year"))


def has_headers(label: str) -> bool:
    """Whether a unit is a cell with one row header and one column header, neither of them long."""
    return label.count(" · ") == 1 and len(label) < 90


def is_sentence(text: str) -> bool:
    return 8 <= len(text.split()) <= 40 and text.endswith(".") and "|" not in text


def foreign(document: Document, rng: random.Random, most: int = 12) -> Iterator[Claim]:
    """The first sentences of ``most`` elements of ``document``."""
    prose = [element for element in document.body if element.table is None]
    for element in rng.sample(prose, min(most, len(prose))):
        for start, end in sentence_spans(document.text[element.start : element.end], element.start)[:1]:
            text = " ".join(document.text[start:end].split())
            if is_sentence(text):
                yield "foreign", text, None


def passages(engine: Engine, doc_ids: Sequence[str], rng: random.Random) -> Iterator[Segment]:
    for doc_id in doc_ids:
        tiles = [chunk for chunk in engine.chunks(doc_id) if chunk.tiles is None]
        for _ in range(2):
            first = rng.randrange(max(1, len(tiles) - CHUNKS))
            last = min(first + CHUNKS, len(tiles)) - 1
            yield Segment(doc_id, tiles[first].start, tiles[last].end, first, last, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    rng = random.Random(SEED)
    total: Counter[str] = Counter()
    added: Counter[str] = Counter()
    same: Counter[str] = Counter()
    spent: list[float] = []
    with Engine.open(home=options.home) as engine:
        ids = [info.doc_id for info in engine.documents() if info.status == "ready"]
        for _ in range(options.rounds):
            chosen = rng.sample(ids, 4)
            retrieval = Retrieval("", "hybrid", (), tuple(passages(engine, chosen[:3], rng)))
            sources = build_sources(retrieval, engine.document, engine.settings.answer)
            made = [claim for source in sources for claim in claims(source, rng)]
            for name, text, unit in [*made, *foreign(engine.document(chosen[3]), rng)]:
                citer = Citer(sources, engine.document)
                started = time.process_time()
                _, marks = add_citations(text, (), sources, citer, engine.document, engine.settings.verify)
                spent.append((time.process_time() - started) * 1000)
                total[name] += 1
                if marks:
                    added[name] += 1
                    found = citer.citations[0]
                    same[name] += (
                        unit is not None and found.doc_id == unit[0] and found.start <= unit[1] and unit[2] <= found.end
                    )
    rows = [
        (name, total[name], "a citation" if name in TRUE else "none", added[name], same[name])
        for name in sorted(total, key=lambda name: (name not in TRUE, name))
    ]
    for name, is_true in (("all true", True), ("all false", False)):
        own = [(row[1], row[3], row[4]) for row in rows if (row[0] in TRUE) is is_true and not row[0].startswith("all")]
        number, got, right = map(sum, zip(*own))
        rows.append((name, number, "a citation" if is_true else "none", got, right))
    print(table(rows, ("claim", "number", "is to get", "got one", "of that unit")))
    wrong = sum(added[name] for name in total if name not in TRUE)
    print(f"\n{wrong} of {sum(total[name] for name in total if name not in TRUE)} that are to get none got one.")
    print(f"CPU time for a claim: median {statistics.median(spent):.1f} ms, "
          f"95th of 100 {statistics.quantiles(spent, n=20)[-1]:.1f} ms, {len(spent)} claims.")  # fmt: skip


if __name__ == "__main__":
    main()
