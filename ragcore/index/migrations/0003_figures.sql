-- Descriptions of figures by a model. They belong to pictures, not to documents: removing a document and adding it
-- again asks for nothing a second time.

CREATE TABLE descriptions (
    image   TEXT NOT NULL,               -- SHA-256 of the picture's pixels
    model   TEXT NOT NULL,
    prompt  TEXT NOT NULL,               -- hash of the prompt's words
    text    TEXT NOT NULL,               -- '': it shows nothing worth describing
    created REAL NOT NULL,
    PRIMARY KEY (image, model, prompt)
) WITHOUT ROWID;

-- What the figures of a document have cost, requests under way at their most. Outlives the document, as its limit does.
CREATE TABLE figure_costs (
    doc_id TEXT PRIMARY KEY,
    usd    REAL NOT NULL
) WITHOUT ROWID;

-- The picture of each figure, so that a rebuild need not draw it again.
CREATE TABLE figure_images (
    doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    place  TEXT NOT NULL,                -- region of the page and resolution
    image  TEXT NOT NULL,
    PRIMARY KEY (doc_id, place)
) WITHOUT ROWID;

ALTER TABLE documents ADD COLUMN figures TEXT;  -- JSON: what became of the figures
ALTER TABLE documents ADD COLUMN built REAL;    -- when text and chunks were written
