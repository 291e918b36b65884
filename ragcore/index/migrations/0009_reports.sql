-- Reports: a template of one's own for each, its sections, and every version that was ever written of them.

CREATE TABLE reports (
    report_id TEXT PRIMARY KEY,
    title     TEXT NOT NULL,
    guidance  TEXT NOT NULL,          -- holds for the whole report
    origin    TEXT NOT NULL,          -- what its template is called where it came from
    doc_ids   TEXT,                   -- JSON list of what it is filled from; NULL: all documents
    trouble   TEXT,                   -- JSON of the error that ended the last filling; NULL: none did
    created   REAL NOT NULL,
    updated   REAL NOT NULL
);

CREATE TABLE report_sections (
    section_id TEXT PRIMARY KEY,
    report_id  TEXT NOT NULL REFERENCES reports (report_id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,      -- in the order in which they are printed
    level      INTEGER NOT NULL,      -- from 1: how deep it is nested
    asked      TEXT NOT NULL,         -- JSON of ragcore.report.template.Section without the sections below it
    shown      TEXT,                  -- the version that is shown; NULL: none
    accepted   INTEGER NOT NULL DEFAULT 0,  -- 1: nothing may change it until it is opened again
    removed    INTEGER NOT NULL DEFAULT 0,  -- 1: taken out of the report; kept, so that it can be put back
    trouble    TEXT                   -- JSON of the error that its last writing ended in; NULL: none
);
CREATE INDEX report_sections_in_order ON report_sections (report_id, position);

CREATE TABLE report_versions (
    version_id TEXT PRIMARY KEY,
    section_id TEXT NOT NULL REFERENCES report_sections (section_id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,      -- from 1 in each section, in order of creation
    parent     TEXT,                  -- the version that was shown when it was made; NULL: none was
    author     TEXT NOT NULL,         -- hand, offline, or the name of the model
    change     TEXT NOT NULL,         -- what was done, in words
    content    BLOB NOT NULL,         -- JSON of ragcore.reports.FilledSection, zlib
    usd        REAL,                  -- what it cost; NULL: the model has no price
    created    REAL NOT NULL
);
CREATE UNIQUE INDEX report_versions_by_section ON report_versions (section_id, number);

-- Places of documents that the writer of a section always gets, or never.
CREATE TABLE report_places (
    section_id TEXT NOT NULL REFERENCES report_sections (section_id) ON DELETE CASCADE,
    doc_id     TEXT NOT NULL,
    start      INTEGER NOT NULL,      -- characters of the document's text
    "end"      INTEGER NOT NULL,
    kind       TEXT NOT NULL,         -- pinned | excluded
    created    REAL NOT NULL,
    PRIMARY KEY (section_id, doc_id, start, "end")
) WITHOUT ROWID;

-- Sections that wait to be written, in order; one leaves in the transaction that stores what was written.
CREATE TABLE report_tasks (
    task_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    report_id   TEXT NOT NULL REFERENCES reports (report_id) ON DELETE CASCADE,
    section_id  TEXT NOT NULL UNIQUE REFERENCES report_sections (section_id) ON DELETE CASCADE,
    instruction TEXT NOT NULL,        -- how to rewrite what is shown; "" fills the section anew
    created     REAL NOT NULL
);
