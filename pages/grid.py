"""Grid page: the grids so far and a new one, or one grid with the page beside it."""

import streamlit as st

from ui import components
from ui.chat import current_conversation, payload, sidebar
from ui.library import uploads
from ui.server import component_events, frame
from ui.server.services import services

engine = services().engine

current_conversation.leave()
here, deleted = component_events.chosen("grids", "grid", "g", engine.grids.info)
fresh = uploads.arrived()
sections = here is not None and bool(fresh) and not engine.grids.add_documents(here.grid_id, fresh)
if here is not None:
    with st.container(key="gw_split"):
        with st.container(key="gw_center"):
            with st.container(key="gw_rows_drop"):
                uploads.uploader()
            uploads.notes()
            if sections:
                said = "The documents are in the Library. The rows of this grid are sections."
                frame.message(said, "Choose theirs under the number of rows, once they are read.", "weak")
            components.grid(here.grid_id, payload.offered(engine.documents()))
        with st.container(key="gw_pane"):
            components.evidence()
            components.pane(
                payload.offered(sidebar.askable(engine.documents())),
                None if here.scope.doc_ids is None else list(here.scope.doc_ids),
            )
else:
    with st.container(key="gw_page"):
        if deleted:
            frame.message("This grid isn’t in the library.", "It may have been deleted.")
        with st.container(key="gw_rows_drop"):
            uploads.uploader()
        uploads.notes()
        components.grids(payload.offered([one for one in engine.documents() if one.status != "failed"]))
