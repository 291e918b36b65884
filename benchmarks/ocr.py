"""How well does OCR read, how fast, and how often is a good text layer suspected?

    python -m benchmarks ocr [--pages 20] [--dpi 150 200] [--alarms]

Pages with a text layer, spread over three sets, are drawn at each resolution, put into a PDF as pictures, and read as
any scan is (layout included in the time). The text layer is the truth. Each word read belongs to the true
word that it covers most; ``errors`` is the share of characters that must be inserted, deleted or replaced to make the
true words of what was read there (words read elsewhere count in full); ``recall`` is the share of true words read
letter by letter in a box that overlaps theirs by half (intersection over union), and ``box`` that overlap's mean.
Tesseract, as PyMuPDF calls it, reads the same pictures where its data is installed (TESSDATA_PREFIX).

``--alarms`` counts the pages of all sets whose text layer is suspected of a broken encoding, and names them.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pymupdf

from benchmarks.common import data, table
from ragcore.config.settings import load
from ragcore.ingest.layout import PageLayout
from ragcore.ingest.legible import garbled
from ragcore.ingest.parse import parse_pages

SETS = ("pmc-dev", "financebench-dev", "gov-pdfs")
ALL_SETS = (*SETS, "docling-samples", "mmlongbench-dev", "icdar2013-eu", "nike")
MIN_WORDS = 150  # a page with fewer words is not taken
FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE

Box = tuple[float, float, float, float]
Words = list[tuple[str, Box]]


@dataclass
class Score:
    edits: int = 0
    characters: int = 0
    words: int = 0
    found: int = 0
    overlaps: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--dpi", type=int, nargs="+", default=[150, 200])
    parser.add_argument("--alarms", action="store_true")
    options = parser.parse_args()
    if options.alarms:
        alarms()
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options.pages, options.dpi)


def compare(folder: Path, count: int, resolutions: Sequence[int]) -> None:
    source = sample(count)
    (folder / "text.pdf").write_bytes(source.tobytes())
    truth = [words_of(page) for page in read(folder / "text.pdf", len(source))]
    rows: list[tuple[object, ...]] = []
    for dpi in resolutions:
        scans = pictures(source, dpi)
        (folder / "scans.pdf").write_bytes(scans.tobytes())
        started = processor()
        pages = read(folder / "scans.pdf", len(source), scanned=True)
        seconds = processor() - started
        rows.append(("rapidocr", dpi, *scored(truth, [words_of(page) for page in pages]), seconds / len(source)))
        sure = np.concatenate([page.confidence for page in pages if page.confidence is not None])
        print(f"{dpi} dpi: mean confidence {sure.mean():.1f} %, {sum(len(p.texts) for p in pages)} words", flush=True)
        started = processor()
        others = tesseract(scans, dpi)
        seconds = processor() - started
        if others is None:
            rows.append(("Tesseract", dpi, "not installed", "", "", ""))
        else:
            rows.append(("Tesseract", dpi, *scored(truth, others), seconds / len(source)))
    print(f"\n{len(source)} pages, {sum(map(len, truth))} words\n")
    print(table(rows, ("engine", "dpi", "errors", "recall", "box", "processor seconds a page")))


def processor() -> float:
    """Seconds of processor time of this process and the children that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def sample(count: int) -> pymupdf.Document:
    """``count`` pages with text and without rotation, as evenly from the sets and their files as can be."""
    chosen = pymupdf.open()
    for place, name in enumerate(SETS):
        files = sorted(data(name).rglob("*.pdf"))
        wanted = (count * (place + 1)) // len(SETS) - (count * place) // len(SETS)
        for turn in range(wanted):
            given = pymupdf.open(files[turn % len(files)])
            start = (turn + 1) * len(given) // (wanted + 1)
            for number in [*range(start, len(given)), *range(start)]:
                page = given[number]
                if page.rotation == 0 and len(page.get_text("words")) >= MIN_WORDS:
                    chosen.insert_pdf(given, from_page=number, to_page=number)
                    break
    return chosen


def pictures(source: pymupdf.Document, dpi: int) -> pymupdf.Document:
    scans = pymupdf.open()
    for page in source:
        sheet = scans.new_page(width=page.rect.width, height=page.rect.height)
        sheet.insert_image(sheet.rect, pixmap=page.get_pixmap(dpi=dpi))
    return scans


