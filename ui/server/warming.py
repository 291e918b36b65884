"""Background loading of the models, from the server's start but never while a first page opens.

Loading takes a second or two of processor time and of the interpreter lock, and would delay every step of a page that
opens meanwhile. A page requested right after the start is therefore drawn first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

QUIET = 4.0  # seconds after the start in which a first page may be asked for: a browser has to start too
LONGEST = 6.0  # seconds that such a page is waited for: what asked may be no browser
SETTLING = 0.4  # seconds from the end of a page's script until the browser has fetched what it draws with


class Warming:
    """One-time loading in its own thread."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._drawn = threading.Event()
        self._ended: threading.Event | None = None

    def begin(self, load: Callable[[], None]) -> None:
        """Load as soon as no page is being opened."""
        self._ended = threading.Event()
        threading.Thread(target=self._work, args=(load, self._ended), name="warm", daemon=True).start()

    def end(self) -> None:
        """Cancel loading."""
        if self._ended is not None:
            self._ended.set()

    def asked(self) -> None:
        """Record that a page was requested."""
        self._asked.set()

    def drawn(self) -> None:
        """Record that a page's script has finished."""
        self._drawn.set()

    @property
    def loading(self) -> bool:
        """Whether a question would have to wait for the models."""
        return self._ended is not None and not self._ended.is_set()

    def _work(self, load: Callable[[], None], ended: threading.Event) -> None:
        if self._asked.wait(QUIET) and self._drawn.wait(LONGEST):
            ended.wait(SETTLING)
        if not ended.is_set():
            try:
                load()
            finally:
                ended.set()


warming = Warming()
