"""Known pages: regions and grids of a page that Groundwork has drawn, kept in the page itself, and its layout by them.

Nothing is guessed on such a page: each word belongs to the cell that it was drawn in, with blanks where that has them.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragcore.index.packing import adapter
from ragcore.ingest.layout import COARSE, GLUED, SOFT_HYPHEN, PageLayout, Rect, Region
from ragcore.ingest.words import WordColumns

BODY_SIZE = 8.0  # font size in points of words that are not on the page as text
_FILE, _PAGE = "GroundworkFile", "GroundworkPage"  # keys of the catalogue and of a page


def keep(document: Any, **told: object) -> None:
    """Keep ``told`` (fields of `FileInfo`) in an open PDF."""
    _put(document, document.pdf_catalog(), _FILE, json.dumps(told).encode())


def kept(document: Any) -> dict[str, Any]:
    """What `keep` has kept."""
    told: dict[str, Any] = json.loads(_get(document, document.pdf_catalog(), _FILE) or b"{}")
    lists = ("notes", "places", "furniture")
    return told | {name: tuple(told[name]) for name in lists if told.get(name) is not None}


def keep_page(document: Any, page: Any, regions: Sequence[Region], texts: Sequence[Sequence[str]]) -> None:
    """Keep the regions of a page in it, with their texts, one for each cell of a table."""
    record = [adapter(tuple[Region, ...]).dump_python(tuple(regions), mode="json"), texts]
    _put(document, page.xref, _PAGE, json.dumps(record).encode())


def kept_page(document: Any, page: Any) -> tuple[tuple[Region, ...], list[list[str]]] | None:
    """What `keep_page` has kept; None if it has not."""
    data = _get(document, page.xref, _PAGE)
    if data is None:
        return None
    regions, texts = json.loads(data)
    return adapter(tuple[Region, ...]).validate_python(regions), texts


def _put(document: Any, owner: int, key: str, data: bytes) -> None:
    xref = document.get_new_xref()
    document.update_object(xref, "<<>>")
    document.update_stream(xref, data)
    document.xref_set_key(owner, key, f"{xref} 0 R")


def _get(document: Any, owner: int, key: str) -> bytes | None:
    kind, value = document.xref_get_key(owner, key)
    return bytes(document.xref_stream(int(value.split()[0]))) if kind == "xref" else None


def known_layout(page: PageLayout, regions: tuple[Region, ...], texts: Sequence[Sequence[str]]) -> PageLayout:
    """``page`` with these regions instead of its own. Each cell is a line, its words glued as in its text; where the
    words on the page are others, as those of scripts that shape their letters, they are the text's, with the cell's
    box."""
    boxes = list(_boxes(regions))
    if not boxes:
        return page
    frames = np.asarray([box for _, box in boxes], dtype=np.float32)
    x = (page.boxes[:, 0] + page.boxes[:, 2])[:, None] / 2
    y = (page.boxes[:, 1] + page.boxes[:, 3])[:, None] / 2
    away_x = np.maximum(np.maximum(frames[:, 0] - x, x - frames[:, 2]), 0)
    away_y = np.maximum(np.maximum(frames[:, 1] - y, y - frames[:, 3]), 0)
    nearest = np.hypot(away_x, away_y).argmin(axis=1)
    flags = page.flags & ~np.uint8(SOFT_HYPHEN)
    kept = np.ones(len(nearest), dtype=np.bool_)
    added = WordColumns()
    for number, text in enumerate(said for each in texts for said in each):
        members = np.flatnonzero(nearest == number)
        read = [page.texts[i] for i in members]
        for index, together in zip(members.tolist(), _glued(read, text)):
            flags[index] = flags[index] | GLUED if together else flags[index] & ~np.uint8(GLUED)
        if _folded("".join(read)) != _folded("".join(text.split())):
            kept[members] = False
            size = float(page.sizes[members].mean()) if len(members) else BODY_SIZE
            for word in text.split():
                added.add(word, boxes[number][1], size, number, COARSE, number)
    cell = np.concatenate([nearest[kept], np.asarray(added.lines, dtype=np.intp)])
    return replace(
        page,
        texts=(*(text for text, stays in zip(page.texts, kept) if stays), *added.texts),
        boxes=np.concatenate([page.boxes[kept], added.box_array()]),
        sizes=np.concatenate([page.sizes[kept], np.asarray(added.sizes, dtype=np.float32)]),
        lines=cell.astype(np.int32),
        flags=np.concatenate([flags[kept], np.asarray(added.flags, dtype=np.uint8)]),
        owners=np.asarray([owner for owner, _ in boxes], dtype=np.int32)[cell],
        regions=regions,
    )


def _folded(text: str) -> str:
    """``text`` without what the reader of words normalises (see `ragcore.ingest.words`)."""
    return unicodedata.normalize("NFKC", text).replace("\xad", "")


def _boxes(regions: Sequence[Region]) -> Iterator[tuple[int, Rect]]:
    """Region and box of each text."""
    for number, region in enumerate(regions):
        yield from ((number, cell.box) for cell in region.grid.cells) if region.grid else [(number, region.box)]


def _glued(words: Sequence[str], text: str) -> list[bool]:
    """Whether no blank of ``text`` is before each of its ``words``; none if they are other words, as after
    normalisation."""
    out: list[bool] = []
    at = 0
    for word in words:
        blank = at
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(word, at):
            return []
        out.append(bool(out) and blank == at)
        at += len(word)
    return out
