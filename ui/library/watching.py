"""Watcher: one thread that looks through the watched folders while the app runs, and queues what differs."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from ragcore.errors import Cancelled, GroundworkError, StoreBusy
from ragcore.types.watch import EVERY
from ui.library.jobs import Ingestion

_log = logging.getLogger(__name__)


class Watcher:
    """One thread that looks through each folder when it is due."""

    def __init__(self, ingestion: Ingestion) -> None:
        self._ingestion = ingestion
        self._stirred = threading.Event()
        self._closed = threading.Event()
        self._due: dict[Path, float] = {}
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stir(self, path: Path | None = None) -> None:
        """Look through a folder now, or see which there are."""
        if path is not None:
            self._due[path] = 0.0
        self._stirred.set()

    def close(self) -> None:
        self._closed.set()
        self._stirred.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            wait = EVERY
            try:
                wait = self._look()
            except Cancelled:
                return
            except GroundworkError as error:  # a busy or full disk: it is tried again
                _log.warning("The watched folders couldn’t be looked through: %s %s", error.message, error.hint)
            except Exception:  # noqa: BLE001 — it is logged, and the folders are looked through again
                _log.exception("The watched folders couldn’t be looked through.")
            self._stirred.wait(wait)
            self._stirred.clear()

    def _look(self) -> float:
        """Look through the folders that are due; returns the seconds until the next one is."""
        watch, waits = self._ingestion.engine.watch, [EVERY]
        for folder in watch.folders():
            left = self._due.get(folder.path, 0.0) - time.monotonic()
            if left <= 0 and not self._closed.is_set():
                left = folder.every
                self._due[folder.path] = time.monotonic() + left  # before: it may be wanted again meanwhile
                try:
                    for doc_id in watch.scan(folder.path, self._closed.is_set).attached:
                        self._ingestion.add(doc_id)
                except StoreBusy:
                    left, self._due[folder.path] = 1.0, 0.0  # another process does
            waits.append(left)
        for doc_id in watch.unread(but=self._ingestion.jobs()):
            self._ingestion.add(doc_id)
        return max(min(waits), 0.1)
