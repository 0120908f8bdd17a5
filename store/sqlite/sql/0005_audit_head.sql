-- Where each audit ends: its newest signed checkpoint.
CREATE TABLE audit_head (
    name       TEXT    PRIMARY KEY,
    key        TEXT    NOT NULL,
    checkpoint TEXT    NOT NULL,
    saved_at   INTEGER NOT NULL
) STRICT;
