-- The tables of a library, as SQLite has them; ragcore/index/postgres.py translates the types. What both say differently is
-- in sqlite.sql and postgres.sql. Any change, also of what a column holds, raises SCHEMA in ragcore/index/database.py, which
-- reads JSON and BOOLEAN as Python values. Times are seconds since the epoch.

CREATE TABLE IF NOT EXISTS documents (
    doc_id TEXT NOT NULL PRIMARY KEY,  -- first 16 hex digits of sha256
    sha256 TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,  -- file name as given
    file_kind TEXT NOT NULL DEFAULT 'pdf',  -- or that of the original, whose pages are made
    bytes INTEGER NOT NULL,
    status TEXT NOT NULL,  -- new | reading | ready | failed
    info BLOB,  -- FileInfo: JSON, zlib
    notes JSON TEXT NOT NULL DEFAULT '[]',  -- on what is not on the pages that were made of it
    error JSON TEXT,  -- code, message, hint, retryable
    seconds REAL NOT NULL DEFAULT 0,  -- spent reading, over all attempts
    created REAL NOT NULL,
    title TEXT,  -- from here on: of the build, at first of the first pages only
    pages INTEGER,
    counts JSON TEXT,  -- elements, tables, noise, chunks, ocr_pages, degraded_pages
    body_end INTEGER,
    recipe TEXT,  -- hash of the settings that built text and chunks
    figures JSON TEXT,  -- outcome of each figure
    built REAL,  -- when text and chunks were written
    built_pages INTEGER,  -- first pages in them
    chunk_count INTEGER,
    fingerprint TEXT,  -- digest of its chunks' indexed data
    context JSON TEXT,  -- contexts written and left out, and their cost
    folder TEXT NOT NULL DEFAULT '',  -- names joined by "/"; '' for none
    removed REAL,  -- when it was put into the trash; 0: its removal is final and not done yet
    held BOOLEAN NOT NULL DEFAULT 0,  -- a person cancelled its reading
    given TEXT,  -- title given by a person; NULL: the one read from its cover
    successor TEXT,  -- doc_id of what its file became in a watched folder; NULL: nothing else
    text TEXT,  -- of the build too; large values are last, as a scan reads each row up to what it asks for
    words BLOB,  -- word map, NumPy npz
    page_data BLOB,  -- JSON, zlib
    elements BLOB,  -- JSON by line, zlib
    called TEXT AS (coalesce(given, nullif(title, ''), name))
);

CREATE INDEX IF NOT EXISTS documents_by_successor ON documents (successor) WHERE successor IS NOT NULL;

-- Earlier versions, each with the next one, which is read: they stay for what cites them, and are not asked.
CREATE VIEW IF NOT EXISTS earlier AS SELECT old.doc_id, new.doc_id AS successor
FROM documents old JOIN documents new ON new.doc_id = old.successor
WHERE new.status = 'ready' AND new.removed IS NULL AND old.removed IS NULL;

-- New versions that aren't read yet: the one before is asked until they are.
CREATE VIEW IF NOT EXISTS coming AS SELECT doc_id FROM documents
WHERE status != 'ready' AND doc_id IN (SELECT successor FROM documents WHERE successor IS NOT NULL AND removed IS NULL);

-- Documents that can be asked: with a build, of all pages or of the first ones, not in the trash, the newest version.
CREATE VIEW IF NOT EXISTS built AS SELECT * FROM documents WHERE built IS NOT NULL AND status != 'failed' AND removed IS NULL
AND doc_id NOT IN (SELECT doc_id FROM earlier) AND doc_id NOT IN (SELECT doc_id FROM coming);


