"""Frame of every page: navigation, the pill that names the answering model, and the error card."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from ragcore import telemetry
from ragcore.accounts.accounts import Accounts
from ragcore.engine import Engine
from ragcore.errors import GroundworkError
from ui.chat.payload import dollars, model_name
from ui.gate.access import access, person
from ui.server import place, visits
from ui.server.services import close, libraries, services, whole
from ui.server.warming import warming
from ui.settings import payload as settings_data

ASSETS = Path(__file__).resolve().parents[1] / "assets"
ABOUT = """**Groundwork** answers questions about documents and shows, on the page, the exact words each claim rests on.

Free software under the GNU Affero General Public License, version 3 or later. Your documents stay on the machine
it runs on. Typefaces Inter and Source Serif 4 (SIL OFL 1.1), icons Material Symbols (Apache-2.0)."""

OFFLINE_MEANS = "Offline: answers are quotes from your documents; nothing leaves this machine"
CLAUDE_MEANS = "Writes the answers; your question and the passages found are sent to this model"


@dataclass(frozen=True)
class Page:
    path: str
    file: str
    title: str
    icon: str


PAGES = (
    Page("", "pages/chat.py", "Chat", ":material/forum:"),
    Page("library", "pages/library.py", "Library", ":material/folder_open:"),
    Page("reports", "pages/reports.py", "Reports", ":material/article:"),
    Page("grid", "pages/grid.py", "Grid", ":material/table:"),
    Page("check", "pages/check.py", "Check", ":material/fact_check:"),
    Page("explore", "pages/explore.py", "Explore", ":material/scatter_plot:"),
    Page("evaluate", "pages/evaluate.py", "Evaluate", ":material/speed:"),
    Page("settings", "pages/settings.py", "Settings", ":material/settings:"),
)


def prefix() -> str:
    """URL path below which the app is served ("" for the root)."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Start the background work with the server, and stop it with it."""
    try:
        whole()
    except GroundworkError as error:
        # The server stays up, so that every session can say it too.
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
    accounts = access().accounts
    if accounts is not None and not accounts.has_admin():
        print(_how_to_begin(accounts), flush=True)
    yield
    close()
    telemetry.end()


def _how_to_begin(accounts: Accounts) -> str:
    """What makes the first administrator."""
    if access().auth.mode == "local":
        link = f"{access().url}{prefix()}/gw/auth/link/{accounts.first_link()}"
        return f"\nNobody can sign in yet. Open this link to make the first account; it works once:\n{link}\n"
    return (
        "\nThere is no administrator yet. Run `groundwork admin invite EMAIL --admin`, then sign in with that email.\n"
    )


def run() -> None:
    """Script of every session. One that another person's browser took over begins anew."""
    if access().accounts is not None and st.session_state.setdefault("gw_whose", visits.current()) != visits.current():
        st.session_state.clear()
    st.set_page_config(
        page_title="Groundwork", page_icon=str(ASSETS / "mark.svg"), layout="wide", menu_items={"About": ABOUT}
    )
    pages = [
        st.Page(page.file, title=page.title, icon=page.icon, url_path=page.path, default=not page.path)
        for page in PAGES
    ]
    chosen = st.navigation(pages, position="top")
    st.logo(str(ASSETS / "logo.svg"), icon_image=str(ASSETS / "mark.svg"), link=None)
    try:
        who = _who()
        if who:
            st.html(who)
        _switch(chosen.url_path)
        st.html(_pill(services().visits.engine(visits.current()), visits.current()))
        chosen.run()
    except GroundworkError as error:
        with st.container(key="gw_page"):
            message(error.message, error.hint)
    finally:
        warming.drawn()


def _pill(engine: Engine, visit: str | None) -> str:
    """Pill that names the answering model and what that means, with total spending."""
    writer, spent = engine.models.writer_name, engine.spending()
    means, dot = (OFFLINE_MEANS, "dot off") if engine.models.capabilities.extractive else (CLAUDE_MEANS, "dot")
    name = model_name(writer)
    if settings_data.needs_key(services(), engine, visit or ""):
        means, dot, name = (
            "Enter a key in Settings to ask questions",
            "dot off",
            f"{name} needs a key",
        )
    said = f"{means}. Spent so far: {dollars(spent.usd)}" if spent.calls else means
    return f'<span class="gw-pill" title="{escape(said)}"><span class="{dot}"></span>{escape(name)}</span>'


def _switch(page: str) -> None:
    """Switcher of libraries, where people sign in."""
    user = person()
    if user is None:
        return
    from ui import components

    here = place.here(user)
    title = libraries().grants.name(here) if libraries().role(user.user_id, here) else ""
    with st.container(key="gw_switch"):
        components.switcher(title, page)


def _who() -> str:
    """Who is signed in, and signing out; "" where nobody signs in. Raises `InputError` if the session has ended."""
    user = person()
    if user is None:
        return ""
    name, email = escape(user.name), escape(user.email)
    initials = "".join(word[0] for word in user.name.split()[:2]).upper()
    form = (
        f'<form method="post" action="{prefix()}/gw/auth/sign-out"><button class="gw-btn sm">Sign out</button></form>'
    )
    summary = f'<summary title="{email}" aria-label="{name}: account">{escape(initials)}</summary>'
    return f'<details class="gw-who">{summary}<div><b>{name}</b><small>{email}</small>{form}</div></details>'


def message(text: str, hint: str, tone: str = "bad") -> None:
    """Card with what happened and what to do."""
    icon = "error" if tone == "bad" else "warning"
    st.html(
        f'<div class="gw-msg {tone}" role="alert"><span class="gw-i gw-i-{icon}" aria-hidden="true"></span>'
        f"<div><b>{_prose(text)}</b><p>{_prose(hint)}</p></div></div>"
    )


def _prose(text: str) -> str:
    """``text`` as HTML, with backticks as code; ``prose`` in components/shared/dom.js is its twin."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
