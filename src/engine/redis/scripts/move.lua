-- Moves the status of a record that was read before. ARGV: id, the version that was read, status,
-- started_at, completed_at in microseconds (empty: none). Returns 1; 0 if it has changed since.
-- LOCKED: nothing was done.
local id, status = ARGV[FIRST], ARGV[FIRST + 2]
if is_locked(id) then return redis.error_reply('LOCKED ' .. id) end
local task = find(id)
if not task or task.version ~= ARGV[FIRST + 1] then
  flush()
  return 0
end
leave(task)
task.status, task.version = status, successor(task.version)
task.started_at = ARGV[FIRST + 3] ~= '' and ARGV[FIRST + 3] or nil
task.completed_at = ARGV[FIRST + 4] ~= '' and ARGV[FIRST + 4] or nil
task.lease_expires_at, task.cancel_requested = nil, nil
if shared then call('DEL', task_key(id, 'started_at'), task_key(id, 'completed_at')) end
enter(task)
show(task, true)
flush()
if FINAL[status] then
  let_outcome_vanish(id)
  tell_done({id})
end
if WAITING[status] and task.queue then tell_work({[task.queue] = true}) end
return 1
