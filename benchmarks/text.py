"""Is the text of a page read in order, and are its paragraphs and headings found?

    python -m benchmarks text [--set pmc-dev|docling-samples] [--per-doc]

Over scientific articles with their XML and over docling's test PDFs with their expected tree, beside plain
`Page.get_text("blocks")` and `pymupdf4llm.to_markdown` in the same run. Per document, then averaged:

- edit: normalised edit distance between the true headings and paragraphs and the whole running text read (tables and
  captions left out where the method tells them apart); references and front matter, which the truth lacks, count as
  insertions for every method alike;
- in order: share of the true words that stand in the text read in the same order (longest common subsequence);
- whole: share of true paragraphs that are one element (edit similarity ≥ 0.95 with one element, so neither cut nor
  run together);
- tau: Kendall's tau between the true order of the paragraphs and the one read;
- headings: recall and precision; levels: share of found headings whose level is the true one, up to one shift per
  document; paths: share of whole paragraphs whose section path ends with the true one;
- words: share of the letters and digits on the pages that are in the text (headers and footers included).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pymupdf
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel, LCSseq, Levenshtein
from scipy.stats import kendalltau

from benchmarks.common import data, table, words
from ragcore.config.settings import load
from ragcore.ingest.document import build_document
from ragcore.ingest.parse import inspect, parse_pages
from ragcore.types import Document

WHOLE = 0.95  # edit similarity from which a paragraph counts as one element
SHINGLE = 5  # words that place a paragraph in a text
# Headings that articles print and their XML keeps elsewhere.
_FURNISHED = ("abstract", "keywords", "references", "contents", "bibliography")
_NUMBER = re.compile(r"^(?:(?:[0-9]{1,2}|[ivx]+|[a-z])[.)](?:[0-9]+\.?)*|[0-9]{1,2})\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """A piece of text as some method gives it: ``level`` above 0 is a heading's; ``path`` the headings above it."""

    text: str
    level: int = 0
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Truth:
    """``blocks`` in reading order; ``other`` are headings that are right but not part of the body."""

    blocks: tuple[Block, ...]
    other: frozenset[str] = frozenset()


@dataclass
class Reading:
    """What a method read: running text in ``blocks``, and ``everything`` it has of the page."""

    blocks: list[Block] = field(default_factory=list)
    everything: str = ""


def groundwork(path: Path) -> Reading:
    settings, _origins = load()
    info = inspect(path, settings=settings.ingest)
    pages = list(parse_pages(path, range(1, info.pages + 1), settings=settings.ingest))
    return reading_of(build_document("0" * 16, "0" * 64, path.name, info, pages, settings))


def reading_of(document: Document) -> Reading:
    """The running text of a document as `Block`."""
    kinds = ("heading", "paragraph", "list_item", "footnote", "formula")
    return Reading(
        [
            Block(document.text[e.start : e.end], e.level if e.kind == "heading" else 0, e.section)
            for e in document.body
            if e.kind in kinds and e.end > e.start
        ],
        document.text,
    )


def get_text(path: Path) -> Reading:
    with pymupdf.open(path) as document:
        blocks = [Block(block[4]) for page in document for block in page.get_text("blocks") if block[6] == 0]
    return Reading(blocks, "\n".join(block.text for block in blocks))


def markdown(path: Path) -> Reading:
    import pymupdf4llm

    shown = pymupdf4llm.to_markdown(str(path), use_ocr=False, show_progress=False)
    blocks: list[Block] = []
    stack: list[tuple[int, str]] = []
    for piece in re.split(r"\n\s*\n|\n(?=\s*[-*] )", shown):
        text = piece.strip()
        if not text or text.startswith(("|", "**==>", "----- ", "```")):
            continue
        mark = re.match(r"(#+) +", text)
        plain = re.sub(r"[*_`]{1,3}|<[^>]{1,8}>|^#+ ", "", text)
        level = len(mark.group(1)) if mark else 0
        if level:
            while stack and stack[-1][0] >= level:
                stack.pop()
        blocks.append(Block(plain, level, tuple(title for _level, title in stack)))
        if level:
            stack.append((level, plain))
    return Reading(blocks, shown)


