"""Cancellation of running tasks, from the Stop button to the connection that it cuts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stop:
    """Thread-safe cancellation token of a task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told = False
        self._closes: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        return self._told

    def set(self) -> None:
        """Cancel the task and close its connections; repeated calls do nothing."""
        with self._lock:
            self._told = True
            closes, self._closes = self._closes, []
        for close in closes:
            close()

    @contextmanager
    def closing(self, close: Callable[[], None]) -> Iterator[None]:
        """Call ``close`` if the token is set while the block runs, or at once if it is set already."""
        with self._lock:
            told = self._told
            if not told:
                self._closes.append(close)
        if told:
            close()
        try:
            yield
        finally:
            with self._lock:
                if close in self._closes:
                    self._closes.remove(close)
