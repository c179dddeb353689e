-- What nearly all submits are: none of the ids is known. Then there is nothing to compare with, and
-- the script ends here. ARGV: see submit.lua.

-- Stores shared records. Returns as store_compact().
local function store_shared()
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
    found = found + 1
    keys[found] = base .. ':status'
    if found >= MOST_WORDS and are_known() then return end
  end
  if are_known() then return end

  local seq = call('INCRBY', own_key('seq'), count) - count
  local lasting, words = {}, 0
  local seen, groups, group = {}, {}, nil
  local common, queue, type, priority, due, max_retries, retry_policy, headers
  for i = FIRST, #ARGV, STEP do
    local id, payload = ARGV[i], ARGV[i + 1]
    if seen[id] then
      count = count - 1
    else
      seen[id] = true
      seq = seq + 1
      if ARGV[i + 2] ~= common then
        local delay
        common = ARGV[i + 2]
        queue, type, priority, delay, max_retries, retry_policy, headers = cmsgpack.unpack(common)
        due = delay == '0' and now_text or digits(now + delay * 1000)
        local name = priority .. ':' .. queue
        group = groups[name] or {queue = queue, priority = priority, places = {}, numbers = {}, size = 0}
        groups[name] = group
      end
      local number, base = seq_text(seq), TASK .. id
      call('SET', base .. ':status', 'pending', 'PXAT', vanish)
      call('SET', base .. ':payload', payload, 'PXAT', vanish)
      call('SET', base .. ':submitted_at', clock[1], 'PXAT', vanish)
      lasting[words + 1], lasting[words + 2] = base .. ':meta',
        pack('pending', '1', nil, nil, vanish, nil, nil, nil, nil, nil, nil, nil, nil, nil, number,
             queue, priority, due, now_text, type, max_retries,
             retry_policy ~= '' and retry_policy or nil, headers ~= '' and headers or nil, nil)
      lasting[words + 3], lasting[words + 4] = base .. ':message', payload
      words = words + 4
      local size, places, numbers = group.size, group.places, group.numbers
      places[size + 1], places[size + 2] = due, number .. id
      numbers[size + 1], numbers[size + 2] = number, id
      group.size = size + 2
    end
  end
  for i = 1, words, MOST_WORDS do
    call('MSET', unpack(lasting, i, math.min(i + MOST_WORDS - 1, words)))
  end
  return count, groups
end

local function submit_plain()
  local count, groups
  if shared then
    count, groups = store_shared()
  else
    count, groups = store_compact()
  end
  if not count then return end
  local queues = {}
  for name, one in pairs(groups) do
    queues[one.queue] = true
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
