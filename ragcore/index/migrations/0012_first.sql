-- What a person calls a document, which outlives every reading of it; NULL: what its cover says.
ALTER TABLE documents ADD COLUMN given TEXT;

-- What stands in an empty conversation about documents that were read; a cache, made again where `stamp` has changed.
CREATE TABLE overviews (
    doc_id TEXT PRIMARY KEY REFERENCES documents (doc_id) ON DELETE CASCADE,
    stamp  TEXT NOT NULL,
    data   BLOB NOT NULL                      -- ragcore.overview.Overview
) WITHOUT ROWID;

CREATE TABLE starters (
    scope     TEXT PRIMARY KEY,               -- ids of documents, joined by a comma
    stamp     TEXT NOT NULL,
    questions TEXT NOT NULL                   -- JSON list of ragcore.suggesting.Starter
) WITHOUT ROWID;
