"""Known pages: regions and grids of a page that Groundwork has drawn, kept in the page itself, and its layout by them.

Nothing is guessed on such a page: each word belongs to the cell that it was drawn in, with blanks where that has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragcore.index.packing import adapter
from ragcore.ingest.layout import GLUED, SOFT_HYPHEN, PageLayout, Rect, Region

_FILE, _PAGE = "GroundworkFile", "GroundworkPage"  # keys of the catalogue and of a page


def keep(document: Any, **told: object) -> None:
    """Keep ``told`` (fields of `FileInfo`) in an open PDF."""
    _put(document, document.pdf_catalog(), _FILE, json.dumps(told).encode())


def kept(document: Any) -> dict[str, Any]:
    """What `keep` has kept."""
    told: dict[str, Any] = json.loads(_get(document, document.pdf_catalog(), _FILE) or b"{}")
    return told | {"notes": tuple(told.get("notes", ()))}


def keep_page(document: Any, page: Any, record: bytes) -> None:
    """Keep ``record`` in a page."""
    _put(document, page.xref, _PAGE, record)


def page_record(document: Any, page: Any) -> bytes | None:
    """What `keep_page` has kept; None if it has not."""
    return _get(document, page.xref, _PAGE)


def _put(document: Any, owner: int, key: str, data: bytes) -> None:
    xref = document.get_new_xref()
    document.update_object(xref, "<<>>")
    document.update_stream(xref, data)
    document.xref_set_key(owner, key, f"{xref} 0 R")


def _get(document: Any, owner: int, key: str) -> bytes | None:
    kind, value = document.xref_get_key(owner, key)
    return bytes(document.xref_stream(int(value.split()[0]))) if kind == "xref" else None


def dump_page(regions: Sequence[Region], texts: Sequence[Sequence[str]]) -> bytes:
    """Regions of a page with their texts, one for each cell of a table, as bytes."""
    return json.dumps([adapter(tuple[Region, ...]).dump_python(tuple(regions), mode="json"), texts]).encode()


def load_page(data: bytes) -> tuple[tuple[Region, ...], list[list[str]]]:
    """Inverse of `dump_page`."""
    regions, texts = json.loads(data)
    return adapter(tuple[Region, ...]).validate_python(regions), texts


def known_layout(page: PageLayout, regions: tuple[Region, ...], texts: Sequence[Sequence[str]]) -> PageLayout:
    """``page`` with these regions instead of its own: each cell is a line, and its words are glued as in its text."""
    boxes = list(_boxes(regions))
    if not boxes or not page.texts:
        return replace(page, regions=(), owners=np.zeros(len(page.texts), np.int32)) if not page.texts else page
    frames = np.asarray([box for _, box in boxes], dtype=np.float32)
    x = (page.boxes[:, 0] + page.boxes[:, 2])[:, None] / 2
    y = (page.boxes[:, 1] + page.boxes[:, 3])[:, None] / 2
    away_x = np.maximum(np.maximum(frames[:, 0] - x, x - frames[:, 2]), 0)
    away_y = np.maximum(np.maximum(frames[:, 1] - y, y - frames[:, 3]), 0)
    nearest = np.hypot(away_x, away_y).argmin(axis=1)
    flags = page.flags & ~np.uint8(SOFT_HYPHEN)
    for number, text in enumerate(said for each in texts for said in each):
        members = np.flatnonzero(nearest == number)
        glued = _glued([page.texts[i] for i in members], text)
        for index, together in zip(members.tolist(), glued):
            flags[index] = flags[index] | GLUED if together else flags[index] & ~np.uint8(GLUED)
    owners = np.asarray([owner for owner, _ in boxes], dtype=np.int32)[nearest]
    return replace(page, lines=nearest.astype(np.int32), flags=flags, owners=owners, regions=regions)


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
