"""The conversation open in this tab: the URL names it, and another tab may delete it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ragcore.errors import UnknownConversation
from ui.server import place


def current() -> str | None:
    """Conversation that the URL names, or will name again (`come_back`)."""
    named: str | None = st.query_params.get("c")
    if named:
        st.session_state.pop("gw_back", None)
        return named
    return st.session_state.get("gw_back")


def unnamed() -> bool:
    """Whether the URL does not name `current` yet."""
    return "gw_back" in st.session_state


def leave() -> None:
    """Remember the open conversation when another page is shown, for `come_back`."""
    st.session_state["gw_away"] = True


def come_back() -> None:
    """Reopen the conversation last open in this tab when the page is entered without one in the URL. The browser writes
    its name into the URL, since the script could only add a step to the history."""
    here = st.session_state.get("gw_here")
    if st.session_state.pop("gw_away", False) and current() is None and here:
        st.session_state["gw_back"] = here


def open_conversation(conversation_id: str | None) -> None:
    st.session_state.pop("gw_gone", None)
    _name(conversation_id)


def _name(conversation_id: str | None) -> None:
    st.session_state.pop("gw_back", None)
    st.session_state["gw_here"] = conversation_id  # first: the address is where another click may take over (`stay`)
    # In one go: each change is a step of the browser's history.
    wanted = {"c": conversation_id} if conversation_id else {}
    if place.address(st.query_params.to_dict()) != place.address(wanted):
        place.go(wanted)


def stay() -> None:
    """Ignore the old URL that a pending request brings after another conversation was opened."""
    if "gw_here" in st.session_state and st.session_state["gw_here"] != current():
        _name(st.session_state["gw_here"])


@contextmanager
def lost_if_gone(conversation_id: str) -> Iterator[None]:
    """Context in which another tab may delete the conversation."""
    try:
        yield
    except UnknownConversation:
        if conversation_id == current():
            gone()


def gone() -> None:
    """Start a new conversation when the URL names one that no longer exists, with a notice until another conversation
    is opened or a question refused: a run that nobody asked for, as after a lost connection, does not take it away."""
    open_conversation(None)
    st.session_state["gw_gone"] = True


def trouble() -> tuple[str, ...] | None:
    """Problem of the last question (message, hint) or a notice about it (and tone), until a run has come to its end; or
    that the conversation was `gone`."""
    found: tuple[str, ...] | None = st.session_state.get("gw_trouble")
    if found is None and "gw_gone" in st.session_state:
        return "This conversation isn’t in the library.", "It may have been deleted."
    return found
