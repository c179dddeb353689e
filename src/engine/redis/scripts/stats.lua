-- How many tasks there are, and where. Returns the counts by status, in the order of STATUSES, and
-- of each queue with open tasks or paused {name, paused, due, delayed, running, microseconds that
-- the first due one waits, or false}. Queues without any task are forgotten.
local counts = {0, 0, 0, 0, 0, 0}
local rows, seen = {}, {}

-- How many tasks bundles hold, by queue.
local held = {}
for _, number in ipairs(call('ZRANGE', BUNDLES, 0, -1)) do
  local queue, left = unpack(call('HMGET', bundle_key(number), 'queue', 'left'))
  if queue then held[queue] = (held[queue] or 0) + tonumber(left or 0) end
end

local function count(queue)
  local tasks = {}
  local all = 0
  for i, status in ipairs(STATUSES) do
    local number = call('ZCARD', index_of(status, queue))
    if status == 'pending' then number = number - (held[queue or ''] or 0) end
    if status == 'running' then number = number + (held[queue or ''] or 0) end
    counts[i] = counts[i] + number
    tasks[status] = number
    all = all + number
  end
  return tasks, all
end

local function waiting(queue)
  local due, delayed, oldest = 0, 0, false
  for _, kind in ipairs({'waiting', 'suspects'}) do
    for _, priority in ipairs(call('ZRANGE', own_key('levels:' .. kind .. ':' .. queue), 0, -1)) do
      local place = place_in(kind, priority, queue)
      due = due + call('ZCOUNT', place, '-inf', now)
      delayed = delayed + call('ZCOUNT', place, '(' .. now_text, '+inf')
      local first = call('ZRANGE', place, 0, 0, 'WITHSCORES')[2]
      if first and tonumber(first) <= now and (not oldest or now - first > oldest) then
        oldest = now - first
      end
    end
  end
  return due, delayed, oldest
end

for _, queue in ipairs(call('SMEMBERS', own_key('queues'))) do
  local tasks, all = count(queue)
  local due, delayed, oldest = waiting(queue)
  local paused = call('SISMEMBER', own_key('paused'), queue)
  if due + delayed + tasks.running > 0 or paused == 1 then
    rows[#rows + 1] = {queue, paused, due, delayed, tasks.running, oldest}
    seen[queue] = true
  end
  if all == 0 then
    call('SREM', own_key('queues'), queue)
    call('DEL', own_key('levels:waiting:' .. queue), own_key('levels:suspects:' .. queue))
  end
end
count(nil)
for _, queue in ipairs(call('SMEMBERS', own_key('paused'))) do
  if not seen[queue] then rows[#rows + 1] = {queue, 1, 0, 0, 0, false} end
end
return {counts, rows}
