-- What a worker holds. ARGV: worker. Returns of each {id, version}.
local held = {}
local ids = call('ZRANGE', LEASES, 0, -1)
look_up_key('meta', ids, 1, 1)
for _, id in ipairs(ids) do
  local packed = text_of(id, 'meta')
  local task = packed and unpack_task(id, packed)
  if task and task.worker == ARGV[FIRST] and task.status == 'running' then
    held[#held + 1] = {id, tonumber(task.version)}
  end
end
return held
