-- A reading that a person cancelled: nothing goes on with it by itself until a person does.
ALTER TABLE documents ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
