"""Settings page: the answering model, search, looks, folders, and the values in force."""

import streamlit as st

from ui import components
from ui.chat import current_conversation

current_conversation.leave()
with st.container(key="gw_page"):
    components.settings()
