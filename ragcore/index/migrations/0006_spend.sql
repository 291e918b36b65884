-- What models were paid for, and their answers, which need not be paid for twice.

-- Sums by day (local time), model and purpose. Nothing of questions or documents stands in them.
CREATE TABLE spent (
    day                TEXT NOT NULL,
    model              TEXT NOT NULL,
    purpose            TEXT NOT NULL,         -- ragcore.spending.Purpose
    priced             INTEGER NOT NULL,      -- 0: the model had no price then, and usd is 0
    calls              INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    usd                REAL NOT NULL,
    PRIMARY KEY (day, model, purpose, priced)
) WITHOUT ROWID;

-- Complete answers of models by a hash of the whole request. Requests are not kept.
CREATE TABLE responses (
    fingerprint TEXT PRIMARY KEY,
    model       TEXT NOT NULL,                -- as the service named it
    pieces      BLOB NOT NULL,                -- JSON list of the text as it came, zlib
    bytes       INTEGER NOT NULL,
    created     REAL NOT NULL
);
CREATE INDEX responses_by_age ON responses (created, bytes);
