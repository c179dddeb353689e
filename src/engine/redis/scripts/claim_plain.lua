-- What nearly all claims are: no suspects, no locks, and records that say what the queue says. All is
-- looked at before anything is changed; where something is not plain, the rest of the script does
-- it. ARGV: see claim.lua.

-- The documents and entries of tasks that are due. nil: one of them is not plain.
local function read_due(due)
  local count, keys, locks, words = #due, {}, {}, 0
  local ids = {}
  for i = 1, count do
    local id = string.sub(due[i], 17)
    local base = TASK .. id
    ids[i] = id
    keys[words + 1], keys[words + 2], keys[words + 3] = base .. ':meta', base .. ':status',
      base .. ':payload'
    words = words + 3
    locks[i] = base .. ':lock'
  end
  if call('EXISTS', unpack(locks, 1, count)) > 0 then return end
  return ids, keys, call('MGET', unpack(keys, 1, words))
end

-- As prepare_compact().
local function prepare_shared(queue, due, told, size)
  local ids, keys, found = read_due(due)
  if not ids then return end
  local part = {queue = queue, count = #due, ids = ids, keys = {}, vanish = {}, started = {},
                entries = {}, leases = {}, retrying = {}}
  for i = 1, #due do
    local at = 3 * i - 2
    local whole, status, version, started_at, completed_at, vanish_at, attempts, crashes, failures,
      cancel_requested, progress, lease, last_worker, result, error, seq, in_queue, priority,
      available_at, submitted_at, type, max_retries, retry_policy, headers =
      pcall(cmsgpack.unpack, found[at])
    if not whole or not WAITING[status] or in_queue ~= queue or not tonumber(version)
      or not tonumber(submitted_at) or not tonumber(seq) or seq .. ids[i] ~= due[i] then
      return
    end
    local document = found[at + 2]
    if found[at + 1] ~= status or not document or tonumber(vanish_at or 0) <= vanishes_soon then
      return
    end
    part.keys[i], part.vanish[i] = keys[at + 1], vanish_at
    if status == 'retrying' then part.retrying[#part.retrying + 1] = ids[i] end
    started_at = not_before(submitted_at)
    part.started[i] = started_at
    local packed = pack('running', successor(version), started_at, completed_at, vanish_at,
                        successor(attempts), crashes, failures, cancel_requested, nil, lease_end,
                        worker, result, error, seq, queue, priority, available_at, submitted_at,
                        type, max_retries, retry_policy, headers, nil)
    part.entries[2 * i - 1], part.entries[2 * i] = keys[at], packed
    part.leases[2 * i - 1], part.leases[2 * i] = lease_end, due[i]
    told[size + 1], told[size + 2], told[size + 3] = ids[i], packed, document
    size = size + 3
  end
  return part, size
end

local function apply_shared(part)
  for i, key in ipairs(part.keys) do
    call('SET', key, 'running', 'PXAT', part.vanish[i])
    call('SET', task_key(part.ids[i], 'started_at'), seconds(part.started[i]), 'PXAT',
         part.vanish[i])
  end
  call('MSET', unpack(part.entries, 1, 2 * part.count))
  call('ZREM', of_queue('index:pending', part.queue), unpack(part.ids, 1, part.count))
  if #part.retrying > 0 then
    call('ZREM', of_queue('index:retrying', part.queue), unpack(part.retrying))
  end
  call('ZADD', of_queue('running', part.queue), unpack(part.leases, 1, 2 * part.count))
end

-- Until the first task of a sorted set that is not due is; false where there is none.
local function until_due(places, best)
  local first = call('ZRANGEBYSCORE', places, '(' .. now_text, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if first[2] and (not best or first[2] - now < best) then return first[2] - now end
  return best
end

local function claim_plain()
  local prepare, apply = prepare_compact, apply_compact
  if shared then prepare, apply = prepare_shared, apply_shared end
  local parts, taken, told, size, left = {}, {}, {}, 0, limit
  local seen, empty, next_due = {}, {}, false
  for i = FIRST_QUEUE, #ARGV do
    local queue = ARGV[i]
    if left > 0 and not seen[queue] and call('SISMEMBER', own_key('paused'), queue) == 0 then
      seen[queue] = true
      if most_suspects > 0 and call('EXISTS', own_key('levels:suspects:' .. queue)) == 1 then return end
      for _, priority in ipairs(call('ZREVRANGE', own_key('levels:waiting:' .. queue), 0, -1)) do
        local places, looked_at = own_key('waiting:' .. priority .. ':' .. queue), 0
        while left > 0 do
          local due = call('ZRANGEBYSCORE', places, '-inf', now_text, 'LIMIT', looked_at,
                           math.min(left, MOST_TASKS))
          if #due == 0 then break end
          local part
          part, size = prepare(queue, due, told, size)
          if not part then return end
          parts[#parts + 1] = part
          looked_at, left = looked_at + #due, left - #due
        end
        if looked_at > 0 then
          taken[#taken + 1] = {places, looked_at}
        elseif left > 0 and call('EXISTS', places) == 0 then
          empty[#empty + 1] = {own_key('levels:waiting:' .. queue), priority}
        end
        if left > 0 then next_due = until_due(places, next_due) end
      end
    end
  end
  for _, part in ipairs(parts) do apply(part) end
  for _, level in ipairs(empty) do call('ZREM', level[1], level[2]) end
  for _, one in ipairs(taken) do call('ZREMRANGEBYRANK', one[1], 0, one[2] - 1) end
  return {told, left > 0 and next_due}
end

-- A worker that could begin more tasks than it got may be handed some, one of a queue; one that could
-- not is not asked any more.
local function stand_by_for_more(got)
  if stands_by < 0 then return end
  local name = ARGV[FIRST + 2] .. ' ' .. worker
  for i = FIRST_QUEUE, #ARGV do
    if i - FIRST_QUEUE < stands_by - got then
      stand_by(ARGV[i], name)
    else
      call('ZREM', own_key('standby:' .. ARGV[i]), caller .. name)
    end
  end
end

do
  local claimed = claim_plain()
  if claimed then
    stand_by_for_more(#claimed[1] / 3)
    return claimed
  end
end
