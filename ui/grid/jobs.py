"""Grid job: one grid at a time, row by row, and again when a document of it has been read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from operator import attrgetter

from ragcore.engine import Engine
from ragcore.errors import GroundworkError
from ragcore.index.database import Database
from ragcore.types.grid import GridInfo
from ragcore.types.spending import Expense
from ui.grid.payload import ready
from ui.server.queue import WorkQueue

_log = logging.getLogger(__name__)


class GridJobs(WorkQueue):
    """Queue of grids."""

    def __init__(self, database: Callable[[], Database]) -> None:
        super().__init__("grid", database, attrgetter("grids"))
        self._fed: set[str] = set()  # to be filled on with documents that come; a person's Stop ends that

    def run(self, target: str, engine: Engine, max_usd: float = 0.0) -> None:
        super().run(target, engine, max_usd)
        self._fed.add(target)

    def _end(self, target: str = "") -> None:
        self._fed.discard(target)
        super()._end(target)

    def arrived(self, doc_id: str, engine: Engine) -> None:
        """Queue the grids that hold a document that is read now, except those that were left unfinished before, and
        those of which the cost has to be agreed to."""
        try:
            lacking = [doc_id, *(one.doc_id for one in engine.documents() if not ready(one))]
            for info in engine.grids.all():
                fed = info.grid_id in self._fed or _lacks_only(info, lacking)
                if info.scope.holds(doc_id) and fed and not costs(engine.grids.estimate(info.grid_id)):
                    self.run(info.grid_id, engine)
        except GroundworkError as error:
            _log.warning("%s was read, and its grids were not filled: %s %s", doc_id, error.message, error.hint)


def costs(expense: Expense) -> bool:
    """Whether filling may cost something, or nobody knows what."""
    return expense.parts > 0 and expense.usd != 0.0


def _lacks_only(info: GridInfo, lacking: Iterable[str]) -> bool:
    """Whether nothing is left of a grid but rows of the documents ``lacking``."""
    waiting = sum(info.rows.get(doc_id, 0) for doc_id in set(lacking))
    return 0 < info.total - info.done <= waiting * info.columns
