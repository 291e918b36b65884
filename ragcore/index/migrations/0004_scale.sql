-- What keeps the cost of a change in proportion to the document that changes.

ALTER TABLE chunks ADD COLUMN text TEXT;           -- that of the document between start and end: a query reads single
                                                   -- chunks of many documents. The columns of this migration are NULL in
                                                   -- rows from before it, until the index is next brought up to date
ALTER TABLE chunks ADD COLUMN first_page INTEGER;  -- that its own words touch; 0 where it has none
ALTER TABLE chunks ADD COLUMN last_page INTEGER;

ALTER TABLE documents ADD COLUMN chunk_count INTEGER;
ALTER TABLE documents ADD COLUMN fingerprint TEXT; -- digest of what is indexed of its chunks

-- Documents of which every chunk has a vector, and the fingerprint that they had then.
CREATE TABLE embedded (
    embedder    TEXT NOT NULL,
    doc_id      TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (embedder, doc_id)
) WITHOUT ROWID;

-- With rowids: a vector is longer than what a page of a table without them keeps of a row, and took three times the room.
CREATE TABLE vectors_with_rowid (
    embedder TEXT NOT NULL,
    chunk_id TEXT NOT NULL REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    vector   BLOB NOT NULL,                        -- float32, little endian
    PRIMARY KEY (embedder, chunk_id)
);
INSERT INTO vectors_with_rowid SELECT embedder, chunk_id, vector FROM vectors;
DROP TABLE vectors;
ALTER TABLE vectors_with_rowid RENAME TO vectors;
CREATE INDEX vectors_by_chunk ON vectors (chunk_id);
