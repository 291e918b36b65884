"""The parent's handle on one parsing child process (`worker`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragcore import errors
from ragcore.config.settings import IngestSettings, OcrSettings
from ragcore.errors import GroundworkError, ParseCrashed
from ragcore.ingest.process import Process, waiting
from ragcore.types import Box

_START_SECONDS = 60.0  # importing MuPDF and the layout model on a busy machine


@dataclass(frozen=True, slots=True)
class Crop:
    """A part of a page as a picture: size in pixels, the SHA-256 of the pixels and a PNG of them."""

    width: int
    height: int
    sha256: str
    png: bytes


class Child:
    """One process with one file open, or with none where ``path`` is None. Not shared between threads, save `kill`."""

    def __init__(
        self,
        path: Path | None,
        *,
        settings: IngestSettings,
        password: str | None,
        layout: bool,
        name: str,
        ocr: OcrSettings | None = None,
        started: Callable[[Child], None] | None = None,
    ) -> None:
        """Takes a process that waits, or starts one, and opens the file. ``layout``: with the layout model. ``started``
        is given the child as soon as the process runs, so that another thread can `kill` it while it opens the file.
        Raises what opening raises."""
        self._settings = settings
        self._ocr = ocr
        self._name = name
        self._lock = threading.Lock()
        request = {
            "op": "open",
            "path": None if path is None else str(path.resolve()),
            "password": password,
            "name": name,
            "layout": layout,
            "memory_mb": settings.memory_mb,
            "ocr": None if ocr is None else ocr.model_dump(),
        }
        waited = waiting.take(layout=layout)
        try:
            self._open(waited or Process(layout=layout), request, started)
        except ParseCrashed:
            if waited is None:
                raise
            # The one that waited may have ended for reasons of its own.
            self._open(Process(layout=layout), request, started)

    def _open(self, process: Process, request: dict[str, Any], started: Callable[[Child], None] | None) -> None:
        self._process, self._closed = process, False
        try:
            if started is not None:
                started(self)
            self._call(request, _START_SECONDS + self._settings.page_seconds)
        except GroundworkError:
            self.close()
            raise

    @property
    def worn(self) -> bool:
        """Whether the process has read so much that another one should go on."""
        return self._process.read >= self._settings.process_pages

    def info(self) -> dict[str, Any]:
        head, _payload = self._call({"op": "info"}, self._settings.page_seconds)
        info: dict[str, Any] = head["info"]
        return info

    def page(self, number: int, *, plain: bool) -> bytes:
        """`PageLayout` bytes. Raises `ParseTimeout` or `ParseCrashed`; then see `usable`."""
        seconds = self._settings.plain_seconds if plain else self._settings.page_seconds
        _head, payload = self._call({"op": "page", "page": number, "plain": plain, "ask": False}, seconds)
        return payload

    def page_unless_scan(self, number: int) -> tuple[bytes, str | None]:
        """`PageLayout` bytes; or none, and why the page should be read by OCR (`scan`). Raises as `page` does."""
        request = {"op": "page", "page": number, "plain": False, "ask": self._ocr is not None}
        head, payload = self._call(request, self._settings.page_seconds)
        return payload, head["ocr"]

    def scan(self, number: int) -> bytes:
        """`PageLayout` bytes of a page read by OCR. Raises as `page` does, and `ModelMissing` or `ModelDamaged`."""
        assert self._ocr is not None
        _head, payload = self._call({"op": "scan", "page": number}, self._ocr.page_seconds)
        return payload

    def frame(self, number: int) -> tuple[float, float, int]:
        """Displayed width, height and rotation of a page. Raises as `page` does."""
        head, _payload = self._call({"op": "frame", "page": number}, self._settings.plain_seconds)
        width, height, rotation = head["frame"]
        return float(width), float(height), int(rotation)

    def crop(self, box: Box, *, dpi: float, max_pixels: int) -> Crop:
        """What stands in ``box``, as a picture. Raises as `page` does."""
        place = {"page": box.page, "box": [box.x0, box.y0, box.x1, box.y1]}
        head, png = self._call(
            {"op": "crop", **place, "dpi": dpi, "max_pixels": max_pixels}, self._settings.plain_seconds
        )
        return Crop(int(head["width"]), int(head["height"]), str(head["sha256"]), png)

    def draw(self, json: Path, target: Path, size: tuple[float, float], pages: int) -> None:
        """Draw the ``pages`` pages of an ADE JSON, each of ``size`` points, to the PDF ``target``."""
        seconds = self._settings.page_seconds + pages * self._settings.plain_seconds
        request = {"op": "draw", "json": str(json.resolve()), "target": str(target.resolve()), "size": list(size)}
        self._call(request, seconds)

    def unlock(self, target: Path) -> None:
        self._call({"op": "unlock", "target": str(target.resolve())}, _START_SECONDS + self._settings.page_seconds)

    @property
    def usable(self) -> bool:
        """Whether the process still answers: it does after an error that MuPDF reported in good order."""
        return self._process.usable

    def kill(self) -> None:
        """End the process at once, while it is this one's. May be called from any thread and more than once."""
        with self._lock:
            if not self._closed:
                self._process.kill()

    def close(self) -> None:
        """Let go of the file; the process waits for another one, where it may."""
        with self._lock:
            self._closed = True
        waiting.put(self._process, 0.0 if self.worn else self._settings.idle_seconds)

    def _call(self, request: dict[str, Any], seconds: float) -> tuple[dict[str, Any], bytes]:
        self._process.read += request["op"] in ("open", "page")
        head, payload = self._process.call(request, seconds, self._name)
        if not head["ok"]:
            raise _rebuild(head["error"], self._name)
        return head, payload


def _rebuild(error: dict[str, Any], file: str) -> GroundworkError:
    kinds = {k.__name__: k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, GroundworkError)}
    name = "".join(part.capitalize() for part in str(error["code"]).split("_"))
    kind = kinds.get(name, errors.ParseError)
    message = str(error["message"]) if issubclass(kind, errors.InputError) else f"{file}: {error['message']}"
    return kind(message, hint=str(error["hint"]), retryable=bool(error["retryable"]))
