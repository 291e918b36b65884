"""Uploads from the browser: saved to disk at once, read in the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from pathlib import PurePath

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ragcore.engine import Engine
from ragcore.errors import GroundworkError
from ui import components
from ui.library.advice import advice
from ui.library.jobs import Ingestion
from ui.server import frame
from ui.server.services import services

NAMED = 3  # files that a note names
LINES = 8  # of a card: files with the same advice

_Pair = tuple[UploadedFile, UploadedFile | None]


@dataclass(frozen=True)
class Note:
    """Notice about a file that was refused or is already in the library."""

    tone: str
    text: str
    hint: str


@dataclass
class _Taken:
    """Uploads of a session. In one object, since Streamlit can end a run at any access of the session's state."""

    number: int = 0  # of uploads so far
    ids: set[str] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)


def _taken() -> _Taken:
    taken: _Taken = st.session_state.setdefault("gw_taken", _Taken())
    return taken


def uploader() -> None:
    """Drop zone; once its files are in the library, the run begins anew. None for who may only read."""
    if not services().may("contributor"):
        return
    megabytes = max(1, services().engine.settings.ingest.max_bytes >> 20)
    # A new key empties the widget, which would keep every file in memory.
    key = f"gw_upload_{_taken().number}"
    with st.container(key="gw_drop"):
        files = st.file_uploader(
            "Upload files",
            accept_multiple_files=True,
            key=key,
            label_visibility="collapsed",
            max_upload_size=megabytes,
        )
        if _take(files):
            st.rerun()
        components.drop()
    sent = sent_to_claude(services().engine)
    if sent:
        with st.container(key="gw_sends"):
            st.html(f"<p>{escape(sent)}</p>")


def sent_to_claude(engine: Engine) -> str:
    """Notice of what leaves this machine while reading, and its possible cost; "" if nothing does."""
    settings, parts = engine.settings, []
    if engine.models.writes_contexts:
        chosen = settings.context
        wanted = ["summaries"] * chosen.document_summary + ["a context sentence for each passage"] * (
            chosen.situate == "claude"
        )
        limit = f"at most ${chosen.max_usd:.2f} per document"
        parts.append(f"Document text goes to Claude for {' and '.join(wanted)}: {limit}.")
    if engine.models.describes_figures:
        limit = f"at most ${settings.figures.max_usd:.2f} per document"
        parts.append(f"Figures go to Claude to be described: {limit}.")
    return " ".join(parts)


def _take(files: Sequence[UploadedFile]) -> bool:
    """Whether there are files to take. The browser may tell of an upload again, or of a part of it before the whole:
    each file is taken once."""
    taken = _taken()
    files = [file for file in files if file.file_id not in taken.ids]
    if not files:
        return False
    here = services()
    may = here.may("contributor")
    taken.ids.update(file.file_id for file in files)
    if may:
        taken.notes, taken.fresh = take(files, here.engine, here.ingestion)
    else:
        refused = here.refused()
        taken.notes = [Note("bad", refused.message, refused.hint)]
    taken.number += 1
    return True


def revision() -> int:
    """Number of uploads in this session."""
    return _taken().number


def arrived() -> list[str]:
    """Documents of an upload that was just made; none the next time."""
    taken = _taken()
    fresh, taken.fresh = taken.fresh, []
    return fresh


def paired(files: Sequence[UploadedFile]) -> list[_Pair]:
    """Files of an upload, each ADE JSON together with the PDF of the same name and folder, which is then not listed by
    itself."""
    pdfs = {PurePath(file.name).with_suffix(""): file for file in files if file.name.lower().endswith(".pdf")}
    companions = {
        file.file_id: pdfs[stem]
        for file in files
        if file.name.lower().endswith(".json") and (stem := PurePath(file.name).with_suffix("")) in pdfs
    }
    taken = {pdf.file_id for pdf in companions.values()}
    return [(file, companions.get(file.file_id)) for file in files if file.file_id not in taken]


