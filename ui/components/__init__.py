"""Streamlit components (v2), mounted directly in the page rather than in an iframe.

Each is a folder with ``index.js`` (which exports ``mount``) and a style sheet linked from the page's head
(`ui.server.web`). The script passes only identifiers (``base``, ``token``, ids, a revision); the component fetches its
data from the app's routes, so that a rerun stays small and a live answer needs none.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import streamlit as st

from ragcore.types import Scope
from ragcore.types.grid import MAX_SECTIONS
from ragcore.types.scope import KINDS, kinds_in_words, pages_in_words, pages_typed, sections_in_words
from ui.chat.scope_words import pages_in_brief
from ui.explore.plotly_script import plotly_path
from ui.gate.access import access, person
from ui.library.samples import sample_id
from ui.server import component_events, frame, place, visits, web
from ui.server.services import services, signer
from ui.server.tokens import LIFETIME_SECONDS
from ui.settings.presets import MODES, PUBLISHED
from ui.viewer.render import TILE, TILE_WIDTHS, WIDTHS

# The wrapper's URL is a blob, from which no relative import can start: it loads the real module by its address. Calls
# with newer data do not wait for those before, and while the module is being fetched they can end in any order; only
# the newest may be shown. Streamlit runs the clean-up of a call that newer data overtook as soon as that call ends,
# though its element stays: closed is only what has left the page. What a component tells the script is a state with a
# number, for which `ui.server.component_events` looks in every run: Streamlit drops a trigger whose rerun another one
# overtakes. A question is such a trigger, so nothing is told right after it (`shared/asking.js`). Of a component that
# failed Streamlit says so for good, and a document asks only once for a module, so where one cannot be fetched the page
# waits for the server and is then loaded again; one that is fetched and does not work is an error.
LOADER = """
const calls = new WeakMap();
const ends = new WeakMap();
const RELOADED = "gw.reloaded";
const [PAUSE, SOON, AFTER] = [1000, 10000, 500]; // milliseconds
const later = (window.gwLater ??= new Set()); // what waits, told before the next question at the latest
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
    const told = { number: last, session: data.session, value };
    const wait = (window.gwAsked ?? -AFTER) + AFTER - performance.now();
    const now = () => later.delete(now) && setStateValue(name, told);
    later.add(now);
    if (wait > 0) setTimeout(now, wait);
    else now();
    return last;
  };
  if (call === calls.get(parentElement)) ends.set(parentElement, mount({ parentElement, data, tell }));
  return () => parentElement.isConnected || ends.get(parentElement)?.();
}
"""


NAMES = """
    thread topic history scope filters chips pane library reader drop settings checks check grids grid reports report
    evidence explore evaluate switcher
