"""Services of a library: its engine and its background workers.

Without sign-in there is one library. Where people sign in, `services` gives the library that a request or a script is
in, as its person has it: a route sets it (`ui.server.roles`), a script names it (`ui.server.place`)."""

from __future__ import annotations

import copy
import gc
import logging
import threading
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from ragcore.accounts.accounts import User
from ragcore.accounts.libraries import Grants, Role, covers
from ragcore.accounts.limits import LibraryAllowance, Limits
from ragcore.config.settings import catalogue, default_home, flatten, load
from ragcore.engine import Engine
from ragcore.errors import ConfigError, GroundworkError, ModelError, StoreError
from ragcore.index.shared import CONFIG, keep, saved
from ragcore.progress import GARBAGE
from ragcore.protocols import UNLIMITED, Allowance
from ui.chat.first_questions import FirstQuestions
from ui.chat.runs import Answers
from ui.evaluate.jobs import EvaluationJobs
from ui.gate.access import access
from ui.grid.jobs import GridJobs
from ui.library.jobs import Ingestion
from ui.library.watching import Watcher
from ui.reports.jobs import ReportJobs
from ui.server.libraries import Libraries, NotAllowed
from ui.server.queue import WorkQueue
from ui.server.tokens import Signer
from ui.server.visits import Visits
from ui.server.warming import warming
from ui.settings.jobs import StructureJobs
from ui.viewer.render import Renderer

_log = logging.getLogger(__name__)


@dataclass
class Services:
    """Services of a library. ``base`` has the saved settings and is replaced when they change (`keep`), over the same
    library; settings of one visit are in ``visits``. `of` gives the same services as one person has them."""

    base: Engine
    ingestion: Ingestion
    answers: Answers
    renderer: Renderer
    signer: Signer
    visits: Visits = field(init=False)
    watcher: Watcher = field(init=False)
    reports: ReportJobs = field(init=False)
    evaluations: EvaluationJobs = field(init=False)
    checks: WorkQueue = field(init=False)
    grids: GridJobs = field(init=False)
    first_questions: FirstQuestions = field(init=False)
    structures: StructureJobs = field(default_factory=StructureJobs, init=False)
    library_id: str = field(default="", init=False)
    owner: str | None = field(default=None, init=False)
    role: Role = field(default="manager", init=False)
    used: float = field(default_factory=time.monotonic, init=False)
    _whole: Services | None = field(default=None, init=False)  # of which this is somebody's
    _looked: float = field(default_factory=time.monotonic, init=False)
    _saved: dict[str, bytes] = field(init=False)

    def __post_init__(self) -> None:
        self._saved = saved(self.base.home)
        self.visits = Visits(lambda: self.engine)
        self.reports = ReportJobs(lambda: self.engine)
        self.evaluations = EvaluationJobs(lambda: self.engine)
        self.checks = WorkQueue("check", lambda: self.base.store.database, attrgetter("checks"))
        self.grids = GridJobs(lambda: self.base.store.database)
        self.first_questions = FirstQuestions(lambda: self.engine, self.answers.idle)
        self.watcher = Watcher(self.ingestion)
        self.ingestion.arrived = lambda doc_id: self.grids.arrived(doc_id, self.engine)

    @property
    def engine(self) -> Engine:
        """Engine with the saved settings, and with the conversations of who has these services."""
        whole = self._whole or self
        whole._follow()
        base = whole.base
        return base if self.owner is None else base.of(self.owner)

    def of(self, user: User, library_id: str, role: Role) -> Services:
        """These services as a person with a role has them."""
        self.used = time.monotonic()
        made = copy.copy(self)
        made.library_id, made.owner, made.role, made._whole = library_id, user.user_id, role, self
        made.visits = self.visits.of(user.user_id)
        return made

    def may(self, role: Role) -> bool:
        return covers(self.role, role)

    def require(self, role: Role) -> None:
        """Raises `NotAllowed` if who has these services may not do what ``role`` may."""
        if not self.may(role):
            raise self.refused()

    def refused(self) -> NotAllowed:
        """Error that says whom to ask."""
        return libraries().refusal(self.library_id, self.role)

    def idle(self) -> bool:
        """Whether nothing is being done, or was asked for lately."""
        queues = (self.evaluations, self.checks, self.grids)
        building = self.structures.job is not None and self.structures.job.running
        busy = self.ingestion.jobs() or building or self.reports.busy() or any(each.jobs for each in queues)
        lately = time.monotonic() - self.used < QUIET
        return not (busy or lately or self.visits.any()) and self.answers.idle()

    def _follow(self) -> None:
        """Take over settings that another machine saved."""
        now = time.monotonic()
        if not self.base.store.database.shared or now - self._looked < FOLLOWED:
            return
        self._looked = now
        there = saved(self.base.home)
        if there != self._saved:
            self._saved = there
            settings, origins = load(saved=there)
            old, new = flatten(self.base.settings.model_dump()), flatten(settings.model_dump())
            changes = {key: value for key, value in new.items() if value != old.get(key)}
            try:
                made = self.base.with_settings(changes, reading=True)
            except ConfigError as error:
                _log.warning("Settings that were saved on another machine hold after a restart: %s", error.message)
            else:
                made.origins = origins
                self.base = self.ingestion.engine = made

    def keep(self, changes: Mapping[str, Any]) -> None:
        """Save settings to the home's ``config.toml`` (None: delete them) and use them from now on, for reading too;
        they are tried first. Raises `ConfigError`, also for settings the index was not built with, and `StoreError`."""
        whole = self._whole or self
        file = whole.base.home / CONFIG
        defaults = {key: catalogue()[key].default for key in changes}
        wanted = {key: defaults[key] if value is None else value for key, value in changes.items()}
        made = whole.base.with_settings(wanted, origin=str(file), reading=True)
        for key, value in changes.items():
            if value is None:
                made.origins[key] = "default"
        try:
            made.try_out(changes)
        except ModelError as error:
            raise ConfigError(f"Not saved: {error.message}", hint=error.hint) from error
        keep(file, changes)
        whole.base = whole.ingestion.engine = made

    def close(self) -> None:
        self.first_questions.close()
        self.structures.close()
        self.watcher.close()
        self.ingestion.close()
        self.reports.close()
        self.evaluations.close()
        self.checks.close()
        self.grids.close()
        self.answers.close()
        self.renderer.close()


