-- Tables of accounts, in accounts.sqlite or PostgreSQL. Times are seconds since the epoch; tokens and codes are stored as
-- SHA-256 only.

CREATE TABLE IF NOT EXISTS users (
  user_id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE, -- in small letters
  name TEXT NOT NULL,
  admin BOOLEAN NOT NULL,
  blocked BOOLEAN NOT NULL DEFAULT 0,
  password TEXT, -- argon2id, with its parameters; NULL: signs in elsewhere
  created REAL NOT NULL
);

-- Who a provider of sign-in says somebody is. An email is no identity: it can pass to another person.
CREATE TABLE IF NOT EXISTS identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
  PRIMARY KEY (issuer, subject)
);

CREATE TABLE IF NOT EXISTS sessions (
  session_id TEXT PRIMARY KEY, -- SHA-256 of the token
  user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
  created REAL NOT NULL,
  used REAL NOT NULL,
  agent TEXT NOT NULL,
  address TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS sessions_of_user ON sessions (user_id);

CREATE TABLE IF NOT EXISTS links (
  code TEXT PRIMARY KEY, -- SHA-256
  purpose TEXT NOT NULL, -- first | invitation | reset
  email TEXT NOT NULL, -- '' for the first administrator, who chooses it
  admin BOOLEAN NOT NULL,
  expires REAL NOT NULL
);

-- Tries to sign in since the last that succeeded, by account and by address. A try counts before it is checked. With a
-- count of 0: an account that signed in from an address.
CREATE TABLE IF NOT EXISTS tries (
  whose TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  last REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS audit (
  at REAL NOT NULL,
  action TEXT NOT NULL,
  email TEXT NOT NULL, -- whose account; '' where there is none
  by TEXT NOT NULL, -- who did it: an email, or 'command line'
  address TEXT NOT NULL,
  library TEXT NOT NULL DEFAULT '' -- its name then; '' where it is about none
);

-- People who are given rights together. Everybody with an account is in the built-in team 'everyone'.
CREATE TABLE IF NOT EXISTS teams (
  team_id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created REAL NOT NULL
);
INSERT INTO teams VALUES ('everyone', 'Everyone', 0) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS members (
  team_id TEXT NOT NULL REFERENCES teams ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
  manager BOOLEAN NOT NULL DEFAULT 0, -- of the team: manages the libraries that it owns
  PRIMARY KEY (team_id, user_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS libraries (
  library_id TEXT PRIMARY KEY, -- 128 random bits
  name TEXT NOT NULL,
  owner TEXT NOT NULL, -- user_id or team_id; '' until there is an administrator
  first BOOLEAN NOT NULL DEFAULT 0, -- 1: the home folder itself, which was there before accounts were
  created REAL NOT NULL,
  removed REAL -- its files stay; NULL: it is open
);
CREATE UNIQUE INDEX IF NOT EXISTS first_library ON libraries (first) WHERE first;
CREATE TABLE IF NOT EXISTS grants (
  library_id TEXT NOT NULL REFERENCES libraries ON DELETE CASCADE,
  holder TEXT NOT NULL, -- user_id or team_id
  role INTEGER NOT NULL, -- 1 viewer, 2 contributor, 3 manager
  PRIMARY KEY (library_id, holder)
) WITHOUT ROWID;

-- Who has the rights of a holder: a person has their own, and those of their teams.
CREATE VIEW IF NOT EXISTS holders AS
  SELECT user_id AS holder, user_id, TRUE AS manager FROM users
  UNION ALL SELECT 'everyone', user_id, FALSE FROM users
  UNION ALL SELECT team_id, user_id, manager FROM members;
-- The highest role of each person in each library that is open to them.
CREATE VIEW IF NOT EXISTS roles AS
  SELECT library_id, user_id, max(role) AS role FROM (
    SELECT library_id, user_id, CASE WHEN manager THEN 3 ELSE 2 END AS role FROM libraries JOIN holders ON holder = owner
    UNION ALL SELECT library_id, user_id, role FROM grants JOIN holders USING (holder)
  ) AS given JOIN libraries USING (library_id) JOIN users USING (user_id)
  WHERE removed IS NULL AND NOT blocked GROUP BY library_id, user_id;

-- Tokens of programs.
CREATE TABLE IF NOT EXISTS tokens (
  token_hash TEXT PRIMARY KEY, -- SHA-256
  token_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  user_id TEXT REFERENCES users ON DELETE CASCADE, -- NULL: made where nobody signs in
  library_id TEXT REFERENCES libraries ON DELETE CASCADE, -- that it is for; NULL: made where nobody signs in
  scopes JSON NOT NULL,
  created REAL NOT NULL,
  expires REAL NOT NULL,
  used REAL NOT NULL
);

-- Limits of libraries (bytes, pages, dollars) and people (questions).
CREATE TABLE IF NOT EXISTS limits (
  holder TEXT NOT NULL, -- library_id or user_id; '': each that has none of its own
  measure TEXT NOT NULL, -- bytes | pages | questions | dollars
  most REAL NOT NULL, -- -1: none, whatever that of each is
  PRIMARY KEY (holder, measure)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (
  holder TEXT NOT NULL,
  measure TEXT NOT NULL,
  period TEXT NOT NULL, -- month or day of UTC; '' of bytes
  used REAL NOT NULL,
  PRIMARY KEY (holder, measure)
) WITHOUT ROWID;
