"""Services of this process: the one engine and its background workers."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from ragcore.config.settings import catalogue, keep
from ragcore.engine import Engine
from ragcore.errors import ConfigError, GroundworkError, ModelError, StoreError
from ui.chat.first_questions import FirstQuestions
from ui.chat.runs import Answers
from ui.check.jobs import CheckJobs
from ui.evaluate.jobs import EvaluationJobs
from ui.grid.jobs import GridJobs
from ui.library.jobs import Ingestion
from ui.library.watching import Watcher
from ui.reports.jobs import ReportJobs
from ui.server.tokens import Signer
from ui.server.visits import Visits
from ui.server.warming import warming
from ui.settings.jobs import StructureJobs
from ui.viewer.render import Renderer

_log = logging.getLogger(__name__)


@dataclass
class Services:
    """Services of the process. ``engine`` has the saved settings and is replaced when they change (`keep`), over the
    same library; settings of one visit are in ``visits``."""

    engine: Engine
    ingestion: Ingestion
    answers: Answers
    renderer: Renderer
    signer: Signer
    visits: Visits = field(init=False)
    watcher: Watcher = field(init=False)
    reports: ReportJobs = field(init=False)
    evaluations: EvaluationJobs = field(init=False)
    checks: CheckJobs = field(default_factory=CheckJobs, init=False)
    grids: GridJobs = field(default_factory=GridJobs, init=False)
    first_questions: FirstQuestions = field(init=False)
    structures: StructureJobs = field(default_factory=StructureJobs, init=False)

    def __post_init__(self) -> None:
        self.visits = Visits(lambda: self.engine)
        self.reports = ReportJobs(lambda: self.engine)
        self.evaluations = EvaluationJobs(lambda: self.engine)
        self.first_questions = FirstQuestions(lambda: self.engine, self.answers.idle)
        self.watcher = Watcher(self.ingestion)
        self.ingestion.arrived = lambda doc_id: self.grids.arrived(doc_id, self.engine)

    def keep(self, changes: Mapping[str, Any]) -> None:
        """Save settings to the home's ``config.toml`` (None: delete them) and use them from now on, for reading too;
        they are tried first. Raises `ConfigError`, also for settings the index was not built with, and `StoreError`."""
        file = self.engine.home / "config.toml"
        defaults = {key: catalogue()[key].default for key in changes}
        wanted = {key: defaults[key] if value is None else value for key, value in changes.items()}
        made = self.engine.with_settings(wanted, origin=str(file), reading=True)
        for key, value in changes.items():
            if value is None:
                made.origins[key] = "default"
        try:
            made.try_out(changes)
        except ModelError as error:
            raise ConfigError(f"Not saved: {error.message}", hint=error.hint) from error
        keep(file, changes)
        self.engine = self.ingestion.engine = made

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


_opened: list[Services] = []
_opening = threading.Lock()


def services() -> Services:
    """Services of this process, opened on first use. Raises `ConfigError` or `StoreError`, and tries again on the next
    call."""
    with _opening:
        if not _opened:
            _opened.append(_open())
        return _opened[0]


def close() -> None:
    """Close what `services` opened, if anything."""
    warming.end()
    with _opening:
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
    engine = Engine.open(api_key=api_key())
    try:
        signer = Signer.kept(engine.home / "web.secret")
    except StoreError:
        engine.close()
        raise
    renderer = Renderer(engine.store.pictures)
    ingestion = Ingestion(engine, removed=renderer.forget)
    opened = Services(
        engine=engine,
        ingestion=ingestion,
        answers=Answers(engine, prefer=ingestion.prefer),
        renderer=renderer,
        signer=signer,
    )
    opened.ingestion.resume()
    opened.watcher.start()
    opened.reports.resume()
    warming.begin(partial(_warm, opened))
    return opened


def _warm(opened: Services) -> None:
    """Load models before the first question. An error recurs, and is shown, when they are needed."""
    opened.renderer.warm()
    try:
        opened.engine.warm()
    except GroundworkError as error:
        _log.warning("%s %s", error.message, error.hint)
    # The models' many objects would be walked by every later collection, which made reruns several times slower.
    gc.collect()
    gc.freeze()