-- Folders whose files are kept in step with documents, and what each file was when it was last looked at.
CREATE TABLE IF NOT EXISTS watched_folders (
    path TEXT NOT NULL PRIMARY KEY,
    recursive BOOLEAN NOT NULL,
    patterns JSON TEXT NOT NULL,  -- list, such as "*.pdf"; []: every kind that is read
    every REAL NOT NULL,  -- seconds between two scans
    created REAL NOT NULL,
    scanned REAL,  -- when it was last looked through; NULL: never
    seconds REAL NOT NULL DEFAULT 0,  -- that this took
    error JSON TEXT  -- why the last scan could not look through it; NULL: it did
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS watched_files (
    folder TEXT NOT NULL REFERENCES watched_folders ON DELETE CASCADE,
    path TEXT NOT NULL,  -- below the folder
    bytes INTEGER NOT NULL,
    modified INTEGER NOT NULL,  -- nanoseconds
    changed INTEGER NOT NULL,  -- of its inode: also when it was put in place of another, or its permissions changed
    doc_id TEXT,  -- document with its content when it was last read; it may have been removed since
    error JSON TEXT,  -- why it could not be added as it is now
    gone REAL,  -- when it was found to be no longer there
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS watched_files_by_document ON watched_files (doc_id);

-- One row per page as soon as it is read: a killed ingest resumes from here, and a rebuild starts here.
CREATE TABLE IF NOT EXISTS page_layouts (
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    page INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (doc_id, page)
) WITHOUT ROWID;

-- The tiling of each document, then its composites: the rows of one table together.
CREATE TABLE IF NOT EXISTS chunks (
    chunk_id TEXT NOT NULL PRIMARY KEY,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    position INTEGER NOT NULL,  -- place in the document's tiling
    kind TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    section JSON TEXT NOT NULL,  -- list
    header TEXT NOT NULL,
    lead_in TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    first_tile INTEGER,  -- composite: the tiles that it spans; NULL for a tile
    last_tile INTEGER,
    grid TEXT NOT NULL DEFAULT '',  -- composite: its rows in short form
    text TEXT NOT NULL,  -- of the document between start and end
    first_page INTEGER NOT NULL,  -- that its own words touch; 0 where it has none
    last_page INTEGER NOT NULL,
    context TEXT NOT NULL DEFAULT '',  -- lines in front of it, for searching only
    UNIQUE (doc_id, position)
);

CREATE TABLE IF NOT EXISTS meta (
    key TEXT NOT NULL PRIMARY KEY,
    value JSON TEXT NOT NULL
) WITHOUT ROWID;

-- 'revision' grows with every change of what can be found, or of a title: the indexes in memory are then updated.
CREATE TABLE IF NOT EXISTS counters (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tags (
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (doc_id, tag)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tags_by_tag ON tags (tag);

-- Documents of which every chunk but the rows of composites has a vector, with their fingerprint then.
CREATE TABLE IF NOT EXISTS embedded (
    embedder TEXT NOT NULL,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (embedder, doc_id)
) WITHOUT ROWID;

-- Those of them whose build is still the same.
CREATE VIEW IF NOT EXISTS settled AS SELECT embedder, doc_id FROM embedded JOIN documents USING (doc_id, fingerprint);

-- With rowids: a vector exceeds the part of a row that a table without them keeps on its page.
CREATE TABLE IF NOT EXISTS vectors (
    embedder TEXT NOT NULL,
    chunk_id TEXT NOT NULL REFERENCES chunks ON DELETE CASCADE,
    vector BLOB NOT NULL,  -- float32, little endian
    PRIMARY KEY (embedder, chunk_id)
);
CREATE INDEX IF NOT EXISTS vectors_by_chunk ON vectors (chunk_id);

-- Made from the chunks of each document, and made again if missing or damaged: BM25 postings, names, facts.
CREATE TABLE IF NOT EXISTS derived (
    kind TEXT NOT NULL,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,  -- of the chunks and the method
    data BLOB NOT NULL,  -- Postings, Names, Facts, Extraction …
    seconds REAL NOT NULL,  -- spent making it, over all attempts
    PRIMARY KEY (kind, doc_id)
);
CREATE INDEX IF NOT EXISTS derived_by_document ON derived (doc_id);

-- Texts by models about pictures ('figure') and before chunks ('context'), keyed by their input: a document that is
-- added again needs no new request. Forms about sentences ('relations') go with their document, unless
-- structure.keep_paid is on.
CREATE TABLE IF NOT EXISTS model_texts (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,  -- SHA-256 of the picture's pixels, or of the text
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,  -- hash of the prompt's words
    text TEXT NOT NULL,  -- '': nothing worth writing
    created REAL NOT NULL,
    owner TEXT REFERENCES documents ON DELETE CASCADE,  -- NULL: it outlives the document
    PRIMARY KEY (kind, key, model, prompt)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS model_texts_by_owner ON model_texts (owner);

-- Cost of these texts by document, and of 'verdicts' by run. Outlives the document, as its limit does.
CREATE TABLE IF NOT EXISTS model_costs (
    kind TEXT NOT NULL,
    doc_id TEXT NOT NULL,
    usd REAL NOT NULL,
    PRIMARY KEY (kind, doc_id)
) WITHOUT ROWID;

-- The picture of each figure, so that a rebuild need not draw it again.
CREATE TABLE IF NOT EXISTS figure_images (
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    place TEXT NOT NULL,  -- region of the page and resolution
    image TEXT NOT NULL,
    PRIMARY KEY (doc_id, place)
) WITHOUT ROWID;

-- Sums by day (local time), model and purpose, without any content of questions or documents.
CREATE TABLE IF NOT EXISTS spent (
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,  -- ragcore.types.spending.Purpose
    priced BOOLEAN NOT NULL,  -- 0: the model had no price then, and usd is 0
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    usd REAL NOT NULL,
    PRIMARY KEY (day, model, purpose, priced)
) WITHOUT ROWID;

-- Complete answers of models by a hash of the whole request. Requests are not kept.
CREATE TABLE IF NOT EXISTS responses (
    key TEXT NOT NULL PRIMARY KEY,
    model TEXT NOT NULL,  -- as the service named it
    text TEXT NOT NULL,
    created REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS responses_by_age ON responses (created, key);

-- Content of an empty conversation; made again if `stamp` has changed.
CREATE TABLE IF NOT EXISTS overviews (
    doc_id TEXT NOT NULL PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    stamp TEXT NOT NULL,
    data BLOB NOT NULL  -- ragcore.suggest.overview.Overview
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS starters (
    scope TEXT NOT NULL PRIMARY KEY,  -- ids of documents, joined by a comma
    stamp TEXT NOT NULL,
    questions JSON TEXT NOT NULL  -- list of ragcore.suggest.first_questions.Starter
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS conversations (
    conversation_id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    doc_ids JSON TEXT,  -- the scope; NULL: the whole library
    created REAL NOT NULL,
    updated REAL NOT NULL,
    shown TEXT,  -- last turn of the shown path; NULL: no turn
    owner TEXT NOT NULL DEFAULT '',  -- user_id of whose it is; '' where nobody signs in
    shared BOOLEAN NOT NULL DEFAULT 0  -- 1: all who may read the library may read it
);

-- A tree: an edited or repeated question is a sibling of the earlier one.
CREATE TABLE IF NOT EXISTS turns (
    position INTEGER PRIMARY KEY,  -- in order of creation
    turn_id TEXT NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
    question TEXT NOT NULL,
    answer BLOB,  -- JSON, zlib; NULL while it is being written
    created REAL NOT NULL,
    parent TEXT REFERENCES turns (turn_id),  -- the turn before; NULL for a first question
    depth INTEGER NOT NULL  -- from the first question down to it
);
CREATE INDEX IF NOT EXISTS turns_by_parent ON turns (parent, conversation_id);
CREATE INDEX IF NOT EXISTS turns_by_conversation ON turns (conversation_id);

-- What turns and titles are found by (ragcore/index/conversations.py).
CREATE TABLE IF NOT EXISTS turn_words (
    id INTEGER PRIMARY KEY,
    turn_id TEXT NOT NULL UNIQUE,  -- for a title, the conversation's id
    conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
    text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS turn_words_by_conversation ON turn_words (conversation_id);
CREATE TABLE IF NOT EXISTS turn_lexemes (
    turn_id TEXT NOT NULL REFERENCES turn_words (turn_id) ON DELETE CASCADE,
    lexeme TEXT NOT NULL,
    PRIMARY KEY (turn_id, lexeme)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS turn_lexemes_by_lexeme ON turn_lexemes (lexeme);

CREATE TABLE IF NOT EXISTS feedback (
    turn_id TEXT NOT NULL PRIMARY KEY REFERENCES turns (turn_id) ON DELETE CASCADE,
    helpful BOOLEAN NOT NULL,
    reason TEXT NOT NULL,  -- ragcore.types.library.Reason, '' for none
    words TEXT NOT NULL,
    created REAL NOT NULL,
    passed BOOLEAN NOT NULL DEFAULT 0  -- 1: not to be offered as a test question
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS suggestions (
    turn_id TEXT NOT NULL PRIMARY KEY REFERENCES turns (turn_id) ON DELETE CASCADE,
    questions JSON TEXT NOT NULL  -- list, [] if there is nothing to suggest
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS reports (
    report_id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    guidance TEXT NOT NULL,  -- applies to the whole report
    origin TEXT NOT NULL,  -- name of its template at its source
    doc_ids JSON TEXT,  -- list of the documents it is filled from; NULL: all
    trouble JSON TEXT,  -- the error that ended the last filling; NULL: none did
    created REAL NOT NULL,
    updated REAL NOT NULL,
    subject TEXT,  -- NULL: not asked yet; '': left to the documents
    year INTEGER NOT NULL DEFAULT 0,  -- 0: the latest of each document
    owner TEXT NOT NULL DEFAULT '',  -- user_id of whose it is; '': everybody's
    shared BOOLEAN NOT NULL DEFAULT 0  -- 1: all who may read the library may read it
);
CREATE TABLE IF NOT EXISTS report_sections (
    section_id TEXT NOT NULL PRIMARY KEY,
    report_id TEXT NOT NULL REFERENCES reports ON DELETE CASCADE,
    position INTEGER NOT NULL,  -- in printed order
    level INTEGER NOT NULL,  -- nesting depth, from 1
    asked JSON TEXT NOT NULL,  -- its Section of the template
    shown TEXT,  -- version shown; NULL: none
    accepted BOOLEAN NOT NULL DEFAULT 0,  -- 1: nothing may change it
    removed BOOLEAN NOT NULL DEFAULT 0,  -- 1: removed; kept for undo
    trouble JSON TEXT,  -- its last writing's error; NULL: none
    guided BOOLEAN NOT NULL DEFAULT 0  -- 1: asked with guidance of its own
);
CREATE INDEX IF NOT EXISTS report_sections_in_order ON report_sections (report_id, position);
CREATE TABLE IF NOT EXISTS report_versions (
    version_id TEXT NOT NULL PRIMARY KEY,
    section_id TEXT NOT NULL REFERENCES report_sections ON DELETE CASCADE,
    number INTEGER NOT NULL,  -- from 1 in each section, in order of creation
    parent TEXT,  -- version shown when it was made; NULL: none
    author TEXT NOT NULL,  -- hand, offline, or the name of the model
    change TEXT NOT NULL,  -- the change, in words
    content BLOB NOT NULL,  -- JSON of its FilledSection, zlib
    usd REAL,  -- its cost; NULL: the model has no price
    created REAL NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS report_versions_by_section ON report_versions (section_id, number);
-- Places of documents that the writer of a section always gets, or never.
CREATE TABLE IF NOT EXISTS report_places (
    section_id TEXT NOT NULL REFERENCES report_sections ON DELETE CASCADE,
    doc_id TEXT NOT NULL,
    start INTEGER NOT NULL,  -- characters of the document's text
    "end" INTEGER NOT NULL,
    kind TEXT NOT NULL,  -- pinned | excluded
    created REAL NOT NULL,
    PRIMARY KEY (section_id, doc_id, start, "end")
) WITHOUT ROWID;
-- Queue of sections to write, in order; a row is deleted in the transaction that stores its text.
CREATE TABLE IF NOT EXISTS report_tasks (
    task_id INTEGER PRIMARY KEY AUTOINCREMENT,
    report_id TEXT NOT NULL REFERENCES reports ON DELETE CASCADE,
    section_id TEXT NOT NULL UNIQUE REFERENCES report_sections ON DELETE CASCADE,
    instruction TEXT NOT NULL,  -- how to rewrite the shown version; '' fills the section anew
    created REAL NOT NULL,
    writer TEXT NOT NULL DEFAULT '',  -- offline, or the name of the model
    visit BOOLEAN NOT NULL DEFAULT 0  -- 1: with a visit's own key
);

-- Sets of questions, as they were read; a changed set is another.
CREATE TABLE IF NOT EXISTS eval_sets (
    set_id TEXT NOT NULL PRIMARY KEY,  -- digest of the cases
    name TEXT NOT NULL,
    cases INTEGER NOT NULL,
    data BLOB NOT NULL,  -- ragcore.evaluate.cases.Case: JSON, zlib
    created REAL NOT NULL,
    own BOOLEAN NOT NULL DEFAULT 0  -- 1: what one's own set was when it was run
);

-- One's own set as it is now. A case outlives the conversation and the documents that it comes from, but not with their
-- words: those of a removed document go with it.
CREATE TABLE IF NOT EXISTS eval_own (
    case_id TEXT NOT NULL PRIMARY KEY,  -- turn of the answer that was kept
    question TEXT NOT NULL,
    answer TEXT NOT NULL,  -- to expect
    answerable BOOLEAN NOT NULL,
    documents JSON TEXT NOT NULL,  -- list: names of the files that alone were asked; [] for all
    created REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS eval_own_evidence (
    case_id TEXT NOT NULL REFERENCES eval_own ON DELETE CASCADE,
    position INTEGER NOT NULL,
    document TEXT NOT NULL,  -- name of its file
    doc_id TEXT NOT NULL,
    page INTEGER NOT NULL,
    quote TEXT NOT NULL,  -- '': its document was removed
    PRIMARY KEY (case_id, position)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS eval_own_evidence_by_document ON eval_own_evidence (doc_id);

-- A set under a configuration. Its id is a digest of what its outcomes depend on, so that none is made twice.
CREATE TABLE IF NOT EXISTS eval_runs (
    run_id TEXT NOT NULL PRIMARY KEY,
    set_id TEXT NOT NULL REFERENCES eval_sets ON DELETE CASCADE,
    name TEXT NOT NULL,
    config JSON TEXT NOT NULL,
    settings_hash TEXT NOT NULL,
    within BOOLEAN NOT NULL,
    writer TEXT NOT NULL,  -- '': only searched
    created REAL NOT NULL,
    ended REAL  -- NULL: some of it is still to be done
);

CREATE TABLE IF NOT EXISTS eval_outcomes (
    run_id TEXT NOT NULL REFERENCES eval_runs ON DELETE CASCADE,
    case_id TEXT NOT NULL,
    answer BLOB,  -- JSON, zlib; NULL: it failed, or was only searched
    pages TEXT NOT NULL,  -- JSON
    error JSON TEXT,
    seconds REAL NOT NULL,
    usd REAL NOT NULL,
    PRIMARY KEY (run_id, case_id)
);

-- Claims and verdicts of a judge on an outcome. Like the answer, they stay when a document is removed.
CREATE TABLE IF NOT EXISTS eval_verdicts (
    run_id TEXT NOT NULL,
    case_id TEXT NOT NULL,
    judge TEXT NOT NULL,  -- support or a model, with the version of its rules or prompts
    replies BLOB,  -- of the model, by request: JSON, zlib
    judged BLOB,  -- ragcore.evaluate.judges.Judged: JSON, zlib; NULL: some replies are missing
    asked REAL NOT NULL DEFAULT 0,  -- when its judge was chosen
    PRIMARY KEY (run_id, case_id, judge),
    FOREIGN KEY (run_id, case_id) REFERENCES eval_outcomes ON DELETE CASCADE
);

-- Checks of a draft. Like an answer, a verdict stays when a document is removed.
CREATE TABLE IF NOT EXISTS checks (
    check_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,  -- of the draft's file
    kind TEXT NOT NULL,  -- docx | pdf | md | txt | xlsx
    original BLOB NOT NULL,  -- the file
    draft BLOB NOT NULL,  -- ragcore.types.check.Draft: JSON, zlib
    scope JSON TEXT NOT NULL,  -- ragcore.types.Scope
    settings_hash TEXT NOT NULL,
    created REAL NOT NULL,
    run INTEGER NOT NULL DEFAULT 0,  -- times that its verdicts were forgotten
    error JSON TEXT  -- why its last run ended early; NULL: it did not
);
CREATE TABLE IF NOT EXISTS check_sentences (
    check_id TEXT NOT NULL REFERENCES checks ON DELETE CASCADE,
    n INTEGER NOT NULL,  -- from 0, in the draft's order
    start INTEGER NOT NULL,  -- characters of the draft's text
    "end" INTEGER NOT NULL,
    status TEXT,  -- of the verdict; NULL: not checked yet
    verdict BLOB,  -- ragcore.types.check.CheckedSentence: JSON, zlib
    seconds REAL NOT NULL DEFAULT 0,
    decision TEXT NOT NULL DEFAULT '',  -- replaced | left | noted
    revised TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (check_id, n)
) WITHOUT ROWID;

-- Grids: documents, or sections of them, by columns. Like an answer, a cell stays until it is filled again.
CREATE TABLE IF NOT EXISTS grids (
    grid_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    scope JSON TEXT NOT NULL,  -- ragcore.types.Scope; its sections, if it has any, are the rows
    columns JSON TEXT NOT NULL,  -- list of ragcore.types.grid.Column
    created REAL NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,  -- raised when rows, columns or many cells change at once
    changes INTEGER NOT NULL DEFAULT 0,  -- of single cells
    error JSON TEXT  -- why its last filling ended early; NULL: it did not
);
CREATE TABLE IF NOT EXISTS grid_cells (
    grid_id TEXT NOT NULL REFERENCES grids ON DELETE CASCADE,
    row_id TEXT NOT NULL,  -- ``doc_id``, or of a section ragcore.types.grid.row_of
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    column_id TEXT NOT NULL,
    found BLOB,  -- ragcore.types.grid.Cell: JSON, zlib; NULL: only decided on
    build TEXT NOT NULL DEFAULT '',  -- of the document when it was filled
    seconds REAL NOT NULL DEFAULT 0,
    decision BLOB,  -- ragcore.types.grid.CellDecision: JSON, zlib; NULL: undecided
    changed INTEGER NOT NULL,  -- ``changes`` of the grid then: what a page has not seen yet is above what it knows
    PRIMARY KEY (grid_id, row_id, column_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS grid_cells_by_document ON grid_cells (doc_id);

-- What processes of a library that several use have at work: ragcore.index.jobs. Empty otherwise.
CREATE TABLE IF NOT EXISTS jobs (
    kind TEXT NOT NULL,  -- answer | report | check | grid | evaluate
    target TEXT NOT NULL,  -- what is worked on: id of a turn, a report, a check, a grid, a run
    made_by TEXT NOT NULL,  -- which part of the target: section, judge, writer
    name TEXT NOT NULL,
    lock TEXT NOT NULL,  -- held by its process as long as it is at work
    done INTEGER NOT NULL,
    total INTEGER NOT NULL,
    before INTEGER NOT NULL,  -- parts done when it began
    seconds REAL NOT NULL,  -- since it began
    stopping BOOLEAN NOT NULL DEFAULT 0,  -- somebody asked for its end
    PRIMARY KEY (kind, target, made_by)
) WITHOUT ROWID;
