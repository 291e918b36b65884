"""Commands for programs: ``mcp``, and ``admin token`` for those that use the HTTP API."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragcore.accounts.accounts import COMMAND_LINE, Accounts
from ragcore.accounts.libraries import Grants
from ragcore.accounts.tokens import Tokens
from ragcore.cli.common import moment, show
from ragcore.errors import InputError
from ragcore.types.json import plain

if TYPE_CHECKING:
    from ragcore.engine import Engine


def mcp(engine: Engine, options: argparse.Namespace) -> int:
    from ragcore.serve.mcp import run

    run(engine, options.allow)
    return 0


def add_token(engine: Engine, options: argparse.Namespace) -> int:
    if engine.settings.auth.mode != "off" and not options.email:
        raise InputError("Here people sign in: a token belongs to one of them.", hint="Name them with --for EMAIL.")
    with _tokens(engine) as tokens:
        library = _library(engine, options.library) if options.email else ""
        secret = tokens.make(
            options.name, options.scope or ("read", "ask"), COMMAND_LINE, options.email, options.days, library
        )
    lines = ["Keep this token; it is not shown again:", secret]
    show(options, lambda: {"name": options.name, "token": secret}, lines)
    return 0


def tokens(engine: Engine, options: argparse.Namespace) -> int:
    with _tokens(engine) as tokens:
        found = tokens.all()
    lines = []
    for one in found:
        used = f"last used {moment(one.used)}" if one.used else "never used"
        about = ", ".join(filter(None, (one.email, *one.scopes, f"until {moment(one.expires)}", used)))
        lines.append(f"{one.token_id}  {one.name}  ({about})")
    show(options, lambda: {"tokens": plain(found)}, lines or ["No program has a token."])
    return 0


def revoke_token(engine: Engine, options: argparse.Namespace) -> int:
    with _tokens(engine) as tokens:
        found = tokens.revoke(options.token, COMMAND_LINE)
    show(options, lambda: plain(found), [f"The token {found.token_id} of {found.name} has ended."])
    return 0


def _library(engine: Engine, named: str) -> str:
    """Id of the library that a token is for; the first one unless another is ``named``."""
    accounts = Accounts(engine.home)
    try:
        grants = Grants(accounts)
        grants.begin(engine.conversations.adopt)
        return grants.find(named) if named else next(one.library_id for one in grants.all() if one.first)
    finally:
        accounts.close()


@contextmanager
def _tokens(engine: Engine) -> Iterator[Tokens]:
    tokens = Tokens(engine.home)
    try:
        yield tokens
    finally:
        tokens.close()
