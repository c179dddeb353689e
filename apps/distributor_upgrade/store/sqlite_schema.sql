-- Money is whole cents: exact, and SQLite has no decimals. Times are UTC texts that sort as times.
CREATE TABLE IF NOT EXISTS distributor_rules (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL,
  skip_levels INTEGER NOT NULL DEFAULT 0 CHECK (skip_levels IN (0, 1))
);
INSERT INTO distributor_rules (id, version) VALUES (1, 1) ON CONFLICT DO NOTHING;

-- criteria: when a distributor may rise to it; NULL: never by a check, as for the first level.
CREATE TABLE IF NOT EXISTS distributor_level (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  "rank" INTEGER NOT NULL UNIQUE CHECK ("rank" >= 0),
  name TEXT NOT NULL UNIQUE CHECK (name <> ''),
  criteria TEXT
);

-- version: counts the changes of level, so that each can be made once.
CREATE TABLE IF NOT EXISTS distributor (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL CHECK (name <> ''),
  sponsor_id INTEGER REFERENCES distributor (id) CHECK (sponsor_id <> id),
  level_id INTEGER NOT NULL REFERENCES distributor_level (id),
  version INTEGER NOT NULL DEFAULT 1,
  joined_at TEXT NOT NULL,
  level_since TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS distributor_sponsor ON distributor (sponsor_id);

CREATE TABLE IF NOT EXISTS withdraw_ledger (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  distributor_id INTEGER NOT NULL REFERENCES distributor (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  created_at TEXT NOT NULL,
  completed_at TEXT,
  CHECK ((status = 'completed') = (completed_at IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS withdraw_ledger_completed
  ON withdraw_ledger (distributor_id, completed_at, amount_cents) WHERE status = 'completed';

CREATE INDEX IF NOT EXISTS withdraw_ledger_distributor ON withdraw_ledger (distributor_id, id);

-- One row for one change of level, whoever tries to make it. criteria: as they were, or NULL: somebody
-- gave the level by hand.
CREATE TABLE IF NOT EXISTS distributor_level_upgrade_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  distributor_id INTEGER NOT NULL REFERENCES distributor (id),
  distributor_version INTEGER NOT NULL,
  previous_level_id INTEGER NOT NULL REFERENCES distributor_level (id),
  new_level_id INTEGER NOT NULL REFERENCES distributor_level (id),
  triggering_withdraw_ledger_id INTEGER REFERENCES withdraw_ledger (id),
  criteria TEXT,
  figures TEXT NOT NULL,
  upgrade_time TEXT NOT NULL,
  UNIQUE (distributor_id, distributor_version),
  CHECK (previous_level_id <> new_level_id)
);
