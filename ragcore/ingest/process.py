"""Processes with limits (`worker`): one is started, reads a file, and waits a while for the next one.

Starting a process costs more than reading a page of text, so that a stack of letters is read several times as fast by
processes that stay. One that failed, was stopped or has read many pages never serves another file.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from ragcore.errors import ParseCrashed, ParseTimeout
from ragcore.ingest.worker import receive, send

_GRACE_SECONDS = 30.0  # after which an orphan ends itself
_CLOSE_SECONDS = 5.0
_MOST = 5  # that wait: those of a team, and one without the layout model


# What a child may have of this process's environment, by name or its beginning: all else may be a key.
_HANDED_ON = (
    *("PATH", "HOME", "USER", "LANG", "LC_", "TZ", "TMPDIR", "TEMP", "TMP", "XDG_", "SYSTEMROOT", "WINDIR", "APPDATA"),
    *("LOCALAPPDATA", "USERPROFILE", "PYTHON", "VIRTUAL_ENV", "LD_", "DYLD_", "ORT_", "OMP_", "MALLOC_", "COVERAGE_"),
)


def environment() -> dict[str, str]:
    """The environment of a child process, without keys."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(_HANDED_ON)}


class Process:
    """A child process. It is started as ``python -m`` some module, so that nothing of the program that runs
    it (a Streamlit script, pytest, a console script) is imported again, and no lock or MuPDF state is inherited by a
    fork. Not shared between threads, save `kill`."""

    def __init__(self, *, layout: bool, module: str = "ragcore.ingest.worker") -> None:
        """``layout``: with the layout model, which the first request has to ask for. ``module`` is what it runs."""
        self.layout = layout
        self.read = 0  # files and pages
        self._killed = threading.Event()
        self._timed_out = threading.Event()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process; close() closes it
        given = environment()
        home = str(Path(__file__).resolve().parents[2])
        # The parent runs one child per core; numpy's own threads would only get in their way.
        given.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        given["PYTHONPATH"] = os.pathsep.join(p for p in (home, given.get("PYTHONPATH", "")) if p)
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=given,
        )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def usable(self) -> bool:
        """Whether it still answers: it does after an error that MuPDF reported in good order."""
        return not self._killed.is_set() and self._popen.poll() is None

    def call(
        self, request: dict[str, Any], seconds: float, name: str, payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        """The reply to a request about the file called ``name``. Raises `ParseTimeout` after ``seconds``, and
        `ParseCrashed` where the process ends; it serves no more then."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        timer = threading.Timer(seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            send(self._popen.stdin, {**request, "seconds": seconds + _GRACE_SECONDS}, payload)
            reply = receive(self._popen.stdout)
        except (BrokenPipeError, OSError, ValueError):
            reply = None
        finally:
            timer.cancel()
        if reply is not None:
            return reply
        self.kill()
        code = self._popen.wait()
        if self._timed_out.is_set():
            raise ParseTimeout(f"{name}: a step took longer than {seconds:g} s.")
        self._stderr.seek(0)
        lines = self._stderr.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        why = lines[-1].strip()[:200] if lines else f"the parsing process ended with code {code}"
        raise ParseCrashed(f"{name}: {why}")

    def leave(self) -> bool:
        """Close the file that is open, and forget what was complained of; whether the process can serve another."""
        try:
            self.call({"op": "close"}, _CLOSE_SECONDS, "")
        except (ParseTimeout, ParseCrashed):
            return False
        # The process writes on where the file stands, since both have it open as one.
        self._stderr.seek(0)
        self._stderr.truncate()
        return self.usable

    def kill(self) -> None:
        """End the process at once. May be called from any thread and more than once."""
        self._killed.set()
        self._popen.kill()

    def close(self) -> None:
        """End it and free its pipes."""
        self.kill()
        self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:  # what was still buffered for a dead child
                    continue
        self._stderr.close()

    def _expire(self) -> None:
        self._timed_out.set()
        self.kill()


class Waiting:
    """Processes without a file, each for some seconds after its last one. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: dict[Process, threading.Timer] = {}

    def pids(self) -> set[int]:
        with self._lock:
            return {process.pid for process in self._processes}

    def take(self, *, layout: bool) -> Process | None:
        """One with the layout model, or any where that is not needed; the one that was used last."""
        with self._lock:
            fitting = [each for each in self._processes if each.usable and (each.layout or not layout)]
            fitting.sort(key=lambda each: each.layout == layout)  # one with the model is left to those who need it
            if not fitting:
                return None
            timer = self._processes.pop(process := fitting[-1])
        timer.cancel()
        return process

    def put(self, process: Process, seconds: float) -> None:
        """Have it wait, if it can serve another file; else it ends."""
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
        """End all that wait."""
        for process in self._processes.copy():
            self._end(process)


waiting = Waiting()
atexit.register(waiting.close)
