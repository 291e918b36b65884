"""Signing in at a provider by OpenID Connect: code flow with PKCE and nonce.

What belongs to a flow stays on the server, under a cookie of the browser that began it. Who somebody is, is the
provider's subject; an email counts only if the provider has verified it.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from authlib.integrations.base_client import OAuthError
from authlib.integrations.starlette_client import OAuth
from httpx2 import HTTPError, create_ssl_context
from joserfc.errors import JoseError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError, SignInRefused
from ui.gate.access import SECRET, listed
from ui.gate.pages import Pages, device

FLOW = 600  # seconds
# Signatures of a token that count, whatever a provider lists: "none" and those by a shared secret are not among them.
SIGNED = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_FAULTS = (
    HTTPError,
    OAuthError,
    JoseError,
    ValueError,
    KeyError,
    AttributeError,
    RuntimeError,
)  # Authlib has no one kind
MOST_FLOWS, MOST_OF_ONE = 1000, 100  # of all, and of one address: the oldest end first
_log = logging.getLogger(__name__)


@dataclass
class _Asked:
    """What Authlib reads of a request."""

    session: dict[str, Any]
    query_params: Any
    scope: Any


@dataclass
class _Flow:
    back: str
    address: str
    session: dict[str, Any] = field(default_factory=dict)
    begun: float = field(default_factory=time.monotonic)


class Provider:
    """Routes that lead to the provider and back."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.access = pages.access
        self.flows: dict[str, _Flow] = {}
        auth = self.access.auth
        self.client = OAuth().register(
            "provider",
            client_id=auth.client_id,
            client_secret=os.environ.get(SECRET),
            server_metadata_url=f"{auth.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={
                "scope": "openid email profile",
                "code_challenge_method": "S256",
                "verify": create_ssl_context(),  # once: reading the certificates takes long, and holds up the server
            },
        )

    def routes(self) -> list[BaseRoute]:
        at = f"{self.pages.prefix}/gw/auth/provider"
        return [Route(at, self.begin), Route(f"{at}/back", self.back)]

    async def begin(self, request: Request) -> Response:
        now, address = time.monotonic(), device(request).address
        living = {key: flow for key, flow in self.flows.items() if now - flow.begun < FLOW}
        for key in [key for key, flow in living.items() if flow.address == address][:-MOST_OF_ONE]:
            del living[key]
        self.flows = dict(list(living.items())[-MOST_FLOWS:])
        flow_id, flow = secrets.token_urlsafe(32), _Flow(self.pages.back(request.query_params.get("next", "")), address)
        asked = _Asked(flow.session, request.query_params, request.scope)
        try:
            await self._described()
            found: Response = await self.client.authorize_redirect(asked, self._address())
        except _FAULTS as error:
            return self._failed(error)
        self.flows[flow_id] = flow
        self.pages.set_cookie(found, self._cookie(), flow_id, FLOW)
        return found

    async def back(self, request: Request) -> Response:
        flow = self.flows.pop(request.cookies.get(self._cookie(), ""), None)
        if flow is None or time.monotonic() - flow.begun > FLOW:
            return self.pages.sign_in_page("", SignInRefused("Signing in took too long.", hint="Begin again."))
        try:
            await self._described()
            token = await self.client.authorize_access_token(_Asked(flow.session, request.query_params, request.scope))
            claims = token["userinfo"]
            if not claims["sub"]:
                raise ValueError("the provider doesn't say who signs in: the subject is empty")
            given = (claims["iss"], claims["sub"], str(claims["email"]) if claims.get("email_verified") is True else "")
        except _FAULTS as error:
            return self._failed(error)
        name, domains = str(claims.get("name", "")), listed(self.access.auth.domains)
        try:
            accounts = self.pages.accounts
            own = await run_in_threadpool(accounts.sign_in_as, *given, name, domains, device(request))
        except InputError as error:
            return self.pages.sign_in_page(flow.back, error)
        return await self.pages.enter(request, own, flow.back)

    async def _described(self) -> None:
        """Hold the provider's description of itself to the settings. Raises `ValueError`."""
        described, issuer = await self.client.load_server_metadata(), self.access.auth.issuer
        named = str(described.get("issuer", ""))
        if named.rstrip("/") != issuer.rstrip("/"):  # Authlib holds tokens to this name, whatever it is
            raise ValueError(f"the provider calls itself {named!r}: set auth.issuer to that if it is the right one")
        described["id_token_signing_alg_values_supported"] = SIGNED

    def _failed(self, error: Exception) -> Response:
        _log.warning("Signing in at %s failed: %r", self.access.auth.issuer, error)
        return self.pages.sign_in_page("", SignInRefused("Signing in at the provider failed.", hint="Begin again."))

    def _address(self) -> str:
        return f"{self.access.url}{self.pages.prefix}/gw/auth/provider/back"

    def _cookie(self) -> str:
        return self.access.cookie.replace("session", "flow")
