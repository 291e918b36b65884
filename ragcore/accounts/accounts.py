"""Accounts: people, their sessions, one-time links, delays after failed tries, and a log that only grows.

A session is a random token, of which only the SHA-256 is stored; its row is its life, so that deleting the row ends it.
Errors of signing in never tell whether an account exists.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragcore.accounts.passwords import hashed, matches
from ragcore.errors import InputError, LinkSpent, SignInRefused
from ragcore.index.database import Connection, Row, made
from ragcore.index.shared import open_accounts

IDLE, LONGEST = 12 * 3600.0, 7 * 86400.0  # seconds: of a session without use, and of any
USED = 60.0  # seconds between two notes that a session is used
LINK = 7 * 86400.0
# Tries before the first delay: for an account from one address, from an address, and for an account from anywhere. So
# nobody keeps others out by trying their accounts, or all who come through one proxy.
FREE, FREE_ADDRESS, FREE_ACCOUNT = 5, 30, 50
DELAY, LONGEST_DELAY = 15.0, 900.0  # seconds: after the last free try, doubled by each further one
FORGOTTEN = 86400.0  # seconds after which tries count no more
KNOWN = 30 * 86400.0  # seconds in which who signed in from an address is not kept out there by what others try
COMMAND_LINE = "command line"
LONGEST_TYPED = 1000  # characters of a password that are looked at
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")

Purpose = Literal["first", "invitation", "reset"]


@dataclass(frozen=True, slots=True)
class User:
    """Person who may sign in. ``seen`` is when a session of theirs was last used, 0 if none is known."""

    user_id: str
    email: str
    name: str
    admin: bool
    blocked: bool
    created: float
    seen: float = 0.0


@dataclass(frozen=True, slots=True)
class Session:
    session_id: str
    user: User
    created: float
    used: float
    agent: str
    address: str


@dataclass(frozen=True, slots=True)
class Link:
    """One-time link: what it is for, and for whom ("" for the first administrator)."""

    purpose: Purpose
    email: str
    admin: bool
    expires: float


@dataclass(frozen=True, slots=True)
class Event:
    at: float
    action: str
    email: str
    by: str
    address: str
    library: str = ""


@dataclass(frozen=True, slots=True)
class Device:
    """Where a request comes from."""

    address: str = ""
    agent: str = ""


class Accounts:
    """Accounts of one home folder. Safe for many threads and processes. Raises `StoreError`."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.home = home
        self.database = open_accounts(home)
        self.clock = clock

    def close(self) -> None:
        self.database.close()

    def users(self) -> list[User]:
        """Everybody, in the order of joining."""
        seen = "coalesce((SELECT max(used) FROM sessions WHERE sessions.user_id = users.user_id), 0.0) AS seen"
        return [made(User, row) for row in self.database.rows(f"SELECT *, {seen} FROM users ORDER BY created, rowid")]

    def user(self, user_id: str) -> User:
        """Person by their id. Raises `LookupError` for an unknown one."""
        for row in self.database.rows("SELECT * FROM users WHERE user_id = ?", user_id):
            return made(User, row)
        raise LookupError(user_id)

    def invited(self) -> list[Link]:
        """Invitations that still open."""
        query = "SELECT * FROM links WHERE purpose = 'invitation' AND expires > ? ORDER BY expires"
        return [made(Link, row) for row in self.database.rows(query, self.clock())]

    def has_admin(self) -> bool:
        return bool(self.database.value("SELECT count(*) FROM users WHERE admin AND NOT blocked"))

    def log(self, most: int = 200) -> list[Event]:
        """Latest events, newest first."""
        rows = self.database.rows("SELECT * FROM audit ORDER BY rowid DESC LIMIT ?", most)
        return [made(Event, row) for row in rows]

    def first_link(self) -> str:
        """Code of the link that makes the first administrator; those before no longer open."""
        with self.database.write() as connection:
            return self._link(connection, "first", "", True)

    def invite(self, email: str, by: str, *, admin: bool = False) -> str:
        """Code of an invitation. Raises `InputError` if the account exists."""
        email = checked_email(email)
        with self.database.write() as connection:
            if connection.row("SELECT 1 FROM users WHERE email = ?", email):
                raise InputError(f"{email} already has an account.", hint="Make a reset link instead.")
            self.note(connection, "invited as administrator" if admin else "invited", email, by)
            return self._link(connection, "invitation", email, admin)

    def reset_link(self, email: str, by: str) -> str:
        """Code of a link that sets a new password. Raises `InputError` for an unknown or blocked account."""
        with self.database.write() as connection:
            user = known(connection, email)
            if user.blocked:
                raise InputError(f"{user.email} is blocked.", hint="Admit the account again first.")
            self.note(connection, "reset link made", user.email, by)
            return self._link(connection, "reset", user.email, user.admin)

    def block(self, email: str, by: str, blocked: bool = True) -> None:
        """Block an account, which ends its sessions, or admit it again; of somebody invited, withdraw the invitation.
        Raises `InputError` for an unknown account, and for the only administrator."""
        with self.database.write() as connection:
            given = email.strip().lower()
            there = connection.row("SELECT 1 FROM users WHERE email = ?", given)
            if blocked and not there and connection.execute("DELETE FROM links WHERE email = ?", (given,)).rowcount:
                self.note(connection, "invitation withdrawn", given, by)
                return
            user = known(connection, email)
            others = "SELECT count(*) FROM users WHERE admin AND NOT blocked AND user_id <> ?"
            if blocked and user.admin and not connection.value(others, user.user_id):
                raise InputError(f"{user.email} is the only administrator.", hint="Invite another administrator first.")
            connection.update("users", "user_id = ?", user.user_id, blocked=blocked)
            if blocked:
                connection.execute("DELETE FROM sessions WHERE user_id = ?", (user.user_id,))
                connection.execute("DELETE FROM tokens WHERE user_id = ?", (user.user_id,))
                connection.execute("DELETE FROM links WHERE email = ?", (user.email,))
            self.note(connection, "blocked" if blocked else "admitted again", user.email, by)

    def link(self, code: str) -> Link:
        """Link that still opens. Raises `LinkSpent`."""
        with self.database.read() as connection:
            return self._open(connection, code)

    def accept(self, code: str, email: str, name: str, password: str, device: Device) -> str:
        """Use a link: make its account, or set a new password, which ends all sessions. Returns the token of a new
        session. Raises `LinkSpent`, and `InputError` for what was entered, with which the link still opens."""
        link = self.link(code)
        email = link.email or checked_email(email)
        stored, name = hashed(password, email), checked_name(name, email)
        with self.database.write() as connection:
            link = self._open(connection, code)
            if link.purpose == "first" and connection.row("SELECT 1 FROM users WHERE admin AND NOT blocked"):
                raise LinkSpent("There is an administrator already.", hint="Sign in.")
            if link.purpose == "reset":
                user = known(connection, email)
                connection.update("users", "user_id = ?", user.user_id, password=stored)
                connection.execute("DELETE FROM sessions WHERE user_id = ?", (user.user_id,))
                self._succeeded(connection, email, device)
            else:
                user = self._join(connection, email, name, link.admin, stored)
            connection.execute("DELETE FROM links WHERE email = ?", (link.email,))
            action = "password reset" if link.purpose == "reset" else "joined"
            self.note(connection, action, email, email, device.address)
            return self._begin(connection, user, device)

    def sign_in(self, email: str, password: str, device: Device) -> str:
        """Token of a new session. Raises `SignInRefused`, with the same words and after the same work whether the
        account exists, is blocked or has another password."""
        email = email.strip().lower()[:254]
        with self.database.write() as connection:
            tries = _tries(email, device)
            if connection.row("SELECT 1 FROM tries WHERE whose = ?", _known_at(email, device)):
                del tries[f"account {email}"]
            self._count_try(connection, tries)
        row = self.database.rows("SELECT password FROM users WHERE email = ? AND NOT blocked", email)
        stored = row[0]["password"] if row else None
        good = matches(password[:LONGEST_TYPED], stored)
        with self.database.write() as connection:
            found = connection.row("SELECT * FROM users WHERE email = ?", email)
            # What was right may have been reset in the meantime.
            if not good or found is None or found["blocked"] or found["password"] != stored:
                # What was entered for an unknown account may be a password, so it is not noted.
                self.note(connection, "sign-in refused", email if found else "", email if found else "", device.address)
            else:
                self._succeeded(connection, email, device)
                self.note(connection, "signed in", email, email, device.address)
                return self._begin(connection, made(User, found), device)
        raise SignInRefused("Email or password is wrong.")

    def sign_in_as(
        self, issuer: str, subject: str, email: str, name: str, domains: Sequence[str], device: Device
    ) -> str:
        """Token of a new session for who ``issuer`` says somebody is. A first time needs a verified ``email`` ("" for
        any other), and an open link for it or one of ``domains``; a reset link joins it to the account that there is.
        Raises `SignInRefused`."""
        email = email.strip().lower()
        with self.database.write() as connection:
            found = connection.row(
                "SELECT users.* FROM users JOIN identities USING (user_id) WHERE issuer = ? AND subject = ?",
                issuer,
                subject,
            )
            user = made(User, found) if found else self._first_time(connection, email, name, domains, device)
            if user is not None and not user.blocked:
                connection.insert(
                    "identities", {"issuer": issuer, "subject": subject, "user_id": user.user_id}, clash="NOTHING"
                )
                self.note(connection, "signed in", user.email, user.email, device.address)
                return self._begin(connection, user, device)
            self.note(connection, "sign-in refused", user.email if user else "", email, device.address)
        raise SignInRefused("You have no account here.", hint="Ask an administrator to invite you.")

    def _first_time(
        self, connection: Connection, email: str, name: str, domains: Sequence[str], device: Device
    ) -> User | None:
        """Account of a verified email that signs in elsewhere for the first time; None if nobody let it in."""
        if not _EMAIL.fullmatch(email):
            return None
        query = "SELECT * FROM links WHERE email = ? AND expires > ?"
        link = connection.row(query, email, self.clock())
        there = connection.row("SELECT * FROM users WHERE email = ?", email)
        if there is None and (link is not None or email.rpartition("@")[2] in domains):
            user: User | None = self._join(
                connection, email, checked_name(name, email), bool(link and link["admin"]), None
            )
            self.note(connection, "joined", email, email, device.address)
        else:
            user = made(User, there) if there is not None and link is not None else None
        connection.execute("DELETE FROM links WHERE email = ?", (email,))
        return user

    def session(self, token: str, *, use: bool = False) -> Session | None:
        """Session of a token; None if it has ended or its person is blocked. ``use`` keeps it from ending for lack of
        use."""
        return self.session_of(digest(token), use=use)

    def session_of(self, session_id: str, *, use: bool = False) -> Session | None:
        """`session` by its id."""
        now = self.clock()
        rows = self.database.rows(f"{_SESSIONS} AND session_id = ?", now - IDLE, now - LONGEST, session_id)
        if not rows:
            return None
        if use and now - rows[0]["used"] > USED:
            with self.database.write() as connection:
                connection.update("sessions", "session_id = ?", session_id, used=now)
        return _session(rows[0])

    def sessions(self, user_id: str) -> list[Session]:
        """Sessions of a person, the one used last first."""
        now = self.clock()
        query = f"{_SESSIONS} AND users.user_id = ? ORDER BY used DESC"
        return [_session(row) for row in self.database.rows(query, now - IDLE, now - LONGEST, user_id)]

    def end(self, session: Session, by: str, address: str = "") -> None:
        """End a session."""
        with self.database.write() as connection:
            if connection.execute("DELETE FROM sessions WHERE session_id = ?", (session.session_id,)).rowcount:
                self.note(connection, "signed out", session.user.email, by, address)

    def change_password(self, session: Session, old: str, new: str, address: str = "") -> None:
        """Change the password of a session's person; all other sessions end. Raises `InputError`, and `SignInRefused`
        after too many tries."""
        user = session.user
        own = f"password {user.user_id}"  # who tries to sign in as somebody doesn't keep them from changing it
        with self.database.write() as connection:
            self._count_try(connection, {own: FREE})
        query = "SELECT password FROM users JOIN sessions USING (user_id) WHERE session_id = ?"
        rows = self.database.rows(query, session.session_id)
        before = rows[0]["password"] if rows else None
        if not matches(old[:LONGEST_TYPED], before):
            raise InputError("The current password is wrong.", hint="Type it again.")
        stored = hashed(new, user.email)
        with self.database.write() as connection:
            if connection.value(query, session.session_id) != before:
                raise InputError("The password was reset in the meantime.", hint="Sign in with the new one.")
            connection.update("users", "user_id = ?", user.user_id, password=stored)
            others = (user.user_id, session.session_id)
            connection.execute("DELETE FROM sessions WHERE user_id = ? AND session_id <> ?", others)
            connection.execute("DELETE FROM tries WHERE whose = ?", (own,))
            connection.execute("DELETE FROM links WHERE email = ?", (user.email,))
            self.note(connection, "password changed", user.email, user.email, address)

    def _join(self, connection: Connection, email: str, name: str, admin: bool, password: str | None) -> User:
        user = User(uuid.uuid4().hex, email, name, admin, False, self.clock())
        if connection.row("SELECT 1 FROM users WHERE email = ?", email):
            raise InputError(f"{email} already has an account.", hint="Use another email.")
        row = {"user_id": user.user_id, "email": email, "name": name, "admin": admin, "password": password}
        connection.insert("users", row | {"created": user.created})
        return user

    def _begin(self, connection: Connection, user: User, device: Device) -> str:
        token, now = secrets.token_urlsafe(32), self.clock()
        old = (now - IDLE, now - LONGEST)
        connection.execute("DELETE FROM sessions WHERE used <= ? OR created <= ?", old)
        row = {"session_id": digest(token), "user_id": user.user_id, "created": now, "used": now}
        connection.insert("sessions", row | {"agent": device.agent[:300], "address": device.address})
        return token

    def _link(self, connection: Connection, purpose: Purpose, email: str, admin: bool) -> str:
        code, now = secrets.token_urlsafe(32), self.clock()
        connection.execute("DELETE FROM links WHERE email = ? OR expires <= ?", (email, now))
        row = {"code": digest(code), "purpose": purpose, "email": email, "admin": admin, "expires": now + LINK}
        connection.insert("links", row)
        return code

    def _open(self, connection: Connection, code: str) -> Link:
        query = "SELECT * FROM links WHERE code = ? AND expires > ?"
        row = connection.row(query, digest(code), self.clock())
        if row is None:
            raise LinkSpent("This link was used before, is too old, or another server made a newer one.")
        return made(Link, row)

    def _count_try(self, connection: Connection, whose: Mapping[str, int]) -> None:
        """Count a try, of those ``whose`` with the number of free ones. Raises `SignInRefused` while there is to be
        none."""
        now = self.clock()
        connection.execute(
            "DELETE FROM tries WHERE last <= ? AND (count > 0 OR last <= ?)", (now - FORGOTTEN, now - KNOWN)
        )
        for each, free in whose.items():
            row = connection.row("SELECT count, last FROM tries WHERE whose = ?", each)
            if row is not None and row["count"] >= free:
                wait = min(LONGEST_DELAY, DELAY * 2.0 ** min(row["count"] - free, 30))
                left = row["last"] + wait - now
                if left > 0:
                    raise SignInRefused("Too many tries.", hint=f"Try again in {_in_words(left)}.")
        for each in whose:
            count = connection.value("SELECT count FROM tries WHERE whose = ?", each) or 0
            connection.insert("tries", {"whose": each, "count": count + 1, "last": now}, key="whose")

    def _succeeded(self, connection: Connection, email: str, device: Device) -> None:
        """Forget tries, and keep that the account is known at the address."""
        for whose in _tries(email, device):
            connection.execute("DELETE FROM tries WHERE whose = ?", (whose,))
        there = {"whose": _known_at(email, device), "count": 0, "last": self.clock()}
        connection.insert("tries", there, key="whose")

    def note(
        self, connection: Connection, action: str, email: str, by: str, address: str = "", library: str = ""
    ) -> None:
        """Add to the log."""
        row = {"at": self.clock(), "action": action, "email": email, "by": by, "address": address}
        connection.insert("audit", row | {"library": library})


