"""Library page: the documents and the reading queue; each read document has its own address."""

import streamlit as st

from ragcore.text.numbers import plural
from ui import components
from ui.chat import current_conversation, payload, sidebar
from ui.library import uploads
from ui.server import component_events, frame, place
from ui.server.services import services

everything = services().engine.documents(earlier=True)
infos = [info for info in everything if not info.successor]
askable = sidebar.askable(infos)

current_conversation.leave()
component_events.heard("library", "read", lambda wanted: place.go({"doc": wanted["doc"], "page": str(wanted["page"])}))
component_events.heard("reader", "left", lambda _: place.go({}))
named = st.query_params.get("doc", "")
here = next((info for info in everything if info.doc_id == named and info.elements), None)

if here is not None:
    title = payload.names(everything)[here.doc_id] + (" (earlier version)" if here.successor else "")
    st.set_page_config(page_title=f"{title} · Groundwork")
    with st.container(key="gw_read"):
        components.reader({"id": here.doc_id, "title": title, "asks": here in askable})
        with st.container(key="gw_pane"):
            components.pane(payload.offered([here]), None, asks=here in askable)
else:
    with st.container(key="gw_page"):
        pages = sum(info.pages for info in infos)
        size = f"{plural(len(infos), 'document')}, {plural(pages, 'page')}"
        uploads.heading("Library", size if infos else "")
        if named:
            frame.message("This document can’t be opened.", "It may have been removed, or isn’t read yet.")
        uploads.uploader()
        uploads.notes()
        uploads.arrived()
        components.library(revision=uploads.revision())

with (
    component_events.received("library", "ask") as several,
    component_events.received("reader", "ask") as one,
    component_events.received("pane", "section") as beside,
    component_events.received("library", "section") as listed,
    component_events.received("library", "settings") as part,
):
    asked = several or ([one] if one else None)
    if asked:
        sidebar.ask_only(asked, askable)
    section = beside or listed
    if section:
        sidebar.ask_section(section, askable)
if asked or section:
    st.switch_page("pages/chat.py")
if part:
    st.switch_page("pages/settings.py")
