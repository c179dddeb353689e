-- Keeps the newest progress. ARGV, for each: id, version, progress.
for i = FIRST, #ARGV, 3 do
  local task = find(ARGV[i])
  if task and task.status == 'running' and task.version == ARGV[i + 1] then
    task.progress = ARGV[i + 2]
    keep(task)
  end
end
flush()
