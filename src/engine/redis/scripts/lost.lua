-- Tasks whose lease has run out. ARGV: limit. Returns of each {id, version, queue, worker, crashes,
-- asked to stop}. Locked ones are passed over.
local found, left = {}, tonumber(ARGV[FIRST])
for _, queue in ipairs(all_queues()) do
  local running = index_of('running', queue)
  local expired = left > 0
    and call('ZRANGEBYSCORE', running, '-inf', '(' .. now_text, 'LIMIT', 0, left) or {}
  left = left - #expired
  for _, member in ipairs(expired) do
    local task = find(id_of_place(member))
    if not task or task.status ~= 'running' then
      place(running, member, false)
    elseif not is_locked(task.id) then
      found[#found + 1] = {task.id, tonumber(task.version), task.queue or '', task.worker or '',
                           tonumber(task.crashes or 0), task.cancel_requested or false}
    end
  end
end
flush()
return found
