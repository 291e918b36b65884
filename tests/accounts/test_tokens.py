"""Tokens of programs: shown once, kept as a hash, ended by a date, a command, or the end of their person's account."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcore.accounts.accounts import Accounts, Device
from ragcore.accounts.libraries import Grants
from ragcore.accounts.tokens import DAY, Tokens
from ragcore.cli.main import main
from ragcore.errors import InputError
from tests.accounts.conftest import Clock, stored
from tests.accounts.test_accounts import GOOD

MARA, JONAS = "mara@fernhill.example", "jonas@fernhill.example"


@pytest.fixture
def accounts(tmp_path: Path, clock: Clock) -> Iterator[Accounts]:
    made = Accounts(tmp_path, clock)
    for email in (MARA, JONAS):
        made.accept(made.invite(email, "test", admin=email == MARA), "", "", GOOD, Device())
    yield made
    made.close()


@pytest.fixture
def tokens(accounts: Accounts) -> Tokens:
    return Tokens(accounts)


def test_a_token_is_known_by_its_secret_alone_which_is_not_stored(tokens: Tokens, accounts: Accounts) -> None:
    secret = tokens.make("report", ("ask", "read"), "test")
    found = tokens.of(secret, owned=False)
    assert found is not None
    assert (found.name, found.scopes, found.email) == ("report", ("read", "ask"), "")
    assert secret.startswith(f"gw_pat_{found.token_id}_")
    for wrong in ("", secret[:-1], f"{secret}x", found.token_id, secret.upper(), "é"):
        assert tokens.of(wrong, owned=False) is None
    own = secret.removeprefix(f"gw_pat_{found.token_id}_")  # may have a "_" of its own
    assert own.encode() not in stored(accounts)


def test_a_token_ends_by_its_date(tokens: Tokens, clock: Clock) -> None:
    secret = tokens.make("report", ("read",), "test", days=30)
    clock.now += 30 * DAY - 1
    assert tokens.of(secret, owned=False) is not None
    clock.now += 1
    assert tokens.of(secret, owned=False) is None
    assert tokens.all() == []


def test_a_revoked_token_ends_at_once(tokens: Tokens) -> None:
    secret, other = tokens.make("report", ("read",), "test"), tokens.make("scan", ("write",), "test")
    first, second = tokens.all()
    assert tokens.revoke(first.token_id, "test") == first
    assert tokens.of(secret, owned=False) is None
    assert tokens.of(other, owned=False) is not None
    with pytest.raises(InputError, match="no token"):
        tokens.revoke(first.token_id, "test")
    assert [one.token_id for one in tokens.all()] == [second.token_id]


def test_where_people_sign_in_a_token_lives_as_long_as_its_person_may(tokens: Tokens, accounts: Accounts) -> None:
    nobodys = tokens.make("report", ("read",), "test")
    grants = Grants(accounts)
    grants.begin(lambda _: None)
    hers = tokens.make("report", ("read",), "test", JONAS, library_id=grants.all()[0].library_id)
    assert tokens.of(nobodys, owned=True) is None
    found = tokens.of(hers, owned=True)
    assert found is not None
    assert found.email == JONAS
    accounts.block(JONAS, MARA)
    assert tokens.of(hers, owned=True) is None
    accounts.block(JONAS, MARA, blocked=False)
    assert tokens.of(hers, owned=True) is None, "who is admitted again makes a new one"
    assert [one.action for one in accounts.log() if one.action.startswith("token")] == ["token made", "token made"]


def test_use_is_noted(tokens: Tokens, clock: Clock) -> None:
    secret = tokens.make("report", ("read",), "test")
    assert tokens.all()[0].used == 0.0
    clock.now += 100
    tokens.of(secret, owned=False)
    assert tokens.all()[0].used == clock.now


@pytest.mark.parametrize(
    "wrong",
    [{"name": " \n"}, {"scopes": ()}, {"scopes": ("all",)}, {"days": 0}, {"days": 400}, {"email": "eve@else.example"}],
)
def test_what_no_token_can_be_is_refused(tokens: Tokens, wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"name": "report", "scopes": ("read",), "by": "test"} | wrong
    with pytest.raises(InputError):
        tokens.make(**given)


def test_tokens_are_made_listed_and_ended_by_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(["--home", str(tmp_path), "admin", "token", *arguments])
        told = capsys.readouterr()
        return code, told.out + told.err

    secret = json.loads(run("add", "report", "--json")[1])["token"]
    (listed,) = json.loads(run("list", "--json")[1])["tokens"]
    assert (listed["name"], listed["scopes"]) == ("report", ["read", "ask"])
    assert secret not in run("list")[1]
    assert run("revoke", listed["token_id"]) == (0, f"The token {listed['token_id']} of report has ended.\n")
    assert run("list") == (0, "No program has a token.\n")
    monkeypatch.setenv("GROUNDWORK_AUTH__MODE", "local")
    code, said = run("add", "report")
    assert (code, said) == (1, "Here people sign in: a token belongs to one of them. Name them with --for EMAIL.\n")
    assert run("add", "report", "--for", MARA)[0] == 1
