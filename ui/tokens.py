"""Signed, expiring tokens for the app's own routes.

A token is ``<expiry>.<scope>.<signature>``: the time (seconds since the epoch, hexadecimal) until which it is good, the
session that it was given to, and an HMAC-SHA-256 over both. The secret lives as long as the process: after a restart
every page reconnects, reruns its script and is given a new one.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field

LIFETIME_SECONDS = 12 * 3600


@dataclass(frozen=True)
class Signer:
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def token(self, scope: str, now: float | None = None) -> str:
        """A token for ``scope`` (letters, digits, ``-`` and ``_`` only), good for `LIFETIME_SECONDS`."""
        expiry = format(int((time.time() if now is None else now) + LIFETIME_SECONDS), "x")
        return f"{expiry}.{scope}.{self._sign(expiry, scope)}"

    def scope(self, token: str, now: float | None = None) -> str | None:
        """The scope of a good token; None when it is malformed, forged or expired."""
        expiry, _, rest = token.partition(".")
        scope, _, signature = rest.rpartition(".")
        if not scope or not hmac.compare_digest(signature.encode(), self._sign(expiry, scope).encode()):
            return None
        return scope if int(expiry, 16) > (time.time() if now is None else now) else None

    def _sign(self, expiry: str, scope: str) -> str:
        return hmac.new(self.secret, f"{expiry}.{scope}".encode(), hashlib.sha256).hexdigest()[:32]
