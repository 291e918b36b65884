"""Streamlit components (v2), mounted directly in the page rather than in an iframe.

Each is a folder with ``index.js`` (which exports ``mount``) and a style sheet linked from the page's head
(`ui.server.web`). The script passes only identifiers (``base``, ``token``, ids, a revision); the component fetches its
data from the app's routes, so that a rerun stays small and a live answer needs none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import streamlit as st

from ragcore.types import Scope
from ragcore.types.scope import KINDS, kinds_in_words, pages_in_words, pages_typed
from ui.chat.scope_words import pages_in_brief
from ui.explore.plotly_script import plotly_path
from ui.server import component_events, frame, visits, web
from ui.server.services import services
from ui.server.tokens import LIFETIME_SECONDS
from ui.viewer.render import TILE, TILE_WIDTHS, WIDTHS

# The wrapper's URL is a blob, from which no relative import can start: it loads the real module by its address. Calls
# with newer data do not wait for those before, and while the module is being fetched they can end in any order; only
# the newest may be shown, and an older one must not tidy up behind it. What a component tells the script is a state
# with a number, for which `ui.server.component_events` looks in every run: Streamlit drops a trigger whose rerun
# another one overtakes. Of a component that failed Streamlit says so for good, and a document asks only once for a
# module, so where one cannot be fetched the page waits for the server and is then loaded again; one that is fetched
# and does not work is an error.
LOADER = """
const calls = new WeakMap();
const RELOADED = "gw.reloaded";
const [PAUSE, SOON] = [1000, 10000]; // milliseconds
let last = 0;

const answers = (address) => fetch(address, { cache: "no-store" }).then((found) => found.ok, () => false);

async function load(address, waiting) {
  try {
    return await import(address);
  } catch (error) {
    const fetched = !(error instanceof TypeError) || !/\\bmodule\\b/i.test(error.message);
    if (fetched) throw error;
    waiting();
    let away = false;
    for (; !(await answers(address)); away = true) await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (!away && Date.now() - Number(sessionStorage.getItem(RELOADED)) < SOON) throw error; // that did not help
    sessionStorage.setItem(RELOADED, String(Date.now()));
    location.reload();
    return new Promise(() => {});
  }
}

function said(parentElement) {
  if (parentElement.querySelector(":scope > .gw-unreached")) return;
  const words = document.createElement("p");
  words.className = "gw-unreached";
  words.role = "status";
  words.textContent = "Groundwork does not answer. This page opens by itself as soon as it does.";
  parentElement.append(words);
}

