"""The parent's handle on one parsing child process (`worker`)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from ragcore import errors
from ragcore.config import IngestSettings
from ragcore.errors import GroundworkError, ParseCrashed, ParseTimeout
from ragcore.ingest.worker import receive, send

_START_SECONDS = 60.0  # importing MuPDF and the layout model on a busy machine
_GRACE_SECONDS = 30.0  # after which an orphan ends itself


class Child:
    """One child with one file open. Not shared between threads, save `kill`.

    It is started as ``python -m ragcore.ingest.worker``, so that nothing of the program that runs it (a Streamlit
    script, pytest, a console script) is imported again, and no lock or MuPDF state is inherited by a fork.
    """

    def __init__(self, path: Path, *, settings: IngestSettings, password: str | None, layout: bool, name: str) -> None:
        self._settings = settings
        self._name = name
        self._timed_out = threading.Event()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process; close() closes it
        environment = dict(os.environ)
        home = str(Path(__file__).resolve().parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(p for p in (home, environment.get("PYTHONPATH", "")) if p)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ragcore.ingest.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
        )
        try:
            self._call(
                {
                    "op": "open",
                    "path": str(path.resolve()),
                    "password": password,
                    "name": name,
                    "layout": layout,
                    "memory_mb": settings.memory_mb,
                },
                _START_SECONDS + settings.page_seconds,
            )
        except GroundworkError:
            self.kill()
            raise

    def info(self) -> dict[str, Any]:
        head, _payload = self._call({"op": "info"}, self._settings.page_seconds)
        info: dict[str, Any] = head["info"]
        return info

    def page(self, number: int, *, plain: bool) -> bytes:
        """`PageLayout` bytes. Raises `ParseTimeout` or `ParseCrashed`; then see `usable`."""
        seconds = self._settings.plain_seconds if plain else self._settings.page_seconds
        _head, payload = self._call({"op": "page", "page": number, "plain": plain}, seconds)
        return payload

    def frame(self, number: int) -> tuple[float, float, int]:
        """Displayed width, height and rotation of a page. Raises as `page` does."""
        head, _payload = self._call({"op": "frame", "page": number}, self._settings.plain_seconds)
        width, height, rotation = head["frame"]
        return float(width), float(height), int(rotation)

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
