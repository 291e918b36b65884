"""Signed, expiring tokens for the app's routes.

A token is ``<expiry>.<scope>.<signature>``: its expiry (seconds since the epoch, hexadecimal), the session it belongs
to, and an HMAC-SHA-256 over both. The secret is kept in the home folder: after a restart an open page reconnects
without rerunning its script, so its token must stay valid.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from ragcore.index.shared import change, read

LIFETIME_SECONDS = 12 * 3600
SECRET_BYTES = 32


@dataclass(frozen=True)
class Signer:
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(SECRET_BYTES), repr=False)

    @classmethod
    def kept(cls, file: Path) -> Signer:
        """Tokens signed with the secret in the shared ``file`` (`ragcore.index.shared`); a missing or damaged secret is
        created anew, readable by its owner only. Raises `StoreError`."""
        secret = read(file)
        return cls(secret if _whole(secret) else change(file, _made))

    def token(self, scope: str, now: float | None = None) -> str:
        """Token for ``scope`` (letters, digits, ``-`` and ``_`` only), valid for `LIFETIME_SECONDS`."""
        expiry = format(int((time.time() if now is None else now) + LIFETIME_SECONDS), "x")
        return f"{expiry}.{scope}.{self._sign(expiry, scope)}"

    def scope(self, token: str, now: float | None = None) -> str | None:
        """Scope of a valid token; None if malformed, forged or expired."""
        expiry, _, rest = token.partition(".")
        scope, _, signature = rest.rpartition(".")
        if not scope or not hmac.compare_digest(signature.encode(), self._sign(expiry, scope).encode()):
            return None
        return scope if int(expiry, 16) > (time.time() if now is None else now) else None

    def _sign(self, expiry: str, scope: str) -> str:
        return hmac.new(self.secret, f"{expiry}.{scope}".encode(), hashlib.sha256).hexdigest()[:32]


def _made(there: bytes | None) -> bytes:
    return there if _whole(there) else secrets.token_bytes(SECRET_BYTES)


def _whole(secret: bytes | None) -> TypeGuard[bytes]:
    return secret is not None and len(secret) == SECRET_BYTES
