"""How the app may be reached, settled at the server's start: the mode of sign-in, the address, the session's cookie.

Without sign-in the server must listen on this machine only. With it, other machines need an ``https`` address, so that
no password and no session travels in clear.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

import streamlit as st

from ragcore.accounts.accounts import Accounts
from ragcore.config.settings import AuthSettings, default_home, load
from ragcore.errors import ConfigError

NEXT = "See docs/team.md."


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
        return "__Host-gw_session" if self.secure else "gw_session"

    @property
    def url(self) -> str:
        """Address that people open."""
        return self.auth.url or f"http://localhost:{st.get_option('server.port')}"


_settled: list[Access] = []


def access() -> Access:
    """How this process may be reached. Raises `ConfigError` and `StoreError`, with which the server must not start."""
    if not _settled:
        auth = load(home=default_home())[0].auth
        _check(auth)
        _settled.append(Access(auth, None if auth.mode == "off" else Accounts(default_home())))
    return _settled[0]


def hosts() -> list[str]:
    """Names that the app answers to."""
    allowed = [str(one).strip().lower().rstrip(".") for one in st.get_option("server.allowedHosts") or LOOPBACK]
    own = urlsplit(access().auth.url).hostname
    return [*allowed, own] if own else allowed


LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _check(auth: AuthSettings) -> None:
    address = str(st.get_option("server.address") or "")
    if auth.mode == "off":
        if not _loopback(address):
            raise ConfigError(
                f"Without sign-in Groundwork listens on this machine only, not on {address or 'every address'}.",
                hint=f'Set server.address to "localhost", or auth.mode to "local". {NEXT}',
            )
        return
    names = [urlsplit(auth.url).hostname or "", *(str(one) for one in st.get_option("server.allowedHosts") or ())]
    if not auth.url.startswith("https://") and not all(_loopback(name) for name in names if name):
        raise ConfigError(
            "Passwords and sessions must not travel in clear: other machines need an https address.",
            hint=f"Put a proxy with TLS in front and set auth.url to its https:// address. {NEXT}",
        )


def _loopback(address: str) -> bool:
    try:
        return address.lower() == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
