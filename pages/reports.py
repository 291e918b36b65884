"""Reports page: the list with templates, or one report with its outline, sections and evidence."""

import streamlit as st

from ragcore.errors import UnknownReport
from ragcore.index.reports import ReportInfo
from ui import components
from ui.chat import payload, sidebar
from ui.server import component_events, frame, place
from ui.server.services import services

engine = services().engine


def named(report_id: str) -> ReportInfo | None:
    """The report that the address names; None where it was deleted."""
    try:
        return engine.reports.store.info(report_id)
    except UnknownReport:
        return None


sidebar.leave()
with component_events.received("reports", "opened") as opened:
    if opened is not None:
        place.go({"r": opened})
deleted = False
with component_events.received("report", "left") as left:
    if left is not None:
        place.go({})
        deleted = left["gone"]
asked_for = st.query_params.get("r", "")
here = named(asked_for) if asked_for else None
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
        if asked_for or deleted:
            frame.message("This report isn’t in the library.", "It may have been deleted.")
        components.reports()
