-- For programs in any language, inside their own transactions.

-- Stores a task; it exists if and when the caller's transaction commits.
CREATE FUNCTION errand_submit(
  type text, payload text DEFAULT 'null', queue text DEFAULT 'default',
  delay interval DEFAULT '0', priority integer DEFAULT 0, max_retries integer DEFAULT 3,
  headers text DEFAULT NULL, task_id uuid DEFAULT gen_random_uuid()
) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  valid_headers boolean;
BEGIN
  IF task_id IS NULL OR delay IS NULL OR priority IS NULL OR max_retries IS NULL OR payload IS NULL THEN
    RAISE EXCEPTION 'payload, delay, priority, max_retries and task_id must not be NULL; no payload is the text null'
      USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF task_id::text !~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]' THEN
    RAISE EXCEPTION 'task_id must be a UUID v4, as gen_random_uuid() makes them'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF coalesce(octet_length(type), 0) NOT BETWEEN 1 AND 190 OR type ~ '[[:cntrl:]]' THEN
    RAISE EXCEPTION 'type must be 1 to 190 bytes without control characters'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF coalesce(octet_length(queue), 0) NOT BETWEEN 1 AND 190 OR queue ~ '[[:cntrl:]]' THEN
    RAISE EXCEPTION 'queue must be 1 to 190 bytes without control characters'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF delay < interval '0' OR delay > interval '10 years' THEN
    RAISE EXCEPTION 'delay must be 0 to 10 years' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF priority NOT BETWEEN -32768 AND 32767 THEN
    RAISE EXCEPTION 'priority must be -32768 to 32767' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF max_retries NOT BETWEEN 0 AND 1000000 THEN
    RAISE EXCEPTION 'max_retries must be 0 to 1000000' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF octet_length(payload) > 67108864 THEN
    RAISE EXCEPTION 'payload must have 64 MiB or less' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  BEGIN
    PERFORM payload::json;
  EXCEPTION WHEN data_exception THEN
    RAISE EXCEPTION 'payload is not JSON: %', SQLERRM USING ERRCODE = 'invalid_parameter_value';
  END;
  BEGIN
    valid_headers := headers IS NULL OR NOT EXISTS (
      SELECT 1 FROM json_each(headers::json) AS header (name, value)
      WHERE name = '' OR json_typeof(value) <> 'string');
  EXCEPTION WHEN data_exception THEN
    valid_headers := false;
  END;
  IF NOT valid_headers THEN
    RAISE EXCEPTION 'headers must be a JSON object of names and texts'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  INSERT INTO async_tasks (task_id, status, payload, submitted_at, version, queue_name, type,
                           priority, available_at, max_retries, headers)
  VALUES (errand_submit.task_id, 'pending', errand_submit.payload, now(), 1, errand_submit.queue,
          errand_submit.type, errand_submit.priority::smallint, now() + errand_submit.delay,
          errand_submit.max_retries, errand_submit.headers)
  ON CONFLICT DO NOTHING;
  PERFORM pg_notify('errand_work', errand_submit.queue);
  RETURN errand_submit.task_id;
END $$;

-- NULL: there is no such task.
CREATE FUNCTION errand_status(task_id uuid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT t.status FROM errand_tasks t WHERE t.task_id = $1
$$;

-- What cancelling did: cancelled, requested (it is running and is asked to stop), already_final or
-- not_found.
CREATE FUNCTION errand_cancel(task_id uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  old_status text;
  old_version bigint;
BEGIN
  SELECT t.status, t.version INTO old_status, old_version FROM async_tasks t
  WHERE t.task_id = errand_cancel.task_id FOR UPDATE;
  IF old_status = 'pending' AND old_version = 1 THEN
    -- Claims of many leave rows alone that somebody has locked. One that is under way may have seen
    -- this one before: its end is waited for. The block ends as by an error, which gives the lock back
    -- at once: the caller's transaction may last.
    BEGIN
      LOCK TABLE errand_turns IN ROW EXCLUSIVE MODE;
      RAISE SQLSTATE 'ER001';
    EXCEPTION WHEN SQLSTATE 'ER001' THEN
      NULL;
    END;
    UPDATE async_tasks t
    SET status = 'running', version = t.version + 1, attempts = t.attempts + 1,
        started_at = greatest(b.claimed_at, t.submitted_at),
        lease_expires_at = b.lease_expires_at, worker = b.worker
    FROM errand_bundles b
    WHERE t.task_id = errand_cancel.task_id AND t.seq = ANY (b.seqs);
    IF FOUND THEN
      old_status := 'running';
    END IF;
  END IF;
  IF old_status IS NULL THEN
    RETURN 'not_found';
  ELSIF old_status = 'running' THEN
    UPDATE async_tasks t SET cancel_requested = true WHERE t.task_id = errand_cancel.task_id;
    PERFORM pg_notify('errand_cancel', '');
    RETURN 'requested';
  ELSIF old_status IN ('pending', 'retrying') THEN
    UPDATE async_tasks t
    SET status = 'cancelled', version = version + 1,
        completed_at = greatest(now(), coalesce(started_at, submitted_at))
    WHERE t.task_id = errand_cancel.task_id;
    PERFORM pg_notify('errand_done', replace(errand_cancel.task_id::text, '-', ''));
    RETURN 'cancelled';
  END IF;
  RETURN 'already_final';
END $$;

-- A stored history, and an empty one where somebody has written what is none: nothing may keep a lost
-- task from being rescued.
CREATE FUNCTION errand_history(history text) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF json_typeof(history::json) = 'array' THEN
    RETURN history;
  END IF;
  RETURN '[]';
EXCEPTION WHEN data_exception OR statement_too_complex THEN
  RETURN '[]';
END $$;

-- The functions for users find these tables, whatever the search_path of the caller.
DO $$
DECLARE
  function regprocedure;
BEGIN
  FOR function IN
    SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace = current_schema()::regnamespace
      AND p.proname IN ('errand_submit', 'errand_status', 'errand_cancel')
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', function, current_schema());
  END LOOP;
END $$;
