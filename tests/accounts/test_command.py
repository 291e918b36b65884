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
    assert err == "There is no account 'nobody@fernhill.example'. Run `groundwork admin users` to list them.\n"
