// The tables of durable runs. One schema for every SQLite there is: that of Node, of WebAssembly, and connections that a host brings. The names
// have a prefix, since the file may be the host's own.

export type SqlValue = string | number | null | Uint8Array

/** Of the tables; a store of another version is refused. */
export const SCHEMA_VERSION = 3

export const STATES = ['ready', 'running', 'parked', 'ended', 'stuck'] as const
export const READY = 0
export const RUNNING = 1
export const PARKED = 2
export const ENDED = 3
export const STUCK = 4

/** What makes tables of an older version those of the next one, by the older version. */
export const UPGRADES: Readonly<Record<number, readonly string[]>> = {
  1: [
    'ALTER TABLE bridle_runs ADD COLUMN parent INTEGER',
    'ALTER TABLE bridle_runs ADD COLUMN ends_with_parent INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE bridle_runs ADD COLUMN published TEXT',
  ],
  2: ['ALTER TABLE bridle_workers ADD COLUMN commit_p50 REAL', 'ALTER TABLE bridle_workers ADD COLUMN commit_p95 REAL'],
}

export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS bridle_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO bridle_meta VALUES ('version', ${SCHEMA_VERSION}) ON CONFLICT (name) DO NOTHING;
  -- A worker that was given up keeps its row until the last of its runs is taken from it, so that its commits are refused.
  CREATE TABLE IF NOT EXISTS bridle_workers (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, expires_at REAL NOT NULL, lease_ms REAL NOT NULL,
    is_given_up INTEGER NOT NULL DEFAULT 0, tools TEXT, commit_p50 REAL, commit_p95 REAL
  );
  -- What tenants may use (JSON), -1 for those without a row; and what is left of their submissions of a second.
  CREATE TABLE IF NOT EXISTS bridle_quotas (tenant INTEGER PRIMARY KEY, quota TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS bridle_rates (tenant INTEGER PRIMARY KEY, left_over REAL NOT NULL, at REAL NOT NULL);
  -- What signs keys that are handed out.
  CREATE TABLE IF NOT EXISTS bridle_secrets (name TEXT PRIMARY KEY, secret TEXT NOT NULL) WITHOUT ROWID;
  -- Short numbers for what many rows have: tenants, and lists of tools that a run needs.
  CREATE TABLE IF NOT EXISTS bridle_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS bridle_programs (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, label TEXT NOT NULL, sources BLOB NOT NULL);
  -- The first snapshot of a program: the others of it are kept as the difference to that.
  CREATE TABLE IF NOT EXISTS bridle_dictionaries (program INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS bridle_runs (
    id INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, tenant INTEGER NOT NULL, program INTEGER NOT NULL, tools INTEGER NOT NULL,
    state INTEGER NOT NULL, owner INTEGER, is_archived INTEGER NOT NULL, started_at REAL NOT NULL, updated_at REAL NOT NULL, wake_at REAL,
    tokens TEXT, head TEXT, snapshot BLOB, dictionary INTEGER, status TEXT, result TEXT,
    -- Who has started it, whether it ends with that, and what it says of itself (JSON).
    parent INTEGER, ends_with_parent INTEGER NOT NULL DEFAULT 0, published TEXT
  );
  CREATE INDEX IF NOT EXISTS bridle_runs_children ON bridle_runs (parent) WHERE parent IS NOT NULL;
  CREATE TABLE IF NOT EXISTS bridle_events (
    run INTEGER NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, line TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (run, seq)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS bridle_runs_ready ON bridle_runs (tenant, id) WHERE state = ${READY};
  CREATE INDEX IF NOT EXISTS bridle_runs_owned ON bridle_runs (owner) WHERE state = ${RUNNING};
  CREATE INDEX IF NOT EXISTS bridle_runs_timed ON bridle_runs (wake_at) WHERE state = ${PARKED} AND wake_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS bridle_runs_stuck ON bridle_runs (run_id) WHERE state = ${STUCK};
  -- The journal of a run since its snapshot.
  CREATE TABLE IF NOT EXISTS bridle_entries (run INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (run, seq)) WITHOUT ROWID;
  -- Before it, for runs whose whole journal is kept: lines, deflated.
  CREATE TABLE IF NOT EXISTS bridle_archive (run INTEGER NOT NULL, seq INTEGER NOT NULL, lines BLOB NOT NULL, PRIMARY KEY (run, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS bridle_signals (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, token TEXT NOT NULL, line TEXT NOT NULL, at REAL NOT NULL, UNIQUE (run, token)
  );
`
