"""Does every box hold exactly what the text says stands there?

    python -m benchmarks grounding [--sets NAME ...] [--pages 5] [--examples 5] [--workers 2]

For every word, table cell and element of the PDFs of the sets (``--pages`` of each file, evenly spread; 0: all), the
characters that MuPDF finds in its boxes are held against the text of its span. The oracle shares nothing with the
ingest stage: MuPDF's characters as `Page.get_text("rawdict")` gives them, brought to the displayed page by the page's
own rotation matrix, each counted where its middle lies. Compared are the characters without blanks and hyphens (the
canonical text joins words that were hyphenated), in NFKC. A character that is printed several times in one place to
look bold counts once; one of a symbol font (a tick box that the font calls ``o``) may stand for any one character.

Also checked: spans within the text and chunks equal to their spans, chunks that tile the body, boxes on the page.
Pages without text (scans) have no oracle and are left out.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pymupdf
from numpy.typing import NDArray

from benchmarks.common import data, table
from ragcore.config.settings import Settings, load
from ragcore.errors import GroundworkError
from ragcore.ingest.chunk import chunk_document
from ragcore.ingest.document import build_document
from ragcore.ingest.parse import inspect, parse_pages
from ragcore.types import Document
from ragcore.types.geometry import Box

SETS = ("icdar2013-eu", "docling-samples", "gov-pdfs", "mmlongbench-dev", "pmc-dev", "nike", "financebench-dev")
SLACK = 0.05  # points by which a box may pass the page's edge: single precision
SYMBOL = "\ufffc"  # stands for any character of a symbol font
_SYMBOL_FONT = re.compile(r"dings|dingbat|symbol", re.IGNORECASE)
_LEFT_OUT = re.compile(r"[\s\x00-\x1f\-\u00ad\u2010\u2011\u200b-\u200f\ufeff]+")


@dataclass(frozen=True)
class Oracle:
    """The characters of one displayed page: ``middles`` float64 ``(n, 2)`` in points, ``texts`` n strings."""

    middles: NDArray[np.float64]
    texts: tuple[str, ...]
    width: float
    height: float

    def within(self, boxes: Sequence[Box]) -> str:
        """What is printed in ``boxes``, in MuPDF's order."""
        inside = np.zeros(len(self.middles), dtype=bool)
        for box in boxes:
            x, y = self.middles[:, 0], self.middles[:, 1]
            inside |= (x >= box.x0) & (x <= box.x1) & (y >= box.y0) & (y <= box.y1)
        return "".join(self.texts[i] for i in np.flatnonzero(inside).tolist())


@dataclass
class Score:
    """Counts of one set. ``kinds`` counts words by how they differ, ``shown`` has examples of each."""

    files: int = 0
    pages: int = 0
    checked: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    shown: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    broken: list[str] = field(default_factory=list)


def oracle(page: pymupdf.Page) -> Oracle:
    """Everything that MuPDF finds on ``page``, on the page as displayed."""
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    turn = page.rotation_matrix
    middles: list[tuple[float, float]] = []
    texts: list[str] = []
    last: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for block in page.get_text("rawdict", flags=flags)["blocks"]:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                for char in span["chars"]:
                    if not clean(char["c"]):
                        continue
                    x0, y0, x1, y1 = char["bbox"]
                    x, y = (x0 + x1) / 2, (y0 + y1) / 2
                    near = min(0.1 * float(span["size"]), 0.25 * max(x1 - x0, y1 - y0))
                    if any(abs(x - a) <= near and abs(y - b) <= near for a, b, _size in last[char["c"]][-50:]):
                        continue
                    last[char["c"]].append((x, y, near))
                    point = pymupdf.Point(x, y) * turn
                    middles.append((point.x, point.y))
                    texts.append(_shown(char["c"], span["font"]))
    return Oracle(np.asarray(middles).reshape(-1, 2), tuple(texts), float(page.rect.width), float(page.rect.height))


def _shown(char: str, font: str) -> str:
    return SYMBOL if _SYMBOL_FONT.search(font) else char


def clean(text: str) -> str:
    return _LEFT_OUT.sub("", unicodedata.normalize("NFKC", text))


def difference(said: str, printed: str) -> str:
    """ "" where the two hold the same characters, else how they differ."""
    ours, theirs = Counter(clean(said)), Counter(clean(printed))
    symbols = theirs.pop(SYMBOL, 0)
    missing, more = (ours - theirs).total(), (theirs - ours).total()
    if missing == symbols and not more:
        return ""
    if not theirs and not symbols:
        return "nothing is printed there"
    if missing <= symbols:
        return "more is printed there"
    return "other characters" if more else "less is printed there"


def check(document: Document, pages: Sequence[Oracle], score: Score, settings: Settings) -> None:
    """Hold every word, cell and element of ``document`` against ``pages`` (in its order)."""
    score.broken.extend(f"{document.name}: {problem}" for problem in _broken(document, pages, settings))
    words = document.words
    text = document.text
    for i in range(len(words)):
        page = pages[int(words.pages[i]) - 1]
        if not page.texts:
            continue
        x0, y0, x1, y1 = words.boxes[i].tolist()
        said = text[int(words.starts[i]) : int(words.ends[i])]
        if not clean(said):
            continue
        printed = page.within([Box(int(words.pages[i]), x0, y0, x1, y1)])
        kind = difference(said, printed)
        score.checked["words"] += 1
        score.same["words"] += not kind
        if kind:
            score.kinds[kind] += 1
            score.shown[kind].append(f"{document.name} p. {int(words.pages[i])}: {said!r} but {printed!r}")
    for element in document.elements:
        _check_span(document, pages, element.start, element.end, "elements", score)
        for cell in element.table.cells if element.table else ():
            _check_span(document, pages, cell.start, cell.end, "cells", score)


