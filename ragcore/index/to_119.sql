-- Tables that PostgreSQL can have too: words of turns without FTS5, counters, and columns for what SQLite alone could tell.
CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counters SELECT key, value FROM meta WHERE key = 'revision';
DELETE FROM meta WHERE key = 'revision';
DROP TRIGGER IF EXISTS document_changed;
DROP TRIGGER IF EXISTS document_embedded;
DROP TRIGGER turn_words_added;
DROP TRIGGER turn_words_removed;
DROP TRIGGER turn_words_changed;
DROP TABLE turn_search;
CREATE TABLE turn_lexemes (
    turn_id TEXT NOT NULL REFERENCES turn_words (turn_id) ON DELETE CASCADE,
    lexeme TEXT NOT NULL,
    PRIMARY KEY (turn_id, lexeme)
) WITHOUT ROWID;
INSERT INTO turn_lexemes SELECT DISTINCT turn_id, each.value FROM turn_words, json_each(lexemes(text)) AS each;
ALTER TABLE report_sections ADD COLUMN guided BOOLEAN NOT NULL DEFAULT 0;
UPDATE report_sections SET guided = coalesce(json_extract(asked, '$.guidance'), '') != '';
ALTER TABLE eval_verdicts ADD COLUMN asked REAL NOT NULL DEFAULT 0;
UPDATE eval_verdicts SET asked = rowid;
