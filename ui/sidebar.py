"""The side of the chat: which documents are asked, and the conversations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import groupby

import streamlit as st

from ragcore.errors import GroundworkError
from ragcore.index.conversations import ConversationInfo
from ragcore.index.store import DocumentInfo
from ui import payload
from ui.services import services

LISTED = 100


def plain(text: str) -> str:
    """``text`` as it is, for a label in which Streamlit reads Markdown."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~$:<>])", r"\\\1", text)


def current() -> str | None:
    """The conversation that the address names."""
    return st.query_params.get("c")


def open_conversation(conversation_id: str | None) -> None:
    st.query_params.clear()
    if conversation_id:
        st.query_params["c"] = conversation_id


def draw(readable: Sequence[DocumentInfo], conversations: Sequence[ConversationInfo]) -> None:
    with st.sidebar:
        st.button("New conversation", key="gw_new", icon=":material/add:", on_click=open_conversation, args=(None,))
        if readable:
            _draw_scope(readable)
        if conversations:
            st.html('<div class="gw-side-h">Conversations</div>')
        for day, infos in groupby(conversations[:LISTED], key=_day):
            st.html(f'<div class="gw-side-day">{day}</div>')
            for info in infos:
                now = "now_" if info.conversation_id == current() else ""
                st.button(
                    plain(info.title),
                    key=f"gw_conv_{now}{info.conversation_id}",
                    on_click=open_conversation,
                    args=(info.conversation_id,),
                )


def _draw_scope(readable: Sequence[DocumentInfo]) -> None:
    left_out = _left_out(readable)
    inside = sum(info.doc_id not in left_out for info in readable)
    st.html(f'<div class="gw-side-h">In scope<span>{inside} of {len(readable)}</span></div>')
    names = payload.names(readable)
    with st.container(key="gw_scope"):
        for info in readable:
            st.checkbox(
                plain(names[info.doc_id]),
                value=info.doc_id not in left_out,
                key=f"gw_scope_{current() or 'new'}_{info.doc_id}",
                on_change=_toggle,
                args=(info.doc_id, [item.doc_id for item in readable]),
            )


def scope(readable: Sequence[DocumentInfo]) -> list[str] | None:
    """The documents to ask; None for the whole library, so that one added later is asked too."""
    left_out = _left_out(readable)
    return [info.doc_id for info in readable if info.doc_id not in left_out] if left_out else None


def _left_out(readable: Sequence[DocumentInfo]) -> set[str]:
    """Documents left out of the current conversation, or of the next new one."""
    kept: dict[str | None, set[str]] = st.session_state.setdefault("gw_left_out", {})
    conversation_id = current()
    if conversation_id not in kept:
        stored = None
        if conversation_id is not None:
            stored = services().engine.conversation(conversation_id).doc_ids
        kept[conversation_id] = set() if stored is None else {i.doc_id for i in readable} - set(stored)
    return kept[conversation_id] & {info.doc_id for info in readable}


def _toggle(doc_id: str, readable: list[str]) -> None:
    left_out: set[str] = st.session_state["gw_left_out"][current()]
    left_out ^= {doc_id}
    conversation_id = current()
    if conversation_id is not None:
        inside = [item for item in readable if item not in left_out]
        services().engine.set_scope(conversation_id, inside if len(inside) < len(readable) else None)


def ask(question: str, readable: Sequence[DocumentInfo]) -> None:
    """Store the question in the current conversation, or a new one, and begin its answer. What prevents it is kept for
    `trouble`."""
    chosen = scope(readable)
    if chosen == []:
        st.session_state["gw_trouble"] = ("No document is in scope.", "Tick at least one at the side.")
        return
    try:
        conversation_id = current() or services().engine.new_conversation(chosen)
        services().answers.ask(conversation_id, question, chosen)
    except GroundworkError as error:
        st.session_state["gw_trouble"] = (error.message, error.hint)
        return
    if current() is None:
        st.session_state["gw_left_out"][conversation_id] = set(_left_out(readable))
        open_conversation(conversation_id)


def ask_only(doc_id: str, readable: Sequence[str]) -> None:
    """The next new conversation is about one document."""
    open_conversation(None)
    st.session_state.setdefault("gw_left_out", {})[None] = set(readable) - {doc_id}
    for other in readable:
        st.session_state.pop(f"gw_scope_new_{other}", None)


def gone() -> None:
    """The address names a conversation that is not there (any more): go on with a new one and say so."""
    open_conversation(None)
    st.session_state["gw_trouble"] = ("This conversation is not in the library.", "It may have been deleted.")


def trouble() -> tuple[str, str] | None:
    """What prevented the last question (message, hint), once."""
    found: tuple[str, str] | None = st.session_state.pop("gw_trouble", None)
    return found


def head(info: ConversationInfo | None) -> None:
    """The title row of a conversation: rename and delete behind a button."""
    st.markdown(plain(info.title) if info else "New conversation")
    if info is None:
        return
    with st.popover("", icon=":material/more_horiz:", help="Rename or delete"):
        key = f"gw_title_{info.conversation_id}"
        st.text_input("Title", value=info.title, key=key, on_change=_rename, args=(info.conversation_id, key))
        st.button(
            "Delete conversation",
            key="gw_delete",
            icon=":material/delete:",
            on_click=_delete,
            args=(info.conversation_id,),
        )


def _rename(conversation_id: str, key: str) -> None:
    title = st.session_state[key].strip()
    if title:
        services().engine.rename_conversation(conversation_id, title)


def _delete(conversation_id: str) -> None:
    services().answers.stop_all(conversation_id)
    services().engine.delete_conversation(conversation_id)
    open_conversation(None)


def _day(info: ConversationInfo) -> str:
    day = datetime.fromtimestamp(info.updated).date()
    ago = (date.today() - day) / timedelta(days=1)
    return "Today" if ago < 1 else "Yesterday" if ago < 2 else "Last 7 days" if ago < 7 else day.strftime("%B %Y")
