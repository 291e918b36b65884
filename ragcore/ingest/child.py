"""The parent's handle on one parsing child process (`worker`)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragcore import errors
from ragcore.config import IngestSettings, OcrSettings
from ragcore.errors import GroundworkError, ParseCrashed, ParseTimeout
from ragcore.ingest.worker import receive, send
from ragcore.types import Box

_START_SECONDS = 60.0  # importing MuPDF and the layout model on a busy machine
_GRACE_SECONDS = 30.0  # after which an orphan ends itself


@dataclass(frozen=True, slots=True)
class Crop:
    """A part of a page as a picture: size in pixels, the SHA-256 of the pixels and a PNG of them."""

    width: int
    height: int
    sha256: str
    png: bytes


class Child:
    """One child with one file open, or with none where ``path`` is None. Not shared between threads, save `kill`.

    It is started as ``python -m ragcore.ingest.worker``, so that nothing of the program that runs it (a Streamlit
    script, pytest, a console script) is imported again, and no lock or MuPDF state is inherited by a fork.
    """

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
        """Starts the process and opens the file. ``layout``: with the layout model. ``started`` is given the child as
        soon as the process runs, so that another thread can `kill` it while it starts. Raises what opening raises."""
        self._settings = settings
        self._ocr = ocr
        self._name = name
        self.pages = 0  # read so far
        self._timed_out = threading.Event()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process; close() closes it
        environment = dict(os.environ)
        home = str(Path(__file__).resolve().parents[2])
        # The parent runs one child per core; numpy's own threads would only get in their way.
        environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        environment["PYTHONPATH"] = os.pathsep.join(p for p in (home, environment.get("PYTHONPATH", "")) if p)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ragcore.ingest.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
        )
        try:
            if started is not None:
                started(self)
            self._call(
                {
                    "op": "open",
                    "path": None if path is None else str(path.resolve()),
                    "password": password,
                    "name": name,
                    "layout": layout,
                    "memory_mb": settings.memory_mb,
                    "ocr": None if ocr is None else ocr.model_dump(),
                },
                _START_SECONDS + settings.page_seconds,
            )
        except GroundworkError:
            self.close()
            raise

    def info(self) -> dict[str, Any]:
        head, _payload = self._call({"op": "info"}, self._settings.page_seconds)
        info: dict[str, Any] = head["info"]
        return info

    def page(self, number: int, *, plain: bool) -> bytes:
        """`PageLayout` bytes. Raises `ParseTimeout` or `ParseCrashed`; then see `usable`."""
        seconds = self._settings.plain_seconds if plain else self._settings.page_seconds
        self.pages += 1
        _head, payload = self._call({"op": "page", "page": number, "plain": plain, "ask": False}, seconds)
        return payload

    def page_unless_scan(self, number: int) -> tuple[bytes, str | None]:
        """`PageLayout` bytes; or none, and why the page should be read by OCR (`scan`). Raises as `page` does."""
        request = {"op": "page", "page": number, "plain": False, "ask": self._ocr is not None}
        self.pages += 1
        head, payload = self._call(request, self._settings.page_seconds)
        return payload, head["ocr"]

    def scan(self, number: int, *, plain: bool) -> bytes:
        """`PageLayout` bytes of a page read by OCR. Raises as `page` does, and `ModelMissing` or `ModelDamaged`."""
        assert self._ocr is not None
        _head, payload = self._call({"op": "scan", "page": number, "plain": plain}, self._ocr.page_seconds)
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
        return self._process.poll() is None and not self._timed_out.is_set()

    def kill(self) -> None:
        """End the process at once and free its pipes. May be called from any thread and more than once."""
        self._process.kill()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:  # what was still buffered for a dead child
                    continue
        self._stderr.close()

    def _call(self, request: dict[str, Any], seconds: float) -> tuple[dict[str, Any], bytes]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = threading.Timer(seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            send(self._process.stdin, {**request, "seconds": seconds + _GRACE_SECONDS})
            reply = receive(self._process.stdout)
        except (BrokenPipeError, OSError, ValueError):
            reply = None
        finally:
            timer.cancel()
        if reply is None:
            raise self._failure(seconds)
        head, payload = reply
        if not head["ok"]:
            raise _rebuild(head["error"], self._name)
        return head, payload

    def _expire(self) -> None:
        self._timed_out.set()
        self.kill()

    def _failure(self, seconds: float) -> GroundworkError:
        self._process.kill()
        code = self._process.wait()
        if self._timed_out.is_set():
            return ParseTimeout(f"{self._name}: a step took longer than {seconds:g} s.")
        self._stderr.seek(0)
        lines = self._stderr.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        why = lines[-1].strip()[:200] if lines else f"the parsing process ended with code {code}"
        return ParseCrashed(f"{self._name}: {why}")


def _rebuild(error: dict[str, Any], file: str) -> GroundworkError:
    kinds = {k.__name__: k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, GroundworkError)}
    name = "".join(part.capitalize() for part in str(error["code"]).split("_"))
    kind = kinds.get(name, errors.ParseError)
    message = str(error["message"]) if issubclass(kind, errors.InputError) else f"{file}: {error['message']}"
    return kind(message, hint=str(error["hint"]), retryable=bool(error["retryable"]))
