-- When each key was last exposed to transcript text.
CREATE TABLE exposure (
    principal TEXT    PRIMARY KEY,
    at        INTEGER NOT NULL
) STRICT;
