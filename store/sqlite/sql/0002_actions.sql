ALTER TABLE key ADD COLUMN approver TEXT NOT NULL DEFAULT '';

-- What actions are asked for by stands in columns, and all of each in its
-- document, except for what is no part of that.
CREATE TABLE action (
    id         TEXT    PRIMARY KEY,
    version    INTEGER NOT NULL,
    tool       TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    target     TEXT    NOT NULL,
    same       TEXT    NOT NULL,
    grant_id   TEXT    NOT NULL, -- of its decision; empty for none
    created_at INTEGER NOT NULL,
    ended_at   INTEGER,
    document   TEXT    NOT NULL  -- JSON
) STRICT;

CREATE INDEX action_by_creation ON action (created_at DESC, id DESC);
CREATE INDEX action_by_state ON action (state, created_at DESC, id DESC);
CREATE INDEX action_by_same ON action (same);
CREATE INDEX action_by_grant ON action (grant_id, created_at DESC) WHERE grant_id <> '';
CREATE INDEX action_by_end ON action (ended_at) WHERE ended_at IS NOT NULL;

-- Few enough to be read from end to end.
CREATE TABLE alarm (
    action    TEXT    PRIMARY KEY,
    version   INTEGER NOT NULL,
    next_at   INTEGER,
    firing_at INTEGER,
    document  TEXT    NOT NULL  -- JSON
) STRICT;

CREATE TABLE "grant" (
    id         TEXT    PRIMARY KEY,
    created_at INTEGER NOT NULL,
    document   TEXT    NOT NULL  -- JSON
) STRICT;

CREATE TABLE contact (
    id       TEXT PRIMARY KEY,
    document TEXT NOT NULL  -- JSON
) STRICT;
