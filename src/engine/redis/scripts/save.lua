-- Inserts a record or replaces it. ARGV: id, the version that must be stored (empty: any), status,
-- submitted_at, started_at, completed_at in microseconds (empty: none); then the names of the
-- documents that it has, payload, result, error, each followed by its text. Returns the new version;
-- {the stored version or false} where another one was expected. LOCKED: nothing was done.
local id, expected, status = ARGV[FIRST], ARGV[FIRST + 1], ARGV[FIRST + 2]
if is_locked(id) then return redis.error_reply('LOCKED ' .. id) end
local task = find(id)
if not task then flush() end  -- what is left of one that another program has deleted
if expected ~= '' and (not task or task.version ~= expected) then
  flush()
  return {task and tonumber(task.version) or false}
end
if task then
  leave(task)
else
  task = {id = id, version = '0', seq = next_seq()}
end
local function given(place)
  return ARGV[FIRST + place] ~= '' and ARGV[FIRST + place] or nil
end
task.status, task.version = status, successor(task.version)
task.submitted_at, task.started_at, task.completed_at = given(3), given(4), given(5)
task.lease_expires_at, task.cancel_requested = nil, nil
task.vanish_at = nil
call('DEL', task_key(id, 'payload'), task_key(id, 'result'), task_key(id, 'error'),
     task_key(id, 'message'), task_key(id, 'submitted_at'), task_key(id, 'started_at'),
     task_key(id, 'completed_at'))
task.payload, task.result, task.error = nil, nil, nil
for i = FIRST + 6, #ARGV, 2 do
  local name, text = ARGV[i], ARGV[i + 1]
  put_document(task, name, text)
  -- An outcome stored before the status follows must not expire meanwhile.
  if shared and name ~= 'payload' and not FINAL[status] then call('PERSIST', task_key(id, name)) end
end
enter(task)
show(task, true)
flush()
if FINAL[status] then tell_done({id}) end
if WAITING[status] and task.queue then tell_work({[task.queue] = true}) end
return tonumber(task.version)
