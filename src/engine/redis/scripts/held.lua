-- What a worker holds, by a lease. ARGV: worker. Returns of each {id, version}.
local held = {}
for _, queue in ipairs(all_queues()) do
  local ids = call('ZRANGE', index_of('running', queue), 0, -1)
  for i, member in ipairs(ids) do ids[i] = id_of_place(member) end
  look_up_key('meta', ids, 1, 1)
  for _, id in ipairs(ids) do
    local packed = text_of(id, 'meta')
    local task = packed and unpack_task(id, packed)
    if task and task.worker == ARGV[FIRST] and task.status == 'running' and task.lease_expires_at then
      held[#held + 1] = {id, tonumber(task.version)}
    end
  end
  if not shared then
    for _, place in ipairs(queue and places_in_bundles(queue) or {}) do
      if bundle_of_place(place).worker == ARGV[FIRST] then held[#held + 1] = {id_of_place(place), 2} end
    end
  end
end
return held
