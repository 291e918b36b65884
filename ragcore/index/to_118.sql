-- Reports are somebody's, and private unless shared; those there are already are everybody's.
ALTER TABLE reports ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE reports ADD COLUMN shared BOOLEAN NOT NULL DEFAULT 0;
