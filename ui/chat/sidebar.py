"""Chat sidebar: the documents in scope and the list of conversations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from ragcore.errors import GroundworkError
from ragcore.index.conversations import ConversationInfo
from ragcore.text.numbers import plural
from ragcore.types import EVERYTHING, Scope, Section
from ragcore.types.library import DocumentInfo
from ragcore.types.scope import KINDS, page_ranges
from ui import components
from ui.chat import payload
from ui.chat.current_conversation import (
    current,
    gone,
    lost_if_gone,
    open_conversation,
    stay,
)
from ui.chat.runs import StillWriting
from ui.library.samples import sample_id
from ui.server import component_events, visits
from ui.server.services import services

MANY = 9  # documents from which on they can be found by their titles


def draw(readable: Sequence[DocumentInfo], conversations: Sequence[ConversationInfo], searched: Scope) -> None:
    """Draw the sidebar; ``searched`` is the result of `asked`."""
    st.session_state["gw_here"] = current()
    if current() is not None:
        st.session_state.pop("gw_gone", None)
    with st.sidebar:
        st.button("New conversation", key="gw_new", icon=":material/add:", on_click=_begin)
        if readable:
            _draw_scope(readable, searched)
            _draw_filters(readable, searched)
        newest = max((info.updated for info in conversations), default=0)
        components.history(current(), f"{len(conversations)}-{newest}")


def arrived() -> None:
    """Handle component events, before anything else in a run."""
    heard = component_events.heard
    heard("history", "opened", open_conversation)
    heard("topic", "left", _leave)
    heard("scope", "ticked", _tick)
    heard("filters", "narrowed", _narrow)
    heard("filters", "mode", _search_by)
    heard("chips", "removed", _widen)
    heard("thread", "seen", _seen)
    heard("pane", "about", _about)
    heard("pane", "section", _limit)
    heard("thread", "first", _begun)
    heard("scope", "renamed", lambda _: None)  # this run shows the new title


def _begin() -> None:
    arrived()
    open_conversation(None)


def _draw_scope(readable: Sequence[DocumentInfo], searched: Scope) -> None:
    inside = [info.doc_id for info in readable if searched.holds(info.doc_id)]
    offered, found = len(readable), groups(readable)
    more = 28 * (offered > 2) + 36 * (offered >= MANY) + 36 * bool(found)  # the box for all of them, two fields
    st.html(f"<style>.st-key-gw_scope {{ --gw-documents: {offered}; --gw-more: {more}px }}</style>")
    with st.container(key="gw_scope"):
        components.scope(current(), payload.offered(readable), inside, found, MANY)


def groups(infos: Sequence[DocumentInfo]) -> dict[str, tuple[str, ...]]:
    """Documents of each folder (with its subfolders) and each tag, keyed by label: ``Trial/ (3)``, ``#10-K (5)``."""
    folders: dict[str, list[str]] = {}
    tags: dict[str, list[str]] = {}
    for info in infos:
        names = info.folder.split("/") if info.folder else []
        for depth in range(len(names)):
            folders.setdefault("/".join(names[: depth + 1]) + "/", []).append(info.doc_id)
        for tag in info.tags:
            tags.setdefault(f"#{tag}", []).append(info.doc_id)
    every = [*sorted(folders.items()), *sorted(tags.items(), key=lambda item: item[0].casefold())]
    return {f"{name} ({len(doc_ids)})": tuple(doc_ids) for name, doc_ids in every}


def _draw_filters(readable: Sequence[DocumentInfo], searched: Scope) -> None:
    """Draw the page and kind filters and the mode of search for the next questions."""
    st.html('<div class="gw-side-h">Pages, kinds and search</div>')
    longest = max((info.pages for info in readable if searched.holds(info.doc_id)), default=0)
    with st.container(key="gw_narrow"):
        components.filters(current(), searched, longest)


def chips(searched: Scope) -> None:
    """Draw the active filters beside the input, each with a button that removes it."""
    if searched.narrowed or "retrieve.mode" in services().visits.overrides(visits.current()):
        with st.container(key="gw_chips"):
            components.chips(current(), searched)


def _search_by(mode: str | None) -> None:
    services().visits.change(visits.current(), {"retrieve.mode": mode})


