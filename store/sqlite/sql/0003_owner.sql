-- Whose actions these are. The table has at most one row.
CREATE TABLE owner (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    data_dir TEXT    NOT NULL,
    pin      BLOB    NOT NULL,
    saved_at INTEGER NOT NULL
) STRICT;

-- It used to be a revoked key with the id "owner".
INSERT INTO owner (id, data_dir, pin, saved_at) SELECT 1, name, hash, created_at FROM key WHERE id = 'owner';
DELETE FROM key WHERE id = 'owner';

-- The kind of an event. It comes after the words and is still quick to read:
-- an event has no words, and all other segments have an empty kind, which
-- SQLite does not look up.
ALTER TABLE segment ADD COLUMN event TEXT NOT NULL DEFAULT '';