"""
_COMPONENTS = {
    name: st.components.v2.component(
        f"groundwork_{name}", html=f'<div class="gw-{name}"></div>', js=LOADER, isolate_styles=False
    )
    for name in NAMES.split()
}


def _show(component: str, /, **data: Any) -> None:
    """Draw a component with ``data``, and with what each is given."""
    _COMPONENTS[component](key=component, data=_data(component) | data)


def _data(name: str) -> dict[str, Any]:
    token, made = st.session_state.get("gw_token", ("", 0.0))
    if time.time() - made > LIFETIME_SECONDS / 2:
        token = signer().token(visits.current())
        st.session_state["gw_token"] = (token, time.time())
    prefix = frame.prefix()
    return {
        "module": f"{prefix}{web.static_root()}/components/{name}/index.js",
        "base": f"{place.inside(prefix)}/gw",
        "root": f"{prefix}/gw",
        "library": place.address({}).get("l", ""),
        "token": token,
        "session": component_events.session(),
        "widths": list(WIDTHS),
        "person": user.user_id if (user := person()) else "",
    }


def switcher(title: str, page: str) -> None:
    """Name of the library, with the others behind it; it also names the library in the address of each ``page``. Emits
    nothing."""
    _show("switcher", title=title, page=page)


def thread(conversation_id: str | None, revision: str, scope: Scope, name: bool, *, reads: bool = False) -> None:
    """Conversation view, or the start screen of a new one; somebody who only ``reads`` it changes nothing.
    ``revision`` changes when there is new data to fetch, ``scope`` is searched by a question that is asked again, and
    ``name`` asks the browser to put the conversation into the URL. Emits ``seen`` when a question is sent below it:
    ``{"conversation": "0123…", "after": "4567…"}``, the last visible turn; and ``first``: the first question of a new
    conversation."""
    _show("thread", conversation=conversation_id, revision=revision, name=name, reads=reads, scope=asdict(scope))


def topic(conversation_id: str | None, title: str, *, own: bool = True, shared: bool = False) -> None:
    """Title row of a conversation, of one's own or not; where people sign in, it can be ``shared``. Emits ``left`` when
    the conversation was deleted: ``{"conversation": "0123…", "gone": False}``, with ``gone`` true if it was deleted
    elsewhere."""
    shares = access().accounts is not None
    _show("topic", conversation=conversation_id, title=title, own=own, shared=shared, shares=shares)


def history(conversation_id: str | None, revision: str) -> None:
    """Searchable list of conversations; ``revision`` changes when there is new data to fetch. Emits ``opened``: the id
    of the chosen conversation."""
    _show("history", conversation=conversation_id, revision=revision)


def scope(
    conversation_id: str | None,
    documents: list[dict[str, Any]],
    inside: list[str],
    groups: dict[str, tuple[str, ...]],
    many: int,
) -> None:
    """Checkbox list of ``documents`` (id and title), ticked for those ``inside``; ``groups`` holds the ids of each tag
    or folder by name; with ``many`` or more documents a title search appears. Emits ``ticked``: ``{"conversation":
    "0123…", "inside": {"4567…": False}}``, the changes since the last event; and ``renamed``: the id of a renamed
    document."""
    heard = component_events.last_received("scope", "ticked")
    shown = {"documents": documents, "inside": inside, "groups": groups, "many": many, "heard": heard}
    _show("scope", conversation=conversation_id, **shown)


def filters(conversation_id: str | None, scope: Scope, longest: int) -> None:
    """Page and kind fields for ``scope``, and the mode of search. ``longest`` is the highest page number, 0 for none.
    Emits ``narrowed`` for valid input: ``{"conversation": "0123…", "pages": "3-7, 12", "kinds": ["table"], "asked":
    False}``, with ``asked`` if a question is on its way and pages come as typed, valid or not; and ``mode``."""
    shown = {"pages": pages_typed(scope), "kinds": list(scope.kinds), "longest": longest, "known": KINDS}
    mode = services().visits.engine(visits.current()).settings.retrieve.mode
    shown |= {"mode": mode, "modes": MODES | {one: name for one, name in PUBLISHED.items() if one == mode}}
    _show("filters", conversation=conversation_id, **shown)


def chips(conversation_id: str | None, scope: Scope) -> None:
    """Active sections, pages and kinds of ``scope``, and the mode of search if this visit has chosen one, each with a
    button. Emits ``removed``: ``part``, the pressed filter, and ``conversation``."""
    sections = sections_in_words(scope, services().engine.store.titles())
    shown = {"sections": sections, "pages": pages_in_brief(scope), "kinds": kinds_in_words(scope)}
    shown["mode"] = (MODES | PUBLISHED).get(services().visits.overrides(visits.current()).get("retrieve.mode", ""), "")
    whole = shown | {"pages": pages_in_words(scope), "mode": f"{shown['mode']}, for this visit"}
    _show("chips", conversation=conversation_id, shown=shown, whole=whole)


def pane(documents: list[dict[str, Any]], scope: list[str] | None, *, asks: bool = True) -> None:
    """Page viewer over ``documents`` (id and title); it shows the first one in ``scope`` (ids; None: all) until a
    citation is opened. Emits ``about`` when a question is to be asked about selected words: ``{"document": "0123…",
    "text": "About “…”"}``, the document and the beginning of the question; and, if the documents can be asked
    (``asks``), ``section``: the one that the next questions are limited to (``document``, ``start``, ``end``,
    ``path``)."""
    tiles = {"side": TILE, "widths": list(TILE_WIDTHS)}
    _show("pane", documents=documents, scope=scope, tiles=tiles, asks=asks)


def reader(document: dict[str, object]) -> None:
    """Title row of an open document: its ``id``, ``title``, and whether it ``asks``: can be asked about. Emits ``left``
    to return to the library, and ``ask``: the id of the document."""
    _show("reader", document=document)


def library(revision: int) -> None:
    """Table of documents. Emits ``ask``: ids of documents to ask about; ``section``: one to ask about, as the
    pane does; ``read``: the document and page (``doc``, ``page``) to open; and ``settings``: the section of the
    Settings page to open."""
    _show("library", revision=revision)


def evaluate() -> None:
    """Runs over sets of questions, side by side. Reads and writes the page's address. Emits nothing."""
    _show("evaluate")


def settings() -> None:
    """Settings of this visit. Requests a rerun after a change, which redraws the header."""
    paths = [f"{frame.prefix()}/{page.path}" for page in frame.PAGES]
    team = access().accounts is not None
    manages = team and services().may("manager")
    _show("settings", paths=paths, account=team, manages=manages)


def drop() -> None:
    """Drop target beside the uploader: accepts folders, and files dropped anywhere on the page."""
    _show("drop")


def explore(
    documents: list[dict[str, Any]], conversation: str, asked: list[dict[str, str]], examples: list[str]
) -> None:
    """Explore view; ``documents`` (id and title) can be searched. If the URL names no question it starts with the first
    one ``asked`` (conversation, turn and question) in the open ``conversation`` ("" for none), else it offers them all,
    or the ``examples``."""
    about = {"documents": documents, "conversation": conversation, "asked": asked, "examples": examples}
    _show("explore", **about, plotly=f"{frame.prefix()}{plotly_path()[0]}")


def checks(documents: list[dict[str, Any]]) -> None:
    """Form that starts a check against ``documents`` (id, title, pages), and the list of checks. Emits ``opened``: the
    id of a check."""
    _show("checks", documents=documents, sample=sample_id())


def check(check_id: str, documents: list[dict[str, Any]]) -> None:
    """Draft with its marks, to be checked again against other ``documents``. Emits ``left`` to return to the list, with
    ``gone`` if it was deleted elsewhere."""
    _show("check", check=check_id, documents=documents)


def grids(documents: list[dict[str, Any]]) -> None:
    """Form that starts a grid over ``documents`` (id, title, pages), and the list of grids. Emits ``opened``: the id of
    a grid."""
    _show("grids", documents=documents, most=MAX_SECTIONS, sample=sample_id())


def grid(grid_id: str, documents: list[dict[str, Any]]) -> None:
    """Grid with its cells; its rows are chosen among ``documents`` and their sections. Emits ``left`` to return to the
    list, with ``gone`` if it was deleted elsewhere."""
    _show("grid", grid=grid_id, documents=documents, most=MAX_SECTIONS)


def reports() -> None:
    """List of reports and templates. Emits ``opened``: the id of a report."""
    _show("reports")


def report(report_id: str) -> None:
    """Report with outline and sections. Emits ``left`` to return to the list, also after deletion."""
    _show("report", report=report_id)


def evidence() -> None:
    """Container above the page: a report lists the sources of its open section there, a grid shows its open cell."""
    _show("evidence")
