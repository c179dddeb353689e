-- What nearly all submits are: none of the ids is known. Then there is nothing to compare with, and
-- the script ends here. ARGV: see submit.lua.
local STEP, HANDED_OVER = 9, -1

-- Longer payloads are not handed over: what is published is copied for each who listens.
local HANDED = 16384

-- Claims a task that is just being submitted for a worker that stands by, and tells that worker. Returns
-- its entry and the end of its lease; nil: there is no such worker.
local function hand_over(i, number)
  local id, payload, queue = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if ARGV[i + 5] ~= '0' or #payload > HANDED then return end
  local key = own_key('standby:' .. queue)
  while true do
    local found = call('ZPOPMAX', key)
    if not found[1] or tonumber(found[2]) < now then return end
    local channel, lease, worker = string.match(found[1], '^(%S+) (%d+) (.*)$')
    if not channel or call('SISMEMBER', own_key('paused'), queue) == 1 then return end
    local lease_end = digits(now + lease * 1000)
    local inside = nil
    if not shared then inside = #payload <= SHORT and payload or false end
    local entry = pack('running', '2', number, queue, ARGV[i + 4], now_text, now_text, now_text, nil,
                       vanish, '1', nil, nil, ARGV[i + 3], ARGV[i + 6],
                       ARGV[i + 7] ~= '' and ARGV[i + 7] or nil,
                       ARGV[i + 8] ~= '' and ARGV[i + 8] or nil, nil, nil, lease_end, worker, inside,
                       nil, nil)
    -- Nobody hears it where that worker is gone; the next one may.
    local heard = redis.pcall('PUBLISH', channels .. 'hand:' .. channel,
                              worker .. '\n' .. id .. '\n' .. #entry .. '\n' .. entry
                              .. (inside and '' or payload))
    if type(heard) == 'number' and heard > 0 then return entry, lease_end end
  end
end

-- Stores the only task. False: nobody was handed it, and nothing is changed but the number.
local function submit_one(number)
  local id, payload, queue = ARGV[FIRST], ARGV[FIRST + 1], ARGV[FIRST + 2]
  local entry, lease_end = hand_over(FIRST, number)
  if not entry then return false end
  local base = TASK .. id
  if shared then
    call('SET', base .. ':status', 'running', 'PXAT', vanish)
    call('SET', base .. ':payload', payload, 'PXAT', vanish)
    call('SET', base .. ':submitted_at', clock[1], 'PXAT', vanish)
    call('SET', base .. ':started_at', clock[1], 'PXAT', vanish)
    call('MSET', base .. ':meta', entry, base .. ':message', payload)
  elseif #payload <= SHORT then
    call('SET', base .. ':meta', entry)
  else
    call('MSET', base .. ':meta', entry, base .. ':payload', payload)
  end
  call('ZADD', of_queue('running', queue), lease_end, number .. id)
  call('SADD', own_key('queues'), queue)
  tell('work', NO_QUEUE)
  return true
end

local function submit_plain()
  local count = (#ARGV - FIRST + 1) / STEP
  local keys, found = {}, 0
  local function are_known()
    local known = found > 0 and call('EXISTS', unpack(keys, 1, found)) > 0
    found = 0
    return known
  end
  for i = FIRST, #ARGV, STEP do
    local base = TASK .. ARGV[i]
    found = found + 1
    keys[found] = base .. ':meta'
    if shared then
      found = found + 1
      keys[found] = base .. ':status'
    end
    if found >= MOST_WORDS and are_known() then return end
  end
  if are_known() then return end

  local seq = call('INCRBY', own_key('seq'), count) - count
  if count == 1 and submit_one(seq_text(seq + 1)) then return HANDED_OVER end
  local lasting, words = {}, 0
  local seen, groups, queues = {}, {}, {}
  local group
  for i = FIRST, #ARGV, STEP do
    local id, payload, queue, priority = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 4]
    if seen[id] then
      count = count - 1
    else
      seen[id] = true
      seq = seq + 1
      if not group or group.queue ~= queue or group.priority ~= priority then
        local name = priority .. ':' .. queue
        group = groups[name] or {queue = queue, priority = priority, places = {}, numbers = {}, size = 0}
        groups[name] = group
        queues[queue] = true
      end
      local delay, number, base = ARGV[i + 5], seq_text(seq), TASK .. id
      local due = delay == '0' and now_text or digits(now + delay * 1000)
      local inside, key = nil, ':message'
      if shared then
        call('SET', base .. ':status', 'pending', 'PXAT', vanish)
        call('SET', base .. ':payload', payload, 'PXAT', vanish)
        call('SET', base .. ':submitted_at', clock[1], 'PXAT', vanish)
      elseif #payload <= SHORT then
        inside, key = payload, nil
      else
        inside, key = false, ':payload'
      end
      lasting[words + 1], lasting[words + 2] = base .. ':meta',
        pack('pending', '1', number, queue, priority, due, now_text, nil, nil, vanish, nil, nil, nil,
             ARGV[i + 3], ARGV[i + 6], ARGV[i + 7] ~= '' and ARGV[i + 7] or nil,
             ARGV[i + 8] ~= '' and ARGV[i + 8] or nil, nil, nil, nil, nil, inside, nil, nil)
      words = words + 2
      if key then
        lasting[words + 1], lasting[words + 2] = base .. key, payload
        words = words + 2
      end
      local size, places, numbers = group.size, group.places, group.numbers
      places[size + 1], places[size + 2] = due, number .. id
      numbers[size + 1], numbers[size + 2] = number, id
      group.size = size + 2
    end
  end
  for i = 1, words, MOST_WORDS do
    call('MSET', unpack(lasting, i, math.min(i + MOST_WORDS - 1, words)))
  end
  for name, one in pairs(groups) do
    in_parts('ZADD', own_key('waiting:' .. name), one.places, one.size)
    in_parts('ZADD', of_queue('index:pending', one.queue), one.numbers, one.size)
    call('ZADD', own_key('levels:waiting:' .. one.queue), one.priority, one.priority)
    call('SADD', own_key('queues'), one.queue)
  end
  tell_work(queues)
  return count
end

do
  local stored = submit_plain()
  if stored then return stored end
end