FOLLOWED = 3.0  # seconds between two looks at what other machines saved
QUIET = 600.0  # seconds without a request after which a library may be closed
HERE: ContextVar[Services | None] = ContextVar("HERE", default=None)
_opened: list[Services] = []
_libraries: list[Libraries] = []
_opening = threading.RLock()


def services() -> Services:
    """Services of the library that the request or the script is in. Raises `UnknownLibrary` and what `whole` raises."""
    if access().accounts is None:
        return whole()
    found = HERE.get()
    if found is None:
        from ui.server.place import library

        found = library()
    return found


def libraries() -> Libraries:
    """Libraries of a team, where people sign in."""
    with _opening:
        if not _libraries:
            accounts = access().accounts
            assert accounts is not None
            _libraries.append(Libraries(Grants(accounts), whole(), _open_beside))
        return _libraries[0]


def signer() -> Signer:
    """Signer of this process's tokens."""
    return whole().signer


def whole() -> Services:
    """Services of the home's own library, for everybody, opened on first use. Raises `ConfigError` or `StoreError`, and
    tries again on the next call. `services` gives what one person may use."""
    with _opening:
        if not _opened:
            _opened.append(_open())
        return _opened[0]


def close() -> None:
    """Close what `services` opened, if anything."""
    warming.end()
    with _opening:
        while _libraries:
            _libraries.pop().close()
        while _opened:
            _opened.pop().close()


def api_key() -> str | None:
    """``ANTHROPIC_API_KEY`` from Streamlit's secrets (``.streamlit/secrets.toml``), or None. `ragcore` reads the
    environment variable itself."""
    try:
        key = st.secrets.get("ANTHROPIC_API_KEY")
    except StreamlitSecretNotFoundError:
        return None
    return (str(key).strip() or None) if key else None


def _open() -> Services:
    engine = Engine.open(api_key=api_key(), allowance=_allowance(default_home()))
    try:
        signer = Signer.kept(engine.home / "web.secret")
    except StoreError:
        engine.close()
        raise
    opened = _begun(engine, signer)
    warming.begin(partial(_warm, opened))
    return opened


def _open_beside(home: Path, first: Services) -> Services:
    """Services of another library of the team, which shares the loaded models."""
    return _begun(Engine.open(home, models=first.base.models, allowance=_allowance(home)), first.signer)


def _allowance(home: Path) -> Allowance:
    """Limits of the library in a home folder, where people sign in."""
    accounts = access().accounts
    return UNLIMITED if accounts is None else LibraryAllowance(Limits(Grants(accounts)), home)


def _begun(engine: Engine, signer: Signer) -> Services:
    renderer = Renderer(engine.store.pictures)
    ingestion = Ingestion(engine, removed=renderer.forget)
    opened = Services(engine, ingestion, Answers(engine, prefer=ingestion.prefer), renderer, signer)
    opened.ingestion.resume()
    opened.watcher.start()
    opened.reports.resume()
    return opened


def _warm(opened: Services) -> None:
    """Load models before the first question. An error recurs, and is shown, when they are needed."""
    opened.renderer.warm()
    try:
        opened.base.warm()
    except GroundworkError as error:
        _log.warning("%s %s", error.message, error.hint)
    # The models' many objects would be walked by every later collection, which made reruns several times slower.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)
