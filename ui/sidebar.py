"""The side of the chat: which documents are asked, and the conversations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import groupby

import streamlit as st

from ragcore.errors import GroundworkError
from ragcore.index.conversations import ConversationInfo
from ragcore.index.store import DocumentInfo
from ragcore.scopes import KINDS, page_ranges, pages_typed
from ragcore.types import EVERYTHING, Scope
from ui import components, payload
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
            _draw_filters(readable)
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
            key = f"gw_scope_{current() or 'new'}_{info.doc_id}"
            st.checkbox(
                plain(names[info.doc_id]),
                value=info.doc_id not in left_out,
                key=key,
                on_change=_tick,
                args=(info.doc_id, key, [item.doc_id for item in readable]),
            )


def _draw_filters(readable: Sequence[DocumentInfo]) -> None:
    """Which pages and kinds the next questions search."""
    st.html('<div class="gw-side-h">Pages and kinds</div>')
    left_out = _left_out(readable)
    longest = max((info.pages for info in readable if info.doc_id not in left_out), default=0)
    with st.container(key="gw_narrow"):
        components.filters(pages_typed(_filters()), list(_filters().kinds), longest, on_change=_narrow)


def chips() -> None:
    """Beside the input: what the next question is narrowed to, each part with a button that removes it."""
    if _filters() != EVERYTHING:
        with st.container(key="gw_chips"):
            components.chips(_filters(), on_change=_widen)


def _filters() -> Scope:
    """Pages and kinds of the current conversation, or of the next new one; without documents."""
    kept: dict[str | None, Scope] = st.session_state.setdefault("gw_filters", {})
    conversation_id = current()
    if conversation_id not in kept:
        stored = EVERYTHING if conversation_id is None else services().engine.conversation(conversation_id).scope
        kept[conversation_id] = replace(stored, doc_ids=None)
    return kept[conversation_id]


def _narrow() -> None:
    given = st.session_state["filters"]["narrowed"]
    if given is None:
        return
    kinds = tuple(kind for kind in KINDS if kind in given["kinds"])
    try:
        pages = page_ranges(given["pages"])
    except GroundworkError as error:
        st.session_state["gw_trouble"] = (error.message, error.hint)
        return
    _keep(Scope(None, pages, kinds if len(kinds) < len(KINDS) else ()))


def _widen() -> None:
    removed = st.session_state["chips"]["removed"]
    if removed in ("pages", "kinds"):
        _keep(replace(_filters(), **{removed: ()}))


def _keep(filters: Scope) -> None:
    st.session_state["gw_filters"][current()] = filters
    conversation_id = current()
    if conversation_id is not None:
        stored = services().engine.conversation(conversation_id).scope
        services().engine.set_scope(conversation_id, replace(filters, doc_ids=stored.doc_ids))


def asked(readable: Sequence[DocumentInfo]) -> Scope:
    """What the next question searches."""
    documents = scope(readable)
    return replace(_filters(), doc_ids=None if documents is None else tuple(documents))


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
            stored = services().engine.conversation(conversation_id).scope.doc_ids
        kept[conversation_id] = set() if stored is None else {i.doc_id for i in readable} - set(stored)
    return kept[conversation_id] & {info.doc_id for info in readable}


def _tick(doc_id: str, key: str, readable: list[str]) -> None:
    left_out: set[str] = st.session_state["gw_left_out"][current()]
    # Streamlit also calls this for a box that comes back after a while, so what counts is how it stands.
    if st.session_state[key]:
        left_out.discard(doc_id)
    else:
        left_out.add(doc_id)
    conversation_id = current()
    if conversation_id is not None:
        inside = [item for item in readable if item not in left_out]
        documents = tuple(inside) if len(inside) < len(readable) else None
        services().engine.set_scope(conversation_id, replace(_filters(), doc_ids=documents))


def ask(question: str, readable: Sequence[DocumentInfo]) -> None:
    """Store the question in the current conversation, or a new one, and begin its answer. What prevents it is kept for
    `trouble`."""
    chosen = asked(readable)
    if chosen.doc_ids == ():
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
        st.session_state["gw_filters"] |= {conversation_id: _filters(), None: EVERYTHING}
        open_conversation(conversation_id)


def ask_only(doc_id: str, readable: Sequence[str]) -> None:
    """The next new conversation is about one document."""
    open_conversation(None)
    st.session_state.setdefault("gw_left_out", {})[None] = set(readable) - {doc_id}
    st.session_state.setdefault("gw_filters", {})[None] = EVERYTHING
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
