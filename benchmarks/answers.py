"""Is the first quote of the offline answerer right, and does it say so where a document has no answer?

    python -m benchmarks answers SET.json [--home HOME] [--counts] [--slips]

SET.json stands beside a folder ``pdf`` with the documents that it names, or these lie in GROUNDWORK_DATA: the sets
``look_ups_*.json`` ask for single figures of filings, ``follow_ups_*.json`` for one after another, ``years_*.json`` ask
several filings of one company, ``extremes_*.json`` ask for the highest or lowest of several values, ``parties.json``
names whom agreements call otherwise, ``agreements_*.json`` ask of exhibits, half of ``near_*.json`` are near misses.
``questions``: ``kind``, ``turns`` (all but the last are asked before it), ``docs`` (the scope), ``answered``, ``doc``
that answers (a list: each of them does), ``gold`` strings of which one must stand in the first quote or the label of
its cell (a list: all of them), ``parts`` of a comparison, each with its strings. ``refusal``: the same, asked of
``docs`` and, where it has them, of documents ``without`` the answer. ``documents``: parts of filings, each with its
``file`` and its first and last of ``pages``, since an agreement is an exhibit among others. A half that is put away is
run with ``--counts``, which prints no text. With ``--slips`` one word of each question is misspelt: two letters
exchanged, one left out, doubled, or in place of its neighbour.

*Right first*: the first citation lies in the document and holds a gold string; *wrong first*: not refused and not
right.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf

from benchmarks.common import table
from benchmarks.two_hop import filing, filled
from ragcore.engine import Engine
from ragcore.text.words import STOP_WORDS
from ragcore.types import Answer, Citation, Turn

Item = dict[str, Any]
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SAME = str.maketrans("‘’‛“”–—‐‑−″", "'''\"\"-----\"", "\u00ad")


@dataclass(frozen=True)
class Row:
    """One question as it was answered. ``first`` and ``anywhere``: whether that citation is right."""

    part: str
    kind: str
    answered: bool
    refused: bool
    first: bool
    anywhere: bool
    cited: int
    valid: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--home", type=Path, help="a library to keep the documents in")
    parser.add_argument("--counts", action="store_true", help="print no question and no answer")
    parser.add_argument("--slips", action="store_true", help="ask with a misspelt word")
    options = parser.parse_args()
    given = json.loads(options.set.read_text("utf-8"))
    if options.slips:
        given = misspelt(given)
    with opened(options.home) as engine, tempfile.TemporaryDirectory() as made:
        folder = options.set.parent / "pdf"
        if cut := given.pop("documents", []):
            folder = Path(made)
            for part in cut:
                cut_out(part, folder)
        ids = read(engine, folder) if folder.is_dir() else filled(engine, named(given))
        rows = [asked(engine, ids, *one, show=not options.counts) for one in items(given)]
    print(table(summary(rows), ("question", "n", "right first", "anywhere", "wrong first", "refused")))
    print(f"Citations valid: {sum(row.valid for row in rows)} of {sum(row.cited for row in rows)}.")


@contextmanager
def opened(home: Path | None) -> Iterator[Engine]:
    with (
        tempfile.TemporaryDirectory() as made,
        Engine.open(home or Path(made), overrides={"llm.model": "offline"}) as engine,
    ):
        yield engine


def cut_out(part: Item, folder: Path) -> None:
    """Pages of a filing as a document of its own in ``folder``; always the same bytes, so that it is read once."""
    first, last = part["pages"]
    file = filing(part["file"]) or sys.exit(f"{part['file']}.pdf is not in the measuring data.")
    with pymupdf.open(file) as whole, pymupdf.open() as own:
        own.insert_pdf(whole, from_page=first - 1, to_page=last - 1)
        own.save(folder / f"{part['name']}.pdf", no_new_id=True)


def misspelt(given: dict[str, list[Item]]) -> dict[str, list[Item]]:
    """``given`` with one slip of the pen in the last turn of each question, the same in every run."""
    chance = random.Random(7)
    return {
        part: [{**item, "turns": [*item["turns"][:-1], slipped(item["turns"][-1], chance)]} for item in each]
        for part, each in given.items()
    }


def slipped(question: str, chance: random.Random) -> str:
    words = [match for match in re.finditer(r"(?<!\S)[a-z]{5,}(?!\w)", question) if match.group() not in STOP_WORDS]
    if not words:
        return question
    match = chance.choice(words)
    word, place = match.group(), chance.randrange(1, len(match.group()) - 1)
    before, one, two, rest = word[:place], word[place], word[place + 1], word[place + 2 :]
    row = next(row for row in _KEYBOARD if one in row)
    beside = row[abs(row.index(one) - 1)]
    slip = chance.choice((two + one, two, one + one + two, beside + two))
    return f"{question[: match.start()]}{before}{slip}{rest}{question[match.end() :]}"


def named(given: dict[str, list[Item]]) -> list[str]:
    """Documents that a set names."""
    return sorted(
        {name for part in given.values() for item in part for name in (*item["docs"], *item.get("without", ()))}
    )


def read(engine: Engine, folder: Path) -> dict[str, str]:
    """The documents' ids by their names, each read once."""
    ids = {path.stem: engine.add(path).doc_id for path in sorted(folder.glob("*.pdf"))}
    ready = {info.doc_id for info in engine.documents() if info.status == "ready"}
    for doc_id in ids.values():
        if doc_id not in ready:
            engine.ingest(doc_id)
    engine.index()
    return ids