def _narrow(given: dict[str, Any]) -> None:
    stay()
    kinds = tuple(kind for kind in KINDS if kind in given["kinds"])
    try:
        pages = page_ranges(given["pages"], _longest() if given["asked"] else None)
    except GroundworkError as error:
        st.session_state["gw_wrong" if given["asked"] else "gw_trouble"] = (error.message, error.hint)
        return
    st.session_state.pop("gw_wrong", None)
    kinds = kinds if len(kinds) < len(KINDS) else ()
    _change(given["conversation"], lambda stored: replace(stored, pages=pages, kinds=kinds))


def _longest() -> int | None:
    """Highest page number in scope; None without documents."""
    readable = askable(services().engine.documents())
    searched = asked(readable)
    return max((info.pages for info in readable if searched.holds(info.doc_id)), default=None)


def _seen(given: dict[str, Any]) -> None:
    """Last visible turn when a question was sent, kept for `ask_sent` in a later run."""
    st.session_state["gw_seen"] = (given["conversation"], given["after"])


def _begun(given: dict[str, Any]) -> None:
    """Start a conversation with an offered question."""
    if current() is None:
        send(given["question"])


def _about(given: dict[str, Any]) -> None:
    """Start a question about selected words; recognised by its beginning, it searches only their document."""
    st.session_state["gw_about"] = (given["document"], given["text"])


def _limit(given: dict[str, Any]) -> None:
    """Limit the next questions to a section that was chosen in the page viewer."""
    stay()
    _change(current(), lambda stored: replace(stored, sections=(_section(given),)))


def _section(given: dict[str, Any]) -> Section:
    return Section(given["document"], given["start"], given["end"], tuple(given["path"]))


def _words_of(question: str) -> Scope | None:
    """Document of the words that a question begins with (`_about`)."""
    doc_id, begins = st.session_state.get("gw_about", ("", ""))
    if not doc_id or not question.startswith(begins):
        return None
    known = any(info.doc_id == doc_id for info in askable(services().engine.documents()))
    return Scope((doc_id,)) if known else None


def _widen(given: dict[str, Any]) -> None:
    if given["part"] == "mode":
        _search_by(None)
    elif given["part"] in ("sections", "pages", "kinds"):
        stay()
        _change(given["conversation"], lambda stored: replace(stored, **{given["part"]: ()}))


def _tick(given: dict[str, Any]) -> None:
    stay()
    _put(given["conversation"], given["inside"])


def _put(conversation_id: str | None, ticked: dict[str, bool]) -> None:
    """Add documents to, or remove them from, the scope of a conversation or of the next new one (None); other documents
    stay as stored, whatever the tab showed, and all are searched whole. A selection is a fixed list: only "all" and
    "all but the sample" include later documents."""
    infos = services().engine.documents()

    def changed(stored: Scope) -> Scope:
        stored = replace(stored, sections=())
        offered = {info.doc_id for info in askable(infos)}
        before = offered if stored.doc_ids is None else {info.doc_id for info in infos}
        chosen = tuple(
            info.doc_id
            for info in infos
            if ticked.get(info.doc_id, info.doc_id in before and stored.holds(info.doc_id))
        )
        left_out = offered.difference(chosen)
        if left_out <= {sample_id()}:
            wanted = replace(stored, doc_ids=None, without=tuple(left_out))
        else:
            wanted = replace(stored, doc_ids=chosen, without=())
        _choose(wanted)
        return wanted

    _change(conversation_id, changed)


def _change(conversation_id: str | None, changed: Callable[[Scope], Scope]) -> None:
    """Change the stored scope for a conversation's next questions, or for the next new conversation (None)."""
    if conversation_id is None:
        if current() is None:
            st.session_state["gw_next"] = changed(_next())
        return
    engine = services().engine
    with lost_if_gone(conversation_id):
        engine.conversations.set_scope(conversation_id, changed(engine.conversations.scope(conversation_id)))


def _next() -> Scope:
    """Scope of the next new conversation: that of this tab, else the documents last chosen in this visit that are still
    in the library, else all."""
    kept: Scope | None = st.session_state.get("gw_next")
    if kept is None:
        kept, _ = services().visits.chosen(visits.current()) or (EVERYTHING, False)
        if kept.doc_ids is not None:
            known = {info.doc_id for info in services().engine.documents()}
            kept = replace(kept, doc_ids=tuple(doc_id for doc_id in kept.doc_ids if doc_id in known) or None)
    return kept


