"""Child processes with limits (`worker`): each is started, reads a file, and waits a while for the next one.

Starting a process costs more than reading a page of text, so reused processes read a stack of letters several times as
fast. A process that failed, was stopped or has read many pages is not reused. `Child` is the parent's handle on one
file, whichever process has it open.
"""

from __future__ import annotations

import atexit
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ragcore import errors
from ragcore.config.settings import IngestSettings, OcrSettings
from ragcore.errors import Cancelled, GroundworkError, ParseCrashed, ParseTimeout
from ragcore.files import scratch_folder
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.ingest.worker import receive, send
from ragcore.types import Box
from ragcore.types.library import FileKind

_GRACE_SECONDS = 30.0  # after which an orphan ends itself
_CLOSE_SECONDS = 5.0
_POLL_SECONDS = 0.2
_START_SECONDS = 60.0  # importing MuPDF and the layout model on a busy machine
_CONVERTED = 200_000  # bytes of a file that may take as long as a plain page while pages are made of it
STRIKES = 4  # processes lost to a file after which what costs them is no longer tried
_MOST = 5  # waiting processes at most: a team, and one without the layout model


# Environment variables passed to a child, by name or prefix; any other may be a key.
_HANDED_ON = (
    *("PATH", "HOME", "USER", "LANG", "LC_", "TZ", "TMPDIR", "TEMP", "TMP", "XDG_", "SYSTEMROOT", "WINDIR", "APPDATA"),
    *("LOCALAPPDATA", "USERPROFILE", "PYTHON", "VIRTUAL_ENV", "LD_", "DYLD_", "ORT_", "OMP_", "MALLOC_", "COVERAGE_"),
)


def environment() -> dict[str, str]:
    """Environment of a child process, without keys."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(_HANDED_ON)}


class Process:
    """Child process, started as ``python -m MODULE``, so that nothing of the parent program (a Streamlit script,
    pytest, a console script) is imported again, and no lock or MuPDF state is inherited by a fork. Not shared between
    threads."""

    def __init__(self, *, layout: bool) -> None:
        """Start the process; ``layout``: with the layout model."""
        self.layout = layout
        self.read = 0  # files and pages
        self._replies: queue.SimpleQueue[tuple[dict[str, Any], bytes] | None] = queue.SimpleQueue()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process; close() closes it
        given = environment()
        path = [str(Path(__file__).resolve().parents[2]), given.get("PYTHONPATH", "")]
        # The parent runs one child per core, so numpy's own threads would only compete with them.
        given |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        given["PYTHONPATH"] = os.pathsep.join(filter(None, path))
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "ragcore.ingest.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=given,
        )
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._stdin, self._stdout = self._popen.stdin, self._popen.stdout
        threading.Thread(target=self._receive, name="parse-replies", daemon=True).start()

    def _receive(self) -> None:
        try:
            while (reply := receive(self._stdout)) is not None:
                self._replies.put(reply)
        finally:
            self._replies.put(None)

    @property
    def usable(self) -> bool:
        """Whether the process still answers, as it does after an error that MuPDF reported normally."""
        return self._popen.poll() is None

    def call(
        self,
        request: dict[str, Any],
        seconds: float,
        name: str,
        cancelled: Callable[[], bool] | None = None,
    ) -> tuple[dict[str, Any], bytes]:
        """Reply to a request about the file called ``name``. Raises `ParseTimeout` after ``seconds``, `Cancelled` soon
        after ``cancelled()`` turns true, and `ParseCrashed` if the process ends; it is then unusable."""
        end = time.monotonic() + seconds
        with suppress(OSError):  # the process has ended
            send(self._stdin, {**request, "seconds": seconds + _GRACE_SECONDS})
        while True:
            try:
                reply = self._replies.get(timeout=max(0.0, min(_POLL_SECONDS, end - time.monotonic())))
                break
            except queue.Empty:
                if cancelled is not None and cancelled():
                    self.kill()
                    raise Cancelled(f"Reading {name} was stopped.") from None
                if time.monotonic() >= end:
                    self.kill()
                    raise ParseTimeout(f"{name}: a step took longer than {seconds:g} s.") from None
        if reply is not None:
            return reply
        self.kill()
        self._stderr.seek(0)
        lines = self._stderr.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        code = self._popen.returncode
        why = lines[-1].strip()[:200] if lines else f"the parsing process ended with code {code}"
        raise ParseCrashed(f"{name}: {why}")

    def leave(self) -> bool:
        """Close the open file and discard its error output. Returns whether the process can serve another file."""
        try:
            self.call({"op": "close"}, _CLOSE_SECONDS, "")
        except (ParseTimeout, ParseCrashed):
            return False
        # The process writes on at the file's position, since both share one open file.
        self._stderr.seek(0)
        self._stderr.truncate()
        return self.usable

    def kill(self) -> None:
        """End the process at once."""
        self._popen.kill()
        self._popen.wait()

    def close(self) -> None:
        """End the process and free its pipes."""
        self.kill()
        for stream in (self._stdin, self._stdout, self._stderr):
            with suppress(BrokenPipeError):  # data still buffered for a dead child
                stream.close()


class Waiting:
    """Pool of idle processes, each kept for some seconds after its last file. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: dict[Process, threading.Timer] = {}

    def take(self, *, layout: bool) -> Process | None:
        """Most recently used process with the layout model (any if ``layout`` is false); None if there is none."""
        with self._lock:
            fitting = [each for each in self._processes if each.usable and (each.layout or not layout)]
            fitting.sort(key=lambda each: each.layout == layout)  # one with the model is left to those that need it
            if not fitting:
                return None
            timer = self._processes.pop(process := fitting[-1])
        timer.cancel()
        return process

    def put(self, process: Process, seconds: float) -> None:
        """Add the process to the pool if it can serve another file; else end it."""
        kept = seconds > 0 and process.usable and process.leave()
        if kept:
            timer = threading.Timer(seconds, self._end, [process])
            timer.daemon = True
            with self._lock:
                if kept := len(self._processes) < _MOST:
                    self._processes[process] = timer
                    timer.start()
        if not kept:
            process.close()

    def _end(self, process: Process) -> None:
        with self._lock:
            waited = self._processes.pop(process, None)
        if waited is not None:
            process.close()

    def close(self) -> None:
        """End all idle processes."""
        for process in self._processes.copy():
            self._end(process)


