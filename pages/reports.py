"""Reports page: the list with templates, or one report with its outline, sections and evidence."""

import streamlit as st

from ui import components
from ui.chat import current_conversation, payload, sidebar
from ui.server import component_events, frame
from ui.server.services import services

engine = services().engine

current_conversation.leave()
here, deleted = component_events.chosen("reports", "report", "r", engine.reports.store.info)
if here is not None:
    readable = sidebar.askable(engine.documents())
    with st.container(key="gw_split"):
        with st.container(key="gw_center"):
            components.report(here.report_id)
        with st.container(key="gw_pane"):
            components.evidence()
            components.pane(
                payload.offered(readable),
                None if here.doc_ids is None else list(here.doc_ids),
            )
else:
    with st.container(key="gw_page"):
        if deleted:
            frame.message("This report isn’t in the library.", "It may have been deleted.")
        components.reports()
