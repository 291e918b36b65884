"""Check page: a draft to check and the checks so far, or one draft with its marks and the page beside it."""

import streamlit as st

from ui import components
from ui.chat import current_conversation, payload, sidebar
from ui.server import component_events, frame
from ui.server.services import services

engine = services().engine

current_conversation.leave()
here, deleted = component_events.chosen("checks", "check", "d", engine.checks.info)
documents = payload.offered(sidebar.askable(engine.documents()))
if here is not None:
    with st.container(key="gw_split"):
        with st.container(key="gw_center"):
            components.check(here.check_id, documents)
        with st.container(key="gw_pane"):
            components.pane(documents, None if here.scope.doc_ids is None else list(here.scope.doc_ids))
else:
    with st.container(key="gw_page"):
        if deleted:
            frame.message("This check isn’t in the library.", "It may have been deleted.")
        components.checks(documents)
