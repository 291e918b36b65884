"""Command ``worker``: read and index what waits in the libraries of a team, on any machine that reaches their database.

Any number of workers may run: each takes the smallest document that nobody has at work, of one library after another.
Pages are kept as they are read, so a worker may be stopped or killed at any time.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore import telemetry
from ragcore.accounts.accounts import Accounts
from ragcore.accounts.libraries import Grants
from ragcore.accounts.limits import LibraryAllowance, Limits
from ragcore.cli.common import progress, say_error, stopped_in_order
from ragcore.config.settings import default_home
from ragcore.errors import Cancelled, ConfigError, GroundworkError, InputError, StoreBusy, StoreError, UnknownDocument
from ragcore.index.database import URL, has_library
from ragcore.index.shared import has_accounts, homes, shared
from ragcore.protocols import UNLIMITED
from ragcore.text.numbers import plural

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.types.library import DocumentInfo

LOOKS = 2.0  # seconds between two looks where nothing waits
AGAIN = 60.0  # seconds until what failed for a reason outside of it is tried again
MOST = 16  # libraries that stay open


def work(options: argparse.Namespace) -> int:
    """Work until Ctrl-C, or with ``--once`` until nothing waits."""
    from ragcore.engine import Engine

    home: Path = options.home or default_home()
    if not (has_library(home) or shared(home)):
        said = f"There is no library in {home}, and none that it could join."
        hint = f"Set {URL} to the database of your team."
        if os.environ.get(URL):
            hint = "Start the app first: in its database nobody has signed in yet."
        raise InputError(said, hint=hint)
    stop = threading.Event()
    telemetry.begin("groundwork-worker")
    with Engine.open(home, options.config) as engine, stopped_in_order(stop.set):
        if not engine.store.database.shared:
            raise InputError(
                f"The library in {home} is in an SQLite file, which the app reads by itself.",
                hint="Workers are for libraries in PostgreSQL: see docs/team.md.",
            )
        worker = _Worker(engine, stop)
        print("Waiting for documents. Stop with Ctrl-C.", file=sys.stderr)
        while not stop.is_set():
            try:
                worked = worker.round()
            except StoreError as error:  # the database: it may be back soon
                if options.once:
                    raise
                say_error(error)
                worked = False
            if not worked and (options.once or stop.wait(LOOKS)):
                break
        return 1 if worker.later else 0


class _Worker:
    """Engines of the libraries of a home folder, the one with ``first``. What was built by other settings or an earlier
    version when a library is first opened is built anew after what waits. ``later`` are libraries that can't be opened
    and documents that failed for a reason outside of them, with the time of the next try."""

    def __init__(self, first: Engine, stop: threading.Event) -> None:
        self._first = first
        self._stop = stop
        self._people: Grants | None = None
        self._engines: dict[Path, Engine] = {}
        self._outdated: dict[Path, list[DocumentInfo]] = {}
        self.later: dict[str, float] = {}

    def round(self) -> bool:
        """Read one document of each library in which one waits; returns whether there was any."""
        worked = False
        for home in homes(self._first.home):
            if self.later.get(str(home), 0.0) > time.monotonic():
                continue
            try:
                engine = self._engine(home)
            except ConfigError as error:  # of this library alone
                say_error(error, home.name)
                self.later[str(home)] = time.monotonic() + AGAIN
                continue
            due = (info for info in engine.waiting() if self.later.get(info.doc_id, 0.0) <= time.monotonic())
            info = next(due, None) or (self._outdated[home].pop() if self._outdated[home] else None)
            if info is not None and not self._stop.is_set():
                worked = True
                self._read(engine, info)
        return worked

    def _engine(self, home: Path) -> Engine:
        found = self._engines.pop(home, None)
        if found is None:
            if self._people is None and has_accounts(self._first.home):
                self._people = Grants(Accounts(self._first.home))
            limits = UNLIMITED if self._people is None else LibraryAllowance(Limits(self._people), home)
            found = type(self._first).open(home, models=self._first.models, allowance=limits)
        if home not in self._outdated:
            found.store.end_additions()
            stale = set(found.stale())
            self._outdated[home] = [info for info in found.documents() if info.doc_id in stale and not info.held]
        self._engines[home] = found  # last, as the one used last
        for least in list(self._engines)[:-MOST]:
            self._engines.pop(least).close()
        return found

    def _read(self, engine: Engine, info: DocumentInfo) -> None:
        def ends() -> bool:
            return self._stop.is_set() or engine.store.held(info.doc_id)

        try:
            done = engine.ingest_and_index(info.doc_id, on_progress=progress(info.name), cancelled=ends)
        except (Cancelled, StoreBusy, UnknownDocument):
            return  # another one was faster, or a person did not want it
        except GroundworkError as error:
            say_error(error, info.name)
            self.later[info.doc_id] = time.monotonic() + AGAIN
            return
        self.later.pop(info.doc_id, None)
        if done.error:
            say_error(done.error, info.name)
        print(f"{done.status:8} {done.doc_id}  {done.title}  ({plural(done.pages, 'page')})", flush=True)