def items(given: dict[str, list[Item]]) -> Iterator[tuple[str, str, Item, Sequence[str], bool]]:
    """Part, kind, question, scope, and whether it is answered there."""
    for item in given["questions"]:
        yield "questions", item["kind"], item, item["docs"], item["answered"]
    for item in given["refusal"]:
        if "without" in item:
            yield "mixed documents", "answered there", item, item["docs"], True
            yield "mixed documents", "answered elsewhere", item, item["without"], False
        else:
            yield "mixed documents", item["kind"], item, item["docs"], item["answered"]


def asked(
    engine: Engine,
    ids: dict[str, str],
    part: str,
    kind: str,
    item: Item,
    docs: Sequence[str],
    answered: bool,
    *,
    show: bool,
) -> Row:
    history: list[Turn] = []
    scope = [ids[name] for name in docs]
    for question in item["turns"]:
        answer = engine.ask(question, doc_ids=scope, history=history).run()
        history.append(Turn.of(answer))
    cited = in_order(answer)
    answering = {ids[name] for name in ([item["doc"]] if isinstance(item["doc"], str) else item["doc"])}
    own = [one for one in cited if one.doc_id in answering]
    gold, parts = item.get("gold", []), item.get("parts", [])
    each = [*gold, *(one for strings in parts for one in strings)]
    first = bool(cited) and cited[0] in own and any(holds(cited[0], one) for one in each)
    anywhere = any(holds(citation, one) for citation in own for one in gold) or (first and not parts)
    if parts and not anywhere:
        anywhere = all(any(holds(citation, one) for citation in own for one in strings) for strings in parts)
    right = answered and not answer.refused and first and (not parts or anywhere)
    if show and (not right if answered else not answer.refused):
        print(f"[{kind}] {' / '.join(item['turns'])}\n    {answer.text[:300]!r}\n")
    documents = {one.doc_id: engine.document(one.doc_id) for one in answer.citations}
    valid = sum(documents[one.doc_id].text[one.start : one.end] == one.quote for one in answer.citations)
    found = answered and not answer.refused and anywhere
    return Row(part, kind, answered, answer.refused, right, found, len(answer.citations), valid)


def in_order(answer: Answer) -> list[Citation]:
    """Citations in the order in which the text shows them."""
    by_number = {one.n: one for one in answer.citations}
    return [by_number[n] for n in dict.fromkeys(mark.n for mark in sorted(answer.marks, key=lambda m: m.start))]


def holds(citation: Citation, gold: str | Sequence[str]) -> bool:
    """Whether the quote, or the label of its cell, holds ``gold`` as whole words and numbers, whatever the blanks."""
    return says(f"{citation.quotation or citation.quote} | {citation.label}", gold)


def says(text: str, gold: str | Sequence[str]) -> bool:
    """Whether ``text`` holds ``gold`` as whole words and numbers, whatever the blanks."""
    return all(re.search(_whole(one), normal(text)) for one in ([gold] if isinstance(gold, str) else gold))


def _whole(words: str) -> str:
    text = normal(words)
    before = r"(?<!\w)(?<!\d[.,])" if text[0].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if text[-1].isalnum() else ""
    return before + r"\s*".join(map(re.escape, text.split())) + after


def normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SAME).casefold().split())


def summary(rows: Sequence[Row]) -> Iterator[list[object]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(f"{row.part}: {row.kind}", []).append(row)
        groups.setdefault(f"**{row.part}: {'answered' if row.answered else 'not answered'}**", []).append(row)
    for name, group in sorted(groups.items()):
        count = Counter(field for row in group for field in ("first", "anywhere", "refused") if getattr(row, field))
        wrong = sum(row.answered and not row.refused and not row.first for row in group)
        there = group[0].answered
        yield [
            name,
            len(group),
            count["first"] if there else "",
            count["anywhere"] if there else "",
            wrong if there else "",
            count["refused"],
        ]


if __name__ == "__main__":
    main()
