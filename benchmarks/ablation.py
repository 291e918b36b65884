"""What does each pass of ingest earn? Documents are built with one pass switched off at a time.

    python -m benchmarks ablation [--set icdar2013-eu --set pmc-dev ...] [--folder PDFS] [--kept DIR] [--only NAME ...]

Pages are read once and kept in ``--kept``, since the layout model is nine tenths of the time; the passes that build the
document then take seconds. For each pass: how many elements of all documents differ without it, in how many documents,
and the figures of `tables` and `text` for the sets that have a truth. ``--folder`` adds PDFs without a truth: a pass
that changes nothing in documents that no rule was written on earns nothing.
"""

from __future__ import annotations

import argparse
import pickle
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks import tables, text
from benchmarks.common import data, table
from ragcore.config.settings import Settings, load
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.ingest.parse import inspect, parse_pages
from ragcore.types import Document

Read = tuple[str, Path, FileInfo, list[PageLayout]]  # set, file


def same(given: Any, *_others: Any) -> Any:
    return given


def nothing(*_given: Any) -> None:
    return None


def no_list(*_given: Any) -> list[Any]:
    return []


def no(*_given: Any) -> bool:
    return False


# The pass → the module that calls it, its name there, and what stands in for it.
PASSES: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "split": ("document", "split_blocks", lambda pages: [list(blocks) for blocks in pages]),
    "split: headings run in": ("paragraphs", "_run_in_headings", same),
    "split: paragraphs": ("paragraphs", "_paragraphs", lambda block: [block]),
    "split: list items": ("paragraphs", "_items", lambda block: [block]),
    "roles": ("document", "correct_roles", nothing),
    "noise": ("document", "mark_noise", nothing),
    "captions": ("document", "tie_captions", lambda pages: {}),
    "joins over breaks": ("document", "join_over_breaks", nothing),
    "levels by outline": ("levels", "_outline_levels", lambda headings, info: {}),
    "levels by numbers": ("levels", "_apply_numbers", nothing),
    "tables: titles": ("document", "table_title", no_list),
    "tables: runs": ("tables.cells", "_mend_runs", nothing),
    "tables: signs": ("tables.cells", "_join_symbol_columns", nothing),
    "tables: marks": ("tables.cells", "count_marks", nothing),
    "tables: split rows": ("tables.cells", "split_rows", nothing),
    "tables: headers": ("tables.cells", "settle_headers", lambda draft: import_headers().mark_headers(draft)),
    "tables: wrapped rows": ("tables.cells", "merge_wrapped_rows", nothing),
    "tables: names": ("tables.pages", "_take_name", no_list),
    "tables: over pages": ("tables.pages", "_goes_on", no),
    "tables: groups": ("tables.text", "groups", lambda draft: dict.fromkeys(range(draft.rows), ())),
}


def import_headers() -> Any:
    return import_module("ragcore.ingest.tables.headers")


@contextmanager
def without(name: str) -> Iterator[None]:
    """The pass called ``name`` switched off; "" for none."""
    if not name:
        yield
        return
    place, attribute, stand_in = PASSES[name]
    with patch(f"ragcore.ingest.{place}.{attribute}", stand_in):
        yield


def read(label: str, path: Path, kept: Path, settings: Settings) -> Read:
    """The pages of one file, from ``kept`` where it was read before."""
    file = kept / f"{label}~{path.name}.pages"
    if not file.is_file():
        info = inspect(path, settings=settings.ingest)
        pages = parse_pages(path, range(1, info.pages + 1), settings=settings.ingest)
        file.write_bytes(pickle.dumps((info, [page.to_bytes() for page in pages])))
    info, parts = pickle.loads(file.read_bytes())
    return label, path, info, [PageLayout.from_bytes(part) for part in parts]


def elements(document: Document) -> Counter[tuple[object, ...]]:
    return Counter((e.kind, e.noise, e.page, e.section, document.text[e.start : e.end]) for e in document.elements)


def figures(built: Sequence[tuple[str, Path, Document]]) -> dict[str, float]:
    """The figures of the sets that have a truth."""
    out: dict[str, float] = {}
    for name in dict.fromkeys(label for label, _path, _document in built):
        own = {path: document for label, path, document in built if label == name}
        if name in ("icdar2013-eu", "pmc-dev"):
            found = {path.name: tables.tables_of(document) for path, document in own.items()}
            out[f"{name} cells"] = tables.score(data(name), found, per_doc=False)["cell_f1"]
        if name in text.SETS:
            truths = [(truth, own[path], path) for path, truth in text.SETS[name](data(name)) if path in own]
            rows = [text.measure(truth, text.reading_of(d), text.printed(path)) for truth, d, path in truths]
            for figure in ("whole", "h recall", "h precision", "paths"):
                values = [row[figure] for row in rows if figure in row]
                out |= {f"{name} {figure}": statistics.fmean(values)} if values else {}
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", action="append", default=[], help="a set of the measuring data")
    parser.add_argument("--folder", type=Path, action="append", default=[], help="PDFs without a truth")
    parser.add_argument("--kept", type=Path, required=True, help="where pages are kept between runs")
    parser.add_argument("--only", nargs="*", choices=list(PASSES), default=list(PASSES))
    options = parser.parse_args()
    settings, _origins = load()
    options.kept.mkdir(parents=True, exist_ok=True)
    folders = [(name, data(name)) for name in options.set] + [(folder.name, folder) for folder in options.folder]
    pages = [
        read(name, path, options.kept, settings) for name, folder in folders for path in sorted(folder.rglob("*.pdf"))
    ]

    def built(name: str) -> list[tuple[str, Path, Document]]:
        with without(name):
            return [
                (label, path, build_document("0" * 16, "0" * 64, path.name, info, own, settings))
                for label, path, info, own in pages
            ]

    whole = built("")
    wanted, known = figures(whole), [elements(document) for _label, _path, document in whole]
    rows: list[list[object]] = [["none", 0, 0, *wanted.values()]]
    for name in options.only:
        now = built(name)
        gone = [(before - elements(document)).total() for before, (_l, _p, document) in zip(known, now)]
        rows.append([name, sum(gone), sum(map(bool, gone)), *figures(now).values()])
        print(rows[-1], flush=True)
    print(table(rows, ["switched off", "elements", "documents", *wanted]))


if __name__ == "__main__":
    main()
