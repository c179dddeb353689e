-- Tasks, record and queue entry in one row. The columns of the first and the last group are what
-- other programs may read and write; the rest belongs to the queue. The checks hold everybody to
-- what readers rely on: a row that cannot be read would stop its queue.
--
-- The documents come last, because SQLite reads a row from its beginning, and what lies behind a
-- large document costs reading that document.
CREATE TABLE async_tasks (
  task_id          VARCHAR(36)  NOT NULL PRIMARY KEY,
  status           VARCHAR(20)  NOT NULL,
  submitted_at     DATETIME     NOT NULL,
  started_at       DATETIME,
  completed_at     DATETIME,
  version          INTEGER      NOT NULL DEFAULT 0,

  queue_name       VARCHAR(190),             -- NULL: a record that no worker claims
  type             VARCHAR(190) NOT NULL DEFAULT '',
  priority         INTEGER      NOT NULL DEFAULT 0,
  available_at     DATETIME,
  attempts         INTEGER      NOT NULL DEFAULT 0,
  crashes          INTEGER      NOT NULL DEFAULT 0,
  max_retries      INTEGER      NOT NULL DEFAULT 3,
  lease_expires_at DATETIME,
  worker           TEXT,
  cancel_requested INTEGER      NOT NULL DEFAULT 0,
  retry_policy     TEXT,                     -- a JSON object; NULL: the default waits
  progress         TEXT,                     -- a JSON object
  headers          TEXT,                     -- a JSON object; NULL: none
  history          TEXT,                     -- a JSON array of failed attempts; NULL: none

  error            TEXT,
  result           TEXT,
  payload          TEXT,

  -- By CASE: for each row SQLite makes a table of what IN names, if that is more than two.
  CHECK (CASE status
           WHEN 'pending' THEN result IS NULL AND error IS NULL AND completed_at IS NULL
           WHEN 'retrying' THEN result IS NULL AND error IS NULL AND completed_at IS NULL
           WHEN 'running' THEN started_at IS NOT NULL AND completed_at IS NULL
           WHEN 'completed' THEN result IS NOT NULL AND error IS NULL AND started_at IS NOT NULL
                                 AND completed_at IS NOT NULL
           WHEN 'failed' THEN result IS NULL AND error IS NOT NULL AND started_at IS NOT NULL
                              AND completed_at IS NOT NULL
           WHEN 'cancelled' THEN result IS NULL AND error IS NULL AND completed_at IS NOT NULL
           ELSE 0
         END),
  CHECK (started_at IS NULL OR started_at >= submitted_at),
  CHECK (completed_at IS NULL OR completed_at >= coalesce(started_at, submitted_at)),
  CHECK (queue_name IS NULL OR available_at IS NOT NULL),

  -- A UUID of version 4 in lower case; times as 2026-01-31 23:59:59.123456, in UTC.
  CHECK (task_id GLOB '[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]-[0-9a-f][0-9a-f][0-9a-f][0-9a-f]-4[0-9a-f][0-9a-f][0-9a-f]-[89ab][0-9a-f][0-9a-f][0-9a-f]-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]'),
  CHECK (submitted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*' AND length(submitted_at) IN (19, 26)),
  CHECK (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*' AND length(started_at) IN (19, 26)),
  CHECK (completed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*' AND length(completed_at) IN (19, 26)),
  CHECK (available_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*' AND length(available_at) IN (19, 26)),
  CHECK (lease_expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*' AND length(lease_expires_at) IN (19, 26))
);

-- By status; of the running ones, those first whose lease has run out.
CREATE INDEX idx_status ON async_tasks (status, lease_expires_at);
CREATE INDEX idx_completed_at ON async_tasks (completed_at) WHERE completed_at IS NOT NULL;

-- What can be claimed, in claiming order. Tasks that lost two workers are apart, because only few
-- of them may be claimed at a time.
CREATE INDEX idx_claimable ON async_tasks (queue_name, priority, available_at)
  WHERE status IN ('pending', 'retrying') AND crashes < 2;
CREATE INDEX idx_suspects ON async_tasks (queue_name, priority, available_at)
  WHERE status IN ('pending', 'retrying') AND crashes >= 2;

CREATE TABLE errand_paused_queues (
  queue_name VARCHAR(190) NOT NULL PRIMARY KEY,
  paused_at  DATETIME     NOT NULL
);

CREATE TABLE errand_workers (
  worker      TEXT     NOT NULL PRIMARY KEY,
  host        TEXT     NOT NULL,
  pid         INTEGER  NOT NULL,
  queues      TEXT     NOT NULL,             -- JSON array
  concurrency INTEGER  NOT NULL,
  running     INTEGER  NOT NULL,
  handled     INTEGER  NOT NULL,
  failed      INTEGER  NOT NULL,
  started_at  DATETIME NOT NULL,
  seen_at     DATETIME NOT NULL
);