def _tries(email: str, device: Device) -> dict[str, int]:
    """What a try to sign in counts for, each with its free tries."""
    place = _place(device.address)
    return {f"account {email} from {place}": FREE, f"address {place}": FREE_ADDRESS, f"account {email}": FREE_ACCOUNT}


def _known_at(email: str, device: Device) -> str:
    """What is kept of an account that signed in from an address."""
    return f"known {email} from {_place(device.address)}"


def _place(address: str) -> str:
    """Address as tries are counted: of IPv6 its network, all of whose addresses one machine may take."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return address if found.version == 4 or found.ipv4_mapped else str(ipaddress.ip_network((found, 64), strict=False))


_SESSIONS = """SELECT *, users.created AS joined, sessions.created AS begun FROM sessions
JOIN users USING (user_id) WHERE NOT blocked AND used > ? AND sessions.created > ?"""


def _session(row: Row) -> Session:
    return made(Session, row, user=made(User, row, created=row["joined"]), created=row["begun"])


def digest(secret: str) -> str:
    """SHA-256 under which a token or a code is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def checked_email(email: str) -> str:
    """Email as it is stored. Raises `InputError`."""
    email = email.strip().lower()
    if not _EMAIL.fullmatch(email) or len(email) > 254 or not email.isprintable():
        raise InputError("This is no email address.", hint="Enter one such as name@example.org.")
    return email


def checked_name(name: str, email: str) -> str:
    """Name as it is stored; without one, what stands before the @."""
    return "".join(letter for letter in name if letter.isprintable()).strip()[:100] or email.partition("@")[0]


def known(connection: Connection, email: str) -> User:
    """Account of an email. Raises `InputError`."""
    row = connection.row("SELECT * FROM users WHERE email = ?", email.strip().lower())
    if row is None:
        raise InputError(
            f"There is no account {email.strip()!r}.",
            hint="Check its spelling, or ask an administrator to invite them.",
        )
    return made(User, row)


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
