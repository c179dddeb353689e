-- Tasks, record and queue entry in one row. The columns up to `version` are what other programs may
-- read and write; the rest belongs to the queue. The checks repeat the rules of a record: a row that
-- breaks them cannot be stored by anybody.
CREATE TABLE async_tasks (
  task_id          uuid         NOT NULL PRIMARY KEY,
  status           varchar(20)  NOT NULL,
  payload          text,
  result           text,
  error            text,
  submitted_at     timestamptz  NOT NULL,
  started_at       timestamptz,
  completed_at     timestamptz,
  version          bigint       NOT NULL DEFAULT 0,

  seq              bigint       NOT NULL GENERATED ALWAYS AS IDENTITY,  -- order of insertion
  queue_name       varchar(190),             -- NULL: a record that no worker claims
  type             varchar(190) NOT NULL DEFAULT '',
  priority         smallint     NOT NULL DEFAULT 0,
  available_at     timestamptz,
  attempts         integer      NOT NULL DEFAULT 0,
  crashes          integer      NOT NULL DEFAULT 0,
  max_retries      integer      NOT NULL DEFAULT 3,
  retry_policy     text,                     -- a JSON object; NULL: the default waits
  lease_expires_at timestamptz,
  worker           text,
  cancel_requested boolean      NOT NULL DEFAULT false,
  progress         text,                     -- a JSON object
  headers          text,                     -- a JSON object; NULL: none
  history          text,                     -- a JSON array of failed attempts; NULL: none

  -- One for all: each would be planned anew for each statement.
  CONSTRAINT async_tasks_rules CHECK (
    CASE
      WHEN completed_at IS NULL THEN
        CASE status
          WHEN 'running' THEN started_at IS NOT NULL
          ELSE status IN ('pending', 'retrying') AND num_nonnulls(result, error) = 0
        END
      ELSE
        CASE status
          WHEN 'completed' THEN num_nulls(result, started_at) = 0 AND error IS NULL
          WHEN 'failed' THEN num_nulls(error, started_at) = 0 AND result IS NULL
          ELSE status = 'cancelled' AND num_nonnulls(result, error) = 0
        END
    END
    AND started_at >= submitted_at
    AND completed_at >= coalesce(started_at, submitted_at)
    AND (queue_name IS NULL OR available_at IS NOT NULL)
    AND isfinite(submitted_at) AND isfinite(available_at) AND isfinite(completed_at)
    AND get_byte(uuid_send(task_id), 6) >> 4 = 4      -- version 4
    AND get_byte(uuid_send(task_id), 8) >> 6 = 2
  )
) WITH (
  -- A queue turns over its rows many times a day: dead ones are cleaned away when a few thousand
  -- have gathered, not when a fifth of the table has.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.1,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0,
  fillfactor = 85
);

-- By status and, for lists, the last inserted first. Running tasks are few, come and go, and are in
-- idx_leases. Completed ones are many, and have an index that grows at its end: in one of all
-- statuses a drain would insert in the middle (decision 0045).
CREATE INDEX idx_status ON async_tasks (status, seq) WHERE status NOT IN ('running', 'completed');
CREATE INDEX idx_completed ON async_tasks (seq) WHERE status = 'completed';
CREATE INDEX idx_completed_at ON async_tasks (completed_at) WHERE completed_at IS NOT NULL;

-- What can be claimed, in claiming order. Tasks that lost two workers are apart, because only few
-- of them may be claimed at a time; what is rare is asked first.
CREATE INDEX idx_claimable ON async_tasks (queue_name, priority DESC, available_at, seq)
  WHERE status IN ('pending', 'retrying') AND crashes < 2;
CREATE INDEX idx_suspects ON async_tasks (queue_name, priority DESC, available_at, seq)
  WHERE crashes >= 2 AND status IN ('pending', 'retrying');
CREATE INDEX idx_leases ON async_tasks (lease_expires_at) WHERE status = 'running';

-- Has no rows. Who claims many tasks locks it in EXCLUSIVE MODE meanwhile; who may change a pending
-- task that is not in his hands, in ROW EXCLUSIVE MODE.
CREATE TABLE errand_turns ();

-- Claims of many tasks at once. A task is held by one while its own row says pending, version 1, and
-- its seq is in here: to others it is running, version 2. What raises the version takes it out.
CREATE TABLE errand_bundles (
  bundle           uuid         NOT NULL PRIMARY KEY,
  queue_name       varchar(190) NOT NULL,
  worker           text         NOT NULL,
  claimed_at       timestamptz  NOT NULL,
  lease_expires_at timestamptz  NOT NULL,
  scan_due_at      timestamptz  NOT NULL,    -- when a claim is to look from the beginning again
  priority         smallint     NOT NULL,    -- of the last task, in the order of claiming, as
  available_at     timestamptz  NOT NULL,    -- these are: the next claim begins behind it
  last_seq         bigint       NOT NULL,
  seqs             bigint[]     NOT NULL,
  places           tid[]        NOT NULL     -- where their rows were
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 2000,
  toast.autovacuum_vacuum_cost_delay = 0
);
-- They live for a moment: not worth compressing.
ALTER TABLE errand_bundles ALTER seqs SET STORAGE EXTERNAL, ALTER places SET STORAGE EXTERNAL;

CREATE TABLE errand_paused_queues (
  queue_name varchar(190) NOT NULL PRIMARY KEY,
  paused_at  timestamptz  NOT NULL
);

CREATE TABLE errand_workers (
  worker      text        NOT NULL PRIMARY KEY,
  host        text        NOT NULL,
  pid         bigint      NOT NULL,
  queues      text        NOT NULL,          -- a JSON array
  concurrency integer     NOT NULL,
  running     bigint      NOT NULL,
  handled     bigint      NOT NULL,
  failed      bigint      NOT NULL,
  started_at  timestamptz NOT NULL,
  seen_at     timestamptz NOT NULL
);

-- The tasks as Errand sees them: those that a bundle holds are running.
CREATE VIEW errand_tasks AS
SELECT t.task_id, CASE WHEN b.worker IS NULL THEN t.status ELSE 'running' END AS status, t.payload,
       t.result, t.error, t.submitted_at,
       CASE WHEN b.worker IS NULL THEN t.started_at
            ELSE greatest(b.claimed_at, t.submitted_at) END AS started_at,
       t.completed_at, CASE WHEN b.worker IS NULL THEN t.version ELSE t.version + 1 END AS version,
       t.seq, t.queue_name, t.type, t.priority, t.available_at,
       CASE WHEN b.worker IS NULL THEN t.attempts ELSE t.attempts + 1 END AS attempts, t.crashes,
       t.max_retries, t.retry_policy, coalesce(b.lease_expires_at, t.lease_expires_at)
         AS lease_expires_at,
       coalesce(b.worker, t.worker) AS worker, t.cancel_requested, t.progress, t.headers, t.history
FROM async_tasks t LEFT JOIN LATERAL (
  SELECT held.worker, held.claimed_at, held.lease_expires_at FROM errand_bundles held
  WHERE t.status = 'pending' AND t.version = 1 AND t.seq = ANY (held.seqs) LIMIT 1) b ON true;
