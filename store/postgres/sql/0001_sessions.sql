CREATE TABLE hearken_session (
    key           bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            text             NOT NULL UNIQUE,
    title         text             NOT NULL,
    status        text             NOT NULL,
    stop_reason   text             NOT NULL,
    language      text             NOT NULL,
    provider      text             NOT NULL,
    started_at    timestamptz      NOT NULL,
    stopped_at    timestamptz,
    duration      double precision NOT NULL,
    segment_count integer          NOT NULL,
    epoch         integer          NOT NULL,
    principal     text             NOT NULL,
    config        json             NOT NULL
);

CREATE INDEX hearken_session_by_start ON hearken_session (started_at DESC, id DESC);
CREATE INDEX hearken_session_by_status ON hearken_session (status, started_at DESC, id DESC);

CREATE TABLE hearken_segment (
    key        bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session    bigint           NOT NULL REFERENCES hearken_session ON DELETE CASCADE,
    line       integer          NOT NULL,
    id         text             NOT NULL,
    source     text             NOT NULL,
    status     text             NOT NULL,
    text       text             NOT NULL,
    start_time double precision NOT NULL,
    end_time   double precision NOT NULL,
    confidence double precision,
    speaker    integer,
    language   text             NOT NULL,
    is_final   boolean          NOT NULL,
    timestamp  timestamptz      NOT NULL,
    echo       boolean          NOT NULL,
    durable    boolean          NOT NULL,
    original   text             NOT NULL,
    estimated  boolean          NOT NULL,
    words      json,
    terms      tsvector,        -- of speech; without positions, which have limits
    UNIQUE (session, line)
);

CREATE INDEX hearken_segment_by_time ON hearken_segment (timestamp DESC, key DESC);
CREATE INDEX hearken_segment_by_term ON hearken_segment USING gin (terms);

CREATE TABLE hearken_note (
    session  bigint      PRIMARY KEY REFERENCES hearken_session ON DELETE CASCADE,
    text     text        NOT NULL,
    saved_at timestamptz NOT NULL,
    by       text        NOT NULL
);

CREATE TABLE hearken_key (
    id         text        PRIMARY KEY,
    name       text        NOT NULL,
    hash       bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    toolsets   json        NOT NULL
);