def _choose(scope: Scope) -> None:
    """Keep the documents of ``scope`` for the next conversations of this visit; its pages, kinds and sections are its
    conversation's."""
    beside = _is_beside(askable(services().engine.documents()))
    services().visits.choose(visits.current(), Scope(scope.doc_ids, without=scope.without), beside)
    if (begun := st.session_state.get("gw_next")) is not None:
        st.session_state["gw_next"] = replace(begun, doc_ids=scope.doc_ids, without=scope.without)


def _is_beside(readable: Sequence[DocumentInfo]) -> bool:
    """Whether the sample can be asked beside documents of the user's own."""
    ids = {info.doc_id for info in readable}
    return sample_id() in ids and len(ids) > 1


def _without_sample(readable: Sequence[DocumentInfo]) -> Scope:
    """`_next` without the sample once one of the user's own documents can be asked, until the sample is ticked again or
    either becomes unavailable."""
    ids, beside = {info.doc_id for info in readable}, _is_beside(readable)
    _, before = services().visits.chosen(visits.current()) or (EVERYTHING, False)
    if beside != st.session_state.get("gw_beside", before):
        st.session_state["gw_beside"] = beside
        scope = _next()
        chosen = scope.doc_ids if not beside and any(map(scope.holds, ids)) else None
        st.session_state["gw_next"] = replace(scope, doc_ids=chosen, without=(sample_id(),) if beside else ())
    return _next()


def of_sample(conversations: Sequence[ConversationInfo], infos: Sequence[DocumentInfo]) -> bool:
    """Whether the open conversation began when the library held only the sample."""
    began = next((info.created for info in conversations if info.conversation_id == current()), None)
    there = {info.doc_id for info in infos if began is not None and info.created < began}
    return there == {sample_id()}


def asked(readable: Sequence[DocumentInfo]) -> Scope:
    """Scope of the next question, read afresh each time because another tab may have changed it; a new conversation is
    opened if that tab deleted the current one."""
    conversation_id = current()
    if conversation_id is not None:
        with lost_if_gone(conversation_id):
            return services().engine.conversations.scope(conversation_id)
    return _without_sample(readable)


@dataclass
class _Sent:
    """Question on its way. Streamlit can end a run, and a callback, at any access of the session's state; the next run
    goes on from here."""

    question: str
    below: str | None  # the conversation that it was typed in; None for a new one
    asked_in: str | None = None  # its conversation, once it is asked
    refused: tuple[str, ...] | None = None  # what is said of it, where it cannot be; () where that is said elsewhere
    about: bool = False  # it begins with words of the page that are its document's (`_words_of`)
    removed: tuple[str, ...] = ()  # what is said of documents that left its scope
    over: bool = False


def send(question: str) -> None:
    """Keep a question for `ask_sent`."""
    st.session_state["gw_sent"] = _Sent(question, current())


def sent() -> str | None:
    """Question that was sent since the last run that came to its `end`."""
    kept = _kept()
    return kept and kept.question


def _kept() -> _Sent | None:
    kept: _Sent | None = st.session_state.get("gw_sent")
    return kept


def end() -> None:
    """End a run that has drawn everything: what it said is not said again."""
    for name in ("gw_sent", "gw_trouble", "gw_unasked"):
        st.session_state.pop(name, None)


def ask_sent() -> None:
    """Store the question that was sent in the current or a new conversation and start its answer. An error is kept for
    `trouble`, and the question for `unasked`."""
    kept = _kept()
    if kept is None or kept.over:
        return
    if kept.asked_in is None and kept.refused is None:
        if current() != kept.below:
            open_conversation(kept.below)  # it is asked where it was typed, whatever was opened since
        _ask(kept)
    if kept.removed:
        st.session_state["gw_trouble"] = kept.removed
    done = ["gw_wrong", "gw_seen"]
    if kept.refused is not None:
        if kept.refused:
            st.session_state["gw_trouble"] = kept.refused
            st.session_state.pop("gw_gone", None)
        st.session_state["gw_unasked"] = kept.question
    elif kept.about:
        done.append("gw_about")
    begun = kept.refused is None and current() is None
    if begun:
        done += ["gw_next", "gw_beside"]  # pages and kinds are its conversation's; the documents are kept (`_choose`)
    for name in done:
        st.session_state.pop(name, None)
    if begun:
        open_conversation(kept.asked_in)
    kept.over = True


