"""Files from the browser into the library: kept on disk at once, read in the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ragcore.errors import GroundworkError
from ui import frame
from ui.services import services


@dataclass(frozen=True)
class Note:
    """What became of a file that needs a word: refused, or in the library already."""

    tone: str
    text: str
    hint: str


def uploader() -> None:
    """The drop zone; what it takes is in the library before the next line runs."""
    megabytes = max(1, services().engine.settings.ingest.max_bytes >> 20)
    # A new key empties the widget, which would keep every file in memory.
    key = f"gw_upload_{st.session_state.setdefault('gw_uploads', 0)}"
    with st.container(key="gw_drop"):
        st.file_uploader(
            "Upload PDFs",
            accept_multiple_files=True,
            key=key,
            on_change=_take,
            args=(key,),
            label_visibility="collapsed",
            max_upload_size=megabytes,
        )


def _take(key: str) -> None:
    files: Sequence[UploadedFile] = st.session_state[key]
    if not files:
        return
    st.session_state["gw_notes"] = [note for note in (_add(file) for file in files) if note]
    st.session_state["gw_uploads"] += 1
    st.session_state["gw_fresh"] = True


def arrived() -> bool:
    """Whether files have just been taken; true once for each upload."""
    return bool(st.session_state.pop("gw_fresh", False))


def _add(file: UploadedFile) -> Note | None:
    engine, ingestion = services().engine, services().ingestion
    try:
        added = engine.add(file.getvalue(), file.name)
    except GroundworkError as error:
        return Note("bad", error.message, error.hint)
    ingestion.add(added.doc_id)
    if added.status == "already":
        return Note("weak", f"{file.name} is in the library already.", "The same bytes are kept once under any name.")
    return None


def notes() -> None:
    """What the last upload left to say, until it is dismissed or the next one."""
    left: list[Note] = st.session_state.get("gw_notes", [])
    if not left:
        return
    with st.container(key="gw_notes"):
        for note in left:
            frame.message(note.text, note.hint, note.tone)
        st.button("Dismiss", key="gw_dismiss", on_click=lambda: st.session_state.pop("gw_notes", None))


def heading(title: str, detail: str) -> None:
    st.html(f'<div class="gw-head"><h1>{escape(title)}</h1><span class="muted num">{escape(detail)}</span></div>')
