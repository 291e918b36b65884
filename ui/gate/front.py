"""Parts of the gate that the server is built with."""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from ui.gate import account, libraries
from ui.gate.access import access
from ui.gate.gate import Gate
from ui.gate.oidc import Provider
from ui.gate.pages import Pages


def built(prefix: str = "") -> tuple[list[Middleware], list[BaseRoute]]:
    """Middleware and routes of the gate; none where nobody signs in. Raises `ConfigError` and `StoreError`, with which
    the server must not start."""
    found = access()
    if found.accounts is None:
        return [], []
    gate = Middleware(Gate, access=found, accounts=found.accounts, prefix=prefix)
    pages = Pages(found, found.accounts, prefix)
    provider = Provider(pages).routes() if found.auth.mode == "oidc" else []
    return [gate], [
        *pages.routes(),
        *provider,
        *account.routes(found, found.accounts, prefix),
        *libraries.routes(prefix),
    ]
