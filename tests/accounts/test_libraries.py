"""Libraries of people and teams: roles by owning, by grants and by teams; what is removed is closed; all is logged."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcore.accounts.accounts import Accounts, Device
from ragcore.accounts.libraries import ROLES, Grants, covers
from ragcore.config.settings import load
from ragcore.errors import InputError
from ragcore.index.database import URL
from ragcore.index.move import share
from ragcore.index.shared import saved
from tests import prepared

MARA, JONAS, PRIYA = "mara@fernhill.example", "jonas@fernhill.example", "priya@fernhill.example"
GOOD = "four words to remember"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Home with three accounts in SQLite; hashing their passwords takes a while."""
    home = tmp_path_factory.mktemp("people")
    with prepared.on_sqlite():
        accounts = Accounts(home)
        for email in (MARA, JONAS, PRIYA):
            accounts.accept(accounts.invite(email, "x", admin=email == MARA), "", "", GOOD, Device())
        accounts.close()
    return home


@pytest.fixture
def accounts(people: Path, tmp_path: Path) -> Iterator[Accounts]:
    with sqlite3.connect(people / "accounts.sqlite") as source, sqlite3.connect(tmp_path / "accounts.sqlite") as copy:
        source.backup(copy)
    copy.close()
    if url := os.environ.get(URL):
        share(tmp_path, url)
    made = Accounts(tmp_path)
    yield made
    made.close()


@pytest.fixture
def grants(accounts: Accounts) -> Grants:
    return Grants(accounts)


@pytest.fixture
def ids(accounts: Accounts) -> dict[str, str]:
    return {user.email: user.user_id for user in accounts.users()}


def roles(grants: Grants, ids: dict[str, str], library_id: str) -> list[str | None]:
    return [grants.role(ids[email], library_id) for email in (MARA, JONAS, PRIYA)]


def test_the_library_of_before_is_the_first_administrators_and_everybody_may_change_it(
    grants: Grants, accounts: Accounts, ids: dict[str, str]
) -> None:
    adopted: list[str] = []
    for _ in range(2):
        grants.begin(adopted.append)
        Grants(accounts).begin(adopted.append)
    assert adopted == [ids[MARA]]
    (first,) = grants.of(ids[JONAS])
    assert (first.owner, first.own, first.people, first.role) == ("mara", False, 3, "contributor")
    assert roles(grants, ids, first.library_id) == ["manager", "contributor", "contributor"]
    assert grants.home(first.library_id) == accounts.home


def test_without_an_administrator_the_first_library_waits_for_its_owner(tmp_path: Path) -> None:
    accounts = Accounts(tmp_path)
    grants, adopted = Grants(accounts), list[str]()
    grants.begin(adopted.append)
    assert (adopted, [one.owner for one in grants.all()]) == ([], [""])
    accounts.accept(accounts.first_link(), MARA, "Mara", GOOD, Device())
    grants.begin(adopted.append)
    assert adopted == [user.user_id for user in accounts.users()]
    assert [one.owner for one in grants.all()] == ["Mara"]


def test_a_new_library_is_open_to_its_owner_only_not_to_administrators(
    grants: Grants, accounts: Accounts, ids: dict[str, str]
) -> None:
    made = grants.create("Contracts", JONAS, JONAS)
    assert roles(grants, ids, made) == [None, "manager", None]
    assert grants.home(made) == accounts.home / "libraries" / made
    assert len(made) == 32
    assert grants.create("Contracts", JONAS, JONAS) != made


@pytest.mark.parametrize("role", ROLES)
def test_the_highest_role_counts_and_what_is_taken_is_gone(grants: Grants, ids: dict[str, str], role: str) -> None:
    made = grants.create("Contracts", MARA, MARA)
    grants.add_team("Credit", MARA)
    grants.join("credit", JONAS, MARA)
    grants.grant(made, JONAS, "contributor", MARA)
    grants.grant(made, "Credit", role, MARA)  # type: ignore[arg-type]
    highest = max(role, "contributor", key=ROLES.index)  # type: ignore[arg-type]
    assert roles(grants, ids, made) == ["manager", highest, None]
    grants.revoke(made, JONAS, MARA)
    assert roles(grants, ids, made) == ["manager", role, None]
    grants.leave("Credit", JONAS, MARA)
    assert roles(grants, ids, made) == ["manager", None, None]
    grants.grant(made, "everyone", "viewer", MARA)
    assert roles(grants, ids, made) == ["manager", "viewer", "viewer"]


