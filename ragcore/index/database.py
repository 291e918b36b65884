"""The SQLite file: opening it, its tables as SQLAlchemy Core knows them, and its numbered migrations.

WAL lets any number of processes read while one writes; each write is one short ``BEGIN IMMEDIATE`` transaction, and a
process that finds the file busy waits `BUSY_SECONDS` before it gives up with `StoreBusy`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import sqlalchemy as sa

from ragcore import files
from ragcore.errors import DiskFull, StoreBusy, StoreError

BUSY_SECONDS = 30.0

metadata = sa.MetaData()

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("sha256", sa.Text),
    sa.Column("name", sa.Text),
    sa.Column("bytes", sa.Integer),
    sa.Column("status", sa.Text),
    sa.Column("info", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("seconds", sa.REAL),
    sa.Column("created", sa.REAL),
    sa.Column("title", sa.Text),
    sa.Column("pages", sa.Integer),
    sa.Column("counts", sa.Text),
    sa.Column("text", sa.Text),
    sa.Column("body_end", sa.Integer),
    sa.Column("words", sa.LargeBinary),
    sa.Column("page_data", sa.LargeBinary),
    sa.Column("elements", sa.LargeBinary),
    sa.Column("recipe", sa.Text),
    sa.Column("figures", sa.Text),
    sa.Column("built", sa.REAL),
    sa.Column("chunk_count", sa.Integer),
    sa.Column("fingerprint", sa.Text),
    sa.Column("context", sa.Text),
    sa.Column("folder", sa.Text),
    sa.Column("removed", sa.REAL),
    sa.Column("held", sa.Integer),
    sa.Column("given", sa.Text),
)
TITLE = sa.func.coalesce(documents.c.given, documents.c.title)  # what a document is called
tags = sa.Table(
    "tags",
    metadata,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("tag", sa.Text, primary_key=True),
)
page_layouts = sa.Table(
    "page_layouts",
    metadata,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("page", sa.Integer, primary_key=True),
    sa.Column("data", sa.LargeBinary),
)
chunks = sa.Table(
    "chunks",
    metadata,
    sa.Column("chunk_id", sa.Text, primary_key=True),
    sa.Column("doc_id", sa.Text),
    sa.Column("position", sa.Integer),
    sa.Column("kind", sa.Text),
    sa.Column("start", sa.Integer),
    sa.Column("end", sa.Integer),
    sa.Column("section", sa.Text),
    sa.Column("header", sa.Text),
    sa.Column("lead_in", sa.Text),
    sa.Column("tokens", sa.Integer),
    sa.Column("first_tile", sa.Integer),
    sa.Column("last_tile", sa.Integer),
    sa.Column("grid", sa.Text),
    sa.Column("text", sa.Text),
    sa.Column("first_page", sa.Integer),
    sa.Column("last_page", sa.Integer),
    sa.Column("context", sa.Text),
)
embedded = sa.Table(
    "embedded",
    metadata,
    sa.Column("embedder", sa.Text, primary_key=True),
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.Text),
)
vectors = sa.Table(
    "vectors",
    metadata,
    sa.Column("embedder", sa.Text, primary_key=True),
    sa.Column("chunk_id", sa.Text, primary_key=True),
    sa.Column("vector", sa.LargeBinary),
)
descriptions = sa.Table(
    "descriptions",
    metadata,
    sa.Column("image", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("prompt", sa.Text, primary_key=True),
    sa.Column("text", sa.Text),
    sa.Column("created", sa.REAL),
)
figure_costs = sa.Table(
    "figure_costs", metadata, sa.Column("doc_id", sa.Text, primary_key=True), sa.Column("usd", sa.REAL)
)
figure_images = sa.Table(
    "figure_images",
    metadata,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("place", sa.Text, primary_key=True),
    sa.Column("image", sa.Text),
)
contexts = sa.Table(
    "contexts",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("prompt", sa.Text, primary_key=True),
    sa.Column("text", sa.Text),
    sa.Column("created", sa.REAL),
)
context_costs = sa.Table(
    "context_costs", metadata, sa.Column("doc_id", sa.Text, primary_key=True), sa.Column("usd", sa.REAL)
)
spent = sa.Table(
    "spent",
    metadata,
    sa.Column("day", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("purpose", sa.Text, primary_key=True),
    sa.Column("priced", sa.Integer, primary_key=True),
    sa.Column("calls", sa.Integer),
    sa.Column("input_tokens", sa.Integer),
    sa.Column("output_tokens", sa.Integer),
    sa.Column("cache_read_tokens", sa.Integer),
    sa.Column("cache_write_tokens", sa.Integer),
    sa.Column("usd", sa.REAL),
)
responses = sa.Table(
    "responses",
    metadata,
    sa.Column("fingerprint", sa.Text, primary_key=True),
    sa.Column("model", sa.Text),
    sa.Column("pieces", sa.LargeBinary),
    sa.Column("bytes", sa.Integer),
    sa.Column("created", sa.REAL),
)
meta = sa.Table("meta", metadata, sa.Column("key", sa.Text, primary_key=True), sa.Column("value", sa.Text))
conversations = sa.Table(
    "conversations",
    metadata,
    sa.Column("conversation_id", sa.Text, primary_key=True),
    sa.Column("title", sa.Text),
    sa.Column("doc_ids", sa.Text),
    sa.Column("created", sa.REAL),
    sa.Column("updated", sa.REAL),
    sa.Column("shown", sa.Text),
)
turns = sa.Table(
    "turns",
    metadata,
    sa.Column("turn_id", sa.Text, primary_key=True),
    sa.Column("conversation_id", sa.Text),
    sa.Column("position", sa.Integer),
    sa.Column("question", sa.Text),
    sa.Column("answer", sa.LargeBinary),
    sa.Column("created", sa.REAL),
    sa.Column("parent", sa.Text),
    sa.Column("depth", sa.Integer),
)
turn_words = sa.Table(
    "turn_words",
    metadata,
    sa.Column("turn_id", sa.Text, primary_key=True),
    sa.Column("conversation_id", sa.Text),
    sa.Column("words", sa.Text),
    sa.Column("text", sa.Text),
)

reports = sa.Table(
    "reports",
    metadata,
    sa.Column("report_id", sa.Text, primary_key=True),
    sa.Column("title", sa.Text),
    sa.Column("guidance", sa.Text),
    sa.Column("origin", sa.Text),
    sa.Column("doc_ids", sa.Text),
    sa.Column("trouble", sa.Text),
    sa.Column("created", sa.REAL),
    sa.Column("updated", sa.REAL),
    sa.Column("subject", sa.Text),
    sa.Column("year", sa.Integer),
)
report_sections = sa.Table(
    "report_sections",
    metadata,
    sa.Column("section_id", sa.Text, primary_key=True),
    sa.Column("report_id", sa.Text),
    sa.Column("position", sa.Integer),
    sa.Column("level", sa.Integer),
    sa.Column("asked", sa.Text),
    sa.Column("shown", sa.Text),
    sa.Column("accepted", sa.Integer),
    sa.Column("removed", sa.Integer),
    sa.Column("trouble", sa.Text),
)
report_versions = sa.Table(
    "report_versions",
    metadata,
    sa.Column("version_id", sa.Text, primary_key=True),
    sa.Column("section_id", sa.Text),
    sa.Column("number", sa.Integer),
    sa.Column("parent", sa.Text),
    sa.Column("author", sa.Text),
    sa.Column("change", sa.Text),
    sa.Column("content", sa.LargeBinary),
    sa.Column("usd", sa.REAL),
    sa.Column("created", sa.REAL),
)
report_places = sa.Table(
    "report_places",
    metadata,
    sa.Column("section_id", sa.Text, primary_key=True),
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("start", sa.Integer, primary_key=True),
    sa.Column("end", sa.Integer, primary_key=True),
    sa.Column("kind", sa.Text),
    sa.Column("created", sa.REAL),
)
report_tasks = sa.Table(
    "report_tasks",
    metadata,
    sa.Column("task_id", sa.Integer, primary_key=True),
    sa.Column("report_id", sa.Text),
    sa.Column("section_id", sa.Text),
    sa.Column("instruction", sa.Text),
    sa.Column("created", sa.REAL),
    sa.Column("writer", sa.Text),
    sa.Column("visit", sa.Integer),
)

feedback = sa.Table(
    "feedback",
    metadata,
    sa.Column("turn_id", sa.Text, primary_key=True),
    sa.Column("helpful", sa.Integer),
    sa.Column("reason", sa.Text),
    sa.Column("words", sa.Text),
    sa.Column("created", sa.REAL),
)
overviews = sa.Table(
    "overviews",
    metadata,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("stamp", sa.Text),
    sa.Column("data", sa.LargeBinary),
)
starters = sa.Table(
    "starters",
    metadata,
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("stamp", sa.Text),
    sa.Column("questions", sa.Text),
)
suggestions = sa.Table(
    "suggestions", metadata, sa.Column("turn_id", sa.Text, primary_key=True), sa.Column("questions", sa.Text)
)


class Database:
    """One SQLite file, safe for many threads and processes. Raises `StoreError` where it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            files.private(path.parent)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives its other files the same permissions
        except OSError as error:
            raise StoreError(f"The home folder {path.parent} can't be used: {error.strerror}.") from error
        self._engine = sa.create_engine(
            f"sqlite:///{path}",
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
            poolclass=sa.pool.QueuePool,
            max_overflow=32,
        )
        sa.event.listen(self._engine, "connect", _prepare)
        with self.write() as connection:
            _migrate(connection, path)

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A connection in a read transaction: one consistent state however long it is open."""
        with self._translated(), self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A connection in a write transaction: committed at the end, rolled back on an error."""
        with self._translated(), self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.OperationalError as error:
            reason = str(error.orig)
            if "locked" in reason or "busy" in reason:
                raise StoreBusy(
                    f"Another process has been writing to {self.path} for over {BUSY_SECONDS:.0f} s."
                ) from error
            if "full" in reason:
                raise DiskFull(f"The disk of {self.path} is full.") from error
            raise StoreError(f"The database {self.path} can't be used: {reason}.") from error
        except sa.exc.DatabaseError as error:
            raise StoreError(
                f"The database {self.path} can't be used: {error.orig}.",
                hint="Move the file away to start afresh. Your PDFs stay in the folder `files` beside it.",
            ) from error


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by `Database.read` and `Database.write`, never implied
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _migrate(connection: sa.Connection, path: Path) -> None:
    """Run the migrations past the file's ``user_version``, in order, inside the caller's transaction."""
    folder = resources.files("ragcore.index").joinpath("migrations")
    scripts = sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)
    version = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    if version > len(scripts):
        raise StoreError(
            f"{path} was written by a newer Groundwork (schema {version}; this version knows {len(scripts)}).",
            hint="Update Groundwork, or use another --home.",
        )
    for number, script in enumerate(scripts[version:], start=version + 1):
        for statement in _statements(script.read_text("utf-8")):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql(f"PRAGMA user_version = {number}")


def _statements(script: str) -> Iterator[str]:
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