def take(files: Sequence[UploadedFile], engine: Engine, ingestion: Ingestion) -> tuple[list[Note], list[str]]:
    """Save the files of an upload and queue those that aren't read yet; return notices and the documents, also those
    known before. Files of a folder go into a folder of the same path."""
    known: list[tuple[str, str]] = []
    queued: list[str] = []
    notes: list[Note] = []
    once, twice = _alike(paired(files))
    # The last one added stands first in the Library, so that they stand there in the upload's order.
    for file, pdf in reversed(once):
        notes = _add(file, pdf, engine, queued, known) + notes
    read = {info.doc_id for info in engine.documents() if info.indexed}
    for doc_id in reversed(queued):
        if doc_id not in read:
            ingestion.add(doc_id)
    known.reverse()
    for file, pdf in twice:  # in the library now, or refused like the first
        notes += _add(file, pdf, engine, [], known)
    if known:
        name, same = known[0]
        one = f"This is the same file as “{same}”." if len(known) == 1 and same != name else "Each file is stored once."
        notes.append(Note("weak", already([name for name, _ in known]), one))
    return together(notes), queued[::-1]


def together(notes: Sequence[Note]) -> list[Note]:
    """One note for all that give the same advice, each a line, at the place of the first."""
    advice: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        advice.setdefault((note.tone, note.hint), []).append(note.text)
    out = []
    for (tone, hint), texts in advice.items():
        more = [f"And {len(texts) - LINES + 1} more."] if len(texts) > LINES else []
        out.append(Note(tone, "\n".join((texts[: LINES - 1] if more else texts) + more), hint))
    return out


def _alike(pairs: Sequence[_Pair]) -> tuple[list[_Pair], list[_Pair]]:
    """First of several identical files, and its duplicates."""
    once, twice, seen = [], [], set[bytes]()
    for pair in pairs:
        digest = sha256(pair[0].getvalue()).digest()
        (twice if digest in seen else once).append(pair)
        seen.add(digest)
    return once, twice


def already(names: Sequence[str]) -> str:
    """Notice such as ``a.pdf and 2 others are already in the library.``"""
    if len(names) <= NAMED:
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    else:
        listed = f"{', '.join(names[:NAMED])} and {len(names) - NAMED} other{'s' if len(names) > NAMED + 1 else ''}"
    return f"{listed} {'is' if len(names) == 1 else 'are'} already in the library."


def _add(
    file: UploadedFile, pdf: UploadedFile | None, engine: Engine, queued: list[str], known: list[tuple[str, str]]
) -> list[Note]:
    path = PurePath(file.name)  # one of a folder comes under its path in it
    try:
        added = engine.add(file.getvalue(), path.name, pdf=pdf.getvalue() if pdf is not None else None)
        if added.status == "new" and len(path.parts) > 1:
            engine.shelf.put([added.doc_id, *added.attached], path.parent.as_posix())
    except GroundworkError as error:
        # What is wrong with a JSON is no reason to leave out its PDF.
        by_itself = _add(pdf, None, engine, queued, known) if pdf is not None else []
        note = Note("bad", error.message, advice(error.as_dict(), engine.settings)["hint"])
        return list(dict.fromkeys([note, *by_itself]))  # the PDF may be what is wrong
    queued += [*reversed(added.attached), added.doc_id]
    if added.status == "already":
        there = next((info for info in engine.documents() if info.doc_id == added.doc_id), None)
        if there is not None and there.status == "failed":
            return [
                Note(
                    "weak", f"{path.name} is in the library and couldn’t be read before.", "Groundwork is trying again."
                )
            ]
        known.append((path.name, there.title if there is not None else path.name))
        return []
    return [Note("weak", f"{path.name} came without its PDF.", added.note)] if added.note else []


def notes() -> None:
    """Show the notices of the last upload until they are dismissed or replaced."""
    left = _taken().notes
    if not left:
        return
    with st.container(key="gw_notes"):
        for note in left:
            frame.message(note.text, note.hint, note.tone)
        st.button("Dismiss", key="gw_dismiss", on_click=say, args=([],))


def say(told: list[Note]) -> None:
    """Show these notices, and no others."""
    _taken().notes = told


def heading(title: str, detail: str) -> None:
    st.html(f'<div class="gw-head"><h1>{escape(title)}</h1><span class="muted num">{escape(detail)}</span></div>')
