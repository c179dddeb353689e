-- What settle_plain.lua does with compact records. ARGV: see settle.lua.
local STEP = 3
allow_when_full()

local count = math.floor((#ARGV - FIRST + 1) / STEP)
-- After the last one, perhaps: a queue and a worker that stands by there again.
if #ARGV >= FIRST + count * STEP then
  local worker, queue = table.remove(ARGV), table.remove(ARGV)
  stand_by(queue, worker)
end
-- For each: see settle.lua; nil where it is left.
local answers, left, done, ended = {}, 0, {}, 0

-- Tasks that were completed together have one place in `expiring` for so many of them.
local MOST_TOGETHER = 100
local NIL = '\192'

local bundles, by_queue = {}, {}

-- What the entries of a bundle's completed tasks begin with, and more; false: it is not there any more.
local function bundle_of(number)
  local bundle = bundles[number]
  if bundle == nil then
    local found = call('HMGET', bundle_key(number), 'queue', 'worker', 'lease', 'started', 'last')
    bundle = tonumber(found[4]) and tonumber(found[5])
      and {queue = found[1], last = tonumber(found[5]), settled = 0,
           begin = pack('completed', '3', found[4], not_before(found[4]), vanish, '1', nil, nil, nil,
                        nil, found[3], found[2])} or false
    bundles[number] = bundle
  end
  return bundle
end

-- Where tasks of a queue leave and enter.
local function group_of(queue)
  local group = by_queue[queue]
  if not group then
    group = {pending = {}, held = 0, running = {}, ran = 0, ids = {}, numbers = {}, count = 0}
    by_queue[queue] = group
  end
  return group
end

-- Of a task whose entry says that it runs: its queue and seq, and of the entry of the completed one what
-- stands before and behind its result and error. nil: it is not held, or not plain.
local function parts_of_completed(entry, base, held_version)
  local whole, next_at, status, version, started_at, completed_at, vanish_at, attempts, crashes, failures,
    cancel_requested, progress, lease, worker, result, error, seq, queue =
    pcall(cmsgpack.unpack_limit, entry, 16)
  if not whole or status ~= 'running' or version ~= held_version or not queue or next_at < 0
    or not tonumber(seq) or #seq ~= 16 or not tonumber(started_at) then
    return
  end
  if failures then call('PEXPIREAT', base .. ':history', vanish) end
  if result == false then call('UNLINK', base .. ':result') end
  if error == false then call('UNLINK', base .. ':error') end
  if string.sub(entry, -1) == APART then call('PEXPIREAT', base .. ':payload', vanish) end
  return queue, seq,
    pack('completed', successor(version), started_at, not_before(started_at), vanish, attempts, crashes,
         failures, cancel_requested, nil, lease, worker),
    string.sub(entry, next_at - #queue - #header_of(#queue) - 16)
end

-- Version, outcome, wait or bundle, and 1 if the worker was lost, of the task whose arguments begin there.
-- Those of a batch are mostly the same.
local last_common, version_of_last, outcome_of_last, more_of_last, lost_of_last
local function common_of(at)
  if ARGV[at + 2] ~= last_common then
    last_common = ARGV[at + 2]
    version_of_last, outcome_of_last, more_of_last, lost_of_last = cmsgpack.unpack(last_common)
  end
  return version_of_last, outcome_of_last, more_of_last, lost_of_last
end

local words, seen = {}, {}

local function complete_compact(first, last)
  local keys, sub, find = {}, string.sub, string.find
  for i = first, last do keys[i - first + 1] = TASK .. ARGV[FIRST + (i - 1) * STEP] .. ':meta' end
  local found = call('MGET', unpack(keys, 1, last - first + 1))
  for i = first, last do
    local at = FIRST + (i - 1) * STEP
    local id, entry = ARGV[at], found[i - first + 1]
    local version, outcome, number = common_of(at)
    local queue, seq, begin, stays
    if entry and outcome == 'completed' and not seen[id] then
      if find(entry, FRESH, 1, true) == 1 then
        local bundle = number ~= '' and version == '2' and bundle_of(number)
        seq = sub(entry, SEQ, SEQ_END)
        local place = tonumber(seq)
        if bundle and place and place <= bundle.last then
          bundle.settled = bundle.settled + 1
          queue, begin, stays = bundle.queue, bundle.begin, sub(entry, #FRESH)
          local group = group_of(queue)
          group.held = group.held + 1
          group.pending[group.held] = id
        end
      else
        queue, seq, begin, stays = parts_of_completed(entry, TASK .. id, version)
        if queue then
          local group = group_of(queue)
          group.ran = group.ran + 1
          group.running[group.ran] = seq .. id
        end
      end
    end
    seen[id] = true
    if queue then
      local text, group = ARGV[at + 1], group_of(queue)
      words[2 * ended + 1] = keys[i - first + 1]
      if #text <= SHORT then
        words[2 * ended + 2] = begin .. header_of(#text) .. text .. NIL .. stays
      else
        call('SET', TASK .. id .. ':result', text, 'PXAT', vanish)
        words[2 * ended + 2] = begin .. APART .. NIL .. stays
      end
      local n = group.count + 1
      group.numbers[2 * n - 1], group.numbers[2 * n], group.ids[n] = seq, id, id
      group.count = n
      ended = ended + 1
      done[ended], answers[i] = id, 1
    else
      left = left + 1
    end
  end
end

local function expire_together(queue, group)
  local members, size = {}, 0
  for i = 1, group.count, MOST_TOGETHER do
    members[size + 1] = vanish
    members[size + 2] = '*' .. queue .. '\n'
      .. table.concat(group.ids, '', i, math.min(i + MOST_TOGETHER - 1, group.count))
    size = size + 2
  end
  in_parts('ZADD', EXPIRING, members, size)
end

local function expire_one_by_one(queue, group)
  for i = 1, group.count do call('ZADD', EXPIRING, vanish, group.ids[i] .. 'completed:' .. queue) end
end

local function apply_compact()
  local expire = ended >= many and expire_together or expire_one_by_one
  if ended >= many then
    for i = 1, 2 * ended, MOST_WORDS do
      call('MSET', unpack(words, i, math.min(i + MOST_WORDS - 1, 2 * ended)))
    end
  else
    for i = 1, ended do call('SET', words[2 * i - 1], words[2 * i], 'PXAT', vanish) end
  end
  for queue, group in pairs(by_queue) do
    in_parts('ZREM', of_queue('index:pending', queue), group.pending, group.held)
    in_parts('ZREM', of_queue('running', queue), group.running, group.ran)
    in_parts('ZADD', of_queue('index:completed', queue), group.numbers, 2 * group.count)
    expire(queue, group)
  end
  for number, bundle in pairs(bundles) do
    if bundle and bundle.settled > 0 then take_from_bundle(number, bundle.settled) end
  end
end
