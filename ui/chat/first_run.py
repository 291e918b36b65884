"""First-run screen: the promise with a proof, a sample document, and a drop zone."""

from __future__ import annotations

from html import escape

import streamlit as st

from ragcore.errors import GroundworkError
from ui.chat import sidebar
from ui.chat.payload import model_name
from ui.gate.access import access
from ui.library import uploads
from ui.library.samples import NAME, SAMPLE
from ui.server import frame, visits, web
from ui.server.services import services
from ui.server.warming import warming

QUESTIONS = (
    "By how much did revenue grow in fiscal 2025?",
    "What was net cash from operations?",
    "When does the credit facility mature?",
)


def trying() -> bool:
    return "gw_trial" in st.session_state


def draw() -> None:
    with st.container(key="gw_page"), st.container(key="gw_start"):
        with st.container(key="gw_two"):
            with st.container(key="gw_left"):
                st.html("<h1>Ask your documents. Every claim opens the page with its exact words highlighted.</h1>")
                with st.container(key="gw_sample"):
                    if not services().may("contributor"):
                        refused = services().refused()
                        st.html(f"<p>There are no documents yet. {escape(f'{refused.message} {refused.hint}')}</p>")
                        return
                    st.html("<h2>Ask the sample document</h2>")
                    if trying():
                        _wait()  # on the line of what the sample is, so that nothing moves
                    else:
                        st.html("<p>Annual report of an invented company · 6 pages</p>")
                    for i, question in enumerate(QUESTIONS):
                        st.button(
                            question,
                            key=f"gw_try_{i}",
                            icon=":material/chevron_right:",
                            icon_position="right",
                            on_click=_try,
                            args=(question,),
                            disabled=trying(),
                        )
            st.html(_proof())
        uploads.uploader()
        uploads.notes()
        st.html(_note())


def _try(question: str) -> None:
    try:
        services().require("contributor")
        added = services().engine.add(SAMPLE.read_bytes(), NAME)
    except GroundworkError as error:
        uploads.say([uploads.Note("bad", error.message, error.hint)])
        return
    services().ingestion.add(added.doc_id)
    st.session_state["gw_trial"] = (added.doc_id, question)


@st.fragment(run_every=0.4)
def _wait() -> None:
    """Poll the sample until it can be asked, then ask it."""
    if not trying():
        return
    doc_id, question = st.session_state["gw_trial"]
    job = services().ingestion.jobs().get(doc_id)
    if job is not None:
        indexing = "Loading the models" if warming.loading and not job.done else "Indexing"
        words = {"queued": "Opening the sample", "build": "Assembling the pages", "embed": indexing}
        text = words.get(job.stage) or (f"Reading page {job.done} of {job.total}" if job.done else "Opening the sample")
        st.html(f'<p class="gw-st run gw-trial" role="status"><span class="gw-spin"></span>{text}</p>')
        return
    info = next((item for item in services().engine.documents() if item.doc_id == doc_id), None)
    if info is not None and info.indexed:
        sidebar.send(question)
    else:
        error = services().ingestion.failures.get(doc_id) or (info.error if info else None) or {}
        message, hint = error.get("message", "The sample couldn’t be read."), error.get("hint", "Try again.")
        uploads.say([uploads.Note("bad", str(message), str(hint))])
    del st.session_state["gw_trial"]
    st.rerun()


def _proof() -> str:
    picture = f"{frame.prefix()}{web.static_root()}/sample/proof.png"
    return f"""<figure class="gw-proof" aria-label="An answer and its source">
<div class="qa"><p class="q">{QUESTIONS[2]}</p><p class="a">On 30 June 2029; it can be extended by one
year.<span class="chip">1</span></p></div>
<div class="pic gw-paper"><img src="{picture}" alt="The page, with the sentence on the facility highlighted"></div>
<figcaption><b>Larkfield annual report, page 4</b><span>Cash and borrowing</span>
<span class="gw-st ok"><span class="gw-i gw-i-check_circle s16" aria-hidden="true"></span>Supported</span></figcaption>
</figure>"""


def _note() -> str:
    engine = services().visits.engine(visits.current())
    if not engine.models.capabilities.extractive:
        words = f"{model_name(engine.models.writer_name)} writes answers from your documents. Every claim is checked."
        return f'<p class="gw-note">{escape(words)}</p>'
    free = "No account needed. " if access().accounts is None else ""
    return (
        f'<p class="gw-note"><span class="gw-i gw-i-cloud_off s16" aria-hidden="true"></span><span>{free}'
        "Without a key, Groundwork answers with ranked, quoted sentences. With one, given under <i>Settings</i> or as "
        "<code>ANTHROPIC_API_KEY</code>, Claude writes the answer, or a model of your own; the checks are the "
        "same.</span></p>"
    )
