-- Documents, their pages as read, their chunks and vectors; conversations and answers.

CREATE TABLE documents (
    doc_id    TEXT PRIMARY KEY,          -- first 16 hex digits of sha256
    sha256    TEXT NOT NULL UNIQUE,
    name      TEXT NOT NULL,             -- file name as given
    bytes     INTEGER NOT NULL,
    status    TEXT NOT NULL,             -- new | reading | ready | failed
    info      TEXT,                      -- JSON: what inspecting the file said
    error     TEXT,                      -- JSON: code, message, hint, retryable
    seconds   REAL NOT NULL DEFAULT 0,   -- spent reading, over all attempts
    created   REAL NOT NULL,
    title     TEXT,                      -- from here on: set when status is ready
    pages     INTEGER,
    counts    TEXT,                      -- JSON: elements, tables, noise, chunks, ocr_pages, degraded_pages
    text      TEXT,
    body_end  INTEGER,
    words     BLOB,                      -- word map, NumPy npz
    page_data BLOB,                      -- JSON, zlib
    elements  BLOB,                      -- JSON, zlib
    recipe    TEXT                       -- hash of the settings that built text and chunks
);

-- One row per page as soon as it is read: a killed ingest goes on from here, and a rebuild starts here.
CREATE TABLE page_layouts (
    doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    page   INTEGER NOT NULL,
    data   BLOB NOT NULL,
    PRIMARY KEY (doc_id, page)
) WITHOUT ROWID;

CREATE TABLE chunks (
    chunk_id TEXT PRIMARY KEY,
    doc_id   TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,           -- place in the document's tiling
    kind     TEXT NOT NULL,
    start    INTEGER NOT NULL,
    "end"    INTEGER NOT NULL,
    section  TEXT NOT NULL,              -- JSON list
    header   TEXT NOT NULL,
    lead_in  TEXT NOT NULL,
    tokens   INTEGER NOT NULL,
    UNIQUE (doc_id, position)
);

CREATE TABLE vectors (
    embedder TEXT NOT NULL,
    chunk_id TEXT NOT NULL REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    vector   BLOB NOT NULL,              -- float32, little endian
    PRIMARY KEY (embedder, chunk_id)
) WITHOUT ROWID;

CREATE INDEX vectors_by_chunk ON vectors (chunk_id);

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE conversations (
    conversation_id TEXT PRIMARY KEY,
    title           TEXT NOT NULL,
    doc_ids         TEXT,                -- JSON list, or NULL for the whole library
    created         REAL NOT NULL,
    updated         REAL NOT NULL
);

CREATE TABLE turns (
    turn_id         TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (conversation_id) ON DELETE CASCADE,
    position        INTEGER NOT NULL,
    question        TEXT NOT NULL,
    answer          BLOB,                -- JSON, zlib; NULL while it is being written
    created         REAL NOT NULL,
    UNIQUE (conversation_id, position)
);