def test_a_teams_library_is_managed_by_its_managers(grants: Grants, ids: dict[str, str]) -> None:
    grants.add_team("Credit", MARA)
    grants.join("Credit", JONAS, MARA, manager=True)
    grants.join("Credit", PRIYA, MARA)
    made = grants.create("Facilities", "Credit", MARA)
    assert roles(grants, ids, made) == [None, "manager", "contributor"]
    assert [(one.name, one.email, one.role, one.people) for one in grants.members(made)] == [
        ("Credit", "", "manager", 2)
    ]
    with pytest.raises(InputError, match="owns a library"):
        grants.remove_team("Credit", MARA)


def test_a_removed_library_and_a_blocked_person_are_shut_out(
    grants: Grants, accounts: Accounts, ids: dict[str, str]
) -> None:
    made = grants.create("Contracts", JONAS, JONAS)
    grants.remove(made, JONAS)
    assert (roles(grants, ids, made), grants.of(ids[JONAS])) == ([None] * 3, [])
    grants.remove(made, JONAS, False)
    assert grants.role(ids[JONAS], made) == "manager"
    accounts.block(JONAS, MARA)
    assert grants.role(ids[JONAS], made) is None
    assert grants.role(ids[MARA], "0" * 32) is None


def test_every_change_is_in_the_log_with_its_library(grants: Grants, accounts: Accounts) -> None:
    made = grants.create("Contracts", JONAS, JONAS)
    grants.grant(made, MARA, "viewer", MARA)
    grants.rename(made, "Agreements", JONAS)
    grants.revoke(made, MARA, JONAS)
    grants.remove(made, JONAS)
    told = [(one.action, one.email, one.by, one.library) for one in reversed(accounts.log(5))]
    assert told == [
        ("library made", JONAS, JONAS, "Contracts"),
        ("made viewer", MARA, MARA, "Contracts"),
        ("library renamed Agreements", "", JONAS, "Contracts"),
        ("role taken", MARA, JONAS, "Agreements"),
        ("library removed", "", JONAS, "Agreements"),
    ]


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "\n"])
def test_a_name_has_words(grants: Grants, name: str) -> None:
    for act in (lambda: grants.create(name, MARA, MARA), lambda: grants.add_team(name, MARA)):
        with pytest.raises(InputError):
            act()


def test_who_is_unknown_gets_nothing(grants: Grants) -> None:
    made = grants.create("Contracts", MARA, MARA)
    for to in ("nobody@fernhill.example", "No team", ""):
        with pytest.raises(InputError):
            grants.grant(made, to, "viewer", MARA)
    with pytest.raises(InputError, match="owns"):
        grants.grant(made, MARA, "viewer", MARA)
    with pytest.raises(InputError):
        grants.revoke(made, JONAS, MARA)


def test_a_role_covers_those_below_it() -> None:
    assert [covers(role, "contributor") for role in (None, *ROLES)] == [False, False, True, True]


def test_a_library_has_the_settings_of_its_team_beneath_its_own(grants: Grants, accounts: Accounts) -> None:
    home = grants.home(grants.create("Contracts", MARA, MARA))
    home.mkdir(parents=True)
    (accounts.home / "config.toml").write_text('[llm]\nbase_url = "http://localhost:1"\n[retrieve]\ntop_k = 7\n')
    (home / "config.toml").write_text("[retrieve]\ntop_k = 9\n")
    settings = load(saved=saved(home), environ={})[0]
    assert (settings.llm.base_url, settings.retrieve.top_k) == ("http://localhost:1", 9)
    assert load(saved=saved(accounts.home), environ={})[0].retrieve.top_k == 7


@pytest.mark.sqlite
def test_accounts_of_the_version_before_open_with_their_people(people: Path, tmp_path: Path) -> None:
    old = tmp_path / "accounts.sqlite"
    with sqlite3.connect(people / "accounts.sqlite") as source, sqlite3.connect(old) as copy:
        source.backup(copy)
    with sqlite3.connect(old) as raw:
        for name in ("roles", "holders"):
            raw.execute(f"DROP VIEW {name}")
        for name in ("tokens", "grants", "libraries", "members", "teams"):
            raw.execute(f"DROP TABLE {name}")
        raw.execute("ALTER TABLE audit DROP COLUMN library")
        raw.execute("PRAGMA user_version = 1")
    raw.close()
    accounts = Accounts(tmp_path)
    Grants(accounts).begin(lambda _: None)
    assert [user.email for user in accounts.users()] == [MARA, JONAS, PRIYA]
    assert [one.role for one in Grants(accounts).of(accounts.users()[1].user_id)] == ["contributor"]
