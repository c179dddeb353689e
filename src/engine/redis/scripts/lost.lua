-- Tasks whose lease has run out. ARGV: limit. Returns of each {id, version, queue, worker, crashes,
-- asked to stop}. Locked ones are passed over. Also forgets tasks whose time is over: workers ask
-- this all the time.
allow_when_full()
local found, left = {}, tonumber(ARGV[FIRST])

-- Bundles whose lease has run out: what they still hold is held one by one from now on, so long.
for _, number in ipairs(call('ZRANGEBYSCORE', BUNDLES, '-inf', '(' .. now_text)) do
  local places = call('HGET', bundle_key(number), 'places') or ''
  for i = 1, #places, PLACE_SIZE do find(id_of_place(string.sub(places, i, i + PLACE_SIZE - 1))) end
  flush()
  -- If somebody has deleted tasks of it.
  call('UNLINK', bundle_key(number))
  call('ZREM', BUNDLES, number)
end

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
prune(1000)
return found
