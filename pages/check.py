"""Check page: a draft to check and the checks so far, or one draft with its marks and the page beside it."""

import streamlit as st

from ragcore.errors import UnknownCheck
from ragcore.types.check import CheckInfo
from ui import components
from ui.chat import payload, sidebar
from ui.server import component_events, frame, place
from ui.server.services import services

engine = services().engine


def named(check_id: str) -> CheckInfo | None:
    """The check that the address names; None where it was deleted."""
    try:
        return engine.checks.info(check_id)
    except UnknownCheck:
        return None


sidebar.leave()
with component_events.received("checks", "opened") as opened:
    if opened is not None:
        place.go({"d": opened})
deleted = False
with component_events.received("check", "left") as left:
    if left is not None:
        place.go({})
        deleted = left["gone"]
asked_for = st.query_params.get("d", "")
here = named(asked_for) if asked_for else None
documents = payload.offered(sidebar.askable(engine.documents()))
if here is not None:
    with st.container(key="gw_split"):
        with st.container(key="gw_center"):
            components.check(here.check_id, documents)
        with st.container(key="gw_pane"):
            components.pane(documents, None if here.scope.doc_ids is None else list(here.scope.doc_ids))
else:
    with st.container(key="gw_page"):
        if asked_for or deleted:
            frame.message("This check isn’t in the library.", "It may have been deleted.")
        components.checks(documents)