def _check_span(document: Document, pages: Sequence[Oracle], start: int, end: int, name: str, score: Score) -> None:
    """What is printed in the boxes of the span's own words is the text of those words."""
    words = document.words
    part = words.within(start, end)
    own = [i for i in range(part.start, part.stop) if not words.repeated[i] and pages[int(words.pages[i]) - 1].texts]
    said = "".join(document.text[int(words.starts[i]) : int(words.ends[i])] for i in own)
    if not clean(said):
        return
    boxes: defaultdict[int, list[Box]] = defaultdict(list)
    for i in own:
        x0, y0, x1, y1 = words.boxes[i].tolist()
        boxes[int(words.pages[i])].append(Box(int(words.pages[i]), x0, y0, x1, y1))
    printed = "".join(pages[number - 1].within(found) for number, found in boxes.items())
    score.checked[name] += 1
    score.same[name] += not difference(said, printed)


def _broken(document: Document, pages: Sequence[Oracle], settings: Settings) -> Iterator[str]:
    """What is wrong whatever is printed."""
    size = len(document.text)
    for element in document.elements:
        spans = [(element.start, element.end)]
        spans += [(cell.start, cell.end) for cell in element.table.cells] if element.table else []
        if any(not 0 <= start <= end <= size for start, end in spans):
            yield f"element {element.id} has a span outside the text"
    for page, x0, y0, x1, y1 in zip(document.words.pages.tolist(), *document.words.boxes.T.tolist()):
        shown = pages[page - 1]
        inside = x0 >= -SLACK and y0 >= -SLACK and x1 <= shown.width + SLACK and y1 <= shown.height + SLACK
        if not inside or x1 <= x0 or y1 <= y0:
            yield f"a box on page {page} is not on the page: {x0:.2f}, {y0:.2f}, {x1:.2f}, {y1:.2f}"
    end = 0
    for chunk in chunk_document(document, settings.chunk):
        if chunk.text != document.text[chunk.start : chunk.end]:
            yield f"chunk {chunk.index} is not its span"
        if chunk.tiles is None:
            if chunk.start != end:
                yield f"chunk {chunk.index} leaves a gap or overlaps"
            end = chunk.end
    if end != document.body_end:
        yield "the chunks do not reach the end of the body"


def read(path: Path, pages: int, settings: Settings) -> tuple[Document, list[Oracle]]:
    """The document of ``pages`` pages of the file (0: all), numbered from 1, and what MuPDF finds on them."""
    info = inspect(path, settings=settings.ingest)
    count = min(pages or info.pages, info.pages)
    chosen = [1 + i * info.pages // count for i in range(count)]
    layouts = sorted(parse_pages(path, chosen, settings=settings.ingest), key=lambda page: page.number)
    with pymupdf.open(path) as file:
        oracles = [oracle(file[number - 1]) for number in chosen]
    renumbered = [replace(page, number=number) for number, page in enumerate(layouts, start=1)]
    info = replace(info, pages=count, labels=(), outline=())
    return build_document("0" * 16, "0" * 64, path.name, info, renumbered, settings), oracles


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--pages", type=int, default=5, help="of each file; 0: all")
    parser.add_argument("--examples", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--match", default="", help="only files whose name holds this")
    options = parser.parse_args()
    settings, _origins = load(overrides={"ingest.workers": options.workers})
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    rows: list[tuple[object, ...]] = []
    kinds: Counter[str] = Counter()
    shown: defaultdict[str, list[str]] = defaultdict(list)
    broken: list[str] = []
    whole = Score()
    for name in options.sets:
        score = Score()
        for path in sorted(data(name).rglob("*.pdf")):
            if options.match not in path.name:
                continue
            try:
                document, oracles = read(path, options.pages, settings)
            except GroundworkError as error:
                print(f"{path.name}: {error.code}", flush=True)
                continue
            score.files += 1
            score.pages += len(oracles)
            check(document, oracles, score, settings)
        rows.append(_row(name, score))
        print(f"{name}: {score.files} files", flush=True)
        kinds += score.kinds
        broken += score.broken
        for kind, examples in score.shown.items():
            shown[kind] += examples
        whole.files, whole.pages = whole.files + score.files, whole.pages + score.pages
        whole.checked += score.checked
        whole.same += score.same
    rows.append(_row("all", whole))
    same = ("words", "of words", "cells", "of cells", "elements", "of elements")  # number, and share that is the same
    head = ("set", "files", "pages", *same)
    print("\n" + table(rows, head))
    print("\nWords that differ\n" + table(kinds.most_common(), ("how", "words")))
    for kind, examples in shown.items():
        step = max(1, len(examples) // max(1, options.examples))
        print(f"\n{kind}")
        for example in examples[::step][: options.examples]:
            print(f"  {example}")
    print(f"\nBroken spans, chunks and boxes: {len(broken)}")
    for problem in broken[: 4 * options.examples]:
        print(f"  {problem}")


def _row(name: str, score: Score) -> tuple[object, ...]:
    row: list[object] = [name, score.files, score.pages]
    for what in ("words", "cells", "elements"):
        count = score.checked[what]
        row += [count, f"{score.same[what] / count:.3%}" if count else "-"]
    return tuple(row)


if __name__ == "__main__":
    main()