waiting = Waiting()
atexit.register(waiting.close)


@dataclass(frozen=True, slots=True)
class Crop:
    """Crop of a page: size in pixels, the SHA-256 of the pixels and a PNG of them."""

    width: int
    height: int
    sha256: str
    png: bytes


class Child:
    """One file in a process of its own: opened with the first request, and again after a process was lost or is worn.
    Without a file if ``path`` is None. Not shared between threads. Each method raises whatever opening raises,
    `ParseTimeout` or `ParseCrashed`, and `Cancelled` soon after ``cancelled()`` turns true."""

    def __init__(
        self,
        path: Path | None,
        settings: IngestSettings,
        *,
        name: str,
        password: str | None = None,
        layout: bool = False,
        ocr: OcrSettings | None = None,
        cancelled: Callable[[], bool] | None = None,
        made: bool = False,
    ) -> None:
        """``layout``: with the layout model; ``ocr``: pages without usable text are read by OCR; ``made``: the pages
        are our own, made of another file."""
        self._settings = settings
        self._ocr = ocr
        self._name = name
        self._layout = layout
        self._cancelled = cancelled
        self._process: Process | None = None
        self._opening = {
            "op": "open",
            "path": None if path is None else str(path.resolve()),
            "password": password,
            "name": name,
            "layout": layout,
            "memory_mb": settings.memory_mb,
            "ocr": None if ocr is None else ocr.model_dump(),
            "made": made,
        }
        self.lost = 0  # processes that crashed or took too long

    def open(self) -> None:
        """Open the file in an idle process, or start one, unless it is open."""
        if self._process is not None and self._process.read > self._settings.process_pages:
            self.close()
        if self._process is not None:
            return
        waited = waiting.take(layout=self._layout)
        try:
            self._open_in(waited or Process(layout=self._layout))
        except ParseCrashed:
            if waited is None:
                raise
            self._open_in(Process(layout=self._layout))  # the idle one may have ended for reasons of its own

    def _open_in(self, process: Process) -> None:
        self._process = process
        try:
            self._send(process, self._opening, _START_SECONDS + self._settings.page_seconds)
        except GroundworkError:
            self.close()
            raise

    def info(self) -> FileInfo:
        head, _payload = self.call({"op": "info"}, self._settings.page_seconds)
        return TypeAdapter(FileInfo).validate_python(head["info"])

    def page(self, number: int, *, plain: bool = False) -> PageLayout:
        """Page ``number``, by OCR if it needs that and unless it is to be read the ``plain`` way. Also raises
        `ModelMissing` or `ModelDamaged`."""
        seconds = self._settings.plain_seconds if plain else self._settings.page_seconds
        head, payload = self.call({"op": "page", "page": number, "plain": plain}, seconds)
        if (why := head["ocr"]) and self._ocr is not None:
            try:
                _head, payload = self.call({"op": "scan", "page": number}, self._ocr.page_seconds)
            except (ParseTimeout, ParseCrashed) as error:
                raise type(error)(f"this page {why}, and OCR couldn't read it: {error.message}") from error
        return PageLayout.from_bytes(payload)

    def frame(self, number: int) -> tuple[float, float, int]:
        """Displayed width, height and rotation of a page."""
        head, _payload = self.call({"op": "frame", "page": number}, self._settings.plain_seconds)
        width, height, rotation = head["frame"]
        return width, height, rotation

    def crop(self, box: Box, *, dpi: float, max_pixels: int) -> Crop:
        """Picture of ``box`` (displayed-page points)."""
        if self.lost >= STRIKES:
            raise ParseCrashed(f"{self._name}: the pictures of {STRIKES} figures couldn't be drawn.")
        place = {"page": box.page, "box": [box.x0, box.y0, box.x1, box.y1]}
        request = {"op": "crop", **place, "dpi": dpi, "max_pixels": max_pixels}
        head, png = self.call(request, self._settings.plain_seconds)
        return Crop(head["width"], head["height"], head["sha256"], png)

    def draw(self, json: Path, target: Path, size: tuple[float, float], pages: int) -> None:
        """Draw the ``pages`` pages of an ADE JSON, each of ``size`` points, to the PDF ``target``."""
        seconds = self._settings.page_seconds + pages * self._settings.plain_seconds
        request = {"op": "draw", "json": str(json.resolve()), "target": str(target.resolve()), "size": list(size)}
        self.call(request, seconds)

    def convert(self, source: Path, target: Path, kind: FileKind) -> None:
        """Make the PDF ``target`` of a file of another ``kind``."""
        paths = {"source": str(source.resolve()), "target": str(target.resolve())}
        most = {"kind": kind, "name": self._name, "most_pages": self._settings.max_pages}
        parts = source.stat().st_size / _CONVERTED
        seconds = _START_SECONDS + self._settings.page_seconds + parts * self._settings.plain_seconds
        with scratch_folder(_START_SECONDS) as folder:
            self.call({"op": "convert", **paths, **most, "folder": folder}, seconds)

    def unlock(self, target: Path) -> None:
        """Write a decrypted copy to ``target``."""
        seconds = _START_SECONDS + self._settings.page_seconds
        self.call({"op": "unlock", "target": str(target.resolve())}, seconds)

    def close(self) -> None:
        """Close the file; its process goes back to the pool if it can serve another."""
        if self._process is not None:
            worn = self._process.read > self._settings.process_pages
            waiting.put(self._process, 0.0 if worn else self._settings.idle_seconds)
            self._process = None

    def call(self, request: dict[str, Any], seconds: float) -> tuple[dict[str, Any], bytes]:
        """Reply to ``request``: its fields, and its payload."""
        self.open()
        assert self._process is not None
        return self._send(self._process, request, seconds)

    def _send(self, process: Process, request: dict[str, Any], seconds: float) -> tuple[dict[str, Any], bytes]:
        process.read += request["op"] in ("open", "page")
        try:
            head, payload = process.call(request, seconds, self._name, self._cancelled)
        except GroundworkError:
            self.lost += request["op"] != "open"
            self.close()
            raise
        if head["ok"]:
            return head, payload
        error = head["error"]
        kind: type[GroundworkError] = getattr(errors, error["kind"])
        message = error["message"] if issubclass(kind, errors.InputError) else f"{self._name}: {error['message']}"
        raise kind(message, hint=error["hint"], retryable=error["retryable"])
