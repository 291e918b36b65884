-- What a library in PostgreSQL has beside the tables of schema.sql: the triggers of sqlite.sql, and the wall.

CREATE OR REPLACE FUNCTION raise_revision() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO counters (name, value) VALUES ('revision', 1)
    ON CONFLICT (library_id, name) DO UPDATE SET value = counters.value + 1;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION document_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE documents SET successor = old.successor WHERE successor = old.doc_id;
    UPDATE eval_own_evidence SET quote = '' WHERE doc_id = old.doc_id;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER document_removed AFTER DELETE ON documents FOR EACH ROW EXECUTE FUNCTION document_removed();
CREATE OR REPLACE TRIGGER document_changed AFTER UPDATE OF status, removed, built, given, successor ON documents FOR EACH ROW
WHEN (old.removed IS DISTINCT FROM new.removed OR old.built IS DISTINCT FROM new.built
    OR old.given IS DISTINCT FROM new.given OR old.successor IS DISTINCT FROM new.successor
    OR (old.status = 'failed') != (new.status = 'failed')) EXECUTE FUNCTION raise_revision();
CREATE OR REPLACE TRIGGER document_embedded AFTER INSERT OR UPDATE ON embedded FOR EACH ROW EXECUTE FUNCTION raise_revision();

-- The wall: every table that has none yet gets the name of its library as a column, before all others in its keys and
-- indexes, and shows only the rows of the library that the transaction names (``gw.library``).
--
-- Whoever writes the next step of the schema: an empty database gets all tables before the wall, one with libraries gets
-- a new table beside walled ones, and there three things fail, the whole step with them, so nothing is half done:
-- * A new table's reference to an older one (``doc_id TEXT REFERENCES documents``): keys of that begin with library_id.
--   It needs `_create` (postgres.py) to leave the reference out of CREATE TABLE, and after this script
--   ``ALTER TABLE … ADD FOREIGN KEY (library_id, doc_id) REFERENCES documents ON DELETE CASCADE``. New tables may refer
--   to each other as they like.
-- * A column with a reference that a step adds to an older table: the same.
-- * An INSERT in a step: its rows belong to no library. UPDATE and DELETE change the rows of all libraries.
DO $wall$
DECLARE
    place text := current_schema();
    one record;
    keys text[] := '{}';
    links text[] := '{}';
    line text;
BEGIN
    FOR one IN SELECT c.oid::regclass AS of FROM pg_class c
        WHERE c.relnamespace = place::regnamespace AND c.relkind = 'r' AND c.relname != 'schema_version' AND NOT EXISTS (
            SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'library_id')
    LOOP
        EXECUTE format('ALTER TABLE %s ADD COLUMN library_id text COLLATE "C" NOT NULL'
            ' DEFAULT current_setting(''gw.library'', true) CHECK (library_id != '''')', one.of);
        EXECUTE format('CREATE POLICY library ON %s USING (library_id = current_setting(''gw.library'', true))', one.of);
    END LOOP;
    FOR one IN SELECT conrelid::regclass AS of, conname, contype, pg_get_constraintdef(oid) AS said FROM pg_constraint
        WHERE connamespace = place::regnamespace AND contype IN ('p', 'u', 'f') AND conrelid != 'schema_version'::regclass
        AND pg_get_constraintdef(oid) NOT LIKE '%(library_id,%'
        ORDER BY contype  -- foreign keys, primary keys, others: a key that another refers to can't be dropped
    LOOP
        line := regexp_replace(one.said, '(KEY|UNIQUE) \(', '\1 (library_id, ');
        line := regexp_replace(line, '(REFERENCES \S+)\(', '\1(library_id, ');
        line := format('ALTER TABLE %s ADD CONSTRAINT %I %s', one.of, one.conname, line);
        IF one.contype = 'f' THEN links := links || line; ELSE keys := keys || line; END IF;
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.of, one.conname);
    END LOOP;
    FOR one IN SELECT indexrelid::regclass AS of, pg_get_indexdef(indexrelid) AS said FROM pg_index
        JOIN pg_class c ON c.oid = indexrelid
        WHERE c.relnamespace = place::regnamespace AND pg_get_indexdef(indexrelid) NOT LIKE '%(library_id%'
        AND indrelid != 'schema_version'::regclass
    LOOP
        EXECUTE format('DROP INDEX %s', one.of);
        EXECUTE regexp_replace(one.said, 'USING btree \(', 'USING btree (library_id, ');
    END LOOP;
    FOR one IN SELECT c.oid::regclass AS of FROM pg_class c
        WHERE c.relnamespace = place::regnamespace AND c.relkind = 'r' AND c.relname != 'schema_version'
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one.of);
    END LOOP;
    FOREACH line IN ARRAY keys LOOP EXECUTE line; END LOOP;
    FOREACH line IN ARRAY links LOOP EXECUTE line; END LOOP;
END $wall$;
