-- Order in the library: tags, folders, and a trash from which a removal can be taken back.

ALTER TABLE documents ADD COLUMN folder TEXT NOT NULL DEFAULT '';  -- names joined by "/"; '' for none
ALTER TABLE documents ADD COLUMN removed REAL;                     -- when it was put into the trash; NULL: it was not;
                                                                   -- 0: its removal is final and not done yet

CREATE TABLE tags (
    doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    tag    TEXT NOT NULL,
    PRIMARY KEY (doc_id, tag)
) WITHOUT ROWID;
CREATE INDEX tags_by_tag ON tags (tag);
