"""Visits: a key, changed settings and the documents asked that last for one visit.

A visit is one browser, identified by a session cookie (``HttpOnly``, so that no script reads it); a reload and other
tabs of the same browser share it. It lives only in this process's memory. The tokens of a visit name it
(`ui.server.tokens`). Where people sign in, a visit is a session (`ui.gate`), so that nobody else has its key.
"""

from __future__ import annotations

import copy
import hashlib
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response

from ragcore.engine import Engine
from ragcore.errors import ConfigError, InputError
from ragcore.types import Scope
from ui.gate.access import access
from ui.settings.presets import value_of

COOKIE = "gw_visit"
IDLE_SECONDS = 12 * 3600.0  # a visit that was not used for so long is forgotten, with its key
LONGEST_KEY = 400
ORIGIN = "this visit"


@dataclass
class _Visit:
    key: str | None = field(default=None, repr=False)
    key_for: str = ""  # ``llm.base_url`` of the server that it was given for
    key_set: float = 0.0
    overrides: dict[str, Any] = field(default_factory=dict)
    used: float = field(default_factory=time.monotonic)
    chosen: tuple[Scope, bool] | None = None  # documents of the next conversation; whether the sample was beside others
    made: tuple[Engine, Engine] | None = field(default=None, repr=False)  # from which engine, and what was made of it


class Visits:
    """Visits of this process. ``kept`` returns the engine with saved settings, from which each visit's engine is
    derived."""

    def __init__(self, kept: Callable[[], Engine]) -> None:
        self._kept = kept
        self._owner: str | None = None
        self._lock = threading.Lock()
        self._visits: dict[str, _Visit] = {}

    def of(self, owner: str) -> Visits:
        """The same visits, with engines as a person has them."""
        made = copy.copy(self)
        made._owner = owner
        return made

    def any(self) -> bool:
        """Whether a visit has a key or settings of its own."""
        with self._lock:
            return any(held.key is not None or held.overrides for held in self._visits.values())

    def engine(self, visit: str | None) -> Engine:
        """Engine of a visit. Raises `ConfigError` if its settings conflict with those saved since."""
        made = self._engine(visit)
        return made if self._owner is None else made.of(self._owner)

    def _engine(self, visit: str | None) -> Engine:
        base = self._kept()
        with self._lock:
            own = self._visits.get(visit or "")
            if own is not None and time.monotonic() - own.used > IDLE_SECONDS:
                del self._visits[visit or ""]
                own = None
            if own is not None:
                own.used = time.monotonic()
            if own is None or (not own.overrides and own.key is None):
                return base
            if own.made is None or own.made[0] is not base:
                own.made = (base, _made(base, own, own.overrides))
            return own.made[1]

    def change(self, visit: str, changes: Mapping[str, Any]) -> None:
        """Set dotted keys for a visit (None: the saved value), all or none. Raises `ConfigError`."""
        base = self._kept()
        with self._lock:
            own = self._own(visit)
            wanted = {**own.overrides, **changes}
            wanted = {key: value for key, value in wanted.items() if value is not None}
            made = _made(base, own, wanted)
            own.overrides = {
                key: value
                for key, value in wanted.items()
                if value_of(base.settings, key) != value_of(made.settings, key)
            }
            own.made = (base, made)

    def overrides(self, visit: str) -> dict[str, Any]:
        with self._lock:
            own = self._visits.get(visit)
            return dict(own.overrides) if own else {}

    def choose(self, visit: str, documents: Scope, beside: bool) -> None:
        """Set the documents of a visit's next conversations; ``beside``: the sample is there with others."""
        with self._lock:
            self._own(visit).chosen = (documents, beside)

    def chosen(self, visit: str) -> tuple[Scope, bool] | None:
        """What was last set with `choose`."""
        with self._lock:
            own = self._visits.get(visit)
            return own.chosen if own else None

    def set_key(self, visit: str, key: str) -> None:
        """Set the visit's key. Raises `InputError`, without repeating the input, for what cannot be a key."""
        key = key.strip()
        if not key or len(key) > LONGEST_KEY or not (key.isascii() and key.isprintable()) or " " in key:
            raise InputError("This isn’t a key.", hint="Copy it again, on one line, without spaces.")
        base = self._kept()
        with self._lock:
            own = self._own(visit)
            own.key, own.key_for, own.key_set, own.made = key, _server(base, own), time.time(), None

    def forget_key(self, visit: str) -> None:
        with self._lock:
            own = self._own(visit)
            own.key, own.key_for, own.key_set, own.made = None, "", 0.0, None

    def key_set(self, visit: str) -> float:
        """Time at which the key for the visit's server was set, in seconds since the epoch; 0 without one."""
        base = self._kept()
        with self._lock:
            own = self._visits.get(visit)
            return own.key_set if own and own.key_for == _server(base, own) else 0.0

    def _own(self, visit: str) -> _Visit:
        now = time.monotonic()
        for old in [name for name, held in self._visits.items() if now - held.used > IDLE_SECONDS]:
            del self._visits[old]
        own = self._visits.setdefault(visit, _Visit())
        own.used = now
        return own


def _server(base: Engine, own: _Visit) -> str:
    return str(own.overrides.get("llm.base_url", base.settings.llm.base_url))


def _made(base: Engine, own: _Visit, overrides: Mapping[str, Any]) -> Engine:
    """``base`` with ``overrides``, and with the visit's key if it was given for the server in use."""
    made = base.with_settings(overrides, origin=ORIGIN)
    if own.key is None or own.key_for != made.settings.llm.base_url:
        return made
    return base.with_settings(overrides, own.key, origin=ORIGIN)


def current() -> str:
    """Visit of the running session."""
    given = st.context.cookies.get(cookie())
    if given:
        return named(given)
    own: str = st.session_state.setdefault("gw_visit", uuid.uuid4().hex)
    return own


def of(request: Request) -> str | None:
    """Visit of a request, by its cookie; None without one."""
    given = request.cookies.get(cookie())
    return named(given) if given else None


def cookie() -> str:
    """Name of the cookie that a visit is known by."""
    return COOKIE if access().accounts is None else access().cookie


def greet(request: Request, response: Response, path: str) -> None:
    """Set the cookie of a browser that has none. Any page may be its first."""
    if COOKIE not in request.cookies:
        secure = request.url.scheme == "https"
        response.set_cookie(
            COOKIE, secrets.token_urlsafe(24), path=path or "/", httponly=True, samesite="lax", secure=secure
        )


def named(cookie: str) -> str:
    """Visit of a cookie."""
    # A token can be read by the page: what is in it must not be the cookie itself.
    return hashlib.sha256(cookie.encode()).hexdigest()[:32]


def refused_to_keep(changes: Mapping[str, Any]) -> None:
    """Raises `ConfigError` for settings that a browser must not save: the machine's own key would be sent to that
    server."""
    if changes.get("llm.base_url"):
        raise ConfigError(
            "A server’s address can’t be saved from the browser: this machine’s key would be sent there.",
            hint="Set llm.base_url in config.toml in the home folder.",
        )
