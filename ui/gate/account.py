"""Account on the Settings page: one's sessions and password, and for administrators the people who may sign in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.accounts.accounts import Accounts, Session
from ragcore.errors import InputError
from ragcore.types.json import Json, picked
from ui.gate.access import Access, access
from ui.gate.pages import device
from ui.server.guard import action, guarded, posts, text_in

BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    ("Windows", "Windows"),
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("Mac OS X", "a Mac"),
    ("CrOS", "a Chromebook"),
    ("Linux", "Linux"),
)


def routes(found: Access, accounts: Accounts, prefix: str = "") -> list[BaseRoute]:
    def linked(session: Session, email: str, code: str) -> Json:
        return _page(accounts, session) | {"link": f"{found.url}{prefix}/gw/auth/link/{code}", "about": email}

    @guarded
    def show(request: Request) -> Response:
        return JSONResponse(_page(accounts, _session(request)))

    @action(InputError)
    def password(request: Request, body: Json) -> Json:
        session = _session(request)
        given = (text_in(body, "old") or "", text_in(body, "new") or "", device(request).address)
        accounts.change_password(session, *given)
        return _page(accounts, session)

    @action(InputError)
    def end(request: Request, body: Json) -> Json:
        session, named = _session(request), text_in(body, "session")
        for own in accounts.sessions(session.user.user_id):
            if own.session_id == named:
                accounts.end(own, session.user.email, device(request).address)
        return _page(accounts, session)

    @action(InputError)
    def invite(request: Request, body: Json) -> Json:
        session = _administrator(request)
        email = text_in(body, "email") or ""
        return linked(session, email, accounts.invite(email, session.user.email, admin=body.get("admin") is True))

    @action(InputError)
    def reset(request: Request, body: Json) -> Json:
        session = _administrator(request)
        email = text_in(body, "email") or ""
        return linked(session, email, accounts.reset_link(email, session.user.email))

    @action(InputError)
    def block(request: Request, body: Json) -> Json:
        session = _administrator(request)
        accounts.block(text_in(body, "email") or "", session.user.email, body.get("blocked") is not False)
        return _page(accounts, session)

    at = f"{prefix}/gw/account"
    return [Route(at, show), *posts(at, password=password, end=end, invite=invite, reset=reset, block=block)]


def _session(request: Request) -> Session:
    session: Session = request.state.session
    return session


def _administrator(request: Request) -> Session:
    """Session of an administrator. Raises `InputError` for anybody else's."""
    session = _session(request)
    if not session.user.admin:
        raise InputError("Only administrators can do this.", hint="Ask one of them.")
    return session


def _page(accounts: Accounts, session: Session) -> Json:
    me, password = session.user, access().auth.mode == "local"
    shown: Json = {
        "me": {**picked(me, "name email admin"), "password": password},
        "sessions": [
            {
                "id": own.session_id,
                "device": in_words(own.agent),
                **picked(own, "address used"),
                "this": own.session_id == session.session_id,
            }
            for own in accounts.sessions(me.user_id)
        ],
    }
    if me.admin:
        shown["people"] = [picked(one, "name email admin blocked seen") for one in accounts.users()]
        shown["invited"] = [picked(link, "email admin expires") for link in accounts.invited()]
    return shown


def in_words(agent: str) -> str:
    """Browser and system of a user agent."""
    browser = next((name for sign, name in BROWSERS if sign in agent), "A browser")
    system = next((name for sign, name in SYSTEMS if sign in agent), "")
    return f"{browser} on {system}" if system else browser
