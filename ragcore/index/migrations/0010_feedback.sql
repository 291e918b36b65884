-- What a person thought of an answer, and what could be asked next. Both go with the turn.
CREATE TABLE feedback (
    turn_id TEXT PRIMARY KEY REFERENCES turns (turn_id) ON DELETE CASCADE,
    helpful INTEGER NOT NULL,
    reason  TEXT NOT NULL,                    -- ragcore.index.feedback.Reason, '' for none
    words   TEXT NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE suggestions (
    turn_id   TEXT PRIMARY KEY REFERENCES turns (turn_id) ON DELETE CASCADE,
    questions TEXT NOT NULL                   -- JSON list, [] where there is nothing to suggest
) WITHOUT ROWID;
