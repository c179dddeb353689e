-- A page of tasks, the last submitted first. ARGV: 1 for documents too, how many to pass over, how
-- many to give, 1 and a type or 0 and anything, 1 and a queue or 0 and anything; statuses, none for
-- any. Returns the server's time in microseconds, the number of all that fit, and the records.
-- A type is looked up task by task; status and queue have an index.
local documents = ARGV[FIRST] == '1'
local passed, limit = tonumber(ARGV[FIRST + 1]), tonumber(ARGV[FIRST + 2])
local wanted_type = ARGV[FIRST + 3] == '1' and ARGV[FIRST + 4] or nil
local queues = {ARGV[FIRST + 6]}
if ARGV[FIRST + 5] == '0' then
  queues = call('SMEMBERS', own_key('queues'))
  queues[#queues + 1] = false
end
local wanted = {unpack(ARGV, FIRST + 7)}
if #wanted == 0 then wanted = STATUSES end

local indexes, total, found = {}, 0, {}
for _, queue in ipairs(queues) do
  for _, status in ipairs(wanted) do
    local index = index_of(status, queue)
    indexes[#indexes + 1] = index
    total = total + call('ZCARD', index)
  end
end
-- Past the end nothing needs to be looked at, but for the number of those of a type.
if passed >= total and not wanted_type then return {now, total, {}} end
for _, index in ipairs(indexes) do
  local last = wanted_type and -1 or passed + limit - 1
  local entries = call('ZREVRANGE', index, 0, last, 'WITHSCORES')
  for i = 1, #entries, 2 do
    if not wanted_type
      or (call('HGET', task_key(entries[i], 'meta'), 'type') or '') == wanted_type then
      found[#found + 1] = {id = entries[i], seq = tonumber(entries[i + 1])}
    end
  end
end
if wanted_type then total = #found end
table.sort(found, function(a, b) return a.seq > b.seq end)
local records = {}
for i = passed + 1, math.min(passed + limit, #found) do
  records[#records + 1] = record(found[i].id, documents)
end
flush()
return {now, total, records}
