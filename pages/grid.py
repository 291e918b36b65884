"""Grid page: the grids so far and a new one, or one grid with the page beside it."""

import streamlit as st

from ragcore.errors import UnknownGrid
from ragcore.types.grid import GridInfo
from ui import components
from ui.chat import payload, sidebar
from ui.library import uploads
from ui.server import component_events, frame, place
from ui.server.services import services

engine = services().engine


def named(grid_id: str) -> GridInfo | None:
    """The grid that the address names; None where it was deleted."""
    try:
        return engine.grids.info(grid_id)
    except UnknownGrid:
        return None


sidebar.leave()
with component_events.received("grids", "opened") as opened:
    if opened is not None:
        place.go({"g": opened})
deleted = False
with component_events.received("grid", "left") as left:
    if left is not None:
        place.go({})
        deleted = left["gone"]
asked_for = st.query_params.get("g", "")
here = named(asked_for) if asked_for else None
fresh = uploads.arrived()
sections = here is not None and bool(fresh) and not engine.grids.add_documents(here.grid_id, fresh)
documents = payload.offered(engine.documents())
if here is not None:
    with st.container(key="gw_split"):
        with st.container(key="gw_center"):
            with st.container(key="gw_rows_drop"):
                uploads.uploader()
            uploads.notes()
            if sections:
                said = "The documents are in the Library. The rows of this grid are sections."
                frame.message(said, "Choose theirs under the number of rows, once they are read.", "weak")
            components.grid(here.grid_id, documents)
        with st.container(key="gw_pane"):
            components.evidence()
            components.pane(
                payload.offered(sidebar.askable(engine.documents())),
                None if here.scope.doc_ids is None else list(here.scope.doc_ids),
            )
else:
    with st.container(key="gw_page"):
        if asked_for or deleted:
            frame.message("This grid isn’t in the library.", "It may have been deleted.")
        with st.container(key="gw_rows_drop"):
            uploads.uploader()
        uploads.notes()
        components.grids(documents)
