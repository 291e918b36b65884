from __future__ import annotations

from ui.tokens import LIFETIME_SECONDS, Signer


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
