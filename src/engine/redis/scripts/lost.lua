-- Tasks whose lease has run out. ARGV: limit. Returns of each {id, version, queue, worker, crashes,
-- asked to stop}. Locked ones are passed over.
local found = {}
local expired = call('ZRANGEBYSCORE', LEASES, '-inf', '(' .. now_text, 'LIMIT', 0,
                     ARGV[FIRST])
for _, id in ipairs(expired) do
  local task = find(id)
  if not task or task.status ~= 'running' then
    place(LEASES, id, false)
  elseif not is_locked(id) then
    found[#found + 1] = {id, tonumber(task.version), task.queue or '', task.worker or '',
                         tonumber(task.crashes or 0), task.cancel_requested or false}
  end
end
flush()
return found
