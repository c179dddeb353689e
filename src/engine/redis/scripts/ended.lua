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
for i = 1, #found, 2 do
  local number = math.floor((found[i + 1] - 1 - ttl) / 1000)
  local second = by_number[number]
  if not second then
    second = {number, 0, 0, 0, 0, 0, 0}
    by_number[number] = second
    seconds[#seconds + 1] = second
  end
  local place = PLACES[string.match(found[i], '^%l+', 37)]
  if place then second[place] = second[place] + 1 end
  if #records < latest then records[#records + 1] = record(string.sub(found[i], 1, 36), false) end
end
flush()
return {now, seconds, records}
