-- Whose actions these are. The table has at most one row.
CREATE TABLE hearken_owner (
    id       integer     PRIMARY KEY CHECK (id = 1),
    data_dir text        NOT NULL,
    pin      bytea       NOT NULL,
    saved_at timestamptz NOT NULL
);

-- It used to be a revoked key with the id "owner".
INSERT INTO hearken_owner (id, data_dir, pin, saved_at)
    SELECT 1, name, hash, created_at FROM hearken_key WHERE id = 'owner';
DELETE FROM hearken_key WHERE id = 'owner';

-- The kind of an event; empty for speech.
ALTER TABLE hearken_segment ADD COLUMN event text NOT NULL DEFAULT '';
