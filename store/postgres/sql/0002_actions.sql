ALTER TABLE hearken_key ADD COLUMN approver text NOT NULL DEFAULT '';

-- What actions are asked for by stands in columns, and all of each in its
-- document, except for what is no part of that. Ids sort by their bytes.
CREATE TABLE hearken_action (
    id         text        COLLATE "C" PRIMARY KEY,
    version    integer     NOT NULL,
    tool       text        NOT NULL,
    principal  text        NOT NULL,
    state      text        NOT NULL,
    target     text        NOT NULL,
    same       text        NOT NULL,
    grant_id   text        NOT NULL, -- of its decision; empty for none
    created_at timestamptz NOT NULL,
    ended_at   timestamptz,
    document   json        NOT NULL
);

CREATE INDEX hearken_action_by_creation ON hearken_action (created_at DESC, id DESC);
CREATE INDEX hearken_action_by_state ON hearken_action (state, created_at DESC, id DESC);
CREATE INDEX hearken_action_by_same ON hearken_action USING hash (same);
CREATE INDEX hearken_action_by_grant ON hearken_action (grant_id, created_at DESC) WHERE grant_id <> '';
CREATE INDEX hearken_action_by_end ON hearken_action (ended_at);

CREATE TABLE hearken_alarm (
    action    text        COLLATE "C" PRIMARY KEY,
    version   integer     NOT NULL,
    next_at   timestamptz,
    firing_at timestamptz,
    document  json        NOT NULL
);

CREATE INDEX hearken_alarm_by_next ON hearken_alarm (next_at);
CREATE INDEX hearken_alarm_firing ON hearken_alarm (firing_at) WHERE firing_at IS NOT NULL;

CREATE TABLE hearken_grant (
    id         text        COLLATE "C" PRIMARY KEY,
    created_at timestamptz NOT NULL,
    document   json        NOT NULL
);

CREATE TABLE hearken_contact (
    id       text COLLATE "C" PRIMARY KEY,
    document json NOT NULL
);
