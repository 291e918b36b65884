-- Conversations are somebody's, and private unless shared.
ALTER TABLE conversations ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN shared BOOLEAN NOT NULL DEFAULT 0;
