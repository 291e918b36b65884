"""Explore page: every chunk as a point, which search found it, and the effect of any settings."""

import streamlit as st

from ui import components
from ui.chat import current_conversation, payload, sidebar
from ui.explore import questions as explore
from ui.server.services import services

readable = sidebar.askable(services().engine.documents())
documents = payload.offered(readable)

current_conversation.leave()
with st.container(key="gw_xsplit"):
    here = st.query_params.get("c") or st.session_state.get("gw_here")
    asked = explore.answered(services().engine, here)
    components.explore(documents, here or "", asked, [] if asked else explore.examples(services().engine, readable))
    with st.container(key="gw_pane"):
        components.pane(documents, None)
