"""Evaluate page: sets of questions with known answers, and configurations side by side."""

import streamlit as st

from ui import components
from ui.chat import current_conversation, payload, sidebar
from ui.server.services import services

current_conversation.leave()
with st.container(key="gw_esplit"):
    components.evaluate()
    with st.container(key="gw_pane"):
        components.pane(payload.offered(sidebar.askable(services().engine.documents())), None, asks=False)
