"""HTTP API beside the app: `ragcore.serve.http` with this process's services. The gate lets its paths through to it,
and it asks for a token by itself, also where nobody signs in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from starlette.routing import BaseRoute, Mount

from ragcore.accounts.accounts import Accounts
from ragcore.accounts.libraries import covers
from ragcore.accounts.tokens import Token, Tokens
from ragcore.engine import Engine
from ragcore.index.shared import has_accounts
from ragcore.progress import Added
from ragcore.serve.http import Api
from ui.gate.access import access
from ui.gate.gate import PROGRAMS
from ui.server.services import Services, libraries, whole

_opened: dict[Path, Accounts] = {}  # where nobody signs in


def routes(prefix: str = "") -> list[BaseRoute]:
    path = f"{prefix}{PROGRAMS}"
    return [Mount(path, Api(_engine, allowed, _take, path))]


def allowed(secret: str) -> Token | None:
    """Token of a program in this app's home. Where people sign in, it must belong to one of them who may use its
    library, and does no more there than they may."""
    people, home = access().accounts, whole().base.home
    if people is None and home not in _opened:
        if not has_accounts(home):
            return None  # no token was made yet
        _opened[home] = Accounts(home)
    token = Tokens(people or _opened[home]).of(secret, owned=people is not None)
    if token is None or people is None:
        return token
    role = libraries().role(token.user_id, token.library_id)
    if role is None:
        return None
    return token if covers(role, "contributor") else replace(token, scopes=tuple(set(token.scopes) - {"write"}))


def _services(token: Token) -> Services:
    accounts = access().accounts
    if accounts is None:
        return whole()
    return libraries().open(token.library_id, accounts.user(token.user_id), "viewer")


def _engine(token: Token) -> Engine:
    return _services(token).engine


def _take(token: Token, file: Path, name: str) -> Added:
    found = _services(token)
    added = found.engine.add(file, name)
    for doc_id in (added.doc_id, *added.attached):
        found.ingestion.add(doc_id)
    return added
