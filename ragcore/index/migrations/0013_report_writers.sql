-- Each section that waits has its own writer: two people may have sections of one report filled.
ALTER TABLE report_tasks ADD COLUMN writer TEXT NOT NULL DEFAULT '';     -- offline, or the name of the model
ALTER TABLE report_tasks ADD COLUMN visit INTEGER NOT NULL DEFAULT 0;    -- 1: with a visit's key or server, which only its process has
UPDATE report_tasks SET writer = coalesce(
    (SELECT value FROM meta WHERE key = 'report_writer/' || report_tasks.report_id), '');
DELETE FROM meta WHERE key LIKE 'report_writer/%';
