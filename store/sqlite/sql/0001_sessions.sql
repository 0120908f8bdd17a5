-- All times are microseconds since 1970, all durations seconds.

PRAGMA application_id = 0x48726b6e; -- "Hrkn"

CREATE TABLE session (
    key           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    title         TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    stop_reason   TEXT    NOT NULL,
    language      TEXT    NOT NULL,
    provider      TEXT    NOT NULL,
    started_at    INTEGER NOT NULL,
    stopped_at    INTEGER,
    duration      REAL    NOT NULL,
    segment_count INTEGER NOT NULL,
    epoch         INTEGER NOT NULL,
    principal     TEXT    NOT NULL,
    config        TEXT    NOT NULL, -- JSON
    first_key     INTEGER,          -- the least and the greatest key of its
    last_key      INTEGER           -- segments, so that a search can stay within
) STRICT;

CREATE INDEX session_by_start ON session (started_at DESC, id DESC);
CREATE INDEX session_by_status ON session (status, started_at DESC, id DESC);

-- A segment's key is made of the time when it was said, so that the newest
-- ones have the greatest keys and a full-text search, which yields keys in
-- their order, can stop as soon as it has enough.
CREATE TABLE segment (
    key        INTEGER PRIMARY KEY,
    session    INTEGER NOT NULL REFERENCES session (key),
    line       INTEGER NOT NULL,
    id         TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    start_time REAL    NOT NULL,
    end_time   REAL    NOT NULL,
    confidence REAL,
    speaker    INTEGER,
    language   TEXT    NOT NULL,
    is_final   INTEGER NOT NULL,
    timestamp  INTEGER NOT NULL,
    echo       INTEGER NOT NULL,
    durable    INTEGER NOT NULL,
    original   TEXT    NOT NULL,
    estimated  INTEGER NOT NULL,
    words      TEXT,                -- JSON; the last column, as it is seldom read
    UNIQUE (session, line)
) STRICT;

-- Every term that was ever said and is not deleted. Numbers are not used
-- again, so that one that was left behind in the index means nothing.
CREATE TABLE term (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    term TEXT    NOT NULL UNIQUE
) STRICT;

-- The index holds the numbers of the terms of each spoken segment, in their
-- order and separated by spaces. It holds no words, because an FTS5 index keeps
-- pieces of some of them for its own use after they are removed.
CREATE VIRTUAL TABLE spoken USING fts5 (terms, content = '', columnsize = 0, tokenize = 'ascii');
INSERT INTO spoken (spoken, rank) VALUES ('secure-delete', 1);

CREATE TABLE note (
    session  INTEGER PRIMARY KEY REFERENCES session (key),
    text     TEXT    NOT NULL,
    saved_at INTEGER NOT NULL,
    by       TEXT    NOT NULL
) STRICT;

CREATE TABLE key (
    id         TEXT PRIMARY KEY,
    name       TEXT    NOT NULL,
    hash       BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    toolsets   TEXT    NOT NULL  -- JSON
) STRICT;

-- Has a row while deleted text may still stand in the write-ahead log.
CREATE TABLE unscrubbed (since INTEGER NOT NULL) STRICT;
