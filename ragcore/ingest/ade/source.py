"""ADE JSON (LandingAI's Agentic Document Extraction): validation, and the parts that `layout` needs.

The format is the answer of the ADE parse endpoint (models dpt-2; docs.landing.ai/ade/ade-json-response): ``chunks``
with a type, Markdown (tables as HTML) and a box, and ``grounding``, the boxes of tables and table cells by their HTML
id. Boxes are shares, 0 to 1, of the page as displayed, origin top-left; pages count from 0 there and from 1 here.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ragcore.errors import BadAdeJson, TooManyPages
from ragcore.ingest.layout import Rect

TOLERANCE = 0.02  # of the page: how far a box may extend beyond it before it is an error
MAX_MARKDOWN = 500_000  # characters in one chunk; a page full of text has some 10,000
_HEAD_BYTES = 1024  # bytes that may precede a PDF's header (ISO 32000-1, annex H)
_BOM = b"\xef\xbb\xbf"

Number = Annotated[float, Field(allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Box(_Model):
    left: Number
    top: Number
    right: Number
    bottom: Number

    @model_validator(mode="after")
    def _on_the_page(self) -> _Box:
        for name in ("left", "top", "right", "bottom"):
            value = getattr(self, name)
            if not -TOLERANCE <= value <= 1 + TOLERANCE:
                raise ValueError(f"{name} is {value:g}, and a box is given in shares of the page, 0 to 1")
        if self.right < self.left or self.bottom < self.top:
            raise ValueError("its right or bottom edge lies before its left or top edge")
        return self

    @property
    def rect(self) -> Rect:
        x0, y0, x1, y1 = (min(1.0, max(0.0, v)) for v in (self.left, self.top, self.right, self.bottom))
        return x0, y0, x1, y1


class _Place(_Model):
    box: _Box
    page: Annotated[int, Field(ge=0)]


class _Chunk(_Model):
    id: str = ""
    type: str
    markdown: Annotated[str, Field(max_length=MAX_MARKDOWN)]
    grounding: _Place | None = None


class _Metadata(_Model):
    page_count: Annotated[int, Field(gt=0)] | None = None
    failed_pages: list[int] | None = None


class _Parsed(_Model):
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
    """Region found by ADE on ``page`` (from 1). ``box`` is in shares of the page as displayed."""

    kind: str
    markdown: str
    page: int
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
    """Whether a file is to be read as JSON, by its first bytes, else by its name."""
    head = data[:_HEAD_BYTES].removeprefix(_BOM).lstrip()
    return head.startswith(b"{") or (name.lower().endswith(".json") and b"%PDF-" not in head)


def looks_like_ade(path: Path) -> bool:
    """Whether a JSON file found in a folder is meant as ADE output, valid or not: it mentions chunks and grounding. An
    unreadable file counts, so that the reader reports it."""
    if not os.access(path, os.R_OK):
        return True
    if path.stat().st_size == 0:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b'"chunks"') >= 0 and data.find(b'"grounding"') >= 0


def read_ade(data: bytes, name: str, max_pages: int | None = None) -> AdeFile:
    """Validated content of an ADE JSON. Raises `BadAdeJson`, which names the place, and `TooManyPages`."""
    text = _utf8(data, name)
    try:
        parsed = _Parsed.model_validate_json(text)
    except ValidationError as error:
        raise BadAdeJson(_complaint(error, name)) from error
    if not parsed.chunks:
        raise BadAdeJson(f"{name} is ADE output without content: chunks is empty.")
    places = {key: place for key, place in (parsed.grounding or {}).items() if place is not None}
    chunks: list[AdeChunk] = []
    for number, given in enumerate(parsed.chunks):
        place = given.grounding or places.get(given.id)
        if place is None:
            raise BadAdeJson(
                f"{name} can't be shown on pages: chunks[{number}] has no grounding.",
                hint="ADE gives none for spreadsheets; save the spreadsheet as PDF and add that.",
            )
        chunks.append(AdeChunk(given.type, given.markdown, place.page + 1, place.box.rect))
    count = parsed.metadata.page_count if parsed.metadata is not None else None
    pages = count or max(chunk.page for chunk in chunks)
    for number, chunk in enumerate(chunks):
        if chunk.page > pages:
            raise BadAdeJson(
                f"{name}: chunks[{number}].grounding.page is {chunk.page - 1}, and metadata.page_count is {pages} "
                "(pages count from 0)."
            )
    if max_pages is not None and pages > max_pages:
        raise TooManyPages(f"{name} has {pages} pages; the limit is {max_pages}.")
    failed = bool(parsed.metadata is not None and parsed.metadata.failed_pages)
    boxes = {key: (place.page + 1, place.box.rect) for key, place in places.items()}
    by_page: dict[int, list[AdeChunk]] = {}
    for chunk in chunks:
        by_page.setdefault(chunk.page, []).append(chunk)
    return AdeFile(pages, {page: tuple(own) for page, own in by_page.items()}, boxes, failed)


def _utf8(data: bytes, name: str) -> bytes:
    encoding = json.detect_encoding(data)
    if encoding == "utf-8":
        return data
    try:
        return data.decode(encoding).encode("utf-8")
    except UnicodeError as error:
        raise BadAdeJson(f"{name} is not JSON: its bytes aren't {encoding.upper()} text.") from error


def _complaint(error: ValidationError, name: str) -> str:
    """First validation error as one line, with its place in the JSON."""
    first = error.errors(include_url=False, include_input=False)[0]
    detail = first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        return f"{name} is not JSON: {detail.removeprefix('Invalid JSON: ')}."
    place = ""
    for part in first["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    if not place:
        return f"{name} is JSON, but not from ADE: it isn't an object with chunks."
    if place == "chunks" and first["type"] == "missing":
        return f"{name} is JSON, but not from ADE: it has no chunks."
    return f"{name} isn't valid ADE output at {place}: {detail[:1].lower()}{detail[1:]}."
