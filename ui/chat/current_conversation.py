"""The conversation open in this tab: the URL names it, and another tab may delete it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ragcore.errors import UnknownConversation


def current() -> str | None:
    """The conversation that the address names, or is about to name again (`come_back`)."""
    named: str | None = st.query_params.get("c")
    if named:
        st.session_state.pop("gw_back", None)
        return named
    return st.session_state.get("gw_back")


def unnamed() -> bool:
    """Whether the address does not name `current` yet."""
    return "gw_back" in st.session_state


def leave() -> None:
    """Another page is shown: `come_back` leads from there to what was open."""
    st.session_state["gw_away"] = True


def come_back() -> None:
    """Entered from another page without a conversation in the address: what was open in this tab before is open again.
    The browser puts its name into the address by itself, since the script could only add another step to the history.
    """
    here = st.session_state.get("gw_here")
    if st.session_state.pop("gw_away", False) and current() is None and here:
        st.session_state["gw_back"] = here


def open_conversation(conversation_id: str | None) -> None:
    st.session_state.pop("gw_back", None)
    st.session_state["gw_here"] = conversation_id  # first: the address is where another click may take over (`stay`)
    # In one go: each change is a step of the browser's history.
    wanted = {"c": conversation_id} if conversation_id else {}
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def stay() -> None:
    """What was on its way when another conversation was opened comes with the old address: that does not lead back."""
    if "gw_here" in st.session_state and st.session_state["gw_here"] != current():
        open_conversation(st.session_state["gw_here"])


@contextmanager
def lost_if_gone(conversation_id: str) -> Iterator[None]:
    """Work on a conversation that another tab may have deleted."""
    try:
        yield
    except UnknownConversation:
        if conversation_id == current():
            gone()


def gone() -> None:
    """The address names a conversation that is not there (any more): go on with a new one and say so."""
    open_conversation(None)
    st.session_state["gw_trouble"] = ("This conversation isn’t in the library.", "It may have been deleted.")


def trouble() -> tuple[str, ...] | None:
    """What prevented the last question (message, hint), or happened to it (and tone), once."""
    found: tuple[str, ...] | None = st.session_state.pop("gw_trouble", None)
    return found
