"""Library that a script is in, and addresses of pages, which name it as ``l``.

It is settled in the first run of a session: the library that the address names, else the one that its person had open
last. Another one is opened by another address, which begins another session.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import streamlit as st

from ragcore.accounts.accounts import User
from ui.gate.access import access, person
from ui.server.libraries import UnknownLibrary
from ui.server.services import Services, libraries

FRESH = 1.0  # seconds for which a session's rights are not looked at again


def library() -> Services:
    """Services of the running session's library. Raises `UnknownLibrary`, and `InputError` if the sign-in has ended."""
    at, found = st.session_state.get("gw_services", (0.0, None))
    if found is None or time.monotonic() - at > FRESH:
        user = person()
        if user is None:
            raise UnknownLibrary.here()
        named = here(user)
        if not named:
            hint = "Ask a colleague who manages one, or make your own beside the logo."
            raise UnknownLibrary("No library is open to you yet.", hint=hint)
        found = libraries().open(named, user, "viewer")
        st.session_state["gw_services"] = (time.monotonic(), found)
    services: Services = found
    return services


def here(user: User) -> str:
    """Id of the session's library, open to its person or not; "" where there is none for them."""
    if not st.session_state.get("gw_library"):
        st.session_state["gw_library"] = st.query_params.get("l") or libraries().default(user)
        libraries().seen(user, st.session_state["gw_library"])
    named: str = st.session_state["gw_library"]
    return named


def inside(prefix: str) -> str:
    """Path below which the routes of the session's library are."""
    user = person()
    return prefix if user is None else f"{prefix}/l/{here(user) or 'none'}"


def address(query: Mapping[str, str]) -> dict[str, str]:
    """``query`` of a page's address, with the library."""
    named = st.session_state.get("gw_library") if access().accounts is not None else None
    return {"l": named, **query} if named else dict(query)


def go(query: Mapping[str, str]) -> None:
    """Change the page's address, in one step of the browser's history."""
    st.query_params.from_dict(address(query))
