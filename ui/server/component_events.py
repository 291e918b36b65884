"""Events from components to the script (`ui.components.LOADER`): handled in the rerun they cause, or in the next one
if another rerun overtakes it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, StopException


def session() -> str:
    """A name for this session of Streamlit. A page that is still open when the server starts anew tells the next one
    again what it told the last."""
    if "gw_session" not in st.session_state:
        st.session_state["gw_session"] = secrets.token_hex(4)
    name: str = st.session_state["gw_session"]
    return name


def last_received(component: str, name: str) -> int:
    """The number of what ``component`` told last by ``name`` and that was heard; 0 for nothing in this session."""
    number: int = st.session_state.get(_key(component, name), 0)
    return number


def _key(component: str, name: str) -> str:
    return f"gw_heard_{component}_{name}"


@contextmanager
def received(component: str, name: str) -> Iterator[Any]:
    """What ``component`` has told by ``name`` since it was last heard; None for nothing. A run that is overtaken within
    the block has not heard it, so what is done there may be done twice."""
    given = st.session_state.get(component, {}).get(name)
    if given is None or given["session"] != session() or given["number"] == last_received(component, name):
        yield None
        return
    try:
        yield given["value"]
    except (RerunException, StopException):
        raise
    except BaseException:
        st.session_state[_key(component, name)] = given["number"]  # an error is told once
        raise
    st.session_state[_key(component, name)] = given["number"]
