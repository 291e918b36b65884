"""Library: what is in it, what is being read, and what each document was taken apart into."""

import streamlit as st

from ui import components, sidebar, uploads
from ui.services import services

infos = services().engine.documents()
pages = sum(info.pages for info in infos)

sidebar.leave()
with st.container(key="gw_page"):
    uploads.heading("Library", uploads.counted(len(infos), pages) if infos else "")
    uploads.uploader()
    uploads.notes()
    uploads.arrived()
    asked = components.library(revision=st.session_state.get("gw_uploads", 0))

if asked.ask:
    sidebar.ask_only(set(asked.ask), [info.doc_id for info in sidebar.askable(infos)])
    st.switch_page("pages/chat.py")
if asked.settings:
    st.switch_page("pages/settings.py")
