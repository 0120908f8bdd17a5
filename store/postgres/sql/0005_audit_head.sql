-- Where each audit ends: its newest signed checkpoint.
CREATE TABLE hearken_audit_head (
    name       text        PRIMARY KEY,
    key        text        NOT NULL,
    checkpoint text        NOT NULL,
    saved_at   timestamptz NOT NULL
);
