-- Keeps the newest progress. ARGV, for each: id, version, progress.
for i = FIRST, #ARGV, 3 do
  local task = find(ARGV[i])
  if task and task.status == 'running' and task.version == ARGV[i + 1] then
    call('HSET', task_key(task.id, 'meta'), 'progress', ARGV[i + 2])
  end
end
flush()
