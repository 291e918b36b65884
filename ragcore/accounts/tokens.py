"""Tokens of programs that use the HTTP API, stored beside sessions as SHA-256 only.

A token's row is its life: deleting it ends the token. Where people sign in, it belongs to one of them, ends with their
account, and is for one library, in which it can do no more than they can.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ragcore.accounts.accounts import USED, Accounts, digest
from ragcore.errors import InputError
from ragcore.index.database import made

TokenScope = Literal["read", "ask", "write"]
SCOPES: tuple[TokenScope, ...] = get_args(TokenScope)
DEFAULT_SCOPES: tuple[TokenScope, ...] = ("read", "ask")
PREFIX = "gw_pat_"
DAYS, MOST_DAYS = 90, 366
DAY = 86400.0
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Token:
    """Token of a program: its id and ``name``, what it may do, and whose it is ("": made where nobody signs in).
    ``used`` is when it was last used, 0 for never. ``user_id`` and ``library_id`` are "" where nobody signs in."""

    token_id: str
    name: str
    scopes: tuple[TokenScope, ...]
    email: str
    created: float
    expires: float
    used: float
    user_id: str = ""
    library_id: str = ""


class Tokens:
    """Tokens of one home folder, in the same file as the accounts. ``by`` is who does something: an email, or the
    command line."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._database = accounts.database

    def make(
        self,
        name: str,
        scopes: Sequence[TokenScope],
        by: str,
        email: str = "",
        days: int = DAYS,
        library_id: str = "",
    ) -> str:
        """New token, which is shown this once. Raises `InputError` for a name without letters, no scope, too many days,
        and an account that may not sign in."""
        name = "".join(letter for letter in name if letter.isprintable()).strip()[:LONGEST_NAME]
        if not name:
            raise InputError("A token needs a name.", hint="Name the program that will use it.")
        if not scopes or not set(scopes) <= set(SCOPES):
            raise InputError(f"A token's scopes are of {', '.join(SCOPES)}.", hint="Choose one or more of them.")
        if not 1 <= days <= MOST_DAYS:
            raise InputError(f"A token lasts 1 to {MOST_DAYS} days.", hint="Choose fewer, and make another then.")
        token_id, now = secrets.token_hex(4), self._accounts.clock()
        secret = f"{PREFIX}{token_id}_{secrets.token_urlsafe(32)}"
        with self._database.write() as connection:
            owner = connection.row("SELECT user_id FROM users WHERE email = ? AND NOT blocked", email.strip().lower())
            if email and owner is None:
                raise InputError(
                    f"{email} may not sign in.", hint="Run `groundwork admin users` to list who may, or invite them."
                )
            row = {"token_hash": digest(secret), "token_id": token_id, "name": name, "created": now, "used": 0.0}
            row |= {"scopes": [one for one in SCOPES if one in scopes], "expires": now + days * DAY}
            row |= {"user_id": owner["user_id"] if owner else None, "library_id": library_id or None}
            connection.insert("tokens", row)
            self._accounts.note(connection, "token made", email, by)
        return secret

    def all(self) -> list[Token]:
        """Tokens that have not ended, in the order made."""
        return [
            made(Token, row)
            for row in self._database.rows(f"{_TOKENS} ORDER BY tokens.created", self._accounts.clock())
        ]

    def revoke(self, token_id: str, by: str) -> Token:
        """End a token. Raises `InputError` for an unknown one."""
        with self._database.write() as connection:
            row = connection.row(f"{_TOKENS} AND token_id = ?", self._accounts.clock(), token_id)
            if row is None:
                raise InputError(f"There is no token {token_id}.", hint="Run `groundwork admin token list`.")
            connection.execute("DELETE FROM tokens WHERE token_id = ?", (token_id,))
            found = made(Token, row)
            self._accounts.note(connection, "token revoked", found.email, by)
            return found

    def of(self, secret: str, *, owned: bool) -> Token | None:
        """Token of a program; None if it has ended or, where tokens must be ``owned``, belongs to nobody who may sign
        in."""
        now = self._accounts.clock()
        rows = self._database.rows(f"{_TOKENS} AND token_hash = ?", now, digest(secret))
        if not rows or (owned and not (rows[0]["email"] and rows[0]["library_id"])):
            return None
        if now - rows[0]["used"] > USED:
            with self._database.write() as connection:
                connection.update("tokens", "token_hash = ?", digest(secret), used=now)
        return made(Token, rows[0])


_TOKENS = """SELECT tokens.*, coalesce(email, '') AS email, coalesce(tokens.user_id, '') AS user_id,
coalesce(library_id, '') AS library_id FROM tokens LEFT JOIN users USING (user_id)
WHERE tokens.expires > ? AND (tokens.user_id IS NULL OR NOT blocked)"""
