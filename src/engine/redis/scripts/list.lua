-- A page of tasks, the last submitted first. ARGV: 1 for documents too, `error` for errors
-- alone; how many to pass over, how many to give, the place behind which to begin or nothing, 1 to
-- count, 1 and a type or 0 and anything, 1 and a queue or 0 and anything; statuses, none for any.
-- Returns the server's time in microseconds, the number of all that fit, the records, and the place
-- of the last one if there are more.
-- A type is looked up task by task; status and queue have an index.
local documents = ARGV[FIRST] == '1' or ARGV[FIRST] == 'error' and 'error'
local passed, limit = tonumber(ARGV[FIRST + 1]), tonumber(ARGV[FIRST + 2])
local after, counted = ARGV[FIRST + 3], ARGV[FIRST + 4] == '1'
local wanted_type = ARGV[FIRST + 5] == '1' and ARGV[FIRST + 6] or nil
local queues = ARGV[FIRST + 7] == '0' and all_queues() or {ARGV[FIRST + 8]}
local wanted = {unpack(ARGV, FIRST + 9)}
if #wanted == 0 then wanted = STATUSES end

local indexes, total, found = {}, 0, {}
local bundled = {}  -- ids of tasks that bundles hold, which are in the index of pending ones
for _, queue in ipairs(queues) do
  local held = queue and call('ZCARD', BUNDLES) > 0 and places_in_bundles(queue) or {}
  for _, place in ipairs(held) do bundled[id_of_place(place)] = true end
  for _, status in ipairs(wanted) do
    local index = index_of(status, queue)
    indexes[#indexes + 1] = {key = index, running = status == 'running' and held,
                             pending = status == 'pending'}
    total = total + call('ZCARD', index)
    if status == 'running' then total = total + #held end
    if status == 'pending' then total = total - #held end
  end
end
-- Past the end nothing needs to be looked at, but for the number of those of a type.
if passed >= total and not wanted_type then return {now, total, {}, false} end

-- The types of tasks, at the places of their ids among ids and scores.
local function types_of(entries)
  local keys, types = {}, {}
  for i = 1, #entries, 2 do keys[#keys + 1] = task_key(entries[i], 'meta') end
  if #keys == 0 then return types end
  for i, packed in ipairs(call('MGET', unpack(keys))) do
    local task = packed and unpack_task('', packed)
    types[2 * i - 1] = task and task.type or ''
  end
  return types
end

-- Running tasks, the last submitted first, as an index by seq would give them. They are no more than
-- what workers have taken.
local function running_by_seq(index, before)
  local members = call('ZRANGE', index.key, 0, -1)
  for _, place in ipairs(index.running) do members[#members + 1] = place end
  table.sort(members, function(a, b) return a > b end)
  local ids_and_seqs = {}
  for _, member in ipairs(members) do
    local seq = tonumber(string.sub(member, 1, 16))
    if seq < before then
      ids_and_seqs[#ids_and_seqs + 1] = id_of_place(member)
      ids_and_seqs[#ids_and_seqs + 1] = seq
    end
  end
  return ids_and_seqs
end

-- Ids and seqs of `part` tasks of an index, behind the first `from` ones.
local function page_of(index, from, part)
  local from_first = after == '' or counted and wanted_type
  if not index.running then
    return call('ZREVRANGEBYSCORE', index.key, from_first and '+inf' or '(' .. after, '-inf',
                'WITHSCORES', 'LIMIT', from, part)
  end
  index.all = index.all or running_by_seq(index, from_first and math.huge or tonumber(after))
  return {unpack(index.all, 2 * from + 1, math.min(2 * (from + part), #index.all))}
end

-- The first of an index that fit, in parts: a type may be rare, and Lua's memory is the server's.
local function gather(index, needed)
  local from, fitting, part = 0, 0, wanted_type and 1000 or math.min(needed, MOST_TASKS)
  while fitting < needed do
    local entries = page_of(index, from, part)
    local types = wanted_type and types_of(entries)
    for i = 1, #entries, 2 do
      local seq = tonumber(entries[i + 1])
      if (not wanted_type or types[i] == wanted_type)
        and not (index.pending and bundled[entries[i]]) then
        fitting = fitting + 1
        if after == '' or seq < tonumber(after) then
          found[#found + 1] = {id = entries[i], seq = seq}
        end
      end
    end
    if #entries < 2 * part then break end
    from = from + part
  end
  return fitting
end

local fitting = 0
for _, index in ipairs(indexes) do
  fitting = fitting
    + gather(index, counted and wanted_type and math.huge or passed + limit + 1)
end
if wanted_type then total = counted and fitting or 0 end
table.sort(found, function(a, b) return a.seq > b.seq end)
local records, last = {}, math.min(passed + limit, #found)
for i = passed + 1, last do
  records[#records + 1] = record(found[i].id, documents)
end
flush()
local more = #found > last and found[last]
return {now, total, records, more and more.seq or false}
