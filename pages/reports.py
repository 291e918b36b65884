"""Reports: what there is and templates to begin from; a report with its outline, its sections and their evidence."""

import streamlit as st

from ragcore.errors import UnknownReport
from ui import components
from ui.chat import payload, sidebar
from ui.server import told
from ui.server.services import services

engine = services().engine


def known(report_id: str) -> bool:
    try:
        engine.reports.store.info(report_id)
    except UnknownReport:
        return False
    return True


sidebar.leave()
with told.news("reports", "opened") as opened:
    if opened is not None:
        st.query_params.from_dict({"r": opened})
with told.news("report", "left") as left:
    if left is not None:
        st.query_params.clear()
here = st.query_params.get("r", "")
if here and known(here):
    readable = sidebar.askable(engine.documents())
    chosen = engine.reports.store.info(here).doc_ids
    with st.container(key="gw_split"):
        with st.container(key="gw_center"):
            components.report(here)
        with st.container(key="gw_pane"):
            components.evidence()
            components.pane(
                payload.offered(readable),
                None if chosen is None else list(chosen),
            )
else:
    with st.container(key="gw_page"):
        components.reports()
