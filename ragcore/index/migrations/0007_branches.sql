-- The turns of a conversation become a tree: an edited or repeated question stands beside the one before it, and nothing
-- is lost. What is shown is the path from a first question down to the turn that its conversation names.

ALTER TABLE turns ADD COLUMN parent TEXT REFERENCES turns (turn_id);  -- the turn before; NULL for a first question
ALTER TABLE turns ADD COLUMN depth INTEGER NOT NULL DEFAULT 1;        -- turns from the first question down to this one
ALTER TABLE conversations ADD COLUMN shown TEXT;                      -- last turn of the path that is shown; NULL: no turn

UPDATE turns SET
    parent = (
        SELECT earlier.turn_id FROM turns AS earlier
        WHERE earlier.conversation_id = turns.conversation_id AND earlier.position < turns.position
        ORDER BY earlier.position DESC LIMIT 1
    ),
    depth = 1 + (
        SELECT COUNT(*) FROM turns AS earlier
        WHERE earlier.conversation_id = turns.conversation_id AND earlier.position < turns.position
    );
UPDATE conversations SET shown = (
    SELECT last.turn_id FROM turns AS last
    WHERE last.conversation_id = conversations.conversation_id
    ORDER BY last.position DESC LIMIT 1
);
CREATE INDEX turns_by_parent ON turns (parent);

-- What a turn is found by, beside its packed answer. Turns that were there before have none until the first search.
CREATE TABLE turn_words (
    turn_id         TEXT PRIMARY KEY REFERENCES turns (turn_id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (conversation_id) ON DELETE CASCADE,
    words           TEXT NOT NULL,       -- as `ragcore.index.turn_words.searchable` makes them
    text            TEXT NOT NULL        -- question and answer, to show where they were found
);
CREATE INDEX turn_words_by_conversation ON turn_words (conversation_id);
