"""HTTP routes of the switcher and of the members of a library."""

from __future__ import annotations

from typing import get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.accounts.accounts import User
from ragcore.accounts.libraries import EVERYONE, ROLES, LibraryInfo, Role
from ragcore.errors import InputError
from ragcore.types.json import picked
from ui.gate.access import asker
from ui.server.guard import Json, action, guarded, posts, text_in
from ui.server.services import libraries, services


@guarded
def listed(request: Request) -> Response:
    """Libraries that somebody may open; those that an administrator may not are ``closed``."""
    return JSONResponse(_libraries(_user(request)))


@action(InputError)
def new(request: Request, body: Json) -> Json:
    """Make a library of one's own."""
    user = _user(request)
    made = libraries().grants.create(text_in(body, "name") or "", user.email, user.email)
    libraries().changed()
    return {"id": made}


@action(InputError)
def enter(request: Request, body: Json) -> Json:
    """Take the role of a manager in a library, as an administrator."""
    user, named = _user(request), text_in(body, "library") or ""
    if not user.admin:
        raise InputError("Only administrators can do this.", hint="Ask one of them.")
    libraries().grants.grant(named, user.email, "manager", user.email)
    libraries().changed()
    return {"id": named}


def _libraries(user: User) -> Json:
    own = libraries().of(user)
    found: Json = {"libraries": [_row(info) for info in own]}
    if user.admin:
        known = {info.library_id for info in own}
        closed = [one for one in libraries().grants.all() if one.library_id not in known and one.removed is None]
        found["closed"] = [{"id": one.library_id, "name": one.name, "owner": one.owner} for one in closed]
    return found


def _row(info: LibraryInfo) -> Json:
    return {"id": info.library_id, **picked(info, "name owner own role people")}


def _user(request: Request) -> User:
    user = asker(request)
    assert user is not None, "the gate lets nobody in without an account"
    return user


# Members of the library that a request is in


@guarded
def members(request: Request) -> Response:
    return JSONResponse(_members(_user(request)))


@action(InputError)
def grant(request: Request, body: Json) -> Json:
    """Give a person or a team a role, in place of the one they were given."""
    role: Role | None = next((one for one in ROLES if one == body.get("role")), None)
    user, to = _user(request), (text_in(body, "to") or "").strip()
    if role is None:
        raise InputError(f"A role is {' or '.join(get_args(Role))}.", hint="Reload the page and try again.")
    known = [EVERYONE, *_teams(user), *(one.name for one in libraries().grants.members(services().library_id))]
    if "@" not in to and not user.admin and to.casefold() not in map(str.casefold, known):
        hint = "Choose one of your teams, or ask an administrator."
        raise InputError(f"You are in no team {to!r}.", hint=hint)
    libraries().grants.grant(services().library_id, to, role, user.email)
    return _members(user)


@action(InputError)
def revoke(request: Request, body: Json) -> Json:
    user = _user(request)
    libraries().grants.revoke(services().library_id, text_in(body, "to") or "", user.email)
    return _members(user)


@action(InputError)
def rename(request: Request, body: Json) -> Json:
    user = _user(request)
    libraries().grants.rename(services().library_id, text_in(body, "name") or "", user.email)
    return _members(user)


@action(InputError)
def remove(request: Request, _: Json) -> Json:
    """Close the library to everybody; its files stay on the server."""
    libraries().grants.remove(services().library_id, _user(request).email)
    libraries().changed()
    return {}


def _teams(user: User) -> list[str]:
    """Names of the teams that somebody is in; for an administrator, of all."""
    return [one.name for one in libraries().grants.teams() if user.admin or user.email in dict(one.members)]


def _members(user: User) -> Json:
    libraries().changed()
    library_id, grants = services().library_id, libraries().grants
    info = next(one for one in grants.all() if one.library_id == library_id)
    people = [
        {"to": one.email or one.name, **picked(one, "name email role owner people")}
        for one in grants.members(library_id)
    ]
    return {"name": info.name, "first": info.first, "members": people, "teams": _teams(user)}


def routes(prefix: str = "") -> list[BaseRoute]:
    """Routes outside of any library."""
    at = f"{prefix}/gw/libraries"
    return [Route(at, listed), *posts(at, new=new, enter=enter)]


def routes_within(prefix: str) -> list[BaseRoute]:
    """Routes of one library, where people sign in."""
    at = f"{prefix}/gw/members"
    return [Route(at, members), *posts(at, grant=grant, revoke=revoke, rename=rename, remove=remove)]
