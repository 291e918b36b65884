"""Chat page: scope and conversations in the sidebar, the conversation, and the cited page beside it."""

import streamlit as st

from ragcore.types import Scope
from ui import components
from ui.chat import current_conversation, first_run, payload, sidebar
from ui.library import uploads
from ui.server import frame
from ui.server.services import services

engine = services().engine
reading = bool(services().ingestion.jobs())  # before the documents: one that is ready meanwhile is looked for again
infos = engine.documents()
readable = sidebar.askable(infos)


def submitted() -> None:
    sidebar.send(st.session_state["gw_ask"])


def composer(searched: Scope, *, fresh: bool) -> None:
    trouble = current_conversation.trouble()
    if trouble:
        frame.message(*trouble)
    uploads.notes()
    sidebar.chips(searched)
    if unasked := sidebar.unasked():
        st.session_state["gw_ask"] = unasked
    with st.container(key="gw_asking"):
        question = st.chat_input("Ask your documents", key="gw_ask", on_submit=submitted)
        uploads.uploader()
    if fresh:
        st.html('<i class="gw-fresh" hidden></i>')  # what a new conversation looks like from the first paint
    if question and question != sidebar.sent():
        # The callback was ended by another event before it began, or Streamlit knew of none yet, as in the first run of
        # a session that took over an open page.
        sidebar.send(question)
        st.rerun()


def workspace() -> None:
    sidebar.arrived()
    current_conversation.come_back()
    sidebar.ask_sent()
    conversations = engine.conversations.all()
    if uploads.arrived() and sidebar.of_sample(conversations, infos):
        current_conversation.open_conversation(None)  # what was asked of the sample is over
    searched = sidebar.asked(readable)
    here = next((info for info in conversations if info.conversation_id == current_conversation.current()), None)
    if current_conversation.current() and here is None:
        current_conversation.gone()
        searched = sidebar.asked(readable)
    reads = here is not None and not here.own
    sidebar.draw([] if reads else readable, conversations, searched)
    with st.container(key="gw_split"):
        with st.container(key="gw_center"):
            with st.container(key="gw_head"):
                sidebar.head(here)
            components.thread(
                here.conversation_id if here else None,
                revision=f"{here.updated}-{here.shown}-{len(readable)}" if here else str(engine.store.revision()),
                scope=searched,
                name=current_conversation.unnamed(),
                reads=reads,
            )
            with st.container(key="gw_composer"):
                if reads:
                    st.html('<p class="gw-reads">Shared with you: you can read and export it, not ask in it.</p>')
                else:
                    composer(searched, fresh=here is None)
        with st.container(key="gw_pane"):
            components.pane(
                payload.offered(readable),
                [info.doc_id for info in readable if searched.holds(info.doc_id)],
            )
    if not reads:
        sidebar.end()


@st.fragment(run_every=1.5)
def await_documents() -> None:
    """While something is being read: redraw when more can be asked."""
    if payload.offered(sidebar.askable(engine.documents())) != payload.offered(readable):
        st.rerun()


if first_run.trying() or (not infos and not sidebar.sent() and not engine.conversations.all()):
    first_run.draw()
else:
    workspace()
    if reading or services().ingestion.jobs():
        await_documents()
