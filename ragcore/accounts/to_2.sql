-- Libraries of people and teams, and tokens of programs.
ALTER TABLE audit ADD COLUMN library TEXT NOT NULL DEFAULT '';
