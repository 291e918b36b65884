"""How the app may be reached, settled at the server's start: the mode of sign-in, the address, the session's cookie.

Without sign-in the server must listen on this machine only. With it, other machines need an ``https`` address, so that
no password and no session travels in clear.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

import streamlit as st
from starlette.requests import HTTPConnection, Request

from ragcore.accounts.accounts import Accounts, User
from ragcore.config.settings import AuthSettings, default_home, load
from ragcore.errors import ConfigError, InputError
from ragcore.index.shared import saved

LOOPBACK = ("localhost", "127.0.0.1", "::1")
NEXT = "See docs/team.md."
SECRET = "GROUNDWORK_CLIENT_SECRET"
FORWARDED = "FORWARDED_ALLOW_IPS"  # whose X-Forwarded-For uvicorn takes


@dataclass(frozen=True)
class Access:
    """``accounts`` are None where nobody signs in."""

    auth: AuthSettings
    accounts: Accounts | None

    @property
    def secure(self) -> bool:
        return self.auth.url.startswith("https://")

    @property
    def cookie(self) -> str:
        """Name of the session's cookie."""
        if self.secure:
            return "__Host-gw_session"
        return f"gw_session_{urlsplit(self.url).port or 80}"  # a browser sends it to every port of this machine

    def vouched(self, asked: HTTPConnection) -> str:
        """Email of who comes through a listed proxy; "" for anybody else."""
        peer = asked.client.host if asked.client else ""
        given = asked.headers.getlist(self.auth.header)  # of several, one may be the browser's own
        return given[0].strip().lower() if peer in listed(self.auth.proxies) and len(given) == 1 else ""

    @property
    def url(self) -> str:
        """Address that people open."""
        return self.auth.url or f"http://localhost:{st.get_option('server.port')}"


_settled: list[Access] = []


def access() -> Access:
    """How this process may be reached. Raises `ConfigError` and `StoreError`, with which the server must not start."""
    if not _settled:
        auth = load(saved=saved(default_home()))[0].auth
        _check(auth)
        _settled.append(Access(auth, None if auth.mode == "off" else Accounts(default_home())))
    return _settled[0]


def asker(request: Request) -> User | None:
    """Who sends a request that the gate let in; None where nobody signs in."""
    session = getattr(request.state, "session", None)
    return session.user if session else None


def administers(request: Request) -> bool:
    """Whether a request comes from an administrator, or from where nobody signs in."""
    user = asker(request)
    return user is None or user.admin


def person() -> User | None:
    """Who the running session of Streamlit belongs to; None where nobody signs in. Raises `InputError` if the sign-in
    has ended."""
    accounts = access().accounts
    if accounts is None:
        return None
    session = accounts.session(st.context.cookies.get(access().cookie) or "")
    if session is None:
        raise InputError("You are signed out.", hint="Reload the page to sign in.")
    return session.user


def hosts() -> list[str]:
    """Names that the app answers to."""
    allowed = [str(one).strip().lower().rstrip(".") for one in st.get_option("server.allowedHosts") or LOOPBACK]
    own = urlsplit(access().auth.url).hostname
    return [*allowed, own] if own else allowed


def _check(auth: AuthSettings) -> None:
    address = str(st.get_option("server.address") or "")
    if auth.mode == "off":
        if not loopback(address):
            raise ConfigError(
                f"Without sign-in Groundwork listens on this machine only, not on {address or 'every address'}.",
                hint=f'Set server.address to "localhost", or auth.mode to "local". {NEXT}',
            )
        return
    names = [urlsplit(auth.url).hostname or "", *(str(one) for one in st.get_option("server.allowedHosts") or ())]
    if not auth.url.startswith("https://") and not all(loopback(name) for name in names if name):
        raise ConfigError(
            "Passwords and sessions must not travel in clear: other machines need an https address.",
            hint=f"Put a proxy with TLS in front and set auth.url to its https:// address. {NEXT}",
        )
    _check_others(auth)


def _check_others(auth: AuthSettings) -> None:
    if auth.mode == "oidc" and not (auth.issuer and auth.client_id and os.environ.get(SECRET)):
        raise ConfigError(
            "To sign in at a provider, Groundwork needs its address, a client id and a secret.",
            hint=f"Set auth.issuer and auth.client_id, and {SECRET} in the environment. {NEXT}",
        )
    if auth.mode == "oidc" and not (
        auth.issuer.startswith("https://") or loopback(urlsplit(auth.issuer).hostname or "")
    ):
        raise ConfigError(
            "A provider of sign-in needs an https address: the client's secret and who signs in are sent there.",
            hint=f"Set auth.issuer to its https:// address. {NEXT}",
        )
    if auth.mode == "proxy" and not (auth.proxies and auth.header):
        raise ConfigError(
            "Groundwork must know which proxy says who is signed in.",
            hint=f"Set auth.proxies to its address, and auth.header. {NEXT}",
        )
    if auth.mode == "proxy" and os.environ.get(FORWARDED) != "":
        raise ConfigError(
            "The server must see the proxy's own address, not one that a header names.",
            hint=f"Start it with {FORWARDED} set to nothing in the environment. {NEXT}",
        )


def listed(text: str) -> list[str]:
    """Parts of a setting that are separated by commas."""
    return [part.strip().lower() for part in text.split(",") if part.strip()]


def from_here(asked: HTTPConnection) -> bool:
    """Whether a request may come from where it does: without sign-in, only from this machine."""
    return access().accounts is not None or asked.client is None or loopback(asked.client.host)


def loopback(address: str) -> bool:
    try:
        return address.lower() == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
