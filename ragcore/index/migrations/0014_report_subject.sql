-- Whom and which year a report is about, as a person chose; reports that were begun before are not asked.
ALTER TABLE reports ADD COLUMN subject TEXT;              -- NULL: not asked yet; '': left to the documents
ALTER TABLE reports ADD COLUMN year INTEGER NOT NULL DEFAULT 0;  -- 0: the latest of each document
UPDATE reports SET subject = '';
