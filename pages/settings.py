"""Settings: who answers and what is sent, how it is searched, how it looks, what lies where, and what is in force."""

import streamlit as st

from ui import components
from ui.chat import sidebar

sidebar.leave()
with st.container(key="gw_page"):
    components.settings()
