-- What stands in front of a chunk beside its header, and what models wrote for it. Their words belong to the text they
-- are about, not to documents: removing a document and adding it again asks for nothing a second time.

CREATE TABLE contexts (
    key     TEXT NOT NULL,               -- hash of what the model was asked about
    model   TEXT NOT NULL,
    prompt  TEXT NOT NULL,               -- hash of the prompt's words
    text    TEXT NOT NULL,
    created REAL NOT NULL,
    PRIMARY KEY (key, model, prompt)
) WITHOUT ROWID;

-- What a document's contexts have cost, requests under way at their most. Outlives the document, as its limit does.
CREATE TABLE context_costs (
    doc_id TEXT PRIMARY KEY,
    usd    REAL NOT NULL
) WITHOUT ROWID;

ALTER TABLE chunks ADD COLUMN context TEXT NOT NULL DEFAULT '';  -- lines in front of it, for searching only
ALTER TABLE documents ADD COLUMN context TEXT;                   -- JSON: what was written, extracted, left and spent
