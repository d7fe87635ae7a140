-- The store of plan runs. Times are milliseconds since the Unix epoch; `*_json` columns hold JSON text.
-- No CHECK lists event types or states: SQLite cannot change a CHECK later, and the lists in src/core grow.

CREATE TABLE schema_migrations (
  number      INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  applied_at  INTEGER NOT NULL
) STRICT;

-- Content under its sha256 (64 hexadecimal characters): large values, and the YAML texts of plans.
CREATE TABLE blobs (
  digest   TEXT PRIMARY KEY,
  content  TEXT NOT NULL
) STRICT;

CREATE TABLE plans (
  plan_hash  TEXT PRIMARY KEY,
  plan_json  TEXT NOT NULL
) STRICT;

-- What a session was started with; never changed.
CREATE TABLE sessions (
  session_id     TEXT PRIMARY KEY,
  plan_hash      TEXT NOT NULL REFERENCES plans (plan_hash),
  source_digest  TEXT NOT NULL REFERENCES blobs (digest),
  plan_name      TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  start_json     TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_by_time ON sessions (created_at, session_id);

-- Where a session stands. Apart from `sessions` because every commit rewrites this row: it must stay small.
CREATE TABLE session_states (
  session_id              TEXT PRIMARY KEY REFERENCES sessions (session_id),
  status                  TEXT NOT NULL,
  last_seq                INTEGER NOT NULL,
  epoch                   INTEGER NOT NULL,
  updated_at              INTEGER NOT NULL,
  updates_since_snapshot  INTEGER NOT NULL,
  snapshot_steps          INTEGER NOT NULL,
  cancel_json             TEXT,
  state_json              TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who drives a session now; no row when nobody does. The epoch outlives the lease in session_states.
CREATE TABLE leases (
  session_id   TEXT PRIMARY KEY REFERENCES sessions (session_id),
  epoch        INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  holder_json  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per change; the only full account. step_json: the step's whole new state. session_json: the members of
-- the session's state that changed (null removes one). reason: of the commit that wrote it.
CREATE TABLE events (
  session_id    TEXT NOT NULL REFERENCES sessions (session_id),
  seq           INTEGER NOT NULL,
  epoch         INTEGER NOT NULL,
  at            INTEGER NOT NULL,
  type          TEXT NOT NULL,
  reason        TEXT NOT NULL,
  step_id       TEXT,
  data_json     TEXT,
  session_json  TEXT,
  step_json     TEXT,
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN
  SELECT raise(ABORT, 'events are append-only');
END;

CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN
  SELECT raise(ABORT, 'events are append-only');
END;

-- The newest state of each step, of each kind (outcome: an ended state; progress: any other); seq names the event
-- that explains it. state_json is NULL when the state is long: then it is read from that event.
CREATE TABLE step_updates (
  session_id   TEXT NOT NULL REFERENCES sessions (session_id),
  step_id      TEXT NOT NULL,
  update_type  TEXT NOT NULL CHECK (update_type IN ('progress', 'outcome')),
  generation   INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  epoch        INTEGER NOT NULL,
  seq          INTEGER NOT NULL,
  status       TEXT NOT NULL,
  state_json   TEXT,
  PRIMARY KEY (session_id, step_id, update_type)
) STRICT, WITHOUT ROWID;

-- Snapshots of whole sessions at a boundary, the newest few of each. steps_json: a list of step updates; a `state`
-- of null stands for a long one, read from the event with the same seq.
CREATE TABLE checkpoints (
  session_id  TEXT NOT NULL REFERENCES sessions (session_id),
  seq         INTEGER NOT NULL,
  epoch       INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  reason      TEXT NOT NULL,
  state_json  TEXT NOT NULL,
  steps_json  TEXT NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT;