def read(path: Path, pages: int, *, scanned: bool = False) -> list[PageLayout]:
    """The pages in order; by OCR where they are ``scanned``."""
    settings, _origins = load()
    one = settings.ingest.model_copy(update={"workers": 1})
    found = sorted(
        parse_pages(path, range(1, pages + 1), settings=one, ocr=settings.ocr if scanned else None),
        key=lambda page: page.number,
    )
    for page in found:
        if page.degraded:
            print(f"page {page.number}: {page.degraded}")
    return found


def words_of(page: PageLayout) -> Words:
    return [(text, page.displayed(tuple(box))) for text, box in zip(page.texts, page.boxes.tolist(), strict=True)]


def tesseract(scans: pymupdf.Document, dpi: int) -> list[Words] | None:
    """What Tesseract reads on each page; None where its English data is not installed."""
    folder = os.environ.get("TESSDATA_PREFIX") or pymupdf.get_tessdata()
    if not folder or not (Path(folder) / "eng.traineddata").is_file():
        return None
    out: list[Words] = []
    for page in scans:
        pdf = page.get_pixmap(dpi=dpi).pdfocr_tobytes(language="eng", tessdata=folder, compress=False)
        sheet = pymupdf.open("pdf", pdf)[0]
        scale = page.rect.width / sheet.rect.width
        out.append([(w[4], tuple(scale * v for v in w[:4])) for w in sheet.get_text("words")])
    return out


def scored(truth: Sequence[Words], found: Sequence[Words]) -> tuple[float, float, float]:
    """Character errors, word recall and mean overlap of the boxes of the words that were found."""
    total = Score()
    for wanted, given in zip(truth, found, strict=True):
        score_page(wanted, given, total)
    return total.edits / total.characters, total.found / total.words, float(np.mean(total.overlaps))


def score_page(wanted: Words, given: Words, total: Score) -> None:
    boxes = np.asarray([box for _text, box in wanted], np.float64)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    parts: dict[int, list[tuple[float, str]]] = {}
    best: dict[int, float] = {}
    for text, box in given:
        shared = np.clip(np.minimum(boxes[:, 2], box[2]) - np.maximum(boxes[:, 0], box[0]), 0, None) * np.clip(
            np.minimum(boxes[:, 3], box[3]) - np.maximum(boxes[:, 1], box[1]), 0, None
        )
        k = int(shared.argmax())
        if shared[k] <= 0:
            total.edits += len(folded(text))
            continue
        parts.setdefault(k, []).append((box[0], folded(text)))
        union = area[k] + (box[2] - box[0]) * (box[3] - box[1]) - shared[k]
        overlap = float(shared[k] / union)
        if folded(text) == folded(wanted[k][0]) and overlap >= 0.5 and overlap > best.get(k, 0.0):
            best[k] = overlap
    for k, (text, _box) in enumerate(wanted):
        made = "".join(part for _x, part in sorted(parts.get(k, [])))
        total.edits += distance(folded(text), made)
        total.characters += len(folded(text))
    total.words += len(wanted)
    total.found += len(best)
    total.overlaps.extend(best.values())


def folded(text: str) -> str:
    """One form for what looks the same: quotes, dashes, ligatures, decomposed letters."""
    plain = unicodedata.normalize("NFKC", text)
    return plain.translate(str.maketrans("‘’“”‐‑‒–—−•·", "''\"\"------··"))


def distance(a: str, b: str) -> int:
    """Levenshtein's."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def alarms() -> None:
    seen: Counter[str] = Counter()
    raised: Counter[str] = Counter()
    for name, text, place in texts():
        seen[name] += 1
        why = garbled(text)
        if why is not None:
            raised[name] += 1
            print(f"{place}: {why}: {' '.join(text.split())[:100]!r}")
    rows = [(name, seen[name], raised[name]) for name in ALL_SETS]
    rows.append(("all", seen.total(), raised.total()))
    print(table(rows, ("set", "pages with text", "suspected")))


def texts() -> Iterator[tuple[str, str, str]]:
    for name in ALL_SETS:
        for path in sorted(data(name).rglob("*.pdf")):
            with pymupdf.open(path) as document:
                for page in document:
                    text = page.get_text(flags=FLAGS)
                    if text.strip():
                        yield name, text, f"{name}/{path.name}, page {page.number + 1}"


if __name__ == "__main__":
    main()
