from __future__ import annotations

from pathlib import Path

import pytest

from ragcore.errors import StoreError
from ui.server.tokens import LIFETIME_SECONDS, Signer


def test_a_token_is_good_for_its_time_and_no_longer() -> None:
    signer = Signer()
    token = signer.token("session", now=1000.0)
    assert signer.scope(token, now=1000.0) == "session"
    assert signer.scope(token, now=1000.0 + LIFETIME_SECONDS - 2) == "session"
    assert signer.scope(token, now=1001.0 + LIFETIME_SECONDS) is None


def test_a_forged_or_malformed_token_is_refused() -> None:
    signer = Signer()
    token = signer.token("session")
    expiry, scope, signature = token.split(".")
    later = format(int(expiry, 16) + 10**6, "x")
    other = Signer().token("session")
    for bad in (
        "",
        ".",
        "..",
        "a.b.c",
        token[:-1],
        f"{later}.{scope}.{signature}",
        f"{expiry}.other.{signature}",
        other,
    ):
        assert signer.scope(bad) is None


def test_the_secret_outlives_the_process_and_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "web.secret"
    token = Signer.kept(file).token("session")
    assert file.stat().st_mode & 0o777 == 0o600
    assert Signer.kept(file).scope(token) == "session"
    file.write_bytes(b"cut")
    assert Signer.kept(file).scope(token) is None
    assert Signer.kept(file).secret == file.read_bytes()
    with pytest.raises(StoreError, match=r"web\.secret"):
        Signer.kept(file / "web.secret")
