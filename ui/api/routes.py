"""HTTP API beside the app: `ragcore.serve.http` with this process's services. The gate lets its paths through to it,
and it asks for a token by itself, also where nobody signs in."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import BaseRoute, Mount

from ragcore.accounts.tokens import Token, Tokens
from ragcore.engine import Engine
from ragcore.progress import Added
from ragcore.serve.http import Api
from ui.gate.access import access
from ui.gate.gate import PROGRAMS
from ui.server.services import services

_opened: dict[Path, Tokens] = {}


def routes(prefix: str = "") -> list[BaseRoute]:
    path = f"{prefix}{PROGRAMS}"
    return [Mount(path, Api(_engine, allowed, _take, path))]


def allowed(secret: str) -> Token | None:
    """Token of a program in this app's home. Where people sign in, it must belong to one of them."""
    home = services().engine.home
    if home not in _opened:
        if not (home / "accounts.sqlite").is_file():
            return None  # no token was made yet
        _opened[home] = Tokens(home)
    return _opened[home].of(secret, owned=access().accounts is not None)


def _engine(_: Token) -> Engine:
    return services().engine


def _take(_: Token, file: Path, name: str) -> Added:
    added = services().engine.add(file, name)
    services().ingestion.add(added.doc_id)
    return added
