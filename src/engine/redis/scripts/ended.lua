-- What ended lately. ARGV: the first second, how many of the last ones to give. Returns the server's
-- time in microseconds; for each second {its number, the counts by status in the order of STATUSES};
-- and the records, the last ended first.
-- Tasks are found by when their keys vanish, which is the TTL after their end.
local first, latest = tonumber(ARGV[FIRST]), tonumber(ARGV[FIRST + 1])
local PLACES = {}
for i, status in ipairs(STATUSES) do PLACES[status] = i + 1 end

local found = call('ZREVRANGEBYSCORE', EXPIRING, '+inf', digits(first * 1000 + 1 + ttl),
                   'WITHSCORES')
local seconds, by_number, records = {}, {}, {}

local function count(number, status, tasks)
  local second = by_number[number]
  if not second then
    second = {number, 0, 0, 0, 0, 0, 0}
    by_number[number] = second
    seconds[#seconds + 1] = second
  end
  local place = PLACES[status]
  if place then second[place] = second[place] + tasks end
end

-- How many of these tasks are still there.
local function count_known(ids)
  local keys = {}
  for i, id in ipairs(ids) do keys[i] = task_key(id, 'meta') end
  return #keys > 0 and call('EXISTS', unpack(keys)) or 0
end

for i = 1, #found, 2 do
  local number, ids = math.floor((found[i + 1] - 1 - ttl) / 1000), nil
  if string.sub(found[i], 1, 1) == '*' then
    ids = select(2, read_together(found[i]))
    local known = count_known(ids)
    if known > 0 then count(number, 'completed', known) end
  else
    ids = {string.sub(found[i], 1, 36)}
    count(number, string.match(found[i], '^%l+', 37), 1)
  end
  for last = #ids, 1, -1 do
    local one = #records < latest and record(ids[last], false)
    if one then records[#records + 1] = one end
  end
end
flush()
return {now, seconds, records}