def _ask(kept: _Sent) -> None:
    """Ask a question, or refuse it; the session's state is not touched between the one and its note in ``kept``. What
    fails otherwise is refused, too: the error is told, and the question given back."""
    here = services()
    if wrong := st.session_state.get("gw_wrong"):
        kept.refused = wrong
        return
    below, last = st.session_state.get("gw_seen", (None, None))
    conversation_id = current()
    infos = here.engine.documents()
    chosen = asked(askable(infos))
    if current() != conversation_id:
        kept.refused = ()
        return  # deleted in another tab, which is said
    empty = bool(infos) and not any(chosen.holds(info.doc_id) for info in infos)
    words = _words_of(kept.question)
    kept.about = words is not None
    answering = here.visits.engine(visits.current())
    removed = _forget_removed(conversation_id)
    if removed:
        has = "has" if removed == 1 else "have"
        left = "Tick another in the sidebar." if empty else "The others in scope are searched."
        kept.removed = (f"{plural(removed, 'document')} in scope {has} been removed from the library.", left, "weak")
    if empty:
        kept.refused = () if removed else ("No document is in scope.", "Tick at least one in the sidebar.")
        return
    after = last if conversation_id is not None and below == conversation_id else None
    kept.refused = ()
    try:
        asked_in = conversation_id or here.engine.conversations.new(chosen)
        here.answers.ask(asked_in, kept.question, words or chosen, after=after, engine=answering)
        kept.asked_in, kept.refused = asked_in, None
    except GroundworkError as error:
        tone = ("weak gw-while",) if isinstance(error, StillWriting) else ()  # taken away when that is over
        kept.refused = (error.message, error.hint, *tone)


def unasked() -> str | None:
    """The last question if it was refused, until the `end` of a run, so that it stays in the box. Given twice, it ends
    in a blank the second time: the browser keeps no text that is the same as before."""
    found: str | None = st.session_state.get("gw_unasked")
    if found is not None:
        found = found.strip() + " " * (found.strip() == st.session_state.get("gw_given_back"))
        st.session_state["gw_given_back"] = found
    return found


def _forget_removed(conversation_id: str | None) -> int:
    """Remove deleted documents from a conversation's scope, and return how many. Where they held all of its sections,
    nothing is left in scope until it is chosen anew."""
    if conversation_id is None:
        return 0
    engine = services().engine
    known = {info.doc_id for info in engine.documents()}
    with lost_if_gone(conversation_id):
        stored = engine.conversations.scope(conversation_id)
        lost = {*(stored.doc_ids or ()), *(section.doc_id for section in stored.sections)} - known
        if lost:
            doc_ids = stored.doc_ids and tuple(doc_id for doc_id in stored.doc_ids if doc_id in known)
            sections = tuple(section for section in stored.sections if section.doc_id in known)
            if stored.sections and not sections:
                doc_ids = ()
            engine.conversations.set_scope(conversation_id, replace(stored, doc_ids=doc_ids, sections=sections))
        return len(lost)
    return 0


def askable(infos: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """Documents that can be asked, some perhaps only in part."""
    return [info for info in infos if info.askable]


def ask_only(doc_ids: Collection[str], readable: Sequence[DocumentInfo]) -> None:
    """Limit the next new conversation to these documents."""
    open_conversation(None)
    _without_sample(readable)  # the sample may be what is asked for
    st.session_state["gw_next"] = Scope(tuple(doc_ids))
    _choose(_next())


def ask_section(given: dict[str, Any], readable: Sequence[DocumentInfo]) -> None:
    """Limit the next new conversation to a section that was chosen in the page viewer."""
    open_conversation(None)
    st.session_state["gw_next"] = replace(_without_sample(readable), sections=(_section(given),))


def head(info: ConversationInfo | None) -> None:
    """Draw the title row of a conversation: export, rename, delete, and its cost."""
    if info is None:
        components.topic(None, "")
    else:
        components.topic(info.conversation_id, info.title, own=info.own, shared=info.shared)


def _leave(left: dict[str, Any]) -> None:
    if left["conversation"] != current():
        return
    if left["gone"]:
        gone()
    else:
        open_conversation(None)