export default async function (component) {
  const { parentElement, data, setStateValue } = component;
  const call = (calls.get(parentElement) ?? 0) + 1;
  calls.set(parentElement, call);
  const { mount } = await load(new URL(data.module, location.origin).href, () => said(parentElement));
  const tell = (name, value) => {
    last = Math.max(last + 1, Date.now());
    setStateValue(name, { number: last, session: data.session, value });
    return last;
  };
  return call === calls.get(parentElement) ? mount({ parentElement, data, tell }) : () => {};
}
"""


def _component(name: str) -> Callable[..., Any]:
    return st.components.v2.component(
        f"groundwork_{name}", html=f'<div class="gw-{name}"></div>', js=LOADER, isolate_styles=False
    )


_thread = _component("thread")
_topic = _component("topic")
_history = _component("history")
_scope = _component("scope")
_filters = _component("filters")
_chips = _component("chips")
_pane = _component("pane")
_table = _component("library")
_reader = _component("reader")
_drop = _component("drop")
_settings = _component("settings")
_reports = _component("reports")
_report = _component("report")
_evidence = _component("evidence")
_explore = _component("explore")


def _data(name: str) -> dict[str, Any]:
    token, made = st.session_state.get("gw_token", ("", 0.0))
    if time.time() - made > LIFETIME_SECONDS / 2:
        token = services().signer.token(visits.current())
        st.session_state["gw_token"] = (token, time.time())
    base = frame.prefix()
    return {
        "module": f"{base}{web.static_root()}/components/{name}/index.js",
        "base": f"{base}/gw",
        "token": token,
        "session": component_events.session(),
        "widths": list(WIDTHS),
    }


def thread(conversation_id: str | None, revision: str, scope: Scope, name: bool) -> None:
    """The conversation, or what a new one begins with; ``revision`` changes when there is something new to fetch,
    ``scope`` is what a question that is asked again searches, and ``name`` asks for the conversation to be put into
    the address. It tells ``seen`` when a question is sent below it:
    ``{"conversation": "0123…", "after": "4567…"}``, the last turn that was to be seen; and ``first``: the question that
    a new conversation is begun with."""
    shown = {"conversation": conversation_id, "revision": revision, "name": name}
    _thread(key="thread", data=_data("thread") | shown | {"scope": asdict(scope)})


def topic(conversation_id: str | None, title: str) -> None:
    """The title row of a conversation. It tells ``left`` where the conversation was deleted:
    ``{"conversation": "0123…", "gone": False}``, ``gone`` where that was not done here."""
    data = _data("topic") | {"conversation": conversation_id, "title": title}
    _topic(key="topic", data=data)


def history(conversation_id: str | None, revision: str) -> None:
    """The list of conversations with its search; ``revision`` changes when there is something new to fetch. It
    tells ``opened``: the id of the conversation that was chosen."""
    data = _data("history") | {"conversation": conversation_id, "revision": revision}
    _history(key="history", data=data)


def scope(
    conversation_id: str | None,
    documents: list[dict[str, str]],
    inside: list[str],
    groups: dict[str, tuple[str, ...]],
    many: int,
) -> None:
    """The ``documents`` (id and title) with a box each, ticked for those ``inside``; ``groups`` have ids of a tag or
    folder by its name; where there are ``many`` or more, they can be found by their titles. It tells ``ticked``:
    ``{"conversation": "0123…", "inside": {"4567…": False}}``, what became of documents since the script last heard of
    it; and ``renamed``: the id of a document that was given another title."""
    shown = {
        "documents": documents,
        "inside": inside,
        "groups": groups,
        "many": many,
        "heard": component_events.last_received("scope", "ticked"),
    }
    _scope(key="scope", data=_data("scope") | {"conversation": conversation_id} | shown)


def filters(conversation_id: str | None, scope: Scope, longest: int) -> None:
    """Fields for the pages and kinds of ``scope``. ``longest`` is the highest page that there is, 0 for none. When what
    is given is good, it tells ``narrowed``:
    ``{"conversation": "0123…", "pages": "3-7, 12", "kinds": ["table"], "asked": False}``, ``asked`` where a question is
    on its way, for which pages come as they were typed, good or not."""
    shown = {"pages": pages_typed(scope), "kinds": list(scope.kinds), "longest": longest, "known": KINDS}
    _filters(key="filters", data=_data("filters") | {"conversation": conversation_id} | shown)


def chips(conversation_id: str | None, scope: Scope) -> None:
    """The pages and kinds of ``scope`` with a button each; it tells ``removed``: ``part``, which one was pressed, and
    ``conversation``."""
    shown = {"pages": pages_in_brief(scope), "kinds": kinds_in_words(scope)}
    whole = {"pages": pages_in_words(scope), "kinds": shown["kinds"]}
    data = _data("chips") | {"conversation": conversation_id, "shown": shown, "whole": whole}
    _chips(key="chips", data=data)


def pane(documents: list[dict[str, str]], scope: list[str] | None) -> None:
    """The page viewer. ``documents`` (id and title) may be looked at; the first one in ``scope`` (ids; None: all) is
    shown until there is a citation to show. It tells ``about`` when words of a page are to be asked about:
    ``{"document": "0123…", "text": "About “…”"}``, the document and how the question begins."""
    tiles = {"side": TILE, "widths": list(TILE_WIDTHS)}
    data = _data("pane") | {"documents": documents, "scope": scope, "tiles": tiles}
    _pane(key="pane", data=data)


def reader(document: dict[str, object]) -> None:
    """The title row of a document that is read: its ``id`` and ``title``, and whether it ``asks``: can be asked
    about. It tells ``left`` when the library is wanted, and ``ask``: the id of the document."""
    _reader(key="reader", data=_data("reader") | {"document": document})


def library(revision: int) -> None:
    """The table of documents. It tells ``ask``: the ids of documents to ask about; ``read``: the document and page
    (``doc``, ``page``) to read; and ``settings``: the part of the Settings page that is wanted."""
    data = _data("library") | {"revision": revision}
    _table(key="library", data=data)


def settings() -> None:
    """The settings of this visit. It asks for a rerun when one was changed, which draws the header anew."""
    paths = [f"{frame.prefix()}/{page.path}" for page in frame.PAGES]
    _settings(key="settings", data=_data("settings") | {"paths": paths})


def drop() -> None:
    """Beside the uploader: takes folders for it, and files dropped anywhere on the page."""
    _drop(key="drop", data=_data("drop"))


def explore(
    documents: list[dict[str, str]], conversation: str, asked: list[dict[str, str]], examples: list[str]
) -> None:
    """Explore: ``documents`` (id and title) can be searched. Where the address names no question it begins with the
    first that was ``asked`` (conversation, turn and question) if that is of the open ``conversation`` ("" for none),
    else offers them all, or the ``examples``."""
    about = {"documents": documents, "conversation": conversation, "asked": asked, "examples": examples}
    script = f"{frame.prefix()}{plotly_path()[0]}"
    _explore(key="explore", data=_data("explore") | about | {"plotly": script})


def reports() -> None:
    """The list of reports and the templates to begin one from. It tells ``opened``: the id of a report."""
    _reports(key="reports", data=_data("reports"))


def report(report_id: str) -> None:
    """A report: outline and sections. It tells ``left`` when its list is wanted, or it was deleted."""
    _report(key="report", data=_data("report") | {"report": report_id})


def evidence() -> None:
    """Where a report's component lists what the section that is open cites."""
    _evidence(key="evidence", data=_data("evidence"))
