-- What accounts in PostgreSQL have beside the tables of schema.sql.

-- Small files of home folders that every machine has: of the home folder (''), and of libraries below it.
CREATE TABLE IF NOT EXISTS kept (
  home TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL, -- library.id | config.toml | web.secret
  data BYTEA NOT NULL,
  PRIMARY KEY (home, name)
);

-- The order in which rows came, as SQLite has it.
ALTER TABLE users ADD COLUMN IF NOT EXISTS rowid BIGINT GENERATED ALWAYS AS IDENTITY;
ALTER TABLE audit ADD COLUMN IF NOT EXISTS rowid BIGINT GENERATED ALWAYS AS IDENTITY;

CREATE OR REPLACE FUNCTION only_grows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'the log is append only';
END $$;
CREATE OR REPLACE TRIGGER audit_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION only_grows();

-- The wall: transactions of a library see nothing of these tables, and those of accounts nothing of a library.
DO $wall$
DECLARE
    one regclass;
BEGIN
    FOR one IN SELECT oid FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname != 'schema_version'
    LOOP
        EXECUTE format('DROP POLICY IF EXISTS accounts ON %s', one);
        EXECUTE format('CREATE POLICY accounts ON %s USING (current_setting(''gw.library'', true) = ''accounts'')', one);
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one);
    END LOOP;
END $wall$;
