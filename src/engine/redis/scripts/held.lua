-- What a worker holds. ARGV: worker. Returns of each {id, version}.
local held = {}
for _, id in ipairs(call('ZRANGE', LEASES, 0, -1)) do
  local stored = call('HMGET', task_key(id, 'meta'), 'worker', 'status', 'version')
  if stored[1] == ARGV[FIRST] and stored[2] == 'running' then
    held[#held + 1] = {id, tonumber(stored[3])}
  end
end
return held
