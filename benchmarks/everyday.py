"""Does the offline answerer quote the sentence that answers an everyday question?

    python -m benchmarks everyday [--show]

Who is the chief executive, how many employees, who audits, what is the dose, when does the agreement end: 58 questions
over six documents made here (filings, INDs, contracts), each asked within its document and of all six, of which the
question's own words often do not hold the answer while sentences near it hold them. *first*: the gold sentence is the
first citation's, *quoted*: it is among the quotes, beside the plain best passages cut to as many characters. The
documents and questions of *held out* were not looked at while the rules were made.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pymupdf

from benchmarks.common import table
from benchmarks.everyday_texts import HELD_OUT, MENDED
from ragcore.engine import Engine
from ragcore.types import Answer, Found

_BOTTOM = 740.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="print the questions of `mended` that are not answered")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        engine = Engine.open(home=Path(home), overrides={"llm.model": "offline"})
        ids = {}
        for name, text, _ in (*MENDED, *HELD_OUT):
            ids[name] = engine.add(made_pdf(text), f"{name}.pdf").doc_id
            engine.ingest(ids[name])
        engine.index()
        rows = [
            measured(engine, kind, texts, ids, scoped, options.show and kind == "mended")
            for kind, texts in (("mended", MENDED), ("held out", HELD_OUT))
            for scoped in (True, False)
        ]
    for scope in ("its document", "all"):
        own = [row[2:] for row in rows if row[1] == scope]
        rows.append(["both", scope, *map(sum, zip(*own))])
    print(table(rows, ("questions", "scope", "n", "refused", "first", "quoted", "best passages, as long")))


def measured(
    engine: Engine,
    kind: str,
    texts: Sequence[tuple[str, str, Sequence[tuple[str, str]]]],
    ids: dict[str, str],
    scoped: bool,
    show: bool,
) -> list[object]:
    asked = refused = first = quoted = plain = 0
    for name, _, questions in texts:
        for question, gold in questions:
            run = engine.ask(question, doc_ids=[ids[name]] if scoped else None)
            passages = ""
            for event in run:
                if isinstance(event, Found):
                    passages = " ".join(hit.chunk.text for hit in event.retrieval.hits)
            answer = run.answer
            assert answer is not None
            quotes = [squeezed(citation.quote) for citation in answer.citations if citation.doc_id == ids[name]]
            good = not answer.refused and any(squeezed(gold) in quote for quote in quotes)
            asked += 1
            refused += answer.refused
            first += good and squeezed(gold) in quotes[0]
            quoted += good
            plain += squeezed(gold) in squeezed(passages)[: length(answer)]
            if show and not good:
                print(f"{name}: {question}\n{answer.text}\n")
    return [kind, "its document" if scoped else "all", asked, refused, first, quoted, plain]


def length(answer: Answer) -> int:
    return sum(len(citation.quote) for citation in answer.citations)


def squeezed(text: str) -> str:
    return " ".join(text.split()).replace("’", "'")


def made_pdf(text: str) -> bytes:
    """The text set in lines of 11 points, headings larger and bold."""
    document = pymupdf.open()
    page = document.new_page(width=612, height=792)
    y = 72.0
    for line in text.strip().replace("\n  ", " ").splitlines():
        bold = line.startswith(("#", "**"))
        size = 14.0 if line.startswith("#") else 11.0
        font = "hebo" if bold else "helv"
        for part in wrapped(line.lstrip("#* "), font, size):
            if y > _BOTTOM:
                page, y = document.new_page(width=612, height=792), 72.0
            page.insert_text((72, y), part, fontname=font, fontsize=size)
            y += size * 1.3
        y += 8.0
    return bytes(document.tobytes())


def wrapped(text: str, font: str, size: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if pymupdf.get_text_length(longer, fontname=font, fontsize=size) > 468:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


if __name__ == "__main__":
    main()