METHODS: dict[str, Callable[[Path], Reading]] = {
    "groundwork": groundwork,
    "get_text": get_text,
    "pymupdf4llm": markdown,
}


def articles(folder: Path) -> Iterator[tuple[Path, Truth]]:
    """Articles with their XML: the body's headings and paragraphs."""
    with (folder / "articles.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            article = json.loads(line)
            blocks: list[Block] = []
            before: tuple[str, ...] = ()
            for paragraph in article["paragraphs"]:
                path = tuple(paragraph["section"])
                same = next((i for i, (a, b) in enumerate(zip(path, before)) if a != b), min(len(path), len(before)))
                blocks += [Block(path[depth], depth + 1, path[:depth]) for depth in range(same, len(path))]
                blocks.append(Block(paragraph["text"], 0, path))
                before = path
            tree = ElementTree.parse(folder / article["xml"])
            titles = {"".join(e.itertext()) for tag in ("title", "article-title", "subject") for e in tree.iter(tag)}
            yield folder / article["pdf"], Truth(tuple(blocks), frozenset(map(fold, titles)))


def trees(folder: Path) -> Iterator[tuple[Path, Truth]]:
    """docling's expected trees: what is text in the body, in its order."""
    for file in sorted((folder / "groundtruth").glob("*.json")):
        tree = json.loads(file.read_text("utf-8"))
        if "texts" not in tree:
            continue
        yield folder / "pdf" / f"{file.stem}.pdf", Truth(tuple(_tree_blocks(tree, tree["body"])))


def _tree_blocks(tree: dict[str, Any], node: dict[str, Any]) -> Iterator[Block]:
    for child in node.get("children", ()):
        _hash, kind, number = child["$ref"].split("/")
        item = tree[kind][int(number)]
        if kind in ("pictures", "tables") or item.get("content_layer", "body") != "body":
            continue
        label = item.get("label")
        if kind == "texts" and item["text"].strip() and label not in ("caption", "footnote", "formula"):
            yield Block(item["text"], int(item.get("level", 1)) if label in ("section_header", "title") else 0)
        yield from _tree_blocks(tree, item)


SETS: dict[str, Callable[[Path], Iterator[tuple[Path, Truth]]]] = {"pmc-dev": articles, "docling-samples": trees}


def fold(text: str) -> str:
    """A heading by its letters and digits, without its number."""
    text = _NUMBER.sub("", " ".join(unicodedata.normalize("NFKC", text).casefold().split()))
    return re.sub(r"[\W_]+", "", text)


def smooth(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def measure(truth: Truth, reading: Reading, letters: Counter[str]) -> dict[str, float]:
    """The figures of one document, as named in the module's docstring."""
    read = smooth(" ".join(block.text for block in reading.blocks))
    true = smooth(" ".join(block.text for block in truth.blocks))
    true_words, read_words = words(true), words(read)
    paragraphs = [block for block in truth.blocks if not block.level]
    figures = {
        "edit": Levenshtein.normalized_distance(true, read),
        "in order": LCSseq.similarity(true_words, read_words) / max(1, len(true_words)),
        "tau": _order([words(block.text) for block in paragraphs], read_words),
        "words": 1 - (letters - _letters(reading.everything)).total() / max(1, letters.total()),
    }
    figures |= _paragraphs(paragraphs, reading.blocks)
    figures |= _headings(truth, [block for block in reading.blocks if block.level])
    return figures


def _paragraphs(true: Sequence[Block], read: Sequence[Block]) -> dict[str, float]:
    if not true or not read:
        return {}
    scores = process.cdist(
        [smooth(b.text) for b in true],
        [smooth(b.text) for b in read],
        scorer=Indel.normalized_similarity,
        score_cutoff=WHOLE,
    )
    best = scores.argmax(axis=1)
    whole = [place for place in range(len(true)) if scores[place, best[place]] >= WHOLE]
    figures = {"whole": len(whole) / len(true)}
    placed = [(true[place].path, read[best[place]].path) for place in whole if true[place].path]
    if placed and any(path for _true, path in placed):
        right = [[fold(t) for t in have[-len(want) :]] == [fold(t) for t in want] for want, have in placed]
        figures["paths"] = sum(right) / len(right)
    return figures


def _headings(truth: Truth, read: Sequence[Block]) -> dict[str, float]:
    """Recall, precision, levels; a true heading is matched once, in order of the text."""
    if not read:
        return {}
    open_places = list(range(len(read)))
    pairs: list[tuple[int, int]] = []
    true = [block for block in truth.blocks if block.level]
    for block in true:
        name = fold(block.text)
        place = next((p for p in open_places if fuzz.ratio(fold(read[p].text), name) >= 95), None)
        if place is not None:
            open_places.remove(place)
            pairs.append((block.level, read[place].level))
    also = [p for p in open_places if _is_right(fold(read[p].text), truth.other)]
    figures = {"h recall": len(pairs) / max(1, len(true)), "h precision": (len(pairs) + len(also)) / len(read)}
    if pairs:
        shift = Counter(have - want for want, have in pairs).most_common(1)[0][0]
        figures["levels"] = sum(have - want == shift for want, have in pairs) / len(pairs)
    return figures


def _is_right(name: str, other: frozenset[str]) -> bool:
    return name.startswith(_FURNISHED) or any(fuzz.ratio(name, title) >= 95 for title in other)


def _order(paragraphs: Sequence[list[str]], read: Sequence[str]) -> float:
    """Kendall's tau of the places at which the paragraphs stand in ``read``: each by its runs of SHINGLE words that
    occur there once."""
    places: dict[tuple[str, ...], list[int]] = {}
    for at in range(len(read) - SHINGLE + 1):
        places.setdefault(tuple(read[at : at + SHINGLE]), []).append(at)
    found: list[tuple[int, float]] = []
    for number, paragraph in enumerate(paragraphs):
        starts = [
            places[run][0] - at
            for at in range(len(paragraph) - SHINGLE + 1)
            if len(places.get(run := tuple(paragraph[at : at + SHINGLE]), ())) == 1
        ]
        if starts:
            found.append((number, statistics.median(starts)))
    if len(found) < 2:
        return 1.0
    return float(kendalltau([a for a, _b in found], [b for _a, b in found]).statistic)


def _letters(text: str) -> Counter[str]:
    return Counter("".join(words(text)))


def printed(path: Path) -> Counter[str]:
    """The letters and digits on the pages, as `Page.get_text` gives them."""
    with pymupdf.open(path) as document:
        return _letters(" ".join(page.get_text() for page in document))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", choices=sorted(SETS), action="append", help="default: all")
    parser.add_argument("--method", choices=sorted(METHODS), action="append", help="default: all")
    parser.add_argument("--per-doc", action="store_true")
    options = parser.parse_args()
    for name in options.set or sorted(SETS):
        samples = list(SETS[name](data(name)))
        rows: list[list[object]] = []
        for method in options.method or METHODS:
            started = time.perf_counter()
            readings = [METHODS[method](path) for path, _truth in samples]
            seconds = time.perf_counter() - started
            scored = [measure(truth, got, printed(path)) for (path, truth), got in zip(samples, readings)]
            if options.per_doc:
                rows += [_row(f"{method} {path.stem}", [figures]) for (path, _t), figures in zip(samples, scored)]
            rows.append([*_row(method, scored), f"{seconds:.1f}"])
        print(f"\n{name}, {len(samples)} documents, mean over documents\n")
        print(table([[*row, *[""] * (len(FIGURES) + 2 - len(row))] for row in rows], ["method", *FIGURES, "seconds"]))


FIGURES = ("edit", "in order", "whole", "tau", "h recall", "h precision", "levels", "paths", "words")


def _row(name: str, scored: Sequence[dict[str, float]]) -> list[object]:
    """``name`` and the mean of each figure over the documents that have it."""
    row: list[object] = [name]
    for figure in FIGURES:
        values = [figures[figure] for figures in scored if figure in figures]
        row.append(statistics.fmean(values) if values else "–")
    return row
