"""Events from components to the script (`ui.components.LOADER`): handled in the rerun they cause, or in the next one
if another rerun overtakes it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, StopException

from ragcore.errors import Unknown
from ui.server import place

T = TypeVar("T")


def session() -> str:
    """Name of this Streamlit session. After a restart of the server, an open page repeats its last events to the new
    one."""
    if "gw_session" not in st.session_state:
        st.session_state["gw_session"] = secrets.token_hex(4)
    name: str = st.session_state["gw_session"]
    return name


def last_received(component: str, name: str) -> int:
    """Number of the last handled event ``name`` of ``component``; 0 if none in this session."""
    number: int = st.session_state.get(_key(component, name), 0)
    return number


def _key(component: str, name: str) -> str:
    return f"gw_heard_{component}_{name}"


def chosen(listing: str, shown: str, key: str, find: Callable[[str], T]) -> tuple[T | None, bool]:
    """What the address names by ``key``, as ``find`` gives it, after what the component ``listing`` has opened and the
    component ``shown`` has left; and whether it was deleted, here or elsewhere."""
    heard(listing, "opened", lambda opened: place.go({key: opened}))
    deleted = False
    with received(shown, "left") as left:
        if left is not None:
            place.go({})
            deleted = left["gone"]
    named = st.query_params.get(key, "")
    try:
        return (find(named) if named else None), deleted
    except Unknown:
        return None, True


def heard(component: str, name: str, act: Callable[[Any], object]) -> None:
    """Call ``act`` with event ``name`` of ``component``, if there is one (`received`)."""
    with received(component, name) as given:
        if given is not None:
            act(given)


@contextmanager
def received(component: str, name: str) -> Iterator[Any]:
    """Event ``name`` of ``component`` since the last one handled; None if there is none. A run that is interrupted
    inside the block has not handled the event, so its work may be done twice."""
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
