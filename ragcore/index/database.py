"""The SQLite file: opening it, and its tables.

WAL lets any number of processes read while one writes; each write is one short ``BEGIN IMMEDIATE`` transaction, and a
process that finds the file busy waits `BUSY_SECONDS` before it gives up with `StoreBusy`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from ragcore import files
from ragcore.errors import DiskFull, StoreBusy, StoreError

BUSY_SECONDS = 30.0
SCHEMA = 100  # raise it with any change to the tables

metadata = sa.MetaData()


def _of(column: str) -> sa.ForeignKey:
    """A row that goes with the row it belongs to."""
    return sa.ForeignKey(column, ondelete="CASCADE")


documents = sa.Table(
    "documents",
    metadata,
    sa.Column("doc_id", sa.Text, primary_key=True),  # first 16 hex digits of sha256
    sa.Column("sha256", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),  # file name as given
    sa.Column("bytes", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),  # new | reading | ready | failed
    sa.Column("info", sa.Text),  # JSON: what inspecting the file said
    sa.Column("error", sa.Text),  # JSON: code, message, hint, retryable
    sa.Column("seconds", sa.REAL, nullable=False, server_default="0"),  # spent reading, over all attempts
    sa.Column("created", sa.REAL, nullable=False),
    sa.Column("title", sa.Text),  # from here on: set when status is ready
    sa.Column("pages", sa.Integer),
    sa.Column("counts", sa.Text),  # JSON: elements, tables, noise, chunks, ocr_pages, degraded_pages
    sa.Column("text", sa.Text),
    sa.Column("body_end", sa.Integer),
    sa.Column("words", sa.LargeBinary),  # word map, NumPy npz
    sa.Column("page_data", sa.LargeBinary),  # JSON, zlib
    sa.Column("elements", sa.LargeBinary),  # JSON, zlib
    sa.Column("recipe", sa.Text),  # hash of the settings that built text and chunks
    sa.Column("figures", sa.Text),  # JSON: what became of the figures
    sa.Column("built", sa.REAL),  # when text and chunks were written
    sa.Column("chunk_count", sa.Integer),
    sa.Column("fingerprint", sa.Text),  # digest of what is indexed of its chunks
    sa.Column("context", sa.Text),  # JSON: what was written, extracted, left and spent
    sa.Column("folder", sa.Text, nullable=False, server_default=""),  # names joined by "/"; '' for none
    sa.Column("removed", sa.REAL),  # when it was put into the trash; 0: its removal is final and not done yet
    sa.Column("held", sa.Integer, nullable=False, server_default="0"),  # 1: a person cancelled its reading
    sa.Column("given", sa.Text),  # what a person calls it; NULL: what its cover says
)
# One row per page as soon as it is read: a killed ingest goes on from here, and a rebuild starts here.
page_layouts = sa.Table(
    "page_layouts",
    metadata,
    sa.Column("doc_id", sa.Text, _of("documents.doc_id"), primary_key=True),
    sa.Column("page", sa.Integer, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
# The tiling of each document, then its composites: the rows of one table together.
TITLE = sa.func.coalesce(documents.c.given, documents.c.title)  # what a document is called

chunks = sa.Table(
    "chunks",
    metadata,
    sa.Column("chunk_id", sa.Text, primary_key=True),
    sa.Column("doc_id", sa.Text, _of("documents.doc_id"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),  # place in the document's tiling
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("section", sa.Text, nullable=False),  # JSON list
    sa.Column("header", sa.Text, nullable=False),
    sa.Column("lead_in", sa.Text, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("first_tile", sa.Integer),  # composite: the tiles that it spans; NULL for a tile
    sa.Column("last_tile", sa.Integer),
    sa.Column("grid", sa.Text, nullable=False, server_default=""),  # composite: its rows in short form
    sa.Column("text", sa.Text, nullable=False),  # of the document between start and end
    sa.Column("first_page", sa.Integer, nullable=False),  # that its own words touch; 0 where it has none
    sa.Column("last_page", sa.Integer, nullable=False),
    sa.Column("context", sa.Text, nullable=False, server_default=""),  # lines in front of it, for searching only
    sa.UniqueConstraint("doc_id", "position"),
)
meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
conversations = sa.Table(
    "conversations",
    metadata,
    sa.Column("conversation_id", sa.Text, primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("doc_ids", sa.Text),  # JSON of the scope; NULL: the whole library
    sa.Column("created", sa.REAL, nullable=False),
    sa.Column("updated", sa.REAL, nullable=False),
    sa.Column("shown", sa.Text),  # last turn of the path that is shown; NULL: no turn
)
# A tree: an edited or repeated question stands beside the one before it.
turns = sa.Table(
    "turns",
    metadata,
    sa.Column("turn_id", sa.Text, primary_key=True),
    sa.Column("conversation_id", sa.Text, _of("conversations.conversation_id"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("answer", sa.LargeBinary),  # JSON, zlib; NULL while it is being written
    sa.Column("created", sa.REAL, nullable=False),
    sa.Column("parent", sa.Text, sa.ForeignKey("turns.turn_id")),  # the turn before; NULL for a first question
    sa.Column("depth", sa.Integer, nullable=False, server_default="1"),  # from the first question down to it
    sa.UniqueConstraint("conversation_id", "position"),
    sa.Index("turns_by_parent", "parent"),
)
# Descriptions of figures by a model. They belong to pictures: a document that comes again asks for nothing anew.
descriptions = sa.Table(
    "descriptions",
    metadata,
    sa.Column("image", sa.Text, primary_key=True),  # SHA-256 of the picture's pixels
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("prompt", sa.Text, primary_key=True),  # hash of the prompt's words
    sa.Column("text", sa.Text, nullable=False),  # '': it shows nothing worth describing
    sa.Column("created", sa.REAL, nullable=False),
    sqlite_with_rowid=False,
)
# What the figures of a document have cost. Outlives the document, as its limit does.
figure_costs = sa.Table(
    "figure_costs",
    metadata,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("usd", sa.REAL, nullable=False),
    sqlite_with_rowid=False,
)
# The picture of each figure, so that a rebuild need not draw it again.
figure_images = sa.Table(
    "figure_images",
    metadata,
    sa.Column("doc_id", sa.Text, _of("documents.doc_id"), primary_key=True),
    sa.Column("place", sa.Text, primary_key=True),  # region of the page and resolution
    sa.Column("image", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
# Documents of which every chunk has a vector, and the fingerprint that they had then.
embedded = sa.Table(
    "embedded",
    metadata,
    sa.Column("embedder", sa.Text, primary_key=True),
    sa.Column("doc_id", sa.Text, _of("documents.doc_id"), primary_key=True),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
# With rowids: a vector is longer than what a table without them keeps of a row.
vectors = sa.Table(
    "vectors",
    metadata,
    sa.Column("embedder", sa.Text, primary_key=True),
    sa.Column("chunk_id", sa.Text, _of("chunks.chunk_id"), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),  # float32, little endian
    sa.Index("vectors_by_chunk", "chunk_id"),
)
# What BM25 counts in each document; made again where it is missing or damaged.
postings = sa.Table(
    "postings",
    metadata,
    sa.Column("doc_id", sa.Text, _of("documents.doc_id"), primary_key=True),
    sa.Column("fingerprint", sa.Text, nullable=False),  # of what was counted, and of how
    sa.Column("data", sa.LargeBinary, nullable=False),  # ragcore.index.bm25.Postings
)
# What models wrote to stand in front of chunks. It belongs to the text, as descriptions do to pictures.
contexts = sa.Table(
    "contexts",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),  # hash of what the model was asked about
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("prompt", sa.Text, primary_key=True),  # hash of the prompt's words
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created", sa.REAL, nullable=False),
    sqlite_with_rowid=False,
)
context_costs = sa.Table(
    "context_costs",
    metadata,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("usd", sa.REAL, nullable=False),
    sqlite_with_rowid=False,
)
# Sums by day (local time), model and purpose. Nothing of questions or documents stands in them.
spent = sa.Table(
    "spent",
    metadata,
    sa.Column("day", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("purpose", sa.Text, primary_key=True),  # ragcore.types.spending.Purpose
    sa.Column("priced", sa.Integer, primary_key=True),  # 0: the model had no price then, and usd is 0
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("input_tokens", sa.Integer, nullable=False),
    sa.Column("output_tokens", sa.Integer, nullable=False),
    sa.Column("cache_read_tokens", sa.Integer, nullable=False),
    sa.Column("cache_write_tokens", sa.Integer, nullable=False),
    sa.Column("usd", sa.REAL, nullable=False),
    sqlite_with_rowid=False,
)
# Complete answers of models by a hash of the whole request. Requests are not kept.
responses = sa.Table(
    "responses",
    metadata,
    sa.Column("fingerprint", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, nullable=False),  # as the service named it
    sa.Column("pieces", sa.LargeBinary, nullable=False),  # JSON list of the text as it came, zlib
    sa.Column("bytes", sa.Integer, nullable=False),
    sa.Column("created", sa.REAL, nullable=False),
    sa.Index("responses_by_age", "created", "bytes"),
)
# What turns and titles are found by; FTS5 indexes it (ragcore/index/conversation_search.py).
turn_words = sa.Table(
    "turn_words",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("turn_id", sa.Text, nullable=False, unique=True),  # of a title the conversation's
    sa.Column("conversation_id", sa.Text, _of("conversations.conversation_id"), nullable=False, index=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("forms", sa.Text, nullable=False),
)
TURN_SEARCH = (
    "CREATE VIRTUAL TABLE turn_search USING fts5(text, forms, content='turn_words', content_rowid='id', "
    "tokenize='unicode61 remove_diacritics 2')",
    "CREATE TRIGGER turn_words_added AFTER INSERT ON turn_words BEGIN "
    "INSERT INTO turn_search (rowid, text, forms) VALUES (new.id, new.text, new.forms); END",
    "CREATE TRIGGER turn_words_removed AFTER DELETE ON turn_words BEGIN INSERT INTO turn_search "
    "(turn_search, rowid, text, forms) VALUES ('delete', old.id, old.text, old.forms); END",
    "CREATE TRIGGER turn_words_changed AFTER UPDATE ON turn_words BEGIN INSERT INTO turn_search "
    "(turn_search, rowid, text, forms) VALUES ('delete', old.id, old.text, old.forms); "
    "INSERT INTO turn_search (rowid, text, forms) VALUES (new.id, new.text, new.forms); END",
)
tags = sa.Table(
    "tags",
    metadata,
    sa.Column("doc_id", sa.Text, _of("documents.doc_id"), primary_key=True),
    sa.Column("tag", sa.Text, primary_key=True),
    sa.Index("tags_by_tag", "tag"),
    sqlite_with_rowid=False,
)
reports = sa.Table(
    "reports",
    metadata,
    sa.Column("report_id", sa.Text, primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("guidance", sa.Text, nullable=False),  # holds for the whole report
    sa.Column("origin", sa.Text, nullable=False),  # what its template is called where it came from
    sa.Column("doc_ids", sa.Text),  # JSON list of what it is filled from; NULL: all documents
    sa.Column("trouble", sa.Text),  # JSON of the error that ended the last filling; NULL: none did
    sa.Column("created", sa.REAL, nullable=False),
    sa.Column("updated", sa.REAL, nullable=False),
    sa.Column("subject", sa.Text),  # NULL: not asked yet; '': left to the documents
    sa.Column("year", sa.Integer, nullable=False, server_default="0"),  # 0: the latest of each document
)
report_sections = sa.Table(
    "report_sections",
    metadata,
    sa.Column("section_id", sa.Text, primary_key=True),
    sa.Column("report_id", sa.Text, _of("reports.report_id"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),  # in the order in which they are printed
    sa.Column("level", sa.Integer, nullable=False),  # from 1: how deep it is nested
    sa.Column("asked", sa.Text, nullable=False),  # JSON of its Section of the template
    sa.Column("shown", sa.Text),  # the version that is shown; NULL: none
    sa.Column("accepted", sa.Integer, nullable=False, server_default="0"),  # 1: nothing may change it
    sa.Column("removed", sa.Integer, nullable=False, server_default="0"),  # 1: taken out; kept, to be put back
    sa.Column("trouble", sa.Text),  # JSON of the error that its last writing ended in; NULL: none
    sa.Index("report_sections_in_order", "report_id", "position"),
)
report_versions = sa.Table(
    "report_versions",
    metadata,
    sa.Column("version_id", sa.Text, primary_key=True),
    sa.Column("section_id", sa.Text, _of("report_sections.section_id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # from 1 in each section, in order of creation
    sa.Column("parent", sa.Text),  # the version that was shown when it was made; NULL: none was
    sa.Column("author", sa.Text, nullable=False),  # hand, offline, or the name of the model
    sa.Column("change", sa.Text, nullable=False),  # what was done, in words
    sa.Column("content", sa.LargeBinary, nullable=False),  # JSON of its FilledSection, zlib
    sa.Column("usd", sa.REAL),  # what it cost; NULL: the model has no price
    sa.Column("created", sa.REAL, nullable=False),
    sa.Index("report_versions_by_section", "section_id", "number", unique=True),
)
# Places of documents that the writer of a section always gets, or never.
report_places = sa.Table(
    "report_places",
    metadata,
    sa.Column("section_id", sa.Text, _of("report_sections.section_id"), primary_key=True),
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("start", sa.Integer, primary_key=True),  # characters of the document's text
    sa.Column("end", sa.Integer, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),  # pinned | excluded
    sa.Column("created", sa.REAL, nullable=False),
    sqlite_with_rowid=False,
)
# Sections that wait to be written, in order; one leaves in the transaction that stores what was written.
report_tasks = sa.Table(
    "report_tasks",
    metadata,
    sa.Column("task_id", sa.Integer, primary_key=True),
    sa.Column("report_id", sa.Text, _of("reports.report_id"), nullable=False),
    sa.Column("section_id", sa.Text, _of("report_sections.section_id"), nullable=False, unique=True),
    sa.Column("instruction", sa.Text, nullable=False),  # how to rewrite what is shown; "" fills the section anew
    sa.Column("created", sa.REAL, nullable=False),
    sa.Column("writer", sa.Text, nullable=False, server_default=""),  # offline, or the name of the model
    sa.Column("visit", sa.Integer, nullable=False, server_default="0"),  # 1: with a visit's own key
    sqlite_autoincrement=True,
)
feedback = sa.Table(
    "feedback",
    metadata,
    sa.Column("turn_id", sa.Text, _of("turns.turn_id"), primary_key=True),
    sa.Column("helpful", sa.Integer, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),  # ragcore.index.feedback.Reason, '' for none
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("created", sa.REAL, nullable=False),
    sqlite_with_rowid=False,
)
suggestions = sa.Table(
    "suggestions",
    metadata,
    sa.Column("turn_id", sa.Text, _of("turns.turn_id"), primary_key=True),
    sa.Column("questions", sa.Text, nullable=False),  # JSON list, [] where there is nothing to suggest
    sqlite_with_rowid=False,
)
# What stands in an empty conversation; a cache, made again where `stamp` has changed.
overviews = sa.Table(
    "overviews",
    metadata,
    sa.Column("doc_id", sa.Text, _of("documents.doc_id"), primary_key=True),
    sa.Column("stamp", sa.Text, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),  # ragcore.suggest.overview.Overview
    sqlite_with_rowid=False,
)
starters = sa.Table(
    "starters",
    metadata,
    sa.Column("scope", sa.Text, primary_key=True),  # ids of documents, joined by a comma
    sa.Column("stamp", sa.Text, nullable=False),
    sa.Column("questions", sa.Text, nullable=False),  # JSON list of ragcore.suggest.follow_ups.Starter
    sqlite_with_rowid=False,
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
            _create(connection, path)

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


def _create(connection: sa.Connection, path: Path) -> None:
    """Make the tables of a new file. Raises `StoreError` for a file of another schema."""
    version = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    if version > SCHEMA:
        raise StoreError(
            f"{path} was written by a newer Groundwork (schema {version}; this version knows {SCHEMA}).",
            hint="Update Groundwork, or use another --home.",
        )
    if 0 < version < SCHEMA:
        raise StoreError(
            f"{path} was written by a Groundwork from before the first release (schema {version}).",
            hint="Use another --home and add the PDFs in the folder `files` beside it again.",
        )
    if not version:
        metadata.create_all(connection)
        for statement in TURN_SEARCH:
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA}")
