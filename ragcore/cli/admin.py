"""Commands of ``admin``: who may sign in to the app, which libraries they may use, and which programs are let in."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore import files
from ragcore.accounts.accounts import COMMAND_LINE, Accounts
from ragcore.accounts.libraries import Grants
from ragcore.accounts.limits import OF_PEOPLE, Limits
from ragcore.accounts.tokens import DEFAULT_SCOPES, Tokens
from ragcore.cli.common import moment, say_error, show
from ragcore.config.settings import default_home
from ragcore.errors import GroundworkError, InputError, StoreError
from ragcore.index.backup import Fault, back_up, faults, tidy
from ragcore.index.database import URL, has_library
from ragcore.index.move import SQLITE, may_share, move, require_leave, share, unshare
from ragcore.index.objects import copy_files
from ragcore.index.shared import homes
from ragcore.index.store import Store
from ragcore.text.numbers import plural
from ragcore.types.json import plain

if TYPE_CHECKING:
    from ragcore.engine import Engine


def invite(engine: Engine, options: argparse.Namespace) -> int:
    with _accounts(engine) as accounts:
        code = accounts.invite(options.email, COMMAND_LINE, admin=options.admin)
    return _link(engine, options, code)


def reset(engine: Engine, options: argparse.Namespace) -> int:
    with _accounts(engine) as accounts:
        code = accounts.reset_link(options.email, COMMAND_LINE)
    return _link(engine, options, code)


def block(engine: Engine, options: argparse.Namespace) -> int:
    with _accounts(engine) as accounts:
        accounts.block(options.email, COMMAND_LINE, not options.undo)
        told = plain(accounts.users())
    said = "may sign in again" if options.undo else "is blocked and signed out"
    show(options, lambda: {"users": told}, [f"{options.email} {said}."])
    return 0


def users(engine: Engine, options: argparse.Namespace) -> int:
    with _accounts(engine) as accounts:
        found, invited = accounts.users(), accounts.invited()
    lines = []
    for user in found:
        marks = [mark for mark, on in (("administrator", user.admin), ("blocked", user.blocked)) if on]
        seen = f"last here {moment(user.seen)}" if user.seen else "not signed in"
        lines.append(f"{user.email}  {user.name}  ({', '.join([*marks, seen])})")
    lines += [f"{link.email}  invited until {moment(link.expires)}" for link in invited]
    show(options, lambda: {"users": plain(found), "invited": plain(invited)}, lines or ["Nobody can sign in yet."])
    return 0


def log(engine: Engine, options: argparse.Namespace) -> int:
    with _accounts(engine) as accounts:
        found = accounts.log()
    lines = [
        f"{moment(one.at)}  {one.action:24}  {one.email or '-'}  {one.by or '-'}  {one.library or one.address}"
        for one in found
    ]
    show(options, lambda: {"events": plain(found)}, lines or ["Nothing happened yet."])
    return 0


def move_libraries(options: argparse.Namespace) -> int:
    """Without an engine, which a library whose move broke off lets nobody open."""
    top, there = options.home or default_home(), _homes(options)
    sharing = options.to != SQLITE and may_share(top, options.to)
    if options.to == SQLITE:
        for home in there:
            require_leave(home)  # before anything is moved
        unshare(top)  # first: its libraries tell that its accounts are there
    moved = {str(home): move(home, options.to) for home in there}
    if sharing:
        share(top, options.to)
    lines = [f"{'Moved the library in' if now else 'There already:'} {home}" for home, now in moved.items()]
    then = f"{'Unset' if options.to == SQLITE else 'Set'} {URL} for the app and every command from now on."
    show(options, lambda: {"moved": [home for home, now in moved.items() if now]}, [*lines, then])
    return 0


def move_files(options: argparse.Namespace) -> int:
    """Without an engine, of which each library would have its own."""
    copied = {str(home): copy_files(home, back=options.do == "download") for home in _homes(options)}
    lines = [f"Copied {plural(count, 'file')}: {home}" for home, count in copied.items()]
    show(options, lambda: {"copied": copied}, [*lines, "All files are there now."])
    return 0


def check(options: argparse.Namespace) -> int:
    """Without an engine, which starts to read documents and removes what is due."""
    told, documents = [], 0
    for home in _homes(options):
        try:
            store = Store(home)
            with closing(store.database):
                if options.tidy:
                    tidy(store)
                told += [(str(home), fault) for fault in faults(store)]
                documents += len(store.documents(earlier=True))
        except GroundworkError as error:  # the others are checked all the same
            told.append((str(home), Fault("", error.message, error.hint)))
    lines = [f"{home}: {fault.name}{': ' if fault.name else ''}{fault.message} {fault.hint}" for home, fault in told]
    lines.append(f"Checked {plural(documents, 'document')}: {plural(len(told), 'fault') if told else 'all is whole'}.")
    found = [{"home": home} | plain(fault) for home, fault in told]
    show(options, lambda: {"documents": documents, "faults": found}, lines)
    return 1 if told else 0


def backup(options: argparse.Namespace) -> int:
    top = options.home or default_home()
    failed = {}
    for home in dict.fromkeys((top, *_homes(options))):
        try:
            back_up(home, options.to / home.relative_to(top))
        except StoreError as error:  # the others are copied all the same
            failed[str(home)] = error.as_dict()
            say_error(error, str(home))
    size = files.size(options.to)
    line = f"{'Backed up, but for these,' if failed else 'Backed up'} to {options.to}, {size / 1e6:,.1f} MB in all."
    then = f"It is a home folder: groundwork admin check --home {options.to}"
    show(options, lambda: {"folder": str(options.to), "bytes": size, "failed": failed}, [line, then])
    return 1 if failed else 0


WITHOUT_ENGINE = (move_libraries, move_files, check, backup)


def _homes(options: argparse.Namespace) -> list[Path]:
    """Folders of the home folder that have a library."""
    top = options.home or default_home()
    found = [home for home in homes(top) if has_library(home)]
    if not found:
        raise InputError(f"There is no library in {top}.", hint="Check --home.")
    return found


def libraries(engine: Engine, options: argparse.Namespace) -> int:
    """Libraries, after the change that ``options.do`` names."""
    with _grants(engine) as grants:
        library = grants.find(options.library) if "library" in options else ""
        match options.do:
            case "add":
                library = grants.create(options.name, options.owner, COMMAND_LINE)
            case "rename":
                grants.rename(library, options.name, COMMAND_LINE)
            case "remove":
                grants.remove(library, COMMAND_LINE, not options.undo)
            case "grant":
                grants.grant(library, options.to, options.role, COMMAND_LINE)
            case "revoke":
                grants.revoke(library, options.to, COMMAND_LINE)
        found = [one for one in grants.all() if not library or one.library_id == library]
        told = [
            plain(one) | {"home": str(grants.home(one.library_id)), "members": plain(grants.members(one.library_id))}
            for one in found
        ]
    lines = []
    for one, more in zip(found, told):
        lines.append(f"{one.library_id[:8]}  {one.name}{'' if one.removed is None else '  (removed)'}  {more['home']}")
        lines += [f"    {each['role']:12}{each['email'] or each['name']}" for each in more["members"]]
    show(options, lambda: {"libraries": told}, lines or ["There is no library yet. Start the app once."])
    return 0


def teams(engine: Engine, options: argparse.Namespace) -> int:
    """Teams, after the change that ``options.do`` names."""
    with _grants(engine) as grants:
        match options.do:
            case "add":
                grants.add_team(options.team, COMMAND_LINE)
            case "remove":
                grants.remove_team(options.team, COMMAND_LINE)
            case "join":
                grants.join(options.team, options.email, COMMAND_LINE, manager=options.manager)
            case "leave":
                grants.leave(options.team, options.email, COMMAND_LINE)
        found = grants.teams()
    lines = []
    for team in found:
        lines.append(team.name)
        lines += [f"    {email}{'  (manager)' if manages else ''}" for email, manages in team.members]
    show(options, lambda: {"teams": plain(found)}, lines or ["There is no team yet."])
    return 0


def limits(engine: Engine, options: argparse.Namespace) -> int:
    """Limits with what is used of them, after the change that ``options.do`` names."""
    with _grants(engine) as grants:
        limits = Limits(grants)
        if options.do == "set":
            limits.put(options.measure, options.most, COMMAND_LINE, options.of)
        found = limits.all()
    lines = []
    for one in found:
        whose = one.holder or ("each person" if one.measure in OF_PEOPLE else "each library")
        used = f", {one.used:,.15g} used" if one.holder else ""
        lines.append(f"{one.measure:10}{whose}: {'no limit' if one.most is None else f'{one.most:,.15g}'}{used}")
    show(options, lambda: {"limits": plain(found)}, lines or ["There are no limits."])
    return 0


def add_token(engine: Engine, options: argparse.Namespace) -> int:
    if engine.settings.auth.mode != "off" and not options.email:
        raise InputError("Here people sign in: a token belongs to one of them.", hint="Name them with --for EMAIL.")
    with _grants(engine) as grants:
        library = grants.find(options.library) if options.library else grants.first if options.email else ""
        by, scopes = COMMAND_LINE, options.scope or DEFAULT_SCOPES
        secret = Tokens(grants.accounts).make(options.name, scopes, by, options.email, options.days, library)
    lines = ["Keep this token; it is not shown again:", secret]
    show(options, lambda: {"name": options.name, "token": secret}, lines)
    return 0


def tokens(engine: Engine, options: argparse.Namespace) -> int:
    with _accounts(engine) as accounts:
        found = Tokens(accounts).all()
    lines = []
    for one in found:
        used = f"last used {moment(one.used)}" if one.used else "never used"
        about = ", ".join(filter(None, (one.email, *one.scopes, f"until {moment(one.expires)}", used)))
        lines.append(f"{one.token_id}  {one.name}  ({about})")
    show(options, lambda: {"tokens": plain(found)}, lines or ["No program has a token."])
    return 0


def revoke_token(engine: Engine, options: argparse.Namespace) -> int:
    with _accounts(engine) as accounts:
        found = Tokens(accounts).revoke(options.token, COMMAND_LINE)
    show(options, lambda: plain(found), [f"The token {found.token_id} of {found.name} has ended."])
    return 0


def _link(engine: Engine, options: argparse.Namespace, code: str) -> int:
    url = engine.settings.auth.url
    link = f"{url or 'http://localhost:8501'}/gw/auth/link/{code}"
    lines = [f"Pass this link on to {options.email}. It works once, for 7 days:", link]
    lines += [] if url else ["If the app has another address, put that before /gw, or set auth.url."]
    show(options, lambda: {"email": options.email, "link": link}, lines)
    return 0


@contextmanager
def _grants(engine: Engine) -> Iterator[Grants]:
    with _accounts(engine) as accounts:
        grants = Grants(accounts)
        grants.begin(engine.adopt)
        yield grants


def _accounts(engine: Engine) -> closing[Accounts]:
    return closing(Accounts(engine.home))
