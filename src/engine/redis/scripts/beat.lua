-- Shows a worker and forgets those not seen for long. ARGV: worker, what it says of itself, after
-- how many ms the others are forgotten. errand:workers is a hash; a value is the microseconds of
-- the first and of the last beat, and what it says, separated by spaces.
allow_when_full()
local key = own_key('workers')
local started = string.match(call('HGET', key, ARGV[FIRST]) or '', '^%d+') or now_text
call('HSET', key, ARGV[FIRST], started .. ' ' .. now_text .. ' ' .. ARGV[FIRST + 1])
local oldest = now - ARGV[FIRST + 2] * 1000
local workers = call('HGETALL', key)
for i = 1, #workers, 2 do
  if tonumber(string.match(workers[i + 1], '^%d+ (%d+)') or 0) < oldest then
    call('HDEL', key, workers[i])
  end
end
