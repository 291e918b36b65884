-- Vectors of the libraries in PostgreSQL, for pgvector: made when a library first uses it, behind the same wall as all
-- tables (postgres.sql). They go with their documents.
SELECT set_config('search_path', '{0},{1}', true), pg_advisory_xact_lock(hashtext('groundwork schema'));
CREATE TABLE IF NOT EXISTS nearest_documents (  -- documents whose vectors are there, with their fingerprint then
    library_id text COLLATE "C" NOT NULL DEFAULT current_setting('gw.library', true) CHECK (library_id != ''),
    embedder text COLLATE "C" NOT NULL,
    doc_id text COLLATE "C" NOT NULL,
    mark text COLLATE "C" NOT NULL,
    PRIMARY KEY (library_id, embedder, doc_id),
    FOREIGN KEY (library_id, doc_id) REFERENCES documents ON DELETE CASCADE
);
CREATE TABLE IF NOT EXISTS nearest (
    library_id text COLLATE "C" NOT NULL DEFAULT current_setting('gw.library', true) CHECK (library_id != ''),
    embedder text COLLATE "C" NOT NULL,
    doc_id text COLLATE "C" NOT NULL,
    chunk_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    first_page bigint NOT NULL,
    last_page bigint NOT NULL,
    start bigint NOT NULL,
    "end" bigint NOT NULL,
    vector vector STORAGE MAIN NOT NULL,  -- in its row, as long as that has room
    PRIMARY KEY (library_id, embedder, chunk_id),
    FOREIGN KEY (library_id, embedder, doc_id) REFERENCES nearest_documents ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS nearest_by_document ON nearest (library_id, embedder, doc_id);
DO $wall$
DECLARE one regclass;
BEGIN
    FOREACH one IN ARRAY ARRAY['nearest_documents'::regclass, 'nearest'::regclass] LOOP
        CONTINUE WHEN EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = one);
        EXECUTE format('CREATE POLICY library ON %s USING (library_id = current_setting(''gw.library'', true))', one);
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one);
    END LOOP;
END $wall$;
