"""Library: what is in it, what is being read, and what each document was taken apart into."""

import streamlit as st

from ui import components, sidebar, told, uploads
from ui.services import services

infos = services().engine.documents()
pages = sum(info.pages for info in infos)

sidebar.leave()
with st.container(key="gw_page"):
    uploads.heading("Library", uploads.counted(len(infos), pages) if infos else "")
    uploads.uploader()
    uploads.notes()
    uploads.arrived()
    components.library(revision=st.session_state.get("gw_uploads", 0))

with told.news("library", "ask") as asked, told.news("library", "settings") as part:
    if asked:
        sidebar.ask_only(set(asked), [info.doc_id for info in sidebar.askable(infos)])
if asked:
    st.switch_page("pages/chat.py")
if part:
    st.switch_page("pages/settings.py")
