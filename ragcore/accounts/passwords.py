"""Passwords: which are taken, how they are kept (argon2id), and checking one."""

from __future__ import annotations

from functools import cache
from importlib import resources

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ragcore.errors import InputError

SHORTEST, LONGEST = 12, 200
FEWEST = 5  # different characters
_hasher = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
_NOBODY = (
    f"$argon2id$v=19$m=65536,t=3,p=4${'A' * 22}${'A' * 43}"  # of no password: to check one against it is the same work
)


def hashed(password: str, email: str) -> str:
    """Password as it is stored. Raises `InputError` for one that is easily guessed."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError(
            f"A password has {SHORTEST} to {LONGEST} characters.", hint="Use a few words that you can remember."
        )
    plain = password.lower()
    if plain in _common() or len(set(plain)) < FEWEST or plain == email:
        raise InputError("This password is easily guessed.", hint="Use a few words that you can remember.")
    return _hasher.hash(password)


def matches(password: str, stored: str | None) -> bool:
    """Whether ``password`` is the ``stored`` one. Without a stored one the work is the same, and the answer no."""
    try:
        return _hasher.verify(stored or _NOBODY, password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


@cache
def _common() -> frozenset[str]:
    lines = resources.files("ragcore.accounts").joinpath("common_passwords.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))
