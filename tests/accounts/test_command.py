"""``groundwork admin``: who may sign in, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragcore.accounts.accounts import Accounts, Device
from ragcore.cli.main import main

GOOD = "four words to remember"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["--home", str(tmp_path), "admin", *arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_from_an_invitation_to_a_block(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWORK_AUTH__URL", "https://library.example")
    assert run("users") == (0, "Nobody can sign in yet.\n", "")
    _, out, _ = run("invite", "mara@fernhill.example", "--admin", "--json")
    link = json.loads(out)["link"]
    assert link.startswith("https://library.example/gw/auth/link/")
    accounts = Accounts(tmp_path)
    accounts.accept(link.rpartition("/")[2], "", "Mara", GOOD, Device("192.0.2.1"))
    assert accounts.has_admin()
    assert "mara@fernhill.example  Mara  (administrator, last here " in run("users")[1]
    assert run("block", "mara@fernhill.example")[::2] == (
        1,
        "mara@fernhill.example is the only administrator. Invite another administrator first.\n",
    )
    run("invite", "jonas@fernhill.example")
    assert "jonas@fernhill.example  invited until " in run("users")[1]
    again = run("reset", "mara@fernhill.example")[1].splitlines()[1].rpartition("/")[2]
    accounts.accept(again, "", "", "another four words", Device())
    assert [one["action"] for one in json.loads(run("log", "--json")[1])["events"]] == [
        "password reset",
        "reset link made",
        "invited",
        "joined",
        "invited as administrator",
    ]
    accounts.close()


@pytest.mark.parametrize("command", ["reset", "block"])
def test_an_unknown_account_is_one_line(run: Any, command: str) -> None:
    code, out, err = run(command, "nobody@fernhill.example")
    assert (code, out) == (1, "")
    assert err.startswith("There is no account 'nobody@fernhill.example'.")
    assert err.count("\n") == 1


def test_libraries_and_teams_from_making_them_to_removing_them(run: Any, tmp_path: Path) -> None:
    for email in ("mara@fernhill.example", "jonas@fernhill.example"):
        accounts = Accounts(tmp_path)
        code = accounts.invite(email, "x", admin=email.startswith("mara"))
        accounts.accept(code, "", "", GOOD, Device())
        accounts.close()
    assert run("team", "add", "Credit")[0] == 0
    assert run("team", "join", "Credit", "jonas@fernhill.example", "--manager")[1] == (
        "Credit\n    jonas@fernhill.example  (manager)\n"
    )
    code, out, _ = run("library", "add", "Facilities", "--owner", "Credit", "--json")
    (made,) = json.loads(out)["libraries"]
    assert (code, made["name"], made["owner"]) == (0, "Facilities", "Credit")
    assert made["home"] == str(tmp_path / "libraries" / made["library_id"])
    out = run("library", "grant", "Facilities", "mara@fernhill.example", "viewer")[1]
    assert out.splitlines()[1:] == ["    manager     Credit", "    viewer      mara@fernhill.example"]
    assert run("library", "rename", made["library_id"][:8], "Loans")[0] == 0
    assert "(removed)" in run("library", "remove", "Loans")[1]
    assert "(removed)" not in run("library", "remove", "Loans", "--undo")[1]
    assert run("library", "revoke", "Loans", "jonas@fernhill.example")[0] == 1
    assert run("team", "leave", "Credit", "jonas@fernhill.example")[1] == "Credit\n"
    listed = run("library", "list")[1]
    assert "  Library  " in listed
    assert "    contributor Everyone" in listed
    assert "role taken" not in run("log")[1]
    assert "made viewer" in run("log")[1]
