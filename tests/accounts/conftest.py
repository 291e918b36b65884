"""A clock that tests turn, and a database of each test's own, where that is PostgreSQL."""

from __future__ import annotations

import pytest

from ragcore.accounts.accounts import Accounts
from ragcore.index.database import ACCOUNTS, PEOPLE
from ragcore.index.move import tables
from tests.conftest import elsewhere

own_database = pytest.fixture(elsewhere, autouse=True)


class Clock:
    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def stored(accounts: Accounts) -> bytes:
    """All that is stored of the accounts."""
    with accounts.database.read() as connection:
        rows = [repr(tuple(row)) for table, _ in tables(PEOPLE[0]) for row in connection.rows(f"SELECT * FROM {table}")]
    kept = [path.read_bytes() for path in accounts.home.glob(f"{ACCOUNTS}*")]
    return b"".join([*(row.encode() for row in rows), *kept])
