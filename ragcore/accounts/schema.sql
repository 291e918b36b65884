-- Tables of accounts.sqlite. Times are seconds since the epoch; tokens and codes are stored as SHA-256 only.

CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE, -- in small letters
  name TEXT NOT NULL,
  admin BOOLEAN NOT NULL,
  blocked BOOLEAN NOT NULL DEFAULT 0,
  password TEXT, -- argon2id, with its parameters; NULL: signs in elsewhere
  created REAL NOT NULL
);

-- Who a provider of sign-in says somebody is. An email is no identity: it can pass to another person.
CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
  PRIMARY KEY (issuer, subject)
);

CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY, -- SHA-256 of the token
  user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
  created REAL NOT NULL,
  used REAL NOT NULL,
  agent TEXT NOT NULL,
  address TEXT NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id);

-- Tokens of programs.
CREATE TABLE tokens (
  token_hash TEXT PRIMARY KEY, -- SHA-256
  token_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  user_id TEXT REFERENCES users ON DELETE CASCADE, -- NULL: made where nobody signs in
  scopes JSON NOT NULL,
  created REAL NOT NULL,
  expires REAL NOT NULL,
  used REAL NOT NULL
);

CREATE TABLE links (
  code TEXT PRIMARY KEY, -- SHA-256
  purpose TEXT NOT NULL, -- first | invitation | reset
  email TEXT NOT NULL, -- '' for the first administrator, who chooses it
  admin BOOLEAN NOT NULL,
  expires REAL NOT NULL
);

-- Tries to sign in since the last that succeeded, by account and by address. A try counts before it is checked.
CREATE TABLE tries (
  whose TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  last REAL NOT NULL
);

CREATE TABLE audit (
  at REAL NOT NULL,
  action TEXT NOT NULL,
  email TEXT NOT NULL, -- whose account; '' where there is none
  by TEXT NOT NULL, -- who did it: an email, or 'command line'
  address TEXT NOT NULL
);
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the log is append only'); END;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the log is append only'); END;
