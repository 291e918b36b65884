-- Conversations are somebody's, and private unless shared.
ALTER TABLE conversations ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN shared BOOLEAN NOT NULL DEFAULT 0;

-- Versions of documents, and folders that are watched.
ALTER TABLE documents ADD COLUMN successor TEXT;  -- doc_id of what its file became in a watched folder
DROP VIEW built;
CREATE INDEX documents_by_successor ON documents (successor) WHERE successor IS NOT NULL;

-- Earlier versions, each with the next one, which is read: they stay for what cites them, and are not asked.
CREATE VIEW earlier AS SELECT old.doc_id, new.doc_id AS successor
FROM documents old JOIN documents new ON new.doc_id = old.successor
WHERE new.status = 'ready' AND new.removed IS NULL AND old.removed IS NULL;

-- New versions that aren't read yet: the one before is asked until they are.
CREATE VIEW coming AS SELECT doc_id FROM documents
WHERE status != 'ready' AND doc_id IN (SELECT successor FROM documents WHERE successor IS NOT NULL AND removed IS NULL);

-- Documents that can be asked: with a build, of all pages or of the first ones, not in the trash, the newest version.
CREATE VIEW built AS SELECT * FROM documents WHERE built IS NOT NULL AND status != 'failed' AND removed IS NULL
AND doc_id NOT IN (SELECT doc_id FROM earlier) AND doc_id NOT IN (SELECT doc_id FROM coming);

-- The chain of versions stays whole when one of them goes.
CREATE TRIGGER version_removed AFTER DELETE ON documents BEGIN
    UPDATE documents SET successor = old.successor WHERE successor = old.doc_id;
END;

-- Folders whose files are kept in step with documents, and what each file was when it was last looked at.
CREATE TABLE watched_folders (
    path TEXT NOT NULL PRIMARY KEY,
    recursive BOOLEAN NOT NULL,
    patterns JSON TEXT NOT NULL,  -- list, such as "*.pdf"; []: every kind that is read
    every REAL NOT NULL,  -- seconds between two scans
    created REAL NOT NULL,
    scanned REAL,  -- when it was last looked through; NULL: never
    seconds REAL NOT NULL DEFAULT 0,  -- that this took
    error JSON TEXT  -- why the last scan could not look through it; NULL: it did
) WITHOUT ROWID;
CREATE TABLE watched_files (
    folder TEXT NOT NULL REFERENCES watched_folders ON DELETE CASCADE,
    path TEXT NOT NULL,  -- below the folder
    bytes INTEGER NOT NULL,
    modified INTEGER NOT NULL,  -- nanoseconds
    changed INTEGER NOT NULL,  -- of its inode: also when it was put in place of another, or its permissions changed
    doc_id TEXT,  -- document with its content when it was last read; it may have been removed since
    error JSON TEXT,  -- why it could not be added as it is now
    gone REAL,  -- when it was found to be no longer there
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
CREATE INDEX watched_files_by_document ON watched_files (doc_id);
DROP TRIGGER document_changed;
CREATE TRIGGER document_changed AFTER UPDATE OF status, removed, built, given, successor ON documents
WHEN old.removed IS NOT new.removed OR old.built IS NOT new.built OR old.given IS NOT new.given
    OR old.successor IS NOT new.successor
    OR (old.status = 'failed') != (new.status = 'failed') BEGIN
    UPDATE meta SET value = value + 1 WHERE key = 'revision';
END;
