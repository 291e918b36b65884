"""The one engine of this process and what works for it in the background."""

from __future__ import annotations

import gc
import logging
import threading
from dataclasses import dataclass

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from ragcore.engine import Engine
from ragcore.errors import GroundworkError, StoreError
from ui.jobs import Ingestion
from ui.render import Renderer
from ui.runs import Answers
from ui.tokens import Signer

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    engine: Engine
    ingestion: Ingestion
    answers: Answers
    renderer: Renderer
    signer: Signer

    def close(self) -> None:
        self.ingestion.close()
        self.answers.close()
        self.renderer.close()


_opened: list[Services] = []
_opening = threading.Lock()


def services() -> Services:
    """Opened at first use, once per process. Raises `ConfigError` or `StoreError`, then tries anew at the next call."""
    with _opening:
        if not _opened:
            _opened.append(_open())
        return _opened[0]


def close() -> None:
    """End what `services` opened, if it did."""
    with _opening:
        while _opened:
            _opened.pop().close()


def api_key() -> str | None:
    """``ANTHROPIC_API_KEY`` of Streamlit's secrets (``.streamlit/secrets.toml``), None where it is not there. That of
    the environment is read by `ragcore` itself."""
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
    renderer = Renderer(engine.home / "cache" / "pages")
    opened = Services(
        engine=engine,
        ingestion=Ingestion(engine, removed=renderer.forget),
        answers=Answers(engine),
        renderer=renderer,
        signer=signer,
    )
    opened.ingestion.resume()
    threading.Thread(target=_warm, args=(opened,), name="warm", daemon=True).start()
    return opened


def _warm(opened: Services) -> None:
    """Load models ahead of the first question. What fails here is met again, and shown, when it is needed."""
    opened.renderer.warm()
    try:
        opened.engine.warm()
    except GroundworkError as error:
        _log.warning("%s %s", error.message, error.hint)
    # The models' many objects would be walked by every later collection, which made reruns several times slower.
    gc.collect()
    gc.freeze()
