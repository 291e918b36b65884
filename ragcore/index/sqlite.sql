-- Triggers of a library in SQLite; postgres.sql has the same for PostgreSQL.

-- The chain of versions stays whole when one of them goes.
CREATE TRIGGER IF NOT EXISTS version_removed AFTER DELETE ON documents BEGIN
    UPDATE documents SET successor = old.successor WHERE successor = old.doc_id;
END;

-- The words of a removed document go with it.
CREATE TRIGGER IF NOT EXISTS document_removed AFTER DELETE ON documents BEGIN
    UPDATE eval_own_evidence SET quote = '' WHERE doc_id = old.doc_id;
END;

CREATE TRIGGER IF NOT EXISTS document_changed AFTER UPDATE OF status, removed, built, given, successor ON documents
WHEN old.removed IS NOT new.removed OR old.built IS NOT new.built OR old.given IS NOT new.given
    OR old.successor IS NOT new.successor
    OR (old.status = 'failed') != (new.status = 'failed') BEGIN
    INSERT INTO counters VALUES ('revision', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER IF NOT EXISTS document_embedded AFTER INSERT ON embedded BEGIN
    INSERT INTO counters VALUES ('revision', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER IF NOT EXISTS document_embedded_again AFTER UPDATE ON embedded BEGIN
    INSERT INTO counters VALUES ('revision', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
