-- When each key was last exposed to transcript text.
CREATE TABLE hearken_exposure (
    principal text        PRIMARY KEY,
    at        timestamptz NOT NULL
);
