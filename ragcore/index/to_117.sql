-- Conversations are somebody's, and private unless shared.
ALTER TABLE conversations ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN shared BOOLEAN NOT NULL DEFAULT 0;

-- Versions of documents, and folders that are watched.
ALTER TABLE documents ADD COLUMN successor TEXT;
DROP VIEW built;
DROP TRIGGER document_changed;
