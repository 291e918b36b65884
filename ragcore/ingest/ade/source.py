"""ADE JSON (LandingAI's Agentic Document Extraction): validation, and the parts that `layout` needs.

The format is the answer of the ADE parse endpoint (models dpt-2; docs.landing.ai/ade/ade-json-response): ``chunks``
with a type, Markdown (tables as HTML) and a box, and ``grounding``, the boxes of tables and table cells by their HTML
id. Boxes are shares, 0 to 1, of the page as displayed, origin top-left; pages count from 0 there and from 1 here.
"""

from __future__ import annotations

import mmap
from codecs import BOM_UTF8
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, PositiveInt, ValidationError, model_validator

from ragcore.errors import BadAdeJson, TooManyPages
from ragcore.ingest.convert.kinds import HEAD_BYTES, SUFFIXES
from ragcore.ingest.layout import Rect

TOLERANCE = 0.02  # of the page: how far a box may extend beyond it before it is an error
MAX_MARKDOWN = 500_000  # characters in one chunk; a page full of text has some 10,000

Share = Annotated[float, Field(ge=-TOLERANCE, le=1 + TOLERANCE)]


class _Box(BaseModel):
    left: Share
    top: Share
    right: Share
    bottom: Share

    @model_validator(mode="after")
    def _ordered(self) -> _Box:
        if self.right < self.left or self.bottom < self.top:
            raise ValueError("its right or bottom edge lies before its left or top edge")
        return self


class _Place(BaseModel):
    box: _Box
    page: Annotated[int, Field(ge=0)]

    @property
    def shown(self) -> tuple[int, Rect]:
        """Page from 1, and the box cut at the page's edges."""
        x0, y0, x1, y1 = (min(1.0, max(0.0, v)) for v in (self.box.left, self.box.top, self.box.right, self.box.bottom))
        return self.page + 1, (x0, y0, x1, y1)


class _Chunk(BaseModel):
    type: str
    markdown: Annotated[str, Field(max_length=MAX_MARKDOWN)]
    grounding: _Place | None = None


class _Metadata(BaseModel):
    page_count: PositiveInt | None = None
    failed_pages: list[int] | None = None


class _Parsed(BaseModel):
    chunks: list[_Chunk]
    grounding: dict[str, _Place | None] | None = None
    metadata: _Metadata | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_a_job(cls, given: object) -> object:
        """Answer of a finished parse job, which wraps it in ``data``."""
        if isinstance(given, dict) and "chunks" not in given and isinstance(given.get("data"), dict):
            return given["data"]
        return given


@dataclass(frozen=True, slots=True)
class AdeChunk:
    """Region found by ADE. ``box`` is in shares of the page as displayed."""

    kind: str
    markdown: str
    box: Rect


@dataclass(frozen=True, slots=True)
class AdeFile:
    """Content of an ADE JSON: ``chunks`` of each page in reading order; ``boxes`` has page and box of tables and cells
    by HTML id; ``failed``: ADE could not read some of the pages."""

    pages: int
    chunks: Mapping[int, tuple[AdeChunk, ...]]
    boxes: Mapping[str, tuple[int, Rect]]
    failed: bool = False


def is_json(data: bytes, name: str) -> bool:
    """Whether a file is to be read as JSON, by its first bytes, unless its name is that of another kind, else by it."""
    head = data[:HEAD_BYTES].removeprefix(BOM_UTF8).lstrip()
    may_be = SUFFIXES.get(Path(name).suffix.lower(), "pdf") == "pdf"
    return (head.startswith(b"{") and may_be) or (name.lower().endswith(".json") and b"%PDF-" not in head)


def looks_like_ade(path: Path) -> bool:
    """Whether a JSON file found in a folder is meant as ADE output, valid or not: it mentions chunks and grounding. An
    unreadable file counts, so that the reader reports it."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(b'"chunks"') >= 0 and data.find(b'"grounding"') >= 0
    except OSError:
        return True
    except ValueError:  # an empty file
        return False


def read_ade(data: bytes, name: str, max_pages: int | None = None) -> AdeFile:
    """Validated content of an ADE JSON. Raises `BadAdeJson`, which names the place, and `TooManyPages`."""
    try:
        parsed = _Parsed.model_validate_json(data.removeprefix(BOM_UTF8))
    except ValidationError as error:
        raise BadAdeJson(_complaint(error, name)) from error
    if not parsed.chunks:
        raise BadAdeJson(f"{name} is ADE output without content: chunks is empty.")
    by_page: dict[int, list[AdeChunk]] = {}
    for number, given in enumerate(parsed.chunks):
        if given.grounding is None:
            raise BadAdeJson(
                f"{name} can't be shown on pages: chunks[{number}] has no grounding.",
                hint="ADE gives none for spreadsheets; save the spreadsheet as PDF and add that.",
            )
        page, box = given.grounding.shown
        by_page.setdefault(page, []).append(AdeChunk(given.type, given.markdown, box))
    metadata, last = parsed.metadata or _Metadata(), max(by_page)
    pages = metadata.page_count or last
    if last > pages:
        raise BadAdeJson(f"{name} has a chunk on page {last}, and metadata.page_count is {pages}.")
    if max_pages is not None and pages > max_pages:
        raise TooManyPages(f"{name} has {pages} pages; the limit is {max_pages}.")
    boxes = {key: place.shown for key, place in (parsed.grounding or {}).items() if place is not None}
    chunks = {page: tuple(own) for page, own in by_page.items()}
    return AdeFile(pages, chunks, boxes, failed=bool(metadata.failed_pages))


def _complaint(error: ValidationError, name: str) -> str:
    """First validation error as one line, with its place in the JSON."""
    first = error.errors(include_url=False, include_input=False)[0]
    detail = first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        return f"{name} is not JSON: {detail.removeprefix('Invalid JSON: ')}."
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    if not place or (place == "chunks" and first["type"] == "missing"):
        return f"{name} is JSON, but not what LandingAI's ADE has read of a PDF."
    return f"{name} isn't valid ADE output at {place}: {detail[:1].lower()}{detail[1:]}."
