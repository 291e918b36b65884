"""Starting questions, found in the background; each is offered as soon as it has been checked."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ragcore.engine import Engine
from ragcore.errors import GroundworkError

if TYPE_CHECKING:
    from ragcore.suggest.questions import Starter  # loads what no first page waits for

_log = logging.getLogger(__name__)

Key = tuple[int, tuple[str, ...]]


@dataclass(frozen=True)
class Found:
    """Questions found so far. ``done``: no more will come; ``trouble``: the error that prevented them, or ""."""

    starters: tuple[Starter, ...] = ()
    done: bool = False
    trouble: str = ""


@dataclass
class _Search:
    key: Key
    found: Found = field(default_factory=Found)
    ended: bool = False  # also where it was given up


class FirstQuestions:
    """Background search for starting questions, one at a time and for the latest request; it yields while ``idle()`` is
    false."""

    def __init__(self, engine: Callable[[], Engine], idle: Callable[[], bool]) -> None:
        self._engine = engine
        self._idle = idle
        self._lock = threading.Lock()
        self._search: _Search | None = None
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="first-questions")

    def look(self, doc_ids: Sequence[str]) -> Found:
        """Questions about ``doc_ids`` found so far; starts the search if none is running."""
        if not doc_ids:
            return Found(done=True)
        key = (self._engine().store.revision(), tuple(doc_ids))
        with self._lock:
            search = self._search
            if search is None or search.key != key or (search.ended and not search.found.done and self._idle()):
                kept = search.found if search is not None and search.key == key else Found()
                self._search = search = _Search(key, kept)
                self._pool.submit(self._work, search)
            return search.found

    def close(self) -> None:
        with self._lock:
            self._search = None
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _work(self, search: _Search) -> None:
        given_up = False

        def go_on() -> bool:
            nonlocal given_up
            given_up = given_up or self._search is not search or not self._idle()
            return not given_up

        def tell(one: Starter) -> None:
            if one not in search.found.starters:
                search.found = replace(search.found, starters=(*search.found.starters, one))

        try:
            if go_on():
                self._engine().starters(search.key[1], go_on, tell)
            search.found = replace(search.found, done=not given_up)
        except GroundworkError as error:
            search.found = replace(search.found, done=True, trouble=f"{error.message} {error.hint}")
        except Exception as error:  # noqa: BLE001 - a defect is told where the questions would stand
            _log.error("Looking for questions to begin with failed", exc_info=error)
            search.found = replace(search.found, done=True, trouble=f"An unexpected error occurred: {error!r}.")
        finally:
            search.ended = True
